// The colours with the numbers at their ends.
import { made, weightText } from "./elements.mjs";

export class Legend {
  constructor() {
    this.bar = made("canvas", { className: "scale", width: 256, height: 1, "aria-hidden": "true" });
    this.least = made("span");
    this.most = made("span");
    this.what = made("span", { className: "what" });
    this.element = made("p", { className: "legend" }, this.least, this.bar, this.most, this.what);
  }

  update(colours, least, most, what, greatest) {
    const picture = new ImageData(256, 1);
    new Uint32Array(picture.data.buffer).set(colours.pixels);
    this.bar.getContext("2d").putImageData(picture, 0, 0);
    this.least.textContent = least === 0 ? "0" : weightText(least);
    this.most.textContent = greatest === undefined ? weightText(most) :
      `${weightText(most)} and more, up to ${weightText(greatest)}`;
    this.what.textContent = what;
  }
}

/** The ends of a scale for numbers: from 0 for weights, from the least for scores. */
export function rangeOf(values, scores) {
  let least = scores ? Infinity : 0, most = scores ? -Infinity : 0;
  for (const value of values) {
    if (value > most) most = value;
    if (scores && value < least && value > -Infinity) least = value;
  }
  return { least: Number.isFinite(least) ? least : 0, most: Number.isFinite(most) && most > least ? most : least + 1 };
}
