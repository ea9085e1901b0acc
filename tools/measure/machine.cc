// Describes the machine of a measurement.
#include "tools/measure/machine.h"

#include <sys/utsname.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "tools/base/printable.h"

namespace fovea::tools {
namespace {

std::string Processor() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const size_t colon = line.find(": ");
    if (colon != std::string::npos && line.rfind("model name", 0) == 0) return line.substr(colon + 2);
  }
  std::ifstream board("/proc/device-tree/model");  // Arm and RISC-V; ends with a zero
  std::string name;
  std::getline(board, name, '\0');
  return name;
}

}  // namespace

OrderedJson ThisMachine() {
  struct utsname system = {};
  uname(&system);
  return {{"system", system.sysname},
          {"architecture", system.machine},
          {"processor", Printable(Processor())},
          {"hardware_threads", std::thread::hardware_concurrency()}};
}

}  // namespace fovea::tools
