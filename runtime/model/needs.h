// Lists the parts of the library that a model needs, as lines of a profile (runtime/base/profile.h).
#ifndef FOVEA_RUNTIME_MODEL_NEEDS_H_
#define FOVEA_RUNTIME_MODEL_NEEDS_H_

#include "runtime/model/model.h"

namespace fovea {

// Calls line(context, kind, name, count): "kind name", or with a count "limit name count". Each line comes once.
void ListNeeds(const Model& model, void (*line)(void* context, const char* kind, const char* name, uint32_t count),
               void* context);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_MODEL_NEEDS_H_
