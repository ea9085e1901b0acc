// Describes the machine of a measurement.
#ifndef FOVEA_TOOLS_MEASURE_MACHINE_H_
#define FOVEA_TOOLS_MEASURE_MACHINE_H_

#include "tools/base/print.h"

namespace fovea::tools {

// System, architecture, processor (empty if unknown) and hardware threads.
OrderedJson ThisMachine();

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_MEASURE_MACHINE_H_
