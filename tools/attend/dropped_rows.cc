// Whether a selection of rows drops the rest.
#include "tools/attend/dropped_rows.h"

#include <string.h>

namespace fovea::tools {
namespace {

constexpr uint32_t kAttended = 3;  // the first inputs of attention: queries, keys, values

// Whether rows of `space` are those of `ancestor`: the same, within them, or made of them other than by selecting some.
bool IsOf(const Model& model, uint32_t space, uint32_t ancestor) {
  if (space == ancestor) return true;
  const SpaceRecord record = model.SpaceRecordOf(space);
  if (SpaceHasSource(record.kind) && record.kind != SpaceKind::kSelected && IsOf(model, record.source, ancestor)) {
    return true;
  }
  return record.kind != SpaceKind::kSelected && record.parent != kBlobNone && IsOf(model, record.parent, ancestor);
}

// The same of selected rows, among which are those that `expand` chooses within them.
bool IsOfSelected(const Model& model, uint32_t space, uint32_t selected) {
  const uint32_t parent = model.SpaceRecordOf(space).parent;
  return IsOf(model, space, selected) || (parent != kBlobNone && IsOfSelected(model, parent, selected));
}

// Whether a step brings rows of a segment together.
bool Mixes(const fovea_step_info& step, bool one_row) {
  return strcmp(step.op, "attention") == 0 || strcmp(step.op, "recurrent") == 0 ||
         (strcmp(step.op, "pool") == 0 && !one_row);
}

}  // namespace

bool DropsRows(const Model& model, uint32_t program, uint32_t step) {
  const uint32_t selected = model.Value(program, model.Step(program, step).output).space;
  const SpaceRecord record = model.SpaceRecordOf(selected);
  bool continues = false;
  for (uint32_t later = step + 1; later < model.Program(program).step_count; ++later) {
    const fovea_step_info info = model.Step(program, later);
    if (!Mixes(info, record.extra == 1)) continue;
    const bool attention = strcmp(info.op, "attention") == 0, pool = strcmp(info.op, "pool") == 0;
    for (uint32_t input = 0; input < (attention ? kAttended : 1); ++input) {
      const uint32_t space = model.Value(program, model.StepInput(program, later, input)).space;
      const bool looks = attention && input == 0;  // a row that looks at chosen ones is not looked at
      // A pool at the end may read all rows, the others as they were when the selection was made.
      if (!looks && !pool && IsOf(model, space, record.source)) return false;
      continues = continues || IsOfSelected(model, space, selected);
    }
  }
  return continues;
}

}  // namespace fovea::tools
