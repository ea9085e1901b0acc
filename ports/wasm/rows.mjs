// Converts matrices in the library's memory from and to JavaScript numbers.
import { constants as C } from "./declarations.mjs";

function halfToFloat(half) {
  const sign = half & 0x8000 ? -1 : 1, exponent = (half >> 10) & 31, fraction = half & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** Rounds to nearest, ties to even. */
function floatToHalf(number) {
  const sign = number < 0 || Object.is(number, -0) ? 0x8000 : 0, size = Math.abs(number);
  if (Number.isNaN(number)) return 0x7e00;
  if (size >= 65520) return sign | 0x7c00;
  const exponent = Math.max(-14, Math.floor(Math.log2(size)));
  return sign | (nearest(size * 2 ** (10 - exponent)) + 1024 * (exponent + 14));
}

function nearest(number) {
  const below = Math.floor(number), rest = number - below;
  return rest > 0.5 || (rest === 0.5 && below % 2 !== 0) ? below + 1 : below;
}

/** Reads one row of a type into `out`. */
const READERS = {
  [C.FOVEA_TYPE_F32]: (view, at, out) => {
    for (let i = 0; i < out.length; ++i) out[i] = view.getFloat32(at + 4 * i, true);
  },
  [C.FOVEA_TYPE_F16]: (view, at, out) => {
    for (let i = 0; i < out.length; ++i) out[i] = halfToFloat(view.getUint16(at + 2 * i, true));
  },
  [C.FOVEA_TYPE_BF16]: (view, at, out) => {
    const bits = Uint32Array.from(out, (_, i) => view.getUint16(at + 2 * i, true) << 16);
    out.set(new Float32Array(bits.buffer));
  },
  // Scales of equal parts, then integers (fovea_view).
  [C.FOVEA_TYPE_I8]: (view, at, out, rowBytes) => {
    const parts = Math.floor((rowBytes - out.length) / 4), size = Math.ceil(out.length / parts);
    for (let i = 0; i < out.length; ++i) {
      out[i] = view.getInt8(at + 4 * parts + i) * view.getFloat32(at + 4 * Math.floor(i / size), true);
    }
  },
};

/** Writes one row of a type. */
const WRITERS = {
  [C.FOVEA_TYPE_F16]: (view, at, row) => row.forEach((x, i) => view.setUint16(at + 2 * i, floatToHalf(x), true)),
  [C.FOVEA_TYPE_BF16]: (view, at, row) => {
    const bits = new Uint32Array(row.buffer, row.byteOffset, row.length);
    row.forEach((x, i) => view.setUint16(at + 2 * i, (Number.isNaN(x) ? 0x7fc00000 :
      bits[i] + 0x7fff + ((bits[i] >> 16) & 1)) >>> 16, true));
  },
  [C.FOVEA_TYPE_I8]: (view, at, row, rowBytes) => {
    const parts = Math.floor((rowBytes - row.length) / 4), size = row.length / parts;
    for (let part = 0; part < parts; ++part) {
      const own = row.subarray(part * size, (part + 1) * size);
      const scale = Math.fround(own.reduce((most, x) => Math.max(most, Math.abs(x)), 0) / 127);
      view.setFloat32(at + 4 * part, scale, true);
      own.forEach((x, i) => {
        const integer = scale > 0 ? nearest(Math.fround(x / scale)) : 0;
        view.setInt8(at + 4 * parts + part * size + i, Math.max(-127, Math.min(127, integer)));
      });
    }
  },
};

/** Writes consecutive rows, converted to the view's type. */
export function writeRows(library, { data, type, rows, width, row_bytes: rowBytes }, numbers) {
  if (type === C.FOVEA_TYPE_I32 || type === C.FOVEA_TYPE_F32) {  // dense, as all inputs are
    new (type === C.FOVEA_TYPE_I32 ? Int32Array : Float32Array)(library.memory.buffer, data, rows * width).set(numbers);
    return;
  }
  const all = Float32Array.from(numbers);
  for (let row = 0; row < rows; ++row) {
    WRITERS[type](library.view, data + row * rowBytes, all.subarray(row * width, (row + 1) * width), rowBytes);
  }
}

/** A copy of a fovea_view's consecutive rows: Int32Array for integers, Float32Array for all other types. */
export function rowsOf(library, { data, type, rows, width, row_bytes: rowBytes }) {
  if (rowBytes === 4 * width && (type === C.FOVEA_TYPE_F32 || type === C.FOVEA_TYPE_I32)) {
    return library.numbers(type === C.FOVEA_TYPE_I32 ? Int32Array : Float32Array, data, rows * width);
  }
  if (type === C.FOVEA_TYPE_I32) {
    return Int32Array.from({ length: rows * width }, (_, i) =>
      library.view.getInt32(data + Math.floor(i / width) * rowBytes + 4 * (i % width), true));
  }
  const all = new Float32Array(rows * width);
  for (let row = 0; row < rows; ++row) {
    READERS[type](library.view, data + row * rowBytes, all.subarray(row * width, (row + 1) * width), rowBytes);
  }
  return all;
}
