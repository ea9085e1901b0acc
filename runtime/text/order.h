// Canonical order of combining marks and canonical composition (UAX 15), after a decomposing map.
#ifndef FOVEA_RUNTIME_TEXT_ORDER_H_
#define FOVEA_RUNTIME_TEXT_ORDER_H_

#include "runtime/text/buffer.h"
#include "runtime/text/tokenizer.h"

namespace fovea::text {

void CanonicalOrder(const Tokenizer& tokenizer, const Step& step, const View& in, Buffer* out);

}  // namespace fovea::text

#endif  // FOVEA_RUNTIME_TEXT_ORDER_H_
