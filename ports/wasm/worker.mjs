// A thread of a model: an instance of its module, which waits for work until threads.mjs stops it.
import { inNode, instanceOf } from "./instance.mjs";

async function help(port, { module, memory, threads, index, stack, locals }) {
  try {
    const { exports } = await instanceOf(module, memory);
    exports.__stack_pointer.value = stack;
    exports.__wasm_init_tls(locals);
    port.postMessage("ready");
    try {
      exports.threads_help(threads, index);
    } catch {  // a trap: the thread that runs the model must not wait for this one
      exports.threads_stop(threads);
    }
  } catch (error) {
    port.postMessage(String(error));
  }
  port.close();
}

if (inNode) import("node:worker_threads").then(({ parentPort }) =>
  parentPort.once("message", (message) => help(parentPort, message)));
else self.addEventListener("message", ({ data }) => help(self, data), { once: true });
