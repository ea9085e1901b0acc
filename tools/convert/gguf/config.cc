// Metadata of GGUF files in the form of config.json.
#include <math.h>
#include <string.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "runtime/blob/format.h"
#include "tools/base/fail.h"
#include "tools/convert/gguf/parts.h"

namespace fovea::tools {
namespace {

constexpr GgufArchitecture kArchitectures[] = {
    {"llama", "llama", "LlamaForCausalLM", true, true},
    {"qwen2", "qwen2", "Qwen2ForCausalLM", true},
    {"qwen3", "qwen3", "Qwen3ForCausalLM", true},
    {"gemma", "gemma", "GemmaForCausalLM", true, false, true},
    {"gemma2", "gemma2", "Gemma2ForCausalLM", true, false, true},
    {"gemma3", "gemma3_text", "Gemma3ForCausalLM", true, false, true},
    {"bert", "bert", "BertModel", false},
    {"nomic-bert", "nomic_bert", "NomicBertModel", false},
};

constexpr WholeRange kSizes = {1, kMaxWidth}, kLayers = {0, 1024}, kHeads = {1, 4096}, kIds = {0, INT32_MAX};

class Translation {
 public:
  Translation(const GgufArchitecture& architecture, const GgufMetadata& metadata, const GgufTensors& tensors)
      : architecture_(architecture), type_(architecture.model_type), metadata_(metadata), tensors_(tensors) {}

  Json Run() {
    layers_ = Own("block_count").Number(kLayers);
    width_ = Own("embedding_length").Number(kSizes);
    heads_ = Own("attention.head_count").Number(kHeads);
    config_ = {{"model_type", type_}, {"architectures", {architecture_.class_name}}};
    Tokens();
    if (architecture_.decoder) Decoder();
    if (type_ == "bert") Bert();
    if (type_ == "nomic_bert") NomicBert();
    RefuseUnknown();
    return std::move(config_);
  }

 private:
  JsonView Own(const char* key) const { return metadata_.Own(key); }
  bool Has(const char* key) const { return !Own(key).IsNull(); }
  const std::string& path() const { return metadata_.path(); }

  void Tokens() {
    const auto id = [&](const char* key) { return metadata_.Get(fmt::format("tokenizer.ggml.{}_token_id", key)); };
    Json stop = Json::array();
    for (const char* key : {"eos", "eot", "eom"}) {
      const JsonView view = id(key);
      if (view.IsNull()) continue;
      const Json number = view.Number(kIds);
      if (std::find(stop.begin(), stop.end(), number) == stop.end()) stop.push_back(number);
    }
    if (!id("padding").IsNull()) config_["pad_token_id"] = id("padding").Number(kIds);
    if (!architecture_.decoder) return;
    if (!id("bos").IsNull()) config_["bos_token_id"] = id("bos").Number(kIds);
    if (!stop.empty()) config_["eos_token_id"] = stop;
  }

  void Decoder() {
    Only("attention.causal", true);
    if (Own("expert_count").Number({}, 0) != 0) Fail("{} is not supported", Own("expert_count").name());
    const uint32_t size = Own("attention.key_length").Number(kSizes, std::max(width_ / heads_, 1u));
    for (const char* key : {"attention.value_length", "rope.dimension_count"}) {
      const JsonView same = Own(key);
      if (same.Number(kSizes, size) != size) {
        Fail("{} {} is not supported: heads have {} columns", same.name(), same.Number(kSizes), size);
      }
    }
    config_.update({{"hidden_size", width_},
                    {"num_hidden_layers", layers_},
                    {"num_attention_heads", heads_},
                    {"num_key_value_heads", Own("attention.head_count_kv").Number(kHeads, heads_)},
                    {"head_dim", size},
                    {"intermediate_size", Own("feed_forward_length").Number(kSizes)},
                    {"max_position_embeddings", Own("context_length").Number({1, kMaxRecords})},
                    {"rms_norm_eps", Own("attention.layer_norm_rms_epsilon").Real({0, 1})},
                    {"rope_theta", Own("rope.freq_base").Real({1e-6, 1e12}, type_ == "gemma3_text" ? 1e6 : 1e4)},
                    {"tie_word_embeddings", tensors_.count("output.weight") == 0}});
    const Json scaling = Scaling(size);
    if (!scaling.is_null()) config_["rope_scaling"] = scaling;
    if (type_ == "llama") Window();
    if (type_ == "gemma2" || type_ == "gemma3_text") Gemma(size);
  }

  // A sliding window in every layer.
  void Window() {
    if (Has("attention.sliding_window")) config_["sliding_window"] = Own("attention.sliding_window").Number(kSizes);
  }

  // Most files do not contain the scale of scores; it depends on the size of the model.
  void Gemma(uint32_t head_size) {
    const bool third = type_ == "gemma3_text";
    const bool largest = layers_ == (third ? 62u : 46u);
    double scalar = largest ? static_cast<double>(width_) / heads_ : head_size;
    if (Has("attention.scale")) scalar = 1 / pow(Own("attention.scale").Real({1e-4, 1e3}), 2);
    config_["query_pre_attn_scalar"] = scalar;
    Window();
    if (Has("final_logit_softcapping")) config_["final_logit_softcapping"] = Own("final_logit_softcapping").Real();
    if (!third) {
      if (Has("attn_logit_softcapping")) config_["attn_logit_softcapping"] = Own("attn_logit_softcapping").Real();
    } else {
      config_["rope_local_base_freq"] = Own("rope.freq_base_swa").Real({1e-6, 1e12}, 1e4);
    }
    if (!Has("attention.sliding_window")) Fail("{} is missing", Own("attention.sliding_window").name());
    SlidingLayers(third ? 6 : 2);
  }

  // Every Nth layer has full attention, or there is a flag for each layer.
  void SlidingLayers(uint32_t every) {
    const JsonView pattern = Own("attention.sliding_window_pattern");
    const bool listed = pattern.json().is_array();
    if (listed && pattern.List().size() != layers_) Fail("{} must have {} elements", pattern.name(), layers_);
    if (!listed) every = pattern.Number({1, kLayers.most}, every);
    Json types = Json::array();
    for (uint32_t i = 0; i < layers_; ++i) {
      const bool slides = listed ? pattern.At(i).Flag() : (i + 1) % every != 0;
      types.push_back(slides ? "sliding_attention" : "full_attention");
    }
    config_["layer_types"] = types;
  }

  Json Scaling(uint32_t head_size) {
    const std::string type = Own("rope.scaling.type").Text("none");
    Own("rope.scaling.finetuned");
    Only("rope.scale_linear", 1.0);
    const auto factors = tensors_.find("rope_freqs.weight");
    if (factors != tensors_.end()) {
      if (type != "none")
        Fail("{} {} with tensor rope_freqs.weight is not supported", Own("rope.scaling.type").name(), type);
      if (factors->second.count() != head_size / 2) {
        Fail("{}: tensor rope_freqs.weight must be {} numbers", path(), head_size / 2);
      }
      return {{"rope_type", "divided"}, {"factors", ToFloats(factors->second)}};
    }
    if (type == "none") {
      const JsonView factor = Own("rope.scaling.factor");
      if (factor.Real({}, 1) != 1) Fail("{} without rope.scaling.type is not supported", factor.name());
      Own("rope.scaling.original_context_length");
      return nullptr;
    }
    Json scaling = {{"rope_type", type}, {"factor", Own("rope.scaling.factor").Real({1e-6, 1e12})}};
    const JsonView original = Own("rope.scaling.original_context_length");
    if (type == "linear") return scaling;
    if (type != "yarn") Fail("{} {} is not supported", Own("rope.scaling.type").name(), type);
    scaling["original_max_position_embeddings"] =
        original.Number({1, kMaxRecords}, Own("context_length").Number({1, kMaxRecords}));
    Only("rope.scaling.yarn_ext_factor", 1.0);
    for (const char* key : {"beta_fast", "beta_slow"}) {
      const JsonView turns = metadata_.Own(fmt::format("rope.scaling.yarn_{}", key));
      if (!turns.IsNull()) scaling[key] = turns.Real({1e-6, 1e12});
    }
    // Factor relative to what follows from `factor`.
    double times = 1;
    for (const char* key : {"rope.scaling.attn_factor", "rope.scaling.yarn_attn_factor"}) {
      times *= Own(key).Real({1e-6, 1e12}, 1);
    }
    if (times != 1) {
      scaling["attention_factor"] = times * (1 + 0.1 * log(std::max(1.0, scaling["factor"].get<double>())));
    }
    return scaling;
  }

  void Bert() {
    Only("attention.causal", false);
    config_.update({{"hidden_size", width_},
                    {"num_hidden_layers", layers_},
                    {"num_attention_heads", heads_},
                    {"intermediate_size", Own("feed_forward_length").Number(kSizes)},
                    {"max_position_embeddings", Own("context_length").Number({1, kMaxRecords})},
                    {"layer_norm_eps", Own("attention.layer_norm_epsilon").Real({0, 1})},
                    {"hidden_act", "gelu"}});
  }

  void NomicBert() {
    Only("attention.causal", false);
    if (Own("expert_count").Number({}, 0) != 0) Fail("{} is not supported", Own("expert_count").name());
    const std::string scaling = Own("rope.scaling.type").Text("none");
    if (scaling != "none") Fail("{} {} is not supported", Own("rope.scaling.type").name(), scaling);
    const JsonView dims = Own("rope.dimension_count");
    const uint32_t size = std::max(width_ / heads_, 1u);
    if (dims.Number(kSizes, size) != size) Fail("{} is not supported: heads have {} columns", dims.name(), size);
    Own("feed_forward_length");
    config_.update({{"n_embd", width_},
                    {"n_layer", layers_},
                    {"n_head", heads_},
                    {"n_positions", Own("context_length").Number({1, kMaxRecords})},
                    {"layer_norm_epsilon", Own("attention.layer_norm_epsilon").Real({0, 1})},
                    {"activation_function", "swiglu"},
                    {"rotary_emb_fraction", 1.0},
                    {"rotary_emb_base", Own("rope.freq_base").Real({1e-6, 1e12}, 1e4)}});
  }

  // Fails unless the key is absent or has this value.
  void Only(const char* key, const Json& supported) {
    const JsonView view = Own(key);
    if (!view.IsNull() && view.json() != supported) Fail("{} {} is not supported", view.name(), Shown(view.json()));
  }

  // Keys that may change the computation are refused, not warned about.
  void RefuseUnknown() {
    for (const char* key :
         {"vocab_size", "tensor_data_layout", "pooling_type", "token_type_count", "expert_used_count"}) {
      Own(key);
    }
    const size_t own = metadata_.architecture().size() + 1;
    for (const std::string& key : metadata_.Unread()) {
      for (const char* part : {"rope.", "attention.", "expert", "residual_scale", "embedding_scale", "logit_scale"}) {
        if (key.compare(own, strlen(part), part) == 0) Fail("{}: {} is not supported", path(), key);
      }
    }
  }

  const GgufArchitecture& architecture_;
  const std::string type_;
  const GgufMetadata& metadata_;
  const GgufTensors& tensors_;
  uint32_t layers_ = 0, width_ = 0, heads_ = 0;
  Json config_;
};

}  // namespace

const GgufArchitecture& GgufArchitectureOf(const GgufMetadata& metadata) {
  std::string known;
  for (const GgufArchitecture& architecture : kArchitectures) {
    if (metadata.architecture() == architecture.name) return architecture;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", architecture.name);
  }
  Fail("{}: general.architecture {} is not supported; these are: {}", metadata.path(), metadata.architecture(), known);
}

Json GgufConfig(const GgufArchitecture& architecture, const GgufMetadata& metadata, const GgufTensors& tensors) {
  return Translation(architecture, metadata, tensors).Run();
}

std::string GgufPooling(const GgufMetadata& metadata) {
  constexpr const char* kKinds[] = {"", "mean", "first", "last"};
  const JsonView type = metadata.Own("pooling_type");
  const uint32_t number = type.Number({}, 0);
  if (number >= std::size(kKinds)) Fail("{} {} is not supported", type.name(), number);
  return kKinds[number];
}

}  // namespace fovea::tools
