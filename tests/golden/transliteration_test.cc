// A trained character model of CTranslate2, Arabic to Latin script: what that project asserts of it, and 1,590 names.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/golden/golden_support.h"
#include "tests/golden/made.h"
#include "tests/support/characters.h"
#include "tests/support/fewer_cases.h"
#include "tests/support/run_command.h"
#include "tools/convert/description.h"
#include "tools/generate/generation.h"

namespace fovea::test {
namespace {

using Json = nlohmann::json;
using Ids = std::vector<int32_t>;

size_t Distance(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (size_t i = 0; i < a.size(); ++i) {
    size_t before = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t changed = before + (a[i] == b[j] ? 0 : 1);
      before = row[j + 1];
      row[j + 1] = std::min({changed, before + 1, row[j] + 1});
    }
  }
  return row.back();
}

std::string Joined(const Json& symbols) {
  std::string text;
  for (const Json& symbol : symbols) text += symbol.get<std::string>();
  return text;
}

class Transliteration : public ::testing::Test {
 protected:
  const std::string directory_ = InShared("models/ct2-aren");

  Json ReadShared(const std::string& name) const {
    std::ifstream file(directory_ + "/" + name);
    return Json::parse(file);
  }

  std::vector<uint8_t> Blob(DType weights, const std::string& stop_ids = "") const {
    tools::ConvertOptions options = Converted::OptionsOf(directory_, weights, "", "seq2seq-lm");
    options.compare = tools::Comparison::kNone;
    tools::Description description = tools::Describe(options);
    if (!stop_ids.empty()) description.SetMetadata("generate.stop_ids", stop_ids);
    tools::ConvertReport report;
    return tools::BuildBlob(description, options, report);
  }

  Ids TargetIds(const Json& symbols) const {
    static const Json vocabulary = ReadShared("target_vocab.json");
    Ids ids;
    for (const Json& symbol : symbols) {
      ids.push_back(static_cast<int32_t>(std::find(vocabulary.begin(), vocabulary.end(), symbol) - vocabulary.begin()));
    }
    return ids;
  }

  static Ids Source(const tools::Model& model, const std::string& text) {
    return tools::Tokenizer(model).Encode(text, 0).ids;
  }

  // As that project searches: until as many are found as there are beams.
  static tools::GenerationRequest Search(uint32_t width) {
    tools::GenerationRequest request;
    request.max_tokens = 30;
    if (width == 1) return request;
    request.beams = tools::Sized<fovea_beams>();
    request.beams->width = width;
    request.beams->stop = FOVEA_BEAMS_STOP_FIRST;
    request.beams->length_penalty = 1;
    return request;
  }

  static std::string Written(const tools::Model& model, const Json& source, const tools::GenerationRequest& request) {
    return tools::Generate(model, {Source(model, Joined(source))}, request)[0].text;
  }

  struct Pairs {
    std::vector<std::string> sources, targets, greedy;
  };
  Pairs ReadPairs() const {
    std::ifstream file(directory_ + "/ar2en-test.tsv");
    Pairs pairs;
    std::string line;
    for (std::getline(file, line); std::getline(file, line);) {
      const size_t first = line.find('\t'), second = line.find('\t', first + 1);
      pairs.sources.push_back(line.substr(0, first));
      pairs.targets.push_back(line.substr(first + 1, second - first - 1));
      pairs.greedy.push_back(line.substr(second + 1));
      if (FewerCases() && pairs.sources.size() == 60) break;
    }
    return pairs;
  }

  // Summed distances to the targets, by their summed lengths.
  static double ErrorRate(const std::vector<std::string>& found, const Pairs& pairs) {
    size_t distance = 0, length = 0;
    for (size_t i = 0; i < found.size(); ++i) {
      const std::vector<std::string> target = Characters(pairs.targets[i]);
      distance += Distance(Characters(found[i]), target);
      length += target.size();
    }
    return static_cast<double>(distance) / static_cast<double>(length);
  }

  static std::vector<std::string> Write(const tools::Model& model, const Pairs& pairs) {
    tools::GenerationRequest request;
    request.max_tokens = 29;
    request.workers = 2;
    std::vector<std::string> texts;
    for (size_t at = 0; at < pairs.sources.size(); at += 200) {
      std::vector<Ids> sources;
      for (size_t i = at; i < std::min(at + 200, pairs.sources.size()); ++i) {
        sources.push_back(Source(model, pairs.sources[i]));
      }
      for (const tools::Generation& made : tools::Generate(model, sources, request)) texts.push_back(made.text);
    }
    return texts;
  }
};

TEST_F(Transliteration, EveryWordWithItsProbabilities) {
  if (Missing(directory_)) GTEST_SKIP();
  const Made converted(Blob(DType::kF32));
  const tools::SafetensorsReader expected(directory_ + "/expected.safetensors");
  const Json all = ReadShared("expected.json");
  ASSERT_EQ(all["cases"].size(), 13u);
  for (const Json& one : all["cases"]) {
    const Ids source = Source(converted.model, one["source"]);
    EXPECT_EQ(Json(source), one["source_ids"]);
    tools::GenerationRequest request = Search(1);
    request.sampling.logprobs = 1;
    const tools::Generation made = tools::Generate(converted.model, {source}, request)[0];
    EXPECT_EQ(made.text, one["greedy"]);
    Ids tokens = one["decoder_input_ids"];
    tokens.erase(tokens.begin());
    tokens.push_back(2);
    EXPECT_EQ(made.tokens, tokens);
    const std::string name = one["name"];
    EXPECT_LE(LargestDifference(made.logprobs.data(), tools::ToFloats(expected.Get(name + ".token_log_probs"))), 1e-4);
  }
}

TEST_F(Transliteration, StringsOfTheOriginalProject) {
  if (Missing(directory_)) GTEST_SKIP();
  const Made converted(Blob(DType::kF32)), ends_with_m(Blob(DType::kF32, std::to_string(TargetIds({"m"})[0])));
  const tools::Model& model = converted.model;
  const Json upstream = ReadShared("expected.json")["upstream"];
  const auto each = [&](const char* kind, const auto& f) {
    for (const Json& one : upstream[kind]) {
      for (const uint32_t width : one["beam_sizes"]) {
        tools::GenerationRequest request = Search(width);
        EXPECT_EQ(f(one, request), Joined(one["expected"])) << kind << ", " << width << " beams";
      }
    }
  };
  each("translate", [&](const Json& one, auto& request) { return Written(model, one["source"], request); });
  each("translate_with_forced_prefix", [&](const Json& one, auto& request) {
    request.prefix = TargetIds(one["prefix"]);
    return Written(model, one["source"], request);
  });
  each("suppress_sequences", [&](const Json& one, auto& request) {
    for (const Json& sequence : one["suppress"]) request.rules.forbid.push_back(TargetIds(sequence));
    return Written(model, one["source"], request);
  });
  each("end_token", [&](const Json& one, auto& request) {
    EXPECT_EQ(one["end_token"], "m");
    return Written(ends_with_m.model, one["source"], request);
  });
  for (const Json& one : upstream["length_limits"]) {
    tools::GenerationRequest request = Search(1);
    if (one.contains("max_decoding_length")) request.max_tokens = one["max_decoding_length"];
    if (one.contains("min_decoding_length")) request.rules.min_tokens = one["min_decoding_length"].get<uint32_t>() + 1;
    EXPECT_EQ(Characters(Written(model, one["source"], request)).size(), one["output_length"]);
  }
  size_t alternatives = 0;
  for (const Json& one : upstream["alternatives_at_prefix"]) {
    if (!one.contains("source")) continue;  // a note
    tools::GenerationRequest first = Search(1);
    first.prefix = TargetIds(one["prefix"]);
    first.max_tokens = 1;
    first.sampling.top_logprobs = 2;
    const Ids source = Source(model, Joined(one["source"]));
    const auto best = tools::Generate(model, {source}, first)[0].top.at(0);
    for (const size_t rank : {0, 1}) {
      tools::GenerationRequest request = Search(2);
      request.prefix = first.prefix;
      request.prefix.push_back(best[rank].first);
      EXPECT_EQ(tools::Generate(model, {source}, request)[0].text, Joined(one[rank == 0 ? "first" : "second"]));
      ++alternatives;
    }
  }
  EXPECT_EQ(alternatives, 8u);
}

// Targets that are given: probabilities of their tokens, and for one that is unknown where the decoder looked.
TEST_F(Transliteration, GivenTargets) {
  if (Missing(directory_)) GTEST_SKIP();
  const Made converted(Blob(DType::kF32));
  const tools::Model& model = converted.model;
  const Json upstream = ReadShared("expected.json")["upstream"];
  tools::SessionRequest request;
  request.program = model.FindProgram("score");
  for (uint32_t space = 0; space < model.Info().space_count; ++space) {
    const fovea_space_info info = model.Space(space);
    if (info.is_input != 0) request.limits.push_back({space, info.parent == FOVEA_NONE ? 1u : 20u, 0});
  }
  request.taps = {tools::TapOf(*model.FindAttention(request.program, "cross_attentions.5"))};
  request.taps[0].reduce = FOVEA_REDUCE_MEAN;
  tools::Session session(model, request);
  const auto value = [&](const char* name) { return *model.FindValue(request.program, name); };
  const auto run = [&](const Json& source, const Ids& target) {
    const Ids ids = Source(model, Joined(source));
    session.SetSegments(model.Value(request.program, value("input_ids")).space, {static_cast<uint32_t>(ids.size())});
    session.SetSegments(model.Value(request.program, value("decoder_input_ids")).space,
                        {static_cast<uint32_t>(target.size())});
    session.SetInput(value("input_ids"), ids);
    session.SetInput(value("decoder_input_ids"), target);
    session.Run();
    return session.Output(value("logits"));
  };
  for (const Json& one : upstream["token_log_probs"]["cases"]) {
    Ids target = TargetIds(one["target"]);
    target.insert(target.begin(), 1);
    const tools::Matrix logits = run(one["source"], target);
    target.push_back(2);
    for (uint32_t i = 0; i < logits.rows; ++i) {
      double sum = 0;
      for (uint32_t k = 0; k < logits.width; ++k) sum += std::exp(double{logits.Row(i)[k]});
      EXPECT_NEAR(logits.Row(i)[target[i + 1]] - std::log(sum), one["expected"][i].get<double>(), 1e-5);
    }
  }
  const Json& unknown = upstream["replace_unknowns"][0];
  Ids target = TargetIds(unknown["prefix"]);
  target.insert(target.begin(), 1);
  run(unknown["source"], target);
  const float* row = session.AttentionMap(0).data;
  const auto most = std::max_element(row, row + unknown["source"].size()) - row;
  EXPECT_EQ(unknown["source"][static_cast<size_t>(most)], unknown["expected"][0]);
}

TEST_F(Transliteration, FromTheCommandLine) {
  if (Missing(directory_)) GTEST_SKIP();
  const std::string blob = ::testing::TempDir() + "transliteration." + std::to_string(getpid());
  const CommandResult converted =
      Fovea({"convert", directory_, "--task", "seq2seq-lm", "--compare", "none", "-o", blob});
  ASSERT_EQ(converted.status, 0) << converted.err;
  EXPECT_EQ(Fovea({"translate", blob, "--beams", "2", "--text", "آتزمون"}).out, "atzmon\n");
  EXPECT_EQ(Fovea({"translate", blob, "--text", "آتشيسون", "--target-prefix", "ache"}).out, "acheson\n");
  EXPECT_EQ(Fovea({"translate", blob, "--text", "آتزمون", "--suppress", "o"}).out, "atzmun\n");
  std::filesystem::remove(blob);
}

TEST_F(Transliteration, NamesAreWrittenAsWell) {
  if (Missing(directory_)) GTEST_SKIP();
  const Pairs pairs = ReadPairs();
  const Made exact(Blob(DType::kF32)), int8(Blob(DType::kI8));
  const std::vector<std::string> texts = Write(exact.model, pairs);
  EXPECT_EQ(texts, pairs.greedy);
  const double rate = ErrorRate(texts, pairs), of_int8 = ErrorRate(Write(int8.model, pairs), pairs);
  std::cout << "character error rate: f32 " << rate << ", int8 " << of_int8 << "\n";
  EXPECT_LE(std::fabs(of_int8 - rate), 0.005);
  if (FewerCases()) return;
  ASSERT_EQ(texts.size(), 1590u);
  EXPECT_NEAR(rate, 0.225866, 1e-6);
}

}  // namespace
}  // namespace fovea::test
