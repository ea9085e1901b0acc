// Directories without tokenizer.json: each class of the original library has its own ids and its own tokens around
// texts; and what tokenizer_config.json changes beside tokenizer.json.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/paths.h"
#include "tests/text/fixtures.h"
#include "tests/text/text_fixture.h"
#include "tests/text/tokenizer_files.h"
#include "tools/base/fail.h"
#include "tools/base/mapped_file.h"
#include "tools/convert/text/build.h"

namespace fovea::test {
namespace {

using nlohmann::json;
using std::filesystem::path;
using Ids = std::vector<int>;

TEST_F(TokenizerFiles, EachClassHasItsIdsAndItsEnds) {
  Alone("spiece.model", PaddedModel(), {{"tokenizer_class", "T5Tokenizer"}});
  EXPECT_EQ(Encode("hello world"), (Ids{3, 4, 1}));
  EXPECT_EQ(EncodePair("hello", "world"), (Ids{3, 1, 4, 1}));
  EXPECT_EQ(Encode("hello <extra_id_0> world"), (Ids{3, 112, 4, 1}));  // 13 pieces, then 100 ids from the last one on
  Alone("spiece.model", PaddedModel(), {{"tokenizer_class", "MT5TokenizerFast"}, {"extra_ids", 0}});
  EXPECT_EQ(Encode("hello"), (Ids{3, 1}));
  Alone("spiece.model", PaddedModel(), {{"tokenizer_class", "PegasusTokenizer"}});
  EXPECT_EQ(Encode("hello world"), (Ids{106, 107, 1}));
  EXPECT_EQ(Encode("<mask_2> hello"), (Ids{3, 106, 1}));
  EXPECT_EQ(Encode("hello ?"), (Ids{106, 108, 105, 1}));  // the unknown one is 2 + 103
  Alone("sentencepiece.bpe.model", UsualModel(), {{"tokenizer_class", "XLMRobertaTokenizer"}});
  EXPECT_EQ(Encode("hello world"), (Ids{0, 4, 5, 2}));
  EXPECT_EQ(EncodePair("hello", "world"), (Ids{0, 4, 2, 2, 5, 2}));
  EXPECT_EQ(Encode("hello <mask>"), (Ids{0, 4, 14, 2}));
  EXPECT_EQ(Encode("hello ?"), (Ids{0, 4, 6, 3, 2}));
  Alone("sentencepiece.bpe.model", UsualModel(), {{"tokenizer_class", "CamembertTokenizer"}});
  EXPECT_EQ(Encode("hello world"), (Ids{5, 7, 8, 6}));
  EXPECT_EQ(EncodePair("hello", "world"), (Ids{5, 7, 6, 6, 8, 6}));
  Alone("tokenizer.model", UsualModel(), {{"tokenizer_class", "LlamaTokenizer"}});
  EXPECT_EQ(Encode("hello world"), (Ids{1, 3, 4}));
  Alone("tokenizer.model", UsualModel(),
        {{"tokenizer_class", "LlamaTokenizer"}, {"add_bos_token", false}, {"add_eos_token", true}});
  EXPECT_EQ(Encode("hello world"), (Ids{3, 4, 2}));
  for (const char* type : {"AlbertTokenizer", "BigBirdTokenizer", "RemBertTokenizer"}) {
    Alone("spiece.model", BracketedModel(), {{"tokenizer_class", type}});
    EXPECT_EQ(Encode("hello world"), (Ids{2, 5, 6, 3})) << type;
    EXPECT_EQ(EncodePair("hello", "world"), (Ids{2, 5, 3, 6, 3})) << type;
  }
  Alone("spiece.model", BracketedModel(), {{"tokenizer_class", "AlbertTokenizer"}});
  EXPECT_EQ(Encode("HELLO"), (Ids{2, 5, 3}));
  Alone("spm.model",
        ModelFile()
            .Piece("[PAD]", 0, ModelFile::kControl)
            .Piece("[CLS]", 0, ModelFile::kControl)
            .Piece("[SEP]", 0, ModelFile::kControl)
            .Piece("[UNK]", 0, ModelFile::kUnknown)
            .Words()
            .bytes(),
        {{"tokenizer_class", "DebertaV2Tokenizer"}});
  EXPECT_EQ(Encode("hello [MASK]"), (Ids{1, 4, 14, 2}));  // behind all pieces
}

// Albert never takes a piece that ends in a digit and a comma (check_number_comma).
TEST_F(TokenizerFiles, AlbertSplitsCommasFromDigits) {
  const std::string file = ModelFile()
                               .Piece("<pad>", 0, ModelFile::kControl)
                               .Piece("<unk>", 0, ModelFile::kUnknown)
                               .Piece("[CLS]", 0, ModelFile::kControl)
                               .Piece("[SEP]", 0, ModelFile::kControl)
                               .Piece(kMark, -1)
                               .Piece("9", -2)
                               .Piece(",", -3)
                               .Piece("9,", -1)
                               .bytes();
  Alone("spiece.model", file, {{"tokenizer_class", "AlbertTokenizer"}});
  EXPECT_EQ(Encode("9,"), (Ids{2, 4, 5, 6, 3}));
  Alone("spiece.model", file, {{"tokenizer_class", "BigBirdTokenizer"}});
  EXPECT_EQ(Encode("9,"), (Ids{2, 4, 7, 3}));
}

// The class is that of tokenizer_config.json, else of config.json, else of its model_type, as AutoTokenizer has it.
TEST_F(TokenizerFiles, WhatNamesTheClass) {
  Write("sentencepiece.bpe.model", UsualModel());
  EXPECT_NE(Refusal().find("sentencepiece.bpe.model"), std::string::npos) << Refusal();
  EXPECT_NE(Refusal().find("tokenizer_class"), std::string::npos) << Refusal();
  Write("config.json", json{{"model_type", "xlm-roberta"}});
  EXPECT_EQ(Encode("hello world"), (Ids{0, 4, 5, 2}));
  Write("config.json", json{{"model_type", "xlm-roberta"}, {"tokenizer_class", "CamembertTokenizer"}});
  EXPECT_EQ(Encode("hello world"), (Ids{5, 7, 8, 6}));
  Config({{"tokenizer_class", "XLMRobertaTokenizerFast"}});
  EXPECT_EQ(Encode("hello world"), (Ids{0, 4, 5, 2}));
  for (const char* type : {"M2M100Tokenizer", "SeamlessM4TTokenizer", "CpmTokenizer"}) {
    Config({{"tokenizer_class", type}});
    EXPECT_NE(Refusal().find(type), std::string::npos) << Refusal();
    EXPECT_NE(Refusal().find("tokenizer.json"), std::string::npos) << Refusal();
  }
  Write("vocab.json", json::object());  // has the ids
  Config({{"tokenizer_class", "XLMRobertaTokenizer"}});
  EXPECT_NE(Refusal().find("vocab.json"), std::string::npos) << Refusal();
}

// Results of convert_slow_tokenizer.py for the golden tokenizers' model files.
TEST_F(TokenizerFiles, AsTheirTokenizerJson) {
  struct Case {
    const char *folder, *file;
    json config;
  };
  const Case cases[] = {
      {"unigram-t5", "spiece.model", {{"tokenizer_class", "T5Tokenizer"}, {"extra_ids", 10}}},
      {"unigram-xlmr", "sentencepiece.bpe.model", {{"tokenizer_class", "XLMRobertaTokenizer"}}},
      {"spbpe-llama", "tokenizer.model", {{"tokenizer_class", "LlamaTokenizer"}}},
      {"spbpe-gemma",
       "tokenizer.model",
       {{"tokenizer_class", "GemmaTokenizer"}, {"bos_token", "<s>"}, {"eos_token", "</s>"}}},
  };
  for (const Case& c : cases) {
    const path golden = path(InData("tokenizers")) / c.folder;
    Alone(c.file, tools::ReadFile((golden / c.file).string()), c.config);
    const TextSection section(Section());
    ASSERT_TRUE(section.ok()) << section.error();
    const bool unigrams = std::strncmp(c.folder, "unigram", 7) == 0;
    size_t compared = 0;
    const json expected = tools::ReadJson((golden / "expected.json").string());
    for (const json& text : expected["strings"]) {
      const std::string bytes = text["text"];
      // Spaces at the ends: the golden files were made before the normalizer stripped them on the right.
      if (unigrams && (bytes.empty() || bytes.back() == ' ' || bytes.find("  ") != std::string::npos)) continue;
      ++compared;
      EXPECT_EQ(section.Encode(bytes).ids, text["ids"].get<Ids>()) << c.folder << " " << json(bytes);
      EXPECT_EQ(section.Decode(text["ids"]), text["decoded"].get<std::string>()) << c.folder << " " << json(bytes);
    }
    EXPECT_GT(compared, 200u);
  }
}

// LlamaTokenizerFast.update_post_processor builds the template anew; so does every class of version 5, if a key asks.
TEST_F(TokenizerFiles, BeginningAndEndByConfiguration) {
  json file = WordPieceJson();
  const std::string name = "[CLS]", end = "[SEP]", word = "the";
  const auto configured = [&](const json& more) {
    json config = {{"bos_token", name}, {"eos_token", end}};
    config.update(more);
    Config(config);
    const Ids ids = Encode(word);
    std::string shape;
    for (const int id : ids) shape += id == 2 ? "b" : id == 3 ? "e" : "t";
    return shape;
  };
  const json llama = {{"tokenizer_class", "LlamaTokenizerFast"}},
             plain = {{"tokenizer_class", "PreTrainedTokenizerFast"}};
  const auto with = [](json config, const json& more) {
    config.update(more);
    return config;
  };
  file["post_processor"] = nullptr;
  Write("tokenizer.json", file);
  EXPECT_EQ(configured(with(llama, {{"add_bos_token", true}, {"add_eos_token", false}})), "bt");
  EXPECT_EQ(configured(llama), "bt");  // its default
  EXPECT_EQ(configured(with(llama, {{"add_bos_token", false}})), "t");
  EXPECT_EQ(configured(with(llama, {{"add_eos_token", true}})), "bte");
  EXPECT_EQ(configured({{"tokenizer_class", "GemmaTokenizerFast"}}), "bt");
  EXPECT_TRUE(warnings_.empty());
  EXPECT_EQ(configured(with(plain, {{"add_bos_token", true}})), "t");
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_NE(warnings_[0].find("PreTrainedTokenizer"), std::string::npos) << warnings_[0];
  EXPECT_EQ(configured({{"tokenizer_class", "TokenizersBackend"}, {"add_bos_token", true}}), "bt");
  EXPECT_EQ(configured({{"tokenizer_class", "TokenizersBackend"}}), "t");
  // The converse: a template that the class does not keep.
  Write("tokenizer.json", WordPieceJson());
  EXPECT_EQ(configured(json::object()), "bte");
  EXPECT_EQ(configured(llama), "bt");
  EXPECT_EQ(configured(with(llama, {{"add_bos_token", false}})), "t");
  EXPECT_EQ(configured(with(plain, {{"add_bos_token", true}, {"add_eos_token", true}})), "bte");
  EXPECT_TRUE(warnings_.empty());
  EXPECT_EQ(configured(with(plain, {{"add_bos_token", false}})), "bte");
  EXPECT_EQ(warnings_.size(), 1u);
  EXPECT_EQ(configured({{"backend", "tokenizers"}, {"add_bos_token", false}}), "t");
  // Without such a token there is no such template.
  Config({{"tokenizer_class", "CohereTokenizerFast"}});
  EXPECT_NE(Refusal().find("bos_token"), std::string::npos) << Refusal();
}

// source.spm finds pieces; vocab.json has their ids and the ids of the other language.
TEST_F(TokenizerFiles, Marian) {
  Write("source.spm", UsualModel());
  Write("target.spm", UsualModel());
  json vocabulary = {{"</s>", 0}, {"<unk>", 1}, {">>fra<<", 2}, {kMark + std::string("bonjour"), 3}};
  const auto add = [&](const std::string& piece) {
    if (!vocabulary.contains(piece)) vocabulary[piece] = vocabulary.size();
  };
  for (const char* piece : {"world", "hello", ""}) add(kMark + std::string(piece));
  for (const char c : std::string("helowrd")) add(std::string(1, c));
  add("<pad>");
  Write("vocab.json", vocabulary);
  Write("config.json", json{{"model_type", "marian"}});
  EXPECT_EQ(Encode(">>fra<< hello world"), (Ids{2, 5, 4, 0}));
  EXPECT_EQ(Encode("</s>>>fra<< hello"), (Ids{0, 2, 5, 0}));
  for (const char* text : {"hello >>fra<<", ">>fra<<>>fra<<"}) {  // the code selects a language only at the beginning
    const Ids ids = Encode(text);
    EXPECT_LE(std::count(ids.begin(), ids.end(), 2), text[0] == '>' ? 1 : 0) << text;
  }
  EXPECT_EQ(Encode("hello ?"), (Ids{5, 6, 1, 0}));
  EXPECT_EQ(EncodePair("hello", "world"), (Ids{5, 4, 0}));
  EXPECT_EQ(Decode({3, 4, 0}), "bonjour world");
  EXPECT_NE(Encode("bonjour")[0], 3);  // it is none of the source's
  vocabulary.erase("h");
  vocabulary["other"] = 7;
  Write("vocab.json", vocabulary);
  EXPECT_EQ(Encode("hello h"), (Ids{5, 6, 1, 0}));  // a piece without an id is unknown
  std::filesystem::remove(folder_ / "vocab.json");
  EXPECT_NE(Refusal().find("source.spm"), std::string::npos) << Refusal();
}

TEST_F(TokenizerFiles, SpeechToText) {
  Write("sentencepiece.bpe.model", UsualModel());
  json vocabulary = {{"<s>", 0}, {"<pad>", 1}, {"</s>", 2}, {"<unk>", 3}};
  for (const char* piece : {"hello", "world", ""}) vocabulary[kMark + std::string(piece)] = vocabulary.size();
  for (const char* c : {"h", "e", "l", "o", "w", "r", "d"}) vocabulary[c] = vocabulary.size();
  Write("vocab.json", vocabulary);
  Config({{"tokenizer_class", "Speech2TextTokenizer"}, {"do_lower_case", true}});
  EXPECT_EQ(Encode("HELLO world"), (Ids{4, 5, 2}));
  EXPECT_EQ(Decode({4, 5, 2}), "hello world");
  Config({{"tokenizer_class", "Speech2TextTokenizer"}, {"lang_codes", "mustc"}});
  EXPECT_NE(Refusal().find("lang_codes"), std::string::npos) << Refusal();
}

// An id for each byte, which no file lists.
TEST_F(TokenizerFiles, Byt5) {
  Config({{"tokenizer_class", "ByT5Tokenizer"}});
  EXPECT_EQ(Encode("hi"), (Ids{107, 108, 1}));
  EXPECT_EQ(Encode("h\xc3\xa9 "), (Ids{107, 198, 172, 35, 1}));
  EXPECT_EQ(Encode("a<extra_id_0>b"), (Ids{100, 259, 101, 1}));
  EXPECT_EQ(Encode("a <extra_id_0> b"), (Ids{100, 35, 259, 35, 101, 1}));
  EXPECT_EQ(Encode("a <unk> \tb"), (Ids{100, 2, 101, 1}));  // the class's flags of this token
  Config({{"tokenizer_class", "ByT5Tokenizer"}, {"unk_token", {{"content", "<unk>"}, {"lstrip", false}}}});
  EXPECT_EQ(Encode("a <unk> b"), (Ids{100, 35, 2, 35, 101, 1}));
  Config({{"tokenizer_class", "ByT5Tokenizer"}});
  EXPECT_EQ(EncodePair("a", "b"), (Ids{100, 1, 101, 1}));
  EXPECT_EQ(Decode({107, 198, 172, 1}), "h\xc3\xa9");
}

// vocab.json and merges.txt: the class is that of model_type where no file names one, and added tokens count.
TEST_F(TokenizerFiles, MergesByClass) {
  json vocabulary = {{"<s>", 0}, {"<pad>", 1}, {"</s>", 2}, {"<unk>", 3}, {"h", 4}, {"i", 5}, {"hi", 6}, {"<mask>", 7}};
  Write("vocab.json", vocabulary);
  Write("merges.txt", std::string("#version: 0.2\nh i\n"));
  for (const char* type : {"bart", "roberta", "led", "longformer"}) {
    Write("config.json", json{{"model_type", type}});
    EXPECT_EQ(Encode("hi"), (Ids{0, 6, 2})) << type;
    EXPECT_EQ(EncodePair("hi", "hi"), (Ids{0, 6, 2, 2, 6, 2})) << type;
  }
  // OPT: GPT-2's class, with a beginning.
  Config({{"tokenizer_class", "GPT2Tokenizer"},
          {"add_bos_token", true},
          {"bos_token", "</s>"},
          {"eos_token", "</s>"},
          {"unk_token", "</s>"}});
  EXPECT_EQ(Encode("hi"), (Ids{2, 6}));
  std::filesystem::remove(folder_ / "tokenizer_config.json");
  Write("config.json", json{{"model_type", "biogpt"}});
  EXPECT_NE(Refusal().find("BioGptTokenizer"), std::string::npos) << Refusal();
  // Whisper's slow files.
  Write("vocab.json", json{{"h", 0}, {"i", 1}, {"hi", 2}});
  Write("added_tokens.json", json{{"<|endoftext|>", 3}, {"<|startoftranscript|>", 4}, {"<|notimestamps|>", 5}});
  Write("special_tokens_map.json", json{{"eos_token", "<|endoftext|>"},
                                        {"additional_special_tokens", {"<|startoftranscript|>", "<|notimestamps|>"}}});
  Write("config.json", json{{"model_type", "whisper"}});
  EXPECT_EQ(Encode("hi"), (Ids{4, 5, 2, 3}));
  EXPECT_EQ(Decode({4, 5, 2, 3}), "hi");
}

TEST_F(TokenizerFiles, WordsByClass) {
  Write("vocab.txt", std::string("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\n"));
  Write("added_tokens.json", json{{"<extra>", 6}});
  EXPECT_EQ(Encode("the <extra>"), (Ids{2, 5, 6, 3}));
  for (const char* type : {"BertweetTokenizer", "BertJapaneseTokenizer", "BertGenerationTokenizer", "TapasTokenizer"}) {
    Config({{"tokenizer_class", type}});
    EXPECT_NE(Refusal().find(type), std::string::npos) << Refusal();
  }
  Config(json::object());
  Write("config.json", json{{"model_type", "roformer"}});
  EXPECT_NE(Refusal().find("RoFormerTokenizer"), std::string::npos) << Refusal();
}

}  // namespace
}  // namespace fovea::test
