// Published encoder-decoders write what the original library writes: the best token of each step, and by beams.
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/golden/golden_support.h"
#include "tests/golden/made.h"
#include "tests/support/fewer_cases.h"
#include "tools/base/json.h"
#include "tools/convert/description.h"
#include "tools/generate/generation.h"
#include "tools/tensors/padded_inputs.h"

namespace fovea::test {
namespace {

using tools::Json;

// A batch and what came of it. Texts shorter than the longest are filled up.
struct Case {
  std::string name;
  Json parameters;
  tools::StoredTensors inputs;                // the encoder's
  std::vector<std::vector<int32_t>> sources;  // those, where they are texts
  std::vector<std::vector<int32_t>> targets;
  std::vector<float> scores;
};

std::vector<std::vector<int32_t>> Rows(const tools::StoredTensor& stored) {
  const std::vector<int64_t> ids = tools::ToIntegers(stored);
  const size_t rows = stored.shape[0], width = ids.size() / rows;
  std::vector<std::vector<int32_t>> all;
  for (size_t i = 0; i < rows; ++i) all.emplace_back(ids.begin() + i * width, ids.begin() + (i + 1) * width);
  return all;
}

class PublishedSearch : public ::testing::TestWithParam<const char*> {
 protected:
  std::string Path() const { return InData("hf/") + GetParam(); }

  std::vector<Case> Cases() const {
    const Json described = tools::ReadJson(Path() + "/golden.json");
    std::vector<Case> cases;
    for (const Json& one : described["cases"]) {
      if (one["kind"] != "generate") continue;
      Case c = {one["name"], one["parameters"], {}, {}, {}, {}};
      const std::string in = c.name + ".in.";
      for (const auto& [name, tensor] : golden_.tensors()) {
        if (name.rfind(in, 0) == 0) c.inputs[name.substr(in.size())] = tensor;
      }
      if (c.inputs.count("input_ids") != 0) AddTexts(&c);
      c.targets = Rows(golden_.Get(c.name + ".out.sequences"));
      for (std::vector<int32_t>& target : c.targets) target.erase(target.begin());  // the start token
      if (const auto* scores = golden_.Find(c.name + ".out.sequences_scores")) c.scores = tools::ToFloats(*scores);
      cases.push_back(c);
    }
    return cases;
  }

  static void AddTexts(Case* c) {
    c->sources = Rows(c->inputs.at("input_ids"));
    const auto masks = Rows(c->inputs.at("attention_mask"));
    for (size_t i = 0; i < masks.size(); ++i) {
      c->sources[i].resize(static_cast<size_t>(std::count(masks[i].begin(), masks[i].end(), 1)));
    }
  }

  static std::vector<tools::Generation> Generate(const tools::Model& model, const Case& c,
                                                 const tools::GenerationRequest& request) {
    if (!c.sources.empty()) return tools::Generate(model, c.sources, request);
    const tools::Batch batch = tools::BatchFromTensors(model, tools::EncoderProgram(model), c.inputs);
    const tools::Session encode = tools::Encode(model, batch, request.workers);
    return tools::Generate(model, encode, std::vector<std::vector<int32_t>>(c.targets.size()), request);
  }

  void ExpectTextsOfTheLibrary(size_t least_beams) const;

  const tools::SafetensorsReader golden_{Path() + "/golden.safetensors"};

  // The model, with the library's list of tokens that never follow.
  Made Convert(const Json& parameters) const {
    tools::ConvertOptions options = Converted::OptionsOf(Path(), DType::kF32);
    options.compare = tools::Comparison::kNone;
    tools::Description description = tools::Describe(options);
    if (parameters.contains("bad_words_ids")) {
      description.SetMetadata("generate.suppress_ids", std::to_string(parameters["bad_words_ids"][0][0].get<int>()));
    }
    tools::ConvertReport report;
    return Made(tools::BuildBlob(description, options, report));
  }

  static tools::GenerationRequest RequestOf(const Json& parameters) {
    tools::GenerationRequest request;
    request.max_tokens = parameters["max_new_tokens"];
    request.stops = !parameters["eos_token_id"].is_null();
    if (parameters["num_beams"] == 1) return request;
    request.beams = tools::Sized<fovea_beams>();
    request.beams->width = parameters["num_beams"];
    request.beams->length_penalty = parameters.value("length_penalty", 1.0f);
    return request;
  }
};

void PublishedSearch::ExpectTextsOfTheLibrary(size_t least_beams) const {
  const std::vector<Case> cases = Cases();
  const Made converted = Convert(cases.at(0).parameters);
  size_t beams = 0;
  for (const Case& c : cases) {
    beams += c.scores.size();
    tools::GenerationRequest request = RequestOf(c.parameters);
    for (const uint32_t workers : {1u, 3u}) {
      if (FewerCases() && workers == 3) break;
      request.workers = workers;
      const std::vector<tools::Generation> made = Generate(converted.model, c, request);
      ASSERT_EQ(made.size(), c.targets.size());
      for (size_t i = 0; i < made.size(); ++i) {
        std::vector<int32_t> expected = c.targets[i];
        expected.resize(made[i].tokens.size());  // without what fills it up
        EXPECT_EQ(made[i].tokens, expected) << c.name;
        for (size_t k = expected.size(); k < c.targets[i].size(); ++k) {
          EXPECT_EQ(c.targets[i][k], c.parameters["pad_token_id"]) << c.name;
        }
        if (c.scores.empty()) continue;
        ASSERT_EQ(made[i].hypotheses.size(), 1u);
        EXPECT_NEAR(made[i].hypotheses[0].score, c.scores[i], 1e-4 * std::fabs(c.scores[i]) + 1e-5) << c.name;
      }
    }
  }
  EXPECT_GE(beams, least_beams);
}

TEST_P(PublishedSearch, TextsAreThoseOfTheLibrary) { ExpectTextsOfTheLibrary(4); }

// Sound and pictures.
class PublishedSearchOfRows : public PublishedSearch {};
TEST_P(PublishedSearchOfRows, TextsAreThoseOfTheLibrary) { ExpectTextsOfTheLibrary(2); }

// Beams of a text do not depend on what else is in its batch, nor does one beam differ from none.
TEST_P(PublishedSearch, BatchesAndOneBeamChangeNothing) {
  const std::vector<Case> cases = Cases();
  const Made converted = Convert(cases.at(0).parameters);
  std::vector<std::vector<int32_t>> sources;
  for (const Case& c : cases) sources.insert(sources.end(), c.sources.begin(), c.sources.end());
  if (FewerCases()) sources.resize(3);
  tools::GenerationRequest request;
  request.max_tokens = 12;
  const std::vector<tools::Generation> plain = tools::Generate(converted.model, sources, request);
  for (const uint32_t width : {1u, 5u}) {
    request.beams = tools::Sized<fovea_beams>();
    request.beams->width = width;
    request.beams->length_penalty = 1;
    request.hypotheses = width;
    const std::vector<tools::Generation> together = tools::Generate(converted.model, sources, request);
    for (size_t i = 0; i < sources.size(); ++i) {
      const tools::Generation alone = tools::Generate(converted.model, {sources[i]}, request)[0];
      ASSERT_EQ(alone.hypotheses.size(), together[i].hypotheses.size());
      for (size_t k = 0; k < alone.hypotheses.size(); ++k) {
        EXPECT_EQ(alone.hypotheses[k].tokens, together[i].hypotheses[k].tokens);
        EXPECT_EQ(alone.hypotheses[k].score, together[i].hypotheses[k].score);
      }
      if (width == 1) {
        EXPECT_EQ(alone.tokens, plain[i].tokens);
      }
    }
  }
}

std::string NameOf(const ::testing::TestParamInfo<const char*>& published) {
  std::string name = published.param;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, PublishedSearch,
                         ::testing::Values("t5", "t5-v1_1", "bart", "mbart", "marian", "pegasus", "blenderbot-small",
                                           "m2m_100"),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(All, PublishedSearchOfRows,
                         ::testing::Values("whisper", "moonshine", "speech_to_text", "trocr"), NameOf);

}  // namespace
}  // namespace fovea::test
