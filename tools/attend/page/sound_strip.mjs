// A sound as a line of peaks, shaded by the numbers of its rows.
import { numbersOf } from "./arrays.mjs";
import { made, weightText } from "./elements.mjs";

const HEIGHT = 88;

export class SoundStrip {
  constructor({ space, begin, end, sounds, tooltip, onchoose }) {
    Object.assign(this, { space, begin, end, sounds, tooltip, number: () => NaN });
    this.canvas = made("canvas", { className: "sound", role: "img", tabIndex: -1 });
    this.element = made("div", {}, this.canvas);
    const row = (event) => {
      const seconds = (event.offsetX / this.canvas.clientWidth) * this.seconds;
      for (let each = begin; each < end; ++each) {
        const time = space.time(each);
        if (time && seconds >= time[1] && seconds < time[2]) return each;
      }
      return null;
    };
    this.canvas.addEventListener("pointermove", (event) => {
      const each = row(event), value = each === null ? NaN : this.number(each);
      tooltip.show(each === null ? null : { x: event.clientX, y: event.clientY },
        each === null ? "" : `${space.rowName(each)}${Number.isFinite(value) ? `: ${weightText(value)}` : ""}`);
    });
    this.canvas.addEventListener("pointerleave", () => tooltip.hide());
    this.canvas.addEventListener("click", (event) => row(event) !== null && onchoose(row(event)));
    new ResizeObserver(() => this.colours && this.#draw()).observe(this.element);
  }

  get #sound() {
    for (let row = this.begin; row < this.end; ++row) {
      const time = this.space.time(row);
      if (time) return this.sounds[time[0]] ?? null;
    }
    return null;
  }

  get seconds() {
    let last = this.#sound?.seconds ?? 0;
    for (let row = this.begin; row < this.end; ++row) last = Math.max(last, this.space.time(row)?.[2] ?? 0);
    return last || 1;
  }

  shade(colours, number, range) {
    Object.assign(this, { colours, number, range });
    this.#draw();
  }

  #draw() {
    const { canvas, colours, range } = this, width = this.element.clientWidth, ratio = devicePixelRatio || 1;
    if (!width) return;
    Object.assign(canvas, { width: Math.round(width * ratio), height: Math.round(HEIGHT * ratio) });
    canvas.style.height = `${HEIGHT}px`;
    const context = canvas.getContext("2d"), style = getComputedStyle(canvas),
      at = (time) => (time / this.seconds) * width;
    context.scale(ratio, ratio);
    let best = null;
    for (let row = this.begin; row < this.end; ++row) {
      const time = this.space.time(row), value = this.number(row);
      if (!time || !Number.isFinite(value)) continue;
      if (!best || value > best.value) best = { row, value };
      context.fillStyle = colours.css[colours.step((value - (range.least ?? 0)) / (range.most - (range.least ?? 0) ||
        1))];
      context.fillRect(at(time[1]), 0, Math.max(1, at(time[2]) - at(time[1]) + 0.5), HEIGHT);
    }
    const sound = this.#sound;
    if (sound?.peaks) {
      this.peaks ??= numbersOf(sound.peaks, "f32", "peaks of a sound");
      context.fillStyle = style.getPropertyValue("--text");
      context.globalAlpha = 0.7;
      const count = this.peaks.length / 2,
        scale = this.peaks.reduce((most, peak) => Math.max(most, Math.abs(peak)), 1e-6);
      for (let i = 0; i < count; ++i) {
        const [low, high] = [this.peaks[2 * i] / scale, this.peaks[2 * i + 1] / scale];
        context.fillRect((i / count) * at(sound.seconds), HEIGHT / 2 - high * HEIGHT * 0.45,
          Math.max(0.5, at(sound.seconds) / count),
          Math.max(0.5, (high - low) * HEIGHT * 0.45));
      }
    }
    canvas.setAttribute("aria-label", `Sound of ${this.seconds.toFixed(2)} seconds` +
      (best ? `; most at ${this.space.rowName(best.row)}: ${weightText(best.value)}` : ""));
  }
}
