// Models converted in a test, and what is asked of their outputs.
#ifndef FOVEA_TESTS_GOLDEN_GOLDEN_SUPPORT_H_
#define FOVEA_TESTS_GOLDEN_GOLDEN_SUPPORT_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "tests/support/distance.h"
#include "tests/support/heap_trap.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tools/convert/convert.h"
#include "tools/measure/distance.h"
#include "tools/measure/synthetic_batch.h"
#include "tools/model/model.h"
#include "tools/model/session.h"
#include "tools/safetensors/safetensors.h"
#include "tools/text/tokenizer.h"

namespace fovea::test {

using tools::Cosine;

// A blob in memory and its model.
struct Converted {
  Converted(const std::string& input, DType weights, const std::string& source = "",
            uint32_t backend = FOVEA_BACKEND_DEFAULT, const std::string& task = "")
      : Converted(OptionsOf(input, weights, source, task), backend) {}
  explicit Converted(const tools::ConvertOptions& options, uint32_t backend = FOVEA_BACKEND_DEFAULT)
      : blob(Build(options)), model(blob.data(), blob.size(), options.input, {backend, false}) {}

  static tools::ConvertOptions OptionsOf(const std::string& input, DType weights, const std::string& source = "",
                                         const std::string& task = "") {
    tools::ConvertOptions options;
    options.input = input;
    options.source = source;
    options.weights = weights;
    options.task = task;
    return options;
  }

  static AlignedBytes Build(tools::ConvertOptions options) {
    options.compare = tools::Comparison::kNone;
    tools::ConvertReport report;
    return AlignedBytes(tools::BuildBlob(options, report));
  }

  AlignedBytes blob;
  tools::Model model;
};

inline double LargestDifference(const float* found, const std::vector<float>& expected) {
  double largest = 0;
  for (size_t i = 0; i < expected.size(); ++i) largest = std::max(largest, Distance(found[i], expected[i]));
  return largest;
}

// A run over this batch never asks for heap memory.
inline void ExpectNoHeap(const tools::Model& model, uint32_t program, const tools::Batch& batch, uint32_t workers) {
  tools::SessionRequest request;
  request.program = program;
  request.workers = workers;
  tools::Session session = tools::SessionFor(model, batch, request);
  uint64_t calls = 0;
  fovea_status status;
  {
    fovea::testing::HeapTrap trap;
    status = fovea_session_run(session.get(), nullptr);
    calls = trap.calls();
  }
  EXPECT_EQ(status, FOVEA_OK);
  EXPECT_EQ(calls, 0u);
}

// The same, of the first program over made-up texts of these lengths.
inline void ExpectNoHeap(const tools::Model& model, const std::vector<uint32_t>& lengths, uint32_t workers) {
  ExpectNoHeap(model, 0, tools::SyntheticBatch(model, 0, lengths), workers);
}

inline uint32_t ValueOf(const tools::Model& model, const std::string& name) {
  const auto value = model.FindValue(0, name);
  EXPECT_TRUE(value.has_value()) << name;
  return value.value_or(0);
}

}  // namespace fovea::test

#endif  // FOVEA_TESTS_GOLDEN_GOLDEN_SUPPORT_H_
