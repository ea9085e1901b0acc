// Workers that share a library's memory and compute together with the calling thread.
import { inNode } from "./instance.mjs";

const FIRST_PAGES = 16, MOST_PAGES = 65536;  // pages of 64 KiB, as in the module
const STACK = 256 * 1024;

/** Whether threads can share memory here: in Node, and in cross-origin isolated pages. */
export const canShare = () =>
  typeof SharedArrayBuffer === "function" && (globalThis.crossOriginIsolated ?? inNode);

/** Memory that grows to 4 GiB, or to the limit that the engine reserves. */
export function sharedMemory() {
  for (let maximum = MOST_PAGES; ; maximum /= 2) {
    try {
      return new WebAssembly.Memory({ initial: FIRST_PAGES, maximum, shared: true });
    } catch (error) {
      if (maximum <= 2048) throw error;
    }
  }
}

/** Whether this thread may sleep; false for the main thread of a page. */
function maySleep() {
  try {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 0);
    return true;
  } catch {
    return false;
  }
}

async function started(Worker, data) {
  // Node's options for the program, such as --input-type, must not apply to this file.
  const worker = new Worker(new URL("./worker.mjs", import.meta.url), { type: "module", execArgv: [] });
  try {
    await new Promise((resolve, reject) => {
      const said = (message) => (message === "ready" ? resolve() : reject(new Error(message)));
      const failed = (error) => reject(new Error(error.message ?? "it cannot be loaded"));
      if (inNode) {
        worker.on("message", said).on("error", failed);
        worker.on("exit", () => reject(new Error("it ended")));
      } else {
        worker.onmessage = (event) => said(event.data);
        worker.onerror = failed;
      }
      worker.postMessage(data);
    });
  } catch (error) {
    worker.terminate();
    throw error;
  }
  worker.unref?.();  // a Node program that does not close a model still ends
  return worker;
}

export class Threads {
  /** Starts `count` threads, the caller's included. */
  static async start(library, module, count) {
    const { exports, memory } = library;
    const self = new Threads();
    self.exports = exports;
    self.count = count;
    self.workers = [];
    self.address = exports.threads_make(count, maySleep() ? 1 : 0);
    if (self.address === 0) throw new Error("no memory for it");
    const Worker = inNode ? (await import("node:worker_threads")).Worker : globalThis.Worker;
    const data = Array.from({ length: count - 1 }, (_, i) => ({
      module, memory, threads: self.address, index: i + 1, stack: library.scratch.make(STACK) + STACK,
      locals: library.scratch.make(Math.max(exports.__tls_size.value, 1)),
    }));
    const all = await Promise.allSettled(data.map((one) => started(Worker, one)));
    self.workers = all.filter(({ status }) => status === "fulfilled").map(({ value }) => value);
    const failed = all.find(({ status }) => status === "rejected");
    if (failed) {
      self.end();
      throw failed.reason;
    }
    return self;
  }

  /** Makes a session run on all of them: `options` is the address of its fovea_session_options. */
  use(options) {
    this.exports.threads_use(this.address, options);
  }

  /** Ends the workers. Runs in progress trap. */
  end() {
    this.exports.threads_stop(this.address);
    for (const worker of this.workers) worker.terminate();
    this.workers = [];
  }
}
