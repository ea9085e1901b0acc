// The inputs of one run as a ragged batch.
#include "tools/model/batch.h"

#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "tools/base/fail.h"
#include "tools/media/sound_inputs.h"

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

uint32_t Sum(const std::vector<uint32_t>& lengths) {
  const uint64_t sum = std::accumulate(lengths.begin(), lengths.end(), uint64_t{0});
  if (sum > UINT32_MAX) Fail("{} rows exceed the limit of 2^32 - 1", sum);
  return static_cast<uint32_t>(sum);
}

// Adds the ancestors of a space of `rows` rows: rows are divided among as few parent rows as possible, or one each if
// another input space needs as many segments there (`parents`: the parents of input spaces).
void AddParents(const Model& model, uint32_t space, uint32_t rows, const std::set<uint32_t>& parents, Batch* batch) {
  for (uint32_t parent = model.Space(space).parent; parent != FOVEA_NONE; parent = model.Space(parent).parent) {
    const fovea_space_info info = model.Space(parent);
    if (info.is_input == 0 || info.parent == FOVEA_NONE) return;
    std::vector<uint32_t> lengths(rows / info.max_segment_rows, info.max_segment_rows);
    if (rows % info.max_segment_rows != 0) lengths.push_back(rows % info.max_segment_rows);
    if (parents.count(info.parent) != 0) lengths.assign(rows, 1);
    rows = static_cast<uint32_t>(lengths.size());
    batch->spaces[parent] = MakeSegments(lengths);
  }
}

// Number of segments of a space with segments of fixed length, where texts (images, ...) are rows of its root.
size_t SegmentsOf(const Model& model, uint32_t space, size_t texts) {
  const uint32_t parent = model.Space(space).parent;
  if (parent == FOVEA_NONE || model.Space(parent).is_input != 0) return texts;
  return SegmentsOf(model, parent, texts) * model.Space(parent).max_segment_rows;
}

uint32_t Longest(const std::vector<uint32_t>& lengths) {
  return lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
}

}  // namespace

uint64_t Batch::Rows() const {
  uint64_t rows = 0;
  for (const auto& [space, segments] : spaces) rows += Sum(segments.lengths);
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
    const uint32_t rows = std::max(1u, Sum(segments.lengths)), longest = std::max(1u, Longest(segments.lengths));
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

Batch SyntheticBatch(const Model& model, uint32_t program, const std::vector<uint32_t>& lengths) {
  Batch batch;
  const std::vector<uint32_t> inputs = InputsOf(model, program);
  std::set<uint32_t> spaces, parents;
  for (const uint32_t value : inputs) {
    const uint32_t space = model.Value(program, value).space;
    spaces.insert(space);
    parents.insert(model.Space(space).parent);
  }
  const std::optional<SoundInput> sound = FindSoundInput(model, program);
  std::map<uint32_t, Segments> segments_of;
  for (const uint32_t space : spaces) {
    const fovea_space_info info = model.Space(space);
    // Rows of a space whose children have inputs are the children's segments.
    if (info.is_input == 0) {
      segments_of[space] =
          MakeSegments(std::vector<uint32_t>(SegmentsOf(model, space, lengths.size()), info.max_segment_rows));
    } else if (parents.count(space) != 0) {
      segments_of[space] = MakeSegments({static_cast<uint32_t>(lengths.size())});
      continue;
    } else {
      segments_of[space] = MakeSegments(info.parent == FOVEA_NONE ? std::vector<uint32_t>{Sum(lengths)} : lengths);
    }
    if (sound && model.Value(program, sound->value).space == space) {
      for (uint32_t& length : segments_of[space].lengths) length *= sound->rate / 100;
    }
    AddSegments(model, space, segments_of[space], &batch);
    if (info.is_input != 0)
      AddParents(model, space, static_cast<uint32_t>(segments_of[space].lengths.size()), parents, &batch);
  }
  std::mt19937 random(1);
  std::uniform_real_distribution<float> number(-1, 1);
  for (const uint32_t value : inputs) {
    const fovea_value_info info = model.Value(program, value);
    const Segments& segments = segments_of[info.space];
    const size_t rows = Sum(segments.lengths);
    if (info.type == FOVEA_TYPE_I32 && info.id_limit == 0) {
      auto& marks = batch.ids[value];
      for (const uint32_t length : segments.lengths) {
        for (size_t i = 0; i < size_t{length} * info.width; ++i) marks.push_back(i < info.width ? 1 : 0);
      }
    } else if (info.type == FOVEA_TYPE_I32) {
      std::uniform_int_distribution<int32_t> id(0, static_cast<int32_t>(std::max(1u, info.id_limit)) - 1);
      auto& ids = batch.ids[value];
      ids.resize(rows * info.width);
      for (int32_t& i : ids) i = id(random);
    } else {
      auto& numbers = batch.numbers[value];
      numbers.resize(rows * info.width);
      for (float& x : numbers) x = number(random);
    }
  }
  return batch;
}

}  // namespace fovea::tools
