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

std::string VectorsName(const std::string& target) {
  constexpr const char* kNames[][2] = {
      {"SCALAR", "no vectors"},     {"EMU128", "plain loops"},    {"SSE4", "SSE4.1"},
      {"AVX3", "AVX-512"},          {"AVX3_DL", "AVX-512 VNNI"},  {"AVX3_ZEN4", "AVX-512 BF16"},
      {"AVX3_SPR", "AVX-512 FP16"}, {"NEON_WITHOUT_AES", "NEON"}, {"NEON_BF16", "NEON with BF16"},
      {"WASM", "WebAssembly SIMD"}, {"RVV", "RISC-V vectors"},
  };
  for (const auto& [name, usual] : kNames) {
    if (target == name) return usual;
  }
  return target;
}

}  // namespace fovea::tools
