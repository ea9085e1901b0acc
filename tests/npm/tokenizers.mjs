// Encodes texts with Hugging Face's tokenizers, as npm has them.
//   node tokenizers.mjs JOBS PACKAGES
// JOBS: JSON, a list of {"file" or "json": a tokenizer.json, "texts"}. Prints for each its ids and character offsets,
// or its error. PACKAGES: a directory with node_modules/@anush008/tokenizers, which has the Rust library.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [jobs, packages] = process.argv.slice(2);
const { Tokenizer } = createRequire(`${packages}/package.json`)("@anush008/tokenizers");
const results = [];
for (const { file, json, texts } of JSON.parse(readFileSync(jobs, "utf8"))) {
  try {
    const tokenizer = Tokenizer.fromString(json === undefined ? readFileSync(file, "utf8") : JSON.stringify(json));
    tokenizer.disableTruncation();
    tokenizer.disablePadding();
    const ids = [], offsets = [];
    for (const text of texts) {
      const encoding = await tokenizer.encode(text);
      ids.push(encoding.getIds());
      offsets.push(encoding.getOffsets());
    }
    results.push({ ids, offsets });
  } catch (error) {
    results.push({ error: String(error.message) });
  }
}
process.stdout.write(JSON.stringify(results));
