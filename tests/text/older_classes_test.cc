// Classes of the original library with their own files: languages, proteins, words without BERT's names; and settings
// beside tokenizer.json.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/text/fixtures.h"
#include "tests/text/tokenizer_files.h"

namespace fovea::test {
namespace {

using nlohmann::json;
using Ids = std::vector<int>;

class OlderClasses : public TokenizerFiles {
 protected:
  void Model(const char* type, const json& more = json::object()) {
    json config = {{"tokenizer_class", type}};
    config.update(more);
    Alone("sentencepiece.bpe.model", UsualModel(), config);
  }
};

// UsualModel has 13 pieces; fairseq's ids are one higher, and languages follow: 14 is ar_AR, ace_Arab. In the published
// models likewise: 250,000 pieces and en_XX = 250004; 256,000 pieces and eng_Latn = 256047.
TEST_F(OlderClasses, Languages) {
  Model("MBartTokenizer");
  EXPECT_EQ(Encode("hello world"), (Ids{4, 5, 2, 17}));
  EXPECT_TRUE(Found("around a text: text </s> en_XX"));
  EXPECT_EQ(Encode("hello <mask>"), (Ids{4, 39, 2, 17}));
  EXPECT_EQ(EncodePair("hello", "world"), (Ids{4, 5, 2, 17}));
  Model("MBartTokenizerFast", {{"src_lang", "de_DE"}});
  EXPECT_EQ(Encode("hello"), (Ids{4, 2, 16}));
  Model("MBart50Tokenizer");
  EXPECT_EQ(Encode("hello world"), (Ids{17, 4, 5, 2}));
  EXPECT_EQ(Encode("sl_SI hello"), (Ids{17, 65, 4, 2}));
  EXPECT_EQ(Encode("<mask>"), (Ids{17, 66, 2}));
  Model("NllbTokenizer", {{"src_lang", nullptr}});
  EXPECT_EQ(Encode("hello world"), (Ids{60, 4, 5, 2}));
  EXPECT_EQ(Encode("zul_Latn<mask>"), (Ids{60, 215, 216, 2}));
  Model("NllbTokenizer", {{"src_lang", "deu_Latn"}, {"legacy_behaviour", true}});
  EXPECT_EQ(Encode("hello"), (Ids{4, 2, 55}));
  Model("NllbTokenizer", {{"src_lang", "xyz"}});
  EXPECT_NE(Refusal().find("\"xyz\""), std::string::npos) << Refusal();
}

TEST_F(OlderClasses, M2M100) {
  json vocabulary = {{"<s>", 0}, {"<pad>", 1}, {"</s>", 2}, {"<unk>", 3}};
  for (const char* piece : {"world", "hello", ""}) vocabulary[kMark + std::string(piece)] = vocabulary.size();
  for (const char c : std::string("helowrd")) vocabulary[std::string(1, c)] = vocabulary.size();
  Model("M2M100Tokenizer");
  Write("vocab.json", vocabulary);                            // 14 pieces
  EXPECT_EQ(Encode("hello world"), (Ids{14 + 18, 5, 4, 2}));  // "en" is the 19th of 100 languages
  EXPECT_EQ(Encode("__zu__ hello"), (Ids{32, 14 + 99, 5, 2}));
  EXPECT_EQ(Encode("hello ?"), (Ids{32, 5, 6, 3, 2}));
  EXPECT_EQ(Decode({32, 5, 4, 2, 14 + 100 + 7}), "hello world");
  Config({{"tokenizer_class", "M2M100Tokenizer"}, {"src_lang", "af"}, {"num_madeup_words", 0}});
  EXPECT_EQ(Encode("hello"), (Ids{14, 5, 2}));
  Config({{"tokenizer_class", "M2M100Tokenizer"}, {"language_codes", "wmt21"}});
  EXPECT_EQ(Encode("hello"), (Ids{14, 5, 2}));
  Config({{"tokenizer_class", "M2M100Tokenizer"}, {"language_codes", "other"}});
  EXPECT_NE(Refusal().find("language_codes \"other\""), std::string::npos) << Refusal();
  // Pieces without ids are unknown tokens, although their letters have ids.
  vocabulary.erase(kMark + std::string("world"));
  vocabulary["<lost>"] = 4;
  Write("vocab.json", vocabulary);
  Config({{"tokenizer_class", "M2M100Tokenizer"}});
  EXPECT_EQ(Encode("hello world"), (Ids{32, 5, 3, 2}));
  EXPECT_EQ(Decode({5, 4}), "hello<lost>");
  vocabulary["<lost>"] = 100;
  Write("vocab.json", vocabulary);
  EXPECT_NE(Refusal().find("gaps"), std::string::npos) << Refusal();
}

TEST_F(OlderClasses, OtherSentencePieces) {
  Model("XGLMTokenizer");
  EXPECT_EQ(Encode("hello world"), (Ids{2, 4, 5}));
  EXPECT_EQ(EncodePair("hello", "world"), (Ids{2, 4, 2, 2, 5}));
  EXPECT_EQ(Encode("<madeupword6>"), (Ids{2, 20}));
  Alone("sentencepiece.bpe.model",
        ModelFile()
            .Piece("<s>", 0, ModelFile::kControl)
            .Piece("<pad>", 0, ModelFile::kControl)
            .Piece("</s>", 0, ModelFile::kControl)
            .Piece("<unk>", 0, ModelFile::kUnknown)
            .Words()
            .bytes(),
        {{"tokenizer_class", "BarthezTokenizer"}});
  EXPECT_EQ(Encode("hello world"), (Ids{0, 4, 5, 2}));
  ModelFile ended;
  ended.Piece("<unk>", 0, ModelFile::kUnknown);
  for (const char* piece : {"<s>", "</s>", "<cls>", "<sep>", "<pad>", "<mask>"}) {
    ended.Piece(piece, 0, ModelFile::kControl);
  }
  Alone("spiece.model", ended.Words().bytes(), {{"tokenizer_class", "XLNetTokenizer"}});
  EXPECT_EQ(Encode("hello world"), (Ids{7, 8, 4, 3}));
  EXPECT_EQ(EncodePair("hello", "world"), (Ids{7, 4, 8, 4, 3}));
  EXPECT_EQ(Encode("h\xc3\xa9llo"), Encode("hello"));  // accents are dropped
  Alone("spiece.model", BracketedModel(), {{"tokenizer_class", "FNetTokenizer"}});
  EXPECT_EQ(Encode("hello world"), (Ids{2, 5, 6, 3}));
  EXPECT_NE(Encode("h\xc3\xa9llo"), Encode("hello"));
}

// Every token is found anywhere; anything else is unknown, word by word.
TEST_F(OlderClasses, Proteins) {
  Write("vocab.txt", std::string("<cls>\n<pad>\n<eos>\n<unk>\nL\nA\nG\n<mask>\n"));
  Config({{"tokenizer_class", "EsmTokenizer"}});
  EXPECT_EQ(Encode("LAG"), (Ids{0, 4, 5, 6, 2}));
  EXPECT_EQ(Encode("L <mask>GA"), (Ids{0, 4, 7, 6, 5, 2}));
  EXPECT_EQ(Encode("Lxy zA"), (Ids{0, 4, 3, 3, 5, 2}));
  EXPECT_EQ(EncodePair("L", "A"), (Ids{0, 4, 2, 5, 2}));
  EXPECT_EQ(Decode({0, 4, 5, 2}), "L A");
  Write("vocab.txt", std::string("<cls>\n\n<eos>\n"));
  EXPECT_NE(Refusal().find("line 2"), std::string::npos) << Refusal();
}

TEST_F(OlderClasses, WordPieces) {
  Write("vocab.txt", std::string("<unk>\n<sep>\n<pad>\n<cls>\n<mask>\nthe\n"));
  Config({{"tokenizer_class", "FunnelTokenizer"}});
  EXPECT_EQ(Encode("The"), (Ids{3, 5, 1}));
  const TextSection funnel(Section());
  EXPECT_EQ(funnel.Encode("the").types, (Ids{2, 0, 0}));
  Write("vocab.txt", std::string("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\n[QUESTION]\n.\n"));
  Config({{"tokenizer_class", "SplinterTokenizer"}});
  EXPECT_EQ(EncodePair("the", "the"), (Ids{2, 5, 6, 7, 3, 5, 3}));
  Config({{"tokenizer_class", "DPRQuestionEncoderTokenizerFast"}});
  EXPECT_EQ(EncodePair("the", "the"), (Ids{2, 5, 3, 5, 3}));
  // No particular class: that of model_type.
  for (const char* type : {"PreTrainedTokenizerFast", "TokenizersBackend"}) {
    Config({{"tokenizer_class", type}, {"max_len", 3}});
    Write("config.json", json{{"model_type", "ernie"}});
    EXPECT_EQ(Encode("the"), (Ids{2, 5, 3})) << type;
    EXPECT_TRUE(Found("3 tokens"));
    text::Header header;
    std::memcpy(&header, Section().data(), sizeof(header));
    EXPECT_EQ(header.max_length, 3u);
  }
}

TEST_F(OlderClasses, Merges) {
  Write("vocab.json", json{{"[CLS]", 0},
                           {"[PAD]", 1},
                           {"[SEP]", 2},
                           {"[UNK]", 3},
                           {"h", 4},
                           {"i", 5},
                           {"hi", 6},
                           {"[MASK]", 7},
                           {"\xc4\xa0", 8},
                           {"\xc4\xa0hi", 9},
                           {"<s>", 10},
                           {"</s>", 11}});
  Write("merges.txt", std::string("#version: 0.2\nh i\n\xc4\xa0 hi\n"));
  Config({{"tokenizer_class", "DebertaTokenizer"}});
  EXPECT_EQ(Encode("hi hi"), (Ids{0, 6, 9, 2}));
  EXPECT_EQ(EncodePair("hi", "hi"), (Ids{0, 6, 2, 6, 2}));
  EXPECT_EQ(Encode("hi [MASK]"), (Ids{0, 6, 7, 2}));  // takes the space before it
  Config({{"tokenizer_class", "LayoutLMv3Tokenizer"}});
  EXPECT_EQ(Encode("hi hi"), (Ids{10, 9, 9, 11}));
  Config({{"tokenizer_class", "MvpTokenizer"}});
  EXPECT_EQ(Encode("hi hi"), (Ids{10, 6, 9, 11}));
  Config({{"tokenizer_class", "BlenderbotTokenizer"}, {"add_prefix_space", true}});
  EXPECT_EQ(Encode("hi hi"), (Ids{9, 9, 11}));
  Write("vocab.json", json{{"<s>", 0}, {"<pad>", 1}, {"</s>", 2}, {"<unk>", 3}, {"h", 4}, {"i</w>", 5}, {"hi</w>", 6}});
  Write("merges.txt", std::string("#version: 0.2\nh i</w>\n"));
  Config({{"tokenizer_class", "HerbertTokenizerFast"}});
  EXPECT_EQ(Encode("hi hi"), (Ids{0, 6, 6, 2}));
  EXPECT_EQ(Decode({6, 6}), "hi hi");
}

// The fast classes compare these keys with tokenizer.json, and the class wins.
TEST_F(OlderClasses, KeysThatWinOverTokenizerJson) {
  Write("tokenizer.json", WordPieceJson());
  Config({{"tokenizer_class", "BertTokenizerFast"}, {"do_lower_case", false}});
  EXPECT_EQ(Encode("The"), (Ids{2, 1, 3}));
  EXPECT_TRUE(Found("normalizer.lowercase of tokenizer.json is true"));
  Config({{"tokenizer_class", "BertTokenizer"}});
  EXPECT_EQ(Encode("The"), (Ids{2, 5, 3}));
  EXPECT_FALSE(Found("lowercase"));
  Config({{"tokenizer_class", "PreTrainedTokenizerFast"}, {"do_lower_case", false}});
  EXPECT_EQ(Encode("The"), (Ids{2, 5, 3}));
  Write("tokenizer.json", BytePairJson());  // with a space in front
  Config({{"tokenizer_class", "RobertaTokenizerFast"}, {"add_prefix_space", true}});
  EXPECT_EQ(Encode("hello"), (Ids{10, 9, 11}));
  Config({{"tokenizer_class", "RobertaTokenizerFast"}, {"add_prefix_space", false}});
  EXPECT_EQ(Encode("hello"), (Ids{10, 8, 11}));
  EXPECT_TRUE(Found("pre_tokenizer.add_prefix_space of tokenizer.json is true; followed is add_prefix_space false"));
  Config({{"tokenizer_class", "RobertaTokenizerFast"}});
  EXPECT_EQ(Encode("hello"), (Ids{10, 9, 11}));
  EXPECT_TRUE(Found("pre_tokenizer.add_prefix_space of tokenizer.json is true, which is followed"));
  Config({{"tokenizer_class", "RobertaTokenizerFast"}, {"add_prefix_space", "no"}});
  EXPECT_NE(Refusal().find("add_prefix_space must be true or false"), std::string::npos) << Refusal();
}

// Tokens that only other files name get ids behind the ids of tokenizer.json.
TEST_F(OlderClasses, TokensBesideTokenizerJson) {
  Write("tokenizer.json", WordPieceJson());  // 28 tokens
  Config({{"pad_token", "<filler>"}, {"additional_special_tokens", {"<new>", "[CLS]"}}});
  EXPECT_EQ(Encode("the<new>"), (Ids{2, 5, 29, 3}));
  EXPECT_TRUE(Found("\"<filler>\" of pad_token is not in tokenizer.json; it is added behind its tokens, as id 28"));
  Config({{"added_tokens_decoder",
           {{"5", {{"content", "the"}, {"single_word", true}}}, {"40", {{"content", "<other>"}, {"special", true}}}}}});
  EXPECT_EQ(Encode("<other>the"), (Ids{2, 28, 5, 3}));
  EXPECT_EQ(Encode("thea"), (Ids{2, 1, 3}));
  // special_tokens_map.json decides, unless tokenizer_config.json has added_tokens_decoder.
  std::filesystem::remove(folder_ / "tokenizer.json");
  Write("vocab.txt", std::string("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\n<p>\n<q>\n"));
  Write("special_tokens_map.json", json{{"mask_token", "<q>"}});
  Config({{"tokenizer_class", "BertTokenizer"}, {"mask_token", "<p>"}});
  EXPECT_EQ(Encode("<q>"), (Ids{2, 7, 3}));
}

TEST_F(OlderClasses, PartsOfTokenizerJson) {
  json words = WordPieceJson();
  words["model"] = {{"type", "WordLevel"}, {"unk_token", "[UNK]"}, {"vocab", words["model"]["vocab"]}};
  for (const char* piece : {"##aff", "##able", "##s", "##b", "##t"}) {
    words["model"]["vocab"]["w" + std::string(piece)] = words["model"]["vocab"][piece];
    words["model"]["vocab"].erase(piece);
  }
  Write("tokenizer.json", words);
  EXPECT_EQ(Encode("the un unable " + std::string(200, 'a')), (Ids{2, 5, 6, 1, 1, 3}));
  // Older files do not name the type of the model.
  json untyped = WordPieceJson();
  untyped["model"].erase("type");
  Write("tokenizer.json", untyped);
  EXPECT_EQ(Encode("unaffable"), (Ids{2, 6, 7, 8, 3}));
  untyped = BytePairJson();
  untyped["model"].erase("type");
  Write("tokenizer.json", untyped);
  EXPECT_EQ(Encode("hello"), (Ids{10, 9, 11}));
  untyped = UnigramJson();
  untyped["model"].erase("type");
  untyped["normalizer"] = {{"type", "Nmt"}};
  Write("tokenizer.json", untyped);
  EXPECT_EQ(Encode("a\x01"
                   "b\xe2\x80\x8b"
                   "c"),
            Encode("ab c"));
}

TEST_F(OlderClasses, DamagedFiles) {
  Write("merges.txt", std::string("#version: 0.2\nh i\n"));
  Write("vocab.json", json{{"h", 0}, {"i", 1}, {"hi", 2000000000}});
  Config({{"tokenizer_class", "GPT2Tokenizer"}});
  EXPECT_NE(Refusal().find("2000000000"), std::string::npos) << Refusal();
  Write("vocab.json", json{{"h", 0}, {"i", "1"}});
  EXPECT_NE(Refusal().find("vocab.json"), std::string::npos) << Refusal();
  Write("vocab.json", json{{"h", 0}, {"i", 1}});
  EXPECT_NE(Refusal().find("\"hi\""), std::string::npos) << Refusal();
  Write("merges.txt", std::string("h\n"));
  EXPECT_NE(Refusal().find("not a pair"), std::string::npos) << Refusal();
  Write("added_tokens.json", json{{"<x>", -1}});
  Write("merges.txt", std::string());
  EXPECT_NE(Refusal().find("added_tokens.json"), std::string::npos) << Refusal();
  Write("added_tokens.json", json{{"<x>", 4000000000u}});
  EXPECT_NE(Refusal().find("4000000000"), std::string::npos) << Refusal();
  Write("added_tokens.json", json::array({1}));
  EXPECT_NE(Refusal().find("added_tokens.json"), std::string::npos) << Refusal();
}

}  // namespace
}  // namespace fovea::test
