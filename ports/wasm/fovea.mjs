// Models of fovea in JavaScript: load a blob, classify, embed, explain, generate. fovea.d.ts describes the arguments.
export { constants } from "./declarations.mjs";
export { FoveaError } from "./errors.mjs";
export { Model } from "./model.mjs";
export { TextStreamer, pipeline } from "./pipeline.mjs";
export { Tensor } from "./tensor.mjs";
