// Results with dimensions, with the fields of transformers.js' Tensor.
import { constants as C } from "./declarations.mjs";
import { refuse } from "./errors.mjs";
import { shownAs } from "./shown.mjs";

/** Numbers in row-major order: `dims` has the length of each dimension. */
export class Tensor {
  constructor(type, data, dims) {
    const size = dims.reduce((all, length) => all * length, 1);
    if (size !== data.length) refuse(`a tensor [${dims.join(", ")}] has ${size} numbers, not ${data.length}`);
    this.type = type;
    this.data = data;
    this.dims = dims;
  }

  get size() {
    return this.data.length;
  }

  /** Part `index` of the first dimension: a tensor, or a number if there is only one dimension. */
  at(index) {
    const [count = 0, ...dims] = this.dims, place = index < 0 ? index + count : index;
    if (!Number.isInteger(place) || place < 0 || place >= count) {
      refuse(`no part ${index} of ${count} of a tensor`, C.FOVEA_E_INDEX);
    }
    const size = this.data.length / count;
    if (dims.length === 0) return this.data[place];
    return new Tensor(this.type, this.data.subarray(place * size, (place + 1) * size), dims);
  }

  *[Symbol.iterator]() {
    for (let i = 0; i < (this.dims[0] ?? 0); ++i) yield this.at(i);
  }

  /** Nested arrays. */
  tolist() {
    return this.dims.length === 1 ? Array.from(this.data) : Array.from(this, (part) => part.tolist());
  }
}

shownAs(Tensor, ({ type, dims }) => `Tensor(${type}, [${dims.join(", ")}])`);
