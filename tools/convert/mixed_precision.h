// Mixed precision, a type for each weight: the smallest blob whose outputs are still as alike those with f32 weights as
// is asked.
#ifndef FOVEA_TOOLS_CONVERT_MIXED_PRECISION_H_
#define FOVEA_TOOLS_CONVERT_MIXED_PRECISION_H_

#include "tools/base/workers.h"
#include "tools/convert/convert.h"
#include "tools/convert/encoder.h"
#include "tools/convert/exact_model.h"
#include "tools/convert/resolve.h"

namespace fovea::tools {

// Likeness: the least mean cosine of an output with its rows, with channels as they are or at one scale, so that one
// large channel does not hide the loss of the others. For each weight it is measured what storing it as int4 or int8,
// and all others as f32, costs. From all weights in their shortest type on, those then take a longer one that
// gain most by each byte; the first such mix is taken that, measured as a whole, is good enough.
// Fails where f16 is not good enough. `calibrated` gets what was.
EncodedTensors ChooseMix(const Resolved& model, const ExactModel& exact, const ConvertOptions& options,
                         ConvertReport& report, Workers& workers, const Progress& progress);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_MIXED_PRECISION_H_
