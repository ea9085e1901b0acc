// Tensors without padding: what of them does not fit is named, and what fits is bound level by level.
#include "tools/tensors/ragged.h"

#include <gtest/gtest.h>

#include <memory>

#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tools/base/fail.h"
#include "tools/check/golden_check.h"
#include "tools/convert/convert.h"
#include "tools/convert/graph_json.h"
#include "tools/tensors/padded_inputs.h"

namespace fovea::test {
namespace {

using tools::StoredTensor;
using tools::StoredTensors;

const std::string kExample = InSource("tools/convert/examples/hierarchy-first-row");

AlignedBytes ExampleBlob() {
  tools::ConvertOptions options;
  options.input = kExample + "/graph.json";
  tools::ConvertReport report;
  return AlignedBytes(tools::BuildBlob(tools::Describe(options), options, report));
}

class Ragged : public ::testing::Test {
 protected:
  StoredTensor Integers(const std::vector<int64_t>& values, std::vector<uint64_t> shape = {}) {
    kept_.push_back(std::make_unique<std::vector<int64_t>>(values));
    StoredTensor tensor;
    tensor.type = tools::ElementType::kI64;
    tensor.shape = shape.empty() ? std::vector<uint64_t>{values.size()} : shape;
    tensor.data = reinterpret_cast<const uint8_t*>(kept_.back()->data());
    tensor.bytes = 8 * values.size();
    return tensor;
  }
  std::string Refusal() const {
    try {
      const tools::Batch batch = tools::BatchFromTensors(model_, 0, tensors_);
      tools::Session session = tools::SessionFor(model_, batch);
      session.Run();
    } catch (const tools::Failure& failure) {
      return failure.what();
    }
    return "";
  }

  std::vector<std::unique_ptr<std::vector<int64_t>>> kept_;
  const AlignedBytes blob_ = ExampleBlob();
  const tools::Model model_{blob_.data(), blob_.size(), "model", {FOVEA_BACKEND_DEFAULT, false}};
  StoredTensors tensors_ = {{"input_ids", Integers({1, 2, 3, 4, 5})},
                            {"segments.sentences", Integers({2, 1})},
                            {"segments.tokens", Integers({2, 1, 2})}};
};

TEST_F(Ragged, EveryLevelIsBound) {
  EXPECT_EQ(Refusal(), "");
  const tools::Batch batch = tools::BatchFromTensors(model_, 0, tensors_);
  EXPECT_TRUE(batch.ragged);
  ASSERT_EQ(batch.spaces.size(), 2u);
  EXPECT_EQ(batch.spaces.begin()->second.lengths, (std::vector<uint32_t>{2, 1}));
  EXPECT_EQ(batch.spaces.rbegin()->second.lengths, (std::vector<uint32_t>{2, 1, 2}));
  // A parent's limits cover its own segments.
  for (const fovea_limit& limit : tools::ExactLimits(model_, batch)) {
    if (std::string(model_.Space(limit.space).name) != "sentences") continue;
    EXPECT_EQ(limit.rows, 3u);
    EXPECT_EQ(limit.segment_rows, 2u);
  }
}

TEST_F(Ragged, SaysWhatDoesNotFit) {
  const StoredTensors good = tensors_;
  const auto with = [&](const std::string& name, const StoredTensor& tensor) {
    tensors_ = good;
    tensors_[name] = tensor;
    return Refusal();
  };
  tensors_.erase("segments.sentences");
  EXPECT_EQ(Refusal(), "input_ids: segments.sentences is missing");
  EXPECT_EQ(with("segments.lines", Integers({1})), "the model has no space 'lines'");
  EXPECT_EQ(with("segments.documents", Integers({2})),
            "segments.documents: leave it out; the segments of this space are derived");
  EXPECT_EQ(with("segments.tokens", Integers({2, -1, 2})), "segments.tokens: -1 is not a length");
  EXPECT_EQ(with("segments.tokens", Integers({2, 1, 2}, {3, 1})), "segments.tokens: shape [3, 1], expected [segments]");
  EXPECT_NE(with("segments.tokens", Integers({2, 1, 3})).find("input_ids: 5 entries given, expected 6"),
            std::string::npos);
  EXPECT_NE(with("segments.tokens", Integers({2, 3})).find("FOVEA_E_SEGMENTS"), std::string::npos);
  EXPECT_EQ(with("input_ids", Integers({1, 2, 3, 4}, {2, 2})), "input_ids: shape [2, 2], expected [rows, 1]");
  tensors_ = good;
  tensors_.erase("input_ids");
  EXPECT_EQ(Refusal(), "input_ids: required input is missing");
}

TEST_F(Ragged, SegmentsOfAFixedLengthMayBeGiven) {
  const std::string graph = R"({"fovea": 1,
      "spaces": [{"name": "texts"}, {"name": "lines", "parent": "texts", "each": 2}],
      "constants": [{"name": "one", "values": [1]}],
      "programs": [{"name": "encode", "inputs": [{"name": "x", "space": "lines", "type": "f32", "width": 1}],
        "operations": [{"op": "linear", "in": ["x"], "tensors": ["one"], "out": "y"}], "outputs": ["y"]}]})";
  tools::ConvertReport report;
  const AlignedBytes blob(tools::BuildBlob(tools::ParseGraph(graph, ".", "graph"), {}, report));
  const tools::Model model(blob.data(), blob.size(), "model", {FOVEA_BACKEND_DEFAULT, false});
  const float numbers[] = {1, 2, 3, 4};
  StoredTensor x;
  x.type = tools::ElementType::kF32;
  x.shape = {4, 1};
  x.data = reinterpret_cast<const uint8_t*>(numbers);
  x.bytes = sizeof(numbers);
  const auto rows = [&](const StoredTensor& segments) {
    const tools::Batch batch = tools::BatchFromTensors(model, 0, {{"x", x}, {"segments.lines", segments}});
    tools::Session session = tools::SessionFor(model, batch);
    session.Run();
    return session.Output(tools::OutputsOf(model, 0)[0]).values;
  };
  EXPECT_EQ(rows(Integers({2, 2})), (std::vector<float>{1, 2, 3, 4}));
  const auto refused = [&](const StoredTensor& segments, const std::string& part) {
    try {
      rows(segments);
      ADD_FAILURE() << part;
    } catch (const tools::Failure& failure) {
      EXPECT_NE(std::string(failure.what()).find(part), std::string::npos) << failure.what();
    }
  };
  refused(Integers({2, 1}), "segments.lines: a segment has 1 rows; the model requires 2");
  refused(Integers({2}), "x");
  refused(Integers({2, 2, 2}), "x");
}

TEST(GoldenCases, StepsOfACaseStandInTheirOrder) {
  StoredTensors golden;
  for (const char* name : {"decode/a#10", "decode/a#2", "a", "decode/a#0"}) {
    golden[std::string(name) + ".in.x"] = golden[std::string(name) + ".out.y"] = StoredTensor();
  }
  std::vector<std::string> names, programs;
  for (const auto& [name, tensors] : tools::CasesOf(golden)) {
    names.push_back(name);
    programs.push_back(tensors.program);
    EXPECT_EQ(tensors.name, name == "a" ? "a" : "decode/a");
    EXPECT_EQ(tensors.in.size() + tensors.out.size(), 2u);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"a", "decode/a#0", "decode/a#2", "decode/a#10"}));
  EXPECT_EQ(programs, (std::vector<std::string>{"", "decode", "decode", "decode"}));
}

}  // namespace
}  // namespace fovea::test
