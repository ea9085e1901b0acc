// Matrices in the library's memory as numbers of JavaScript.
import { constants as C } from "./declarations.mjs";

function halfToFloat(half) {
  const sign = half & 0x8000 ? -1 : 1, exponent = (half >> 10) & 31, fraction = half & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
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

/** A copy of a fovea_view's rows, one after the other: Int32Array of whole numbers, Float32Array of all others. */
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
