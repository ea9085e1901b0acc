// Headless Chromium, driven over two pipes (--remote-debugging-pipe): messages of its protocol, each ended by a zero.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
  "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
  "--disable-ipc-flooding-protection",  // else it ignores a page's address after 200 changes within 10 seconds
  "--remote-debugging-pipe"];

/** Chromium's program; without one, the test ends as skipped and reports that `what` is not tested. */
export function chromiumFor(what) {
  const programs = process.env.PATH.split(delimiter).map((place) => join(place, "chromium"));
  const program = programs.find((each) => existsSync(each));
  if (program !== undefined) return program;
  console.log(`SKIPPED: no chromium, so ${what} is not tested (tools/setup.sh --cross installs it)`);
  process.exit(77);
}

const KEYS = { Tab: 9, Enter: 13, Escape: 27, " ": 32, End: 35, Home: 36, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39,
  ArrowDown: 40 };
const SHIFT = 8;  // bit of Chromium's modifiers
const MOST_SECONDS = 120;  // until a message has its answer

export class Browser {
  constructor(program) {
    this.folder = mkdtempSync(join(tmpdir(), "fovea-chromium-"));
    this.process = spawn(program, [...FLAGS, `--user-data-dir=${this.folder}`, "about:blank"],
      { stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"] });
    this.process.stderr.on("data", (data) => (this.said = ((this.said ?? "") + data).slice(-4000)));
    this.waiting = new Map();
    this.listeners = [];
    this.last = 0;
    let rest = "";
    this.process.stdio[4].on("data", (data) => {
      const messages = (rest + data).split("\0");
      rest = messages.pop();
      for (const message of messages) this.#take(JSON.parse(message));
    });
    this.process.on("exit", (code) => {
      const error = new Error(`Chromium ended (${code}): ${this.said}`);
      for (const id of [...this.waiting.keys()]) this.#end(id, ({ reject }) => reject(error));
    });
  }

  #end(id, tell) {
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    clearTimeout(waiting.late);
    tell(waiting);
  }

  #take(message) {
    if (this.waiting.has(message.id)) {
      this.#end(message.id, ({ resolve, reject, method }) => message.error ?
        reject(new Error(`${method}: ${message.error.message}`)) : resolve(message.result));
    } else {
      for (const listener of this.listeners) listener(message);
    }
  }

  send(method, params = {}, sessionId = undefined) {
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => this.#end(id, ({ reject }) => reject(new Error(
        `no answer to ${method} ${JSON.stringify(params).slice(0, 300)}`))), MOST_SECONDS * 1000);
      this.waiting.set(id, { resolve, reject, method, late });
      this.process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
  }

  async page() {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    const page = new Page(this, sessionId, targetId);
    for (const domain of ["Page", "Runtime", "Log", "Network"]) await page.send(`${domain}.enable`);
    return page;
  }

  async close() {
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    await this.send("Browser.close").catch(() => this.process.kill("SIGKILL"));
    await ended;
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });  // its processes end later
  }
}

/** A tab: what it asked for and complained about is kept. */
class Page {
  constructor(browser, sessionId, target) {
    Object.assign(this, { browser, sessionId, target });
    this.requests = [];
    this.complaints = [];
    browser.listeners.push((message) => message.sessionId === sessionId && this.#note(message));
  }

  #note({ method, params }) {
    if (method === "Network.requestWillBeSent") this.requests.push(params.request.url);
    if (method === "Runtime.exceptionThrown") this.complaints.push(params.exceptionDetails.exception?.description);
    if (method === "Runtime.consoleAPICalled" && ["error", "warning", "assert"].includes(params.type)) {
      this.complaints.push(params.args.map((arg) => arg.value ?? arg.description).join(" "));
    }
    if (method === "Log.entryAdded") this.complaints.push(`${params.entry.text} ${params.entry.url ?? ""}`);
    if (method === "Network.loadingFailed") this.complaints.push(params.errorText);
  }

  send(method, params) {
    return this.browser.send(method, params, this.sessionId);
  }

  /** The value of an expression in the page. */
  async evaluate(expression) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate",
      { expression, returnByValue: true, awaitPromise: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  async until(expression, seconds = 60) {
    for (let i = 0; i < seconds * 20; ++i) {
      if (await this.evaluate(expression)) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`not so: ${expression}; the page says: ${await this.evaluate("document.body.innerText")}`);
  }

  async press(key, text = undefined, shift = false) {
    const params = { key, code: key, windowsVirtualKeyCode: KEYS[key] ?? 0, text, modifiers: shift ? SHIFT : 0 };
    await this.send("Input.dispatchKeyEvent", { type: "keyDown", ...params });
    await this.send("Input.dispatchKeyEvent", { type: "keyUp", ...params });
  }
}
