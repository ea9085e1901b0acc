// fovea forecast: numbers of a series as bins, and continuations by a T5 whose tokens are bins.
#include "tools/generate/forecast.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/parsed_json.h"
#include "tests/support/paths.h"
#include "tests/support/run_command.h"
#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

using nlohmann::json;
using test::CommandResult;
using test::Fovea;
namespace fs = std::filesystem;

std::string RefusalOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "was not refused";
}

// Ten tokens, two of them special: seven centers from -3 to 3, and boundaries halfway between.
const SeriesBins kBins(-3, 3, 10, 2, 8, 1);

TEST(SeriesBins, NumbersOverTheirMeanMagnitude) {
  // The mean magnitude is 2, so the scaled numbers are 0.5, -1, 0.2 and 2.3.
  const SeriesTokens tokens = kBins.TokensOf({1, -2, 0.4f, 4.6f});
  EXPECT_FLOAT_EQ(tokens.scale, 2);
  EXPECT_EQ(tokens.ids, (std::vector<int32_t>{7, 5, 6, 8, 1})) << "a bin begins with its lower boundary";
  EXPECT_EQ(tokens.dropped, 0u);
  for (int32_t token = 3; token < 10; ++token) EXPECT_EQ(kBins.ValueOf(token), static_cast<float>(token - 6));
  EXPECT_EQ(kBins.ValueOf(0), -3) << "special tokens mean the lowest number, as in the original";
  EXPECT_EQ(SeriesBins(-3, 3, 10, 2, 8, -1).TokensOf({1, -1}).ids, (std::vector<int32_t>{7, 5}));
}

TEST(SeriesBins, Limits) {
  EXPECT_EQ(kBins.TokensOf({0, 0}).ids, (std::vector<int32_t>{6, 6, 1})) << "the scale of zeros is 1";
  EXPECT_EQ(kBins.TokensOf({0, 0}).scale, 1);
  EXPECT_EQ(kBins.TokensOf({1, 0, 0, 0, 0, 0, 0, 0}).ids[0], 9) << "8 times the mean: the outermost bin";
  const SeriesTokens longer = kBins.TokensOf({50, 50, 1, 1, 1, 1, 1, 1, 1, 1});
  EXPECT_EQ(longer.dropped, 2u);
  EXPECT_EQ(longer.scale, 1) << "of the numbers that are read";
  EXPECT_EQ(longer.ids.size(), 9u);
  EXPECT_EQ(kBins.TokensOf({NAN, NAN, 1, -1}).ids, kBins.TokensOf({1, -1}).ids);
  EXPECT_NE(RefusalOf([] {
              kBins.TokensOf({1, NAN, 1});
            }).find("number 2 of the series is missing"),
            std::string::npos);
  EXPECT_NE(RefusalOf([] { kBins.TokensOf({NAN}); }).find("has no numbers"), std::string::npos);
  EXPECT_NE(RefusalOf([] { kBins.TokensOf({1, INFINITY}); }).find("not finite"), std::string::npos);
}

TEST(SeriesBins, Files) {
  const auto read = [](const std::string& text) { return ReadSeries(text, "s.txt"); };
  EXPECT_EQ(read("1, 2;3\r\n-4e1\t.5\n"), (std::vector<float>{1, 2, 3, -40, 0.5f}));
  EXPECT_TRUE(std::isnan(read("nan null 1")[1]));
  EXPECT_EQ(RefusalOf([&] { read("1 2x 3"); }),
            "s.txt: '2x' is not a number; a series is numbers separated by spaces, commas or ends of lines");
  EXPECT_EQ(RefusalOf([&] { read(" \n"); }), "s.txt: has no numbers");
}

TEST(SeriesBins, QuantilesBetweenSamples) {
  EXPECT_FLOAT_EQ(QuantileOf({1, 2, 4, 8}, 0.5), 3);
  EXPECT_FLOAT_EQ(QuantileOf({1, 2, 4, 8}, 0.1), 1.3f);
  EXPECT_FLOAT_EQ(QuantileOf({1, 2, 4, 8}, 1), 8);
  EXPECT_FLOAT_EQ(QuantileOf({7}, 0.9), 7);
}

// The golden T5 with 140 tokens, read as bins from -10 to 10.
class Forecasts : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = fs::path(testing::TempDir()) / ("forecast-" + std::to_string(getpid()));
    fs::remove_all(directory_);
    fs::copy(fs::path(test::InSource("tests/data/hf/t5")), directory_);
    series_ = (directory_ / "series.txt").string();
    std::ofstream(series_) << "10 -20 30 40\n15 25";
  }
  void TearDown() override { fs::remove_all(directory_); }

  CommandResult Convert(const json& changes = json::object()) {
    std::ifstream file(directory_ / "config.json");
    json config = json::parse(file, nullptr, false);
    config["chronos_config"] = {{"tokenizer_class", "MeanScaleUniformBins"},
                                {"tokenizer_kwargs", {{"low_limit", -10.0}, {"high_limit", 10.0}}},
                                {"n_tokens", 140},
                                {"n_special_tokens", 2},
                                {"pad_token_id", 0},
                                {"eos_token_id", 1},
                                {"use_eos_token", true},
                                {"model_type", "seq2seq"},
                                {"context_length", 512},
                                {"prediction_length", 4},
                                {"num_samples", 3},
                                {"temperature", 1.0},
                                {"top_k", 50},
                                {"top_p", 1.0}};
    config["chronos_config"].update(changes);
    std::ofstream(directory_ / "config.json") << config.dump();
    return Fovea({"convert", directory_.string(), "-o", Blob(), "--compare", "none"});
  }
  std::string Blob() const { return (directory_ / "chronos.fovea").string(); }

  fs::path directory_;
  std::string series_;
};

// With one candidate for each token the continuation is what `fovea generate` makes of the tokens.
TEST_F(Forecasts, ContinuationsOfTokens) {
  const CommandResult converted = Convert();
  ASSERT_EQ(converted.status, 0) << converted.err;
  EXPECT_EQ(converted.err.find("accepts only token ids"), std::string::npos);
  const std::vector<double> numbers = {10, -20, 30, 40, 15, 25};
  const double scale = 140.0 / 6, step = 20.0 / 136;  // 137 centers
  std::string ids;
  for (const double number : numbers) {
    ids += std::to_string(static_cast<int>(std::floor((number / scale + 10) / step + 0.5)) + 3) + " ";
  }
  const json made = test::FoveaJson({"generate", Blob(), "--ids", ids + "1", "-n", "4", "--ignore-stop",
                                     "--suppress-ids", "1", "--temperature", "1", "--top-k", "1", "--json"})[0];
  const json forecast = test::FoveaJson({"forecast", Blob(), "--series", series_, "--top-k", "1", "--json"})[0];
  ASSERT_EQ(forecast["samples"].size(), 3u);
  ASSERT_EQ(forecast["mean"].size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    const double value = scale * (-10 + step * std::max(0, int{made["tokens"][i]} - 3));
    for (const json& sample : forecast["samples"]) EXPECT_NEAR(sample[i], value, 1e-4 * std::fabs(value) + 1e-4);
    EXPECT_NEAR(forecast["mean"][i], value, 1e-4 * std::fabs(value) + 1e-4);
    EXPECT_NEAR(forecast["quantiles"]["0.5"][i], value, 1e-4 * std::fabs(value) + 1e-4);
  }
}

TEST_F(Forecasts, Samples) {
  ASSERT_EQ(Convert().status, 0);
  const auto run = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"forecast", Blob(), "--series", series_, "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return test::FoveaJson(arguments)[0];
  };
  const json first = run({}), again = run({}), other = run({"--seed", "5"});
  EXPECT_EQ(first, again);
  EXPECT_NE(first["samples"], other["samples"]);
  EXPECT_NE(first["samples"][0], first["samples"][1]);
  const json longer = run({"--steps", "6", "--samples", "5", "--quantiles", "0,1"});
  const std::vector<std::vector<double>> samples = longer.at("samples");
  const std::vector<double> lowest = longer.at("quantiles").at("0"), highest = longer.at("quantiles").at("1");
  const std::vector<double> means = longer.at("mean");
  ASSERT_EQ(samples.size(), 5u);
  EXPECT_EQ(samples[0].size(), 6u) << "more than the model was trained for";
  for (size_t step = 0; step < 6; ++step) {
    double least = INFINITY, most = -INFINITY, sum = 0;
    for (const std::vector<double>& sample : samples) {
      least = std::min(least, sample[step]), most = std::max(most, sample[step]), sum += sample[step];
    }
    EXPECT_DOUBLE_EQ(lowest[step], least);
    EXPECT_DOUBLE_EQ(highest[step], most);
    EXPECT_NEAR(means[step], sum / 5, 1e-3);
  }
  const std::string table = Fovea({"forecast", Blob(), "--series", series_, "--steps", "2"}).out;
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 3);
  EXPECT_NE(table.find("step"), std::string::npos);
}

TEST_F(Forecasts, Refusals) {
  EXPECT_NE(Convert({{"tokenizer_class", "Other"}}).err.find("tokenizer_class Other is not supported"),
            std::string::npos);
  EXPECT_NE(Convert({{"model_type", "causal"}}).err.find("model_type causal is not supported"), std::string::npos);
  EXPECT_NE(Convert({{"n_tokens", 141}}).err.find("n_tokens 141 is above vocab_size 140"), std::string::npos);
  EXPECT_NE(Convert({{"n_special_tokens", 138}}).err.find("n_special_tokens"), std::string::npos);
  EXPECT_NE(Convert({{"tokenizer_kwargs", {{"low_limit", 2}, {"high_limit", 1}}}}).err.find("is not below high_limit"),
            std::string::npos);
  ASSERT_EQ(Convert({{"context_length", 5}}).status, 0);
  const CommandResult cut = Fovea({"forecast", Blob(), "--series", series_, "--steps", "1"});
  EXPECT_NE(cut.err.find("the first 1 numbers are dropped: the model reads 5"), std::string::npos);
  EXPECT_NE(test::FoveaError({"forecast", Blob(), "--series", series_ + "x"}).find("series.txtx: No such file"),
            std::string::npos);
  fs::remove(directory_ / "config.json");
  fs::copy(fs::path(test::InSource("tests/data/hf/t5/config.json")), directory_ / "config.json");
  ASSERT_EQ(Fovea({"convert", directory_.string(), "-o", Blob(), "--compare", "none"}).status, 0);
  EXPECT_NE(test::FoveaError({"forecast", Blob(), "--series", series_}).find("reads no series of numbers"),
            std::string::npos);
}

}  // namespace
}  // namespace fovea::tools
