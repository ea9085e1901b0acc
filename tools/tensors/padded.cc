// Converts padded tensors to and from ragged batches.
#include "tools/tensors/padded.h"

#include <string.h>

#include <algorithm>
#include <list>
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
class RowByRow {
 public:
  // Metadata "layout.<input>" names these inputs.
  RowByRow(const Model& model, uint32_t program, std::map<uint32_t, NamedTensor>& given) {
    for (auto& [value, input] : given) {
      const char* layout = model.ProgramMetadata(program, fmt::format("layout.{}", model.Value(program, value).name));
      if (layout != nullptr && strcmp(layout, "channels_first") == 0) Turn(&input);
    }
  }

 private:
  struct Turned {
    std::vector<float> values;
    StoredTensor tensor;
  };

  void Turn(NamedTensor* input) {
    const StoredTensor& stored = *input->tensor;
    if (stored.shape.size() < 2 || stored.shape.size() > 3) {
      Fail("{}: shape {}, expected [batch, channels, rows] or [channels, rows]", input->name, ShapeText(stored.shape));
    }
    const std::vector<float> columns = ToFloats(stored);
    Turned& turned = turned_.emplace_back();
    turned.tensor = stored;
    std::swap(turned.tensor.shape[stored.shape.size() - 2], turned.tensor.shape.back());
    const uint64_t rows = stored.shape.back(), width = stored.shape[stored.shape.size() - 2];
    turned.values.resize(columns.size());
    for (size_t i = 0; i < columns.size(); ++i) {
      const uint64_t segment = i / (width * rows), channel = i / rows % width, row = i % rows;
      turned.values[(segment * rows + row) * width + channel] = columns[i];
    }
    turned.tensor.type = ElementType::kF32;
    turned.tensor.data = reinterpret_cast<const uint8_t*>(turned.values.data());
    turned.tensor.bytes = turned.values.size() * sizeof(float);
    input->tensor = &turned.tensor;
  }

  std::list<Turned> turned_;  // std::list: addresses must stay valid
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
std::vector<T> Pick(const std::vector<T>& padded, const Segments& segments, uint32_t width) {
  std::vector<T> rows;
  for (size_t i = 0; i < segments.lengths.size(); ++i) {
    const auto begin = padded.begin() + static_cast<ptrdiff_t>((i * segments.padded + segments.first[i]) * width);
    rows.insert(rows.end(), begin, begin + static_cast<ptrdiff_t>(static_cast<size_t>(segments.lengths[i]) * width));
  }
  return rows;
}

// Placement of a space's rows in padded form. `lengths` are of the space; an input space with the same
// parent may have lengths that are less by a constant (rows prepended to each segment).
Segments Placement(const Model& model, const Batch& batch, uint32_t space, const std::vector<uint32_t>& lengths) {
  const uint32_t parent = model.Space(space).parent;
  for (const auto& [input, segments] : batch.spaces) {
    if (model.Space(input).parent != parent || segments.lengths.size() != lengths.size() || lengths.empty()) continue;
    const int64_t extra = static_cast<int64_t>(lengths[0]) - segments.lengths[0];
    bool constant = extra >= 0;
    for (size_t i = 0; i < lengths.size(); ++i) {
      constant = constant && static_cast<int64_t>(lengths[i]) - segments.lengths[i] == extra;
    }
    if (constant) return {lengths, segments.first, static_cast<uint32_t>(segments.padded + extra)};
  }
  return MakeSegments(lengths);
}

}  // namespace

Batch BatchFromTensors(const Model& model, uint32_t program, const StoredTensors& tensors) {
  if (IsRagged(tensors)) return RaggedBatch(model, program, tensors);
  std::map<uint32_t, NamedTensor> given = MatchInputs(model, program, tensors);
  const RowByRow row_by_row(model, program, given);
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
      batch.ids[value] = Pick(ToIds(input->second.name, *input->second.tensor), segments_of[info.space], info.width);
    } else {
      batch.numbers[value] = Pick(ToFloats(*input->second.tensor), segments_of[info.space], info.width);
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

namespace {

// Position of a segment's row in padded form. With metadata "layout.<space>" = "front_last N" the first N rows of each
// segment come after the maximum length of the remaining rows.
class Places {
 public:
  Places(const Model& model, uint32_t space, const Segments& segments) : segments_(segments) {
    const char* words = model.Metadata(fmt::format("layout.{}", model.Space(space).name).c_str());
    if (words == nullptr) return;
    std::istringstream text(words);
    std::string kind;
    text >> kind >> front_;
    const bool fits = std::all_of(segments.lengths.begin(), segments.lengths.end(),
                                  [&](uint32_t length) { return length >= front_; });
    if (kind != "front_last" || text.fail() || !fits) {
      Fail("{}: metadata layout.{} is {}", model.name(), model.Space(space).name, words);
    }
  }
  size_t Of(size_t segment, uint32_t row) const {
    return row < front_ ? segments_.padded - front_ + row : segments_.first[segment] + row - front_;
  }

 private:
  const Segments& segments_;
  uint32_t front_ = 0;
};

OutputTensor LaidOut(const Model& model, uint32_t program, const OutputTensor& value) {
  const char* words = model.ProgramMetadata(program, "layout." + value.name);
  if (words == nullptr) return value;
  std::istringstream text(words);
  std::string kind;
  uint64_t rows = 0, columns = 0;
  text >> kind >> rows >> columns;
  const uint64_t places = value.shape.size() == 3 ? value.shape[1] : 0;
  const bool last = kind == "channels_last";
  if ((!last && kind != "channels_first") || text.fail() || places == 0 || columns == 0 || places % columns != 0 ||
      places / columns != rows) {
    Fail("{}: metadata layout.{} is {}, its shape {}", model.name(), value.name, words, ShapeText(value.shape));
  }
  const uint64_t width = value.shape[2];
  if (last) return {value.name, {value.shape[0], rows, columns, width}, value.values, value.valid};
  OutputTensor out{value.name, {value.shape[0], width, rows, columns}, value.values, value.valid};
  for (size_t i = 0; i < out.values.size(); ++i) {
    const uint64_t picture = i / (places * width), channel = i / places % width, place = i % places;
    const uint64_t from = (picture * places + place) * width + channel;
    out.values[i] = value.values[from];
    out.valid[i] = value.valid[from];
  }
  return out;
}

}  // namespace

OutputTensor PaddedValue(const Model& model, const Session& session, const Batch& batch, uint32_t value,
                         const std::string& name) {
  if (batch.ragged) return RaggedValue(session, value, name);
  const uint32_t space = model.Value(session.request().program, value).space;
  const Matrix matrix = session.Output(value);
  OutputTensor out{name, {matrix.rows, matrix.width}, matrix.values, {}};
  if (model.Space(space).parent == FOVEA_NONE) {
    out.valid.assign(out.values.size(), 1);
    return out;
  }
  const Segments segments = Placement(model, batch, space, session.Lengths(space));
  const size_t count = segments.lengths.size(), width = matrix.width;
  out.shape = {count, segments.padded, width};
  out.values.assign(count * segments.padded * width, 0.0f);
  out.valid.assign(out.values.size(), 0);
  const float* from = matrix.values.data();
  const Places places(model, space, segments);
  for (size_t i = 0; i < count; ++i) {
    for (uint32_t row = 0; row < segments.lengths[i]; ++row, from += width) {
      const size_t at = (i * segments.padded + places.Of(i, row)) * width;
      std::copy_n(from, width, out.values.begin() + static_cast<ptrdiff_t>(at));
      std::fill_n(out.valid.begin() + static_cast<ptrdiff_t>(at), width, uint8_t{1});
    }
  }
  return LaidOut(model, session.request().program, out);
}

OutputTensor PaddedAttention(const Model& model, const Session& session, const Batch& batch, uint32_t tap,
                             const std::string& name) {
  if (batch.ragged) return RaggedAttention(model, session, tap, name);
  const fovea_attention_map weights = session.AttentionMap(tap);
  const auto place = [&](uint32_t space) {
    // A query per segment of the keys (attention pooling) is a segment of one row.
    if (model.Space(space).parent == FOVEA_NONE && space != weights.key_space) {
      return MakeSegments(std::vector<uint32_t>(weights.rows, 1));
    }
    return Placement(model, batch, space, session.Lengths(space));
  };
  const Segments queries = place(weights.query_space), keys = place(weights.key_space);
  const size_t count = queries.lengths.size(), heads = weights.heads;
  if (keys.lengths.size() != count) Fail("{}: {} segments of queries, {} of keys", name, count, keys.lengths.size());
  OutputTensor out{name, {count, heads, queries.padded, keys.padded}, {}, {}};
  out.values.assign(count * heads * queries.padded * keys.padded, 0.0f);
  out.valid.assign(out.values.size(), 0);
  size_t row = 0;
  const Places query_places(model, weights.query_space, queries), key_places(model, weights.key_space, keys);
  for (size_t i = 0; i < count; ++i) {
    for (uint32_t q = 0; q < queries.lengths[i]; ++q, ++row) {
      for (size_t head = 0; head < heads; ++head) {
        const size_t at = ((i * heads + head) * queries.padded + query_places.Of(i, q)) * keys.padded;
        const float* from = weights.data + (row * heads + head) * weights.stride;
        for (uint32_t k = 0; k < keys.lengths[i]; ++k) {
          out.values[at + key_places.Of(i, k)] = from[k];
          out.valid[at + key_places.Of(i, k)] = 1;
        }
      }
    }
  }
  return out;
}

}  // namespace fovea::tools
