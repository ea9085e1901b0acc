// Reader of vocab.json with merges.txt: byte-level byte-pair encoding of GPT-2, RoBERTa and CLIP, brought into the form
// of tokenizer.json.
#include "tools/base/fail.h"
#include "tools/convert/text/readers.h"

namespace fovea::tools {

TextModel ReadMergesTxt(const JsonView& file_of_pieces, const std::string& lines, const JsonView& config) {
  const Json& vocabulary = file_of_pieces.Object();
  const std::string type = config["tokenizer_class"].Text("GPT2Tokenizer");
  const bool roberta = type.rfind("Roberta", 0) == 0;
  const bool clip = type.rfind("CLIP", 0) == 0;
  if (!roberta && !clip && type.rfind("GPT2", 0) != 0) {
    Fail("tokenizer class \"{}\" with vocab.json and merges.txt alone is not supported: add tokenizer.json", type);
  }
  Json merges = Json::array();
  for (const std::string& line : LinesOf(lines, "merges.txt")) {
    if (!line.empty() && line.rfind("#version", 0) != 0) merges.push_back(line);
  }
  const bool prefix = config["add_prefix_space"].Flag(false);
  const Json byte_level = {{"type", "ByteLevel"}, {"add_prefix_space", prefix}, {"trim_offsets", roberta}};
  Json file = {{"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", merges}}},
               {"added_tokens", Json::array()},
               {"pre_tokenizer", byte_level},
               {"post_processor", byte_level},
               {"decoder", {{"type", "ByteLevel"}}}};
  const auto add = [&](const char* content, bool lstrip) {
    if (!vocabulary.contains(content)) Fail("the vocabulary has no token \"{}\"", content);
    file["added_tokens"].push_back({{"id", vocabulary[content]},
                                    {"content", content},
                                    {"lstrip", lstrip},
                                    {"special", true},
                                    {"normalized", false}});
  };
  if (clip) {
    // Words in lower case, each with a mark at its end, between a token that starts a text and one that ends it.
    const char *start = "<|startoftext|>", *end = "<|endoftext|>";
    add(start, false);
    add(end, false);
    file["model"].update({{"end_of_word_suffix", "</w>"}, {"unk_token", end}});
    const Json one_space = {{"type", "Replace"}, {"pattern", {{"Regex", "\\s+"}}}, {"content", " "}};
    file["normalizer"] = {{"type", "Sequence"},
                          {"normalizers", {{{"type", "NFC"}}, one_space, {{"type", "Lowercase"}}}}};
    const char* words = "'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+";
    const Json split = {{"type", "Split"}, {"pattern", {{"Regex", words}}}, {"behavior", "Removed"}, {"invert", true}};
    file["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", {split, byte_level}}};
    file["post_processor"] = {{"type", "RobertaProcessing"},
                              {"cls", {start, vocabulary[start]}},
                              {"sep", {end, vocabulary[end]}},
                              {"trim_offsets", false},
                              {"add_prefix_space", false}};
  } else if (roberta) {
    for (const char* content : {"<s>", "<pad>", "</s>", "<unk>"}) add(content, false);
    add("<mask>", true);
    file["post_processor"] = {{"type", "RobertaProcessing"},
                              {"cls", {"<s>", vocabulary["<s>"]}},
                              {"sep", {"</s>", vocabulary["</s>"]}},
                              {"trim_offsets", true},
                              {"add_prefix_space", prefix}};
  } else {
    add("<|endoftext|>", false);
  }
  return ReadTokenizerJson({file, file_of_pieces.name() + ", merges.txt"});
}

}  // namespace fovea::tools
