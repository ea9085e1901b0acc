// Blobs that earlier versions wrote are read as they were meant: one for each form of a record that has changed since.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <vector>

#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tools/convert/convert.h"
#include "tools/convert/graph_json.h"
#include "tools/measure/synthetic_batch.h"
#include "tools/model/batch.h"
#include "tools/model/session.h"

namespace fovea::tools {
namespace {

std::vector<uint8_t> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// All outputs of the first program, of two segments with seeded inputs.
std::vector<Matrix> OutputsOf(const std::vector<uint8_t>& bytes) {
  const test::AlignedBytes blob(bytes);
  const Model model(blob.data(), blob.size(), "blob", {FOVEA_BACKEND_DEFAULT, false});
  const Batch batch = SyntheticBatch(model, 0, {8, 5});
  Session session = SessionFor(model, batch);
  session.Run();
  std::vector<Matrix> outputs;
  for (uint32_t i = 0; i < model.Program(0).value_count; ++i) {
    if (model.Value(0, i).role == FOVEA_ROLE_OUTPUT) outputs.push_back(session.Output(i));
  }
  return outputs;
}

// Optional inputs were listed without gaps, announced by attributes; now they have numbers.
TEST(FormerBlobs, InputsAnnouncedByAttributes) {
  const std::vector<uint8_t> former = ReadFile(test::InData("former_blobs/every_operand.fovea"));
  ASSERT_FALSE(former.empty());
  ConvertReport report;
  const std::vector<uint8_t> now =
      BuildBlob(ReadGraph(test::InData("former_blobs/every_operand.json"), ""), {}, report);
  EXPECT_NE(former, now);  // else this compares nothing
  const std::vector<Matrix> expected = OutputsOf(now), found = OutputsOf(former);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i].values, expected[i].values) << "output " << i;
}

}  // namespace
}  // namespace fovea::tools
