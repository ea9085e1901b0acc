// fovea eval --perplexity beside a plain loop: windows as transformers' documentation has them, each decoded token by
// token, and sums in double precision.
#include "tools/eval/perplexity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "fovea/cache.h"
#include "tests/support/paths.h"
#include "tests/tools/tiny_bert.h"
#include "tools/base/mapped_file.h"
#include "tools/text/tokenizer.h"

namespace fovea::test {
namespace {

using nlohmann::json;
using tools::Model;

constexpr char kText[] =
    "A library to read compressed audio files. It supports FLAC and Ogg Vorbis,\nand others besides: "
    "\xc3\xa9t\xc3\xa9, 1234. This package provides the Maven plugin that allows one to run tests.";

const std::string& Writer(const std::string& weights) {
  static std::map<std::string, std::string> blobs;
  std::string& blob = blobs[weights];
  if (blob.empty()) {
    blob = Temporary("writer-" + weights + ".fovea");
    const CommandResult made = Fovea(
        {"convert", InSource("tools/train/package-writer"), "-o", blob, "--weights", weights, "--compare", "none"});
    EXPECT_EQ(made.status, 0) << made.err;
  }
  return blob;
}

std::string WriteText(const std::string& name, const std::string& text) {
  const std::string path = Temporary(name);
  tools::WriteFile(path, text.data(), text.size());
  return path;
}

struct Foretold {
  double nats = 0;
  uint64_t tokens = 0;
};

// Adds a window of ids, tokens from `counted` on, by one step of `decode` each.
void Step(const Model& model, const std::vector<int32_t>& ids, size_t counted, Foretold& sum) {
  tools::SessionRequest request;
  request.program = model.FindProgram("decode");
  const uint32_t input = *model.FindValue(request.program, "input_ids");
  const uint32_t tokens = model.Value(request.program, input).space;
  const auto length = static_cast<uint32_t>(ids.size());
  request.limits = {{model.Space(tokens).parent, 1, 0}, {tokens, 1, 1}};
  for (uint32_t space = 0; space < model.Info().space_count; ++space) {
    if (model.Space(space).is_cached != 0) request.limits.push_back({space, length, length});
  }
  tools::Session session(model, request);
  for (size_t i = 0; i + 1 < ids.size(); ++i) {
    session.SetSegments(tokens, {1});
    session.SetInput(input, std::vector<int32_t>{ids[i]});
    session.Run();
    const tools::Matrix logits = session.Output(*model.FindValue(request.program, "next_logits"));
    ASSERT_EQ(logits.rows, 1u);
    if (i + 1 < counted) continue;
    double total = 0;
    for (const float logit : logits.values) total += std::exp(static_cast<double>(logit) - logits.values[ids[i + 1]]);
    sum.nats += std::log(total);
    ++sum.tokens;
  }
}

// Perplexity of whole texts.
Foretold Plainly(const Model& model, const std::vector<std::string>& texts, size_t length, size_t stride) {
  Foretold sum;
  for (const std::string& text : texts) {
    const std::vector<int32_t> ids = tools::Tokenizer(model).Encode(text, 0).ids;
    size_t previous_end = 0;
    for (size_t begin = 0; begin < ids.size(); begin += stride) {
      const size_t end = std::min(begin + length, ids.size());
      const size_t counted = std::max(previous_end, begin + 1);
      Step(model, {ids.begin() + static_cast<ptrdiff_t>(begin), ids.begin() + static_cast<ptrdiff_t>(end)},
           counted - begin, sum);
      previous_end = end;
      if (end == ids.size()) break;
    }
  }
  return sum;
}

void ExpectPlain(const json& report, const Foretold& expected) {
  EXPECT_EQ(report["tokens"], expected.tokens);
  const double mean = expected.nats / static_cast<double>(expected.tokens);
  EXPECT_NEAR(std::log(report["perplexity"].get<double>()), mean, 1e-5 * mean);
  EXPECT_NEAR(report["bits_per_token"].get<double>(), mean / std::log(2), 1e-5 * mean);
  EXPECT_NEAR(report["bits_per_byte"].get<double>() * report["text_bytes"].get<double>(), expected.nats / std::log(2),
              1e-4 * expected.nats);
}

TEST(Perplexity, IsThatOfStepByStepLogits) {
  const Model model(Writer("f32"), {});
  const std::string file = WriteText("whole.txt", kText);
  for (const auto& [length, stride] : {std::pair<size_t, size_t>{256, 128}, {16, 8}, {16, 16}, {13, 5}, {2, 1}}) {
    const json report = FoveaJson({"eval", Writer("f32"), "--perplexity", file, "--max-length", std::to_string(length),
                                   "--stride", std::to_string(stride), "--json"})["models"][0];
    EXPECT_EQ(report["window"], length);
    EXPECT_EQ(report["stride"], stride);
    ExpectPlain(report, Plainly(model, {kText}, length, stride));
  }
  // The model's own length, and half of it.
  const json usual = FoveaJson({"eval", Writer("f32"), "--perplexity", file, "--json"})["models"][0];
  EXPECT_EQ(usual["window"], 256);
  EXPECT_EQ(usual["stride"], 128);
  // All bytes except the first token's, which has no prediction.
  const tools::Tokens tokens = tools::Tokenizer(model).Encode(kText, 0);
  EXPECT_EQ(usual["text_bytes"], std::string(kText).size() - tokens.end[0]);
}

TEST(Perplexity, OfLinesIsOfEachByItself) {
  const Model model(Writer("f32"), {});
  const std::vector<std::string> lines = {"A library to read files", "x", "Ogg Vorbis and FLAC, and others", "games",
                                          "provides the Maven plugin that allows one to run tests"};
  std::string text;
  for (const std::string& line : lines) text += line + "\n\n";
  const std::string file = WriteText("lines.txt", text);
  const Foretold expected = Plainly(model, lines, 6, 4);
  for (const char* batch : {"1", "3", "16"}) {
    const json report = FoveaJson({"eval", Writer("f32"), "--perplexity", file, "--lines", "--max-length", "6",
                                   "--stride", "4", "--batch", batch, "--workers", "2", "--json"})["models"][0];
    EXPECT_EQ(report["texts"], lines.size());
    ExpectPlain(report, expected);
  }
}

// The result is the same for any division of windows into runs.
TEST(Perplexity, WindowsInParts) {
  const Model model(Writer("f32"), {});
  tools::PerplexityRequest request;
  request.texts = {kText, "A library", kText};
  request.window = 20;
  request.stride = 9;
  const json whole = tools::EvaluatePerplexity({&model}, request, [](size_t, size_t) {})["models"][0];
  for (const uint32_t rows : {1u, 7u, 19u}) {
    request.rows = rows;
    const json parts = tools::EvaluatePerplexity({&model}, request, [](size_t, size_t) {})["models"][0];
    EXPECT_EQ(parts["tokens"], whole["tokens"]);
    EXPECT_NEAR(parts["perplexity"].get<double>(), whole["perplexity"].get<double>(), 1e-9);
  }
}

TEST(Perplexity, OfTwoModels) {
  const std::string file = WriteText("two.txt", kText);
  const json report = FoveaJson({"eval", Writer("f32"), "--compare", Writer("int8"), "--perplexity", file,
                                 "--max-length", "12", "--stride", "6", "--batch", "2", "--json"});
  const json alone = FoveaJson(
      {"eval", Writer("int8"), "--perplexity", file, "--max-length", "12", "--stride", "6", "--json"})["models"][0];
  EXPECT_EQ(report["models"][1], alone);
  EXPECT_LT(report["models"][1]["bytes"], report["models"][0]["bytes"]);
  EXPECT_NE(report["models"][1]["perplexity"], report["models"][0]["perplexity"]);
  const json& outputs = report["agreement"]["outputs"];
  EXPECT_EQ(outputs["rows"], report["models"][0]["tokens"]);
  EXPECT_GT(outputs["same_choice"], 0.8);
  EXPECT_GT(outputs["cosine"]["p0"], 0.99);
  EXPECT_LT(outputs["cosine"]["p0"], 1);
  EXPECT_TRUE(report["time"].contains("turns"));
  // Compared with itself: no differences.
  const json same = FoveaJson({"eval", Writer("f32"), "--compare", Writer("f32"), "--perplexity", file, "--json"});
  EXPECT_EQ(same["agreement"]["outputs"]["same_choice"], 1);
  EXPECT_NEAR(same["agreement"]["outputs"]["cosine"]["p0"].get<double>(), 1, 1e-12);
}

TEST(Perplexity, WrongUseIsRefused) {
  const std::string file = WriteText("wrong.txt", kText);
  EXPECT_NE(FoveaError({"eval", TinyBlob("sequence"), "--perplexity", file}).find("perplexity needs a decoder"),
            std::string::npos);
  EXPECT_NE(FoveaError({"eval", Writer("f32"), "--perplexity", file, "--max-length", "300"}).find("300"),
            std::string::npos);
  EXPECT_NE(
      FoveaError({"eval", Writer("f32"), "--perplexity", file, "--max-length", "8", "--stride", "9"}).find("stride"),
      std::string::npos);
  EXPECT_NE(FoveaError({"eval", Writer("f32"), "--perplexity", file, "--max-length", "1"}).find("window"),
            std::string::npos);
  EXPECT_NE(FoveaError({"eval", Writer("f32"), "--perplexity", WriteText("empty.txt", "")}).find("empty.txt"),
            std::string::npos);
  EXPECT_NE(FoveaError({"eval", Writer("f32"), "--perplexity", Temporary("absent.txt")}).find("absent.txt"),
            std::string::npos);
}

}  // namespace
}  // namespace fovea::test
