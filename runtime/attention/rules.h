// What goes with what: the one place that says which fields of an attention may stand together.
#ifndef FOVEA_RUNTIME_ATTENTION_RULES_H_
#define FOVEA_RUNTIME_ATTENTION_RULES_H_

#include "runtime/attention/attention.h"

namespace fovea {

// The first rule that is broken, as a text; null: none is.
const char* BrokenRule(const AttentionSpec&);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_ATTENTION_RULES_H_
