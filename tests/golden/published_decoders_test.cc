// Published decoders: scores and hidden states of whole texts, against what the original library computes.
#include <algorithm>
#include <cmath>
#include <optional>

#include "fovea/cache.h"
#include "tests/golden/golden_support.h"
#include "tests/support/fewer_cases.h"
#include "tools/check/golden_check.h"
#include "tools/measure/synthetic_batch.h"
#include "tools/model/batch.h"
#include "tools/tensors/padded_inputs.h"

namespace fovea::test {
namespace {

struct Published {
  const char* name;
  double int8_cosine = 0.98;   // for these tiny random models; trained ones lose less
  bool translates = false;     // a sequence into another one
  int32_t never = -1;          // a token that is not taken
  size_t switches_at = 0;      // a text this long has other rotary positions, so it starts over
  const char* left_out = "";   // outputs that begin so are laid out as nothing here is
  const char* elsewhere = "";  // a case that another test has
  double f16_keys_cosine = 0.9998;
};

void PrintTo(const Published& published, std::ostream* out) { *out << published.name; }

const Published kPublished[] = {{"llama"},
                                {"llama-rope3"},
                                {"llama-linear"},
                                {"llama-yarn"},
                                {"mistral"},
                                {"qwen2"},
                                {"qwen2-sliding"},
                                {"qwen3"},
                                {"gemma"},
                                {"gemma2"},
                                {"gemma3"},
                                {"phi"},
                                {"phi3"},
                                {"phi3-longrope", 0.98, false, -1, 25},
                                {"smollm3"},
                                {"olmo2"},
                                {"olmo3"},
                                {"mixtral"},
                                {"olmoe"},
                                {"qwen2_moe"},
                                {"qwen3_moe"},
                                {"gpt_oss", 0.95},  // a token whose experts score nearly alike may take another one
                                {"granite"},
                                {"starcoder2"},
                                {"stablelm"},
                                {"cohere"},
                                {"cohere2"},
                                {"gpt2"},
                                {"gpt_bigcode"},
                                {"gptj"},
                                {"gpt_neo"},
                                {"gpt_neox"},
                                {"gpt_neox-seq"},
                                {"falcon"},
                                {"falcon-gqa"},
                                {"lfm2"},
                                {"bloom"},
                                {"modernbert-decoder"},
                                {"t5", 0.98, true},
                                {"t5-v1_1", 0.98, true},
                                {"bart", 0.98, true},
                                {"mbart", 0.98, true},
                                {"marian", 0.98, true, 109},
                                {"pegasus", 0.98, true},
                                {"blenderbot-small", 0.98, true},
                                {"m2m_100", 0.98, true},
                                {"whisper", 0.98, true},
                                {"moonshine", 0.98, true, -1, 0, "", "pad"},
                                {"speech_to_text", 0.98, true},
                                {"trocr", 0.98, true, -1, 0, "", "", 0.9997},
                                {"led", 0.98, true},
                                {"longt5-tglobal", 0.98, true, -1, 0, "encoder_attentions"}};

std::vector<int32_t> Ids(const tools::StoredTensor& stored) {
  const std::vector<int64_t> numbers = tools::ToIntegers(stored);
  return {numbers.begin(), numbers.end()};
}

// Limits of a program that continues texts of up to 80 tokens, if the model has positions for them, and limits of its
// sources.
std::vector<fovea_limit> LimitsOf(const tools::Model& model, uint32_t texts, std::vector<fovea_limit> limits) {
  const auto limited = [&](uint32_t space) {
    const auto same = [&](const fovea_limit& limit) { return limit.space == space; };
    return std::any_of(limits.begin(), limits.end(), same);
  };
  for (uint32_t space = 0; space < model.Info().space_count; ++space) {
    const fovea_space_info info = model.Space(space);
    if (info.is_cached != 0) {
      const auto same = [&](const fovea_limit& limit) { return limit.space == space; };
      limits.erase(std::remove_if(limits.begin(), limits.end(), same), limits.end());
    }
    if (limited(space) || (info.is_input == 0 && info.is_cached == 0)) continue;
    const uint32_t most = std::min(80u, info.max_segment_rows);
    limits.push_back(info.parent == FOVEA_NONE ? fovea_limit{space, texts, 0} : fovea_limit{space, texts * most, most});
  }
  return limits;
}

void ExpectWithinRounding(const std::vector<float>& found, const std::vector<float>& reference,
                          const std::string& where) {
  float largest = 0;
  for (const float score : reference) largest = std::max(largest, std::fabs(score));
  ASSERT_EQ(found.size(), reference.size()) << where;
  EXPECT_LE(LargestDifference(found.data(), reference), 1e-4 * largest + 1e-5) << where;
}

class PublishedDecoder : public ::testing::TestWithParam<Published> {
 protected:
  std::string Path() const { return InData("hf/") + GetParam().name; }
  // Forward passes, which the golden file has beside generated texts.
  std::vector<std::string> Cases(const tools::StoredTensors& golden) const {
    std::vector<std::string> cases;
    for (const auto& [name, tensors] : tools::CasesOf(golden)) {
      if (tensors.out.count("logits") != 0 && name != GetParam().elsewhere) cases.push_back(name);
    }
    return cases;
  }
  void ExpectAllOk(const Converted& converted, tools::CheckOptions options) const {
    const tools::SafetensorsReader golden(Path() + "/golden.safetensors");
    options.cases = Cases(golden.tensors());
    size_t compared = 0;
    bool scored = false;
    for (const tools::CheckLine& line : tools::CheckGolden(converted.model, golden.tensors(), options)) {
      const std::string left_out = GetParam().left_out;
      const bool comparable = left_out.empty() || line.tensor.compare(0, left_out.size(), left_out) != 0;
      EXPECT_TRUE(line.ok || !comparable) << tools::LineText(line);
      compared += line.compared ? 1 : 0;
      scored |= line.compared && line.tensor == "logits";
    }
    EXPECT_TRUE(scored);
    EXPECT_GE(compared, 13u);
  }
};

TEST_P(PublishedDecoder, F32IsWithinRounding) {
  for (const uint32_t backend : {FOVEA_BACKEND_DEFAULT, FOVEA_BACKEND_HIGHWAY}) {
    const Converted converted(Path(), DType::kF32, "", backend);
    for (const uint32_t workers : {3u, 1u}) {
      if (FewerCases() && workers == 1) break;
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

// Texts, for which the best token is taken again and again. `source`: what they are about, to a model that translates.
class Speaker {
 public:
  Speaker(const tools::Model& model, uint32_t texts, const tools::StoredTensors& source)
      : model_(model), texts_(texts) {
    request_.program = model.FindProgram("decode");
    for (uint32_t value = 0; value < model.Program(request_.program).value_count; ++value) {
      const fovea_value_info info = model.Value(request_.program, value);
      if (info.role != FOVEA_ROLE_INPUT) continue;
      if (info.type == FOVEA_TYPE_I32) {
        ids_ = value;
      } else {
        request_.linked.push_back(value);
      }
    }
    if (source.empty()) {
      request_.limits = LimitsOf(model, texts, {});
      session_.emplace(model, request_);
    } else {
      Read(source);
    }
  }

  void Forget() {
    for (uint32_t text = 0; text < texts_; ++text) {
      EXPECT_EQ(fovea_cache_rewind(session_->get(), text, 0, nullptr), FOVEA_OK);
    }
  }

  // Scores of what follows the tokens of each text, of which those from `begin` on are new.
  std::vector<float> Next(const std::vector<std::vector<int32_t>>& texts, size_t begin) {
    std::vector<int32_t> fresh;
    std::vector<uint32_t> lengths;
    for (const std::vector<int32_t>& text : texts) {
      fresh.insert(fresh.end(), text.begin() + static_cast<ptrdiff_t>(begin), text.end());
      lengths.push_back(static_cast<uint32_t>(text.size() - begin));
    }
    session_->SetSegments(model_.Value(request_.program, ids_).space, lengths);
    session_->SetInput(ids_, fresh);
    session_->Run();
    return session_->Output(*model_.FindValue(request_.program, "next_logits")).values;
  }

 private:
  void Read(const tools::StoredTensors& source) {
    tools::SessionRequest request;
    request.program = model_.FindProgram("encode");
    source_.emplace(tools::SessionFor(model_, tools::BatchFromTensors(model_, request.program, source), request));
    source_->Run();
    request_.limits = LimitsOf(model_, texts_, source_->request().limits);
    session_.emplace(model_, request_);
    // One text in the making for each; both sequences are of the same texts.
    session_->SetSegments(model_.Space(model_.Value(request_.program, ids_).space).parent,
                          std::vector<uint32_t>(texts_, 1));
    session_->SetSegments(model_.Value(request_.program, ids_).space, std::vector<uint32_t>(texts_, 1));
    for (const uint32_t input : request_.linked) {
      const uint32_t output = *model_.FindValue(request.program, model_.Value(request_.program, input).name);
      EXPECT_EQ(fovea_session_link(session_->get(), input, source_->get(), output, nullptr), FOVEA_OK);
    }
  }

  const tools::Model& model_;
  tools::SessionRequest request_;
  const uint32_t texts_;
  uint32_t ids_ = 0;
  std::optional<tools::Session> session_, source_;
};

// A text token by token has the scores of the whole. Where it starts over because its length changes its positions, the
// whole is the longer text. Returns how many steps are compared.
size_t StepThroughText(const tools::Model& model, const tools::StoredTensors& golden, const std::string& name,
                       size_t switches_at) {
  const std::vector<int32_t> text = Ids(golden.at(name + ".in.input_ids"));
  const std::vector<float> scores = tools::ToFloats(golden.at(name + ".out.logits"));
  const auto width = static_cast<ptrdiff_t>(scores.size() / text.size());
  Speaker speaker(model, 1, {});
  size_t compared = 0;
  for (size_t begin = 0, at = 1; at <= text.size(); begin = at++) {
    if (at == switches_at) {
      speaker.Forget();
      begin = 0;
    }
    const auto end = text.begin() + static_cast<ptrdiff_t>(at);
    const std::vector<float> found = speaker.Next({{text.begin(), end}}, begin);
    if (at < switches_at && text.size() >= switches_at) continue;
    const auto row = scores.begin() + static_cast<ptrdiff_t>(at - 1) * width;
    ExpectWithinRounding(found, {row, row + width}, name + " token " + std::to_string(at));
    ++compared;
  }
  return compared;
}

// The prompt at once, then token by token over the cached rows: the best tokens are the ones that the library chose.
// Returns how many steps are compared.
size_t StepThroughGeneration(const tools::Model& model, const tools::StoredTensors& golden, const std::string& name,
                             const Published& published) {
  const tools::StoredTensor& sequences = golden.at(name + ".out.sequences");
  const std::vector<int32_t> expected = Ids(sequences);
  const size_t count = sequences.shape[0], length = sequences.shape[1];
  const std::vector<float> steps = tools::ToFloats(golden.at(name + ".out.step_logits"));
  tools::StoredTensors source = tools::CasesOf(golden).at(name).in;
  std::vector<std::vector<int32_t>> texts(count, {expected[0]});
  if (!published.translates) {
    EXPECT_EQ(count, 1u);
    texts[0] = Ids(source.at("input_ids"));
    source.clear();
  }
  Speaker speaker(model, static_cast<uint32_t>(count), source);
  const size_t prompt = texts[0].size();
  for (size_t begin = 0, at = prompt; at < length; begin = at++) {
    const std::vector<float> all = speaker.Next(texts, begin);
    const auto width = static_cast<ptrdiff_t>(all.size() / count);
    for (size_t i = 0; i < count; ++i) {
      std::vector<float> found(all.begin() + static_cast<ptrdiff_t>(i) * width,
                               all.begin() + static_cast<ptrdiff_t>(i + 1) * width);
      const auto row = steps.begin() + static_cast<ptrdiff_t>(i * (length - prompt) + at - prompt) * width;
      ExpectWithinRounding(found, {row, row + width}, name + " token " + std::to_string(at));
      if (published.never >= 0) found[static_cast<size_t>(published.never)] = -INFINITY;
      texts[i].push_back(static_cast<int32_t>(std::max_element(found.begin(), found.end()) - found.begin()));
    }
  }
  for (size_t i = 0; i < count; ++i) {
    const auto first = expected.begin() + static_cast<ptrdiff_t>(i * length);
    EXPECT_EQ(texts[i], std::vector<int32_t>(first, first + static_cast<ptrdiff_t>(length))) << name << " " << i;
  }
  return length - prompt;
}

TEST_P(PublishedDecoder, StepsAreThoseOfTheLibrary) {
  const tools::SafetensorsReader golden(Path() + "/golden.safetensors");
  const Converted converted(Path(), DType::kF32);
  size_t compared = 0;
  for (const std::string which : {"a", "b"}) {
    if (!GetParam().translates) {
      compared += StepThroughText(converted.model, golden.tensors(), which, GetParam().switches_at);
    }
    const std::string made = (GetParam().translates ? "greedy_" : "gen_") + which;
    if (golden.Find(made + ".out.sequences") != nullptr) {
      compared += StepThroughGeneration(converted.model, golden.tensors(), made, GetParam());
    }
  }
  EXPECT_GE(compared, 32u);
}

TEST_P(PublishedDecoder, NextScoresAreThoseOfTheLastToken) {
  if (GetParam().translates) return;  // StepsAreThoseOfTheLibrary has all of their scores
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

// Scores of all tokens of a text by the program that keeps nothing.
std::vector<float> ScoresOf(const tools::Model& model, tools::StoredTensors inputs, const std::vector<int32_t>& text) {
  tools::SessionRequest request;
  request.program = model.FindProgram("score");
  inputs["decoder_input_ids"] = {tools::ElementType::kI32,
                                 {1, text.size()},
                                 reinterpret_cast<const uint8_t*>(text.data()),
                                 text.size() * sizeof(int32_t)};
  tools::Session session = tools::SessionFor(model, tools::BatchFromTensors(model, request.program, inputs), request);
  session.Run();
  return session.Output(*model.FindValue(request.program, "logits")).values;
}

// Values that the decoder reads through links, and its KV cache, are stored in the types of the conversion: the bits
// equal a program that has both parts and casts between them.
TEST_P(PublishedDecoder, LinkedKeysAreStoredAsWanted) {
  if (!GetParam().translates) return;
  const tools::SafetensorsReader golden(Path() + "/golden.safetensors");
  const tools::StoredTensors source = tools::CasesOf(golden.tensors()).at("greedy_a").in;
  const std::vector<int32_t> text = {2, 7, 30, 11, 4};
  const std::vector<float> exact = ScoresOf(Converted(Path(), DType::kI8).model, source, text);
  // Dynamically quantized rows make the most of a small difference.
  for (const auto& [type, cosine] : std::vector<std::pair<DType, double>>{
           {DType::kF16, GetParam().f16_keys_cosine}, {DType::kBf16, 0.999}, {DType::kI8, 0.998}}) {
    tools::ConvertOptions options = Converted::OptionsOf(Path(), DType::kI8);
    options.keys = type;
    const Converted converted(options);
    const uint32_t decode = converted.model.FindProgram("decode");
    EXPECT_EQ(converted.model.Value(decode, *converted.model.FindValue(decode, "cross_keys.0")).type,
              static_cast<uint32_t>(type));
    const std::vector<float> scores = ScoresOf(converted.model, source, text);
    EXPECT_GE(Cosine(scores.data(), exact.data(), exact.size()), cosine);
    EXPECT_NE(scores, exact);
    Speaker speaker(converted.model, 1, source);
    for (size_t i = 0; i < text.size(); ++i) {
      const auto end = text.begin() + static_cast<ptrdiff_t>(i) + 1;
      const std::vector<float> next = speaker.Next({{text.begin(), end}}, i);
      const auto row = scores.begin() + static_cast<ptrdiff_t>(i * next.size());
      EXPECT_EQ(next, std::vector<float>(row, row + static_cast<ptrdiff_t>(next.size()))) << "token " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, PublishedDecoder, ::testing::ValuesIn(kPublished), [](const auto& published) {
  std::string name = published.param.name;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

}  // namespace
}  // namespace fovea::test
