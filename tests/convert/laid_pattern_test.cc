// Patterns laid over attention that was trained without them.
#include "tools/convert/laid_pattern.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/convert/architecture_support.h"
#include "tools/convert/compare.h"
#include "tools/convert/description.h"
#include "tools/convert/loaded_blob.h"
#include "tools/model/batch.h"
#include "tools/model/session.h"
#include "tools/text/text_inputs.h"

namespace fovea::tools {
namespace {

using Layers = std::vector<std::pair<uint32_t, uint32_t>>;

class LaidPatterns : public Architecture {
 protected:
  std::vector<uint8_t> Laid(const LaidPattern& pattern, const std::string& task = "") {
    ConvertOptions options = Options(task);
    options.pattern = pattern;
    report_ = {};
    return BuildBlob(Describe(options), options, report_);
  }
  void ExpectLayRefused(const LaidPattern& pattern, const std::string& reason, const std::string& task = "") {
    try {
      Laid(pattern, task);
      ADD_FAILURE() << "not refused: " << reason;
    } catch (const Failure& failure) {
      EXPECT_NE(std::string(failure.what()).find(reason), std::string::npos) << failure.what();
    }
  }
  // The largest difference of all outputs over texts of up to 64 tokens.
  static double Difference(const std::vector<uint8_t>& a, const std::vector<uint8_t>& b) {
    ConvertReport report;
    CompareBlobs(a, b, {}, 1, report, {});
    double largest = 0;
    for (const OutputReport& output : report.outputs) largest = std::max(largest, output.max_abs_difference);
    return largest;
  }
};

// ModernBERT has layers with windows and layers without.
TEST_F(LaidPatterns, AreThoseThatModelsHaveThemselves) {
  Copy("modernbert");
  const char* const same_turns = R"({"global_rope_theta": 10000.0})";
  Change(same_turns);
  const std::vector<uint8_t> own = Blob();
  Change(R"({"global_rope_theta": 10000.0, "global_attn_every_n_layers": 1})");
  const std::vector<uint8_t> full = Blob();
  EXPECT_GT(Difference(own, full), 1e-4);
  EXPECT_EQ(Difference(own, Laid({8, 0, 0, {{1, 2}, {4, 4}}})), 0);
  EXPECT_EQ(report_.metadata.back(),
            std::make_pair(std::string("attention.laid"), std::string("window 8, layers 1-2,4")));
  EXPECT_GT(Difference(own, Laid({8, 0, 0, {{1, 2}}})), 1e-4);
  EXPECT_GT(Difference(own, Laid({6, 0, 0, {{1, 2}, {4, 4}}})), 1e-4);
  // Layers that already see less keep their pattern.
  Change(same_turns);
  EXPECT_EQ(Difference(own, Laid({64, 0, 0, {{1, 2}, {4, 4}}})), 0);
}

TEST_F(LaidPatterns, SeeAllOfShortTexts) {
  Copy("bert");
  const std::vector<uint8_t> full = Blob();
  EXPECT_EQ(Difference(full, Laid({128, 0, 0, {}})), 0);
  EXPECT_EQ(Difference(full, Laid({0, 0, 64, {}})), 0);
  EXPECT_EQ(Difference(full, Laid({2, 64, 0, {}})), 0);
  EXPECT_GT(Difference(full, Laid({0, 0, 4, {}})), 1e-4);
}

// Whether the last row of a text of 40 tokens changes with another token.
TEST_F(LaidPatterns, ReachAsFarAsLayersAndWindows) {
  Copy("bert");
  const auto feels = [&](const LaidPattern& pattern, size_t changed) {
    const LoadedBlob blob(Laid(pattern), "bert");
    Tokens text;
    text.ids.assign(40, 7), text.types.assign(40, 0);
    const auto last_row = [&] {
      Session session = SessionFor(blob.model, BatchFromTokens(blob.model, 0, {text}));
      session.Run();
      const Matrix rows = session.Output(OutputsOf(blob.model, 0)[0]);
      return std::vector<float>(rows.values.end() - rows.width, rows.values.end());
    };
    const std::vector<float> before = last_row();
    text.ids[changed] = 9;
    return before != last_row();
  };
  const uint32_t layers = ReadJson(golden_ / "config.json")["num_hidden_layers"];
  const LaidPattern pattern = {6, 0, 0, {}};
  EXPECT_TRUE(feels(pattern, 39 - 3 * layers));
  EXPECT_FALSE(feels(pattern, 38 - 3 * layers));
  EXPECT_TRUE(feels({6, 1, 0, {}}, 5)) << "by way of the first row";
}

// Equal to mistral's sliding_window, KV cache included.
TEST_F(LaidPatterns, BoundWhatDecodersKeep) {
  Copy("mistral");
  const uint32_t window = ReadJson(golden_ / "config.json")["sliding_window"];
  const std::vector<uint8_t> own = Blob("causal-lm");
  Change(R"({"sliding_window": null})");
  const std::vector<uint8_t> full = Blob("causal-lm");
  EXPECT_GT(Difference(own, full), 1e-4);
  const std::vector<uint8_t> laid = Laid({window, 0, 0, {}}, "causal-lm");
  EXPECT_EQ(Difference(own, laid), 0);
  const auto kept = [](const std::vector<uint8_t>& blob) {
    std::vector<uint32_t> rows;
    for (const test::ReadSpace& space : test::SecondReader(blob).spaces) rows.push_back(space.extra);
    return rows;
  };
  EXPECT_EQ(kept(own), kept(laid));
  EXPECT_NE(kept(own), kept(full));
  EXPECT_EQ(kept(Laid({window, 0, 0, {{1, 1}}}, "causal-lm")), kept(full)) << "the other layers need all";
  EXPECT_EQ(kept(Laid({window, 1, 0, {}}, "causal-lm")), kept(full)) << "so do sinks";
}

TEST_F(LaidPatterns, RefusesWhatDoesNotFit) {
  Copy("bert");
  ExpectLayRefused({7, 0, 0, {}}, "a window of 7 rows cannot be split into equal sides");
  ExpectLayRefused({8, 0, 0, {{0, 64}}}, "counted from 0");
  Copy("reformer-mlm");
  ExpectLayRefused({8, 0, 0, {}}, "which cannot be combined with another pattern");
  BlobContent nothing;
  EXPECT_THROW(LayPattern({8, 0, 0, {}}, nothing), Failure);
}

TEST_F(LaidPatterns, AreMeasuredAgainstTheLength) {
  Copy("bert");
  ConvertOptions options = Options();
  options.compare = Comparison::kQuick;
  options.pattern = {4, 1, 0, {}};
  ConvertReport report;
  BuildBlob(Describe(options), options, report);
  EXPECT_FALSE(report.outputs.empty()) << "against the model without the pattern";
  EXPECT_LT(report.outputs[0].lowest_cosine, 1);
  ASSERT_FALSE(report.lengths.empty());
  const uint32_t longest = ReadJson(golden_ / "config.json")["max_position_embeddings"];
  EXPECT_EQ(report.lengths.back().rows, std::min(longest, 1024u));
  for (const LengthReport& length : report.lengths) {
    EXPECT_GT(length.before_seconds, 0);
    EXPECT_GT(length.after_seconds, 0);
    EXPECT_LT(length.output.lowest_cosine, 1);
    EXPECT_LE(length.output.lowest_cosine, length.output.mean_cosine);
  }
}

TEST(Layers, AreRead) {
  EXPECT_EQ(ReadLayers("3"), (Layers{{3, 3}}));
  EXPECT_EQ(ReadLayers("0,2-11"), (Layers{{0, 0}, {2, 11}}));
  for (const char* text : {"", "a", "1,", "-3", "3-", "4-2", "1-2-3", "99999999999"}) {
    EXPECT_THROW(ReadLayers(text), Failure) << text;
  }
}

}  // namespace
}  // namespace fovea::tools
