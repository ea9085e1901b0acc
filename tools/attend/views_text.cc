// Views of texts and images.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tools/attend/views.h"
#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

constexpr double kWide = 720;  // width of a line of text
constexpr size_t kMostLines = 60000;

// Draws words in lines on the color of their weights; returns the position of the next line.
double FlowText(const RecordSpace& space, uint32_t begin, uint32_t end, const std::map<uint32_t, double>& weights,
                const NumberScale& scale, int marked, double y, Drawing* drawing) {
  double x = 12;
  for (uint32_t row = begin; row < end; ++row) {
    const std::string name = NameOf(space, row);
    const double width = Drawing::TextWidth(name) + 4;
    if (x > 12 && x + width > kWide) x = 12, y += 20;
    const auto found = weights.find(row);
    const bool hidden = found == weights.end() && scale.scores;
    const double number = found == weights.end() ? scale.least : found->second;
    const Color color = ScaleColor(scale.At(number), drawing->theme().dark);
    drawing->Rectangle(x, y - 12, width, 16, color,
                       fmt::format("{}: {}", name, hidden ? "hidden" : NumberText(number)));
    drawing->TextIn(x + 2, y, name, drawing->theme().InkOn(color));
    if (static_cast<int>(row) == marked) drawing->Line(x, y + 5.5, x + width, y + 5.5, 2, drawing->theme().ink(), 1);
    x += width + 2;
  }
  return y + 24;
}

}  // namespace

void DrawText(const AttentionRecord& record, const RecordStep& step, const ViewChoice& choice, Drawing* drawing) {
  const int head = ChosenHead(step, choice.head);
  const size_t row = ChosenRow(step, choice.row);
  const std::vector<KeyWeight> line = RowOf(record, step, row, head);
  const RecordSpace& keys = record.spaces[step.key_space];
  const uint32_t segment = record.KeySegment(step, step.rows[row]);
  const NumberScale scale(step, {line});
  drawing->Text(12, 18,
                fmt::format("{}: attention of row {} ({})", step.name, step.rows[row],
                            NameOf(record.spaces[step.query_space], step.rows[row])));
  DrawScale(12, 26, scale, drawing);
  const int marked = step.query_space == step.key_space ? static_cast<int>(step.rows[row]) : -1;
  FlowText(keys, keys.offsets[segment], keys.offsets[segment + 1], {line.begin(), line.end()}, scale, marked, 72,
           drawing);
}

void DrawLines(const AttentionRecord& record, const RecordStep& step, const ViewChoice& choice, Drawing* drawing) {
  const int head = ChosenHead(step, choice.head);
  const RecordSpace &queries = record.spaces[step.query_space], &keys = record.spaces[step.key_space];
  const uint32_t segment = record.KeySegment(step, step.rows[ChosenRow(step, choice.row)]);
  const uint32_t begin = keys.offsets[segment];
  double left = 60;
  std::vector<size_t> rows;
  for (size_t r = 0; r < step.rows.size(); ++r) {
    if (record.KeySegment(step, step.rows[r]) != segment) continue;
    if (choice.row >= 0 && step.rows[r] != static_cast<uint32_t>(choice.row)) continue;
    rows.push_back(r);
    left = std::max(left, 20 + Drawing::TextWidth(NameOf(queries, step.rows[r])));
  }
  drawing->Text(12, 18, fmt::format("{}: queries on the left, keys on the right", step.name));
  const double right = left + 180;
  const auto at = [](size_t i) { return 44 + 16 * static_cast<double>(i); };
  size_t drawn = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    drawing->Text(left - 6, at(i) + 4, NameOf(queries, step.rows[rows[i]]), Anchor::kEnd);
    for (const auto& [key, weight] : RowOf(record, step, rows[i], head)) {
      if (!(weight > 0.001)) continue;  // too faint to see
      if (++drawn > kMostLines) Fail("step {}: too many lines for one view; use --row", step.name);
      drawing->Line(
          left, at(i), right, at(key - begin), 2, ScaleColor(0.8, drawing->theme().dark), std::min(1.0, weight),
          fmt::format("{} > {}: {}", NameOf(queries, step.rows[rows[i]]), NameOf(keys, key), NumberText(weight)));
    }
  }
  for (uint32_t key = begin; key < keys.offsets[segment + 1]; ++key) {
    drawing->Text(right + 6, at(key - begin) + 4, NameOf(keys, key));
  }
}

void DrawDocument(const AttentionRecord& record, const ViewChoice& choice, Drawing* drawing) {
  // The deciding steps, from the outermost level down.
  std::vector<const RecordStep*> levels;
  for (const std::string& name : record.explain) {
    for (const RecordStep& step : record.steps) {
      if (step.name == name && step.form != StepForm::kPattern && !step.scores) levels.push_back(&step);
    }
  }
  if (levels.empty()) {
    for (const RecordStep& step : record.steps) {
      if (step.part == "pool" && step.form != StepForm::kPattern && !step.scores) levels.push_back(&step);
    }
    std::reverse(levels.begin(), levels.end());
  }
  if (levels.empty()) Fail("the model has no attention pooling levels to show; use another --view");
  // For each level, the weight of each key in its segment: that of the segment's first tapped row.
  std::vector<std::map<uint32_t, double>> shares;
  for (const RecordStep* level : levels) {
    std::map<uint32_t, double>& share = shares.emplace_back();
    std::vector<uint32_t> seen;
    for (size_t r = 0; r < level->rows.size(); ++r) {
      const uint32_t segment = record.KeySegment(*level, level->rows[r]);
      if (std::find(seen.begin(), seen.end(), segment) != seen.end()) continue;
      seen.push_back(segment);
      for (const auto& [key, weight] : RowOf(record, *level, r, -1)) share[key] = weight;
    }
  }
  drawing->Text(12, 18, "attention pooling weights of each sentence, and of each word in it");
  const RecordStep& inner = *levels.back();
  const RecordSpace& words = record.spaces[inner.key_space];
  const uint32_t only = choice.row < 0 ? UINT32_MAX : static_cast<uint32_t>(choice.row);
  double y = 44;
  if (words.count() > kMostLines) Fail("a document of {} words does not fit in one view", words.count());
  for (uint32_t segment = 0; segment < words.segments(); ++segment) {
    const bool nested = levels.size() > 1 && words.parent == static_cast<int>(levels[levels.size() - 2]->key_space);
    if (only != UINT32_MAX && segment != only) continue;
    if (nested) {
      const auto& outer = shares[levels.size() - 2];
      const auto found = outer.find(segment);
      const double share = found == outer.end() ? 0 : found->second;
      drawing->Rectangle(
          12, y - 10, 200 * std::min(1.0, std::max(0.0, share)), 10, ScaleColor(share, drawing->theme().dark),
          fmt::format("{}: {}", NameOf(record.spaces[static_cast<size_t>(words.parent)], segment), NumberText(share)));
      drawing->Text(220, y, fmt::format("{:.4f}", share));
      y += 20;
    }
    std::vector<KeyWeight> line;
    for (uint32_t word = words.offsets[segment]; word < words.offsets[segment + 1]; ++word) {
      line.emplace_back(word, shares.back()[word]);
    }
    y = FlowText(words, words.offsets[segment], words.offsets[segment + 1], {line.begin(), line.end()},
                 NumberScale(inner, {line}), -1, y, drawing);
  }
}

void DrawPicture(const AttentionRecord& record, const RecordStep& step, const ViewChoice& choice, Drawing* drawing) {
  const int head = ChosenHead(step, choice.head);
  const size_t row = ChosenRow(step, choice.row);
  const RecordSpace& keys = record.spaces[step.key_space];
  if (keys.rows.cells.empty()) Fail("step {}: its keys are not parts of an image", step.name);
  const std::vector<KeyWeight> line = RowOf(record, step, row, head);
  const NumberScale scale(step, {line});
  const uint32_t segment = record.KeySegment(step, step.rows[row]);
  const RecordImage* image = nullptr;
  for (uint32_t key = keys.offsets[segment]; key < keys.offsets[segment + 1] && image == nullptr; ++key) {
    if (keys.rows.cells[key]) image = &record.images[keys.rows.cells[key]->image];
  }
  if (image == nullptr) Fail("step {}: its keys are not parts of an image", step.name);
  const RecordImage& shown = image->of < 0 ? *image : record.images[static_cast<size_t>(image->of)];
  drawing->Text(12, 18, fmt::format("{}: attention of row {}", step.name, step.rows[row]));
  DrawScale(12, 26, scale, drawing);
  const double size = 448.0 / std::max(1u, std::max(image->width, image->height));
  const double left = 12, top = 60, width = size * image->width, height = size * image->height;
  if (!shown.png.empty()) drawing->Image(left, top, width, height, shown.png);
  const double across = width / std::max(1u, image->grid.columns), down = height / std::max(1u, image->grid.rows);
  const auto place = [&](uint32_t cell) {
    return std::make_pair(left + across * (cell % image->grid.columns), top + down * (cell / image->grid.columns));
  };
  for (const auto& [key, weight] : line) {
    if (!keys.rows.cells[key]) continue;
    const auto [x, y] = place(keys.rows.cells[key]->cell);
    drawing->Shade(x, y, across, down, ScaleColor(scale.At(weight), drawing->theme().dark),
                   shown.png.empty() ? 1 : 0.65,
                   fmt::format("cell {}: {}", keys.rows.cells[key]->cell, NumberText(weight)));
  }
  const RecordSpace& queries = record.spaces[step.query_space];
  if (step.rows[row] >= queries.rows.cells.size() || !queries.rows.cells[step.rows[row]]) return;
  const auto [x, y] = place(queries.rows.cells[step.rows[row]]->cell);
  const Color ink = drawing->theme().ink();
  drawing->Line(x, y, x + across, y, 2, ink, 1);
  drawing->Line(x, y + down, x + across, y + down, 2, ink, 1);
  drawing->Line(x, y, x, y + down, 2, ink, 1);
  drawing->Line(x + across, y, x + across, y + down, 2, ink, 1);
}

}  // namespace fovea::tools
