// Many texts: fovea embed, search, rank, and run, similarity and eval by the same windows.
#include <gtest/gtest.h>
#include <math.h>
#include <string.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <tuple>

#include "fovea/result.h"
#include "tests/support/paths.h"
#include "tests/tools/golden_folder.h"
#include "tests/tools/tiny_bert.h"
#include "tools/base/fail.h"
#include "tools/base/json_list.h"
#include "tools/base/mapped_file.h"
#include "tools/model/model.h"
#include "tools/safetensors/safetensors.h"
#include "tools/text/text_progress.h"
#include "tools/text/text_windows.h"
#include "tools/vectors/nearest.h"
#include "tools/vectors/vector_writer.h"

namespace fovea::test {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// Lines of 1 to 20 words: some are longer than the model reads.
std::vector<std::string> ManyLines(size_t count) {
  const char* words[] = {"a", "cat", "in", "the", "harbour", "soup", "cats"};
  std::vector<std::string> lines;
  for (size_t i = 0; i < count; ++i) {
    std::string line;
    for (size_t j = 0; j <= i * 7 % 20; ++j) line += (j == 0 ? "" : " ") + std::string(words[(i + j * (i % 5)) % 7]);
    lines.push_back(line);
  }
  return lines;
}

std::string WriteLines(const std::string& name, const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  const std::string path = Temporary(name);
  tools::WriteFile(path, text.data(), text.size());
  return path;
}

std::vector<json> JsonLines(const std::string& text) {
  std::vector<json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(json::parse(line));
  return lines;
}

TEST(Corpus, BatchesHoldSimilarLengths) {
  const auto batches = tools::BatchesByLength({3, 9, 1, 5, 5, 20, 2}, {3, 10});
  const std::vector<std::vector<size_t>> expected = {{5}, {1}, {3, 4}, {0, 6, 2}};
  EXPECT_EQ(batches, expected);
  EXPECT_EQ(tools::BatchesByLength({1, 1, 1, 1}, {3, 10}).size(), 2u);
  EXPECT_TRUE(tools::BatchesByLength({}, {3, 10}).empty());
}

// Special tokens in texts are tokens, which a line reports, or text.
TEST(Corpus, SpecialTokensInTextsAreTold) {
  const std::string& blob = TinyBlob("base");
  const std::string file = WriteLines("special.txt", {"a cat", "a [SEP] cat", "a [MASK] cat"});
  const char kTold[] =
      "fovea: 1 of 3 texts spells special tokens, which are read as such; --literal reads them as text\n";
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"run", blob, "--file", file, "--json"},
                                             {"embed", blob, "--file", file, "-o", "-", "--format", "jsonl"},
                                             {"similarity", blob, "--file", file, "--json"},
                                             {"tokenize", blob, "--file", file, "--json"}}) {
    const CommandResult read = Fovea(command);
    EXPECT_EQ(read.status, 0) << read.err;
    EXPECT_EQ(read.err, kTold) << command[0];
    std::vector<std::string> literal = command;
    literal.push_back("--literal");
    const CommandResult text = Fovea(literal);
    EXPECT_EQ(text.err, "") << command[0];
    EXPECT_NE(text.out, read.out) << command[0];
  }
  const auto ids = [&](const std::vector<std::string>& more) {
    std::vector<std::string> command = {"tokenize", blob, "--text", "a [SEP]", "--json"};
    command.insert(command.end(), more.begin(), more.end());
    return FoveaJson(command)[0]["ids"].size();
  };
  EXPECT_EQ(ids({}), 4u);
  EXPECT_GT(ids({"--literal"}), 4u);
}

// A fault is named by its line, and the mark that editors put before UTF-8 is no text.
TEST(Corpus, LinesAreUtf8) {
  const std::string& blob = TinyBlob("base");
  const std::string broken = WriteLines("broken.txt", {"a", "b", "caf\xe9", "d"});
  for (const std::string command : {"run", "tokenize", "similarity"}) {
    EXPECT_EQ(Fovea({command, blob, "--file", broken}).err,
              "fovea: " + broken +
                  ": line 3 is not UTF-8; convert the file, for example with 'iconv -f LATIN1 -t "
                  "UTF-8'\n");
  }
  EXPECT_NE(Fovea({"run", blob, "--document", broken}).err.find("the text is not UTF-8"), std::string::npos);
  EXPECT_EQ(FoveaJson({"tokenize", blob, "--file",
                       WriteLines("mark.txt", {"\xef\xbb\xbf"
                                               "a"}),
                       "--json"})[0]["text"],
            "a");
}

// The bytes that a pipe gets last are kept in the folder that TMPDIR names.
TEST(Corpus, TemporaryFilesAreInTmpdir) {
  const std::string& blob = TinyBlob("base");
  const std::vector<std::string> command = {"embed", blob, "--text", "a", "-o", "-", "--format", "npy"};
  const char* const before = getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  setenv("TMPDIR", "/nonexistent", 1);
  const CommandResult missing = Fovea(command);
  before == nullptr ? unsetenv("TMPDIR") : setenv("TMPDIR", kept.c_str(), 1);
  EXPECT_NE(missing.err.find("set TMPDIR to a folder that can be written"), std::string::npos) << missing.err;
  EXPECT_EQ(Fovea(command).status, 0);
}

// In each format, and for batches of any size, the same numbers as fovea run prints, in the order of the lines.
TEST(Corpus, EmbedWritesTheVectorsOfRun) {
  const std::string& blob = TinyBlob("base");
  const std::vector<std::string> lines = ManyLines(100);
  const std::string file = WriteLines("many.txt", lines);
  const json told = FoveaJson({"run", blob, "--file", file, "--json"});
  std::vector<std::vector<float>> expected;
  for (const json& one : told) expected.push_back(one["embedding"]);
  ASSERT_EQ(expected.size(), lines.size());
  const size_t width = expected[0].size();

  const std::string npy = Temporary("v.npy");
  const CommandResult made = Fovea({"embed", blob, "--file", file, "-o", npy, "--batch", "3"});
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_NE(made.err.find("texts are longer than the model reads"), std::string::npos) << made.err;
  const std::string bytes = tools::ReadFile(npy);
  EXPECT_NE(bytes.find("'shape': (100, " + std::to_string(width) + ")"), std::string::npos);
  ASSERT_EQ(bytes.size(), 128 + 4 * width * lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    for (size_t j = 0; j < width; ++j) {
      float value = 0;
      memcpy(&value, bytes.data() + 128 + 4 * (i * width + j), 4);
      EXPECT_NEAR(value, expected[i][j], 1e-5) << i;
    }
  }

  const std::string tensors = Temporary("v.safetensors");
  ASSERT_EQ(Fovea({"embed", blob, "--file", file, "-o", tensors}).status, 0);
  const tools::SafetensorsReader reader(tensors);
  EXPECT_EQ(reader.Get("embeddings").shape, (std::vector<uint64_t>{lines.size(), width}));
  const std::vector<float> stored = tools::ToFloats(reader.Get("embeddings"));
  for (size_t i = 0; i < lines.size(); ++i) EXPECT_NEAR(stored[i * width], expected[i][0], 1e-5);

  const CommandResult written = Fovea({"embed", blob, "--file", file, "-o", "-", "--format", "jsonl"});
  const std::vector<json> found = JsonLines(written.out);
  ASSERT_EQ(found.size(), lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(found[i]["text"], lines[i]);
    EXPECT_EQ(found[i].contains("dropped_tokens"), told[i].contains("dropped_tokens")) << lines[i];
    for (size_t j = 0; j < width; ++j) EXPECT_NEAR(found[i]["embedding"][j].get<float>(), expected[i][j], 1e-5);
  }
}

// A window ends early for long texts, even if they have few tokens.
TEST(Corpus, LongTextsEndAWindow) {
  const tools::Model model(TinyBlob("base"), tools::Model::Options());
  for (const auto& [bytes, tokens, expected] :
       std::vector<std::tuple<size_t, size_t, size_t>>{{4, 3, 40}, {4, 7000, 10}, {300000, 3, 4}}) {
    std::vector<size_t> windows;
    size_t left = 40;
    tools::WindowSteps steps;
    tools::Tokens made;
    made.ids = {2, 5, 3};
    made.types = {0, 0, 0};
    made.dropped = tokens - 3;
    const tools::EncodedText text{std::string(bytes, 'a'), made};
    steps.next = [&]() -> std::optional<tools::EncodedText> {
      if (left == 0) return std::nullopt;
      --left;
      return text;
    };
    steps.begin = [&](size_t texts) { windows.push_back(texts); };
    steps.read = [](const tools::TextBatch&) {};
    steps.end = [] {};
    EXPECT_EQ(tools::RunInWindows(model, {}, {}, steps), 40u);
    EXPECT_EQ(windows[0], expected) << bytes;
  }
}

// A head of the file written to standard output is the file.
TEST(Corpus, EmbedWritesToAPipe) {
  const std::string file = WriteLines("few.txt", ManyLines(9)), npy = Temporary("few.npy");
  ASSERT_EQ(Fovea({"embed", TinyBlob("base"), "--file", file, "-o", npy}).status, 0);
  const CommandResult piped = Fovea({"embed", TinyBlob("base"), "--file", file, "-o", "-", "--format", "npy"});
  EXPECT_EQ(piped.out, tools::ReadFile(npy));
}

TEST(Corpus, EmbedRefusesWithoutAFile) {
  const std::string out = Temporary("none.npy"), file = WriteLines("few.txt", ManyLines(3));
  const CommandResult classes = Fovea({"embed", TinyBlob("sequence"), "--file", file, "-o", out});
  EXPECT_EQ(classes.status, 2);
  EXPECT_NE(classes.err.find("scores of classes"), std::string::npos) << classes.err;
  EXPECT_NE(classes.err.find("fovea run"), std::string::npos) << classes.err;
  EXPECT_EQ(Fovea({"embed", TinyBlob("base"), "--file", file, "-o", out, "--int8"}).status, 2);
  EXPECT_EQ(Fovea({"embed", TinyBlob("base"), "--file", WriteLines("no.txt", {}), "-o", out}).status, 2);
  EXPECT_NE(Fovea({"embed", TinyBlob("base"), "--file", file, "-o", Temporary("v.txt")}).err.find(".npy"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(out));
  EXPECT_FALSE(fs::exists(out + ".part"));
}

// The order of `similarity --top` and of search is that of the matrix; vectors of eight bits are near.
TEST(Corpus, SearchFindsTheNearest) {
  const std::string& blob = TinyBlob("base");
  const std::vector<std::string> lines = ManyLines(24);
  const std::string file = WriteLines("lines.txt", lines), index = Temporary("i.safetensors");
  const json matrix = FoveaJson({"similarity", blob, "--file", file, "--json"});
  ASSERT_EQ(Fovea({"embed", blob, "--file", file, "-o", index}).status, 0);
  const std::string small = Temporary("i8.safetensors"), npy = Temporary("i.npy");
  ASSERT_EQ(Fovea({"embed", blob, "--file", file, "-o", small, "--int8"}).status, 0);
  ASSERT_EQ(Fovea({"embed", blob, "--file", file, "-o", npy}).status, 0);
  EXPECT_LT(fs::file_size(small), fs::file_size(index));
  const std::vector<std::vector<std::string>> ways = {
      {"search", index}, {"search", npy, "--model", blob, "--lines", file}, {"search", small}};
  for (const std::vector<std::string>& way : ways) {
    std::vector<std::string> arguments = way;
    arguments.insert(arguments.end(), {"--queries", file, "--top", "3", "--jsonl"});
    const CommandResult result = Fovea(arguments);
    ASSERT_EQ(result.status, 0) << result.err;
    const std::vector<json> found = JsonLines(result.out);
    ASSERT_EQ(found.size(), lines.size());
    for (size_t i = 0; i < lines.size(); ++i) {
      std::vector<double> row = matrix["cosines"][i];
      ASSERT_EQ(found[i]["hits"].size(), 3u);
      for (const json& hit : found[i]["hits"]) {
        EXPECT_EQ(hit["text"], lines[hit["index"]]);
        EXPECT_NEAR(hit["score"].get<double>(), row[hit["index"]], way[1] == small ? 0.02 : 1e-6);
      }
      std::sort(row.rbegin(), row.rend());
      EXPECT_NEAR(found[i]["hits"][2]["score"].get<double>(), row[2], way[1] == small ? 0.02 : 1e-6);
    }
  }
  const CommandResult near = Fovea({"similarity", blob, "--file", file, "--top", "2", "--jsonl"});
  const std::vector<json> nearest = JsonLines(near.out);
  ASSERT_EQ(nearest.size(), lines.size()) << near.err;
  for (size_t i = 0; i < lines.size(); ++i) {
    ASSERT_EQ(nearest[i]["nearest"].size(), 2u);
    for (const json& one : nearest[i]["nearest"]) {
      EXPECT_NE(one["index"], i);
      EXPECT_NEAR(one["score"].get<double>(), matrix["cosines"][i][one["index"].get<size_t>()].get<double>(), 1e-6);
    }
  }
}

TEST(Corpus, SearchRefusesForeignIndexes) {
  const std::string file = WriteLines("lines.txt", ManyLines(5)), npy = Temporary("f.npy");
  ASSERT_EQ(Fovea({"embed", TinyBlob("base"), "--file", file, "-o", npy}).status, 0);
  const auto refused = [](const std::vector<std::string>& arguments, const std::string& part) {
    const CommandResult result = Fovea(arguments);
    EXPECT_EQ(result.status, 2);
    EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
  };
  refused({"search", npy, "a"}, "--model");
  refused({"search", npy}, "no query");
  refused({"search", WriteLines("vectors.jsonl", {"{\"embedding\":[1]}"}), "a"}, "JSON Lines cannot be searched");
  refused({"search", npy, "a", "--model", TinyBlob("sequence")}, "scores of classes");
  refused({"search", npy, "a", "--model", TinyBlob("base"), "--lines", WriteLines("one.txt", {"a"})},
          "1 lines for the 5");
  std::string bytes = tools::ReadFile(npy);
  const auto write = [&](const std::string& changed) { tools::WriteFile(npy, changed.data(), changed.size()); };
  write(bytes.substr(0, bytes.size() - 4));
  refused({"search", npy, "a", "--model", TinyBlob("base")}, "the shape is");
  std::string doubles = bytes;
  doubles.replace(doubles.find("<f4"), 3, "<f8");
  write(doubles);
  refused({"search", npy, "a", "--model", TinyBlob("base")}, "f32");
  write(bytes.substr(0, 9));
  refused({"search", npy, "a", "--model", TinyBlob("base")}, "safetensors");
}

// Offsets of a foreign index are checked before they are used.
TEST(Corpus, SearchChecksOffsets) {
  const std::string path = Temporary("offsets.safetensors");
  const auto write = [&](const std::vector<int64_t>& offsets) {
    tools::SafetensorsWriter writer;
    const std::vector<float> rows(6, 1);
    writer.AddFloats("embeddings", {3, 2}, rows.data());
    writer.AddIntegers("row_offsets", {offsets.size()}, offsets.data());
    writer.Write(path);
  };
  for (const std::vector<int64_t>& wrong : std::vector<std::vector<int64_t>>{{0, 4, 3}, {0, 2}, {0, -1, 3}, {}}) {
    write(wrong);
    EXPECT_THROW(tools::VectorIndex(path, ""), tools::Failure);
  }
  write({0, 1, 3});
  tools::VectorIndex index(path, "");
  EXPECT_EQ(index.texts(), 2u);
  const float query[] = {1, 2};
  const std::vector<tools::Neighbour> best = tools::Nearest(index, query, 1, FOVEA_MEASURE_MAX_SIM, 5);
  ASSERT_EQ(best.size(), 2u);
  EXPECT_EQ(best[0].text, 0u);
  EXPECT_EQ(best[0].score, 3);
}

TEST(Corpus, BestTextsAreStable) {
  tools::BestTexts numbered(3);
  const double scores[] = {1.0, 5.0, NAN, 5.0, 2.0, 5.0, 5.0};
  for (uint64_t i = 0; i < 7; ++i) numbered.Add({i, scores[i]});
  std::vector<uint64_t> texts;
  for (const tools::Neighbour& one : numbered.Sorted()) texts.push_back(one.text);
  EXPECT_EQ(texts, (std::vector<uint64_t>{1, 3, 5}));
  EXPECT_TRUE(tools::BestTexts(0).Sorted().empty());
}

TEST(Corpus, QuantizedVectorsAreNear) {
  const float values[] = {-1, 0.5, 0.004, 0};
  int8_t small[4];
  const float scale = tools::QuantizeVector(values, 4, small);
  EXPECT_EQ(small[0], -127);
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(scale * static_cast<float>(small[i]), values[i], scale / 2);
  const float zeros[] = {0, 0};
  EXPECT_EQ(tools::QuantizeVector(zeros, 2, small), 0);
  EXPECT_EQ(small[0], 0);
}

// The scores of fovea run --pair, sorted.
TEST(Corpus, RankSortsByTheScoreOfPairs) {
  const std::string& blob = TinyBlob("score");
  const std::vector<std::string> lines = ManyLines(30);
  const std::string file = WriteLines("passages.txt", lines);
  std::vector<std::string> arguments = {"run", blob, "--text", "a cat", "--json"};
  for (const std::string& line : lines) arguments.insert(arguments.end(), {"--pair", line});
  std::vector<double> expected;
  for (const json& one : FoveaJson(arguments)) expected.push_back(one["classes"][0]["score"]);
  const CommandResult result =
      Fovea({"rank", blob, "--query", "a cat", "--file", file, "--top", "7", "--batch", "4", "--jsonl"});
  ASSERT_EQ(result.status, 0) << result.err;
  const json found = json::parse(result.out)["texts"];
  ASSERT_EQ(found.size(), 7u);
  for (const json& one : found) {
    EXPECT_EQ(one["text"], lines[one["index"]]);
    EXPECT_NEAR(one["score"].get<double>(), expected[one["index"]], 1e-5);
  }
  std::sort(expected.rbegin(), expected.rend());
  for (size_t i = 0; i < 7; ++i) EXPECT_NEAR(found[i]["score"].get<double>(), expected[i], 1e-5);
  const CommandResult classes = Fovea({"rank", TinyBlob("sequence"), "--query", "a", "--file", file});
  EXPECT_NE(classes.err.find("--label"), std::string::npos) << classes.err;
  EXPECT_EQ(Fovea({"rank", TinyBlob("sequence"), "--query", "a", "--file", file, "--label", "food"}).status, 0);
  EXPECT_NE(Fovea({"rank", TinyBlob("base"), "--query", "a", "--file", file}).err.find("fovea search"),
            std::string::npos);
}

// JSON Lines, the array and the text have the same results in the same order, for batches of any size.
TEST(Corpus, RunPrintsJsonLines) {
  const std::string& blob = TinyBlob("sequence");
  const std::string file = WriteLines("run.txt", ManyLines(70));
  const json list = FoveaJson({"run", blob, "--file", file, "--json"});
  const std::vector<json> lines = JsonLines(Fovea({"run", blob, "--file", file, "--jsonl", "--batch", "2"}).out);
  ASSERT_EQ(lines.size(), 70u);
  for (size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i]["text"], list[i]["text"]);
    EXPECT_NEAR(lines[i]["classes"][0]["logit"].get<double>(), list[i]["classes"][0]["logit"].get<double>(), 1e-5);
  }
  EXPECT_EQ(Fovea({"run", blob, "--file", file, "--jsonl", "--json"}).status, 2);
  EXPECT_EQ(JsonLines(Fovea({"tokenize", blob, "--file", file, "--jsonl"}).out).size(), 70u);
}

TEST(Corpus, PairsRunInBatches) {
  const std::vector<std::string> lines = ManyLines(40);
  std::vector<std::string> pairs, arguments = {"run", TinyBlob("score"), "--text", "a cat", "--json"};
  for (const std::string& line : lines) {
    pairs.push_back("a cat\t" + line);
    arguments.insert(arguments.end(), {"--pair", line});
  }
  const json expected = FoveaJson(arguments);
  const json found =
      FoveaJson({"run", TinyBlob("score"), "--pairs", WriteLines("pairs.tsv", pairs), "--json", "--batch", "3"});
  ASSERT_EQ(found.size(), lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(found[i]["pair"], lines[i]);
    EXPECT_NEAR(found[i]["classes"][0]["score"].get<double>(), expected[i]["classes"][0]["score"].get<double>(), 1e-5);
  }
}

TEST(Corpus, NumbersHaveNineDigits) {
  EXPECT_EQ(tools::JsonText({0.1f, 1.0 / 3, 16777216.0f, 1e300, 2, -0.25}, -1),
            "[0.1,0.333333333,16777216.0,1e+300,2,-0.25]");
  std::ostringstream out, empty, same;
  tools::JsonList list(out, tools::ListForm::kArray);
  const tools::OrderedJson entry = {{"a", {1, 2}}, {"text", "x\ny"}};
  list.Add(entry);
  list.Add(entry);
  list.End();
  tools::PrintJson(same, tools::OrderedJson::array({entry, entry}));
  EXPECT_EQ(out.str(), same.str());
  tools::PrintList(empty, tools::ListForm::kArray, tools::OrderedJson::array());
  EXPECT_EQ(empty.str(), "[]\n");
}

TEST(Corpus, ProgressNamesRateAndTime) {
  EXPECT_EQ(tools::ProgressText(1024, 0.25, 4), "[#####...............]  25%  1,024 texts, 256 texts/s, 0:12 left");
  EXPECT_EQ(tools::ProgressText(1024, 0, 4), "1,024 texts, 256 texts/s");
  EXPECT_EQ(tools::ProgressText(10, 0.001, 10), "[....................]   0%  10 texts, 1 texts/s, 2:46:30 left");
}

}  // namespace
}  // namespace fovea::test
