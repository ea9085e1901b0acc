// The differences between pages and Node. Web functions are the default, which other systems also have (Deno, workers);
// fovea-node.mjs, which package.json selects in Node, replaces them. No other file imports anything of Node.
import * as web from "./web.mjs";

export const platform = { ...web };

export function use(other) {
  Object.assign(platform, other);
}
