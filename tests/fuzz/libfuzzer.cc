// The entry points that libFuzzer calls. FOVEA_FUZZ in the environment names the harness.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/harness.h"

namespace {

using namespace fovea::fuzz;  // NOLINT: this file is the border

const Harness& Chosen() {
  static const Harness* const chosen = [] {
    const char* name = getenv("FOVEA_FUZZ");
    for (const Harness* harness : kHarnesses) {
      if (name != nullptr && strcmp(name, harness->name) == 0) return harness;
    }
    fprintf(stderr, "FOVEA_FUZZ must name a harness:");
    for (const Harness* harness : kHarnesses) fprintf(stderr, " %s", harness->name);
    fprintf(stderr, "\n");
    exit(2);
  }();
  return *chosen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Chosen().use(data, size);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  Random random(seed);
  const Input input(data, data + size);
  for (int attempt = 0; attempt < 8; ++attempt) {
    const Input mutant = Mutant(Chosen(), input, random);
    if (mutant.size() > most) continue;
    if (!mutant.empty()) memcpy(data, mutant.data(), mutant.size());
    return mutant.size();
  }
  return size;
}
