// Runs a program of a blob as plainly as can be, in double precision, with every value kept: what a converted model
// means.
#ifndef FOVEA_TESTS_CONVERT_REFERENCE_RUN_H_
#define FOVEA_TESTS_CONVERT_REFERENCE_RUN_H_

#include <map>
#include <string>
#include <vector>

#include "tests/support/second_reader.h"

namespace fovea::test {

struct ReferenceRun {
  std::map<std::string, std::vector<double>> values;  // by name of the value
  std::map<std::string, std::vector<double>>
      weights;  // by name of the attention step: [head][query row][key in its segment], one text only
};

// One text: `rows` rows in every input space that has a parent. Throws std::runtime_error where the program makes no
// sense.
ReferenceRun RunReference(const ReadBlob& blob, const std::map<std::string, std::vector<double>>& inputs,
                          uint32_t rows);

}  // namespace fovea::test

#endif  // FOVEA_TESTS_CONVERT_REFERENCE_RUN_H_
