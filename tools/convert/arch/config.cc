// config.json of a published model.
#include "tools/convert/arch/config.h"

#include <algorithm>
#include <map>

#include "runtime/blob/format.h"
#include "tools/base/affixes.h"
#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

// Ranges of whole numbers. A key that is not listed is at most the width of a value.
constexpr WholeRange kLayers = {0, 1024}, kHeads = {1, 4096}, kSizes = {1, kMaxWidth}, kPositions = {1, kMaxRecords};
const std::map<std::string, WholeRange> kRanges = {
    {"num_hidden_layers", kLayers},
    {"n_layers", kLayers},
    {"num_layers", kLayers},
    {"num_decoder_layers", kLayers},
    {"num_hidden_groups", {1, kLayers.most}},
    {"inner_group_num", {1, kLayers.most}},
    {"num_attention_heads", kHeads},
    {"num_key_value_heads", kHeads},
    {"n_heads", kHeads},
    {"n_head", kHeads},
    {"num_heads", kHeads},
    {"encoder_layers", kLayers},
    {"decoder_layers", kLayers},
    {"encoder_num_hidden_layers", kLayers},
    {"decoder_num_hidden_layers", kLayers},
    {"encoder_attention_heads", kHeads},
    {"decoder_attention_heads", kHeads},
    {"encoder_num_attention_heads", kHeads},
    {"decoder_num_attention_heads", kHeads},
    {"encoder_num_key_value_heads", kHeads},
    {"decoder_num_key_value_heads", kHeads},
    {"num_hashes", kHeads},
    {"attention_head_size", kSizes},
    {"d_head", kSizes},
    {"d_model", kSizes},
    {"head_dim", kSizes},
    {"hidden_size", kSizes},
    {"num_channels", {1, 1 << 14}},
    {"window_size", kSizes},
    {"max_position_embeddings", kPositions},
    {"max_source_positions", kPositions},
    {"max_target_positions", kPositions},
    {"relative_attention_max_distance", kPositions},
};

// The same for real numbers; a key that is not listed has the range of f32.
const std::map<std::string, RealRange> kRealRanges = {
    {"layer_norm_eps", {0, 1}}, {"layer_norm_epsilon", {0, 1}},         {"rms_norm_eps", {0, 1}},
    {"norm_eps", {0, 1}},       {"query_pre_attn_scalar", {1e-6, 1e9}},
};

template <typename Range>
Range RangeOf(const std::map<std::string, Range>& ranges, const std::string& key, Range otherwise) {
  const auto found = ranges.find(key);
  return found == ranges.end() ? otherwise : found->second;
}

// Keys that concern training, generation, storage or provenance. Older versions of the library wrote all defaults of
// generation into config.json.
const char* const kHarmless[] = {
    "bad_words_ids",
    "begin_suppress_tokens",
    "diversity_penalty",
    "do_sample",
    "early_stopping",
    "encoder_no_repeat_ngram_size",
    "exponential_decay_length_penalty",
    "forced_decoder_ids",
    "length_penalty",
    "max_length",
    "min_length",
    "no_repeat_ngram_size",
    "num_beam_groups",
    "num_beams",
    "num_return_sequences",
    "output_scores",
    "prefix",
    "processor_class",
    "remove_invalid_values",
    "repetition_penalty",
    "return_dict_in_generate",
    "suppress_tokens",
    "temperature",
    "tf_legacy_loss",
    "tokenizer_class",
    "top_k",
    "top_p",
    "typical_p",
    "use_bfloat16",
    "_commit_hash",
    "_name_or_path",
    "_num_labels",
    "architectures",
    "attn_implementation",
    "chunk_size_feed_forward",
    "directionality",
    "dtype",
    "finetuning_task",
    "gradient_checkpointing",
    "id2label",
    "initializer_range",
    "label2id",
    "language",
    "layer_norm_type",
    "model_type",
    "name",
    "net_structure_type",
    "num_labels",
    "num_memory_blocks",
    "output_attentions",
    "output_hidden_states",
    "output_router_logits",
    "output_past",
    "pooler_fc_size",
    "pooler_num_attention_heads",
    "pooler_num_fc_layers",
    "pooler_size_per_head",
    "pooler_type",
    "problem_type",
    "return_dict",
    "router_aux_loss_coef",
    "router_jitter_noise",
    "save_step",
    "sinusoidal_pos_embds",
    "task_specific_params",
    "tie_weights_",
    "tie_word_embeddings",
    "torch_dtype",
    "torchscript",
    "transformers_version",
    "use_cache",
    "vocab_size",
};

}  // namespace

std::string ActivationName(const std::string& published) {
  static const std::map<std::string, std::string> names = {
      {"gelu", "gelu"},
      {"gelu_python", "gelu"},
      {"gelu_new", "gelu_tanh"},
      {"gelu_pytorch_tanh", "gelu_tanh"},
      {"gelu_fast", "gelu_tanh"},
      {"gelu_accurate", "gelu_tanh"},
      {"relu", "relu"},
      {"silu", "silu"},
      {"swish", "silu"},
      {"tanh", "tanh"},
      {"sigmoid", "sigmoid"},
      {"linear", "none"},
      {"quick_gelu", "quick_gelu"},
  };
  const auto found = names.find(published);
  return found == names.end() ? "" : found->second;
}

Config::Config(const std::string& path) : path_(path), json_(ReadJson(path)) {
  if (!json_.is_object()) Fail("{}: not a JSON object", path);
}

Config Config::As(const std::string& model_type) const {
  Config config = *this;
  config.json_["model_type"] = model_type;
  return config;
}

Config::Config(const Config& whole, const std::string& key)
    : path_(whole.path_ + ": " + key), json_(whole.View(key).Object()) {}

const Json& Config::Get(const std::string& key) const {
  static const Json none;
  read_.insert(key);
  const auto found = json_.find(key);
  return found == json_.end() ? none : *found;
}

JsonView Config::View(const std::string& key) const { return {Get(key), path_ + ": " + key}; }

uint32_t Config::Number(const std::string& key, std::optional<uint32_t> absent) const {
  return View(key).Number(RangeOf(kRanges, key, {0, kMaxWidth}), absent);
}

double Config::Real(const std::string& key, std::optional<double> absent) const {
  return View(key).Real(RangeOf(kRealRanges, key, {}), absent);
}

bool Config::Flag(const std::string& key, bool absent) const { return View(key).Flag(absent); }

std::string Config::Text(const std::string& key, std::optional<std::string> absent) const {
  return View(key).Text(std::move(absent));
}

std::string Config::Activation(const std::string& key, std::optional<std::string> absent) const {
  const std::string published = Text(key, std::move(absent));
  const std::string name = ActivationName(published);
  if (name.empty()) Fail("{}: {} {} is not supported", path_, key, published);
  return name;
}

void Config::Only(const std::string& key, const Json& supported) const {
  const Json& value = Get(key);
  if (!value.is_null() && value != supported) Fail("{}: {} {} is not supported", path_, key, Shown(value));
}

void Config::Ignore(const std::vector<std::string>& keys) const { read_.insert(keys.begin(), keys.end()); }

std::vector<std::string> Config::Unknown() const {
  std::vector<std::string> unknown;
  for (const auto& item : json_.items()) {
    const std::string& key = item.key();
    const Json& value = item.value();
    const bool harmless =
        std::any_of(std::begin(kHarmless), std::end(kHarmless), [&](const char* k) { return key == k; }) ||
        key.find("dropout") != std::string::npos || EndsWith(key, "_pdrop") || EndsWith(key, "_token_id") ||
        value.is_null();
    if (!harmless && read_.count(key) == 0) unknown.push_back(key);
  }
  return unknown;
}

}  // namespace fovea::tools
