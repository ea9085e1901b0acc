// Workers that share a library's memory and compute together with the calling thread.
import { help } from "./helper.mjs";
import { platform } from "./platform.mjs";

const FIRST_PAGES = 16, MOST_PAGES = 65536;  // pages of 64 KiB, as in the module
const STACK = 256 * 1024;

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

/** Sends a worker its work; resolves when it is ready. */
async function ready(worker, data) {
  try {
    await new Promise((resolve, reject) => {
      platform.listen(worker, (message) => (message === "ready" ? resolve() : reject(new Error(message))),
        (text) => reject(new Error(text)));
      worker.postMessage(data);
    });
  } catch (error) {
    worker.terminate();
    throw error;
  }
  worker.unref?.();  // a Node program that does not close a model still ends
  return worker;
}

/** A script without imports for where a bundler left out the worker's file; in Node a CommonJS module. */
const script = () => `"use strict"; const help = ${help};
if (typeof require === "function") require("worker_threads").parentPort.once("message", function (data) {
  help(this, data);
});
else self.addEventListener("message", ({ data }) => help(self, data), { once: true });`;

async function started(data) {
  try {
    return await ready(platform.startWorker(), data);
  } catch (error) {
    return ready(platform.startInlineWorker(script()), data).catch((second) => {
      throw new Error(`${error.message}; without its file: ${second.message}`);
    });
  }
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
    const data = Array.from({ length: count - 1 }, (_, i) => ({
      module, memory, threads: self.address, index: i + 1, stack: library.scratch.make(STACK) + STACK,
      locals: library.scratch.make(Math.max(exports.__tls_size.value, 1)),
    }));
    const all = await Promise.allSettled(data.map((one) => started(one)));
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
