// The rules that define which fields of an attention can be combined.
#ifndef FOVEA_RUNTIME_ATTENTION_RULES_H_
#define FOVEA_RUNTIME_ATTENTION_RULES_H_

#include "runtime/attention/attention.h"

namespace fovea {

// The message of the first broken rule, or null.
const char* BrokenRule(const AttentionSpec&);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_ATTENTION_RULES_H_
