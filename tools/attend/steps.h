// What the taps of a session kept, in a record.
#ifndef FOVEA_TOOLS_ATTEND_STEPS_H_
#define FOVEA_TOOLS_ATTEND_STEPS_H_

#include "tools/attend/rows.h"
#include "tools/attend/tap_plan.h"

namespace fovea::tools {

// After a run of a session with the plan's taps.
void AddSteps(const Model& model, const Session& session, const TapPlan& plan, Rows* rows, AttentionRecord* record);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_ATTEND_STEPS_H_
