// Reader of vocab.json with merges.txt: byte-level byte-pair encoding of GPT-2 and RoBERTa, brought into the form of tokenizer.json.
#include "tools/base/fail.h"
#include "tools/convert/text/readers.h"

namespace fovea::tools {

using nlohmann::json;

TextModel ReadMergesTxt(const json& vocabulary, const std::string& lines, const json& config) {
  const std::string type = config.value("tokenizer_class", "GPT2Tokenizer");
  const bool roberta = type.rfind("Roberta", 0) == 0;
  if (!roberta && type.rfind("GPT2", 0) != 0) {
    Fail("tokenizer class \"{}\" with vocab.json and merges.txt alone is not supported: add tokenizer.json", type);
  }
  json merges = json::array();
  for (size_t begin = 0; begin < lines.size();) {
    const size_t end = std::min(lines.find('\n', begin), lines.size());
    std::string line = lines.substr(begin, end - begin);
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (!line.empty() && line.rfind("#version", 0) != 0) merges.push_back(line);
    begin = end + 1;
  }
  const bool prefix = config.value("add_prefix_space", false);
  const json byte_level = {{"type", "ByteLevel"}, {"add_prefix_space", prefix}, {"trim_offsets", roberta}};
  json file = {{"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", merges}}},
               {"added_tokens", json::array()},
               {"pre_tokenizer", byte_level},
               {"post_processor", byte_level},
               {"decoder", {{"type", "ByteLevel"}}}};
  const auto add = [&](const char* content, bool lstrip) {
    if (!vocabulary.contains(content)) Fail("the vocabulary has no token \"{}\"", content);
    file["added_tokens"].push_back(
        {{"id", vocabulary[content]}, {"content", content}, {"lstrip", lstrip}, {"special", true}, {"normalized", false}});
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
  return ReadTokenizerJson(file);
}

}  // namespace fovea::tools
