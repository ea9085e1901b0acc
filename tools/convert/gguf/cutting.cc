// Pre-tokenizers of byte-pair encoding.
#include "tools/convert/gguf/cutting.h"

#include <algorithm>
#include <vector>

#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

// Patterns, each of which cuts what the patterns before it left: its matches, and what is between them, are words.
using Cuts = std::vector<const char*>;

// Characters become their bytes here, not after all cuts.
constexpr const char* kBytes = nullptr;

constexpr const char* kGpt2 = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr const char* kLlama3 = R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
                                R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kQwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kQwen35 = R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}|)"
                                R"( ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kTekken = R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|)"
                                R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|)"
                                R"(\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kGpt4o = R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
                               R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
                               R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
                               R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
                               R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kSeedCoder = R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|)"
                                   R"( ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kBailing = R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|)"
                                 R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)";
constexpr const char* kExaoneMoe = R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|)"
                                   R"([^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}|)"
                                   R"( ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+)";
constexpr const char* kUfakzeka =
    R"([^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kBloom = R"( ?[^(\s|.,!?…。，、।۔،)]+)";
constexpr const char* kThreeDigits = R"(\p{N}{1,3})";
constexpr const char* kHanAndKana = "[\xe4\xb8\x80-\xe9\xbe\xa5\xe3\x81\x80-\xe3\x82\x9f\xe3\x82\xa0-\xe3\x83\xbf]+";
constexpr const char* kDeepseek3 = R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|)"
                                   R"([^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|)"
                                   R"(\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kLineEnd = R"([\r\n])";
// Han of the first block, Hangul and what is between them.
constexpr const char* kEastAsian = "[\xe4\xb8\x80-\xe9\xbe\xa5\xe0\xa0\x80-\xe4\xb8\x80\xea\xb0\x80-\xed\x9f\xbf]+";
constexpr const char* kSymbols = R"([\p{P}\$\+<=>\^~\|`]+)";
constexpr const char* kDigitsByThree = "[0-9][0-9][0-9]";

struct Known {
  std::vector<std::string> names;
  Cuts cuts;
  bool composed = false;  // texts become NFC first
  bool ignore_merges = false, begins = false;
};

// The names that llama.cpp gives tokenizers, with its patterns and flags. kimi-k2, afmoe, superbpe, jais-2, youtu and
// deepseek-llm have patterns that are not supported here.
const std::vector<Known>& AllKnown() {
  static const std::vector<Known> kKnown = {
      {{"gpt-2",  "gpt2",        "mpt",        "olmo",         "jais",        "trillion",   "granite-docling",
        "phi-2",  "jina-es",     "jina-de",    "gigachat",     "jina-v2-es",  "jina-v2-de", "a.x-4.0",
        "mellum", "modern-bert", "jina-v1-en", "jina-v2-code", "roberta-bpe", "exaone4"},
       {kGpt2}},
      {{"llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "jina-v5-nano"},
       {kLlama3},
       false,
       true,
       true},
      {{"dbrx", "smaug-bpe", "glm4", "chatglm-bpe"}, {kLlama3}},
      {{"qwen2", "deepseek-r1-qwen"}, {kQwen2}, true},
      {{"megrez", "kormo", "f2llmv2", "stablelm2", "hunyuan", "grok-2", "solar-open"}, {kQwen2}},
      {{"qwen35"}, {kQwen35}},
      {{"smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b", "mellum2"},
       {R"(\p{N})", kGpt2}},
      {{"tekken"}, {kTekken}, false, true, true},
      {{"gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2"}, {kGpt4o}},
      {{"granite-embed-multi-97m"}, {kGpt4o}, false, true},
      {{"deepseek-v3", "hunyuan-dense", "joyai-llm", "hy_v4"}, {kThreeDigits, kHanAndKana, kDeepseek3}},
      {{"deepseek-coder"}, {kLineEnd, R"(\s?\p{L}+)", R"(\s?\p{P}+)", kEastAsian, R"(\p{N})"}},
      // As published: digits are cut last, and then the bytes that are written as digits (of "ü") are words too.
      {{"falcon"}, {kSymbols, kGpt2, kBytes, R"(\p{N}+)", kDigitsByThree}},
      {{"default"}, {R"([\p{P}\$\+<=>\^~\|]+)", kGpt2, R"(\p{N}+)", kDigitsByThree}},
      {{"poro-chat", "bloom", "gpt3-finnish"}, {kBloom}},
      {{"viking"}, {kBloom, R"(\p{N})"}},
      {{"chameleon"},
       {"<sentinel:[0-9]+>", "IMGIMG(?:A|B|C|D|E|F|G|H|I){1,4}Z", R"([\t\n]|    |  )", R"(\p{N})",
        R"([\p{P}!-/:-@\[-`{-~])", kGpt2},
       false,
       false,
       true},
      {{"bailingmoe", "bailingmoe2", "llada-moe"}, {kBailing}},
      {{"seed-coder"}, {kSeedCoder}},
      {{"exaone-moe"}, {kExaoneMoe}},
      {{"ufakzeka"}, {kUfakzeka}},
      {{"minicpm5"}, {kThreeDigits, kLlama3}, false, true},
      {{"laguna"}, {"[^\\n]+|[\\n]+", kQwen2}},
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
      const Json bytes = {
          {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", false}};
      for (const char* cut : one.cuts) {
        const Json split = {{"type", "Split"},
                            {"pattern", {{"Regex", cut == kBytes ? "" : cut}}},
                            {"behavior", "Isolated"},
                            {"invert", false}};
        parts.push_back(cut == kBytes ? bytes : split);
      }
      if (std::count(one.cuts.begin(), one.cuts.end(), kBytes) == 0) parts.push_back(bytes);
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
