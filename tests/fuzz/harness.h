// A harness: what is done with an input, and how inputs are made. harness_list.inc names all of them.
#ifndef FOVEA_TESTS_FUZZ_HARNESS_H_
#define FOVEA_TESTS_FUZZ_HARNESS_H_

#include <stddef.h>
#include <stdint.h>

#include <string>
#include <vector>

#include "tests/fuzz/random.h"

namespace fovea::fuzz {

using Input = std::vector<uint8_t>;

struct Harness {
  const char* name;  // its folder in corpus/
  // Runs an input of any bytes. Ends the program where a promise is broken.
  void (*use)(const uint8_t* data, size_t size);
  // An input with changes that is usually still well-formed.
  Input (*mutate)(const Input& input, Random& random);
  // Well-formed inputs to start from, and known hard inputs that are too large for a file.
  std::vector<Input> (*seeds)();
};

#define FOVEA_HARNESS(Name) extern const Harness k##Name##Harness;
#include "tests/fuzz/harness_list.inc"
#undef FOVEA_HARNESS

inline constexpr const Harness* kHarnesses[] = {
#define FOVEA_HARNESS(Name) &k##Name##Harness,
#include "tests/fuzz/harness_list.inc"
#undef FOVEA_HARNESS
};

// Its seeds, made once.
const std::vector<Input>& SeedsOf(const Harness& harness);

// A mutant of the input, or a seed if there is nothing to mutate.
Input Mutant(const Harness& harness, const Input& input, Random& random);

}  // namespace fovea::fuzz

#endif  // FOVEA_TESTS_FUZZ_HARNESS_H_
