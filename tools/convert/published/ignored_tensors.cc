#include "tools/convert/published/ignored_tensors.h"

#include <map>

#include "tools/base/affixes.h"
#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

struct Ignored {
  const char* model_types;  // separated by spaces; empty: all
  const char* ending;       // end of the name
  const char* reason;
};

// The original: _keys_to_ignore_on_load_unexpected and buffers of the classes in transformers/models/*/modeling_*.py.
constexpr Ignored kIgnored[] = {
    {"", "rotary_emb.inv_freq", "frequencies of rotary positions, which follow from config.json"},
    {"", "rotary_pos_emb.inv_freq", "frequencies of rotary positions, which follow from config.json"},
    {"", "rotary_embeddings.inv_freq", "frequencies of rotary positions, which follow from config.json"},
    {"", "rotary_emb.cos_cached", "tables of rotary positions, which follow from config.json"},
    {"", "rotary_emb.sin_cached", "tables of rotary positions, which follow from config.json"},
    {"lfm2", "pos_emb.inv_freq", "frequencies of rotary positions, which follow from config.json"},
    {"", ".num_batches_tracked", "a counter of training"},
    {"", ".position_ids", "numbers of positions in order"},
    {"", ".token_type_ids", "zeros, the default of an input"},
    {"", ".relative_position_index", "places in a table of biases, which follow from config.json"},
    {"", ".relative_coords_table", "coordinates of biases, which follow from config.json"},
    {"gpt2 gpt_bigcode gptj", ".attn.bias", "the causal mask"},
    {"gpt2 gpt_bigcode gptj", ".attn.masked_bias", "the value of masked scores"},
    {"gpt_neo", ".attn.attention.bias", "the causal mask"},
    {"gpt_neo", ".attn.attention.masked_bias", "the value of masked scores"},
    {"gpt_neox", ".attention.bias", "the causal mask"},
    {"gpt_neox", ".attention.masked_bias", "the value of masked scores"},
    {"codegen", ".attn.causal_mask", "the causal mask"},
    {"codegen", ".attn.bias", "the causal mask"},
    {"falcon", ".self_attention.maybe_rotary.inv_freq", "frequencies of rotary positions"},
    {"t5 mt5 umt5 longt5", ".EncDecAttention.relative_attention_bias.weight",
     "a bias by distance of cross-attention, which has no distances"},
    {"bart mbart marian pegasus blenderbot-small m2m_100 led opt biogpt xglm", "encoder.version", "a version number"},
    {"bart mbart marian pegasus blenderbot-small m2m_100 led opt biogpt xglm", "decoder.version", "a version number"},
    {"m2m_100 speech_to_text xglm", ".embed_positions.weights", "sinusoids, which follow from config.json"},
    {"reformer", ".mask_value_float16", "the value of masked scores"},
    {"reformer", ".mask_value_float32", "the value of masked scores"},
    {"reformer", ".self_mask_value_float16", "the value of masked scores"},
    {"reformer", ".self_mask_value_float32", "the value of masked scores"},
    {"dpr", "bert_model.pooler.dense.weight", "a pooler, which the class does not have"},
    {"dpr", "bert_model.pooler.dense.bias", "a pooler, which the class does not have"},
    {"luke", ".w2e_query.weight", "attention to entities, which texts alone do not have"},
    {"luke", ".w2e_query.bias", "attention to entities, which texts alone do not have"},
    {"luke", ".e2w_query.weight", "attention to entities, which texts alone do not have"},
    {"luke", ".e2w_query.bias", "attention to entities, which texts alone do not have"},
    {"luke", ".e2e_query.weight", "attention to entities, which texts alone do not have"},
    {"luke", ".e2e_query.bias", "attention to entities, which texts alone do not have"},
};

bool AppliesTo(const std::string& words, const std::string& word) {
  return words.empty() || (" " + words + " ").find(" " + word + " ") != std::string::npos;
}

}  // namespace

void IgnoreUnusedTensors(const std::string& model_type, Weights& weights, Findings& findings) {
  std::map<std::string, std::pair<size_t, std::string>> found;  // by reason: how many, and one of them
  const std::vector<std::string> names = weights.Stored();
  for (const Ignored& entry : kIgnored) {
    if (!AppliesTo(entry.model_types, model_type)) continue;
    weights.Ignore(std::string("*") + entry.ending);
    for (const std::string& name : names) {
      if (!EndsWith(name, entry.ending)) continue;
      auto& [count, example] = found[entry.reason];
      if (count++ == 0) example = name;
    }
  }
  for (const auto& [reason, tensors] : found) {
    const auto& [count, example] = tensors;
    findings.push_back({Topic::kNotUsed, count == 1
                                             ? fmt::format("tensor {}: {}", example, reason)
                                             : fmt::format("{} tensors, such as {}: {}", count, example, reason)});
  }
}

}  // namespace fovea::tools
