// The comparison with golden tensors, and `fovea check` around it.
#include "tools/check/golden_check.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/tools/tiny_bert.h"

namespace fovea::test {
namespace {

using tools::CheckLine;
using tools::CheckOptions;
using tools::OutputTensor;
using tools::SafetensorsReader;
using tools::SafetensorsWriter;
using tools::StoredTensor;
using tools::ToFloats;

StoredTensor Stored(const std::vector<uint64_t>& shape, const std::vector<float>& values) {
  StoredTensor tensor;
  tensor.shape = shape;
  tensor.data = reinterpret_cast<const uint8_t*>(values.data());
  tensor.bytes = 4 * values.size();
  return tensor;
}

TEST(Compare, Tolerance) {
  const std::vector<float> expected = {1, -200, 3, 4};
  OutputTensor result{"x", {1, 4}, expected, {1, 1, 1, 1}};
  CheckOptions options;
  const auto compare = [&] { return tools::Compare(result, Stored({1, 4}, expected), options); };
  EXPECT_TRUE(compare().ok);
  EXPECT_EQ(compare().max_abs, 200);
  EXPECT_NEAR(compare().cosine, 1, 1e-12);
  result.values[0] = 1.019f;  // 1e-4 * 200 + 1e-5
  EXPECT_TRUE(compare().ok);
  result.values[0] = 1.021f;
  EXPECT_FALSE(compare().ok);
  options.cosine = 0.999;
  EXPECT_TRUE(compare().ok);
  result.values[1] = 0;
  EXPECT_FALSE(compare().ok);
}

TEST(Compare, PaddingDoesNotCount) {
  const std::vector<float> expected = {1, 2, 99, -99};
  OutputTensor result{"x", {2, 2}, {1, 2, 0, 0}, {1, 1, 0, 0}};
  const CheckLine line = tools::Compare(result, Stored({2, 2}, expected), {});
  EXPECT_TRUE(line.ok);
  EXPECT_EQ(line.max_abs, 2);
}

TEST(Compare, NotFiniteAndOtherShapesFail) {
  const std::vector<float> expected = {1, 2};
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    OutputTensor result{"x", {1, 2}, {bad, 2}, {1, 1}};
    CheckOptions options;
    EXPECT_FALSE(tools::Compare(result, Stored({1, 2}, expected), options).ok);
    options.cosine = -1;
    EXPECT_FALSE(tools::Compare(result, Stored({1, 2}, expected), options).ok);
  }
  OutputTensor result{"x", {2, 1}, {1, 2}, {1, 1}};
  const CheckLine line = tools::Compare(result, Stored({1, 2}, expected), {});
  EXPECT_FALSE(line.ok);
  EXPECT_FALSE(line.compared);
}

// Padding rows that a library added to reach a multiple of some number.
TEST(Compare, RowsOfPaddingInTheReference) {
  const std::vector<float> expected = {1, 2, 99, 99, 3, 4, 99, 99};
  const OutputTensor result{"x", {2, 1, 2}, {1, 2, 3, 4}, {1, 1, 1, 1}};
  const CheckLine line = tools::Compare(result, Stored({2, 2, 2}, expected), {});
  EXPECT_TRUE(line.ok && line.compared);
  EXPECT_EQ(line.max_abs, 4);
  EXPECT_NE(line.note.find("1 rows"), std::string::npos) << line.note;
  OutputTensor other = result;
  other.values[2] = 3.1f;
  EXPECT_FALSE(tools::Compare(other, Stored({2, 2, 2}, expected), {}).ok);
  // Other widths and other counts of texts are not padding, nor are rows that the reference lacks.
  EXPECT_FALSE(tools::Compare(result, Stored({2, 1, 4}, expected), {}).compared);
  EXPECT_FALSE(tools::Compare(result, Stored({4, 1, 2}, expected), {}).compared);
  const OutputTensor longer{"x", {1, 4, 2}, expected, std::vector<uint8_t>(8, 1)};
  EXPECT_FALSE(tools::Compare(longer, Stored({1, 2, 2}, expected), {}).compared);
}

// A result that was stored with more digits replaces the one with fewer.
TEST(Cases, MoreDigitsAreTakenInstead) {
  const std::vector<float> a = {1}, b = {2};
  const tools::GoldenCases cases = tools::CasesOf({{"x.in.y", Stored({1}, a)},
                                                   {"x.out.y", Stored({1}, a)},
                                                   {"x.out.z", Stored({1}, a)},
                                                   {"x.out64.y", Stored({1}, b)}});
  ASSERT_EQ(cases.size(), 1u);
  const tools::StoredTensors& out = cases.at("x").out;
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(ToFloats(out.at("y")), b);
  EXPECT_EQ(ToFloats(out.at("z")), a);
}

// A file that `run` wrote is golden for `check`, until a number or a name changes.
TEST(CheckCommand, FindsWhatChanged) {
  const std::string& blob = TinyBlob("base");
  const std::vector<int64_t> ids = {2, 6, 3, 0, 2, 5, 8, 3}, mask = {1, 1, 1, 0, 1, 1, 1, 1};
  SafetensorsWriter input;
  input.AddIntegers("input_ids", {2, 4}, ids.data());
  input.AddIntegers("attention_mask", {2, 4}, mask.data());
  input.Write(Temporary("check-in"));
  ASSERT_EQ(
      Fovea({"run", blob, "--input", Temporary("check-in"), "--output", Temporary("check-out"), "--trace"}).status, 0);
  const auto write = [&](float error, const std::string& extra, const std::string& extra_input = "") {
    SafetensorsWriter golden;
    golden.AddIntegers("a.in.input_ids", {2, 4}, ids.data());
    golden.AddIntegers("a.in.attention_mask", {2, 4}, mask.data());
    const SafetensorsReader reader(Temporary("check-out"));
    for (const auto& [name, tensor] : reader.tensors()) {
      std::vector<float> values = ToFloats(tensor);
      if (name == "attentions.1") values.back() += error;
      golden.AddFloats("a.out." + name, tensor.shape, values.data());
    }
    if (!extra_input.empty()) golden.AddIntegers("a.in." + extra_input, {2, 4}, ids.data());
    const float one = 1;
    if (!extra.empty()) golden.AddFloats("a.out." + extra, {1}, &one);
    golden.Write(Temporary("golden"));
    return Temporary("golden");
  };
  const CommandResult good = Fovea({"check", blob, write(0, "")});
  EXPECT_EQ(good.status, 0) << good.out;
  for (const char* name :
       {"last_hidden_state", "pooler_output", "hidden_states.0", "hidden_states.2", "attentions.1"}) {
    EXPECT_NE(good.out.find(name), std::string::npos) << good.out;
  }
  EXPECT_EQ(Fovea({"check", blob, write(0, ""), "--workers", "3", "--case", "a"}).status, 0);
  EXPECT_EQ(Fovea({"check", blob, write(0, ""), "--case", "b"}).status, 2);
  const CommandResult changed = Fovea({"check", blob, write(0.01f, "")});
  EXPECT_EQ(changed.status, 1);
  EXPECT_NE(changed.out.find("FAIL"), std::string::npos);
  EXPECT_NE(changed.out.find("1 failed"), std::string::npos) << changed.out;
  EXPECT_EQ(Fovea({"check", blob, write(0, "gates.0")}).status, 1);
  EXPECT_EQ(Fovea({"check", blob, write(0, "gates.0"), "--skip"}).status, 0);
  EXPECT_EQ(Fovea({"check", blob, write(0, "", "decoder_input_ids")}).status, 1);
  const CommandResult left_out = Fovea({"check", blob, write(0, "gates.0", "decoder_input_ids"), "--skip"});
  EXPECT_EQ(left_out.status, 0) << left_out.out;
  EXPECT_NE(left_out.out.find("0 failed, 2 not compared"), std::string::npos) << left_out.out;
  EXPECT_EQ(Fovea({"check", blob, write(0.01f, "", "decoder_input_ids"), "--skip"}).status, 1);
  // A check that compared nothing is a failure.
  SafetensorsWriter nothing;
  const float one = 1;
  nothing.AddIntegers("a.in.input_ids", {2, 4}, ids.data());
  nothing.AddFloats("a.out.sequences", {1}, &one);
  nothing.Write(Temporary("golden"));
  EXPECT_EQ(Fovea({"check", blob, Temporary("golden"), "--skip"}).status, 1);
}

}  // namespace
}  // namespace fovea::test
