// A thread of a model in a page.
import { help } from "./helper.mjs";

self.addEventListener("message", ({ data }) => help(self, data), { once: true });
