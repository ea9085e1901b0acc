// Choices from a seed: the same on every machine and with every library.
#ifndef FOVEA_TESTS_FUZZ_RANDOM_H_
#define FOVEA_TESTS_FUZZ_RANDOM_H_

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include <iterator>

namespace fovea::fuzz {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t Next() {  // splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators")
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // 0 .. limit - 1; 0 for a limit of 0.
  uint32_t Below(uint64_t limit) { return limit == 0 ? 0 : static_cast<uint32_t>(Next() % limit); }
  bool OneIn(uint32_t n) { return Below(n) == 0; }
  template <typename Container>
  auto& Pick(Container& from) {
    return from[Below(std::size(from))];
  }

  // A number of the kind that finds mistakes: mostly small, or at an end of some range.
  uint32_t Number() {
    static constexpr uint32_t kEnds[] = {0,       0xffffffff, 0xfffffffe, 0x80000000, 0x7fffffff, 0x10000,   0xffff,
                                         1 << 20, 1 << 24,    1 << 18,    4096,       4097,       0x40000000};
    switch (Below(8)) {
      case 0:
        return Pick(kEnds);
      case 1:
        return (1u << Below(32)) + Below(3) - 1;
      case 2:
        return static_cast<uint32_t>(Next());
      default:
        return Below(Below(2) == 0 ? 4 : 20);
    }
  }
  float Float() {
    static constexpr float kEnds[] = {0,      -0.0f,   1,      -1,       1e-30f,    1e30f,
                                      -1e30f, 3.4e38f, 1e-45f, INFINITY, -INFINITY, NAN};
    if (OneIn(6)) return Pick(kEnds);
    return static_cast<float>(static_cast<int32_t>(Below(4001)) - 2000) / 1000;
  }

 private:
  uint64_t state_;
};

}  // namespace fovea::fuzz

#endif  // FOVEA_TESTS_FUZZ_RANDOM_H_
