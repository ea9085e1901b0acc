// Published decoders: scores and hidden states of whole texts, against what the original library computes.
#include "tests/golden/golden_support.h"
#include "tools/check/golden_check.h"

namespace fovea::test {
namespace {

struct Published {
  const char* name;
  double int8_cosine = 0.98;  // of these tiny random models; trained ones lose less
};

void PrintTo(const Published& published, std::ostream* out) { *out << published.name; }

const Published kPublished[] = {{"llama"},  {"llama-rope3"},   {"llama-linear"}, {"llama-yarn"},    {"mistral"},
                                {"qwen2"},  {"qwen2-sliding"}, {"qwen3"},        {"gemma"},         {"gemma2"},
                                {"gemma3"}, {"phi"},           {"phi3"},         {"phi3-longrope"}, {"smollm3"},
                                {"olmo2"},  {"olmo3"},         {"granite"},      {"starcoder2"},    {"stablelm"},
                                {"cohere"}, {"cohere2"}};

class PublishedDecoder : public ::testing::TestWithParam<Published> {
 protected:
  std::string Path() const { return InData("hf/") + GetParam().name; }
  // Forward passes, which the golden file has beside generated texts.
  std::vector<std::string> Cases(const tools::StoredTensors& golden) const {
    std::vector<std::string> cases;
    for (const auto& [name, tensors] : tools::CasesOf(golden)) {
      if (tensors.out.count("logits") != 0) cases.push_back(name);
    }
    return cases;
  }
  void ExpectAllOk(const Converted& converted, tools::CheckOptions options) const {
    const tools::SafetensorsReader golden(Path() + "/golden.safetensors");
    options.cases = Cases(golden.tensors());
    size_t compared = 0;
    for (const tools::CheckLine& line : tools::CheckGolden(converted.model, golden.tensors(), options)) {
      EXPECT_TRUE(line.ok) << tools::LineText(line);
      compared += line.compared ? 1 : 0;
    }
    EXPECT_GE(compared, 13u);
  }
};

TEST_P(PublishedDecoder, F32IsWithinRounding) {
  for (const uint32_t backend : {FOVEA_BACKEND_DEFAULT, FOVEA_BACKEND_HIGHWAY}) {
    const Converted converted(Path(), DType::kF32, "", backend);
    for (const uint32_t workers : {1u, 3u}) {
      tools::CheckOptions options;  // 1e-4 of the largest magnitude + 1e-5
      options.workers = workers;
      ExpectAllOk(converted, options);
    }
  }
}

TEST_P(PublishedDecoder, Int8WeightsAreClose) {
  const Converted converted(Path(), DType::kI8);
  tools::CheckOptions options;
  options.cosine = GetParam().int8_cosine;
  ExpectAllOk(converted, options);
}

TEST_P(PublishedDecoder, NextScoresAreThoseOfTheLastToken) {
  const Converted converted(Path(), DType::kF32);
  const tools::Batch batch = tools::SyntheticBatch(converted.model, 0, {20, 1, 33});
  tools::SessionRequest request;
  tools::Session whole = tools::SessionFor(converted.model, batch, request);
  request.program = 1;
  tools::Session step = tools::SessionFor(converted.model, batch, request);
  whole.Run();
  step.Run();
  fovea_view all, next;
  ASSERT_EQ(fovea_session_find_output(whole.get(), "logits", &all, nullptr), FOVEA_OK);
  ASSERT_EQ(fovea_session_find_output(step.get(), "next_logits", &next, nullptr), FOVEA_OK);
  ASSERT_EQ(next.rows, 3u);
  const uint32_t last[] = {19, 20, 53};
  for (uint32_t text = 0; text < 3; ++text) {
    const float* row = static_cast<const float*>(all.data) + size_t{last[text]} * all.width;
    const std::vector<float> expected(row, row + all.width);
    EXPECT_LE(LargestDifference(static_cast<const float*>(next.data) + size_t{text} * next.width, expected), 1e-4);
  }
}

INSTANTIATE_TEST_SUITE_P(All, PublishedDecoder, ::testing::ValuesIn(kPublished), [](const auto& published) {
  std::string name = published.param.name;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

}  // namespace
}  // namespace fovea::test
