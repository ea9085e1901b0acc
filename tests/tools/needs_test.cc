// fovea inspect --needs: against the steps that inspect shows otherwise, and of several blobs at once.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/support/paths.h"
#include "tests/tools/tiny_bert.h"

namespace fovea::test {
namespace {

using nlohmann::json;

std::set<std::string> Lines(const std::vector<std::string>& arguments) {
  const CommandResult result = Fovea(arguments);
  EXPECT_EQ(result.status, 0) << result.err;
  std::set<std::string> lines;
  std::istringstream text(result.out);
  for (std::string line; std::getline(text, line);) {
    if (line[0] == '#') continue;
    EXPECT_TRUE(lines.insert(line).second) << "twice: " << line;
  }
  return lines;
}

std::string Documents() { return InSource("tools/train/package-section-hierarchical.fovea"); }

TEST(Needs, OperationsAreThoseOfTheSteps) {
  for (const std::string& blob : {TinyBlob("sequence"), Documents()}) {
    std::set<std::string> shown, needed;
    const json steps = FoveaJson({"inspect", blob, "--json"})["program"]["steps"];
    for (const json& step : steps) shown.insert("operation " + step["op"].get<std::string>());
    for (const std::string& line : Lines({"inspect", blob, "--needs"})) {
      if (line.rfind("operation ", 0) == 0) needed.insert(line);
    }
    EXPECT_EQ(needed, shown) << blob;
    EXPECT_GT(needed.size(), 5u);
  }
}

TEST(Needs, OfTheClassifierOfDocuments) {
  const std::set<std::string> lines = Lines({"inspect", Documents(), "--needs"});
  for (const char* line : {"weights int8", "tokenizer wordpiece", "text split_bert", "limit workers 1"}) {
    EXPECT_EQ(lines.count(line), 1u) << line;
  }
  for (const char* line : {"tokenizer bpe", "part errors", "part taps", "activation none", "rows f32"}) {
    EXPECT_EQ(lines.count(line), 0u) << line;
  }
}

TEST(Needs, WhatDecidesIsReadFromTaps) {
  std::set<std::string> lines = Lines({"inspect", Documents(), "--needs", "--explain"});
  EXPECT_EQ(lines.erase("part taps"), 1u);
  EXPECT_EQ(lines, Lines({"inspect", Documents(), "--needs"}));
}

TEST(Needs, WhatWritesATextNeedsTheGenerator) {
  const std::string blob = Temporary("needs_dates.fovea");
  ASSERT_EQ(
      Fovea({"convert", InSource("tools/train/date-normaliser/graph.json"), "-o", blob, "--weights", "int8"}).status,
      0);
  const std::set<std::string> lines = Lines({"inspect", blob, "--needs"});
  EXPECT_EQ(lines.count("part generation"), 1u);
  for (const char* line : {"generate sampling", "generate beams", "generate drafts"}) EXPECT_EQ(lines.count(line), 0u);
  EXPECT_EQ(Lines({"inspect", Documents(), "--needs"}).count("part generation"), 0u);
}

TEST(Needs, SeveralBlobsNeedWhatAnyDoes) {
  const auto counted = [](const std::string& line) { return line.rfind("limit ", 0) == 0; };
  std::set<std::string> apart;
  for (const std::string& blob : {TinyBlob("sequence"), Documents()}) {
    for (const std::string& line : Lines({"inspect", blob, "--needs"})) {
      if (!counted(line)) apart.insert(line);
    }
  }
  std::set<std::string> together;
  size_t limits = 0;
  for (const std::string& line : Lines({"inspect", TinyBlob("sequence"), "--needs", "--also", Documents()})) {
    counted(line) ? ++limits : together.insert(line).second;
  }
  EXPECT_EQ(together, apart);
  EXPECT_EQ(limits, 4u);
}

TEST(Needs, AlsoGoesWithNeeds) {
  EXPECT_EQ(Fovea({"inspect", Documents(), "--also", Documents()}).status, 2);
  EXPECT_EQ(Fovea({"inspect", Documents(), "--needs", "--also", Temporary("nowhere.fovea")}).status, 2);
}

}  // namespace
}  // namespace fovea::test
