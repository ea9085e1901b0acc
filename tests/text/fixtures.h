// Small tokenizers written out in full, so that the text tests can be read without any file.
#ifndef FOVEA_TESTS_TEXT_FIXTURES_H_
#define FOVEA_TESTS_TEXT_FIXTURES_H_

#include <nlohmann/json.hpp>
#include <string>

#include "tools/convert/text/model.h"
#include "tools/convert/text/readers.h"

namespace fovea::test {

inline nlohmann::json AddedJson(uint32_t id, const std::string& content, bool special, const std::string& flags = "") {
  return {{"id", id},
          {"content", content},
          {"special", special},
          {"lstrip", flags.find('l') != std::string::npos},
          {"rstrip", flags.find('r') != std::string::npos},
          {"single_word", flags.find('w') != std::string::npos},
          {"normalized", flags.find('n') != std::string::npos}};
}

// A BERT tokenizer, lower-cased, of 24 pieces and four more added tokens.
inline nlohmann::json WordPieceJson() {
  const char* const pieces[] = {"[PAD]",  "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "un", "##aff",
                                "##able", "cafe",  "##s",   ",",     ".",      "'",   "t",  "a",
                                "b",      "##b",   "中",    "文",    "don",    "##t", "ab", "é"};
  nlohmann::json vocabulary = nlohmann::json::object();
  uint32_t id = 0;
  for (const char* piece : pieces) vocabulary[piece] = id++;
  nlohmann::json added = nlohmann::json::array();
  for (uint32_t i = 0; i < 5; ++i) added.push_back(AddedJson(i, pieces[i], true));
  added.push_back(AddedJson(24, "<L>", true, "l"));
  added.push_back(AddedJson(25, "<R>", false, "r"));
  added.push_back(AddedJson(26, "word", false, "w"));
  added.push_back(AddedJson(27, "Élan", false, "n"));
  const auto cls = nlohmann::json{{"SpecialToken", {{"id", "[CLS]"}, {"type_id", 0}}}};
  const auto sep = [](int type) { return nlohmann::json{{"SpecialToken", {{"id", "[SEP]"}, {"type_id", type}}}}; };
  const auto text = [](const char* name, int type) {
    return nlohmann::json{{"Sequence", {{"id", name}, {"type_id", type}}}};
  };
  return {
      {"added_tokens", added},
      {"normalizer",
       {{"type", "BertNormalizer"},
        {"clean_text", true},
        {"handle_chinese_chars", true},
        {"strip_accents", nullptr},
        {"lowercase", true}}},
      {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
      {"post_processor",
       {{"type", "TemplateProcessing"},
        {"single", {cls, text("A", 0), sep(0)}},
        {"pair", {cls, text("A", 0), sep(0), text("B", 1), sep(1)}},
        {"special_tokens", {{"[CLS]", {{"id", "[CLS]"}, {"ids", {2}}}}, {"[SEP]", {{"id", "[SEP]"}, {"ids", {3}}}}}}}},
      {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}}},
      {"model",
       {{"type", "WordPiece"},
        {"unk_token", "[UNK]"},
        {"continuing_subword_prefix", "##"},
        {"max_input_chars_per_word", 10},
        {"vocab", vocabulary}}}};
}

// A unigram tokenizer with marks for spaces, NFKC and lower case.
inline nlohmann::json UnigramJson() {
  return nlohmann::json::parse(R"({
    "added_tokens": [{"id": 0, "content": "<pad>", "special": true}, {"id": 1, "content": "</s>", "special": true},
                     {"id": 2, "content": "<unk>", "special": true}],
    "normalizer": {"type": "Sequence", "normalizers": [
      {"type": "NFKC"}, {"type": "Lowercase"}, {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}]},
    "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true},
    "post_processor": {"type": "TemplateProcessing",
      "single": [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "</s>", "type_id": 0}}],
      "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}},
               {"SpecialToken": {"id": "</s>", "type_id": 0}}],
      "special_tokens": {"</s>": {"id": "</s>", "ids": [1]}}},
    "decoder": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
    "model": {"type": "Unigram", "unk_id": 2, "vocab": [
      ["<pad>", 0], ["</s>", 0], ["<unk>", 0], ["▁", -2.0], ["a", -3.0], ["b", -3.5], ["ab", -4.0], ["▁a", -2.5],
      ["c", -3.0], ["abc", -9.75], ["bc", -4.0], ["é", -5.0]]}})");
}

// A byte-level byte-pair tokenizer; bytes without a piece are dropped.
inline nlohmann::json BytePairJson() {
  return nlohmann::json::parse(R"({
    "added_tokens": [{"id": 10, "content": "<s>", "special": true}, {"id": 11, "content": "</s>", "special": true},
                     {"id": 14, "content": "<mask>", "special": true, "lstrip": true}],
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true},
    "post_processor": {"type": "RobertaProcessing", "sep": ["</s>", 11], "cls": ["<s>", 10], "trim_offsets": true,
                       "add_prefix_space": true},
    "decoder": {"type": "ByteLevel"},
    "model": {"type": "BPE",
      "vocab": {"h": 0, "e": 1, "l": 2, "o": 3, "Ġ": 4, "he": 5, "ll": 6, "hell": 7, "hello": 8, "Ġhello": 9,
                "<s>": 10, "</s>": 11, "Ã": 12, "©": 13},
      "merges": ["h e", "l l", "he ll", "hell o", "Ġ hello"]}})");
}

// Byte pairs of characters, with bytes for unknown ones, patterns, and a decoder of steps.
inline nlohmann::json CharacterPairsJson() {
  nlohmann::json json = nlohmann::json::parse(R"json({
    "added_tokens": [{"id": 0, "content": "<unk>", "special": true}, {"id": 1, "content": "<s>", "special": true},
                     {"id": 2, "content": "\n\n", "special": false}],
    "normalizer": {"type": "Sequence", "normalizers": [
      {"type": "Replace", "pattern": {"Regex": "\t+|\r\n"}, "content": "\n"},
      {"type": "Prepend", "prepend": "▁"}, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
    "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "\\p{N}{1,3}|[^\\S\\n]+(?!\\S)|'(?i:s|ll)"},
      "behavior": "Isolated", "invert": false},
    "post_processor": {"type": "TemplateProcessing",
      "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
      "pair": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
               {"Sequence": {"id": "B", "type_id": 1}}],
      "special_tokens": {"<s>": {"id": "<s>", "ids": [1]}}},
    "decoder": {"type": "Sequence", "decoders": [
      {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
      {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
    "model": {"type": "BPE", "unk_token": "<unk>", "fuse_unk": true, "byte_fallback": true,
      "vocab": {"<unk>": 0, "<s>": 1, "▁": 3, "h": 4, "e": 5, "l": 6, "o": 7, "s": 8, "'": 9, "1": 10, "2": 11,
                "he": 12, "ll": 13, "hell": 14, "hello": 15, "▁hello": 16, "lo": 17, "llo": 18, "'s": 19, "12": 20},
      "merges": ["h e", "l l", "l o", "ll o", "l lo", "he ll", "he llo", "hell o", "▁ hello", "' s", "1 2"]}})json");
  for (int byte = 0; byte < 256; ++byte) json["model"]["vocab"][tools::BytePiece(byte)] = 21 + byte;
  return json;
}

inline std::vector<uint8_t> SectionOf(const nlohmann::json& json) {
  return tools::WriteTextSection(tools::ReadTokenizerJson({json, "tokenizer.json"}));
}

}  // namespace fovea::test

#endif  // FOVEA_TESTS_TEXT_FIXTURES_H_
