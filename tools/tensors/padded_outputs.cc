// Converts outputs of ragged batches to padded tensors.
#include "tools/tensors/padded_outputs.h"

#include <algorithm>
#include <sstream>

#include "tools/base/fail.h"
#include "tools/safetensors/safetensors.h"
#include "tools/tensors/ragged.h"

namespace fovea::tools {
namespace {

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

// Position of a segment's row in padded form. With metadata "layout.<space>" = "front_last N" the first N rows of each
// segment come after the maximum length of the remaining rows.
class RowPositions {
 public:
  RowPositions(const Model& model, uint32_t space, const Segments& segments) : segments_(segments) {
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

OutputTensor InOriginalLayout(const Model& model, uint32_t program, const OutputTensor& value) {
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
  const RowPositions positions(model, space, segments);
  for (size_t i = 0; i < count; ++i) {
    for (uint32_t row = 0; row < segments.lengths[i]; ++row, from += width) {
      const size_t at = (i * segments.padded + positions.Of(i, row)) * width;
      std::copy_n(from, width, out.values.begin() + static_cast<ptrdiff_t>(at));
      std::fill_n(out.valid.begin() + static_cast<ptrdiff_t>(at), width, uint8_t{1});
    }
  }
  return InOriginalLayout(model, session.request().program, out);
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
  const RowPositions query_positions(model, weights.query_space, queries),
      key_positions(model, weights.key_space, keys);
  for (size_t i = 0; i < count; ++i) {
    for (uint32_t q = 0; q < queries.lengths[i]; ++q, ++row) {
      for (size_t head = 0; head < heads; ++head) {
        const size_t at = ((i * heads + head) * queries.padded + query_positions.Of(i, q)) * keys.padded;
        const float* from = weights.data + (row * heads + head) * weights.stride;
        for (uint32_t k = 0; k < keys.lengths[i]; ++k) {
          out.values[at + key_positions.Of(i, k)] = from[k];
          out.valid[at + key_positions.Of(i, k)] = 1;
        }
      }
    }
  }
  return out;
}

}  // namespace fovea::tools
