// Converts padded tensors to ragged batches.
#include "tools/tensors/padded_inputs.h"

#include <string.h>

#include <algorithm>
#include <list>
#include <map>
#include <optional>
#include <sstream>

#include "tools/base/fail.h"
#include "tools/tensors/named_inputs.h"
#include "tools/tensors/ragged.h"

namespace fovea::tools {
namespace {

// Extent of an input tensor: `batch` segments of `rows` rows.
struct Extent {
  uint64_t batch = 1;
  uint64_t rows = 0;
};

// Shape of an input's segments for the caller, if it is not a matrix: metadata "shape.<input>".
std::vector<uint64_t> SegmentShape(const Model& model, uint32_t program, const std::string& input) {
  const char* text = model.ProgramMetadata(program, "shape." + input);
  std::vector<uint64_t> shape;
  std::istringstream sizes(text == nullptr ? "" : text);
  for (uint64_t size; sizes >> size;) shape.push_back(size);
  return shape;
}

// Transposes inputs that callers give channel by channel, [batch, width, rows].
class ChannelsFirstInputs {
 public:
  // Metadata "layout.<input>" names these inputs.
  ChannelsFirstInputs(const Model& model, uint32_t program, std::map<uint32_t, NamedTensor>& given) {
    for (auto& [value, input] : given) {
      const char* layout = model.ProgramMetadata(program, fmt::format("layout.{}", model.Value(program, value).name));
      if (layout != nullptr && strcmp(layout, "channels_first") == 0) Transpose(&input);
    }
  }

 private:
  struct Transposed {
    std::vector<float> values;
    StoredTensor tensor;
  };

  void Transpose(NamedTensor* input) {
    const StoredTensor& stored = *input->tensor;
    if (stored.shape.size() < 2 || stored.shape.size() > 3) {
      Fail("{}: shape {}, expected [batch, channels, rows] or [channels, rows]", input->name, ShapeText(stored.shape));
    }
    const std::vector<float> columns = ToFloats(stored);
    Transposed& rows_first = transposed_.emplace_back();
    rows_first.tensor = stored;
    std::swap(rows_first.tensor.shape[stored.shape.size() - 2], rows_first.tensor.shape.back());
    const uint64_t rows = stored.shape.back(), width = stored.shape[stored.shape.size() - 2];
    rows_first.values.resize(columns.size());
    for (size_t i = 0; i < columns.size(); ++i) {
      const uint64_t segment = i / (width * rows), channel = i / rows % width, row = i % rows;
      rows_first.values[(segment * rows + row) * width + channel] = columns[i];
    }
    rows_first.tensor.type = ElementType::kF32;
    rows_first.tensor.data = reinterpret_cast<const uint8_t*>(rows_first.values.data());
    rows_first.tensor.bytes = rows_first.values.size() * sizeof(float);
    input->tensor = &rows_first.tensor;
  }

  std::list<Transposed> transposed_;  // std::list: addresses must stay valid
};

// Each segment is a tensor of this shape; its entries are the value's rows in order.
Extent ExtentOfShaped(const std::string& name, const StoredTensor& tensor, uint32_t width,
                      const std::vector<uint64_t>& segment) {
  std::vector<uint64_t> shape = tensor.shape;
  if (shape.size() == segment.size()) shape.insert(shape.begin(), 1);
  if (shape.size() != segment.size() + 1 || !std::equal(segment.begin(), segment.end(), shape.begin() + 1) ||
      shape[0] > INT32_MAX) {
    const std::string sizes = fmt::format("{}", fmt::join(segment, ", "));
    Fail("{}: shape {}, expected [batch, {}] or [{}]", name, ShapeText(tensor.shape), sizes, sizes);
  }
  uint64_t entries = 1;
  for (const uint64_t size : segment) entries *= size;
  if (entries % width != 0) Fail("{}: segments of shape {} are not rows of {}", name, ShapeText(segment), width);
  return {shape[0], entries / width};
}

Extent ExtentOf(const std::string& name, const StoredTensor& tensor, uint32_t width, bool has_parent) {
  std::vector<uint64_t> shape = tensor.shape;
  const size_t most = has_parent ? 2 : 1;
  const auto refuse = [&] {
    const std::string entry = width == 1 ? "" : fmt::format(", {}", width);
    Fail("{}: shape {}, expected {}", name, ShapeText(tensor.shape),
         has_parent ? fmt::format("[batch, sequence{0}] or [sequence{0}]", entry) : fmt::format("[rows{}]", entry));
  };
  if (width > 1 || shape.size() > most) {
    if (shape.empty() || shape.back() != width) refuse();
    shape.pop_back();
  }
  if (shape.empty() || shape.size() > most) refuse();
  for (const uint64_t size : shape) {
    if (size > INT32_MAX) Fail("{}: shape {} is too large", name, ShapeText(tensor.shape));
  }
  return shape.size() == 2 ? Extent{shape[0], shape[1]} : Extent{1, shape[0]};
}

// Segments from a mask [batch, rows]: the ones of each row, which must be contiguous.
Segments SegmentsOfMask(const std::string& name, const StoredTensor& mask, const Extent& extent) {
  const std::vector<int64_t> bits = ToIntegers(mask);
  Segments segments;
  segments.padded = static_cast<uint32_t>(extent.rows);
  for (uint64_t text = 0; text < extent.batch; ++text) {
    const int64_t* row = bits.data() + text * extent.rows;
    uint64_t first = 0, end = extent.rows;
    while (first < end && row[first] == 0) ++first;
    while (end > first && row[end - 1] == 0) --end;
    for (uint64_t i = first; i < end; ++i) {
      if (row[i] == 0)
        Fail("{}: text {} has a gap at position {}; only padding at the ends is supported", name, text, i);
      if (row[i] != 1) Fail("{}: entry {} of text {} is {}, expected 0 or 1", name, i, text, row[i]);
    }
    segments.first.push_back(static_cast<uint32_t>(first == end ? 0 : first));
    segments.lengths.push_back(static_cast<uint32_t>(end - first));
  }
  return segments;
}

// Copies the rows of `padded` that the segments keep.
template <typename T>
std::vector<T> KeptRows(const std::vector<T>& padded, const Segments& segments, uint32_t width) {
  std::vector<T> rows;
  for (size_t i = 0; i < segments.lengths.size(); ++i) {
    const auto begin = padded.begin() + static_cast<ptrdiff_t>((i * segments.padded + segments.first[i]) * width);
    rows.insert(rows.end(), begin, begin + static_cast<ptrdiff_t>(static_cast<size_t>(segments.lengths[i]) * width));
  }
  return rows;
}

}  // namespace

Batch BatchFromTensors(const Model& model, uint32_t program, const StoredTensors& tensors) {
  if (IsRagged(tensors)) return RaggedBatch(model, program, tensors);
  std::map<uint32_t, NamedTensor> given = MatchInputs(model, program, tensors);
  const ChannelsFirstInputs transposed(model, program, given);
  Batch batch;

  // Spaces first: all tensors of a space must have the same extent, and one of them can have a mask.
  const auto mask = tensors.find("attention_mask");
  bool mask_used = mask == tensors.end();
  std::map<uint32_t, Extent> extents;
  std::map<uint32_t, Segments> segments_of;
  for (const auto& [value, input] : given) {
    const fovea_value_info info = model.Value(program, value);
    const bool has_parent = model.Space(info.space).parent != FOVEA_NONE;
    if (has_parent && model.Space(model.Space(info.space).parent).parent != FOVEA_NONE) {
      Fail("{}: space '{}' is nested too deep for padded tensors; give segments.<space> instead", input.name,
           model.Space(info.space).name);
    }
    const std::vector<uint64_t> shape = SegmentShape(model, program, info.name);
    const Extent extent = has_parent && !shape.empty() ? ExtentOfShaped(input.name, *input.tensor, info.width, shape)
                                                       : ExtentOf(input.name, *input.tensor, info.width, has_parent);
    const auto [known, first_of_space] = extents.emplace(info.space, extent);
    if (!first_of_space) {
      if (known->second.batch != extent.batch || known->second.rows != extent.rows) {
        Fail("{}: shape {} does not fit the other inputs", input.name, ShapeText(input.tensor->shape));
      }
      continue;
    }
    Segments& segments = segments_of[info.space];
    if (!mask_used && has_parent) {
      const Extent covered = ExtentOf("attention_mask", mask->second, 1, true);
      if (!IsInteger(mask->second.type))
        Fail("attention_mask: type {}, expected integers", ElementName(mask->second.type));
      if (covered.batch != extent.batch || covered.rows != extent.rows) {
        Fail("attention_mask: shape {} does not fit {} of shape {}", ShapeText(mask->second.shape), input.name,
             ShapeText(input.tensor->shape));
      }
      segments = SegmentsOfMask("attention_mask", mask->second, extent);
      mask_used = true;
    } else {
      segments = MakeSegments(std::vector<uint32_t>(extent.batch, static_cast<uint32_t>(extent.rows)));
    }
    AddSegments(model, info.space, segments, &batch);
  }
  if (!mask_used) Fail("attention_mask: no input of the model has a mask");

  for (const uint32_t value : InputsOf(model, program)) {
    const fovea_value_info info = model.Value(program, value);
    const auto input = given.find(value);
    if (input == given.end() && info.carried_by != FOVEA_NONE) continue;
    if (input == given.end()) {
      const auto segments = segments_of.find(info.space);
      const std::optional<int32_t> id = DefaultId(model, info);
      if (!id || segments == segments_of.end()) Fail("{}: required input is missing", info.name);
      size_t rows = 0;
      for (const uint32_t length : segments->second.lengths) rows += length;
      batch.ids[value].assign(rows, *id);
    } else if (info.type == FOVEA_TYPE_I32) {
      batch.ids[value] =
          KeptRows(ToIds(input->second.name, *input->second.tensor), segments_of[info.space], info.width);
    } else {
      batch.numbers[value] = KeptRows(ToFloats(*input->second.tensor), segments_of[info.space], info.width);
    }
  }

  // The number of rows of a space is the number of segments of its input space.
  std::vector<uint32_t> followers;
  for (const auto& [space, segments] : batch.spaces) {
    const auto parent = batch.spaces.find(model.Space(space).parent);
    if (parent == batch.spaces.end()) continue;
    if (parent->second.lengths[0] != segments.lengths.size()) {
      Fail("{}: {} rows, but '{}' has {} segments", model.Space(parent->first).name, parent->second.lengths[0],
           model.Space(space).name, segments.lengths.size());
    }
    followers.push_back(parent->first);
  }
  for (const uint32_t space : followers) batch.spaces.erase(space);
  return batch;
}

}  // namespace fovea::tools
