// Renders chat templates with Hugging Face's interpreter of Jinja, as npm has it.
//   node jinja.mjs CASES PACKAGES
// CASES: JSON, {"templates": {NAME: TEXT}, "time": [year, month, .., second], "cases": [[NAME, variables], ..]}. Prints
// for each {"text"} or {"error"}. The package defines raise_exception and strftime_now itself, so no variable may have
// these names; the clock is stopped at the given time.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [input, packages] = process.argv.slice(2);
const { Template } = createRequire(`${packages}/package.json`)("@huggingface/jinja");
const { templates, time, cases } = JSON.parse(readFileSync(input, "utf8"));
const Clock = Date, [year, month, ...rest] = time, now = new Clock(year, month - 1, ...rest).getTime();
globalThis.Date = class extends Clock {
  constructor(...given) {
    super(...(given.length ? given : [now]));
  }
  static now() {
    return now;
  }
};

const parsed = new Map();
for (const [name, text] of Object.entries(templates)) {
  try {
    const template = new Template(text);
    parsed.set(name, (variables) => template.render(variables));
  } catch (error) {
    parsed.set(name, () => {
      throw error;
    });
  }
}
const results = cases.map(([name, variables]) => {
  try {
    return { text: parsed.get(name)(variables) };
  } catch (error) {
    return { error: String(error.message) };
  }
});
process.stdout.write(JSON.stringify(results));
