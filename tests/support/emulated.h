// Whether an emulated processor runs the test.
#ifndef FOVEA_TESTS_SUPPORT_EMULATED_H_
#define FOVEA_TESTS_SUPPORT_EMULATED_H_

#include <stdlib.h>

namespace fovea::test {

// Emulated machines are tens of times slower: fewer lengths, seeds and repetitions there, the same kinds of cases.
inline bool Emulated() { return getenv("FOVEA_EMULATED") != nullptr; }

}  // namespace fovea::test

#endif  // FOVEA_TESTS_SUPPORT_EMULATED_H_
