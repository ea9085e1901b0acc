// The package in Node: the same exports as fovea.mjs.
import * as node from "./node.mjs";
import { use } from "./platform.mjs";

use(node);
export * from "./fovea.mjs";
