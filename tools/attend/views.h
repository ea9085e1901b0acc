// Single views of a record.
#ifndef FOVEA_TOOLS_ATTEND_VIEWS_H_
#define FOVEA_TOOLS_ATTEND_VIEWS_H_

#include <string>
#include <utility>
#include <vector>

#include "tools/attend/drawing.h"
#include "tools/attend/record.h"

namespace fovea::tools {

enum class View { kHeads, kText, kLines, kMap, kDocument, kAlignment, kPattern, kPicture };

struct ViewChoice {
  View view = View::kMap;
  std::string step;  // by name; empty: the layer's
  int layer = -1;    // of the first part that has it; -1: the last
  int head = -1;     // its number; -1: the mean of those that were kept
  int row = -1;      // of the query space; -1: the first that was kept
  bool dark = false;
};

// Fails where the record has nothing of the kind.
Drawing DrawView(const AttentionRecord& record, const ViewChoice& choice);

// ---- What views are made of.

// A number of a line, with the row of the key space that it is of.
using KeyWeight = std::pair<uint32_t, double>;
// Line `line` of a step; hidden keys of dense scores are left out.
std::vector<KeyWeight> LineOf(const AttentionRecord& record, const RecordStep& step, size_t line);
// The same of kept row `row`: of a head, by its place among those kept, or the mean of all (-1).
std::vector<KeyWeight> RowOf(const AttentionRecord& record, const RecordStep& step, size_t row, int head);

const RecordStep& ChosenStep(const AttentionRecord& record, const ViewChoice& choice);
// The place of a head among those that a step kept.
int ChosenHead(const RecordStep& step, int head);
// The place of a row among those that a step kept.
size_t ChosenRow(const RecordStep& step, int row);
// What a row is called: its label, or its number.
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

// What the ends of the colors stand for: from 0 for weights, from the least for scores.
struct NumberScale {
  bool scores;
  double least = 0, most = 1;

  NumberScale(const RecordStep& step, const std::vector<std::vector<KeyWeight>>& lines);
  // From 0 to 1.
  double At(double number) const { return (number - least) / (most - least); }
};
// A bar of it, at the top.
void DrawScale(double x, double y, const NumberScale& scale, Drawing* drawing);
// Numbers as titles show them.
std::string NumberText(double number);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_ATTEND_VIEWS_H_
