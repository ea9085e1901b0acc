// Single views of a record, as drawings.
#include "tools/attend/views.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "tools/base/fail.h"

namespace fovea::tools {

std::string NumberText(double number) { return fmt::format("{:.9g}", number); }

std::string NameOf(const RecordSpace& space, uint32_t row) {
  const std::vector<std::string>& labels = space.rows.labels;
  if (row < labels.size() && !labels[row].empty()) return labels[row];
  if (row < space.rows.times.size() && space.rows.times[row]) {
    return fmt::format("{:.2f} s", space.rows.times[row]->begin);
  }
  return std::to_string(row);
}

std::vector<KeyWeight> LineOf(const AttentionRecord& record, const RecordStep& step, size_t line) {
  std::vector<KeyWeight> weights;
  const uint64_t begin = step.line_offsets[line], end = step.line_offsets[line + 1];
  uint32_t first = 0;
  if (step.form == StepForm::kDense) {
    const uint32_t segment = record.KeySegment(step, step.rows[line / step.line_heads()]);
    first = record.spaces[step.key_space].offsets[segment];
  }
  for (uint64_t i = begin; i < end; ++i) {
    const auto key = step.form == StepForm::kDense ? first + static_cast<uint32_t>(i - begin) : step.keys[i];
    const double weight = step.weights[i];
    if (weight != -std::numeric_limits<double>::infinity()) weights.emplace_back(key, weight);
  }
  return weights;
}

std::vector<KeyWeight> RowOf(const AttentionRecord& record, const RecordStep& step, size_t row, int head) {
  const uint32_t heads = step.line_heads();
  if (head >= 0) return LineOf(record, step, row * heads + static_cast<size_t>(head));
  std::map<uint32_t, double> sums;
  for (uint32_t h = 0; h < heads; ++h) {
    for (const auto& [key, weight] : LineOf(record, step, row * heads + h)) sums[key] += weight / heads;
  }
  return {sums.begin(), sums.end()};
}

const RecordStep& ChosenStep(const AttentionRecord& record, const ViewChoice& choice) {
  std::string known;
  const RecordStep* chosen = nullptr;
  const bool aligns = choice.view == View::kAlignment;
  for (const RecordStep& step : record.steps) {
    known += " " + step.name;
    if (!choice.step.empty() && step.name != choice.step) continue;
    if (choice.step.empty() && choice.layer >= 0 && static_cast<int>(step.layer) != choice.layer) continue;
    if (choice.step.empty() && aligns && step.part != "cross") continue;
    // The first part with the layer; without a layer the last step.
    if (chosen == nullptr || (choice.step.empty() && choice.layer < 0)) chosen = &step;
  }
  if (chosen != nullptr) return *chosen;
  if (!choice.step.empty()) Fail("no step '{}' was kept; kept steps:{}", choice.step, known);
  if (aligns) Fail("no cross-attention was kept; kept steps:{}", known);
  Fail("no step of layer {} was kept; kept steps:{}", choice.layer, known);
}

int ChosenHead(const RecordStep& step, int head) {
  if (head < 0) return -1;
  const auto found = std::find(step.heads.begin(), step.heads.end(), static_cast<uint32_t>(head));
  if (found == step.heads.end()) Fail("step {}: head {} was not kept", step.name, head);
  return static_cast<int>(found - step.heads.begin());
}

size_t ChosenRow(const RecordStep& step, int row) {
  if (step.rows.empty()) Fail("step {}: no row was kept", step.name);
  if (row < 0) return 0;
  const auto found = std::find(step.rows.begin(), step.rows.end(), static_cast<uint32_t>(row));
  if (found == step.rows.end()) Fail("step {}: row {} was not kept", step.name, row);
  return static_cast<size_t>(found - step.rows.begin());
}

constexpr double kOutlying = 2;  // the greatest weight, compared with that of three lines of four

NumberScale::NumberScale(const RecordStep& step, const std::vector<std::vector<KeyWeight>>& lines)
    : scores(step.scores) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double low = scores ? kInfinity : 0, high = scores ? -kInfinity : 0;
  std::vector<double> tops;
  for (const auto& line : lines) {
    double top = 0;
    for (const auto& [key, number] : line) {
      low = scores ? std::min(low, number) : 0, high = std::max(high, number), top = std::max(top, number);
    }
    tops.push_back(top);
  }
  least = std::isfinite(low) ? low : 0;
  most = greatest = std::isfinite(high) && high > least ? high : least + 1;
  if (scores || tops.empty()) return;
  const auto usual = tops.begin() + static_cast<ptrdiff_t>((tops.size() - 1) * 3 / 4);
  std::nth_element(tops.begin(), usual, tops.end());
  if (*usual > 0 && most > kOutlying * *usual) most = *usual;
}

void DrawScale(double x, double y, const NumberScale& scale, Drawing* drawing) {
  constexpr int kParts = 32;
  const bool dark = drawing->theme().dark;
  for (int i = 0; i < kParts; ++i) drawing->Rectangle(x + 4 * i, y, 4.2, 8, ScaleColor((i + 0.5) / kParts, dark));
  drawing->Text(x, y + 20, fmt::format("{:.3g}", scale.least));
  if (scale.greatest == scale.most) {
    drawing->Text(x + 4 * kParts, y + 20, fmt::format("{:.3g}", scale.most), Anchor::kEnd);
  } else {
    drawing->Text(x + 4 * kParts - 24, y + 20,
                  fmt::format("{:.3g} and more, up to {:.3g}", scale.most, scale.greatest));
  }
}

Drawing DrawView(const AttentionRecord& record, const ViewChoice& choice) {
  Drawing drawing(Theme{choice.dark});
  if (choice.view == View::kDocument) {
    DrawDocument(record, choice, &drawing);
    return drawing;
  }
  const RecordStep& step = ChosenStep(record, choice);
  if (step.scores && (choice.view == View::kLines || choice.view == View::kAlignment)) {
    Fail("step {} has scores, but this view shows weights; leave out --scores", step.name);
  }
  if (step.form == StepForm::kPattern && choice.view != View::kPattern) {
    Fail("step {} has keys without weights; use --view pattern", step.name);
  }
  switch (choice.view) {
    case View::kHeads:
      DrawHeads(record, step, choice, &drawing);
      break;
    case View::kText:
      DrawText(record, step, choice, &drawing);
      break;
    case View::kLines:
      DrawLines(record, step, choice, &drawing);
      break;
    case View::kMap:
      DrawMap(record, step, choice, false, &drawing);
      break;
    case View::kAlignment:
      DrawMap(record, step, choice, true, &drawing);
      break;
    case View::kPattern:
      DrawPattern(record, step, choice, &drawing);
      break;
    case View::kPicture:
      DrawPicture(record, step, choice, &drawing);
      break;
    case View::kDocument:
      break;
  }
  return drawing;
}

}  // namespace fovea::tools
