// fovea bench attention: its counts equal the kernel's work, and its tables and plot agree.
#include <gtest/gtest.h>
#include <math.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/tools/tiny_bert.h"
#include "tools/base/log_plot.h"
#include "tools/base/mapped_file.h"
#include "tools/bench/attention_cost.h"
#include "tools/model/aligned_memory.h"

namespace fovea::test {
namespace {

using tools::CostKeys;
using tools::CostPattern;
using tools::CostPoint;

// Keys that the queries of one head see, as the kernel counts them.
uint64_t CountKeys(const CostKeys& keys, uint32_t n) {
  const std::vector<float> ones(n, 1.0f);
  std::vector<float> out(n), weights(size_t{n} * 2 * n);
  std::vector<uint32_t> weight_keys(weights.size()), counts(n);
  fovea_attention_kept kept = {};
  kept.struct_size = sizeof(kept);
  kept.stride = 2 * n;
  kept.values = weights.data();
  kept.keys = weight_keys.data();
  kept.counts = counts.data();
  fovea_attention_options options = {};
  options.struct_size = sizeof(options);
  options.d_k = 1;
  options.pattern = &keys.pattern;
  options.kept = &kept;
  uint64_t bytes = 0;
  fovea_error error = {};
  EXPECT_EQ(fovea_attention_scratch_size(&options, &bytes, &error), FOVEA_OK) << error.text;
  const tools::Memory scratch = tools::Allocate(bytes);
  fovea_attention_rows rows = {};
  rows.data = ones.data();
  rows.rows = n;
  const fovea_attention_out to = {out.data(), n, 0, 0, 0};
  EXPECT_EQ(fovea_attention_run(&options, &rows, &rows, &rows, &to, scratch.get(), bytes, &error), FOVEA_OK)
      << error.text << " " << error.expected;
  uint64_t count = 0;
  for (const uint32_t c : counts) count += c;
  return count;
}

// How many keys the queries see in chunks of the orders, each as often as it counts, or once.
uint64_t CountClustered(const CostKeys& keys, uint32_t n, bool once) {
  const fovea_attention_pattern& p = keys.pattern;
  const uint32_t chunks = (n + p.chunk - 1) / p.chunk;
  uint64_t count = 0;
  for (uint32_t query = 0; query < n; ++query) {
    std::set<int32_t> seen;
    for (uint32_t round = 0; round < p.rounds; ++round) {
      const uint32_t own = static_cast<uint32_t>(keys.rank[size_t{query} * p.rounds + round]) / p.chunk;
      const uint32_t all = chunks * p.rounds, here = round * chunks + own;  // the rounds' chunks form one circle
      for (const uint32_t at : {here, (here + all - 1) % all}) {
        const uint32_t chunk = at % chunks;
        for (uint32_t place = chunk * p.chunk; place < std::min(n, (chunk + 1) * p.chunk); ++place) {
          seen.insert(keys.order[size_t{place} * p.rounds + at / chunks]);
          count += once ? 0 : 1;
        }
      }
    }
    count += once ? seen.size() : 0;
  }
  return count;
}

uint64_t Pairs(const CostKeys& keys, uint32_t n) {
  fovea_attention_options options = {};
  options.struct_size = sizeof(options);
  options.d_k = 1;
  options.pattern = &keys.pattern;
  fovea_error error = {};
  uint64_t pairs = 0;
  EXPECT_EQ(fovea_attention_pairs(&options, n, n, &pairs, &error), FOVEA_OK) << error.text;
  return pairs;
}

TEST(BenchAttention, CountsTheKeysThatAreSeen) {
  for (const CostPattern& pattern : tools::CostPatterns()) {
    for (const uint32_t n : {128u, 200u, 513u}) {
      CostKeys keys;
      keys.pattern.struct_size = sizeof(keys.pattern);
      pattern.make(n, 1, &keys);
      if (keys.pattern.rounds > 0) {
        EXPECT_EQ(Pairs(keys, n), CountClustered(keys, n, false));
        EXPECT_EQ(CountKeys(keys, n), CountClustered(keys, n, true));
        continue;
      }
      const uint64_t most = keys.pattern.top_k == 0 ? UINT64_MAX : uint64_t{n} * keys.pattern.top_k;
      EXPECT_EQ(CountKeys(keys, n), std::min(Pairs(keys, n), most)) << pattern.name << " " << n;
    }
  }
}

TEST(BenchAttention, FitsExponents) {
  std::vector<CostPoint> points;
  for (const double at : {100.0, 200.0, 400.0, 1600.0}) points.push_back({at, 3e-9 * pow(at, 1.75), 0, 0, 0});
  EXPECT_NEAR(tools::FitExponent(points, 0), 1.75, 1e-9);
  points[0].seconds *= 5;
  EXPECT_NEAR(tools::FitExponent(points, 150), 1.75, 1e-9);
  EXPECT_EQ(tools::FitExponent(points, 1000), 0);
}

TEST(BenchAttention, Json) {
  const std::string svg = Temporary("attention.svg");
  const CommandResult result = Fovea({"bench", "attention", "--max-n", "256", "--heads", "2", "--head-size", "8",
                                      "--seconds", "0", "--workers", "2", "--json", "--svg", svg});
  ASSERT_EQ(result.status, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out, nullptr, false);
  std::set<std::string> names, variables;
  for (const auto& series : json["series"]) {
    names.insert(series["name"]);
    const std::string variable = series["variable"];
    variables.insert(variable);
    double last = 0;
    for (const auto& point : series["points"]) {
      EXPECT_GT(point[variable].get<double>(), last);
      last = point[variable];
      for (const char* key : {"microseconds", "bytes", "keys_per_query", "gflops"})
        EXPECT_GT(point[key].get<double>(), 0) << key;
    }
    if (variable == "n") {
      EXPECT_EQ(series["points"].size(), 2u);
    }
  }
  for (const char* name : {"full", "window 64", "window 512", "window 128 x 4", "block 128", "window 128 + 16 global",
                           "top-k 32", "clusters 2 x 64", "convolution 3", "gru", "lstm"}) {
    EXPECT_EQ(names.count(name), 1u) << name;
  }
  for (const auto& series : json["series"]) {
    if (series["name"] != "gru" && series["name"] != "lstm") continue;
    EXPECT_EQ(series["law"], "O(n d^2)");
    EXPECT_EQ(series["predicted"], series["variable"] == "d" ? 2 : 1);
    EXPECT_EQ(series["points"][0]["keys_per_query"], 1);
  }
  EXPECT_EQ(variables, (std::set<std::string>{"d", "k", "n", "w"}));
  EXPECT_EQ(json["series"][0]["points"][1]["keys_per_query"], 256);
  for (const char* name : {"window 128 + 16 global", "gru", "lstm"}) {
    EXPECT_NE(tools::ReadFile(svg).find(name), std::string::npos) << name;
  }
}

TEST(BenchAttention, Table) {
  const CommandResult result =
      Fovea({"bench", "attention", "--max-n", "128", "--heads", "1", "--head-size", "4", "--seconds", "0"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.out.find("O(k n d^2)"), std::string::npos) << result.out;
  EXPECT_EQ(Fovea({"bench", "attention", "--max-n", "128", "--svg", Temporary("no/such/folder.svg"), "--seconds", "0"})
                .status,
            2);
}

TEST(BenchAttention, Plot) {
  const std::string svg =
      tools::LogPlot("a < b", "x", "y", {{"p & q", {{2, 1}, {4, 10}, {8, 100}}}, {"one", {{4, 5}}}});
  EXPECT_EQ(svg.rfind("<svg ", 0), 0u);
  EXPECT_NE(svg.find("a &lt; b"), std::string::npos);
  EXPECT_NE(svg.find("p &amp; q"), std::string::npos);
  // From the lower left to the upper right corner, the middle one half way.
  EXPECT_NE(svg.find("points=\"80.0,510.0 390.0,280.0 700.0,50.0 \""), std::string::npos) << svg;
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(tools::LogPlot("", "", "", {}).find("nan"), std::string::npos);
  // Curves differ by color or dashes.
  const std::string many = tools::LogPlot("", "", "", std::vector<tools::Curve>(20, {"", {{2, 1}, {4, 10}}}));
  std::set<std::string> strokes;
  for (size_t at = many.find("<polyline"); at != std::string::npos; at = many.find("<polyline", at + 1)) {
    const size_t begin = many.find("stroke=", at);
    strokes.insert(many.substr(begin, many.find("/>", begin) - begin));
  }
  EXPECT_EQ(strokes.size(), 20u);
}

}  // namespace
}  // namespace fovea::test
