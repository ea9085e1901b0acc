// Published decoders: scores and hidden states of whole texts, against what the original library computes.
#include <algorithm>
#include <cmath>
#include <optional>

#include "fovea/cache.h"
#include "tests/golden/golden_support.h"
#include "tests/support/emulated.h"
#include "tools/check/golden_check.h"
#include "tools/common/batch.h"

namespace fovea::test {
namespace {

struct Published {
  const char* name;
  double int8_cosine = 0.98;  // of these tiny random models; trained ones lose less
  bool translates = false;    // a sequence into another one
  int32_t never = -1;         // a token that is not taken
  size_t switches_at = 0;     // a text this long has other rotary positions, so its keys are made anew
  const char* left_out = "";  // outputs that begin so are laid out as nothing here is
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
                                {"led", 0.98, true},
                                {"longt5-tglobal", 0.98, true, -1, 0, "encoder_attentions"}};

std::vector<int32_t> Ids(const tools::StoredTensor& stored) {
  const std::vector<int64_t> numbers = tools::ToIntegers(stored);
  return {numbers.begin(), numbers.end()};
}

// A session of a program for one text of up to 80 tokens, if the model has positions for them.
tools::SessionRequest OneText(const tools::Model& model, const std::string& program) {
  tools::SessionRequest request;
  request.program = model.FindProgram(program);
  for (uint32_t space = 0; space < model.Info().space_count; ++space) {
    const fovea_space_info info = model.Space(space);
    if (info.is_input == 0 && info.is_cached == 0) continue;
    if (info.parent == FOVEA_NONE) {
      request.limits.push_back({space, 1, 0});
    } else {
      const uint32_t most = std::min(80u, info.max_segment_rows);
      request.limits.push_back({space, most, most});
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
      if (Emulated() && workers == 1) break;
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

// One text, for which the best token is taken again and again.
class Speaker {
 public:
  explicit Speaker(const tools::Model& model) : model_(model), request_(OneText(model, "decode")) {
    for (uint32_t value = 0; value < model.Program(request_.program).value_count; ++value) {
      const fovea_value_info info = model.Value(request_.program, value);
      if (info.role != FOVEA_ROLE_INPUT) continue;
      if (info.type == FOVEA_TYPE_I32) {
        ids_ = value;
      } else {
        request_.linked.push_back(value);
      }
    }
    session_.emplace(model, request_);
  }

  // What the text is about, to a model that translates. `marks`: its global tokens, if it asks for them; empty: none.
  void Read(const std::vector<int32_t>& source, const std::vector<int32_t>& marks = {}) {
    source_.emplace(model_, OneText(model_, "encode"));
    const uint32_t program = model_.FindProgram("encode"), ids = *model_.FindValue(program, "input_ids");
    source_->SetSegments(model_.Value(program, ids).space, {static_cast<uint32_t>(source.size())});
    source_->SetInput(ids, source);
    if (const auto asked = model_.FindValue(program, "global_attention_mask")) {
      source_->SetInput(*asked, marks.empty() ? std::vector<int32_t>(source.size()) : marks);
    }
    source_->Run();
    // One text in the making.
    session_->SetSegments(model_.Space(model_.Value(request_.program, ids_).space).parent, {1});
    session_->SetSegments(model_.Value(request_.program, ids_).space, {1});
    for (const uint32_t input : request_.linked) {
      const uint32_t output = *model_.FindValue(program, model_.Value(request_.program, input).name);
      EXPECT_EQ(fovea_session_link(session_->get(), input, source_->get(), output, nullptr), FOVEA_OK);
    }
  }

  void Forget() { EXPECT_EQ(fovea_cache_rewind(session_->get(), 0, 0, nullptr), FOVEA_OK); }

  // Scores of the token after these new ones.
  std::vector<float> Next(const std::vector<int32_t>& fresh) {
    session_->SetSegments(model_.Value(request_.program, ids_).space, {static_cast<uint32_t>(fresh.size())});
    session_->SetInput(ids_, fresh);
    session_->Run();
    return session_->Output(*model_.FindValue(request_.program, "next_logits")).values;
  }

 private:
  const tools::Model& model_;
  tools::SessionRequest request_;
  uint32_t ids_ = 0;
  std::optional<tools::Session> session_, source_;
};

// The prompt at once, then token by token over what is kept of those before.
TEST_P(PublishedDecoder, BestTokensAreEqual) {
  const tools::SafetensorsReader golden(Path() + "/golden.safetensors");
  const Converted converted(Path(), DType::kF32);
  for (const std::string which : {"a", "b"}) {
    const std::string name = (GetParam().translates ? "greedy_" : "gen_") + which;
    if (golden.Find(name + ".in.input_ids") == nullptr) continue;  // nothing was generated
    const std::vector<int32_t> input = Ids(golden.tensors().at(name + ".in.input_ids"));
    const std::vector<int32_t> expected = Ids(golden.tensors().at(name + ".out.sequences"));
    const std::vector<float> steps = tools::ToFloats(golden.tensors().at(name + ".out.step_logits"));
    Speaker speaker(converted.model);
    std::vector<int32_t> text = input;
    if (GetParam().translates) {
      const tools::StoredTensor* marks = golden.Find(name + ".in.global_attention_mask");
      speaker.Read(input, marks == nullptr ? std::vector<int32_t>() : Ids(*marks));
      text = {expected[0]};
    }
    for (size_t begin = 0, step = 0; text.size() < expected.size(); ++step) {
      if (text.size() == GetParam().switches_at) {
        speaker.Forget();
        begin = 0;
      }
      std::vector<float> found = speaker.Next({text.begin() + static_cast<ptrdiff_t>(begin), text.end()});
      const auto row = steps.begin() + static_cast<ptrdiff_t>(step * found.size());
      const std::vector<float> reference(row, row + static_cast<ptrdiff_t>(found.size()));
      float largest = 0;
      for (const float score : reference) largest = std::max(largest, std::fabs(score));
      ASSERT_LE(LargestDifference(found.data(), reference), 1e-4 * largest + 1e-5) << name << " step " << step;
      if (GetParam().never >= 0) found[static_cast<size_t>(GetParam().never)] = -INFINITY;
      begin = text.size();
      text.push_back(static_cast<int32_t>(std::max_element(found.begin(), found.end()) - found.begin()));
    }
    EXPECT_EQ(text, expected) << name;
  }
}

TEST_P(PublishedDecoder, NextScoresAreThoseOfTheLastToken) {
  if (GetParam().translates) return;  // BestTokensAreEqual has all of their scores
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
std::vector<float> ScoresOf(const tools::Model& model, const std::vector<int32_t>& source,
                            const std::vector<int32_t>& text) {
  const tools::SessionRequest request = OneText(model, "score");
  tools::Session session(model, request);
  const std::pair<const char*, const std::vector<int32_t>&> inputs[] = {{"input_ids", source},
                                                                        {"decoder_input_ids", text}};
  for (const auto& [name, ids] : inputs) {
    const uint32_t input = *model.FindValue(request.program, name);
    session.SetSegments(model.Value(request.program, input).space, {static_cast<uint32_t>(ids.size())});
    session.SetInput(input, ids);
  }
  const auto marks = model.FindValue(request.program, "global_attention_mask");
  if (marks) session.SetInput(*marks, std::vector<int32_t>(source.size()));
  session.Run();
  return session.Output(*model.FindValue(request.program, "logits")).values;
}

// What the decoder reads through links is stored as the conversion says, and so is what it keeps: the bits are those of
// a program that has both parts and casts in between.
TEST_P(PublishedDecoder, LinkedKeysAreStoredAsWanted) {
  if (!GetParam().translates) return;
  const std::vector<int32_t> source = {5, 9, 14, 3, 22, 8, 1}, text = {2, 7, 30, 11, 4};
  const std::vector<float> exact = ScoresOf(Converted(Path(), DType::kI8).model, source, text);
  // Dynamically quantized rows make the most of a small difference.
  for (const auto& [type, cosine] :
       std::vector<std::pair<DType, double>>{{DType::kF16, 0.9998}, {DType::kBf16, 0.999}, {DType::kI8, 0.998}}) {
    tools::ConvertOptions options = Converted::OptionsOf(Path(), DType::kI8);
    options.keys = type;
    const Converted converted(options);
    const uint32_t decode = converted.model.FindProgram("decode");
    EXPECT_EQ(converted.model.Value(decode, *converted.model.FindValue(decode, "cross_keys.0")).type,
              static_cast<uint32_t>(type));
    const std::vector<float> scores = ScoresOf(converted.model, source, text);
    EXPECT_GE(Cosine(scores.data(), exact.data(), exact.size()), cosine);
    EXPECT_NE(scores, exact);
    Speaker speaker(converted.model);
    speaker.Read(source);
    for (size_t i = 0; i < text.size(); ++i) {
      const std::vector<float> next = speaker.Next({text[i]});
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
