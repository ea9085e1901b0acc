// Mixed precision, one type per weight: the smallest blob whose outputs are still as similar to the outputs with f32
// weights as requested.
#ifndef FOVEA_TOOLS_CONVERT_MIXED_PRECISION_H_
#define FOVEA_TOOLS_CONVERT_MIXED_PRECISION_H_

#include "tools/base/workers.h"
#include "tools/convert/convert.h"
#include "tools/convert/encoder.h"
#include "tools/convert/exact_model.h"
#include "tools/convert/resolve.h"

namespace fovea::tools {

// Similarity: the minimum over outputs of the mean cosine of rows, with channels as they are or scaled equally, so that
// one large channel does not hide the loss of the rest. The loss of each weight stored as int4 or int8, with all other
// weights as f32, is measured. Starting with all weights in their shortest type, weights take a longer type in order of
// their gain per byte; the first mix whose measured similarity suffices is used. Fails if f16 does not suffice.
// `calibrated` receives the calibrated layers.
EncodedTensors ChooseMix(const Resolved& model, const ExactModel& exact, const ConvertOptions& options,
                         ConvertReport& report, Workers& workers, const Progress& progress);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_MIXED_PRECISION_H_
