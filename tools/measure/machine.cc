// Describes the machine of a measurement.
#include "tools/measure/machine.h"

#include <nlohmann/json.hpp>
#include <thread>

#include "tools/base/printable.h"
#include "tools/base/system.h"

namespace fovea::tools {

OrderedJson ThisMachine() {
  const MachineNames names = NamesOfMachine();
  return {{"system", names.system},
          {"architecture", names.architecture},
          {"processor", Printable(names.processor)},
          {"hardware_threads", std::thread::hardware_concurrency()}};
}

}  // namespace fovea::tools
