// Functions of pages and their workers. Addresses of files are literals, which bundlers find; where one did not, the
// address leads nowhere, and the copy of the module in fovea-inline.mjs is used.
import { refuse } from "./errors.mjs";

const MAGIC = 0x6d736100;  // "\0asm"

export function isWasm(bytes) {
  return bytes.length >= 8 && new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true) === MAGIC;
}

/** The compiled module with this name: for one thread, or for several. */
export async function moduleBytes(threads) {
  const url = threads ? new URL("./fovea-threads.wasm", import.meta.url) : new URL("./fovea.wasm", import.meta.url);
  return fetchedBytes(url);
}

/** The bytes of a module at an address. */
export async function fetchedBytes(url) {
  const response = await fetch(url).catch((error) => {
    throw new Error(`${url}: ${error.message}`);
  });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`.trimEnd());
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (!isWasm(bytes)) {
    throw new Error(`${url}: ${response.headers.get("content-type") ?? "a file"} instead of application/wasm`);
  }
  return bytes;
}

/** An address as people write it: relative to the page. */
export function locate(source) {
  try {
    return { url: new URL(source, globalThis.document?.baseURI ?? globalThis.location?.href) };
  } catch (error) {
    return refuse(`'${source}' is not an address: ${error.message}`);
  }
}

/** A worker that helps; its messages and failures go to the two functions. */
export function startWorker() {
  return new Worker(new URL("./worker.mjs", import.meta.url), { type: "module" });
}

export function startInlineWorker(source) {
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  try {
    return new Worker(url, { name: "fovea" });
  } finally {
    setTimeout(() => URL.revokeObjectURL(url), 60e3);
  }
}

export function listen(worker, said, failed) {
  worker.onmessage = (event) => said(event.data);
  worker.onerror = (event) => {
    event.preventDefault?.();  // it is reported once, as an error of Model.open
    failed(event.message || "its script cannot be loaded");
  };
}

/** Whether threads can share memory: in pages that are cross-origin isolated. */
export const canShare = () => typeof SharedArrayBuffer === "function" && globalThis.crossOriginIsolated === true;

/** The cache with this name; throws where there is none. */
export async function openCache(name) {
  if (globalThis.caches === undefined) throw new Error("pages have one only with https, or on localhost");
  const cache = await caches.open(name === true ? "fovea" : name);
  return {
    async get(url) {
      const response = await cache.match(url.href);
      return response && { stream: response.body, total: Number(response.headers.get("content-length")) || null };
    },
    put: (url, bytes) => cache.put(url.href, new Response(bytes,
      { headers: { "content-type": "application/octet-stream", "content-length": String(bytes.byteLength) } })),
    remove: (url) => cache.delete(url.href),
  };
}

export const readFile = (url) => refuse(`${url}: pages cannot read files by their address; give a File or its bytes`);
