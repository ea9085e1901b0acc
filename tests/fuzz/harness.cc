#include "tests/fuzz/harness.h"

#include <map>

namespace fovea::fuzz {

const std::vector<Input>& SeedsOf(const Harness& harness) {
  static std::map<const Harness*, std::vector<Input>> made;
  std::vector<Input>& seeds = made[&harness];
  if (seeds.empty()) seeds = harness.seeds();
  return seeds;
}

Input Mutant(const Harness& harness, const Input& input, Random& random) {
  if (input.size() < 16 || random.OneIn(500)) return random.Pick(SeedsOf(harness));
  return harness.mutate(input, random);
}

}  // namespace fovea::fuzz
