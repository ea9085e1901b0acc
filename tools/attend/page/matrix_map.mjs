// A matrix on a canvas: rows down, keys across, at any zoom. It draws lines as the record has them, never a whole
// matrix.
import { made, visible, weightText } from "./elements.mjs";

const LABEL_SIZE = 11, MOST_CELL = 36, LEAST_HEIGHT = 24, TICK = 64, TITLE = 18;

/** Shows a source of matrix_source.mjs. */
export class MatrixMap {
  constructor({ label, tooltip, onchoose, height = 0.9 }) {
    Object.assign(this, { tooltip, onchoose, height, source: null, chosen: null, colours: null });
    this.canvas = made("canvas", { className: "map", tabIndex: 0, role: "application", "aria-label": label,
      "aria-roledescription": "zoomable map" });
    this.said = made("p", { className: "said", role: "status" });
    const button = (text, name, work) => made("button",
      { type: "button", "aria-label": name, title: name, onclick: work }, text);
    this.element = made("div", { className: "map-box" }, this.canvas, made("div", { className: "map-bar" },
      button("+", "Zoom in", () => this.zoom(1.5)), button("−", "Zoom out", () => this.zoom(1 / 1.5)),
      button("Whole", "Show the whole map", () => this.whole()), this.said));
    this.canvas.addEventListener("keydown", (event) => this.#key(event));
    this.canvas.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    this.#pointer();
    new ResizeObserver(() => this.#resize()).observe(this.element);
  }

  show(source, colours, chosen) {
    const same = this.source && this.source.id === source.id;
    Object.assign(this, { source, colours, chosen });
    this.#layout();
    if (!same) this.whole();
    else this.draw();
  }

  // The plot and, left of and above it, the names of rows and keys.
  #layout() {
    const width = Math.floor(this.element.clientWidth);
    if (!width || !this.source) return false;
    const context = this.canvas.getContext("2d"), { rows, keys, rowName, keyName } = this.source;
    context.font = `${LABEL_SIZE}px system-ui, sans-serif`;
    const { rowNumber, keyNumber } = this.source, wide = (text) => context.measureText(text).width;
    const longest = (count, name, number) => {
      let most = 24;
      for (let i = 0; i < Math.min(count, 400); ++i) most = Math.max(most, wide(visible(name(i))));
      // Names are cut where they are long, numbers never; one that is chosen is bold, and so wider.
      const digits = String(number(Math.max(0, count - 1))).length * wide("0") * 1.1;
      return Math.ceil(Math.max(Math.min(most, width < 500 ? 72 : 120), digits)) + 10;
    };
    this.left = longest(rows, rowName, rowNumber) + TITLE;
    this.top = longest(keys, keyName, keyNumber) + TITLE;
    const room = width - this.left - 2, tall = Math.max(220, Math.min(innerHeight * this.height, room));
    this.least = Math.min(MOST_CELL, room / keys, tall / rows);
    // Cells are squares, but few rows over many keys would be a line of a pixel.
    this.stretch = Math.max(1, Math.min(MOST_CELL / this.least, LEAST_HEIGHT / (rows * this.least)));
    const plot = [Math.min(room, keys * this.least), Math.min(tall, rows * this.least * this.stretch)];
    this.plotWidth = Math.max(1, Math.floor(plot[0]));
    this.plotHeight = Math.max(1, Math.floor(plot[1]));
    const ratio = devicePixelRatio || 1, [w, h] = [this.left + this.plotWidth + 2, this.top + this.plotHeight + 2];
    this.canvas.width = Math.round(w * ratio);
    this.canvas.height = Math.round(h * ratio);
    this.canvas.style.width = `${w}px`;
    this.canvas.style.height = `${h}px`;
    this.ratio = ratio;
    return true;
  }

  #resize() {
    if (this.element.clientWidth === this.lastWidth) return;
    this.lastWidth = this.element.clientWidth;
    if (this.#layout()) this.whole();
  }

  whole() {
    Object.assign(this, { scale: this.least, x: 0, y: 0 });
    this.draw();
  }

  get rowScale() {
    return this.scale * this.stretch;
  }

  get zoomed() {
    return this.scale > this.least * 1.001;
  }

  /** Around a point of the plot, or its middle. */
  zoom(factor, px = this.plotWidth / 2, py = this.plotHeight / 2) {
    const scale = Math.max(this.least, Math.min(MOST_CELL * 2, this.scale * factor));
    this.x += px / this.scale - px / scale;
    this.y += py / this.rowScale - py / (scale * this.stretch);
    this.scale = scale;
    this.pan(0, 0);
  }

  /** By cells. */
  pan(dx, dy) {
    const { keys, rows } = this.source;
    this.x = Math.max(0, Math.min(this.x + dx, keys - this.plotWidth / this.scale));
    this.y = Math.max(0, Math.min(this.y + dy, rows - this.plotHeight / this.rowScale));
    this.draw();
  }

  #key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || !this.source) return;
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    const eighth = Math.min(this.plotWidth, this.plotHeight) / this.scale / 8;
    if (step && this.zoomed && !event.shiftKey) this.pan(step[0] * eighth, step[1] * eighth);
    else if (step) this.#move(...step);
    else if (event.key === "+" || event.key === "=") this.zoom(1.5);
    else if (event.key === "-") this.zoom(1 / 1.5);
    else if (event.key === "0" || event.key === "Home") this.whole();
    else return;
    event.preventDefault();
  }

  #move(dx, dy) {
    const { rows, keys } = this.source, at = this.cell ?? { row: this.chosen?.row ?? 0, key: this.chosen?.key ?? 0 };
    this.cell = { row: Math.max(0, Math.min(rows - 1, at.row + dy)),
      key: Math.max(0, Math.min(keys - 1, at.key + dx)) };
    const wide = this.plotWidth / this.scale, tall = this.plotHeight / this.rowScale;
    if (this.cell.key < this.x || this.cell.key >= this.x + wide) this.x = this.cell.key - wide / 2;
    if (this.cell.row < this.y || this.cell.row >= this.y + tall) this.y = this.cell.row - tall / 2;
    this.pan(0, 0);
    this.say(this.cell);
    this.onchoose(this.cell.row, this.cell.key);
  }

  #wheel(event) {
    if (!this.source || (event.deltaY > 0 && !this.zoomed)) return;  // the page scrolls on
    event.preventDefault();
    this.zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, event.offsetX - this.left, event.offsetY - this.top);
  }

  #at(event) {
    const key = Math.floor(this.x + (event.offsetX - this.left) / this.scale);
    const row = Math.floor(this.y + (event.offsetY - this.top) / this.rowScale);
    const inside = event.offsetX >= this.left && event.offsetY >= this.top && key < this.source.keys &&
      row < this.source.rows;
    return inside ? { row, key } : null;
  }

  #pointer() {
    let from = null, moved = false;
    this.canvas.addEventListener("pointerdown", (event) => {
      from = { x: event.offsetX, y: event.offsetY };
      moved = false;
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (!this.source) return;
      if (from && (moved || Math.hypot(event.offsetX - from.x, event.offsetY - from.y) > 4)) {
        moved = true;
        this.pan((from.x - event.offsetX) / this.scale, (from.y - event.offsetY) / this.rowScale);
        from = { x: event.offsetX, y: event.offsetY };
      }
      const cell = this.#at(event);
      this.tooltip.show(cell && { x: event.clientX, y: event.clientY }, cell && this.textOf(cell));
    });
    this.canvas.addEventListener("pointerup", (event) => {
      const cell = this.source && !moved && from ? this.#at(event) : null;
      from = null;
      if (!cell) return;
      this.cell = cell;
      this.say(cell);
      this.onchoose(cell.row, cell.key);
    });
    this.canvas.addEventListener("pointercancel", () => (from = null));
    this.canvas.addEventListener("pointerleave", () => this.tooltip.hide());
  }

  /** The number of a cell; NaN where it is not in the record. */
  valueOf({ row, key }) {
    const line = this.source.line(row);
    if (!line) return NaN;
    if (line.ranges) {
      for (let i = 0; i < line.ranges.length; i += 2) {
        const first = line.ranges[i] - line.shift;
        if (first <= key && key < first + line.ranges[i + 1]) return 1;
      }
      return 0;
    }
    if (!line.keys) return line.values[key - line.first] ?? NaN;
    const at = line.keys.indexOf(key + line.shift);
    return at < 0 ? 0 : this.source.weightless ? 1 : line.weights[at];
  }

  textOf(cell) {
    const value = this.valueOf(cell), { weightless, rowName, keyName } = this.source;
    const said = weightless ? (value ? "kept" : "left out") : Number.isNaN(value) ? "not in the record" :
      weightText(value);
    return `${visible(rowName(cell.row))} → ${visible(keyName(cell.key))}: ${said}`;
  }

  say(cell) {
    this.said.textContent = this.textOf(cell);
  }

  draw() {
    if (!this.source || !this.plotWidth) return;
    const context = this.canvas.getContext("2d"), { ratio } = this;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    this.#pixels(context);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const style = getComputedStyle(this.canvas);
    context.strokeStyle = style.getPropertyValue("--line");
    context.strokeRect(this.left - 0.5, this.top - 0.5, this.plotWidth + 1, this.plotHeight + 1);
    context.fillStyle = style.getPropertyValue("--soft");
    context.font = `${LABEL_SIZE}px system-ui, sans-serif`;
    context.textBaseline = "middle";
    this.#titles(context);
    this.#names(context, style);
    this.#marks(context, style);
    if (this.cell) this.say(this.cell);
  }

  // Each pixel has the greatest number of the cells that it covers; what is kept without weight, how much of it is.
  #pixels(context) {
    const { source, ratio, colours } = this, scale = this.scale * ratio, rowScale = this.rowScale * ratio;
    const width = Math.max(1, Math.round(this.plotWidth * ratio)),
      height = Math.max(1, Math.round(this.plotHeight * ratio));
    const image = context.createImageData(width, height), pixels = new Uint32Array(image.data.buffer);
    const numbers = new Float32Array(width), range = source.most - source.least || 1;
    let drawn = -1, last = -1;
    for (let py = 0; py < height; ++py) {
      const begin = Math.floor(this.y + py / rowScale);
      const end = Math.min(source.rows, Math.max(begin + 1, Math.floor(this.y + (py + 1) / rowScale)));
      if (begin >= source.rows) break;
      const at = py * width;
      if (begin === drawn && end === last) {
        pixels.copyWithin(at, at - width, at);
        continue;
      }
      [drawn, last] = [begin, end];
      numbers.fill(source.weightless ? 0 : NaN);
      for (let row = begin; row < end; ++row) this.#addLine(source.line(row), numbers, scale, end - begin);
      for (let px = 0; px < width; ++px) {
        const value = numbers[px];
        if (!Number.isFinite(value) || (source.weightless && value === 0)) continue;
        const share = source.weightless ? 0.3 + 0.5 * Math.min(1, value) : (value - source.least) / range;
        pixels[at + px] = colours.pixels[colours.step(share)];
      }
    }
    context.putImageData(image, Math.round(this.left * ratio), Math.round(this.top * ratio));
  }

  #addLine(line, numbers, scale, rows) {
    if (!line) return;
    const width = numbers.length, firstKey = this.x, share = 1 / rows;
    const kept = (begin, count) => {  // keys from `begin`, without weights: what part of each pixel they cover
      const from = Math.max(0, (begin - firstKey) * scale), to = Math.min(width, (begin + count - firstKey) * scale);
      for (let px = Math.floor(from); px < to; ++px) numbers[px] += share * (Math.min(px + 1, to) - Math.max(px, from));
    };
    const weight = (key, value) => {
      const from = Math.max(0, Math.floor((key - firstKey) * scale));
      const to = Math.min(width, Math.max(from + 1, Math.floor((key + 1 - firstKey) * scale)));
      for (let px = from; px < to; ++px) if (!(numbers[px] >= value)) numbers[px] = value;
    };
    if (line.ranges) {
      for (let i = 0; i < line.ranges.length; i += 2) kept(line.ranges[i] - line.shift, line.ranges[i + 1]);
    } else if (line.keys && this.source.weightless) {
      for (const key of line.keys) kept(key - line.shift, 1);
    } else if (line.keys) {
      for (let i = 0; i < line.keys.length; ++i) weight(line.keys[i] - line.shift, line.weights[i]);
    } else {
      const begin = Math.max(line.first, Math.floor(firstKey)), end = line.first + line.values.length;
      for (let key = begin; key < end && (key - firstKey) * scale < width; ++key) weight(key,
          line.values[key - line.first]);
    }
  }

  // Titles of the axes, with the unit of the numbers.
  #titles(context) {
    const { source } = this;
    const unit = (time, scale) => (scale >= LABEL_SIZE - 1 ? "" : time(0) || time(1) ? ", seconds" : ", position");
    context.textAlign = "left";
    context.fillText(`${source.keyTitle}${unit(source.keyTime, this.scale)} \u2192`, this.left, TITLE / 2);
    context.save();
    context.translate(TITLE / 2, this.top + this.plotHeight);
    context.rotate(-Math.PI / 2);
    context.textAlign = "right";
    context.translate(this.plotHeight, 0);
    context.fillText(`\u2190 ${source.rowTitle}${unit(source.rowTime, this.rowScale)}`, 0, 0);
    context.restore();
  }

  // The rows at which even seconds begin: [row, text].
  #seconds(count, time, from, scale) {
    const first = time(0) ?? time(1);
    if (!first) return null;
    const every = secondsStep((TICK / scale) * (first[2] - first[1])), ticks = [];
    let last = null;
    for (let row = Math.max(0, Math.floor(from) - 1); row < count; ++row) {
      const at = time(row);
      if (!at) continue;
      const tick = Math.floor(at[1] / every + 1e-6);
      if (tick !== last && (last !== null || row <= 1)) ticks.push([row, `${Number((tick * every).toFixed(3))}`]);
      last = tick;
    }
    return ticks;
  }

  // All names where they fit, else a row's number every so often.
  #names(context, style) {
    const fit = (text, room) => {
      if (context.measureText(text).width <= room) return text;
      while (text.length > 1 && context.measureText(`${text}…`).width > room) text = [...text].slice(0, -1).join("");
      return `${text}…`;
    };
    const each = ({ from, count, size, scale, time, name, number }, draw) => {
      const all = scale >= LABEL_SIZE - 1, every = all ? 1 : niceStep(TICK / scale), half = all ? 0.5 : 0;
      const seconds = all ? null : this.#seconds(count, time, from, scale);
      for (const [row, text] of seconds ?? []) {
        const at = (row - from) * scale;
        if (at >= 0 && at <= size) draw(row, at, text);
      }
      if (seconds) return;
      for (let i = Math.floor(from / every) * every; i < count; i += every) {
        const at = (i + half - from) * scale;
        if (at > size) break;
        if (at >= 0) draw(i, at, all ? visible(name(i)) : String(number(i)));
      }
    };
    const { rows, keys, rowName, keyName, rowNumber, keyNumber } = this.source;
    const bold = (on) => {
      context.fillStyle = style.getPropertyValue(on ? "--text" : "--soft");
      context.font = `${on ? "600 " : ""}${LABEL_SIZE}px system-ui, sans-serif`;
    };
    context.textAlign = "right";
    const { rowTime, keyTime } = this.source;
    each({ from: this.y, count: rows, size: this.plotHeight, scale: this.rowScale, time: rowTime, name: rowName,
      number: rowNumber }, (row, at, text) => {
      bold(row === this.chosen?.row);
      context.fillText(fit(text, this.left - TITLE - 8), this.left - 5, this.top + at);
    });
    context.textAlign = "left";
    each({ from: this.x, count: keys, size: this.plotWidth, scale: this.scale, time: keyTime, name: keyName,
      number: keyNumber }, (key, at, text) => {
      bold(key === this.chosen?.key);
      context.save();
      context.translate(this.left + at, this.top - 5);
      context.rotate(-Math.PI / 2);
      context.fillText(fit(text, this.top - TITLE - 8), 0, 0);
      context.restore();
    });
  }

  #marks(context, style) {
    if (!this.chosen) return;
    const clip = new Path2D();
    clip.rect(this.left, this.top, this.plotWidth, this.plotHeight);
    context.save();
    context.clip(clip);
    context.strokeStyle = style.getPropertyValue("--accent");
    context.lineWidth = 1.5;
    const { row, key } = this.chosen, { scale, rowScale } = this;
    const [left, top] = [this.left - this.x * scale, this.top - this.y * rowScale];
    if (row !== null) context.strokeRect(this.left, top + row * rowScale, this.plotWidth, Math.max(2, rowScale));
    if (key !== null) context.strokeRect(left + key * scale, this.top, Math.max(2, scale), this.plotHeight);
    context.restore();
  }
}

/** The same with a least step of a hundredth. */
export const secondsStep = (least) => niceStep(least * 100) / 100;

/** 1, 2 or 5 times a power of ten: the least that is not below `most`. */
export function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= least) ?? 1;
}
