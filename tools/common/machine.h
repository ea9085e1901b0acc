// Which machine a measurement is of.
#ifndef FOVEA_TOOLS_COMMON_MACHINE_H_
#define FOVEA_TOOLS_COMMON_MACHINE_H_

#include "tools/common/print.h"

namespace fovea::tools {

// System, architecture, processor (empty where the system does not say) and hardware threads.
OrderedJson ThisMachine();

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_COMMON_MACHINE_H_
