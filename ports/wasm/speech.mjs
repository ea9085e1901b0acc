// Task automatic-speech-recognition, for CTC models: the most probable label of each frame, repetitions joined.
import { constants as C } from "./declarations.mjs";
import { refuse } from "./errors.mjs";
import { ranked } from "./results.mjs";

/** The input that takes samples, and its rate. */
function samplesInput(model, program) {
  for (const value of program.values) {
    const rate = model.metadata[`sampling_rate.${value.name}`];
    if (value.role === "input" && rate !== undefined) return { value, rate: Number(rate) };
  }
  return refuse("the model does not read samples of audio", C.FOVEA_E_NAME);
}

/** Text of frames' labels: delimiters are spaces, blanks are left out. */
function textOf(model, ids) {
  const blank = Number(model.metadata["ctc.blank"]);
  let text = "";
  ids.forEach((id, i) => {
    if (id !== blank && (i === 0 || model.label(id) !== model.label(ids[i - 1]))) text += model.label(id);
  });
  return text.trim();
}

/** { text } of samples: a Float32Array with the model's rate, or the length of a list of these. */
export function recognise(model, audio, options) {
  const { sampling_rate: given, return_timestamps: times = false, max_new_tokens: most } = options;
  if (model.metadata["ctc.blank"] === undefined) {
    refuse("automatic-speech-recognition: only CTC models run here (wav2vec 2.0 and its relatives); " +
      "'fovea transcribe' runs other models", C.FOVEA_E_BUILD);
  }
  if (times !== false) refuse("return_timestamps is not supported for CTC models", C.FOVEA_E_OPTION);
  if (most !== undefined) refuse("max_new_tokens does not apply to CTC models", C.FOVEA_E_OPTION);
  if (model.metadata["ctc.clean_up"] === "true") {
    refuse("the model's text needs clean_up_tokenization_spaces, which only 'fovea transcribe' does", C.FOVEA_E_BUILD);
  }
  const list = Array.isArray(audio) ? audio : [audio];
  if (list.length === 0 || list.some((one) => !(one instanceof Float32Array || one instanceof Float64Array))) {
    refuse("automatic-speech-recognition: a Float32Array of samples is needed, or a list of these; decode files with " +
      "AudioContext.decodeAudioData");
  }
  const program = model.program(), { value, rate } = samplesInput(model, program);
  if (given !== undefined && given !== rate) {
    refuse(`the model reads ${rate} samples per second, not ${given}; resample them`, C.FOVEA_E_OPTION);
  }
  const all = list.map((samples) => {
    const session = model.session({ limits: { [value.space.name]: [samples.length, samples.length],
      ...parentLimit(model, value) } });
    try {
      session.setSegments(value.space.name, [samples.length]);
      session.write(value.name, samples);
      const { rows, width, data } = session.run().output("logits");
      const frames = Array.from({ length: rows }, (_, row) => data.subarray(row * width, (row + 1) * width));
      return { text: textOf(model, ranked(model.library, frames, 1).map(([best]) => best)) };
    } finally {
      session.close();
    }
  });
  return Array.isArray(audio) ? all : all[0];
}

const parentLimit = (model, { space }) => (space.parent === null ? {} : { [model.spaces[space.parent].name]: 1 });
