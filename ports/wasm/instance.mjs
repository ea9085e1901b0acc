// Instances of the WebAssembly module, in the thread that has a model and in workers beside it.

export const inNode = typeof process === "object" && typeof process.versions?.node === "string";

/** Whether a module is the one for several threads: its memory is given to it. */
export const sharesMemory = (module) => WebAssembly.Module.imports(module).some(({ kind }) => kind === "memory");

/** Of the machine the module needs nothing; views of memory are made anew when it has grown. */
export function instanceOf(module, memory) {
  const imports = {};
  for (const { module: from, name, kind } of WebAssembly.Module.imports(module)) {
    (imports[from] ??= {})[name] = kind === "memory" ? memory : () => 0;
  }
  return WebAssembly.instantiate(module, imports);
}
