// An encoder-decoder whose two sides have separate vocabularies: Marian with the decoder's words in another order.
#include <unistd.h>

#include "tests/golden/golden_support.h"

namespace fovea::test {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kVocabulary = 110;

uint32_t Renamed(uint32_t word) { return (word * 37 + 11) % kVocabulary; }

// Rows (of one row: columns) of a tensor where the words are then.
std::vector<float> InNewOrder(const std::vector<float>& values) {
  const size_t width = values.size() / kVocabulary;
  std::vector<float> made(values.size());
  for (uint32_t word = 0; word < kVocabulary; ++word) {
    std::copy_n(values.begin() + static_cast<ptrdiff_t>(word * width), width,
                made.begin() + static_cast<ptrdiff_t>(Renamed(word) * width));
  }
  return made;
}

std::vector<float> LogitsOf(const tools::Model& model, const std::vector<int32_t>& source,
                            const std::vector<int32_t>& target) {
  const uint32_t program = model.FindProgram("score");
  const auto value = [&](const char* name) { return *model.FindValue(program, name); };
  tools::SessionRequest request;
  request.program = program;
  for (uint32_t space = 0; space < model.Info().space_count; ++space) {
    request.limits.push_back({space, model.Space(space).parent == FOVEA_NONE ? 1u : 32u, 0});
  }
  tools::Session session(model, request);
  const auto feed = [&](const char* name, const std::vector<int32_t>& ids) {
    session.SetSegments(model.Value(program, value(name)).space, {static_cast<uint32_t>(ids.size())});
    session.SetInput(value(name), ids);
  };
  feed("input_ids", source);
  feed("decoder_input_ids", target);
  session.Run();
  return session.Output(value("logits")).values;
}

TEST(SeparateWords, TheDecoderReadsAndScoresItsOwn) {
  const fs::path golden = InData("hf/marian"),
                 directory = fs::path(::testing::TempDir()) / ("words-" + std::to_string(getpid()));
  fs::remove_all(directory);
  fs::create_directories(directory);
  std::ifstream config_file(golden / "config.json");
  std::string config((std::istreambuf_iterator<char>(config_file)), std::istreambuf_iterator<char>());
  const std::string key = "\"share_encoder_decoder_embeddings\": true";
  ASSERT_NE(config.find(key), std::string::npos);
  config.replace(config.find(key), key.size(), "\"share_encoder_decoder_embeddings\": false");
  std::ofstream(directory / "config.json") << config;
  const tools::SafetensorsReader stored((golden / "model.safetensors").string());
  tools::SafetensorsWriter writer;
  for (const auto& [name, tensor] : stored.tensors()) {
    const std::vector<float> values = tools::ToFloats(tensor);
    if (name == "model.shared.weight") {
      writer.AddFloats("model.encoder.embed_tokens.weight", tensor.shape, values.data());
      writer.AddFloats("model.decoder.embed_tokens.weight", tensor.shape, InNewOrder(values).data());
    } else if (name == "final_logits_bias") {
      writer.AddFloats(name, tensor.shape, InNewOrder(values).data());
    } else if (name.find("embed_tokens") == std::string::npos && name.find("lm_head") == std::string::npos) {
      writer.AddFloats(name, tensor.shape, values.data());
    }
  }
  writer.Write((directory / "model.safetensors").string());
  const std::vector<int32_t> source = {5, 100, 7, 33, 33, 90, 0}, target = {109, 4, 18, 77, 2};
  std::vector<int32_t> renamed;
  for (const int32_t word : target) renamed.push_back(static_cast<int32_t>(Renamed(static_cast<uint32_t>(word))));
  const Converted shared(golden.string(), DType::kF32), separate(directory.string(), DType::kF32);
  const std::vector<float> expected = LogitsOf(shared.model, source, target);
  const std::vector<float> found = LogitsOf(separate.model, source, renamed);
  ASSERT_EQ(found.size(), target.size() * kVocabulary);
  for (size_t i = 0; i < found.size(); i += kVocabulary) {
    for (uint32_t word = 0; word < kVocabulary; ++word) {
      ASSERT_NEAR(found[i + Renamed(word)], expected[i + word], 2e-4) << "word " << word;
    }
  }
  fs::remove_all(directory);
}

}  // namespace
}  // namespace fovea::test
