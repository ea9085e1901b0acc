// The repository's own decoder, a Llama of five layers that writes descriptions of packages.
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "runtime/blob/names.h"
#include "tests/golden/own_models.h"
#include "tests/golden/perplexity.h"
#include "tests/support/fewer_cases.h"
#include "tools/generate/generation.h"

namespace fovea::test {
namespace {

std::string Writer() { return InSource("tools/train/package-writer"); }
std::string Draft() { return InSource("tools/train/package-writer-draft"); }

tools::ConvertOptions Options(DType weights, DType keys) {
  tools::ConvertOptions options = Converted::OptionsOf(Writer(), weights);
  options.keys = keys;
  return options;
}

// Both models as PyTorch computes them, texts and their ids, and what they write.
TEST(PackageWriter, EqualsPyTorch) {
  for (const std::string& directory : {Writer(), Draft()}) {
    const Converted converted(directory, DType::kF32);
    const Json cases = tools::ReadJson(directory + "/golden.json");
    const size_t layers = directory == Writer() ? 5 : 2;
    ExpectGolden(converted, directory, layers + 3, std::nullopt, {"a", "b"});
    const tools::Tokenizer tokenizer(converted.model);
    for (const auto& [name, about] : cases.items()) {
      const std::vector<int32_t> ids = about["ids"];
      EXPECT_EQ(tokenizer.Encode(about["text"], 0).ids, ids);
      if (!about.contains("continuation")) continue;
      tools::GenerationRequest request;
      request.max_tokens = 24;
      const tools::Generation made = tools::Generate(converted.model, {ids}, request)[0];
      EXPECT_EQ(made.text, about["continuation"]) << name;
    }
  }
}

// The held-out texts, as they were encoded for training: prompt and description apart, at most 256 tokens and one more.
std::vector<ScoredText> HeldOutTexts(const tools::Model& model, size_t most) {
  const tools::Tokenizer tokenizer(model);
  const int32_t end = 0;
  std::vector<ScoredText> texts;
  for (const auto& row : ReadTable(Writer() + "/eval.tsv")) {
    if (texts.size() == most) break;
    ScoredText text;
    text.ids = tokenizer.Encode(row[0] + "\n", 0).ids;
    text.given = text.ids.size();
    std::string description = row[1];
    for (size_t i = 2; i < row.size(); ++i) description += "\n" + row[i];
    for (const int32_t id : tokenizer.Encode(description, 0).ids) text.ids.push_back(id);
    text.ids.push_back(end);
    text.ids.resize(std::min<size_t>(text.ids.size(), 257));
    texts.push_back(text);
  }
  return texts;
}

// Cost of shorter weights and a shorter KV cache. PyTorch has 23.932 with the same f16 weights in f32.
TEST(PackageWriter, PerplexityOfHeldOutTexts) {
  struct Case {
    DType weights, keys;
    double low, high;
  };
  const Case cases[] = {{DType::kF32, DType::kF32, 23.93, 23.935},
                        {DType::kI8, DType::kF32, 23.8, 24.1},
                        {DType::kI8, DType::kF16, 23.8, 24.1},
                        {DType::kI8, DType::kI8, 23.8, 24.1},
                        {DType::kI4, DType::kF16, 23.9, 30}};
  for (const Case& c : cases) {
    if (FewerCases() && c.weights != DType::kF32) continue;  // conversion alone takes long
    const Converted converted(Options(c.weights, c.keys));
    const double found = Perplexity(converted.model, HeldOutTexts(converted.model, FewerCases() ? 2 : 100));
    std::cout << "weights " << NameOf(c.weights) << ", keys " << NameOf(c.keys) << ": perplexity " << found << ", "
              << converted.blob.size() << " bytes\n";
    if (FewerCases()) continue;  // the two texts at once use the rest
    EXPECT_GE(found, c.low);
    EXPECT_LE(found, c.high);
  }
}

// Drawn tokens depend on the seed and the number of the text, not on what else is in the batch.
TEST(PackageWriter, WritesTheSameAloneAndAmongOthers) {
  const Converted converted(Options(DType::kI8, DType::kF16));
  const tools::Tokenizer tokenizer(converted.model);
  std::vector<std::vector<int32_t>> prompts;
  for (const char* name :
       {"libs / libpng-tools\n", "games / castle-siege\nreal-time strategy", "python / python3-x\n"}) {
    prompts.push_back(tokenizer.Encode(name, 0).ids);
  }
  tools::GenerationRequest request;
  request.max_tokens = 40;
  request.sampling.temperature = 0.8f;
  request.sampling.top_p = 0.95f;
  request.sampling.seed = 7;
  const std::vector<tools::Generation> together = tools::Generate(converted.model, prompts, request);
  const tools::Generation alone = tools::Generate(converted.model, {prompts[0]}, request)[0];
  EXPECT_EQ(alone.tokens, together[0].tokens);
  EXPECT_EQ(tools::Generate(converted.model, prompts, request)[2].tokens, together[2].tokens);
  request.sampling.seed = 8;
  EXPECT_NE(tools::Generate(converted.model, {prompts[0]}, request)[0].tokens, alone.tokens);
}

// The same weights with a window of 24 tokens in each layer, from a copy of the directory with that configuration.
class WindowedWriter {
 public:
  WindowedWriter() : directory_(std::filesystem::path(::testing::TempDir()) / ("writer-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(directory_);
    Json config = tools::ReadJson(Writer() + "/config.json");
    config["model_type"] = "mistral";
    config["architectures"] = {"MistralForCausalLM"};
    config["sliding_window"] = kWindow;
    config["max_position_embeddings"] = 4096;
    std::ofstream(directory_ / "config.json") << config;
    for (const char* file :
         {"model.safetensors", "tokenizer.json", "tokenizer_config.json", "generation_config.json"}) {
      std::filesystem::copy(Writer() + "/" + file, directory_ / file,
                            std::filesystem::copy_options::overwrite_existing);
    }
  }
  ~WindowedWriter() { std::filesystem::remove_all(directory_); }

  static constexpr uint32_t kWindow = 24;
  std::string directory() const { return directory_.string(); }

 private:
  const std::filesystem::path directory_;
};

// The KV cache of a text does not grow with the text, and the scores equal a run over the whole text.
TEST(PackageWriter, AWindowKeepsWhatItSees) {
  const WindowedWriter writer;
  const Converted converted(writer.directory(), DType::kI8);
  const tools::Model& model = converted.model;
  const uint32_t length = FewerCases() ? 150 : 600;
  const auto request_of = [&](const char* program, uint32_t rows, uint32_t kept) {
    tools::SessionRequest request;
    request.program = model.FindProgram(program);
    for (uint32_t space = 0; space < model.Info().space_count; ++space) {
      const fovea_space_info info = model.Space(space);
      if (info.parent == FOVEA_NONE) continue;
      request.limits.push_back({space, info.is_input != 0 ? rows : kept, info.is_input != 0 ? rows : length});
    }
    return request;
  };
  std::vector<int32_t> ids(length);
  uint32_t state = 3;
  for (int32_t& id : ids) id = static_cast<int32_t>((state = state * 1664525 + 1013904223) >> 21);
  const auto run = [&](tools::Session& session, const tools::SessionRequest& request,
                       const std::vector<int32_t>& part) {
    const uint32_t input = *model.FindValue(request.program, "input_ids");
    session.SetSegments(model.Value(request.program, input).space, {static_cast<uint32_t>(part.size())});
    session.SetInput(input, part);
    session.Run();
  };
  const tools::SessionRequest whole = request_of("score", length, length);
  tools::Session scored(model, whole);
  run(scored, whole, ids);
  const tools::Matrix expected = scored.Output(*model.FindValue(whole.program, "logits"));
  // Room for the window, for the rows of a run, and for a page that is begun.
  const tools::SessionRequest step = request_of("decode", 7, WindowedWriter::kWindow + 7 + 64);
  tools::Session session(model, step);
  for (uint32_t at = 0; at < length;) {
    const uint32_t count = std::min(1 + at % 7, length - at);
    run(session, step, {ids.begin() + at, ids.begin() + at + count});
    at += count;
    const std::vector<float> found = session.Output(*model.FindValue(step.program, "next_logits")).values;
    EXPECT_EQ(found, std::vector<float>(expected.Row(at - 1), expected.Row(at - 1) + expected.width)) << at;
  }
}

}  // namespace
}  // namespace fovea::test
