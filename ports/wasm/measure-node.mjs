// The measuring functions in Node: the same exports as measure.mjs.
import "./fovea-node.mjs";

export * from "./measure.mjs";
