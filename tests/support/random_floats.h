// Normally distributed numbers, the same in every run.
#ifndef FOVEA_TESTS_SUPPORT_RANDOM_FLOATS_H_
#define FOVEA_TESTS_SUPPORT_RANDOM_FLOATS_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace fovea::test {

// Exact-size heap memory: the address sanitizer sees any read past it.
inline std::vector<float> RandomFloats(size_t count, float scale = 1.0f, uint32_t seed = 1) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal(0.0f, scale);
  std::vector<float> values(count);
  for (float& v : values) v = normal(engine);
  return values;
}

}  // namespace fovea::test

#endif  // FOVEA_TESTS_SUPPORT_RANDOM_FLOATS_H_
