// Whether the rows that a selection does not choose are dropped.
#include "tools/attend/dropped_rows.h"

#include <string.h>

namespace fovea::tools {
namespace {

constexpr uint32_t kAttended = 3;  // inputs 0 to 2 of attention are queries, keys and values

// Whether rows of `space` come from `ancestor` (the same, nested or derived) without a selection in between.
bool IsOf(const Model& model, uint32_t space, uint32_t ancestor) {
  if (space == ancestor) return true;
  const SpaceRecord record = model.SpaceRecordOf(space);
  if (SpaceHasSource(record.kind) && record.kind != SpaceKind::kSelected && IsOf(model, record.source, ancestor)) {
    return true;
  }
  return record.kind != SpaceKind::kSelected && record.parent != kBlobNone && IsOf(model, record.parent, ancestor);
}

// Same for selected rows, including rows that `expand` chooses within them.
bool IsOfSelected(const Model& model, uint32_t space, uint32_t selected) {
  const uint32_t parent = model.SpaceRecordOf(space).parent;
  return IsOf(model, space, selected) || (parent != kBlobNone && IsOfSelected(model, parent, selected));
}

// Whether an operation combines rows of a segment.
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
      const bool looks = attention && input == 0;  // a query reads chosen rows but is not read
      // A pool at the end may read all rows; the rest have their values from before the selection.
      if (!looks && !pool && IsOf(model, space, record.source)) return false;
      continues = continues || IsOfSelected(model, space, selected);
    }
  }
  return continues;
}

}  // namespace fovea::tools
