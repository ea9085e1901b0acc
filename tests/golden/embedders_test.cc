// Decoders as embedders: directories of sentence-transformers around one, against the pooled hidden states of the
// original library.
#include <unistd.h>

#include <functional>

#include "tests/golden/golden_support.h"
#include "tools/text/text_inputs.h"

namespace fovea::test {
namespace {

namespace fs = std::filesystem;

struct Mode {
  const char* key;
  std::function<double(size_t row, size_t rows)> weight;
};
const Mode kModes[] = {
    {"pooling_mode_lasttoken", [](size_t row, size_t rows) { return row + 1 == rows ? 1.0 : 0.0; }},
    {"pooling_mode_mean_tokens", [](size_t, size_t rows) { return 1.0 / static_cast<double>(rows); }},
    {"pooling_mode_weightedmean_tokens",
     [](size_t row, size_t rows) {
       return static_cast<double>(row + 1) / (0.5 * static_cast<double>(rows) * static_cast<double>(rows + 1));
     }},
};

class Embedder : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    from_ = InData("hf/") + GetParam();
    directory_ = fs::path(::testing::TempDir()) / ("embedder-" + std::to_string(getpid()));
    fs::remove_all(directory_);
    fs::create_directories(directory_ / "1_Pooling");
    for (const char* file : {"model.safetensors", "config.json"}) fs::copy(fs::path(from_) / file, directory_ / file);
    Write("modules.json", R"([
      {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
      {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
      {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}])");
  }
  void TearDown() override { fs::remove_all(directory_); }
  void Write(const std::string& file, const std::string& text) const { std::ofstream(directory_ / file) << text; }

  std::string from_;
  fs::path directory_;
};

TEST_P(Embedder, PoolsWhatTheDecoderMakes) {
  const tools::SafetensorsReader golden(from_ + "/golden.safetensors");
  for (const Mode& mode : kModes) {
    const bool mean = std::string(mode.key) == "pooling_mode_mean_tokens";  // whose default is true
    Write("1_Pooling/config.json", std::string("{\"pooling_mode_cls_token\": false, \"") + mode.key + "\": true" +
                                       (mean ? "}" : ", \"pooling_mode_mean_tokens\": false}"));
    for (const uint32_t backend : {FOVEA_BACKEND_DEFAULT, FOVEA_BACKEND_HIGHWAY}) {
      const Converted converted(directory_.string(), DType::kF32, "", backend);
      for (const std::string name : {"a", "b"}) {
        const std::vector<int64_t> ids = tools::ToIntegers(golden.Get(name + ".in.input_ids"));
        uint32_t last = 0;
        while (golden.Find(name + ".out.hidden_states." + std::to_string(last + 1)) != nullptr) ++last;
        const std::vector<float> states =
            tools::ToFloats(golden.Get(name + ".out.hidden_states." + std::to_string(last)));
        const size_t width = states.size() / ids.size();
        std::vector<double> pooled(width);
        double squares = 0;
        for (size_t i = 0; i < states.size(); ++i) pooled[i % width] += mode.weight(i / width, ids.size()) * states[i];
        for (const double x : pooled) squares += x * x;
        std::vector<float> expected;
        for (const double x : pooled) expected.push_back(static_cast<float>(x / std::sqrt(squares)));
        tools::Tokens tokens;
        tokens.ids.assign(ids.begin(), ids.end());
        tokens.types.assign(ids.size(), 0);
        tools::Session session =
            tools::SessionFor(converted.model, tools::BatchFromTokens(converted.model, 0, {tokens, tokens}));
        session.Run();
        const tools::Matrix found = session.Output(ValueOf(converted.model, "sentence_embedding"));
        ASSERT_EQ(found.values.size(), 2 * width);
        EXPECT_LE(LargestDifference(found.values.data(), expected), 1e-4) << mode.key << " " << name;
        EXPECT_LE(LargestDifference(found.values.data() + width, expected), 1e-4) << mode.key << " " << name;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Embedder, ::testing::Values("qwen3", "mistral", "gpt2", "lfm2"));

}  // namespace
}  // namespace fovea::test
