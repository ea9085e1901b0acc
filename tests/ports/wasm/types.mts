// What programs write, for TypeScript's checks. Never run.
import { FoveaError, Model, Tensor, TextStreamer, constants, pipeline } from "fovea";
import type { Class, PipelineOptions } from "fovea";
import { measure } from "fovea/measure";

const model: Model = await Model.open(fetch("model.fovea"), {
  workers: 2, cache: true, progress: ({ loaded, total }) => console.log(loaded, total ?? "?") });
const classes: Class[] = model.classify("a", { top: 3 });
const many = model.embed(["a", "b"], { normalise: true });
const first: number = many[0][0] + classes[0].logit + constants.FOVEA_OK;
for (const { text, ended } of model.generate("a", { maxTokens: 3 })) console.log(text, ended, first);

const options: PipelineOptions = { progress_callback: ({ status }) => console.log(status) };
const extract = await pipeline("feature-extraction", new Uint8Array(8), options);
const tensor: Tensor = await extract(["a"], { pooling: "mean", normalize: true });
const [width]: number[] = tensor.dims;
const labels = await pipeline("zero-shot-classification", model);
const { scores }: { scores: number[] } = await labels("a", ["b", "c"], { multi_label: true });
const write = await pipeline("text-generation", "model.fovea");
const streamer = new TextStreamer(write.tokenizer!);
const [{ generated_text: text }] = await write("a", { max_new_tokens: 3, streamer });
for await (const step of write.stream("a")) console.log(step.token, text.length, width, scores[0]);
try {
  (await measure("model.fovea", { rows: 8 })).latency_ms.min.toFixed(1);
} catch (error) {
  if (error instanceof FoveaError) console.log(error.statusName);
}
