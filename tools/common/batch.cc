// The inputs of one run, ragged, and how they stood in padded form.
#include "tools/common/batch.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

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

uint32_t Sum(const std::vector<uint32_t>& lengths) {
  const uint64_t sum = std::accumulate(lengths.begin(), lengths.end(), uint64_t{0});
  if (sum > UINT32_MAX) Fail("{} rows are too many", sum);
  return static_cast<uint32_t>(sum);
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

std::vector<uint32_t> InputsOf(const Model& model, uint32_t program) {
  return ValuesOf(model, program, FOVEA_ROLE_INPUT);
}

std::vector<uint32_t> OutputsOf(const Model& model, uint32_t program) {
  return ValuesOf(model, program, FOVEA_ROLE_OUTPUT);
}

std::vector<fovea_limit> ExactLimits(const Model& model, const Batch& batch) {
  std::map<uint32_t, fovea_limit> limits;
  for (const auto& [space, segments] : batch.spaces) {
    const uint32_t rows = std::max(1u, Sum(segments.lengths)), longest = std::max(1u, Longest(segments.lengths));
    const uint32_t parent = model.Space(space).parent;
    limits[space] = {space, rows, parent == FOVEA_NONE ? 0 : longest};
    if (parent != FOVEA_NONE) limits[parent] = {parent, static_cast<uint32_t>(std::max<size_t>(1, segments.lengths.size())), 0};
  }
  std::vector<fovea_limit> list;
  for (const auto& [space, limit] : limits) list.push_back(limit);
  return list;
}

void Bind(const Batch& batch, Session* session) {
  for (const auto& [space, segments] : batch.spaces) session->SetSegments(space, segments.lengths);
  for (const auto& [value, ids] : batch.ids) session->SetInput(value, ids);
  for (const auto& [value, numbers] : batch.numbers) session->SetInput(value, numbers);
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
  for (const uint32_t space : spaces) {
    if (parents.count(space) != 0) continue;  // its rows are its children's segments
    const bool root = model.Space(space).parent == FOVEA_NONE;
    batch.spaces[space] = MakeSegments(root ? std::vector<uint32_t>{Sum(lengths)} : lengths);
  }
  std::mt19937 random(1);
  std::uniform_real_distribution<float> number(-1, 1);
  for (const uint32_t value : inputs) {
    const fovea_value_info info = model.Value(program, value);
    const auto segments = batch.spaces.find(info.space);
    const size_t rows = segments == batch.spaces.end() ? lengths.size() : Sum(segments->second.lengths);
    if (info.type == FOVEA_TYPE_I32) {
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
