// The part for texts of a model that also reads pictures or sound, as a separate model.
#ifndef FOVEA_TOOLS_CONVERT_PUBLISHED_TEXT_PART_H_
#define FOVEA_TOOLS_CONVERT_PUBLISHED_TEXT_PART_H_

#include "tools/base/json.h"
#include "tools/convert/findings.h"
#include "tools/convert/weights.h"

namespace fovea::tools {

// Replaces config.json by the configuration of the decoder of texts. Returns false, and changes nothing, if the model
// has no other part. For texts alone that decoder computes what the whole model does.
bool TakeTextPart(Json& config);

// Gives tensors of the part the names that they have in a model of texts, and ignores the other parts' tensors.
void KeepTextPart(Weights& weights, Findings& findings);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_PUBLISHED_TEXT_PART_H_
