// Published decoders: scores and hidden states of whole texts, against what the original library computes.
#include <algorithm>

#include "fovea/cache.h"
#include "tests/golden/golden_support.h"
#include "tools/check/golden_check.h"
#include "tools/common/batch.h"

namespace fovea::test {
namespace {

struct Published {
  const char* name;
  double int8_cosine = 0.98;  // of these tiny random models; trained ones lose less
  size_t switches_at = 0;     // a text this long has other rotary positions, so its keys are made anew
};

void PrintTo(const Published& published, std::ostream* out) { *out << published.name; }

const Published kPublished[] = {{"llama"},         {"llama-rope3"},
                                {"llama-linear"},  {"llama-yarn"},
                                {"mistral"},       {"qwen2"},
                                {"qwen2-sliding"}, {"qwen3"},
                                {"gemma"},         {"gemma2"},
                                {"gemma3"},        {"phi"},
                                {"phi3"},          {"phi3-longrope", 0.98, 25},
                                {"smollm3"},       {"olmo2"},
                                {"olmo3"},         {"granite"},
                                {"starcoder2"},    {"stablelm"},
                                {"cohere"},        {"cohere2"},
                                {"gpt2"},          {"gpt_bigcode"},
                                {"gptj"},          {"gpt_neo"},
                                {"gpt_neox"},      {"gpt_neox-seq"},
                                {"falcon"},        {"falcon-gqa"},
                                {"bloom"},         {"modernbert-decoder"}};

std::vector<int32_t> Ids(const tools::StoredTensor& stored) {
  const std::vector<int64_t> numbers = tools::ToIntegers(stored);
  return {numbers.begin(), numbers.end()};
}

// A session of program "decode" for one text of up to 64 tokens.
tools::SessionRequest OneText(const tools::Model& model) {
  tools::SessionRequest request;
  request.program = model.FindProgram("decode");
  for (uint32_t space = 0; space < model.Info().space_count; ++space) {
    const fovea_space_info info = model.Space(space);
    if (info.parent == FOVEA_NONE) {
      request.limits.push_back({space, 1, 0});
    } else {
      request.limits.push_back({space, 64, 64});
    }
  }
  return request;
}

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

// The prompt at once, then token by token over what is kept of those before.
TEST_P(PublishedDecoder, BestTokensAreEqual) {
  const tools::SafetensorsReader golden(Path() + "/golden.safetensors");
  const Converted converted(Path(), DType::kF32);
  const tools::Model& model = converted.model;
  const tools::SessionRequest request = OneText(model);
  const uint32_t ids = *model.FindValue(request.program, "input_ids"), tokens = model.Value(request.program, ids).space;
  const uint32_t scores = *model.FindValue(request.program, "next_logits");
  for (const std::string name : {"gen_a", "gen_b"}) {
    if (golden.tensors().count(name + ".in.input_ids") == 0) continue;
    std::vector<int32_t> text = Ids(golden.tensors().at(name + ".in.input_ids"));
    const std::vector<int32_t> expected = Ids(golden.tensors().at(name + ".out.sequences"));
    const std::vector<float> steps = tools::ToFloats(golden.tensors().at(name + ".out.step_logits"));
    tools::Session session(model, request);
    for (size_t begin = 0, step = 0; text.size() < expected.size(); ++step) {
      if (text.size() == GetParam().switches_at) {
        ASSERT_EQ(fovea_cache_rewind(session.get(), 0, 0, nullptr), FOVEA_OK);
        begin = 0;
      }
      const std::vector<int32_t> fresh(text.begin() + static_cast<ptrdiff_t>(begin), text.end());
      session.SetSegments(tokens, {static_cast<uint32_t>(fresh.size())});
      session.SetInput(ids, fresh);
      session.Run();
      const std::vector<float> found = session.Output(scores).values;
      const auto row = steps.begin() + static_cast<ptrdiff_t>(step * found.size());
      const std::vector<float> reference(row, row + static_cast<ptrdiff_t>(found.size()));
      float largest = 0;
      for (const float score : reference) largest = std::max(largest, std::fabs(score));
      ASSERT_LE(LargestDifference(found.data(), reference), 1e-4 * largest + 1e-5) << name << " step " << step;
      begin = text.size();
      text.push_back(static_cast<int32_t>(std::max_element(found.begin(), found.end()) - found.begin()));
    }
    EXPECT_EQ(text, expected) << name;
  }
}

TEST_P(PublishedDecoder, NextScoresAreThoseOfTheLastToken) {
  const Converted converted(Path(), DType::kF32);
  const tools::Batch batch = tools::SyntheticBatch(converted.model, 0, {20, 1, 33});
  tools::SessionRequest request;
  tools::Session whole = tools::SessionFor(converted.model, batch, request);
  request.program = converted.model.FindProgram("decode");
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
