// Descriptions of decoders: carried inputs, windows around centers, characters as tokens.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/convert/graph_support.h"
#include "tests/support/by_name.h"
#include "tests/support/second_reader.h"
#include "tools/convert/quantize.h"
#include "tools/convert/text/build.h"

namespace fovea::tools {
namespace {

Json Counter() {
  return Json::parse(R"({
    "fovea": 1,
    "spaces": [{"name": "texts"}, {"name": "tokens", "parent": "texts"}],
    "constants": [{"name": "one", "values": [1]}, {"name": "wide", "values": [1, 2]}],
    "programs": [{
      "name": "decode",
      "inputs": [
        {"name": "t", "space": "texts", "width": 1, "carried": "later"},
        {"name": "q", "space": "texts", "width": 1},
        {"name": "h", "space": "tokens", "width": 1}
      ],
      "operations": [
        {"op": "linear", "in": ["t"], "tensors": ["one", "one"], "out": "t + 1"},
        {"op": "linear", "in": ["t"], "tensors": ["one"], "out": "same"},
        {"op": "attention", "in": ["q", "h", "h", "t"], "out": "near", "heads": 1, "pattern": "window", "left": 2,
         "right": 2, "centers": "positions", "gaussian": true},
        {"alias": "later", "of": "t + 1"}
      ],
      "outputs": ["t + 1", "near"]
    }]
  })");
}

TEST(Carried, StandsInTheBlob) {
  Resolved model = ResolveJson(Counter());
  for (size_t i = 0; i < model.content.tensors.size(); ++i)
    EncodeTensor(model.constants[i].load(), model.content.tensors[i]);
  const test::ReadBlob blob = test::SecondReader(WriteBlob(model.content));
  const std::vector<test::ReadValue>& values = blob.programs.at(0).values;
  const uint32_t t = test::IndexOf(values, "t"), q = test::IndexOf(values, "q"), h = test::IndexOf(values, "h");
  const uint32_t next = test::IndexOf(values, "t + 1");
  EXPECT_EQ(values[t].role, 3u);
  EXPECT_EQ(values[t].carried_by, next);
  EXPECT_EQ(values[q].role, 1u);
  EXPECT_EQ(values[next].role, 2u);
  EXPECT_EQ(values[next].carried_by, 0u);
  const test::ReadOperation& attention = test::OperationFor(blob.programs.at(0), "near");
  EXPECT_EQ(attention.inputs, (std::vector<uint32_t>{q, h, h, kBlobNone, kBlobNone, kBlobNone, t}));
  EXPECT_EQ(attention.attributes.at(49), 1u);
  EXPECT_EQ(attention.attributes.at(50), 1u);
}

TEST(Carried, MistakesAreNamed) {
  const auto refused = [](const std::string& text, const auto& change) {
    Json json = Counter();
    change(json["programs"][0]);
    EXPECT_NE(Refusal(json).find(text), std::string::npos) << Refusal(json);
  };
  refused("there is no value none", [](Json& p) { p["inputs"][0]["carried"] = "none"; });
  refused("is not an output", [](Json& p) { p["inputs"][0]["carried"] = "same"; });
  refused("is not an output", [](Json& p) { p["inputs"][0]["carried"] = "q"; });
  refused("another space, width or type", [](Json& p) { p["inputs"][2]["carried"] = "near"; });
  refused("another space, width or type", [](Json& p) {
    p["inputs"].push_back({{"name", "w"}, {"space", "texts"}, {"width", 2}, {"carried", "near"}});
  });
  refused("another space, width or type", [](Json& p) {
    p["inputs"].push_back({{"name", "w"}, {"space", "texts"}, {"type", "i32"}, {"carried", "near"}});
  });
  refused("t + 1 already carries t", [](Json& p) { p["inputs"][1]["carried"] = "t + 1"; });
  refused("centers must have one number for each query", [](Json& p) { p["operations"][2]["in"][3] = "h"; });
  refused("input centers requires attribute centers, and the attribute the input",
          [](Json& p) { p["operations"][2]["in"].erase(3); });
}

TEST(Characters, AreTokens) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "characters";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "vocab.json") << R"({"input": ["\n", "a", " ", "ä", "€"], "other": ["ab"]})";
  const Json good = {{"type", "characters"}, {"file", "vocab.json"}, {"key", "input"}, {"pad_id", 0}};
  EXPECT_FALSE(BuildTextSection(folder, good, 0).empty());
  const auto refused = [&](const Json& change) {
    Json json = good;
    json.update(change);
    EXPECT_THROW(BuildTextSection(folder, json, 0), Failure) << json.dump();
  };
  refused({{"key", "other"}});
  refused({{"key", "none"}});
  refused({{"pad_id", 5}});
  refused({{"unknown_id", 5}});
  refused({{"more", 1}});
}

}  // namespace
}  // namespace fovea::tools
