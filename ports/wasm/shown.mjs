// Objects in one line: for consoles (Node calls the first method), and as strings.
const INSPECT = Symbol.for("nodejs.util.inspect.custom");

/** Gives a class's objects `line` as their string, and as what Node's console prints. */
export function shownAs(Class, line) {
  function value() {
    return line(this);
  }
  for (const name of ["toString", INSPECT]) {
    Object.defineProperty(Class.prototype, name, { value, configurable: true, writable: true });
  }
}

const UNITS = ["bytes", "KB", "MB", "GB"];
export function bytesShown(bytes) {
  const unit = bytes < 1000 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
  return `${unit === 0 ? bytes : (bytes / 1000 ** unit).toPrecision(3)} ${UNITS[unit]}`;
}

/** "1 text", "2 texts". */
export const counted = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;

/** A value of any type for an error: strings in quotes. */
export const shownValue = (value) => (typeof value === "string" ? quoted(value) :
  Array.isArray(value) ? "an array" : value !== null && typeof value === "object" ? "an object" : String(value));

/** The beginning of a text, in quotes. */
export const quoted = (text, most = 40) => JSON.stringify(text.length > most ? `${text.slice(0, most)}...` : text);
