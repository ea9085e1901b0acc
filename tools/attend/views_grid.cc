// Views with a line for each query row and a column for each key.
#include <fmt/format.h>

#include <algorithm>

#include "tools/attend/pixels.h"
#include "tools/attend/views.h"
#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

constexpr size_t kMostCells = 250000;  // most cells of a view: more than any screen has

// Kept query rows that attend to one segment of keys, and that segment.
struct Block {
  std::vector<size_t> rows;  // indices among the kept rows
  uint32_t begin = 0, end = 0;
};

Block BlockOf(const AttentionRecord& record, const RecordStep& step, int row) {
  const RecordSpace& keys = record.spaces[step.key_space];
  const size_t chosen = ChosenRow(step, row);
  Block block;
  // With attention pooling each row has its own segment of keys: all rows and keys are shown in one block.
  const bool pools = keys.parent == static_cast<int>(step.query_space);
  const uint32_t segment = record.KeySegment(step, step.rows[chosen]);
  block.begin = pools ? 0 : keys.offsets[segment];
  block.end = pools ? keys.count() : keys.offsets[segment + 1];
  for (size_t r = 0; r < step.rows.size(); ++r) {
    if (pools || record.KeySegment(step, step.rows[r]) == segment) block.rows.push_back(r);
  }
  if (block.rows.size() * (block.end - block.begin) > kMostCells) {
    Fail("step {}: {} rows of {} keys do not fit in one view; keep fewer with --rows stride", step.name,
         block.rows.size(), block.end - block.begin);
  }
  return block;
}

// Cut to a width of 24 columns.
std::string Shown(const std::string& name) {
  if (Drawing::TextWidth(name) <= 24 * kColumn) return name;
  size_t at = name.size();
  while (at > 0 && Drawing::TextWidth(name.substr(0, at)) > 21 * kColumn) {
    do --at;
    while (at > 0 && (static_cast<uint8_t>(name[at]) & 0xc0) == 0x80);
  }
  return name.substr(0, at) + "...";
}

std::string RowName(const AttentionRecord& record, const RecordStep& step, size_t row, bool writes) {
  const RecordSpace& space = record.spaces[step.query_space];
  const uint32_t number = step.rows[row];
  if (writes && number < space.rows.writes.size() && !space.rows.writes[number].empty()) {
    return space.rows.writes[number];
  }
  return NameOf(space, number);
}

std::string HeadText(const RecordStep& step, int head) {
  if (!step.reduced.empty()) return step.reduced + " of heads";
  if (head < 0) return step.heads.size() == 1 ? fmt::format("head {}", step.heads[0]) : "mean of heads";
  return fmt::format("head {}", step.heads[static_cast<size_t>(head)]);
}

}  // namespace

void DrawMap(const AttentionRecord& record, const RecordStep& step, const ViewChoice& choice, bool alignment,
             Drawing* drawing) {
  const int head = ChosenHead(step, choice.head);
  const Block block = BlockOf(record, step, choice.row);
  const RecordSpace& keys = record.spaces[step.key_space];
  std::vector<std::vector<KeyWeight>> lines;
  double left = 64, top = 40;
  for (const size_t row : block.rows) {
    lines.push_back(RowOf(record, step, row, head));
    left = std::max(left, 24 + Drawing::TextWidth(Shown(RowName(record, step, row, alignment))));
  }
  for (uint32_t key = block.begin; key < block.end; ++key) {
    top = std::max(top, 16 + Drawing::TextWidth(Shown(NameOf(keys, key))));
  }
  const double cell = block.end - block.begin > 200 || block.rows.size() > 200 ? 4 : 14;
  const NumberScale scale(step, lines);
  const bool named = cell >= 10;
  drawing->Text(12, 18, fmt::format("{}, {}", step.name, HeadText(step, head)));
  DrawScale(12, 26, scale, drawing);
  top += 56;
  drawing->Text(12, top - 6, "query");
  drawing->Text(left, 62, fmt::format("key ({})", keys.name));
  for (uint32_t key = block.begin; named && key < block.end; ++key) {
    drawing->Text(left + cell * (key - block.begin) + cell - 4, top - 4, Shown(NameOf(keys, key)), Anchor::kStart,
                  true);
  }
  for (size_t r = 0; r < lines.size(); ++r) {
    const double y = top + cell * static_cast<double>(r);
    const std::string name = RowName(record, step, block.rows[r], alignment);
    if (named) drawing->Text(left - 6, y + cell - 4, Shown(name), Anchor::kEnd);
    for (const auto& [key, weight] : lines[r]) {
      if (key < block.begin || key >= block.end) continue;
      drawing->Rectangle(left + cell * (key - block.begin), y, cell - (named ? 1 : 0), cell - (named ? 1 : 0),
                         ScaleColor(scale.At(weight), drawing->theme().dark),
                         fmt::format("{} > {}: {}", name, NameOf(keys, key), NumberText(weight)));
    }
  }
}

void DrawHeads(const AttentionRecord& record, const RecordStep& step, const ViewChoice& choice, Drawing* drawing) {
  std::vector<const RecordStep*> layers;
  for (const RecordStep& other : record.steps) {
    if (other.part == step.part && other.form != StepForm::kPattern) layers.push_back(&other);
  }
  drawing->Text(12, 18,
                fmt::format("{} layers and their heads: a line for each row, a column for each key", step.part));
  double y = 34;
  size_t cells = 0;
  for (const RecordStep* layer : layers) {
    const Block block = BlockOf(record, *layer, layer->query_space == step.query_space ? choice.row : -1);
    const double keys = std::max(1u, block.end - block.begin), rows = static_cast<double>(block.rows.size());
    const double cell = std::clamp(96.0 / std::max(keys, rows), 1.0, 12.0);
    cells += block.rows.size() * (block.end - block.begin) * layer->line_heads();
    if (cells > kMostCells) Fail("the weights of these heads do not fit in one view; use --layers or --rows stride");
    drawing->Text(12, y + 10, Shown(layer->name));
    for (uint32_t head = 0; head < layer->line_heads(); ++head) {
      std::vector<std::vector<KeyWeight>> lines;
      for (const size_t row : block.rows) lines.push_back(RowOf(record, *layer, row, static_cast<int>(head)));
      const NumberScale scale(*layer, lines);
      const double x = 190 + head * (keys * cell + 14);
      const int place = layer->heads.empty() ? -1 : static_cast<int>(head);
      drawing->Text(x, y + 10, HeadText(*layer, place));
      drawing->Rectangle(x, y + 14, keys * cell, rows * cell, ScaleColor(0, drawing->theme().dark));
      for (size_t r = 0; r < lines.size(); ++r) {
        for (const auto& [key, weight] : lines[r]) {
          if (key < block.begin || key >= block.end || (weight <= 0 && !scale.scores)) continue;
          drawing->Rectangle(x + cell * (key - block.begin), y + 14 + cell * static_cast<double>(r), cell, cell,
                             ScaleColor(scale.At(weight), drawing->theme().dark),
                             fmt::format("{} > {}: {}", RowName(record, *layer, block.rows[r], false),
                                         NameOf(record.spaces[layer->key_space], key), NumberText(weight)));
        }
      }
    }
    y += 32 + rows * cell;
  }
}

void DrawPattern(const AttentionRecord& record, const RecordStep& step, const ViewChoice& choice, Drawing* drawing) {
  const int head = ChosenHead(step, choice.head);
  const RecordSpace& keys = record.spaces[step.key_space];
  const size_t chosen = ChosenRow(step, choice.row);
  const uint32_t segment = record.KeySegment(step, step.rows[chosen]);
  const bool pools = keys.parent == static_cast<int>(step.query_space);
  const uint32_t begin = pools ? 0 : keys.offsets[segment], end = pools ? keys.count() : keys.offsets[segment + 1];
  std::vector<size_t> rows;
  for (size_t r = 0; r < step.rows.size(); ++r) {
    if (pools || record.KeySegment(step, step.rows[r]) == segment) rows.push_back(r);
  }
  const double size = std::max<double>(end - begin, static_cast<double>(rows.size()));
  const double cell = std::clamp(640.0 / std::max(1.0, size), 0.0, 14.0);
  drawing->Text(12, 18, fmt::format("{}, {}: keys that each row attends to", step.name, HeadText(step, head)));
  drawing->Text(12, 54, "query");
  drawing->Text(60, 36, fmt::format("key ({})", keys.name));
  drawing->Rectangle(60, 44, cell * (end - begin), cell * static_cast<double>(rows.size()), drawing->theme().faint());
  // Skips rows beyond what a screen can show.
  const size_t step_rows = std::max<size_t>(1, rows.size() / 640);
  for (size_t r = 0; r < rows.size(); r += step_rows) {
    const double y = 44 + cell * static_cast<double>(r);
    const auto line = RowOf(record, step, rows[r], head);
    for (size_t i = 0; i < line.size();) {
      if (line[i].second == 0) {
        ++i;
        continue;
      }
      size_t last = i;
      while (last + 1 < line.size() && line[last + 1].first == line[last].first + 1 && line[last + 1].second != 0)
        ++last;
      drawing->Rectangle(60 + cell * (line[i].first - begin), y, cell * static_cast<double>(last - i + 1),
                         cell * static_cast<double>(step_rows), ScaleColor(0.75, drawing->theme().dark),
                         fmt::format("row {}: keys {} to {}", step.rows[rows[r]], line[i].first, line[last].first));
      i = last + 1;
    }
  }
}

}  // namespace fovea::tools
