// The work of a thread of a model, in a worker.

/**
 * Makes an instance of the module, and waits for work until threads.mjs stops it. `port` is where messages go. The text
 * of this function is also a worker's whole script (threads.mjs), so it refers to nothing outside of itself.
 */
export function help(port, { module, memory, threads, index, stack, locals }) {
  const imports = {};
  for (const { module: from, name, kind } of WebAssembly.Module.imports(module)) {
    (imports[from] = imports[from] || {})[name] = kind === "memory" ? memory : function () { return 0; };
  }
  return WebAssembly.instantiate(module, imports).then(function ({ exports }) {
    exports.__stack_pointer.value = stack;
    exports.__wasm_init_tls(locals);
    port.postMessage("ready");
    try {
      exports.threads_help(threads, index);
    } catch (trap) {  // the thread that runs the model must not wait for this one
      exports.threads_stop(threads);
    }
  }).catch(function (error) {
    port.postMessage(String(error));
  }).then(function () {
    port.close();
  });
}
