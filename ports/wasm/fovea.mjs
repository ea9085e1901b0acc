// Models of fovea in JavaScript: load a blob, classify, embed, explain, generate. fovea.d.ts says what each takes.
export { constants } from "./declarations.mjs";
export { FoveaError } from "./library.mjs";
export { Model } from "./model.mjs";
