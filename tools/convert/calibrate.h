// Integer weights that fit the rows which a model multiplies them with.
#ifndef FOVEA_TOOLS_CONVERT_CALIBRATE_H_
#define FOVEA_TOOLS_CONVERT_CALIBRATE_H_

#include <vector>

#include "tools/base/workers.h"
#include "tools/convert/convert.h"
#include "tools/convert/encoder.h"
#include "tools/convert/exact_model.h"
#include "tools/convert/resolve.h"

namespace fovea::tools {

// The error of a rounded weight is the same for every row of a text, and the rows have much in common. So integer
// weights of linear layers are rounded with regard to the rows that the model with f32 weights, `exact`, has for
// samples, made up or given (rounding.h), and what the error then does to the mean row is taken back by the layer's
// bias. The model runs as fast as before. Programs that take numbers, such as sounds, are left alone unless
// samples of those are given, since nothing is known about them.
//
// `versions` are of the model's tensors in several types; each is fitted by itself, and so are the reports' errors.
struct CalibratedLayer {
  uint32_t weight;
  uint32_t bias;                     // where one was changed, else kBlobNone
  std::vector<double> bias_changes;  // the largest of an element, by version
};
std::vector<CalibratedLayer> Calibrate(const Resolved& model, const ExactModel& exact, const SampleSources& samples,
                                       const std::vector<EncodedTensors*>& versions, Workers& workers,
                                       const Progress& progress);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_CALIBRATE_H_
