// A thread of a model in Node.
import { parentPort } from "node:worker_threads";
import { help } from "./helper.mjs";

parentPort.once("message", (message) => help(parentPort, message));
