#include "tests/fuzz/harness.h"

namespace fovea::fuzz {

Input Mutant(const Harness& harness, const Input& input, Random& random) {
  if (input.size() < 16 || random.OneIn(500)) {
    static const Harness* of = nullptr;
    static std::vector<Input> seeds;
    if (of != &harness) seeds = harness.seeds();
    of = &harness;
    return random.Pick(seeds);
  }
  return harness.mutate(input, random);
}

}  // namespace fovea::fuzz
