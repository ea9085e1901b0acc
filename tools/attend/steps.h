// Adds the attention maps in a session's taps to a record.
#ifndef FOVEA_TOOLS_ATTEND_STEPS_H_
#define FOVEA_TOOLS_ATTEND_STEPS_H_

#include "tools/attend/rows.h"
#include "tools/attend/tap_plan.h"

namespace fovea::tools {

// Call after a run of a session with the plan's taps.
void AddSteps(const Model& model, const Session& session, const TapPlan& plan, Rows* rows, AttentionRecord* record);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_ATTEND_STEPS_H_
