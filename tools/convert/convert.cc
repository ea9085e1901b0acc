// From a published model directory, a GGUF file or a model description to a blob.
#include "tools/convert/convert.h"

#include <algorithm>
#include <filesystem>

#include "tools/base/affixes.h"
#include "tools/base/fail.h"
#include "tools/base/mapped_file.h"
#include "tools/base/workers.h"
#include "tools/common/packed.h"
#include "tools/convert/arch/architecture.h"
#include "tools/convert/attention_types.h"
#include "tools/convert/calibrate.h"
#include "tools/convert/compare.h"
#include "tools/convert/gguf/describe.h"
#include "tools/convert/graph_json.h"
#include "tools/convert/laid_pattern.h"
#include "tools/convert/loaded_blob.h"
#include "tools/convert/resolve.h"
#include "tools/convert/text/build.h"

namespace fovea::tools {
namespace {

// Buffers that some library versions store and that hold no weights.
bool IsBuffer(const std::string& name) {
  const std::string last = name.substr(name.rfind('.') + 1);
  return last == "position_ids" || last == "token_type_ids" || last == "relative_position_index" ||
         last == "relative_coords_table" || last == "num_batches_tracked";
}

void ReportUnused(const Description& description, ConvertReport& report) {
  for (const std::string& name : description.weights.Unused()) {
    const bool matters = std::any_of(description.must_use.begin(), description.must_use.end(),
                                     [&](const std::string& start) { return StartsWith(name, start); });
    if (matters && !IsBuffer(name)) Fail("tensor {} has no place in this architecture", name);
    report.unused.push_back(name);
  }
}

DType TypeOf(Shortest shortest, DType wanted) {
  if (wanted == DType::kF32 || shortest == Shortest::kAny) return wanted;
  return shortest == Shortest::kF16 ? DType::kF16 : DType::kF32;
}

void Encode(Resolved& model, DType wanted, ConvertReport& report, Workers* workers, const Progress& progress) {
  std::vector<BlobTensor>& tensors = model.content.tensors;
  for (size_t i = 0; i < tensors.size(); ++i) {
    BlobTensor& tensor = tensors[i];
    if (progress) progress("quantize", tensor.name, i, tensors.size());
    const DType asked = tensor.type == DType::kI32 ? DType::kI32 : TypeOf(model.shortest[i], wanted);
    const std::vector<float> values = model.constants[i].load();
    tensor.type = StorableType(asked, values, tensor.width);
    EncodeTensor(values, tensor, model.constants[i].hides, workers);
    TensorReport entry = {
        tensor.name,          tensor.type, tensor.rows, tensor.width, tensor.data.size() + tensor.scales.size(),
        tensor.type != asked, {}};
    if (tensor.type != DType::kF32 && tensor.type != DType::kI32)
      entry.error = CompareTensors(values, DecodeTensor(tensor, workers));
    report.weight_bytes += entry.bytes;
    report.f32_bytes += 4 * values.size();
    report.tensors.push_back(std::move(entry));
  }
  if (progress) progress("quantize", "", tensors.size(), tensors.size());
}

uint32_t TextLimit(const Description& description) {
  uint64_t limit = description.max_length == 0 ? UINT32_MAX : description.max_length;
  for (const auto& [key, value] : description.metadata) {
    if (key != "max_positions") continue;
    limit = std::min(limit, static_cast<uint64_t>(WholeNumberIn(value, "metadata max_positions", {1, UINT32_MAX})));
  }
  return limit == UINT32_MAX ? 0 : static_cast<uint32_t>(limit);
}

// A model is of use without the text section, so a directory's tokenizer that cannot be read is no failure; one that a
// description asks for is.
std::vector<uint8_t> TextSection(const Description& description, ConvertReport& report) {
  const uint32_t limit = TextLimit(description);
  try {
    if (description.single_file) {
      return description.text == nullptr ? std::vector<uint8_t>() : BuildTextSection(*description.text, limit);
    }
    return BuildTextSection(description.directory, description.tokenizer, limit);
  } catch (const Failure& failure) {
    if (!description.tokenizer.is_null()) throw;
    report.warnings.push_back(fmt::format("the blob takes token ids only: {}", failure.what()));
    return {};
  }
}

// The same model with f32 weights.
std::vector<uint8_t> ExactBlob(const Description& description, const std::vector<uint8_t>& text) {
  Resolved model = Resolve(description);
  ConvertReport ignored;
  Encode(model, DType::kF32, ignored, nullptr, {});
  model.content.text = text;
  return WriteBlob(model.content);
}

}  // namespace

Description Describe(const ConvertOptions& options) {
  if (std::filesystem::is_directory(options.input)) {
    if (!options.source.empty()) Fail("a source of weights goes with a description only");
    Description description = DescribeDirectory(options.input, options.task, options.image_sizes);
    if (const auto chat = ChatTemplateIn(options.input)) description.SetMetadata("chat", *chat);
    return description;
  }
  if (!options.image_sizes.empty()) Fail("a size of images can be chosen for a model directory only");
  if (std::filesystem::path(options.input).extension() == ".gguf") {
    if (!options.source.empty()) Fail("a source of weights goes with a description only");
    return DescribeGguf(options.input, options.task);
  }
  if (!options.task.empty()) Fail("a task can be chosen for a model directory only");
  return ReadGraph(options.input, options.source);
}

std::vector<uint8_t> BuildBlob(const Description& description, const ConvertOptions& options, ConvertReport& report,
                               const Progress& progress) {
  Resolved model = Resolve(description);
  report.metadata = description.metadata;
  report.warnings = description.warnings;
  ReportUnused(description, report);
  model.content.text = TextSection(description, report);
  report.text_bytes = model.content.text.size();
  Workers workers;
  report.workers = workers.count();
  Encode(model, options.weights, report, &workers, progress);
  const bool integers = options.weights == DType::kI8 || options.weights == DType::kI4;
  const bool changed = options.weights != DType::kF32 || options.keys != DType::kF32 ||
                       options.products != DType::kF32 || options.pattern.any();
  const bool compare = options.compare != Comparison::kNone && changed;
  std::vector<uint8_t> exact;
  if (integers || compare) {
    exact = ExactBlob(description, model.content.text);
  }
  if (integers) Calibrate(model, exact, options.ids, report, workers, progress);
  CastKeys(options.keys, model.content);
  for (BlobProgram& program : model.content.programs) SetProducts(options.products, program);
  std::vector<uint8_t> without_pattern;
  if (options.pattern.any()) {
    if (compare) without_pattern = WriteBlob(model.content);
    LayPattern(options.pattern, model.content);
    report.metadata = model.content.metadata;
  }
  std::vector<uint8_t> blob = WriteBlob(model.content);
  // What goes with what in attention is the library's to say.
  if (options.pattern.any()) LoadedBlob(blob, "the pattern laid over the model");
  if (!options.pack.empty()) {
    if (progress) progress("pack", "", 0, 1);
    const Memory copy = LoadedBlob::Copy(blob);
    std::vector<BlobPacked> packed = Pack(copy.get(), blob.size(), "the converted model", options.pack);
    const auto empty = [](const BlobPacked& p) { return p.bytes.empty(); };
    const auto none = std::remove_if(packed.begin(), packed.end(), empty);
    if (none != packed.end()) report.warnings.push_back("this library packs none of these weights");
    packed.erase(none, packed.end());
    for (const BlobPacked& p : packed) report.packed_bytes += p.bytes.size();
    blob = ReplacePacked(copy.get(), packed);
  }
  report.blob_bytes = blob.size();
  if (compare) {
    CompareBlobs(exact, blob, options, workers.count(), report, progress);
    if (options.pattern.any()) CompareLengths(without_pattern, blob, options, workers.count(), report, progress);
  }
  return blob;
}

ConvertReport Convert(const ConvertOptions& options, const Progress& progress) {
  ConvertReport report;
  const Description description = Describe(options);
  const std::vector<uint8_t> blob = BuildBlob(description, options, report, progress);
  if (!options.output.empty()) WriteFile(options.output, blob.data(), blob.size());
  return report;
}

}  // namespace fovea::tools
