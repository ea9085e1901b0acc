// The same functions in Node.
import { createHash, randomBytes } from "node:crypto";
import * as files from "node:fs/promises";
import { homedir } from "node:os";
import { basename, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { refuse } from "./errors.mjs";

export async function moduleBytes(threads) {
  const url = threads ? new URL("./fovea-threads.wasm", import.meta.url) : new URL("./fovea.wasm", import.meta.url);
  return files.readFile(url);
}

/** A path, or an address: something with a scheme of two letters or more, since C: is a drive. */
export function locate(source) {
  if (source instanceof URL) return { url: source };
  return /^[a-z][a-z0-9+.-]+:/i.test(source) ? { url: new URL(source) } : { url: pathToFileURL(resolve(source)) };
}

export function startWorker() {
  // Node's options for the program, such as --input-type, must not apply to this file.
  return new Worker(new URL("./worker-node.mjs", import.meta.url), { type: "module", execArgv: [] });
}

export function startInlineWorker(source) {
  return new Worker(source, { eval: true, execArgv: [] });
}

export function listen(worker, said, failed) {
  worker.on("message", said).on("error", (error) => failed(error.message));
  worker.on("exit", () => failed("it ended"));
}

export const canShare = () => typeof SharedArrayBuffer === "function";

const WORDS = {
  ENOENT: "no such file", EACCES: "no permission to read it",
  EISDIR: "this is a directory; 'fovea convert DIR -o model.fovea' makes a model of it",
};

export async function readFile(url) {
  const path = fileURLToPath(url);
  try {
    const file = await files.open(path);
    const about = await file.stat();
    if (about.isDirectory()) {
      await file.close();
      throw Object.assign(new Error("a directory"), { code: "EISDIR" });
    }
    const { size } = about;
    return { stream: file.createReadStream({ highWaterMark: 1 << 20 }), total: size };
  } catch (error) {
    return refuse(`cannot read ${path}: ${WORDS[error.code] ?? error.message}`, undefined, error);
  }
}

/** A folder; `true`: fovea's own in the user's cache folder. */
export async function openCache(name) {
  const folder = name === true ? join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "fovea") : resolve(name);
  await files.mkdir(folder, { recursive: true });
  const pathOf = (url) => {
    const known = basename(decodeURIComponent(url.pathname)).replace(/[^\w.-]/g, "_").slice(-80) || "model";
    return join(folder, `${createHash("sha256").update(url.href).digest("hex").slice(0, 16)}-${known}`);
  };
  return {
    async get(url) {
      const path = pathOf(url);
      return files.access(path).then(() => readFile(pathToFileURL(path)), () => undefined);
    },
    async put(url, bytes) {  // a reader finds the whole file or none
      const path = pathOf(url), part = `${path}.${randomBytes(6).toString("hex")}.part`;
      await files.writeFile(part, bytes).then(() => files.rename(part, path))
        .finally(() => files.rm(part, { force: true }));
    },
    remove: (url) => files.rm(pathOf(url), { force: true }),
  };
}
