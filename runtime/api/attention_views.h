// Reads the array arguments of fovea/attention.h: replaces strides of 0 by their defaults and checks that an array
// stays in the address space.
#ifndef FOVEA_RUNTIME_API_ATTENTION_VIEWS_H_
#define FOVEA_RUNTIME_API_ATTENTION_VIEWS_H_

#include "fovea/attention.h"
#include "runtime/attention/attention.h"
#include "runtime/base/status.h"

namespace fovea {

// The number of segments, and whether a view may have a segment_stride.
struct ViewShape {
  uint32_t tensor;  // for the error record
  uint32_t heads, width, segments;
};

// If `scales` is null, only f32 is allowed.
Status ReadRows(const fovea_attention_rows* given, const ViewShape& shape, HeadRows* rows, HeadRows* scales,
                Reporter& reporter);
Status ReadOut(const fovea_attention_out* given, const ViewShape& shape, HeadMatrix<void>* out, Reporter& reporter);
// `rows`: rows of the key space, or per segment if the view has a segment_stride.
Status ReadKeyBias(const fovea_attention_score& given, uint32_t rows, const ViewShape& shape, HeadRows* bias,
                   Reporter& reporter);
Status ReadPairBias(const fovea_attention_pairs_bias& given, uint32_t rows, const ViewShape& shape, PairBias* bias,
                    Reporter& reporter);
Status ReadCenters(const fovea_attention_pattern& given, uint32_t rows, AttentionCall* call, Reporter& reporter);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_API_ATTENTION_VIEWS_H_
