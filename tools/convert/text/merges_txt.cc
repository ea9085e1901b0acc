// Reader of vocab.json with merges.txt: byte-level byte-pair encoding of GPT-2 and RoBERTa, brought into the form of tokenizer.json.
#include "tools/base/fail.h"
#include "tools/convert/text/readers.h"

namespace fovea::tools {

TextModel ReadMergesTxt(const JsonView& file_of_pieces, const std::string& lines, const JsonView& config) {
  const Json& vocabulary = file_of_pieces.Object();
  const std::string type = config["tokenizer_class"].Text("GPT2Tokenizer");
  const bool roberta = type.rfind("Roberta", 0) == 0;
  if (!roberta && type.rfind("GPT2", 0) != 0) {
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
  if (roberta) {
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
