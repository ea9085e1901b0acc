// Describes the machine of a measurement.
#ifndef FOVEA_TOOLS_MEASURE_MACHINE_H_
#define FOVEA_TOOLS_MEASURE_MACHINE_H_

#include "tools/base/print.h"

namespace fovea::tools {

// System, architecture, processor (empty if unknown) and hardware threads.
OrderedJson ThisMachine();

// The usual name of a Highway target (fovea_simd_target): "AVX-512 VNNI" for "AVX3_DL". Unknown ones as they are.
std::string VectorsName(const std::string& target);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_MEASURE_MACHINE_H_
