// Integer weights that fit the rows which a model multiplies them with.
#ifndef FOVEA_TOOLS_CONVERT_CALIBRATE_H_
#define FOVEA_TOOLS_CONVERT_CALIBRATE_H_

#include "tools/base/workers.h"
#include "tools/common/model.h"
#include "tools/convert/convert.h"
#include "tools/convert/resolve.h"

namespace fovea::tools {

// The error of a rounded weight is the same for every row of a text, and the rows have much in common. So integer
// weights of linear layers are rounded with regard to the rows that the model with f32 weights, `exact`, has for
// texts, made up or given (rounding.h), and what the error then does to the mean row is taken back by the layer's
// bias. The model runs as fast as before. Programs that take numbers are left alone, since nothing is known about
// those.
//
// `options`: what texts are given (SampleRuns). `model` is encoded, and `report` has its tensors; it gets `calibrated`.
void Calibrate(Resolved& model, const Model& exact, const ConvertOptions& options, ConvertReport& report,
               Workers& workers, const Progress& progress);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_CALIBRATE_H_
