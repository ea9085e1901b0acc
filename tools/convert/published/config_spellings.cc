// The spellings of keys in published configurations.
#include "tools/convert/published/config_spellings.h"

#include <math.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

struct Spelling {
  const char* model_types;  // separated by spaces
  const char* published;
  const char* read;  // by architectures
};

// The original: attribute_map of each family's configuration class (transformers/models/*/configuration_*.py). It sets
// the published key after the one of the class, so it wins. Bloom and Falcon: the class itself prefers n_embed.
constexpr Spelling kSpellings[] = {
    {"gpt2 gpt_bigcode gptj codegen openai-gpt", "hidden_size", "n_embd"},
    {"gpt2 gpt_bigcode gptj codegen openai-gpt", "num_attention_heads", "n_head"},
    {"gpt2 gpt_bigcode gptj codegen openai-gpt", "num_hidden_layers", "n_layer"},
    {"gpt2 gpt_bigcode gptj codegen openai-gpt", "max_position_embeddings", "n_positions"},
    {"gpt_neo", "num_attention_heads", "num_heads"},
    {"gpt_neo", "num_hidden_layers", "num_layers"},
    {"bloom", "num_attention_heads", "n_head"},
    {"bloom", "num_hidden_layers", "n_layer"},
    {"bloom falcon", "n_embed", "hidden_size"},
    {"mpt", "num_attention_heads", "n_heads"},
    {"mpt", "hidden_size", "d_model"},
    {"mpt", "num_hidden_layers", "n_layers"},
    {"distilbert", "hidden_size", "dim"},
    {"distilbert", "num_attention_heads", "n_heads"},
    {"distilbert", "num_hidden_layers", "n_layers"},
    {"t5 mt5 umt5 longt5", "hidden_size", "d_model"},
    {"t5 mt5 umt5 longt5", "num_attention_heads", "num_heads"},
    {"t5 mt5 umt5 longt5", "num_hidden_layers", "num_layers"},
    {"t5 mt5 umt5 longt5", "head_dim", "d_kv"},
    {"bart mbart marian pegasus blenderbot-small m2m_100 led whisper speech_to_text", "hidden_size", "d_model"},
    {"bart mbart marian pegasus blenderbot-small m2m_100 led whisper speech_to_text", "num_attention_heads",
     "encoder_attention_heads"},
    {"trocr", "hidden_size", "d_model"},
    {"trocr", "num_attention_heads", "decoder_attention_heads"},
    {"trocr", "num_hidden_layers", "decoder_layers"},
    {"xglm", "hidden_size", "d_model"},
    {"xglm", "num_attention_heads", "attention_heads"},
    {"xglm", "num_hidden_layers", "num_layers"},
    {"funnel", "hidden_size", "d_model"},
    {"funnel", "num_attention_heads", "n_head"},
    {"moonshine", "num_attention_heads", "encoder_num_attention_heads"},
    {"moonshine", "num_key_value_heads", "encoder_num_key_value_heads"},
    {"moonshine", "num_hidden_layers", "encoder_num_hidden_layers"},
    {"mixtral gpt_oss granitemoe granitemoehybrid", "num_experts", "num_local_experts"},
    {"qwen2_moe qwen3_moe olmoe", "num_local_experts", "num_experts"},
    {"granitemoehybrid", "layers_block_type", "layer_types"},
};

bool Lists(const std::string& words, const std::string& word) {
  return (" " + words + " ").find(" " + word + " ") != std::string::npos;
}

std::string TextOf(const Json& config, const char* key) {
  const auto found = config.find(key);
  return found != config.end() && found->is_string() ? found->get<std::string>() : "";
}

bool Has(const Json& config, const char* key) {
  const auto found = config.find(key);
  return found != config.end() && !found->is_null();
}

double RealOf(const Json& config, const char* key, double absent) {
  const auto found = config.find(key);
  return found != config.end() && found->is_number() ? found->get<double>() : absent;
}

void UseSpelling(const Spelling& spelling, Json& config, Findings& findings) {
  if (!Has(config, spelling.published)) return;
  const Json value = config[spelling.published];
  if (Has(config, spelling.read) && config[spelling.read] != value) {
    findings.push_back({Topic::kFiles, fmt::format("config.json: {} {} is followed, not {} {}", spelling.published,
                                                   Shown(value), spelling.read, Shown(config[spelling.read]))});
  }
  config[spelling.read] = value;
  config.erase(spelling.published);
}

// The object with the settings of rotary positions, by its later or its former name; null: there is none.
Json* RotaryOf(Json& config) {
  for (const char* key : {"rope_parameters", "rope_scaling"}) {
    const auto found = config.find(key);
    if (found != config.end() && found->is_object()) return &*found;
  }
  return nullptr;
}

std::string RotaryType(const Json& rotary) {
  const std::string type = TextOf(rotary, "rope_type");
  return type.empty() ? TextOf(rotary, "type") : type;
}

// Rotary positions on three axes (time, height, width) are plain ones for texts, whose axes are all the same. The
// original: transformers/models/qwen2_vl/modeling_qwen2_vl.py: apply_multimodal_rotary_pos_emb.
void UsePlainAxes(Json& config) {
  Json* rotary = RotaryOf(config);
  if (rotary == nullptr || (rotary->find("mrope_section") == rotary->end() && RotaryType(*rotary) != "mrope")) return;
  rotary->erase("mrope_section");
  rotary->erase("mrope_interleaved");
  for (const char* key : {"rope_type", "type"}) {
    if (TextOf(*rotary, key) == "mrope") (*rotary)[key] = "default";
  }
}

// The original: transformers/models/hunyuan_v1_dense/modeling_hunyuan_v1_dense.py: HunYuanDenseV1RotaryEmbedding. With
// alpha, `dynamic` is another base.
void ReadHunyuan(Json& config) {
  Json* rotary = RotaryOf(config);
  if (rotary == nullptr || RotaryType(*rotary) != "dynamic" || RealOf(*rotary, "alpha", 0) <= 0) return;
  const double heads = RealOf(config, "num_attention_heads", 1), width = RealOf(config, "hidden_size", 0);
  const double size = RealOf(config, "head_dim", heads > 0 ? width / heads : 0);
  if (!(size > 2)) return;
  const double theta = RealOf(*rotary, "rope_theta", RealOf(config, "rope_theta", 10000));
  config["rope_theta"] = theta * pow(RealOf(*rotary, "alpha", 1), size / (size - 2));
  config.erase("rope_parameters");
  config.erase("rope_scaling");
}

// The original: modeling.py of Alibaba-NLP/new-impl: NTKScalingRotaryEmbedding.
void ReadNew(Json& config) {
  Json* rotary = RotaryOf(config);
  if (rotary == nullptr || RotaryType(*rotary) != "ntk") return;
  if (Has(*rotary, "mixed_b"))
    Fail("config.json: rope_scaling: mixed_b {} is not supported", Shown((*rotary)["mixed_b"]));
  const double heads = RealOf(config, "num_attention_heads", 1), width = RealOf(config, "hidden_size", 0);
  const double size = heads > 0 ? floor(width / heads) : 0, factor = RealOf(*rotary, "factor", 1);
  if (!(size >= 2 && size <= 1 << 16 && factor > 0)) return;
  Json factors = Json::array();
  for (double i = 0; i < size; i += 2) factors.push_back(pow(factor, i / size) * pow(factor, 2 / size));
  config["rope_scaling"] = {{"type", "divided"}, {"factors", factors}};
  config.erase("rope_parameters");
}

void Rename(Json& config, const char* key, const char* from, const char* to) {
  const auto found = config.find(key);
  if (found == config.end() || !found->is_array()) return;
  for (Json& entry : *found) {
    if (entry == from) entry = to;
  }
}

// Jina's encoders are called bert, but their published code is another class (JinaBertModel).
bool IsJina(const Json& config) {
  return TextOf(config, "model_type") == "bert" && TextOf(config, "position_embedding_type") == "alibi";
}

// The same for XLM-RoBERTa: the code of jinaai/xlm-roberta-flash-implementation, or a copy of it beside the weights.
bool IsJinaXlmRoberta(const Json& config) {
  if (TextOf(config, "model_type") != "xlm-roberta") return false;
  if (TextOf(config, "position_embedding_type") == "rotary") return true;
  const Json& code = config.value("auto_map", Json());
  return code.is_object() && std::any_of(code.begin(), code.end(), [](const Json& entry) {
           const std::string name = entry.is_string() ? entry.get<std::string>() : "";
           return name.find("xlm-roberta-flash") != std::string::npos || name.find("XLMRobertaFlash") != name.npos;
         });
}

void ReadByType(Json& config) {
  if (IsJinaXlmRoberta(config)) config["model_type"] = "jina_xlm_roberta";
  if (IsJina(config)) {
    config["model_type"] = "jina_bert";
    config.erase("position_embedding_type");
  }
  const std::string type = TextOf(config, "model_type");
  if (type == "hunyuan_v1_dense") ReadHunyuan(config);
  if (type == "new" || type == "gte") ReadNew(config);
  if (type == "granitemoehybrid") Rename(config, "layer_types", "attention", "full_attention");
  // The published class computes the head by the embeddings if share_embedding is true, else by its own matrix.
  if (type == "mobilellm") config["tie_word_embeddings"] = config.value("share_embedding", Json(false)) == true;
  // Texts within one chunk are seen as a whole.
  if (type == "llama4_text" &&
      RealOf(config, "attention_chunk_size", 0) >= RealOf(config, "max_position_embeddings", 1e18)) {
    Rename(config, "layer_types", "chunked_attention", "full_attention");
  }
  UsePlainAxes(config);
}

}  // namespace

void UseOneSpelling(Json& config, Findings& findings) {
  if (!config.is_object()) return;
  const std::string type = TextOf(config, "model_type");
  for (const Spelling& spelling : kSpellings) {
    if (!type.empty() && Lists(spelling.model_types, type)) UseSpelling(spelling, config, findings);
  }
  ReadByType(config);
  for (const char* part : {"text_config", "vision_config", "encoder", "decoder", "llm_config"}) {
    if (Has(config, part)) UseOneSpelling(config[part], findings);
  }
}

}  // namespace fovea::tools
