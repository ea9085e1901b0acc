// Extended grapheme clusters (UAX 29), restricted to clusters shorter than six bytes: the Indic conjunct rule, whose
// clusters are longer, is left out.
#ifndef FOVEA_RUNTIME_TEXT_GRAPHEME_H_
#define FOVEA_RUNTIME_TEXT_GRAPHEME_H_

#include "runtime/text/buffer.h"
#include "runtime/text/table.h"

namespace fovea::text {

// Bytes of the cluster that starts at byte `at` of `text`.
uint32_t GraphemeSize(Table<uint32_t> classes, const View& text, uint32_t at);

}  // namespace fovea::text

#endif  // FOVEA_RUNTIME_TEXT_GRAPHEME_H_
