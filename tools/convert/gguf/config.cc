// Metadata of GGUF files in the form of config.json.
#include <string.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>

#include "tools/base/fail.h"
#include "tools/convert/gguf/settings.h"

namespace fovea::tools {
namespace {

void AddTokens(const GgufSettings& settings, Json* config) {
  if (const auto id = settings.metadata.Token("padding")) (*config)["pad_token_id"] = *id;
  if (IsEncoder(settings.architecture) && settings.type != "t5") return;
  if (const auto id = settings.metadata.Token("bos")) (*config)["bos_token_id"] = *id;
  Json stops = Json::array();
  for (const char* end : {"eos", "eot", "eom"}) {
    const auto id = settings.metadata.Token(end);
    if (id && std::find(stops.begin(), stops.end(), *id) == stops.end()) stops.push_back(*id);
  }
  if (!stops.empty()) (*config)["eos_token_id"] = stops;
}

// A reranker or classifier. BERT's head is what llama.cpp computes for all encoders but ModernBERT.
void AddClassifier(const GgufSettings& settings, Json* config) {
  if (!settings.HasTensor("cls.output.weight")) return;
  const std::string name = settings.architecture.class_name;
  const size_t end = std::min(name.find("For"), name.find("Model"));
  (*config)["architectures"] = {name.substr(0, end) + "ForSequenceClassification"};
  const JsonView names = settings.Own("classifier.output_labels");
  const auto& shape = settings.tensors.at("cls.output.weight").shape;
  const uint64_t classes = shape.size() == 2 ? shape[0] : 1;
  if (names.IsNull() || names.List().size() != classes) return;
  Json labels = Json::object();
  for (size_t i = 0; i < classes; ++i) labels[std::to_string(i)] = names.At(i).Text();
  (*config)["id2label"] = labels;
}

// Keys that follow from tensors or other keys, or concern other programs.
constexpr const char* kKnown[] = {"vocab_size",
                                  "tensor_data_layout",
                                  "pooling_type",
                                  "token_type_count",
                                  "feed_forward_length",
                                  "embedding_length_out",
                                  "expert_count",
                                  "expert_used_count",
                                  "expert_feed_forward_length",
                                  "expert_shared_feed_forward_length",
                                  "decoder_block_count",
                                  "decoder_start_token_id",
                                  "classifier.output_labels",
                                  "dense_2_feat_in",
                                  "dense_2_feat_out",
                                  "dense_3_feat_in",
                                  "dense_3_feat_out"};

// Keys that may change the computation are refused, not warned about.
void RefuseUnknown(const GgufSettings& settings) {
  for (const char* key : kKnown) settings.Own(key);
  const size_t own = settings.metadata.architecture().size() + 1;
  for (const std::string& key : settings.metadata.Unread()) {
    for (const char* part : {"rope.", "attention.", "expert", "residual_scale", "embedding_scale", "logit_scale",
                             "ssm.", "nextn_predict_layers", "final_logit_softcapping", "attn_logit_softcapping"}) {
      if (key.compare(own, strlen(part), part) == 0) {
        Fail("{}: {} is not supported", settings.metadata.path(), key);
      }
    }
  }
}

}  // namespace

GgufSettings::GgufSettings(const GgufArchitecture& of, const GgufMetadata& in, const GgufTensors& with)
    : architecture(of), metadata(in), tensors(with), type(of.model_type) {
  layers = Needed("block_count").Number(kGgufLayers);
  width = Needed("embedding_length").Number(kGgufSizes);
  heads = OfLayers("attention.head_count");
  kv_heads = OfLayers("attention.head_count_kv", type == "lfm2", heads);
  size = Own("attention.key_length").Number(kGgufSizes, std::max(width / heads, 1u));
  turned = Own("rope.dimension_count").Number(kGgufSizes, size);
  if (turned > size) Fail("{} {}: heads have {} columns", Own("rope.dimension_count").name(), turned, size);
  const JsonView values = Own("attention.value_length");
  if (values.Number(kGgufSizes, size) != size) {
    Fail("{} {} is not supported: heads have {} columns", values.name(), values.Number(kGgufSizes), size);
  }
}

void GgufSettings::Only(const std::string& key, const Json& supported) const {
  const JsonView view = Own(key);
  if (!view.IsNull() && view.json() != supported) Fail("{} {} is not supported", view.name(), Shown(view.json()));
}

uint32_t GgufSettings::OfLayers(const std::string& key, bool or_none, std::optional<uint32_t> absent) const {
  const JsonView view = absent ? Own(key) : Needed(key);
  if (!view.json().is_array()) return view.Number(kGgufHeads, absent);
  std::set<uint32_t> numbers;
  for (size_t i = 0; i < view.List().size(); ++i) numbers.insert(view.At(i).Number({or_none ? 0 : 1, kGgufHeads.most}));
  if (or_none) numbers.erase(0);
  if (view.List().size() != layers || numbers.size() > 1 || (numbers.empty() && !or_none)) {
    Fail("{} must be one number, or the same number for each of {} layers", view.name(), layers);
  }
  return numbers.empty() ? heads : *numbers.begin();
}

Json GgufConfig(const GgufArchitecture& architecture, const GgufMetadata& metadata, const GgufTensors& tensors) {
  const GgufSettings settings(architecture, metadata, tensors);
  Json config = {{"model_type", settings.type}, {"architectures", {architecture.class_name}}};
  AddTokens(settings, &config);
  constexpr const char* kGpts[] = {"gpt2", "gpt_bigcode", "gpt_neox", "gptj", "falcon", "bloom"};
  const bool gpt = std::find(std::begin(kGpts), std::end(kGpts), settings.type) != std::end(kGpts);
  if (gpt) {
    AddGptLike(settings, &config);
  } else if (IsEncoder(architecture) && settings.type != "gemma3_text") {
    AddEncoder(settings, &config);
  } else {
    AddLlamaLike(settings, &config);
  }
  AddClassifier(settings, &config);
  RefuseUnknown(settings);
  return config;
}

std::string GgufPooling(const GgufMetadata& metadata) {
  constexpr const char* kKinds[] = {"", "mean", "first", "last"};
  const JsonView type = metadata.Own("pooling_type");
  const uint32_t number = type.Number({}, 0);
  if (number >= std::size(kKinds)) Fail("{} {} is not supported", type.name(), number);
  return kKinds[number];
}

}  // namespace fovea::tools
