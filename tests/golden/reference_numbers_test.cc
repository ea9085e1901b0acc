// Attention whose numbers are known: a sentence of six words through weights that PyTorch draws after manual_seed(123)
// (tools/convert/examples/reference-numbers). What is not printed here is compared with PyTorch by examples_test.cc.
#include "tests/golden/golden_support.h"

namespace fovea::test {
namespace {

constexpr double kPrinted = 0.5e-4 + 2e-6;  // four digits, and rounding

TEST(ReferenceNumbers, OfTheSecondWord) {
  const Converted converted(InSource("tools/convert/examples/reference-numbers/graph.json"), DType::kF32);
  const tools::Model& model = converted.model;
  const uint32_t program = model.FindProgram("attend");
  uint32_t words = 0;
  ASSERT_EQ(fovea_model_find_space(model.get(), "words", &words), FOVEA_OK);
  tools::SessionRequest request;
  request.program = program;
  request.limits = {{model.Space(words).parent, 1, 0}, {words, 6, 6}};
  request.taps = {tools::TapOf(model.FindAttention(program, "weights").value())};
  tools::Session session(model, request);
  session.SetSegments(words, {6});
  session.SetInput(ValueOf(model, "ids"), std::vector<int32_t>{0, 4, 5, 2, 1, 3});  // Life is short, eat dessert first
  session.Run();

  const tools::Matrix query = session.Output(ValueOf(model, "query")), key = session.Output(ValueOf(model, "key"));
  ASSERT_EQ(query.width, 24u);
  ASSERT_EQ(key.width, 24u);
  const double scores[] = {8.5808, -7.6597, 3.2558, 1.0395, 11.1466, -0.4800};
  const double expected[] = {0.2912, 0.0106, 0.0982, 0.0625, 0.4917, 0.0458};
  const fovea_attention_map weights = session.AttentionMap(0);
  for (uint32_t word = 0; word < 6; ++word) {
    double score = 0;
    for (uint32_t i = 0; i < 24; ++i) score += double{query.Row(1)[i]} * key.Row(word)[i];
    EXPECT_NEAR(score, scores[word], kPrinted) << word;
    EXPECT_NEAR(weights.data[weights.stride + word], expected[word], kPrinted) << word;
  }
  const tools::Matrix context = session.Output(ValueOf(model, "context"));
  ASSERT_EQ(context.width, 28u);
  const std::pair<uint32_t, double> entries[] = {{0, -1.5993}, {1, 0.0156},  {2, 1.2670},
                                                 {3, 0.0032},  {26, 0.0624}, {27, 1.7084}};
  for (const auto& [column, value] : entries) EXPECT_NEAR(context.Row(1)[column], value, kPrinted) << column;
}

}  // namespace
}  // namespace fovea::test
