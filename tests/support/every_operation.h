// A small model that has one of everything: each operation and kind of space, three levels of spaces, two programs,
// text, packed weights.
#ifndef FOVEA_TESTS_SUPPORT_EVERY_OPERATION_H_
#define FOVEA_TESTS_SUPPORT_EVERY_OPERATION_H_

#include <vector>

#include "tests/support/model_builder.h"
#include "tools/blob/blob.h"

namespace fovea::test {

// The packed section of a model for its own machine or another one, or none if its backend packs nothing.
std::vector<tools::BlobPacked> PackedOf(const TestModel& model, const char* target = nullptr);

tools::BlobContent EveryOperation();

}  // namespace fovea::test

#endif  // FOVEA_TESTS_SUPPORT_EVERY_OPERATION_H_
