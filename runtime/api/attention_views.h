// Arrays of the caller of fovea/attention.h: strides that 0 stands for, and whether an array stays in the address
// space.
#ifndef FOVEA_RUNTIME_API_ATTENTION_VIEWS_H_
#define FOVEA_RUNTIME_API_ATTENTION_VIEWS_H_

#include "fovea/attention.h"
#include "runtime/attention/attention.h"
#include "runtime/base/status.h"

namespace fovea {

// How many segments there are, and whether rows of a view may lie by segment.
struct ViewShape {
  uint32_t tensor;  // for errors
  uint32_t heads, width, segments;
};

// f32 only where `scales` is null.
Status ReadRows(const fovea_attention_rows* given, const ViewShape& shape, HeadRows* rows, HeadRows* scales,
                Reporter& reporter);
Status ReadOut(const fovea_attention_out* given, const ViewShape& shape, HeadMatrix<void>* out, Reporter& reporter);
// `rows`: of the key space, or of one segment's place.
Status ReadKeyBias(const fovea_attention_score& given, uint32_t rows, const ViewShape& shape, HeadRows* bias,
                   Reporter& reporter);
Status ReadPairBias(const fovea_attention_pairs_bias& given, uint32_t rows, const ViewShape& shape, PairBias* bias,
                    Reporter& reporter);
Status ReadCenters(const fovea_attention_pattern& given, uint32_t rows, AttentionCall* call, Reporter& reporter);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_API_ATTENTION_VIEWS_H_
