// Single views of a record, as drawings.
#ifndef FOVEA_TOOLS_ATTEND_VIEWS_H_
#define FOVEA_TOOLS_ATTEND_VIEWS_H_

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tools/attend/drawing.h"
#include "tools/attend/record.h"

namespace fovea::tools {

enum class View { kHeads, kText, kLines, kMap, kDocument, kAlignment, kPattern, kPicture };

struct ViewChoice {
  View view = View::kMap;
  std::string step;  // name; empty: by layer
  int layer = -1;    // in the first part that has it; -1: the last
  int head = -1;     // number of the head; -1: mean of the kept heads
  int row = -1;      // row of the query space; -1: the first kept row
  bool dark = false;
};

// Fails if the record has no data for the view.
Drawing DrawView(const AttentionRecord& record, const ViewChoice& choice);

// ---- Parts of views.

// (row of the key space, weight)
using KeyWeight = std::pair<uint32_t, double>;
// Line `line` of a step, without masked keys of dense scores.
std::vector<KeyWeight> LineOf(const AttentionRecord& record, const RecordStep& step, size_t line);
// Line of kept row `row`: of the head at index `head` among the kept heads, or the mean of all (-1).
std::vector<KeyWeight> RowOf(const AttentionRecord& record, const RecordStep& step, size_t row, int head);

const RecordStep& ChosenStep(const AttentionRecord& record, const ViewChoice& choice);
// Index of a head among the kept heads of a step.
int ChosenHead(const RecordStep& step, int head);
// Index of a row among the kept rows of a step.
size_t ChosenRow(const RecordStep& step, int row);
// The label of a row, or its time, or its number.
std::string NameOf(const RecordSpace& space, uint32_t row);

// views_grid.cc
void DrawMap(const AttentionRecord& record, const RecordStep& step, const ViewChoice& choice, bool alignment,
             Drawing* drawing);
void DrawHeads(const AttentionRecord& record, const RecordStep& step, const ViewChoice& choice, Drawing* drawing);
void DrawPattern(const AttentionRecord& record, const RecordStep& step, const ViewChoice& choice, Drawing* drawing);
// views_text.cc
void DrawText(const AttentionRecord& record, const RecordStep& step, const ViewChoice& choice, Drawing* drawing);
void DrawLines(const AttentionRecord& record, const RecordStep& step, const ViewChoice& choice, Drawing* drawing);
void DrawDocument(const AttentionRecord& record, const ViewChoice& choice, Drawing* drawing);
void DrawPicture(const AttentionRecord& record, const RecordStep& step, const ViewChoice& choice, Drawing* drawing);

// Range of the color scale: from 0 for weights, from the minimum for scores.
// The range of colors. If a few lines have far greater weights than the rest, as the first rows of a causal model, it
// ends where three of four lines do, as on pages (page/matrix_source.mjs).
struct NumberScale {
  bool scores;
  double least = 0, most = 1;
  double greatest = 1;  // the largest of all numbers

  NumberScale(const RecordStep& step, const std::vector<std::vector<KeyWeight>>& lines);
  // Position in the range, 0 to 1.
  double At(double number) const { return std::min(1.0, (number - least) / (most - least)); }
};
// Draws a color bar at the top.
void DrawScale(double x, double y, const NumberScale& scale, Drawing* drawing);
// Formats numbers for tooltips.
std::string NumberText(double number);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_ATTEND_VIEWS_H_
