// The inputs of one run as a ragged batch.
#include "tools/model/batch.h"

#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <numeric>

#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

std::vector<uint32_t> ValuesOf(const Model& model, uint32_t program, uint32_t role) {
  std::vector<uint32_t> values;
  const uint32_t count = model.Program(program).value_count;
  for (uint32_t i = 0; i < count; ++i) {
    if (model.Value(program, i).role == role) values.push_back(i);
  }
  return values;
}

uint32_t Longest(const std::vector<uint32_t>& lengths) {
  return lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
}

}  // namespace

uint32_t RowCount(const std::vector<uint32_t>& lengths) {
  const uint64_t sum = std::accumulate(lengths.begin(), lengths.end(), uint64_t{0});
  if (sum > UINT32_MAX) Fail("{} rows exceed the limit of 2^32 - 1", sum);
  return static_cast<uint32_t>(sum);
}

uint64_t Batch::Rows() const {
  uint64_t rows = 0;
  for (const auto& [space, segments] : spaces) rows += RowCount(segments.lengths);
  return rows;
}

Segments MakeSegments(std::vector<uint32_t> lengths) {
  Segments segments;
  segments.padded = Longest(lengths);
  segments.first.assign(lengths.size(), 0);
  segments.lengths = std::move(lengths);
  return segments;
}

void AddSegments(const Model& model, uint32_t space, const Segments& segments, Batch* batch) {
  const fovea_space_info info = model.Space(space);
  if (info.is_input != 0) {
    batch->spaces[space] = segments;
    return;
  }
  if (info.parent == FOVEA_NONE || info.max_segment_rows == UINT32_MAX) {
    Fail("space '{}' is derived from another space and takes no inputs", info.name);
  }
  for (const uint32_t length : segments.lengths) {
    if (length != info.max_segment_rows) {
      Fail("space '{}': a segment has {} rows; the model requires {}", info.name, length, info.max_segment_rows);
    }
  }
  const uint32_t rows = static_cast<uint32_t>(segments.lengths.size());
  const fovea_space_info parent = model.Space(info.parent);
  std::vector<uint32_t> lengths = {rows};
  if (parent.parent != FOVEA_NONE) {
    if (parent.is_input != 0 || rows % parent.max_segment_rows != 0) Fail("space '{}' is nested too deep", info.name);
    lengths.assign(rows / parent.max_segment_rows, parent.max_segment_rows);
  }
  AddSegments(model, info.parent, MakeSegments(lengths), batch);
}

std::vector<uint32_t> InputsOf(const Model& model, uint32_t program) {
  return ValuesOf(model, program, FOVEA_ROLE_INPUT);
}

std::vector<uint32_t> OutputsOf(const Model& model, uint32_t program) {
  return ValuesOf(model, program, FOVEA_ROLE_OUTPUT);
}

std::optional<int32_t> DefaultId(const Model& model, const fovea_value_info& input) {
  if (input.type != FOVEA_TYPE_I32) return std::nullopt;
  const char* id = model.Metadata(fmt::format("default.{}", input.name));
  if (id != nullptr) return static_cast<int32_t>(strtol(id, nullptr, 10));
  return strcmp(input.name, "token_type_ids") == 0 ? std::optional<int32_t>(0) : std::nullopt;
}

std::vector<fovea_limit> ExactLimits(const Model& model, const Batch& batch) {
  std::map<uint32_t, fovea_limit> limits;
  for (const auto& [space, segments] : batch.spaces) {
    const uint32_t rows = std::max(1u, RowCount(segments.lengths)), longest = std::max(1u, Longest(segments.lengths));
    const uint32_t parent = model.Space(space).parent;
    limits[space] = {space, rows, parent == FOVEA_NONE ? 0 : longest};
  }
  for (const auto& [space, segments] : batch.spaces) {  // parents without segments
    const uint32_t parent = model.Space(space).parent,
                   rows = static_cast<uint32_t>(std::max<size_t>(1, segments.lengths.size()));
    if (parent != FOVEA_NONE) limits.emplace(parent, fovea_limit{parent, rows, 0});
  }
  // Limits of cached spaces (KV cache): one run appends all of their rows.
  uint32_t rows = 1, longest = 1;
  std::vector<fovea_limit> list;
  for (const auto& [space, limit] : limits) {
    rows = std::max(rows, limit.rows), longest = std::max(longest, limit.segment_rows);
    list.push_back(limit);
  }
  for (uint32_t space = 0; space < model.Info().space_count; ++space) {
    if (model.Space(space).is_cached != 0) list.push_back({space, rows, longest});
  }
  return list;
}

void Bind(const Batch& batch, Session* session) {
  for (const auto& [space, segments] : batch.spaces) session->SetSegments(space, segments.lengths);
  for (const auto& [value, ids] : batch.ids) session->SetInput(value, ids);
  for (const auto& [value, numbers] : batch.numbers) session->SetInput(value, numbers);
}

Session SessionFor(const Model& model, const Batch& batch, SessionRequest request) {
  request.limits = ExactLimits(model, batch);
  Session session(model, request);
  Bind(batch, &session);
  return session;
}

}  // namespace fovea::tools
