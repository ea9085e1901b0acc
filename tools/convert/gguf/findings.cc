// Findings about a GGUF file, which the table of a conversion lists.
#include <algorithm>
#include <iterator>
#include <map>

#include "tools/base/fail.h"
#include "tools/convert/gguf/parts.h"

namespace fovea::tools {
namespace {

// "Q4_K 12, Q6_K 3, F32 20 tensors": the types with most bytes first.
std::string TypesOf(const GgufReader& file) {
  struct Total {
    uint64_t tensors = 0, bytes = 0;
  };
  std::map<std::string, Total> totals;
  for (const auto& [name, tensor] : file.tensors()) {
    Total& total = totals[GgufTypeName(tensor.type)];
    ++total.tensors, total.bytes += tensor.bytes;
  }
  std::vector<std::pair<std::string, Total>> order(totals.begin(), totals.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second.bytes > b.second.bytes; });
  std::string text;
  for (const auto& [type, total] : order) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", type, total.tensors);
  }
  return text + " tensors";
}

// Beginnings of keys that people and other programs read: provenance, how the file was quantized, its parts.
constexpr const char* kHarmless[] = {"general.",      "split.", "quantize.", "mergekit.", "tokenizer.huggingface",
                                     "tokenizer.rwkv"};
// After "tokenizer.ggml.": keys that one kind of tokenizer reads and another has, and tokens around what is filled in,
// which a caller writes.
constexpr const char* kOfTokenizers[] = {"added_tokens",
                                         "token_type_count",
                                         "scores",
                                         "pre",
                                         "merges",
                                         "add_space_prefix",
                                         "remove_extra_whitespaces",
                                         "precompiled_charsmap",
                                         "add_bos_token",
                                         "add_eos_token",
                                         "add_sep_token",
                                         "normalizer.",
                                         "prefix_token_id",
                                         "suffix_token_id",
                                         "middle_token_id",
                                         "fim_",
                                         "cls_token_id",
                                         "seperator_token_id",
                                         "separator_token_id",
                                         "unknown_token_id",
                                         "mask_token_id",
                                         "token_type",
                                         "tokens"};

void AddAbsentTokens(const GgufMetadata& metadata, Findings* findings) {
  for (const char* name : {"bos", "eos", "eot", "eom", "padding", "unknown", "mask", "cls", "seperator"}) {
    const JsonView id = metadata.Get(fmt::format("tokenizer.ggml.{}_token_id", name));
    if (id.IsNull() || id.json() == -1 || id.json() == UINT32_MAX || metadata.Token(name)) continue;
    findings->push_back(
        {Topic::kSpecialTokens, fmt::format("tokenizer.ggml.{}_token_id {} is outside the vocabulary and "
                                            "was ignored",
                                            name, id.json().dump())});
  }
}

}  // namespace

void AddGgufFindings(const Json& config, const GgufMetadata& metadata, const GgufReader& file, Findings* findings) {
  for (const std::string& path : file.paths()) findings->push_back({Topic::kFiles, path});
  findings->push_back({Topic::kFiles, TypesOf(file)});
  const Json& positions = metadata.Own("context_length").json();
  if (positions.is_number()) {
    findings->push_back(
        {Topic::kLimits, fmt::format("{} tokens, by {}.context_length", positions.dump(), metadata.architecture())});
  }
  // Published models of these families have a window, which their files do not contain.
  for (const char* family : {"starcoder2", "qwen2"}) {
    if (metadata.architecture() == family && !config.contains("sliding_window")) {
      findings->push_back(
          {Topic::kLimits,
           "a window of attention, if the published model has one, is not in the file: all tokens are seen"});
    }
  }
  if (config.value("tie_word_embeddings", false)) {
    findings->push_back({Topic::kTied, "there is no output.weight: the head is token_embd.weight"});
  }
  AddAbsentTokens(metadata, findings);
  if (config.value("decoder_start_token_id", Json()).is_number()) return;
  const Json stops = config.value("eos_token_id", Json());
  if (stops.is_array()) {
    findings->push_back(
        {Topic::kGeneration, fmt::format("a text ends with token {}, by the tokenizer's eos, eot and eom",
                                         fmt::join(stops.get<std::vector<uint32_t>>(), " or "))});
  }
}

void AddUnreadKeys(const GgufMetadata& metadata, Findings* findings, std::vector<std::string>* warnings) {
  for (const std::string& key : metadata.Unread()) {
    warnings->push_back(fmt::format("{}: {} is unknown and was ignored", metadata.path(), key));
  }
  for (const std::string& key : metadata.Unread(false)) {
    const auto begins = [&](const std::string& start) { return key.rfind(start, 0) == 0; };
    const bool harmless = std::any_of(std::begin(kHarmless), std::end(kHarmless), begins) ||
                          std::any_of(std::begin(kOfTokenizers), std::end(kOfTokenizers), [&](const char* start) {
                            return begins("tokenizer.ggml." + std::string(start));
                          });
    if (!harmless) findings->push_back({Topic::kNotUsed, fmt::format("key {} of the metadata is unknown", key)});
  }
}

}  // namespace fovea::tools
