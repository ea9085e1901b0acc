// Files that a description names, in two folders, and class names read from files.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/convert/graph_support.h"
#include "tests/text/text_fixture.h"
#include "tools/convert/convert.h"
#include "tools/convert/text/build.h"
#include "tools/safetensors/safetensors.h"

namespace fovea::tools {
namespace {

namespace fs = std::filesystem;

class TwoFolders : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) / ("folders-" + std::to_string(getpid()));
    fs::remove_all(root_);
    fs::create_directories(beside());
    fs::create_directories(source());
  }
  void TearDown() override { fs::remove_all(root_); }

  fs::path beside() const { return root_ / "beside"; }
  fs::path source() const { return root_ / "source"; }

  static void Write(const fs::path& path, const std::string& content) { std::ofstream(path) << content; }
  // A matrix [3, 2] of one number.
  static void WriteWeights(const fs::path& path, float value) {
    const std::vector<float> values(6, value);
    SafetensorsWriter writer;
    writer.AddFloats("table", {3, 2}, values.data());
    writer.Write(path.string());
  }

  // A table of embeddings that is looked up.
  Json Graph(Json metadata = Json::object()) const {
    return {{"fovea", 1},
            {"metadata", std::move(metadata)},
            {"weights", {"model.safetensors"}},
            {"tokenizer", {{"type", "characters"}, {"file", "characters.json"}, {"pad_id", 0}}},
            {"spaces", {{{"name", "texts"}}, {{"name", "tokens"}, {"parent", "texts"}}}},
            {"programs",
             {{{"name", "encode"},
               {"inputs", {{{"name", "input_ids"}, {"space", "tokens"}, {"type", "i32"}}}},
               {"operations", {{{"op", "embed"}, {"in", {"input_ids"}}, {"tensors", {"table"}}, {"out", "rows"}}}},
               {"outputs", {"rows"}}}}}};
  }
  Description Read(const Json& graph, bool with_source = true) const {
    Write(beside() / "graph.json", graph.dump());
    return ReadGraph((beside() / "graph.json").string(), with_source ? source().string() : "");
  }
  std::string RefusalOfReading(const Json& graph, bool with_source = true) const {
    return RefusalOf([&] { Read(graph, with_source); });
  }
  static std::vector<std::string> Labels(const Description& description) {
    std::vector<std::string> labels;
    for (const auto& [key, value] : description.metadata) {
      if (key == "label." + std::to_string(labels.size())) labels.push_back(value);
    }
    return labels;
  }

  fs::path root_;
};

TEST_F(TwoFolders, EachHasSomeOfTheFiles) {
  WriteWeights(source() / "model.safetensors", 5);
  Write(beside() / "characters.json", R"(["<pad>", "a", "b"])");
  const Description description = Read(Graph());
  EXPECT_EQ(description.weights.Get("table").load(), std::vector<float>(6, 5));
  EXPECT_TRUE(description.warnings.empty());
  const test::TextSection section(BuildTextSection(description.directory, description.tokenizer));
  EXPECT_EQ(section.Encode("ba").ids, (std::vector<int>{2, 1}));
  // The other way round.
  fs::rename(source() / "model.safetensors", beside() / "model.safetensors");
  fs::rename(beside() / "characters.json", source() / "characters.json");
  const Description turned = Read(Graph());
  EXPECT_EQ(turned.weights.Get("table").load(), std::vector<float>(6, 5));
  EXPECT_EQ(turned.directory, source().string());
  EXPECT_NE(RefusalOf([&] {
              const Description alone = Read(Graph(), false);
              BuildTextSection(alone.directory, alone.tokenizer);
            }).find("beside/characters.json"),
            std::string::npos);
}

TEST_F(TwoFolders, TheSourceComesFirstAndSaysSo) {
  WriteWeights(source() / "model.safetensors", 5);
  WriteWeights(beside() / "model.safetensors", 7);
  for (const fs::path& folder : {source(), beside()}) Write(folder / "characters.json", R"(["<pad>", "a", "b"])");
  Write(source() / "names.txt", "yes\nno\n");
  Write(beside() / "names.txt", "ja\nnein\n");
  const Description description = Read(Graph({{"labels", "names.txt"}}));
  EXPECT_EQ(description.weights.Get("table").load(), std::vector<float>(6, 5));
  EXPECT_EQ(Labels(description), (std::vector<std::string>{"yes", "no"}));
  ASSERT_EQ(description.warnings.size(), 3u);
  EXPECT_EQ(description.warnings[0],
            "names.txt is also in " + beside().string() + "; the one in " + source().string() + " is used");
  EXPECT_EQ(Read(Graph({{"labels", "names.txt"}}), false).weights.Get("table").load(), std::vector<float>(6, 7));
  // A folder that is given twice has each file once.
  Write(source() / "graph.json", Graph().dump());
  EXPECT_TRUE(ReadGraph((source() / "graph.json").string(), source().string() + "/.").warnings.empty());
}

TEST_F(TwoFolders, ATokenizerWithoutADescriptionIsFoundInBoth) {
  WriteWeights(source() / "model.safetensors", 5);
  Json graph = Graph();
  graph.erase("tokenizer");
  EXPECT_EQ(Read(graph).directory, beside().string());
  Write(source() / "vocab.txt", "[UNK]\n[CLS]\n[SEP]\n");
  EXPECT_EQ(Read(graph).directory, source().string());
}

TEST_F(TwoFolders, MissingFilesAreNamed) {
  const std::string both = " is neither in " + source().string() + " nor in " + beside().string();
  const std::string graph = (beside() / "graph.json").string() + ": ";
  EXPECT_EQ(RefusalOfReading(Graph()), graph + "model.safetensors" + both);
  WriteWeights(source() / "model.safetensors", 5);
  EXPECT_EQ(RefusalOfReading(Graph()), graph + "characters.json" + both);
  EXPECT_EQ(RefusalOfReading(Graph({{"labels", "names.txt"}})), graph + "metadata: names.txt" + both);
  fs::remove_all(source());
  EXPECT_EQ(RefusalOfReading(Graph()), graph + source().string() + ": not a directory");
}

TEST_F(TwoFolders, LabelsAreReadFromFiles) {
  WriteWeights(source() / "model.safetensors", 5);
  Write(beside() / "characters.json", R"({"list": ["<pad>", "a"], "by_name": {"b": 1, "a": 0, "": 2}})");
  Write(beside() / "numbers.json", R"({"1": "one", "0": "zero", "10": "ten", "2": "2", "3": "3", "4": "4", "5": "5",
                                       "6": "6", "7": "7", "8": "8", "9": "9"})");
  Write(beside() / "lines.txt", "\none\r\n\ntwo words");
  Json plain = Graph();
  plain["tokenizer"]["key"] = "list";
  const auto labels = [&](const Json& of) {
    Json graph = plain;
    graph["metadata"]["labels"] = of;
    return Labels(Read(graph));
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(labels({"x", "", "z"}), (Names{"x", "", "z"}));
  EXPECT_EQ(labels("lines.txt"), (Names{"", "one", "", "two words"}));
  EXPECT_EQ(labels({{"file", "characters.json"}, {"key", "list"}}), (Names{"<pad>", "a"}));
  EXPECT_EQ(labels({{"file", "characters.json"}, {"key", "by_name"}}), (Names{"a", "b", ""}));
  EXPECT_EQ(labels("numbers.json"), (Names{"zero", "one", "2", "3", "4", "5", "6", "7", "8", "9", "ten"}));

  const auto refused = [&](const Json& of, const std::string& part) {
    const std::string said = RefusalOf([&] { labels(of); });
    EXPECT_NE(said.find(part), std::string::npos) << said;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  };
  refused({{"file", "lines.txt"}, {"key", "a"}}, "metadata: labels: key needs a JSON file, not lines.txt");
  refused({{"file", "characters.json"}, {"of", "list"}}, "labels must be a list, a file or {\"file\", \"key\"}");
  refused("characters.json", "characters.json: by_name must be a whole number from 0 to 1");
  refused({"a", 7}, "labels: [1] must be a string");
  refused(7, "labels must be a string");
  const auto with = [&](const char* content, const std::string& part) {
    Write(beside() / "bad.json", content);
    refused("bad.json", part);
  };
  with(R"({"a": 0, "b": 0})", "bad.json: b: 0 is also the number of \"a\"");
  with(R"({"a": 0, "b": 2})", "bad.json: b must be a whole number from 0 to 1, not 2");
  with(R"({"0": "a", "2": "b"})", "bad.json: 2 must be a whole number from 0 to 1");
  with(R"({"x": "a"})", "bad.json: x must be a whole number from 0 to 0");
  with("7", "bad.json must be a list");
  Write(beside() / "bytes.txt", "\xff\n");
  refused("bytes.txt", "bytes.txt: line 1 is not UTF-8");
}

}  // namespace
}  // namespace fovea::tools
