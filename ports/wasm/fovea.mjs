// Models of fovea in JavaScript: load a blob, classify, embed, explain, generate. fovea.d.ts describes the arguments.
export { constants } from "./declarations.mjs";
export { FoveaError } from "./library.mjs";
export { Model } from "./model.mjs";
