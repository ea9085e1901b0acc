// fovea convert: a published model directory, a GGUF file or a description becomes a blob.
#include "tools/convert/convert.h"

#include <fmt/format.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <initializer_list>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "runtime/blob/names.h"
#include "runtime/blob/numbers.h"
#include "tools/base/lines.h"
#include "tools/base/log_plot.h"
#include "tools/base/mapped_file.h"
#include "tools/base/print.h"
#include "tools/base/progress.h"
#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"

namespace fovea::tools {
namespace {

const char* FellBack(const TensorReport& tensor) {
  if (!tensor.fell_back) return "";
  return tensor.type == DType::kI8 ? " (int8: width is no multiple of 32)" : " (f32: too large for f16)";
}

constexpr size_t kWorstShown = 10;

struct Arguments {
  ConvertOptions options;
  std::optional<DType> weights = DType::kF32;  // none: --weights auto, which --keep controls
  double keep = 0.999;
  std::string report, sample_file, sample_ids, layers, select, plot;
  bool asks_mix = false;
  bool verbose = false;
  bool json = false;
};

std::vector<std::string> WarningsOf(const ConvertReport& report) {
  std::vector<std::string> warnings = report.warnings;
  if (!report.without_text.empty()) {
    const auto told = [](const std::string& warning) { return warning.find("token ids only") != std::string::npos; };
    if (std::none_of(warnings.begin(), warnings.end(), told)) {
      warnings.push_back(fmt::format("the blob accepts only token ids: {}", report.without_text));
    }
  }
  return warnings;
}

OrderedJson ToJson(const ConvertReport& report, const std::string& output) {
  OrderedJson tensors = OrderedJson::array(), outputs = OrderedJson::array(), calibrated = OrderedJson::array();
  for (const TensorReport& t : report.tensors) {
    tensors.push_back({{"name", t.name},
                       {"type", NameOf(t.type)},
                       {"rows", t.rows},
                       {"width", t.width},
                       {"bytes", t.bytes},
                       {"fell_back", t.fell_back},
                       {"max_abs_error", t.error.max_abs},
                       {"relative_rms_error", t.error.relative_rms}});
  }
  for (const OutputReport& o : report.outputs) {
    outputs.push_back({{"program", o.program},
                       {"name", o.name},
                       {"lowest_cosine", o.lowest_cosine},
                       {"mean_cosine", o.mean_cosine},
                       {"lowest_scaled_cosine", o.lowest_scaled_cosine},
                       {"mean_scaled_cosine", o.mean_scaled_cosine},
                       {"worst_sample", o.worst_sample ? OrderedJson(*o.worst_sample) : OrderedJson()},
                       {"worst_channel", o.worst_channel},
                       {"worst_channel_error", o.worst_channel_error},
                       {"max_abs_difference", o.max_abs_difference},
                       {"max_abs", o.max_abs}});
  }
  for (const CalibrationReport& c : report.calibrated) {
    calibrated.push_back({{"weight", c.weight}, {"bias_change", c.bias_change}});
  }
  OrderedJson lengths = OrderedJson::array();
  for (const LengthReport& l : report.lengths) {
    lengths.push_back({{"rows", l.rows},
                       {"seconds_without_pattern", l.before_seconds},
                       {"seconds", l.after_seconds},
                       {"output", l.output.name},
                       {"lowest_cosine", l.output.lowest_cosine},
                       {"mean_cosine", l.output.mean_cosine}});
  }
  OrderedJson findings = OrderedJson::array();
  for (const Finding& finding : report.findings) {
    findings.push_back({{"topic", NameOf(finding.topic)}, {"text", finding.text}});
  }
  OrderedJson metadata = OrderedJson::object();
  for (const auto& [key, value] : report.metadata) metadata[key] = value;
  OrderedJson mix;
  if (report.mix) {
    OrderedJson weights = OrderedJson::array(), curve = OrderedJson::array();
    for (const MixedWeight& w : report.mix->weights) {
      weights.push_back(
          {{"name", w.name}, {"type", NameOf(w.type)}, {"int4_loss", w.int4_loss}, {"int8_loss", w.int8_loss}});
    }
    for (const MixPoint& p : report.mix->curve) curve.push_back({{"bytes", p.bytes}, {"cosine", p.cosine}});
    mix = {{"keep", report.mix->keep}, {"weights", weights}, {"curve", curve}};
  }
  return {{"blob", output},
          {"bytes",
           {{"blob", report.blob_bytes},
            {"weights", report.weight_bytes},
            {"weights_as_f32", report.f32_bytes},
            {"text", report.text_bytes},
            {"packed", report.packed_bytes}}},
          {"metadata", metadata},
          {"outputs", outputs},
          {"sample_lengths", report.sample_lengths},
          {"lengths", lengths},
          {"tensors", tensors},
          {"calibrated", calibrated},
          {"mix", mix},
          {"unused", report.unused},
          {"findings", findings},
          {"warnings", WarningsOf(report)}};
}

// A line for each finding; the topic is printed once.
void PrintFindings(std::ostream& out, Findings findings) {
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.topic < b.topic; });
  const Finding* before = nullptr;
  if (!findings.empty()) out << "\nModel\n";
  for (const Finding& finding : findings) {
    const bool same = before != nullptr && before->topic == finding.topic;
    out << fmt::format("  {:<15} {}\n", same ? "" : NameOf(finding.topic), Printable(finding.text));
    before = &finding;
  }
}

void PrintTensors(std::ostream& out, const ConvertReport& report, bool all) {
  std::vector<TensorReport> tensors = report.tensors;
  if (!all) {
    const auto worse = [](const TensorReport& a, const TensorReport& b) {
      return a.error.relative_rms > b.error.relative_rms;
    };
    std::stable_sort(tensors.begin(), tensors.end(), worse);
    const auto exact = [](const TensorReport& t) { return t.error.relative_rms == 0; };
    tensors.erase(std::remove_if(tensors.begin(), tensors.end(), exact), tensors.end());
    if (tensors.size() > kWorstShown) tensors.resize(kWorstShown);
  }
  if (tensors.empty()) return;
  out << (all ? "\nTensors\n" : "\nTensors with the largest error (all: --verbose)\n");
  out << fmt::format("  {:<5} {:>13} {:>12}  {:>9} {:>9}  name\n", "type", "shape", "bytes", "rms error", "max error");
  for (const TensorReport& t : tensors) {
    out << fmt::format("  {:<5} {:>13} {:>12}  {:>8.4f}% {:>9.2e}  {}{}\n", NameOf(t.type),
                       fmt::format("{} x {}", t.rows, t.width), Grouped(t.bytes), 100 * t.error.relative_rms,
                       t.error.max_abs, Printable(t.name), FellBack(t));
  }
}

void PrintMix(std::ostream& out, const MixReport& mix) {
  out << fmt::format("\nTypes that keep a mean cosine of {}; loss when only this weight is stored as int4 or int8\n",
                     mix.keep);
  out << "  type       int4      int8  name\n";
  for (const MixedWeight& w : mix.weights) {
    out << fmt::format("  {:<5} {:>9.2e} {:>9.2e}  {}\n", NameOf(w.type), w.int4_loss, w.int8_loss, Printable(w.name));
  }
  out << fmt::format("\nMixes tried\n  {:>16}  cosine\n", "bytes of tensors");
  for (const MixPoint& p : mix.curve) out << fmt::format("  {:>16}  {:.6f}\n", Grouped(p.bytes), p.cosine);
}

// Plots the loss of each mix of types over its size in bytes.
std::string DrawMix(const MixReport& mix) {
  Curve tried = {"mixes of int4, int8 and f16", {}}, wanted = {fmt::format("kept: {}", mix.keep), {}};
  for (const MixPoint& p : mix.curve) {
    const double bytes = static_cast<double>(p.bytes);
    if (p.cosine < 1) tried.points.emplace_back(bytes, 1 - p.cosine);
    if (mix.keep < 1) wanted.points.emplace_back(bytes, 1 - mix.keep);
  }
  return LogPlot("Loss of storing weights in fewer bits", "bytes of all tensors", "1 - cosine", {tried, wanted});
}

void Print(std::ostream& out, const ConvertReport& report, const ConvertOptions& options, bool verbose) {
  PrintFindings(out, report.findings);
  PrintTensors(out, report, verbose);
  if (report.mix) PrintMix(out, *report.mix);
  std::map<uint32_t, std::pair<size_t, uint64_t>> types;
  for (const TensorReport& t : report.tensors) {
    auto& [count, bytes] = types[static_cast<uint32_t>(t.type)];
    ++count;
    bytes += t.bytes;
  }
  out << "\nWeights\n";
  for (const auto& [type, sum] : types) {
    out << fmt::format("  {:<5} {:>5} tensors {:>16} bytes\n", NameOf(DType(type)), sum.first, Grouped(sum.second));
  }
  out << fmt::format(
      "  all   {:>5} tensors {:>16} bytes, {:.1f} % of f32\n", report.tensors.size(), Grouped(report.weight_bytes),
      report.f32_bytes == 0 ? 100.0
                            : 100.0 * static_cast<double>(report.weight_bytes) / static_cast<double>(report.f32_bytes));
  if (!report.calibrated.empty()) {
    const auto most = std::max_element(report.calibrated.begin(), report.calibrated.end(),
                                       [](const auto& a, const auto& b) { return a.bias_change < b.bias_change; });
    out << fmt::format("\nCalibrated on {} samples: {} weights; biases changed by up to {:.2g} (of {})\n",
                       options.samples.any() ? "given" : "made-up", report.calibrated.size(), most->bias_change,
                       Printable(most->weight));
  }
  if (!report.outputs.empty()) {
    out << fmt::format(
        "\nAgainst f32 weights, {} samples; cosines of rows with channels as they are, and scaled equally\n",
        report.sample_lengths.size());
    out << fmt::format("  {:<24} {:>8} {:>8}  {:>8} {:>8}  worst sample  worst channel    largest difference\n",
                       "output", "mean", "lowest", "mean", "lowest");
    for (const OutputReport& o : report.outputs) {
      const std::string channel =
          o.worst_channel_error == 0 ? "-" : fmt::format("{}: {:.2g} %", o.worst_channel, 100 * o.worst_channel_error);
      out << fmt::format("  {:<24} {:.6f} {:.6f}  {:.6f} {:.6f}  {:>12}  {:<15}  {:.3g} of {:.3g}\n", Printable(o.name),
                         o.mean_cosine, o.lowest_cosine, o.mean_scaled_cosine, o.lowest_scaled_cosine,
                         o.worst_sample ? std::to_string(*o.worst_sample + 1) : "-", channel, o.max_abs_difference,
                         o.max_abs);
    }
  }
  if (!report.lengths.empty()) {
    out << fmt::format("\nAgainst the same model without the pattern, on a text of random ids, {} workers, {}\n",
                       report.workers, Printable(report.lengths[0].output.name));
    out << "     rows   without ms   with ms   ratio   lowest cosine   mean\n";
    for (const LengthReport& l : report.lengths) {
      out << fmt::format("  {:>7} {:>12.2f} {:>9.2f} {:>7.2f} {:>15.6f} {:>8.6f}\n", l.rows, 1e3 * l.before_seconds,
                         1e3 * l.after_seconds, l.before_seconds / l.after_seconds, l.output.lowest_cosine,
                         l.output.mean_cosine);
    }
  }
  if (!report.unused.empty()) {
    out << fmt::format("\n{} stored tensors are not used{}\n", report.unused.size(),
                       verbose ? ":" : " (listed with --verbose)");
    for (size_t i = 0; verbose && i < report.unused.size(); ++i) out << "  " << Printable(report.unused[i]) << "\n";
  }
  out << fmt::format("\n{}: {} bytes ({})\n", options.output, Grouped(report.blob_bytes),
                     ShortBytes(report.blob_bytes));
}

template <typename Type = DType>
Choices<Type> Types(std::initializer_list<DType> types) {
  Choices<Type> choices;
  for (const DType type : types) choices.emplace_back(NameOf(type), type);
  return choices;
}

const Choices<std::optional<Products>> kProducts = {{"auto", std::nullopt},
                                                    {"f32", Products::kF32},
                                                    {"bf16", Products::kBf16},
                                                    {"int8", Products::kI8},
                                                    {"int16", Products::kI16}};

// Keeps freed pages for reuse: arrays of a layer's size are allocated again and again, and the kernel clears new pages.
void KeepPages() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
}

void Run(const Arguments& arguments, Console* console) {
  KeepPages();
  ConvertOptions options = arguments.options;
  if (arguments.weights) {
    if (arguments.asks_mix) Fail("--keep and --plot need --weights auto");
    options.weights = *arguments.weights;
  } else {
    options.keep = arguments.keep;
  }
  if (!arguments.layers.empty()) {
    if (!options.pattern.narrows()) Fail("--layers needs --window, --global or --top-k");
    options.pattern.layers = ReadLayers(arguments.layers);
  }
  if (!arguments.select.empty()) options.pattern.selections = ReadSelections(arguments.select);
  if (!arguments.sample_file.empty()) {
    for (const std::string& text : ReadLines(arguments.sample_file)) options.samples.texts.push_back(text);
  }
  if (!arguments.sample_ids.empty()) {
    size_t number = 0;
    for (const std::string& line : ReadLines(arguments.sample_ids)) {
      const std::string name = fmt::format("{}: line {}:", arguments.sample_ids, ++number);
      const std::vector<int32_t> ids = ReadIds(name, line);
      if (!ids.empty()) options.samples.ids.push_back(ids);
    }
    if (options.samples.ids.empty()) Fail("{}: has no ids", arguments.sample_ids);
  }
  ProgressLine line(console->err);
  const ConvertReport report = Convert(options, [&](const std::string& stage, const std::string& name, size_t done,
                                                    size_t total) { line.Show(stage, name, done, total); });
  line.Clear();
  for (const std::string& warning : WarningsOf(report))
    console->err << "fovea: warning: " << Printable(warning) << "\n";
  if (!arguments.plot.empty()) {
    const std::string svg = DrawMix(*report.mix);
    WriteFile(arguments.plot, svg.data(), svg.size());
  }
  const OrderedJson json = ToJson(report, options.output);
  if (!arguments.report.empty()) {
    const std::string text = json.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
    WriteFile(arguments.report, text.data(), text.size());
  }
  if (arguments.json) {
    PrintJson(console->out, json);
  } else {
    Print(console->out, report, options, arguments.verbose);
  }
}

void AddPattern(Command command, LaidPattern* pattern, std::string* layers, std::string* select) {
  const Options attention = command.Under(Heading::kAttention);
  const int most = 1 << 20;
  attention
      .Add("--window", &pattern->window,
           "Sliding window: attend to N rows around a row, half on either side, or to the N rows\n"
           "before it where attention is causal; also for models trained without a window")
      .Range(1, most);
  attention
      .Add("--global", &pattern->global_first,
           "Global attention for the first N rows of each text; 'first': for one, [CLS]")
      .Synonym("first", "1")
      .Range(1, most);
  attention.Add("--top-k", &pattern->top_k, "Attend only to the N keys with the highest scores").Range(1, most);
  attention.Add("--layers", layers, "Apply --window, --global and --top-k to these layers: 2-11 or 0,4-7; default: all")
      .Placeholder("LAYERS");
  attention
      .Add("--select", select,
           "0.5@4: from layer 4 on, compute only the half of a text's rows that received the most\n"
           "attention in layer 3; other rows stay as they are. Comma-separated, applied in turn")
      .Placeholder("SHARE@LAYER");
}

void AddWeights(Command command, Arguments* arguments) {
  const Options weights = command.Under(Heading::kWeights);
  const Options output = command.Under(Heading::kOutput);
  Choices<std::optional<DType>> types = Types<std::optional<DType>>({DType::kF32, DType::kF16, DType::kI8, DType::kI4});
  types.emplace_back("auto", std::nullopt);
  weights
      .AddChoice("--weights", &arguments->weights, types,
                 "Store linear layers and embeddings as f32, f16, int8 or int4; auto: choose int4, int8 or\n"
                 "f16 for each, with as few bytes as --keep allows")
      .Placeholder("TYPE")
      .ShowDefault();
  const Option keep =
      weights.Add("--keep", &arguments->keep,
                  "With --weights auto: keep this mean cosine between outputs of the blob and of f32 weights;\n"
                  "for each output, on the samples, with channels as they are and scaled equally");
  keep.Range(0.0, 1.0).ShowDefault();
  const Option plot =
      output.Add("--plot", &arguments->plot, "With --weights auto: plot loss over bytes of the mixes tried, as SVG");
  plot.Placeholder("FILE");
  for (const Option option : {keep, plot}) option.WhenGiven([=] { arguments->asks_mix = true; });
}

void AddSamples(Command command, Arguments* arguments) {
  const Options samples = command.Under(Heading::kSamples);
  SampleSources* const sources = &arguments->options.samples;
  const Option text =
      samples.AddRepeated("--sample-text", &sources->texts, "Calibrate and measure integer weights on this text");
  const Option file =
      samples.Add("--sample-file", &arguments->sample_file, "Calibrate and measure on the lines of FILE");
  const std::vector<Option> others = {
      samples.Add("--sample-ids", &arguments->sample_ids,
                  "Calibrate and measure on the lines of FILE, each the token ids of a text, separated by\n"
                  "spaces: for models without a tokenizer"),
      samples.AddRepeated("--sample-wav", &sources->sounds, "Calibrate and measure on this sound file"),
      samples.AddRepeated("--sample-image", &sources->pictures, "Calibrate and measure on this image"),
      samples.Add("--sample-input", &sources->tensors,
                  "Calibrate and measure on a program's inputs, a safetensors file as for fovea run --input")};
  text.Placeholder("TEXT");
  file.Placeholder("FILE");
  for (size_t i = 0; i < others.size(); ++i) {
    others[i].Placeholder("FILE").Excludes(text).Excludes(file);
    for (size_t k = 0; k < i; ++k) others[i].Excludes(others[k]);
  }
}

}  // namespace

void AddConvert(Command app, Console* console) {
  const Command command = app.AddCommand(CommandGroup::kModels, "convert",
                                         "Convert a model directory, a GGUF file or a description to a blob");
  const Options input = command.Under(Heading::kInput);
  const Options weights = command.Under(Heading::kWeights);
  const Options attention = command.Under(Heading::kAttention);
  const Options comparison = command.Under(Heading::kComparison);
  const Options output = command.Under(Heading::kOutput);
  auto arguments = std::make_shared<Arguments>();
  ConvertOptions& options = arguments->options;
  input
      .Add("INPUT", &options.input,
           "Model directory (config.json, *.safetensors, tokenizer files), FILE.gguf or graph.json")
      .Required();
  output.Add("-o,--output", &options.output, "Blob to write").Required().Placeholder("FILE");
  AddWeights(command, arguments.get());
  attention
      .AddChoice("--keys", &options.keys, Types({DType::kF32, DType::kF16, DType::kBf16, DType::kI8}),
                 "Store the KV cache as f32, f16, bf16 or int8")
      .Placeholder("TYPE")
      .ShowDefault();
  attention
      .AddChoice("--products", &options.products, kProducts,
                 "Compute the products of attention in f32, bf16 or int16 (both products) or int8 (queries with\n"
                 "keys), where the CPU has an instruction for it; auto: f32, but with weights in int8 or int4 and\n"
                 "64 or more rows, in encoders, int16 (x86 with AVX-512 VNNI) or int8 (64-bit Arm)")
      .Placeholder("TYPE")
      .ShowDefault();
  AddPattern(command, &options.pattern, &arguments->layers, &arguments->select);
  AddPackTargets(weights, "--pack", &options.pack, "Add weights packed for this target");
  weights.AddFlag("--only", &options.only_packed,
                  "With --pack: leave out weights that are packed; other machines refuse the blob");
  input
      .Add("--source", &options.source,
           "With graph.json: directory of weights and vocabularies, searched before its own")
      .Placeholder("DIR");
  input
      .Add("--task", &options.task,
           "Task, if not the one that the directory states: embedding, encoder (of a model\n"
           "that also has a decoder), sequence-classification, token-classification,\n"
           "question-answering, multiple-choice, next-sentence-prediction,\n"
           "image-classification, audio-classification, speaker-verification,\n"
           "semantic-segmentation, ctc, text, image, masked-lm, causal-lm or seq2seq-lm")
      .Placeholder("TASK");
  input
      .Add("--pool", &options.pooling,
           "Make a sentence embedding of the hidden states of a model without modules.json:\n"
           "cls (the first token), mean, max or last")
      .Placeholder("MODE");
  input
      .Add("--as", &options.family,
           "Read the directory as this model_type (bert, llama, ...): for an unknown type, or one with\n"
           "custom code, that computes the same")
      .Placeholder("FAMILY");
  input
      .AddRepeated("--ignore", &options.ignored,
                   "Leave out stored tensors whose names match: \"*.attn.bias\". Without it a tensor that the\n"
                   "architecture does not use is an error")
      .Placeholder("PATTERN");
  input
      .Add("--adapter", &options.adapter,
           "Merge the LoRA adapter of this directory (adapter_config.json, adapter_model.safetensors)\n"
           "into the weights; for a model that has adapters for several tasks (jina-embeddings-v3),\n"
           "the name of one")
      .Placeholder("DIR|TASK");
  input
      .AddRepeated("--image-size", &options.image_sizes,
                   "Height and width of images, if not as configured; a program for each")
      .Placeholder("HxW");
  AddSamples(command, arguments.get());
  const Choices<Comparison> comparisons = {
      {"none", Comparison::kNone}, {"quick", Comparison::kQuick}, {"full", Comparison::kFull}};
  comparison
      .AddChoice("--compare", &options.compare, comparisons,
                 "Compare with outputs of f32 weights: none, quick (4 texts of up to 64 tokens) or\n"
                 "full (17 texts of up to 512); the --sample options replace these texts")
      .Placeholder("DEPTH")
      .ShowDefault();
  weights.AddFlag("!--no-calibration", &options.calibrate,
                  "Round integer weights to nearest without running the model: fast, little memory,\n"
                  "less exact");
  output.Add("--report", &arguments->report, "Also write the report as JSON").Placeholder("FILE");
  output.AddFlag("-v,--verbose", &arguments->verbose, "Print every tensor");
  AddJson(command, &arguments->json);
  command.Footer(
      "Prints the error of storing the weights in the type chosen: per tensor, and end to end against f32 weights.\n"
      "With --window, --global, --top-k or --select it also prints run times by text length.\n"
      "Examples:\n  fovea convert all-MiniLM-L6-v2/ -o minilm.fovea --weights int8\n"
      "  fovea convert graph.json --source weights/ -o model.fovea --weights int4 --pack aarch64-i8mm\n"
      "  fovea convert bert/ -o windowed.fovea --window 256 --global first --layers 2-11 --sample-file texts.txt\n"
      "  fovea convert bert/ -o halved.fovea --select 0.5@4");
  command.Runs([=] { Run(*arguments, console); });
}

}  // namespace fovea::tools
