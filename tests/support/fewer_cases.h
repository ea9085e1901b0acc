// Whether tests run fewer cases: sanitizers and emulated processors are tens of times slower.
#ifndef FOVEA_TESTS_SUPPORT_FEWER_CASES_H_
#define FOVEA_TESTS_SUPPORT_FEWER_CASES_H_

#include <stdlib.h>

namespace fovea::test {

// Fewer lengths, seeds and repetitions of the same kinds of cases.
inline bool FewerCases() { return getenv("FOVEA_FEWER_CASES") != nullptr; }

}  // namespace fovea::test

#endif  // FOVEA_TESTS_SUPPORT_FEWER_CASES_H_
