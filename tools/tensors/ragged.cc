// Tensors without padding.
#include "tools/tensors/ragged.h"

#include <string.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "tools/base/fail.h"
#include "tools/tensors/named_inputs.h"

namespace fovea::tools {
namespace {

uint32_t FindSpace(const Model& model, const std::string& name) {
  uint32_t space = 0;
  if (fovea_model_find_space(model.get(), name.c_str(), &space) != FOVEA_OK) Fail("the model has no space '{}'", name);
  return space;
}

std::vector<uint32_t> LengthsOf(const std::string& name, const StoredTensor& tensor) {
  if (tensor.shape.size() != 1) Fail("{}: shape {}, expected [segments]", name, ShapeText(tensor.shape));
  std::vector<uint32_t> lengths;
  for (const int32_t length : ToIds(name, tensor)) {
    if (length < 0) Fail("{}: {} is not a length", name, length);
    lengths.push_back(static_cast<uint32_t>(length));
  }
  return lengths;
}

uint32_t RowsOf(const NamedTensor& input, uint32_t width) {
  const std::vector<uint64_t>& shape = input.tensor->shape;
  const bool fits = (shape.size() == 1 && width == 1) || (shape.size() == 2 && shape[1] == width);
  if (!fits || shape[0] > INT32_MAX) {
    Fail("{}: shape {}, expected [rows, {}]", input.name, ShapeText(shape), width);
  }
  return static_cast<uint32_t>(shape[0]);
}

// Whether only the caller knows the segments of a space.
bool NeedsSegments(const fovea_space_info& space) { return space.is_input != 0 && space.parent != FOVEA_NONE; }

// Whether all segments of a space have a fixed number of rows.
bool IsFixed(const fovea_space_info& space) {
  return space.is_input == 0 && space.parent != FOVEA_NONE && space.max_segment_rows != UINT32_MAX;
}

// Checks given segments of such a space, which must have the fixed length; their number is the rows of the parent.
void AddFixed(const Model& model, const std::string& name, const StoredTensor& tensor, Batch* batch) {
  const uint32_t space = FindSpace(model, name.substr(strlen(kSegments)));
  const fovea_space_info info = model.Space(space);
  if (!IsFixed(info)) return;
  const std::vector<uint32_t> lengths = LengthsOf(name, tensor);
  for (const uint32_t length : lengths) {
    if (length != info.max_segment_rows) {
      Fail("{}: a segment has {} rows; the model requires {}", name, length, info.max_segment_rows);
    }
  }
  const auto parent = batch->spaces.find(info.parent);
  if (parent == batch->spaces.end()) return AddSegments(model, space, MakeSegments(lengths), batch);
  const auto& above = parent->second.lengths;
  const uint64_t rows = std::accumulate(above.begin(), above.end(), uint64_t{0});
  if (rows != lengths.size()) Fail("{}: {} segments for {} rows of their parent", name, lengths.size(), rows);
}

}  // namespace

bool IsRagged(const StoredTensors& tensors) {
  return std::any_of(tensors.begin(), tensors.end(), [](const auto& named) { return IsSegments(named.first); });
}

Batch RaggedBatch(const Model& model, uint32_t program, const StoredTensors& tensors) {
  Batch batch;
  batch.ragged = true;
  for (const auto& [name, tensor] : tensors) {
    if (!IsSegments(name)) continue;
    const uint32_t space = FindSpace(model, name.substr(strlen(kSegments)));
    if (IsFixed(model.Space(space))) continue;
    if (!NeedsSegments(model.Space(space))) Fail("{}: leave it out; the segments of this space are derived", name);
    batch.spaces[space] = MakeSegments(LengthsOf(name, tensor));
  }
  // The number of rows of a root space is the number of segments of its child.
  const auto has_rows = [&](uint32_t space) {
    return std::any_of(batch.spaces.begin(), batch.spaces.end(), [&](const auto& known) {
      return known.first == space || model.Space(known.first).parent == space;
    });
  };
  for (const auto& [name, tensor] : tensors) {
    if (IsSegments(name)) AddFixed(model, name, tensor, &batch);
  }
  const std::map<uint32_t, NamedTensor> given = MatchInputs(model, program, tensors);
  for (const auto& [value, input] : given) {
    const fovea_value_info info = model.Value(program, value);
    for (uint32_t space = info.space; space != FOVEA_NONE; space = model.Space(space).parent) {
      const fovea_space_info parts = model.Space(space);
      if (NeedsSegments(parts) && batch.spaces.count(space) == 0)
        Fail("{}: segments.{} is missing", input.name, parts.name);
    }
    const uint32_t rows = RowsOf(input, info.width);
    const fovea_space_info space = model.Space(info.space);
    if (space.is_input != 0 && !has_rows(info.space)) {
      batch.spaces[info.space] = MakeSegments({rows});
    } else if (space.is_input == 0 && space.parent != FOVEA_NONE && !has_rows(space.parent)) {
      AddSegments(model, info.space,
                  MakeSegments(std::vector<uint32_t>(rows / space.max_segment_rows, space.max_segment_rows)), &batch);
    }
    if (info.type == FOVEA_TYPE_I32) {
      batch.ids[value] = ToIds(input.name, *input.tensor);
    } else {
      batch.numbers[value] = ToFloats(*input.tensor);
    }
  }
  for (const uint32_t value : InputsOf(model, program)) {
    const fovea_value_info info = model.Value(program, value);
    if (given.count(value) == 0 && info.carried_by == FOVEA_NONE) Fail("{}: required input is missing", info.name);
  }
  return batch;
}

OutputTensor RaggedValue(const Session& session, uint32_t value, const std::string& name) {
  const Matrix matrix = session.Output(value);
  return {name, {matrix.rows, matrix.width}, matrix.values, std::vector<uint8_t>(matrix.values.size(), 1)};
}

OutputTensor RaggedAttention(const Model& model, const Session& session, uint32_t tap, const std::string& name) {
  const fovea_attention_map weights = session.AttentionMap(tap);
  const std::vector<uint32_t> keys = session.Lengths(weights.key_space);
  std::vector<uint32_t> queries = session.Lengths(weights.query_space);
  // One query for each segment of keys, if the keys' space is a child of the queries'.
  if (model.Space(weights.key_space).parent == weights.query_space) queries.assign(weights.rows, 1);
  if (queries.size() != keys.size()) Fail("{}: {} segments of queries, {} of keys", name, queries.size(), keys.size());
  const uint64_t longest = keys.empty() ? 0 : *std::max_element(keys.begin(), keys.end());
  OutputTensor out{name, {weights.rows, weights.heads, longest}, {}, {}};
  const size_t lines = size_t{weights.rows} * weights.heads;
  out.values.assign(lines * longest, 0.0f);
  out.valid.assign(lines * longest, 0);
  size_t line = 0;
  for (size_t i = 0; i < keys.size(); ++i) {
    for (uint64_t q = 0; q < uint64_t{queries[i]} * weights.heads; ++q, ++line) {
      const auto at = static_cast<ptrdiff_t>(line * longest);
      std::copy_n(weights.data + line * weights.stride, keys[i], out.values.begin() + at);
      std::fill_n(out.valid.begin() + at, keys[i], uint8_t{1});
    }
  }
  return out;
}

}  // namespace fovea::tools
