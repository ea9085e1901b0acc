// Frames of a sound along its waveform and spectrogram, in seconds.
import { made } from "./elements.mjs";
import { Legend, rangeOf } from "./legend.mjs";
import { readingOf } from "./reading.mjs";
import { SoundStrip } from "./sound_strip.mjs";

const hasTimes = (space) => Boolean(space.times?.some(Boolean));

export const soundView = {
  id: "sound",
  name: "Sound",
  uses: ["head", "segment", "side", "rollout", "threshold"],
  steps: ({ steps }) => steps.filter(({ hasWeights, queries, keys }) => hasWeights && queries === keys &&
    hasTimes(keys)),
  make: (context) => new SoundView(context),
};

class SoundView {
  constructor({ record, selection, tooltip }) {
    Object.assign(this, { record, selection, tooltip, shown: "" });
    this.legend = new Legend();
    this.box = made("div");
    this.element = made("div", {}, this.legend.element, this.box, made("p", { className: "hint" },
      "Choose a moment to see where it looks; the shades behind the waveform are the numbers of the choice."));
  }

  update({ colours }) {
    const { selection } = this, { step, query } = selection, [begin, end] = step.rowsBeside(query);
    const shown = `${step.keys.index} ${begin} ${end}`;
    if (shown !== this.shown) {
      this.shown = shown;
      this.strip = new SoundStrip({ space: step.keys, begin, end, sounds: this.record.sounds, tooltip: this.tooltip,
        onchoose: (row) => selection.choose(step.keys, row) });
      this.box.replaceChildren(this.strip.element);
    }
    const { first, values, what } = readingOf(selection);
    const range = rangeOf(values ?? [], step.scores && !selection.rolls);
    this.legend.update(colours, range.least, range.most, what);
    this.strip.shade(colours, (row) => values?.[row - first] ?? NaN, range, selection.chosen ? selection.row : null);
  }
}
