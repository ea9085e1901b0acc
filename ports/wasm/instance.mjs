// Instances of the WebAssembly module.

/** Whether a module is the one for several threads: it imports its memory. */
export const sharesMemory = (module) => WebAssembly.Module.imports(module).some(({ kind }) => kind === "memory");

/** The module imports nothing from the machine; views of memory are renewed when it has grown. */
export function instanceOf(module, memory) {
  const imports = {};
  for (const { module: from, name, kind } of WebAssembly.Module.imports(module)) {
    (imports[from] ??= {})[name] = kind === "memory" ? memory : () => 0;
  }
  return WebAssembly.instantiate(module, imports);
}
