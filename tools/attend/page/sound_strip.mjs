// A sound as a line of peaks, shaded by the numbers of its rows.
import { numbersOf } from "./arrays.mjs";
import { made, weightText } from "./elements.mjs";
import { secondsStep } from "./matrix_map.mjs";

const HEIGHT = 88, SPECTRUM = 96, AXIS = 34, TICKS = 8;

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

  shade(colours, number, range, chosen = null) {
    Object.assign(this, { colours, number, range, chosen });
    this.#draw();
  }

  get #height() {
    return HEIGHT + (this.#sound?.bands > 0 ? SPECTRUM : 0) + AXIS;
  }

  // Levels from low frequencies, at the bottom, to high ones, on the colours of the page.
  #spectrum(context, at) {
    const sound = this.#sound;
    if (!(sound?.bands > 0) || typeof sound.spectrogram !== "string") return;
    this.levels ??= Uint8Array.from(atob(sound.spectrogram), (letter) => letter.charCodeAt(0));
    const { bands } = sound, columns = Math.floor(this.levels.length / bands);
    if (columns === 0) return;
    const picture = made("canvas", { width: columns, height: bands }), image = new ImageData(columns, bands);
    const pixels = new Uint32Array(image.data.buffer);
    for (let column = 0; column < columns; ++column) {
      for (let band = 0; band < bands; ++band) {
        pixels[(bands - 1 - band) * columns + column] = this.colours.pixels[this.levels[column * bands + band]];
      }
    }
    picture.getContext("2d").putImageData(image, 0, 0);
    context.globalAlpha = 1;
    context.drawImage(picture, 0, HEIGHT, at(sound.seconds), SPECTRUM);
  }

  #axis(context, style, at, width) {
    const top = this.#height - AXIS, every = secondsStep(this.seconds / TICKS);
    context.globalAlpha = 1;
    context.fillStyle = style.getPropertyValue("--soft");
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "center";
    for (let i = 0; i * every <= this.seconds; ++i) {
      const x = Math.min(width - 8, Math.max(8, at(i * every)));
      context.fillRect(at(i * every), top, 1, 4);
      context.fillText(`${Number((i * every).toFixed(3))}`, x, top + 15);
    }
    context.textAlign = "left";
    context.fillText(this.#sound?.bands > 0 ? "time in seconds \u2192; above: waveform, spectrogram" :
      "time in seconds \u2192", 4, top + 29);
  }

  #draw() {
    const { canvas, colours, range } = this, width = this.element.clientWidth, ratio = devicePixelRatio || 1;
    if (!width) return;
    Object.assign(canvas, { width: Math.round(width * ratio), height: Math.round(this.#height * ratio) });
    canvas.style.height = `${this.#height}px`;
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
    this.#spectrum(context, at);
    this.#axis(context, style, at, width);
    const time = this.chosen === null ? null : this.space.time(this.chosen);
    if (time) {
      context.strokeStyle = style.getPropertyValue("--accent");
      context.lineWidth = 2;
      context.strokeRect(at(time[1]), 1, Math.max(2, at(time[2]) - at(time[1])), this.#height - AXIS - 2);
    }
    canvas.setAttribute("aria-label", `Sound of ${this.seconds.toFixed(2)} seconds` +
      (best ? `; most at ${this.space.rowName(best.row)}: ${weightText(best.value)}` : ""));
  }
}
