// Pre-tokenizers of byte-pair encoding.
#include "tools/convert/gguf/cutting.h"

#include <vector>

#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

// Patterns as in the tokenizer.json files; none: GPT-2's, which ByteLevel implies.
constexpr const char* kLlama3 = R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
                                R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kQwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kTekken = R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|)"
                                R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|)"
                                R"(\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

struct Known {
  std::vector<std::string> names;
  const char* pattern;
  bool digits, composed;  // each digit is a word; texts become NFC first
  bool ignore_merges, begins;
};

const std::vector<Known>& AllKnown() {
  static const std::vector<Known> kKnown = {
      {{"gpt-2", "gpt2"}, nullptr, false, false, false, false},
      {{"llama-bpe", "llama3", "llama-v3"}, kLlama3, false, false, true, true},
      {{"qwen2", "deepseek-r1-qwen"}, kQwen2, false, true, false, false},
      {{"smollm", "starcoder"}, nullptr, true, false, false, false},
      {{"tekken"}, kTekken, false, false, true, true},
  };
  return kKnown;
}

}  // namespace

WordCutting WordCuttingOf(const std::string& name, const std::string& where) {
  std::string known;
  for (const Known& one : AllKnown()) {
    for (const std::string& its : one.names) {
      known += (known.empty() ? "" : ", ") + its;
      if (its != name) continue;
      Json parts = Json::array();
      if (one.digits) parts.push_back({{"type", "Digits"}, {"individual_digits", true}});
      if (one.pattern != nullptr) {
        parts.push_back(
            {{"type", "Split"}, {"pattern", {{"Regex", one.pattern}}}, {"behavior", "Isolated"}, {"invert", false}});
      }
      parts.push_back({{"type", "ByteLevel"},
                       {"add_prefix_space", false},
                       {"trim_offsets", true},
                       {"use_regex", one.pattern == nullptr}});
      WordCutting cutting;
      cutting.pre_tokenizer = {{"type", "Sequence"}, {"pretokenizers", parts}};
      if (one.composed) cutting.normalizer = {{"type", "NFC"}};
      cutting.ignore_merges = one.ignore_merges;
      cutting.begins = one.begins;
      return cutting;
    }
  }
  Fail("{} {} is not supported; these are: {}", where, name.empty() ? "is missing, which" : name, known);
}

}  // namespace fovea::tools
