// Published decoders continue texts as the original library does, token for token: alone, in a batch, in pieces.
#include <map>

#include "tests/golden/golden_support.h"
#include "tests/golden/text_pieces.h"
#include "tests/support/fewer_cases.h"
#include "tools/check/golden_check.h"
#include "tools/generate/decoder_session.h"

namespace fovea::test {
namespace {

struct Case {
  std::vector<int32_t> prompt, expected;
  std::vector<float> scores;  // score of the token chosen in each step
};

std::vector<int32_t> Ids(const tools::SafetensorsReader& golden, const std::string& name) {
  std::vector<int32_t> ids;
  for (const int64_t id : tools::ToIntegers(golden.Get(name))) ids.push_back(static_cast<int32_t>(id));
  return ids;
}

class PublishedGeneration : public ::testing::TestWithParam<const char*> {
 protected:
  std::string Path() const { return InData("hf/") + GetParam(); }
  std::vector<Case> Cases() const {
    const tools::SafetensorsReader golden(Path() + "/golden.safetensors");
    std::vector<Case> cases;
    for (const std::string name : {"gen_a", "gen_b"}) {
      Case c;
      c.prompt = Ids(golden, name + ".in.input_ids");
      c.expected = Ids(golden, name + ".out.sequences");
      c.expected.erase(c.expected.begin(), c.expected.begin() + static_cast<ptrdiff_t>(c.prompt.size()));
      const std::vector<float> logits = tools::ToFloats(golden.Get(name + ".out.step_logits"));
      const size_t width = logits.size() / c.expected.size();
      for (size_t i = 0; i < c.expected.size(); ++i) {
        c.scores.push_back(static_cast<float>(logits[i * width + static_cast<size_t>(c.expected[i])]));
      }
      cases.push_back(c);
    }
    return cases;
  }
};

TEST_P(PublishedGeneration, TokensAreThoseOfTheLibrary) {
  const Converted converted(Path(), DType::kF32);
  const std::vector<Case> cases = Cases();
  const auto expect = [&](const std::vector<size_t>& which, uint32_t workers) {
    std::vector<std::vector<int32_t>> prompts;
    for (const size_t i : which) prompts.push_back(cases[i].prompt);
    tools::GenerationRequest request;
    request.workers = workers;
    request.max_tokens = 24;
    request.stops = false;
    const std::vector<tools::Generation> made = tools::Generate(converted.model, prompts, request);
    for (size_t i = 0; i < which.size(); ++i) {
      const Case& c = cases[which[i]];
      ASSERT_EQ(made[i].tokens, c.expected);
      EXPECT_LE(LargestDifference(made[i].scores.data(), c.scores), 2e-3);  // logits are 5 to 50
    }
  };
  expect({0}, 1);
  expect({1}, 2);
  expect({0, 1}, 1);
  expect({1, 0, 0, 1}, 3);
}

std::map<uint32_t, std::vector<float>> ScoresOf(const tools::Model& model, uint32_t piece, uint32_t type,
                                                uint32_t workers) {
  tools::GenerationRequest request;
  request.workers = workers;
  request.cache_type = type;
  request.context = kTextTokens;
  tools::Session session(model, tools::ContinueRequest(model, {piece}, request));
  return ScoresByPieces(model, session, "input_ids", piece);
}

TEST_P(PublishedGeneration, PiecesGiveTheBitsOfTheWhole) {
  const Converted converted(Path(), DType::kI8);
  const std::vector<uint32_t> all = {FOVEA_TYPE_F16, FOVEA_TYPE_I8, FOVEA_TYPE_F32, FOVEA_TYPE_BF16};
  for (const uint32_t type : std::vector<uint32_t>(all.begin(), all.begin() + (FewerCases() ? 2 : 4))) {
    const auto one_by_one = ScoresOf(converted.model, 1, type, 1);
    const std::vector<uint32_t> pieces = {7, kTextTokens, 32};
    for (const uint32_t piece : std::vector<uint32_t>(pieces.begin(), pieces.begin() + (FewerCases() ? 1 : 3))) {
      for (const auto& [tokens, scores] : ScoresOf(converted.model, piece, type, 1 + piece % 3)) {
        EXPECT_EQ(scores, one_by_one.at(tokens)) << "type " << type << ", " << tokens << " tokens by " << piece;
      }
    }
  }
}

const char* const kPublished[] = {"llama",     "llama-rope3", "mistral",  "qwen2",  "qwen2-sliding", "qwen3",   "gemma",
                                  "gemma2",    "gemma3",      "phi",      "phi3",   "smollm3",       "olmo2",   "olmo3",
                                  "granite",   "starcoder2",  "stablelm", "cohere", "cohere2",       "mixtral", "olmoe",
                                  "qwen2_moe", "qwen3_moe",   "gpt_oss",  "lfm2"};
INSTANTIATE_TEST_SUITE_P(All, PublishedGeneration, ::testing::ValuesIn(kPublished), [](const auto& published) {
  std::string name = published.param;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

}  // namespace
}  // namespace fovea::test
