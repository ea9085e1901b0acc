// Numbers that a record holds as base64, little-endian as every machine that shows pages.

const TYPES = { f32: Float32Array, f16: Uint16Array, u32: Uint32Array };

function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** The f32 with the value of 16 bits of half precision. */
export function halfValue(bits) {
  const sign = bits & 0x8000 ? -1 : 1, exponent = (bits >> 10) & 31, fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25));
}

let halves;
function widened(bits) {
  halves ??= Float32Array.from({ length: 65536 }, (_, i) => halfValue(i));
  const numbers = new Float32Array(bits.length);
  for (let i = 0; i < bits.length; ++i) numbers[i] = halves[bits[i]];
  return numbers;
}

/** The numbers of a base64 string: a Float32Array for "f32" and "f16", a Uint32Array for "u32". */
export function numbersOf(base64, type, what) {
  const Type = TYPES[type];
  if (!Type) throw new Error(`${what}: numbers of type "${type}" are unknown`);
  if (typeof base64 !== "string") throw new Error(`${what} is missing`);
  let bytes;
  try {
    bytes = bytesOf(base64);
  } catch {
    throw new Error(`${what} is not base64`);
  }
  if (bytes.length % Type.BYTES_PER_ELEMENT) throw new Error(`${what}: ${bytes.length} bytes are not whole numbers`);
  const numbers = new Type(bytes.buffer, bytes.byteOffset, bytes.length / Type.BYTES_PER_ELEMENT);
  return type === "f16" ? widened(numbers) : numbers;
}
