// A model's bytes from wherever they are: an address, a path, a response, a stream, a file, or memory.
import { constants as C } from "./declarations.mjs";
import { FoveaError, refuse } from "./errors.mjs";
import { optionsOf } from "./options.mjs";
import { platform } from "./platform.mjs";
import { bytesShown, quoted } from "./shown.mjs";

const MAGIC = "FOVEABLB";
const ascii = (bytes, count) => String.fromCharCode(...bytes.subarray(0, count));

// Other files that people give by mistake: the beginning, the kind, and the way out.
const OTHERS = [
  [/^\s*(<!doctype html|<html|<head|<\?xml|<!--)/i, "a web page (HTML)",
    "is the address right? Servers answer with a page for addresses that they do not know"],
  [/^version https:\/\/git-lfs/, "a pointer of Git LFS", "get the file itself: 'git lfs pull'"],
  [/^GGUF/, "a GGUF file", "'fovea convert' makes a model of it"],
  [/^.{8}\{"/s, "a safetensors file", "'fovea convert' makes a model of its directory"],
  [/^\x08.\x12/s, "an ONNX file", "'fovea convert' makes a model of the original directory"],
  [/^PK\x03\x04/, "a zip archive", "unpack it"], [/^\x1f\x8b/, "compressed with gzip", "unpack it"],
  [/^\x28\xb5\x2f\xfd/, "compressed with zstd", "unpack it"], [/^\0asm/, "a WebAssembly module", "give a model"],
  [/^\s*[{[]/, "JSON", "is it an error message of the server, or a model's description? 'fovea convert' reads those"],
];

/** Refuses bytes that do not begin as a model does. Too few bytes are the library's to refuse. */
function checkBeginning(bytes, name) {
  if (bytes.length === 0 || ascii(bytes, MAGIC.length) === MAGIC) return;
  const begin = ascii(bytes, 64), [, kind, way] = OTHERS.find(([pattern]) => pattern.test(begin)) ?? [];
  const text = /^[\t\n\r -~]*$/.test(begin) ? `: ${quoted(begin)}` : "";
  refuse(`${name ?? "the source"} is no model of fovea but ${kind ?? "something else"}${text}` +
    `${way ? `; ${way}` : `; models begin with ${MAGIC}`}`, C.FOVEA_E_MAGIC);
}

/** Reads a stream of Uint8Arrays. `total`: its length if known. */
async function readStream(stream, total, report, signal) {
  let all = new Uint8Array(total ?? 1 << 16), loaded = 0;
  const add = (part) => {
    signal?.throwIfAborted();
    const bytes = part instanceof Uint8Array ? part : ArrayBuffer.isView(part) || part instanceof ArrayBuffer ?
      new Uint8Array(part.buffer ?? part, part.byteOffset ?? 0, part.byteLength) :
      refuse(`a stream of bytes is needed, this one has ${typeof part}s`);
    if (loaded + bytes.length > all.length) {
      const longer = new Uint8Array(Math.max(2 * all.length, loaded + bytes.length));
      longer.set(all.subarray(0, loaded));
      all = longer;
    }
    all.set(bytes, loaded);
    report((loaded += bytes.length));
  };
  if (typeof stream.getReader === "function") {
    const reader = stream.getReader();
    try {
      for (let next = await reader.read(); !next.done; next = await reader.read()) add(next.value);
    } catch (error) {
      reader.cancel(error).catch(() => {});
      throw error;
    }
  } else {
    for await (const part of stream) add(part);
  }
  return all.subarray(0, loaded);
}

function opened(response, name) {
  if (!response.ok) refuse(`cannot load ${name}: ${`${response.status} ${response.statusText}`.trim()}`);
  if (response.bodyUsed) refuse(`the body of the response of ${name} is already read`);
  const encoded = response.headers.get("content-encoding");  // then content-length counts compressed bytes
  const length = Number(response.headers.get("content-length"));
  return { stream: response.body ?? new Blob([]).stream(), total: encoded || !length ? null : length, name };
}

async function openUrl(url, request, signal) {
  if (url.protocol === "file:") return { ...(await platform.readFile(url)), name: url.href };
  const response = await fetch(request ?? url, { signal }).catch((error) => {
    if (error.name === "AbortError" || signal?.aborted) throw error;
    const why = error.cause?.message || error.message;
    refuse(`cannot load ${url}: ${why}; does the server run, and does it permit this page (CORS)?`, undefined, error);
  });
  return opened(response, url.href);
}

/** The stream, length and name of a source; `{ bytes }` for bytes in memory. */
async function open(source, signal) {
  if (source instanceof ArrayBuffer || isShared(source)) return { bytes: new Uint8Array(source) };
  if (ArrayBuffer.isView(source)) {
    return { bytes: new Uint8Array(source.buffer, source.byteOffset, source.byteLength) };
  }
  if (typeof Response === "function" && source instanceof Response) {
    return opened(source, source.url || "the response");
  }
  if (typeof Blob === "function" && source instanceof Blob) {
    return { stream: source.stream(), total: source.size, name: source.name ?? "the blob" };
  }
  if (typeof source?.getReader === "function" || typeof source?.[Symbol.asyncIterator] === "function") {
    return { stream: source, total: null, name: "the stream" };
  }
  const given = source === null ? "null" : Array.isArray(source) ? "an array" : typeof source === "object" ?
    `an object (${source.constructor?.name ?? "without a class"})` : typeof source;
  return refuse("a model is an address or a path, a Response, Blob, stream, ArrayBuffer or a typed array, " +
    `not ${given}`);
}

const isShared = (source) => typeof SharedArrayBuffer === "function" && source instanceof SharedArrayBuffer;

/** The place of an address, path or request in the cache; null for anything else. */
function placeOf(source) {
  if (typeof Request === "function" && source instanceof Request) return { url: new URL(source.url), request: source };
  return typeof source === "string" || source instanceof URL ? platform.locate(source) : null;
}

async function cacheFor(name, place) {
  if (name === undefined || name === false) return null;
  if (name !== true && (typeof name !== "string" || name === "")) {
    refuse(`cache is ${String(name)}: true, false or a name is needed`, C.FOVEA_E_OPTION);
  }
  if (place === null || !/^https?:$/.test(place.url.protocol)) return null;
  return platform.openCache(name).catch((error) => {
    console.warn(`fovea: no cache: ${error.message}`);
    return null;
  });
}

/** An error of the caller's function, which is thrown on as it is. */
class OwnError {
  constructor(error) {
    this.error = error;
  }
}

/** Calls the progress function at most every hundredth, and at the end. */
function reporter(progress, name, total, cached) {
  if (progress === undefined) return () => {};
  let next = 0;
  return (loaded, done = false) => {
    if (!done && (loaded < next || loaded === total)) return;
    next = loaded + Math.max(1, total === null ? (1 << 16) + loaded / 10 : total / 100);
    try {
      progress({ name, loaded, total: done ? loaded : total, done, cached });
    } catch (error) {
      throw new OwnError(error);
    }
  };
}

/** Bytes of a model. `options`: progress, cache, signal. */
export function load(given, options) {
  return loadFrom(given, options).catch((error) => {
    throw error instanceof OwnError ? error.error : error;
  });
}

async function loadFrom(given, options) {
  const { progress, cache: cacheName, signal } = optionsOf("load", options);
  if (progress !== undefined && typeof progress !== "function") refuse("progress is no function", C.FOVEA_E_OPTION);
  const source = await given;  // a promise, as fetch() returns, is welcome
  const place = placeOf(source), cache = await cacheFor(cacheName, place);
  const kept = await cache?.get(place.url);
  const from = kept ? { ...kept, name: place.url.href } :
    place ? await openUrl(place.url, place.request, signal) : await open(source, signal);
  if (from.bytes) {
    checkBeginning(from.bytes);
    reporter(progress, "bytes", from.bytes.length, false)(from.bytes.length, true);
    return { bytes: from.bytes, name: null };
  }
  const report = reporter(progress, from.name, from.total, Boolean(kept));
  const bytes = await readStream(from.stream, from.total, report, signal).catch((error) => {
    if (error instanceof FoveaError || error instanceof OwnError || error.name === "AbortError" || signal?.aborted) {
      throw error;
    }
    refuse(`${from.name} broke off: ${error.message}`, undefined, error);
  });
  if (from.total !== null && bytes.length < from.total) {
    refuse(`${from.name} broke off after ${bytesShown(bytes.length)} of ${bytesShown(from.total)}`,
      C.FOVEA_E_TRUNCATED);
  }
  try {
    if (bytes.length === 0) refuse(`${from.name} is empty`, C.FOVEA_E_TRUNCATED);
    checkBeginning(bytes, from.name);
  } catch (error) {
    if (!kept) throw error;
    return again(given, options, cache, place, error);
  }
  report(bytes.length, true);
  if (cache && !kept) {
    await cache.put(place.url, bytes).catch((error) =>
      console.warn(`fovea: ${place.url} is not cached: ${error.message}`));
  }
  return { bytes, name: from.name, again: kept && ((error) => again(given, options, cache, place, error)) };
}

/** A cached copy that is damaged is fetched again. */
async function again(given, options, cache, place, error) {
  console.warn(`fovea: the cached copy of ${place.url} is damaged (${error.message}); it is loaded again`);
  await cache.remove(place.url);
  return load(given, options);
}
