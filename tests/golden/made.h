// A model of a blob that a test has described itself.
#ifndef FOVEA_TESTS_GOLDEN_MADE_H_
#define FOVEA_TESTS_GOLDEN_MADE_H_

#include <vector>

#include "tests/support/model_builder.h"
#include "tools/model/model.h"

namespace fovea::test {

struct Made {
  explicit Made(const std::vector<uint8_t>& bytes) : blob(bytes), model(blob.data(), blob.size(), "model", {}) {}
  AlignedBytes blob;
  tools::Model model;
};

}  // namespace fovea::test

#endif  // FOVEA_TESTS_GOLDEN_MADE_H_
