// Finds and compiles the WebAssembly module.
import { refuse } from "./errors.mjs";
import { platform } from "./platform.mjs";
import { fetchedBytes, isWasm } from "./web.mjs";

/** The copy of the one-threaded module in the scripts: gzip in base64. */
async function inlined() {
  const { default: text } = await import("./fovea-inline.mjs");
  const packed = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The module beside this file, or the copy in the scripts where a bundler did not take that file along. */
async function usualBytes(threads) {
  try {
    return await platform.moduleBytes(threads);
  } catch (error) {
    const name = threads ? "fovea-threads.wasm" : "fovea.wasm";
    const bytes = await inlined().catch((second) => refuse(
      `cannot load ${name}: ${error.message}; nor the copy in the scripts: ${second.message}`, undefined, error));
    console.info(`fovea: ${name} is not beside the script (${error.message}), so its copy in the script is used` +
      `${threads ? ", with one thread" : ""}; copy node_modules/fovea/${name} there, or give its address as 'wasm'`);
    return bytes;
  }
}

const usual = {};

/** The compiled module: `source` is its address, its bytes or the module; by default it is beside this file. */
export function compiled(source, threads) {
  if (source !== undefined) return compiledFrom(source);
  const name = threads ? "threads" : "one";
  usual[name] ??= usualBytes(threads).then((bytes) => WebAssembly.compile(bytes)).catch((error) => {
    delete usual[name];  // the next call tries again
    throw error;
  });
  return usual[name];
}

async function compiledFrom(source) {
  if (source instanceof WebAssembly.Module) return source;
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return compile(source, "these bytes");
  if (typeof source !== "string" && !(source instanceof URL)) {
    refuse(`wasm is ${source === null ? "null" : typeof source}: an address, bytes or a WebAssembly.Module is needed`);
  }
  const { url } = platform.locate(source);
  if (url.protocol !== "file:") return compile(await fetchedBytes(url).catch((error) => refuse(error.message)), url);
  const { stream } = await platform.readFile(url);
  const parts = [];
  for await (const part of stream) parts.push(part);
  return compile(await new Blob(parts).arrayBuffer(), url);
}

function compile(source, name) {
  const bytes = ArrayBuffer.isView(source) ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength) :
    new Uint8Array(source);
  if (!isWasm(bytes)) refuse(`wasm: ${name} is no WebAssembly module`);
  return WebAssembly.compile(source);
}
