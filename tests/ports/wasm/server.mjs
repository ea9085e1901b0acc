// A server of files for tests.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

const TYPES = { ".html": "text/html", ".mjs": "text/javascript", ".js": "text/javascript", ".css": "text/css",
  ".wasm": "application/wasm", ".json": "application/json" };
const ISOLATION = {
  "cross-origin-opener-policy": "same-origin", "cross-origin-embedder-policy": "require-corp" };

/**
 * { origin, requests, close }. `answer(path, request, response)`: true if it has answered. `isolated`: pages are
 * isolated from other origins.
 */
export async function serve(root, answer = () => false, isolated = false) {
  const requests = [];
  const server = createServer((request, response) => {
    const path = normalize(new URL(request.url, "http://x").pathname);
    requests.push(path);
    response.setHeader("connection", "close");  // on a slow machine, one that is kept is closed while it is used again
    if (answer(path, request, response)) return;
    try {
      const data = readFileSync(join(root, path));
      response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "application/octet-stream",
        "content-length": data.length, ...(isolated ? ISOLATION : {}) });
      response.end(data);
    } catch {
      response.writeHead(404, { "content-type": "text/html" });
      response.end("<!doctype html><title>404</title>");
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${server.address().port}`;
  return { origin, requests, close: () => server.closeAllConnections() ?? server.close() };
}
