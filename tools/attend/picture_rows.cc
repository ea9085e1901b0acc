// Maps rows of a value to cells of an image.
#include "tools/attend/picture_rows.h"

#include <string.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "tools/base/fail.h"

namespace fovea::tools {

PictureRows::PictureRows(const Model& model, uint32_t program, const PictureInput& input)
    : model_(model), program_(program) {
  const uint32_t height = input.size.height, width = input.size.width;
  std::map<uint32_t, Boxes> boxes_of;
  Boxes& strips = boxes_of[input.value];
  const uint32_t strip = model.Value(program, input.value).width;
  const uint64_t count = uint64_t{input.channels} * height * width / strip;
  for (uint64_t i = 0; i < count && width % strip == 0; ++i) {
    const auto left = static_cast<uint32_t>(i * strip % width);
    const auto top = static_cast<uint32_t>(i * strip / width % height);
    strips.push_back({left, top, left + strip, top + 1});
  }
  const uint32_t steps = model.Program(program).step_count;
  for (uint32_t step = 0; step < steps; ++step) {
    const fovea_step_info info = model.Step(program, step);
    const uint32_t space = model.Value(program, info.output).space;
    for (uint32_t i = 0; i < info.input_count; ++i) {
      const uint32_t value = model.StepInput(program, step, i);
      const auto from = boxes_of.find(value);
      if (from == boxes_of.end() || from->second.empty()) continue;
      Boxes boxes;
      if (strcmp(info.op, "arrange") == 0) {
        boxes = Arranged(from->second, step, info.output);
      } else if (space == model.Value(program, value).space) {
        boxes = from->second;
      } else if (strcmp(info.op, "prepend") == 0) {
        const std::optional<uint64_t> rows = RowsOfPicture(space);
        if (!rows || *rows < from->second.size()) continue;
        boxes.resize(*rows - from->second.size());
        boxes.insert(boxes.end(), from->second.begin(), from->second.end());
      }
      if (boxes.empty()) continue;
      boxes_of[info.output] = std::move(boxes);
      break;
    }
  }
  // Layouts of the values that attention reads.
  for (uint32_t step = 0; step < steps; ++step) {
    const fovea_step_info info = model.Step(program, step);
    if (strcmp(info.op, "attention") != 0) continue;
    for (uint32_t i = 0; i < 2; ++i) {
      const uint32_t value = model.StepInput(program, step, i);
      const auto boxes = boxes_of.find(value);
      const std::optional<Layout> layout = boxes == boxes_of.end() ? std::nullopt : Cells(boxes->second);
      if (!layout) continue;
      auto known = std::find(layouts_.begin(), layouts_.end(), *layout);
      if (known == layouts_.end()) known = layouts_.insert(known, *layout);
      layout_of_[value] = static_cast<int>(known - layouts_.begin());
    }
  }
}

int PictureRows::LayoutOf(uint32_t value) const {
  const auto found = layout_of_.find(value);
  return found == layout_of_.end() ? -1 : found->second;
}

// Rows per image of a space whose segments, and the segments of its ancestors, all have a fixed length.
std::optional<uint64_t> PictureRows::RowsOfPicture(uint32_t space) const {
  uint64_t rows = 1;
  for (; model_.Space(space).parent != FOVEA_NONE; space = model_.Space(space).parent) {
    const fovea_space_info info = model_.Space(space);
    if (info.is_input != 0 || info.max_segment_rows == FOVEA_NONE) return std::nullopt;
    rows *= info.max_segment_rows;
    if (rows > (1u << 26)) return std::nullopt;
  }
  return rows;
}

PictureRows::Boxes PictureRows::Arranged(const Boxes& from, uint32_t step, uint32_t output) const {
  uint32_t tensor = 0;
  if (fovea_program_get_step_tensor(model_.get(), program_, step, 0, &tensor) != FOVEA_OK) return {};
  const fovea_tensor_info table = model_.Tensor(tensor);
  const std::optional<uint64_t> rows = RowsOfPicture(model_.Value(program_, output).space);
  if (!rows || table.type != FOVEA_TYPE_I32 || table.rows == 0 || *rows % table.rows != 0) return {};
  const uint64_t pieces = *rows / table.rows;  // each piece has this many rows of the input
  if (from.size() % pieces != 0) return {};
  const uint64_t piece = from.size() / pieces;
  Boxes boxes(*rows);
  for (uint64_t row = 0; row < *rows; ++row) {
    Box& box = boxes[row];
    for (uint32_t k = 0; k < table.width; ++k) {
      int32_t index = 0;
      memcpy(&index, static_cast<const uint8_t*>(table.data) + 4 * (row % table.rows * table.width + k), 4);
      if (index < 0 || static_cast<uint64_t>(index) >= piece) continue;
      const Box& part = from[row / table.rows * piece + static_cast<uint64_t>(index)];
      if (part.right == 0) continue;
      if (box.right == 0) box = part;
      box = {std::min(box.left, part.left), std::min(box.top, part.top), std::max(box.right, part.right),
             std::max(box.bottom, part.bottom)};
    }
  }
  return boxes;
}

std::optional<PictureRows::Layout> PictureRows::Cells(const Boxes& boxes) const {
  std::set<uint32_t> tops, lefts;
  for (const Box& box : boxes) {
    if (box.right != 0) tops.insert(box.top), lefts.insert(box.left);
  }
  if (tops.empty()) return std::nullopt;
  Layout layout;
  layout.grid = {static_cast<uint32_t>(tops.size()), static_cast<uint32_t>(lefts.size())};
  for (const Box& box : boxes) {
    const auto row = std::distance(tops.begin(), tops.find(box.top));
    const auto column = std::distance(lefts.begin(), lefts.find(box.left));
    layout.cells.push_back(box.right == 0 ? -1 : static_cast<int32_t>(row * layout.grid.columns + column));
  }
  return layout;
}

}  // namespace fovea::tools
