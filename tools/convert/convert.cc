// Converts a published model directory, a GGUF file or a model description to a blob.
#include "tools/convert/convert.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "runtime/blob/numbers.h"
#include "tools/base/fail.h"
#include "tools/base/utf8_path.h"
#include "tools/base/workers.h"
#include "tools/blob/output.h"
#include "tools/convert/arch/architecture.h"
#include "tools/convert/attention_types.h"
#include "tools/convert/calibrated_tensors.h"
#include "tools/convert/compare.h"
#include "tools/convert/encoder.h"
#include "tools/convert/exact_model.h"
#include "tools/convert/gguf/describe.h"
#include "tools/convert/graph_json.h"
#include "tools/convert/laid_pattern.h"
#include "tools/convert/loaded_blob.h"
#include "tools/convert/mixed_precision.h"
#include "tools/convert/published/kinds.h"
#include "tools/convert/resolve.h"
#include "tools/convert/staged_model.h"
#include "tools/convert/text/build.h"
#include "tools/convert/text/chat_files.h"
#include "tools/convert/vocabulary_check.h"
#include "tools/model/packed_weights.h"
#include "tools/text/text_inputs.h"

namespace fovea::tools {
namespace {

void AddTensor(TensorReport tensor, ConvertReport& report) {
  report.weight_bytes += tensor.bytes;
  report.f32_bytes += 4 * uint64_t{tensor.rows} * tensor.width;
  report.tensors.push_back(std::move(tensor));
}

uint32_t TextLimit(const Description& description) {
  uint64_t limit = description.max_length == 0 ? UINT32_MAX : description.max_length;
  for (const auto& [key, value] : description.metadata) {
    if (key != "max_positions") continue;
    limit = std::min(limit, static_cast<uint64_t>(WholeNumberIn(value, "metadata max_positions", {1, UINT32_MAX})));
  }
  return limit == UINT32_MAX ? 0 : static_cast<uint32_t>(limit);
}

// For published models: a description without a tokenizer does not want one.
bool TakesTokens(const Description& description) {
  if (description.metadata_index.count("architecture") == 0) return false;
  const auto reads = [](const Program& program) {
    return std::any_of(program.inputs.begin(), program.inputs.end(), [](const Input& input) {
      return input.ids && (input.name == "input_ids" || input.name == "decoder_input_ids");
    });
  };
  return std::any_of(description.programs.begin(), description.programs.end(), reads);
}

// A directory's tokenizer that cannot be read is not an error, since the model is useful without a text section; one
// requested by a description is.
std::vector<uint8_t> TextSection(const Description& description, BlobContent& content, ConvertReport& report) {
  TextOptions options(TextLimit(description));
  options.warnings = &report.warnings;
  options.findings = &report.findings;
  options.rows = RowsOfTokens(description);
  options.generates = description.metadata_index.count("generate.token") != 0;
  options.metadata = &content.metadata;
  try {
    if (description.single_file && description.text == nullptr) {
      if (TakesTokens(description)) report.without_text = "the file has no supported tokenizer";
      return {};
    }
    if (description.single_file) return BuildTextSection(*description.text, options);
    std::vector<uint8_t> text = BuildTextSection(Utf8Path(description.directory), description.tokenizer, options);
    if (text.empty() && TakesTokens(description) && description.metadata_index.count("series.tokens") == 0) {
      report.without_text = "the directory has no tokenizer files (tokenizer.json, vocab.txt, ...)";
    }
    return text;
  } catch (const Failure& failure) {
    if (!description.tokenizer.is_null() && !IsDirectoryTokenizer(description.tokenizer)) throw;
    report.warnings.push_back(fmt::format("the blob accepts only token ids: {}", failure.what()));
    return {};
  }
}

// Copies a tensor from a model's blob; its bytes there are then dropped from memory.
void CopyTensor(const Model& model, uint32_t index, BlobTensor& tensor) {
  const fovea_tensor_info info = model.Tensor(index);
  tensor.type = static_cast<DType>(info.type);
  const auto* data = static_cast<const uint8_t*>(info.data);
  tensor.data.assign(data, data + RowBytes(tensor.type, info.width) * info.rows);
  const auto* scales = static_cast<const uint8_t*>(info.scales);
  if (scales != nullptr) tensor.scales.assign(scales, scales + ScaleBytes(tensor.type, info.rows, info.width));
  model.Forget(data, tensor.data.size());
}

// State of one conversion, up to the blob and the comparison.
class Conversion {
 public:
  Conversion(const Description& description, const ConvertOptions& options, ConvertReport& report,
             const Progress& progress)
      : report_(report), progress_(progress), model_(Resolve(description)), types_(TypesFor(model_, options.weights)) {
    report.warnings = description.warnings;
    report.findings = description.findings;
    report.unused = LeftOut(description);
    model_.content.text = TextSection(description, model_.content, report);
    TakePadding(model_.content.text, model_.content.metadata);
    report.metadata = model_.content.metadata;
    CheckVocabulary(model_.content.text, description, report.warnings);
    report.text_bytes = model_.content.text.size();
    report.workers = workers_.count();
    const bool integers = options.weights == DType::kI8 || options.weights == DType::kI4,
               mixes = options.keep.has_value();
    const bool changed = mixes || options.weights != DType::kF32 || options.keys != DType::kF32 ||
                         options.products.value_or(Products::kF32) != Products::kF32 || options.pattern.any();
    compares_ = options.compare != Comparison::kNone && changed;
    const bool calibrates = integers && options.calibrate;
    if (mixes || calibrates || compares_) {
      exact_.emplace(model_, workers_);
      for (std::string& note : NotesOnSamples(exact_->outline(), options.samples)) {
        report.warnings.push_back(std::move(note));
      }
    }
    if (compares_) {
      references_ = MakeReferences(exact_->outline(), OutputsBy(exact_->staged()), options, report, progress);
    }
    if (calibrates && !mixes) calibrated_.emplace(model_, *exact_, options.samples, types_, workers_);
    if (mixes) {
      SetTensors(ChooseMix(model_, *exact_, options, report, workers_, progress));
    } else if (options.pattern.any()) {
      const auto make = [&](size_t i, BlobTensor& tensor) { return Make(i, tensor); };
      SetTensors(EncodeAll(model_, make, progress));
    }
    CastKeys(options.keys, model_.content);
    if (options.products) {
      for (BlobProgram& program : model_.content.programs) SetProducts(*options.products, program);
    }
    if (!options.pattern.any()) return;
    if (compares_) without_pattern_ = WriteBlob(model_.content);
    LayPattern(options.pattern, model_.content);
    report.metadata = model_.content.metadata;
  }

  // Encodes and writes tensors one by one, so they are never all in memory.
  void Write(BlobOutput& output) {
    const size_t count = model_.content.tensors.size();
    const auto make = [&](size_t i, BlobTensor& tensor) {
      if (encoded_) {
        BlobTensor& made = model_.content.tensors[i];
        tensor.type = made.type;
        tensor.data = std::move(made.data);
        tensor.scales = std::move(made.scales);
        return;
      }
      if (progress_) progress_("quantize", tensor.name, i, count);
      AddTensor(Make(i, tensor), report_);
    };
    places_ = WriteBlob(model_.content, make, output);
    if (progress_ && !encoded_) progress_("quantize", "", count, count);
    if (calibrated_) report_.calibrated = calibrated_->calibrated();
  }

  // `made`: the converted blob, in memory or from the file.
  void CompareWith(const Model& made) const {
    CompareModels(references_, OutputsBy(made, workers_.count()), report_, progress_);
  }
  void CompareWith(const std::string& file) {
    const Model made(file, {FOVEA_BACKEND_HIGHWAY, true});
    const auto source = [&](size_t i, BlobTensor& tensor) { CopyTensor(made, places_[i], tensor); };
    const StagedModel staged(model_.content, source, FOVEA_BACKEND_DEFAULT, workers_);
    CompareModels(references_, OutputsBy(staged), report_, progress_);
  }
  const std::vector<uint8_t>& without_pattern() const { return without_pattern_; }
  bool compares() const { return compares_; }

 private:
  TensorReport Make(size_t i, BlobTensor& tensor) {
    if (calibrated_) return calibrated_->Make(i, tensor);
    return Encode(model_, i, types_[i], tensor, workers_);
  }

  void SetTensors(EncodedTensors encoded) {
    model_.content.tensors = std::move(encoded.tensors);
    for (TensorReport& tensor : encoded.reports) AddTensor(std::move(tensor), report_);
    encoded_ = true;
  }

  ConvertReport& report_;
  const Progress& progress_;
  Resolved model_;
  const std::vector<DType> types_;  // requested types, unless they are mixed
  Workers workers_;
  bool compares_ = false, encoded_ = false;
  std::optional<ExactModel> exact_;
  std::vector<Reference> references_;
  std::optional<CalibratedTensors> calibrated_;
  std::vector<uint8_t> without_pattern_;
  std::vector<uint32_t> places_;  // index of each tensor in the written blob
};

// Adds packed weights to a blob.
PackedWeights Pack(const ConvertOptions& options, std::vector<uint8_t>* blob, ConvertReport& report) {
  const Memory copy = LoadedBlob::Copy(*blob);
  PackedWeights packed = PackWeights(copy.get(), blob->size(), "the converted model", options.pack,
                                     options.only_packed ? SharedWeights::kOnce : SharedWeights::kTwice);
  std::vector<BlobPacked>& sections = packed.sections;
  const auto empty = [](const BlobPacked& p) { return p.bytes.empty(); };
  const auto none = std::remove_if(sections.begin(), sections.end(), empty);
  if (none != sections.end()) report.warnings.push_back("none of these weights can be packed");
  sections.erase(none, sections.end());
  for (const BlobPacked& p : sections) report.packed_bytes += p.bytes.size();
  for (const KeptTensor& tensor : packed.kept) {
    report.findings.push_back(
        {Topic::kTied, fmt::format("'{}' is stored once: with --only its layer reads the table's rows", tensor.name)});
  }
  *blob = ReplacePacked(copy.get(), sections);
  return packed;
}

}  // namespace

Description Describe(const ConvertOptions& options) {
  if (options.only_packed && options.pack.empty()) Fail("--only leaves out packed weights: give --pack TARGET as well");
  if (std::filesystem::is_directory(Utf8Path(options.input))) {
    if (!options.source.empty()) Fail("--source is only for descriptions; leave it out");
    Reading reading;
    reading.task = options.task;
    reading.image_sizes = options.image_sizes;
    reading.family = options.family;
    reading.ignored = options.ignored;
    reading.adapter = options.adapter;
    reading.pooling = options.pooling;
    Description description = DescribeDirectory(options.input, reading);
    for (const auto& [key, value] : ChatMetadataIn(Utf8Path(options.input), &description.findings)) {
      description.SetMetadata(key, value);
    }
    return description;
  }
  RefuseOtherInputs(options.input);
  if (!options.image_sizes.empty()) Fail("--image-size is only for model directories; leave it out");
  if (!options.family.empty()) Fail("--as is only for model directories; leave it out");
  if (!options.ignored.empty()) Fail("--ignore is only for model directories; leave it out");
  if (!options.adapter.empty()) Fail("--adapter is only for model directories; leave it out");
  if (!options.pooling.empty()) Fail("--pool is only for model directories; leave it out");
  if (Utf8Path(options.input).extension() == ".gguf") {
    if (!options.source.empty()) Fail("--source is only for descriptions; leave it out");
    return DescribeGguf(options.input, options.task);
  }
  if (!options.task.empty()) Fail("--task is only for model directories; leave it out");
  return ReadGraph(options.input, options.source);
}

std::vector<uint8_t> BuildBlob(const ConvertOptions& options, ConvertReport& report) {
  return BuildBlob(Describe(options), options, report);
}

std::vector<uint8_t> BuildBlob(const Description& description, const ConvertOptions& options, ConvertReport& report,
                               const Progress& progress) {
  Conversion conversion(description, options, report, progress);
  BlobBytes output;
  conversion.Write(output);
  std::vector<uint8_t>& blob = output.bytes;
  // The library checks which parts of attention can be combined.
  if (options.pattern.any()) LoadedBlob(blob, "the pattern laid over the model");
  PackedWeights packed;
  if (!options.pack.empty()) {
    if (progress) progress("pack", "", 0, 1);
    packed = Pack(options, &blob, report);
  }
  if (conversion.compares()) {
    conversion.CompareWith(LoadedBlob(blob, "the converted model").model);
    if (options.pattern.any()) {
      CompareLengths(conversion.without_pattern(), blob, options, report.workers, report, progress);
    }
  }
  // Last, because this machine may not be able to run the rest.
  if (options.only_packed) blob = ReplacePacked(LoadedBlob::Copy(blob).get(), packed.sections, packed.replaced);
  report.blob_bytes = blob.size();
  return std::move(blob);
}

ConvertReport Convert(const ConvertOptions& options, const Progress& progress) {
  ConvertReport report;
  const Description description = Describe(options);
  const bool streams = !options.output.empty() && IsReplaceable(options.output);
  if (!streams || options.pattern.any() || !options.pack.empty()) {
    const std::vector<uint8_t> blob = BuildBlob(description, options, report, progress);
    if (!options.output.empty()) WriteBlobFile(options.output, blob);
    return report;
  }
  Conversion conversion(description, options, report, progress);
  BlobFile file(options.output);
  conversion.Write(file);
  report.blob_bytes = std::filesystem::file_size(Utf8Path(file.Flushed()));
  if (conversion.compares()) conversion.CompareWith(file.Flushed());
  file.Keep();
  return report;
}

}  // namespace fovea::tools
