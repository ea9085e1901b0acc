// Byte-exact against vectors made by the original tokenizers, in tests/data and beside the repository.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/fewer_cases.h"
#include "tests/support/paths.h"
#include "tests/text/text_fixture.h"
#include "tools/convert/text/build.h"
#include "tools/convert/text/readers.h"
#include "tools/convert/text/unicode.h"

namespace fovea::test {
namespace {

using nlohmann::json;
using std::filesystem::path;

json ReadJson(const path& file) { return tools::ReadJson(file.string()); }

// Counts comparisons, shows the first few differences, and fails at the end if there was any.
class Tally {
 public:
  explicit Tally(std::string name) : name_(std::move(name)) {}
  template <typename A, typename B>
  void Same(const char* what, const std::string& text, const A& expected, const B& got) {
    ++count_;
    if (expected == got) return;
    if (++failed_ <= 5) {
      ADD_FAILURE() << name_ << " " << what << " of " << json(text).dump() << "\n  expected "
                    << json(expected).dump().substr(0, 400) << "\n  got      " << json(got).dump().substr(0, 400);
    }
  }
  ~Tally() {
    std::cerr << name_ << ": " << count_ - failed_ << " of " << count_ << " comparisons agree\n";
    EXPECT_EQ(failed_, 0u) << name_;
  }

 private:
  const std::string name_;
  size_t count_ = 0, failed_ = 0;
};

using Offsets = std::vector<std::pair<uint32_t, uint32_t>>;

Offsets InCodePoints(const Offsets& ranges, const std::string& text) {
  std::vector<uint32_t> index(text.size() + 1);
  uint32_t count = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if ((text[i] & 0xc0) != 0x80) ++count;
    index[i] = count - 1;
  }
  index[text.size()] = count;
  Offsets result;
  for (const auto& [begin, end] : ranges) result.push_back({index[begin], index[end]});
  return result;
}

text::EncodeOptions Truncated(const json& c) {
  text::EncodeOptions options;
  options.max_length = c["max_length"];
  options.stride = c.value("stride", 0);
  options.from_left = c.value("direction", "right") == "left";
  const std::string strategy = c.value("strategy", "LongestFirst");
  if (strategy == "OnlyFirst") options.truncation = text::Truncation::kOnlyFirst;
  if (strategy == "OnlySecond") options.truncation = text::Truncation::kOnlySecond;
  return options;
}

class Golden : public testing::TestWithParam<const char*> {};

TEST_P(Golden, Tokenizers) {
  const path folder = path(InData("tokenizers")) / GetParam();
  const TextSection section(tools::BuildTextSection(folder));
  ASSERT_TRUE(section.ok()) << section.error();
  const json expected = ReadJson(folder / "expected.json");
  const auto name = [](const char* what) { return std::string(GetParam()) + " " + what; };
  {
    Tally ids(name("ids")), plain(name("plain ids")), offsets(name("offsets")), decoded(name("decoded"));
    for (const json& c : expected["strings"]) {
      const std::string text = c["text"];
      ids.Same("ids", text, c["ids"].get<std::vector<int>>(), section.Encode(text).ids);
      const Encoded e = section.Encode(text, false);
      plain.Same("plain ids", text, c["ids_plain"].get<std::vector<int>>(), e.ids);
      offsets.Same("offsets", text, c["offsets"].get<Offsets>(), InCodePoints(e.ranges, text));
      decoded.Same("decoded", text, c["decoded"].get<std::string>(), section.Decode(c["ids"]));
      decoded.Same("decoded all", text, c["decoded_all"].get<std::string>(), section.Decode(c["ids"], false));
      decoded.Same("in parts", text, c["decoded"].get<std::string>(), section.DecodeInParts(c["ids"], 1));
    }
  }
  {
    Tally pairs(name("pairs"));
    for (const json& c : expected["pairs"]) {
      const std::string a = c["a"], b = c["b"];
      const Encoded e = section.Encode(a, &b, {});
      pairs.Same("ids", a, c["ids"].get<std::vector<int>>(), e.ids);
      pairs.Same("type ids", a, c["type_ids"].get<std::vector<int>>(), e.types);
      pairs.Same("special mask", a, c["special_mask"].get<std::vector<int>>(), e.special);
    }
  }
  {
    Tally truncation(name("truncation"));
    for (const json& c : expected["truncation"]) {
      text::EncodeOptions options = Truncated(c);
      if (c.contains("a")) {
        const std::string a = c["a"], b = c["b"];
        const Encoded e = section.Encode(a, &b, options);
        truncation.Same("status", a, c.value("error", false), !e.status.ok());
        if (c.value("error", false)) continue;
        truncation.Same("ids", a, c["ids"].get<std::vector<int>>(), e.ids);
        truncation.Same("type ids", a, c["type_ids"].get<std::vector<int>>(), e.types);
        continue;
      }
      const std::string text = c["text"];
      std::vector<std::vector<int>> windows = {c["ids"].get<std::vector<int>>()};
      for (const json& more : c["overflowing"]) windows.push_back(more.get<std::vector<int>>());
      std::vector<std::vector<int>> got;
      for (options.window = 0; options.window < windows.size(); ++options.window) {
        const Encoded e = section.Encode(text, nullptr, options);
        truncation.Same("windows", text, windows.size(), e.result.windows);
        truncation.Same("window", text, windows[options.window], e.ids);
      }
    }
  }
  {
    Tally padding(name("padding"));
    for (const json& c : expected["padding"]) {
      for (size_t i = 0; i < c["texts"].size(); ++i) {
        const std::string text = c["texts"][i];
        std::vector<int> real;
        for (size_t j = 0; j < c["ids"][i].size(); ++j) {
          if (c["attention_mask"][i][j] == 1) real.push_back(c["ids"][i][j]);
        }
        padding.Same("ids without padding", text, real, section.Encode(text).ids);
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Text, Golden,
                         testing::Values("wordpiece-uncased", "wordpiece-cased", "added-tokens", "unigram-t5",
                                         "unigram-xlmr", "bpe-gpt2", "bpe-roberta", "bpe-llama3", "bpe-qwen2",
                                         "spbpe-llama", "spbpe-gemma"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// A published tokenizer of this directory with some parts replaced.
json Changed(const std::string& base, const json& change) {
  json file = ReadJson(path(InData("tokenizers")) / base / "tokenizer.json");
  for (const auto& [key, value] : change.items()) {
    if (key == "model") {
      file["model"].update(value);
    } else if (key == "model_whole") {
      file["model"] = value;
    } else if (key == "bytes_at_end") {
      for (int byte = 0; byte < 256; ++byte) {
        file["model"]["vocab"].push_back(json::array({tools::BytePiece(byte), -30}));
      }
    } else if (key == "drop") {
      const json model = file["model"];
      const auto dropped = [&, &gone = value](const std::string& piece) {
        return std::any_of(gone.begin(), gone.end(),
                           [&](const json& part) { return piece.find(part.get<std::string>()) != std::string::npos; });
      };
      for (const auto& [piece, id] : model["vocab"].items()) {
        if (dropped(piece)) file["model"]["vocab"].erase(piece);
      }
      file["model"]["merges"] = json::array();
      for (const json& merge : model["merges"]) {
        if (!dropped(merge)) file["model"]["merges"].push_back(merge);
      }
    } else {
      file[key] = value;
    }
  }
  return file;
}

TEST(GoldenText, Variants) {
  const json file = ReadJson(path(InData("tokenizers")) / "variants.json");
  const json& variants = file["variants"];
  for (size_t which = 0; which < variants.size(); which += FewerCases() ? 8 : 1) {
    const json& variant = variants[which];
    const std::string name = variant["name"];
    const json changed = Changed(variant["base"], variant["change"]);
    const TextSection section(tools::WriteTextSection(tools::ReadTokenizerJson({changed, name})));
    ASSERT_TRUE(section.ok()) << name << section.error();
    Tally ids(name + ": ids"), decoded(name + ": decoded"), parts(name + ": decoded in parts");
    for (size_t i = 0; i < file["strings"].size(); ++i) {
      const std::string text = file["strings"][i];
      const std::vector<int> wanted = variant["ids"][i];
      ids.Same("ids", text, wanted, section.Encode(text, false).ids);
      const json& whole = variant["decoded"][i];
      decoded.Same("decoded", text, whole.is_null() ? text : whole.get<std::string>(), section.Decode(wanted));
      parts.Same("decoded in parts", text, section.Decode(wanted), section.DecodeInParts(wanted, 1 + i % 3));
    }
  }
}

void CompareSentencePiece(const path& file, const json& cases, const std::string& name) {
  const TextSection section(
      tools::BuildTextSection(file.parent_path(), {{"type", "sentencepiece"}, {"file", file.filename().string()}}));
  ASSERT_TRUE(section.ok()) << section.error();
  Tally ids(name + " ids"), decoded(name + " decoded");
  for (const json& c : cases) {
    const std::string text = c["text"];
    ids.Same("ids", text, c["ids"].get<std::vector<int>>(), section.Encode(text).ids);
    decoded.Same("decoded", text, c["decoded"].get<std::string>(), section.Decode(c["ids"]));
    decoded.Same("in parts", text, c["decoded"].get<std::string>(), section.DecodeInParts(c["ids"], 2));
  }
}

TEST(GoldenText, SentencePieceModels) {
  const std::pair<const char*, const char*> models[] = {{"unigram-t5", "spiece.model"},
                                                        {"unigram-xlmr", "sentencepiece.bpe.model"},
                                                        {"spbpe-llama", "tokenizer.model"},
                                                        {"spbpe-gemma", "tokenizer.model"}};
  for (const auto& [folder, model] : models) {
    const path file = path(InData("tokenizers")) / folder / model;
    const json expected = ReadJson(file.parent_path() / "expected_sentencepiece.json");
    CompareSentencePiece(file, expected["strings"], std::string(folder) + " sentencepiece");
  }
}

TEST(GoldenText, SentencePieceModelsOfOthers) {
  const path folder = path(InShared("tokenizers/sentencepiece"));
  if (Missing(folder.string())) GTEST_SKIP();
  const json expected = ReadJson(folder / "expected.json");
  for (const auto& [model, data] : expected["models"].items())
    CompareSentencePiece(folder / model, data["cases"], model);
}

TEST(GoldenText, BertBaseUncased) {
  const path folder = path(InShared("tokenizers/bert-base-uncased"));
  if (Missing(folder.string())) GTEST_SKIP();
  const TextSection from_json(tools::BuildTextSection(folder));
  const TextSection from_txt(tools::BuildTextSection(folder, {{"type", "wordpiece"}, {"file", "vocab.txt"}}));
  const std::pair<const char*, const TextSection*> sections[] = {{"tokenizer.json", &from_json},
                                                                 {"vocab.txt", &from_txt}};
  for (const auto& [from, section] : sections) {
    ASSERT_TRUE(section->ok()) << section->error();
    Tally llama(std::string("llama.cpp, ") + from), js(std::string("transformers.js, ") + from),
        hf(std::string("tokenizers, ") + from);
    const json llama_cases = ReadJson(folder / "vectors-llama-cpp.json");
    for (const json& c : llama_cases["cases"]) {
      llama.Same("ids", c["text"], c["ids"].get<std::vector<int>>(), section->Encode(c["text"], false).ids);
    }
    const json tables = ReadJson(folder / "vectors-transformers-js.json")["tables"];
    for (const auto& [table, rows] : tables.items()) {
      for (const json& c : rows) {
        const std::string text = c["text"];
        Encoded e;
        if (c.contains("text_pair")) {
          const std::string pair = c["text_pair"];
          e = section->Encode(text, &pair, {});
        } else {
          e = section->Encode(text);
        }
        js.Same("ids", text, c["ids"].get<std::vector<int>>(), e.ids);
        if (c.contains("decoded")) {
          js.Same("decoded", text, c["decoded"].get<std::string>(), section->Decode(c["ids"], false, true));
        }
      }
    }
    const json cases = ReadJson(folder / "vectors-tokenizers.json");
    for (const json& c : cases["single"]) {
      hf.Same("ids", c["text"], c["ids"].get<std::vector<int>>(), section->Encode(c["text"]).ids);
    }
    for (const json& c : cases["pair"]) {
      const std::string a = c["text"][0], b = c["text"][1];
      const Encoded e = section->Encode(a, &b, {});
      hf.Same("ids", a, c["ids"].get<std::vector<int>>(), e.ids);
      hf.Same("type ids", a, c["type_ids"].get<std::vector<int>>(), e.types);
    }
  }
}

// Bytes as byte-level vocabularies print them.
std::string Printed(const std::vector<uint8_t>& bytes) {
  std::string printed;
  for (const uint32_t byte : bytes) {
    uint32_t code = byte;
    if (byte <= 0x20) code = 0x100 + byte;
    if (byte >= 0x7f && byte <= 0xa0) code = 0x121 + byte - 0x7f;
    if (byte == 0xad) code = 0x143;
    printed += tools::Utf8(code);
  }
  return printed;
}

TEST(GoldenText, Gpt2) {
  const path folder = path(InShared("tokenizers/gpt2"));
  if (Missing(folder.string())) GTEST_SKIP();
  const TextSection section(tools::BuildTextSection(folder));
  ASSERT_TRUE(section.ok()) << section.error();
  Tally llama("llama.cpp, gpt2"), js("transformers.js, gpt2"), hf("tokenizers, gpt2");
  const json llama_cases = ReadJson(folder / "vectors-llama-cpp.json");
  for (const json& c : llama_cases["cases"]) {
    llama.Same("ids", c["text"], c["ids"].get<std::vector<int>>(), section.Encode(c["text"]).ids);
  }
  const json tables = ReadJson(folder / "vectors-transformers-js.json")["tables"];
  for (const auto& [table, rows] : tables.items()) {
    for (const json& c : rows) {
      if (!c.contains("ids")) continue;
      js.Same("ids", c["text"], c["ids"].get<std::vector<int>>(), section.Encode(c["text"]).ids);
      if (c.contains("decoded")) {
        js.Same("decoded", c["text"], c["decoded"].get<std::string>(), section.Decode(c["ids"], false, true));
      }
    }
  }
  // Tokenizers with the same merges and other ids.
  const json others = ReadJson(folder / "vectors-transformers-js.json")["tokens_only"];
  for (const auto& [table, rows] : others.items()) {
    for (const json& c : rows) {
      std::vector<std::string> tokens;
      for (int id : section.Encode(c["text"]).ids) {
        const text::Bytes piece = section.tokenizer().Piece(static_cast<uint32_t>(id));
        tokens.push_back(Printed({piece.data, piece.data + piece.size}));
      }
      js.Same("tokens", c["text"], c["tokens"].get<std::vector<std::string>>(), tokens);
    }
  }
  const json cases = ReadJson(folder / "vectors-tokenizers.json");
  for (const json& c : cases["single"]) {
    hf.Same("ids", c["text"], c["ids"].get<std::vector<int>>(), section.Encode(c["text"]).ids);
  }
}

// The small vocabularies, read from vocab.txt alone.
TEST(GoldenText, VocabTxt) {
  for (const char* name : {"wordpiece-uncased", "wordpiece-cased"}) {
    const path folder = path(InData("tokenizers")) / name;
    const bool lower = std::string(name) == "wordpiece-uncased";
    const TextSection section(
        tools::BuildTextSection(folder, {{"type", "wordpiece"}, {"file", "vocab.txt"}, {"do_lower_case", lower}}));
    ASSERT_TRUE(section.ok()) << section.error();
    Tally ids(std::string(name) + " vocab.txt");
    const json expected = ReadJson(folder / "expected.json");
    for (const json& c : expected["strings"]) {
      ids.Same("ids", c["text"], c["ids"].get<std::vector<int>>(), section.Encode(c["text"]).ids);
    }
  }
}

TEST(GoldenText, UseLite) {
  const path folder = path(InShared("models/use-lite"));
  if (Missing(folder.string())) GTEST_SKIP();
  const TextSection section(tools::BuildTextSection(folder, {{"type", "unigram"},
                                                             {"file", "vocab.json"},
                                                             {"normalizer", "nfkc"},
                                                             {"first_piece", 6},
                                                             {"unknown_score", 0},
                                                             {"unknown", "alone"},
                                                             {"ties", "later"},
                                                             {"max_length", 128}}));
  ASSERT_TRUE(section.ok()) << section.error();
  Tally ids("use-lite");
  const json expected = ReadJson(folder / "expected.json");
  for (const json& c : expected["cases"]) {
    const std::vector<int> whole = c["input_ids"];
    ids.Same("ids", c["text"], whole, section.Encode(c["text"]).ids);
    text::EncodeOptions options;
    options.max_length = section.tokenizer().header.max_length;
    ids.Same("tokens used", c["text"], c["tokens_used"].get<size_t>(),
             section.Encode(c["text"], nullptr, options).ids.size());
  }
}

// Byte pairs by score, with plain spaces in pieces.
TEST(GoldenText, Stories) {
  const path folder = path(InShared("models/stories260K"));
  if (Missing(folder.string())) GTEST_SKIP();
  const TextSection section(tools::BuildTextSection(folder));
  ASSERT_TRUE(section.ok()) << section.error();
  const json expected = ReadJson(folder / "expected.json");
  Tally ids("stories260K ids"), decoded("stories260K decoded");
  for (const json& c : expected["tokenization"]) {
    const std::string text = c["text"];
    ids.Same("ids", text, c["ids"].get<std::vector<int>>(), section.Encode(text).ids);
    decoded.Same("decoded", text, text, section.Decode(c["ids"]));
    decoded.Same("in parts", text, text, section.DecodeInParts(c["ids"], 1));
  }
}

// Single characters, each unknown one a token.
TEST(GoldenText, Aren) {
  const path folder = path(InShared("models/ct2-aren"));
  if (Missing(folder.string())) GTEST_SKIP();
  const TextSection section(tools::BuildTextSection(
      folder,
      {{"type", "characters"}, {"file", "source_vocab.json"}, {"pad_id", 0}, {"unknown_id", 50}, {"unknown", "each"}}));
  ASSERT_TRUE(section.ok()) << section.error();
  Tally ids("ct2-aren ids");
  const json expected = ReadJson(folder / "expected.json");
  for (const json& c : expected["cases"]) {
    ids.Same("ids", c["source"], c["source_ids"].get<std::vector<int>>(), section.Encode(c["source"]).ids);
  }
  EXPECT_EQ(section.Encode("xy").ids, (std::vector<int>{50, 50}));
}

}  // namespace
}  // namespace fovea::test
