// config.json of a published model.
#include "tools/convert/arch/config.h"

#include <algorithm>
#include <map>

#include "tools/base/fail.h"
#include "tools/base/mapped_file.h"

namespace fovea::tools {
namespace {

using Json = nlohmann::json;

// Keys that concern training, generation, storage or provenance.
const char* const kHarmless[] = {
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
    "output_past",
    "pooler_fc_size",
    "pooler_num_attention_heads",
    "pooler_num_fc_layers",
    "pooler_size_per_head",
    "pooler_type",
    "problem_type",
    "return_dict",
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

bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

std::string ActivationName(const std::string& published) {
  static const std::map<std::string, std::string> names = {
      {"gelu", "gelu"},           {"gelu_python", "gelu"},
      {"gelu_new", "gelu_tanh"},  {"gelu_pytorch_tanh", "gelu_tanh"},
      {"gelu_fast", "gelu_tanh"}, {"gelu_accurate", "gelu_tanh"},
      {"relu", "relu"},           {"silu", "silu"},
      {"swish", "silu"},          {"tanh", "tanh"},
      {"sigmoid", "sigmoid"},     {"linear", "none"},
  };
  const auto found = names.find(published);
  return found == names.end() ? "" : found->second;
}

Config::Config(const std::string& path) : path_(path) {
  try {
    json_ = Json::parse(ReadFile(path));
  } catch (const Json::exception& error) {
    Fail("{}: not JSON: {}", path, error.what());
  }
  if (!json_.is_object()) Fail("{}: not a JSON object", path);
}

const Json& Config::Get(const std::string& key) const {
  static const Json none;
  read_.insert(key);
  const auto found = json_.find(key);
  return found == json_.end() ? none : *found;
}

uint32_t Config::Number(const std::string& key, std::optional<uint32_t> absent) const {
  const Json& value = Get(key);
  if (value.is_null() && absent) return *absent;
  if (!value.is_number_unsigned() || value.get<uint64_t>() > UINT32_MAX) {
    Fail("{}: {} must be a whole number, not {}", path_, key, value.dump());
  }
  return value.get<uint32_t>();
}

double Config::Real(const std::string& key, std::optional<double> absent) const {
  const Json& value = Get(key);
  if (value.is_null() && absent) return *absent;
  if (!value.is_number()) Fail("{}: {} must be a number, not {}", path_, key, value.dump());
  return value.get<double>();
}

bool Config::Flag(const std::string& key, bool absent) const {
  const Json& value = Get(key);
  if (value.is_null()) return absent;
  if (!value.is_boolean()) Fail("{}: {} must be true or false, not {}", path_, key, value.dump());
  return value.get<bool>();
}

std::string Config::Text(const std::string& key, std::optional<std::string> absent) const {
  const Json& value = Get(key);
  if (value.is_null() && absent) return *absent;
  if (!value.is_string()) Fail("{}: {} must be a string, not {}", path_, key, value.dump());
  return value.get<std::string>();
}

std::string Config::Activation(const std::string& key, std::optional<std::string> absent) const {
  const std::string published = Text(key, std::move(absent));
  const std::string name = ActivationName(published);
  if (name.empty()) Fail("{}: {} {} is not supported", path_, key, published);
  return name;
}

void Config::Only(const std::string& key, const Json& supported) const {
  const Json& value = Get(key);
  if (!value.is_null() && value != supported) Fail("{}: {} {} is not supported", path_, key, value.dump());
}

std::vector<std::string> Config::Unknown() const {
  std::vector<std::string> unknown;
  for (const auto& item : json_.items()) {
    const std::string& key = item.key();
    const Json& value = item.value();
    const bool harmless =
        std::any_of(std::begin(kHarmless), std::end(kHarmless), [&](const char* k) { return key == k; }) ||
        key.find("dropout") != std::string::npos || EndsWith(key, "_token_id") || value.is_null();
    if (!harmless && read_.count(key) == 0) unknown.push_back(key);
  }
  return unknown;
}

}  // namespace fovea::tools
