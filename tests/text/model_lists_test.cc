// The long lists of tokenizer files, read without a JSON value for each piece; damaged tokenizer files of each kind.
#include "tools/convert/text/model_lists.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "tests/support/fewer_cases.h"
#include "tests/support/paths.h"
#include "tests/text/fixtures.h"
#include "tests/text/tokenizer_files.h"
#include "tools/base/mapped_file.h"
#include "tools/convert/text/readers.h"

namespace fovea::test {
namespace {

using nlohmann::json;
using std::filesystem::path;
using tools::ModelLists;

class ModelListsTest : public TokenizerFiles {};

// The lists equal the parsed file's, and the rest of the file is as parsed.
TEST_F(ModelListsTest, AsTheParsedFile) {
  for (const char* name :
       {"wordpiece-uncased", "added-tokens", "unigram-t5", "bpe-gpt2", "bpe-roberta", "spbpe-gemma"}) {
    const std::string file = (path(InData("tokenizers")) / name / "tokenizer.json").string();
    const tools::TokenizerFile read = tools::ReadTokenizerFile(file);
    json whole = json::parse(tools::ReadFile(file));
    json vocabulary, merges;
    for (const ModelLists::Piece& piece : read.lists.pieces) {
      if (read.lists.vocabulary == ModelLists::kScores) {
        vocabulary.push_back({piece.text, piece.score});
      } else {
        vocabulary[std::string(piece.text)] = piece.id;
      }
    }
    for (const ModelLists::Merge& merge : read.lists.merges) merges.push_back({merge.left, merge.right});
    for (json& merge : whole["model"].value("merges", json::array())) {
      if (!merge.is_string()) continue;
      const std::string both = merge;
      merge = {both.substr(0, both.find(' ')), both.substr(both.find(' ') + 1)};
    }
    EXPECT_EQ(vocabulary, whole["model"]["vocab"]) << name;
    EXPECT_EQ(read.lists.has_merges, whole["model"].contains("merges")) << name;
    if (read.lists.has_merges) {
      const json& listed = whole["model"]["merges"];
      ASSERT_EQ(merges.size(), listed.size()) << name;
      for (size_t i = 0; i < listed.size(); ++i) {
        const json pair = listed[i].is_array()
                              ? listed[i]
                              : json(merges[i][0].get<std::string>() + " " + merges[i][1].get<std::string>());
        EXPECT_EQ(listed[i].is_array() ? merges[i] : pair, listed[i]) << name;
      }
      EXPECT_TRUE(read.json["model"]["merges"].is_null());
      whole["model"]["merges"] = nullptr;
    }
    whole["model"]["vocab"] = nullptr;
    EXPECT_EQ(read.json, whole) << name;
  }
}

TEST_F(ModelListsTest, ListsOfAnotherForm) {
  const auto refused = [&](const std::string& model, const std::string& because) {
    Write("tokenizer.json",
          R"({"pre_tokenizer": {"type": "ByteLevel"}, "decoder": {"type": "ByteLevel"}, "model": )" + model + "}");
    EXPECT_NE(Refusal().find(because), std::string::npos) << model << ": " << Refusal();
  };
  refused(R"({"type": "BPE", "vocab": {"a": 0, "b": 1, "a": 2}, "merges": []})", "a is listed twice");
  refused(R"({"type": "BPE", "vocab": {"a": 0}, "vocab": {"b": 0}, "merges": []})", "vocab is listed twice");
  refused(R"({"type": "BPE", "vocab": null, "vocab": {"b": 0}, "merges": []})", "vocab is listed twice");
  refused(R"({"type": "BPE", "vocab": {"a": 0}, "merges": [], "merges": []})", "merges is listed twice");
  refused(R"({"type": "BPE", "vocab": {"a": 0, "b": 0}, "merges": []})", "is that of \"a\" as well");
  refused(R"({"type": "BPE", "vocab": {"a": 0, "b": 1.5}, "merges": []})", "not 1.5");
  refused(R"({"type": "BPE", "vocab": {"a": 0, "b": -1}, "merges": []})", "not -1");
  refused(R"({"type": "BPE", "vocab": {"a": 0, "b": 4294967296}, "merges": []})", "not 4294967296");
  refused(R"({"type": "BPE", "vocab": {"a": 0, "b": [1]}, "merges": []})", "not [1]");
  refused(R"({"type": "BPE", "vocab": [["a", 0]], "merges": []})", "model.vocab must be an object with ids");
  refused(R"({"type": "BPE", "vocab": 3, "merges": []})", "model.vocab must be an object, not 3");
  refused(R"({"type": "BPE", "vocab": {"a": 0}})", "model.merges must be a list");
  refused(R"({"type": "BPE", "vocab": {"a": 0}, "merges": {}})", "model.merges must be a list, not {}");
  refused(R"({"type": "BPE", "vocab": {"a": 0}, "merges": ["a"]})", "merge \"a\" is not a pair");
  refused(R"({"type": "BPE", "vocab": {"a": 0}, "merges": [["a", "a", "a"]]})", "merges[0] must be a pair of pieces");
  refused(R"({"type": "BPE", "vocab": {"a": 0}, "merges": [["a", 1]]})", "merges[0] must be a pair of pieces");
  refused(R"({"type": "BPE", "vocab": {"a": 0}, "merges": ["a b"]})", "\"b\", which is not in the vocabulary");
  refused(R"({"type": "Unigram", "unk_id": 0, "vocab": [["a", 0], ["b"]]})", "vocab[1] must be a piece and its score");
  refused(R"({"type": "Unigram", "unk_id": 0, "vocab": [["a", 0], ["b", "c"]]})", "vocab[1] must be a piece");
  refused(R"({"type": "Unigram", "unk_id": 0, "vocab": {"a": 0}})", "model.vocab must be a list of pieces");
  refused(R"({"type": "WordPiece", "vocab": {"a": 0, "a": 1}})", "a is listed twice");
  refused(R"({"type": "BPE", "vocab": {"a": 0)", "not JSON");
  refused(R"([{"vocab": {"a": 0}}])", "model must be an object");
  // Merges before the vocabulary.
  Write("tokenizer.json",
        std::string(R"({"model": {"merges": [["a", "b"]], "vocab": {"ab": 2, "b": 1, "a": 0}, "type": "BPE"},
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false}, "decoder": {"type": "ByteLevel"}})"));
  EXPECT_EQ(Encode("abb"), (std::vector<int>{2, 1}));
}

// Every way to write strings and numbers means the same as to the parser; what is no JSON is refused by it.
TEST_F(ModelListsTest, StringsAndNumbersOfEveryForm) {
  const auto written = [&](const std::string& vocabulary, const std::string& merges) {
    Write("tokenizer.json", "{\"a\": [\"]}\\\"\", {}],\t\"model\" :{\"vocab\" : " + vocabulary +
                                ",\r\n\"merges\":" + merges + "} , \"b\": -1.5e3}");
    return (folder_ / "tokenizer.json").string();
  };
  const std::string merges = R"([ ["a" , "\u00e9"],["\/", "\"\\"], "\n \t\b\f\r" ])";
  for (const std::string vocabulary :
       {R"({ "\u0120a" : 0,"\ud83d\ude00":1, "\ud83D\uDE01" : 4294967295 , "": 7})", "{}", "[]",
        R"([["a", 0], [ "\u0000b" , -0.5 ],["\u00E9",1E2],["d",1.25e-05], ["e", -0], ["f", 12345678901234567890]])"}) {
    const std::string file = written(vocabulary, merges);
    const tools::TokenizerFile read = tools::ReadTokenizerFile(file);
    const json whole = json::parse(tools::ReadFile(file));
    const ModelLists lists = tools::ListsOf({whole["model"], "model"});
    EXPECT_EQ(read.lists.vocabulary, lists.vocabulary);
    ASSERT_EQ(read.lists.pieces.size(), lists.pieces.size()) << vocabulary;
    for (const ModelLists::Piece& piece : read.lists.pieces) {
      const auto same = [&](const ModelLists::Piece& other) {
        return other.text == piece.text && other.id == piece.id && other.score == piece.score;
      };
      EXPECT_TRUE(std::any_of(lists.pieces.begin(), lists.pieces.end(), same)) << piece.text;
    }
    ASSERT_EQ(read.lists.merges.size(), 3u);
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(read.lists.merges[i].left, lists.merges[i].left);
      EXPECT_EQ(read.lists.merges[i].right, lists.merges[i].right);
    }
    EXPECT_EQ(read.json["a"], whole["a"]);
    EXPECT_EQ(read.json["b"], -1500);
  }
  for (const std::string wrong :
       {"{\"a\": 01}", "{\"a\": 1.}", "{\"a\": +1}", "{\"a\": 1,}", "{\"a\" 1}", "{\"a\": 1 \"b\": 2}",
        "{\"\\ud83d\": 1}", "{\"\\ude00\": 1}", "{\"\\x\": 1}", "{\"\\u00g0\": 1}", "{\"a\nb\": 1}", "{\"\xc3\": 1}",
        "{\"\xed\xa0\x80\": 1}", "{\"a\": 1", "[[\"a\", 1] [\"b\", 2]]", "[[\"a\", 1e999]]", "[[\"a\", .5]]",
        "[[\"a\", 1e]]"}) {
    const std::string file = written(wrong, "[]");
    EXPECT_THROW(tools::ReadTokenizerFile(file), tools::Failure) << wrong;
    Write("vocab.json", wrong);
    EXPECT_THROW(tools::ReadIds((folder_ / "vocab.json").string()), tools::Failure) << wrong;
  }
  for (const char* wrong : {"[\"a b\" \"c d\"]", "[[\"a\", \"b\"] [\"c\", \"d\"]]", "[\"a b\",]", "[\"a b\"}"}) {
    EXPECT_THROW(tools::ReadTokenizerFile(written("{}", wrong)), tools::Failure) << wrong;
  }
}

constexpr uint32_t kFew = 20;  // mutants of byte-level pairs, each of which compiles a pattern

// Every mutant of a file of each kind is read, or refused in one line.
class DamagedFiles : public ModelListsTest {
 protected:
  template <typename Read>
  void Try(std::string bytes, uint32_t seed, const Read& read, uint32_t mutants = 700) {
    std::mt19937 random(seed);
    size_t accepted = 0, refused = 0;
    const std::string good = bytes;
    const uint32_t tried = FewerCases() ? std::max(mutants / 7, kFew) : mutants;
    for (uint32_t mutant = 0; mutant < tried; ++mutant) {
      bytes = good;
      for (uint32_t left = 1 + random() % 3; left > 0 && !bytes.empty(); --left) Change(&bytes, &random);
      try {
        const tools::TextModel model = read(bytes);
        EXPECT_LT(model.tokens.size(), size_t{1} << 18);
        ++accepted;
      } catch (const tools::Failure& failure) {
        const std::string text = failure.what();
        EXPECT_FALSE(text.empty());
        EXPECT_EQ(text.find('\n'), std::string::npos) << text;
        ++refused;
      }
    }
    EXPECT_GT(accepted, 0u);
    EXPECT_GT(refused, 0u);
  }

 private:
  static void Change(std::string* bytes, std::mt19937* random) {
    const size_t at = (*random)() % bytes->size(), count = std::min<size_t>(bytes->size() - at, 1 + (*random)() % 12);
    switch ((*random)() % 5) {
      case 0:
        bytes->erase(at, count);
        break;
      case 1:
        bytes->insert((*random)() % bytes->size(), bytes->substr(at, count));
        break;
      case 2:
        if ((*random)() % 8 == 0) bytes->resize(at);
        break;
      default:
        (*bytes)[at] = static_cast<char>((*random)() % 3 == 0 ? 0xff : (*random)());
    }
  }
};

TEST_F(DamagedFiles, SentencePieceModels) {
  const json none = json::object();
  const tools::PublishedTokens tokens(folder_, {none, "tokenizer_config.json"});
  const auto as = [&](const char* type) {
    return [&tokens, &none, type](const std::string& bytes) {
      return tools::ReadSentencePieceOfClass(type, tools::ReadPieces(bytes), tokens, {none, "config"}, "spiece.model");
    };
  };
  Try(PaddedModel(), 1, as("T5Tokenizer"));
  Try(UsualModel(), 2, as("XLMRobertaTokenizer"));
  std::string pairs = UsualModel();
  pairs.back() = 2;  // byte pairs
  Try(pairs, 3, as("LlamaTokenizer"));
  Try(pairs, 4, [](const std::string& bytes) { return tools::ReadSentencePiece(bytes); });
  Try(UsualModel(), 5, [&](const std::string& bytes) {
    const tools::SentencePieces read = tools::ReadPieces(bytes);
    ModelLists ids;
    for (const char* piece : {"<unk>", "</s>", "<pad>", "l", "o"})
      ids.AddPiece(piece, static_cast<uint32_t>(ids.pieces.size()));
    for (uint32_t id = 5; id < 40; ++id) ids.AddPiece(std::to_string(id), id);
    return tools::ReadPiecesByVocabulary("MarianTokenizer", read, ids, "vocab.json", tokens, {none, "config"});
  });
}

TEST_F(DamagedFiles, Words) {
  const json none = json::object();
  Try("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\n\xe4\xb8\xad\n##s\n", 6, [&](const std::string& bytes) {
    return tools::ReadVocabTxt(bytes, {none, "config"});
  });
}

TEST_F(DamagedFiles, Merges) {
  const json none = json::object();
  const tools::PublishedTokens tokens(folder_, {none, "tokenizer_config.json"});
  const std::string ids = R"({"<|endoftext|>": 0, "h": 1, "i": 2, "hi": 3, "\u0120": 4, "\u0120hi": 5})";
  const std::string merges = "#version: 0.2\nh i\n\xc4\xa0 hi\n";
  const std::string file = (folder_ / "vocab.json").string();
  const auto read = [&](const std::string& vocabulary, const std::string& lines) {
    Write("vocab.json", vocabulary);
    return tools::ReadMergesTxt(tools::ReadIds(file), file, lines, tokens, {none, "config"});
  };
  Try(
      ids, 7, [&](const std::string& bytes) { return read(bytes, merges); }, kFew);
  Try(
      merges, 8, [&](const std::string& bytes) { return read(ids, bytes); }, kFew);
}

TEST_F(DamagedFiles, TokenizerJson) {
  uint32_t seed = 9;
  for (json (*make)() : {&WordPieceJson, &UnigramJson, &BytePairJson}) {
    Try(
        make().dump(), ++seed,
        [&](const std::string& bytes) {
          Write("tokenizer.json", bytes);
          const std::string file = (folder_ / "tokenizer.json").string();
          const tools::TokenizerFile read = tools::ReadTokenizerFile(file);
          return tools::ReadTokenizerJson({read.json, file}, read.lists);
        },
        make == &BytePairJson ? kFew : 150);
  }
}

}  // namespace
}  // namespace fovea::test
