#include "tools/measure/synthetic_batch.h"

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "tools/media/sound_inputs.h"

namespace fovea::tools {
namespace {

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

}  // namespace

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
      segments_of[space] = MakeSegments(info.parent == FOVEA_NONE ? std::vector<uint32_t>{RowCount(lengths)} : lengths);
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
    const size_t rows = RowCount(segments.lengths);
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
