#include "tools/convert/published/text_part.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "tools/base/affixes.h"
#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

struct Whole {
  const char* model_types;  // separated by spaces
  const char* text;         // the type of its text part, unless text_config names one
};

// The original: transformers/models/*/modeling_*.py, classes ...ForConditionalGeneration whose language model is of
// another family.
constexpr Whole kWholes[] = {
    {"gemma3", "gemma3_text"},
    {"qwen2_vl qwen2_5_vl qwen2_audio got_ocr2 llava_onevision", "qwen2"},
    {"qwen3_vl", "qwen3"},
    {"mistral3 idefics2", "mistral"},
    {"llava llava_next llava_next_video video_llava vipllava internvl janus voxtral perception_lm", "llama"},
    {"idefics3 smolvlm", "llama"},
    {"aya_vision cohere2_vision", "cohere2"},
    {"lfm2_vl", "lfm2"},
    {"llama4", "llama4_text"},
};

// Types of text parts whose computation for texts is that of another type: all axes of their positions are the same.
struct Same {
  const char* model_type;
  const char* as;
};
constexpr Same kSame[] = {{"qwen2_vl_text", "qwen2"}, {"qwen2_vl", "qwen2"},      {"qwen2_5_vl_text", "qwen2"},
                          {"qwen2_5_vl", "qwen2"},    {"qwen3_vl_text", "qwen3"}, {"qwen3_vl", "qwen3"},
                          {"smolvlm_text", "llama"}};

// Keys that text_config leaves out where they have the value of the class.
struct Default {
  const char* model_type;
  const char* key;
  double value;
};
constexpr Default kDefaults[] = {
    {"llama", "hidden_size", 4096},
    {"llama", "num_hidden_layers", 32},
    {"llama", "num_attention_heads", 32},
    {"llama", "max_position_embeddings", 2048},
    {"mistral", "hidden_size", 4096},
    {"mistral", "num_hidden_layers", 32},
    {"mistral", "num_attention_heads", 32},
    {"mistral", "num_key_value_heads", 8},
    {"mistral", "max_position_embeddings", 131072},
    {"qwen2", "hidden_size", 4096},
    {"qwen2", "num_hidden_layers", 32},
    {"qwen2", "num_attention_heads", 32},
    {"qwen2", "num_key_value_heads", 32},
    {"qwen2", "max_position_embeddings", 32768},
    {"qwen3", "hidden_size", 4096},
    {"qwen3", "num_hidden_layers", 32},
    {"qwen3", "num_attention_heads", 32},
    {"qwen3", "num_key_value_heads", 32},
    {"qwen3", "max_position_embeddings", 32768},
    {"gemma3_text", "hidden_size", 2304},
    {"gemma3_text", "num_hidden_layers", 26},
    {"gemma3_text", "num_attention_heads", 8},
    {"gemma3_text", "num_key_value_heads", 4},
    {"gemma3_text", "head_dim", 256},
    {"gemma3_text", "max_position_embeddings", 131072},
    {"gemma3_text", "sliding_window", 4096},
};

constexpr const char* kOtherParts[] = {
    "vision_tower.",
    "vision_model.",
    "visual.",
    "vision_encoder.",
    "multi_modal_projector.",
    "image_newline",
    "audio_tower.",
    "connector.",
    "embed_vision.",
    "model.vision_tower.",
    "model.vision_model.",
    "model.visual.",
    "model.vision_encoder.",
    "model.connector.",
    "model.multi_modal_projector.",
    "model.image_newline",
    "model.audio_tower.",
    "model.embed_vision.",
    "vision_language_adapter",
    "patch_merger.",
    "model.patch_merger.",
    "model.qformer.",
    "model.vision_proj.",
    "model.vision_embed_tokens.",
    "model.aligner.",
    "model.generation_",
    "model.vqmodel.",
};

bool Lists(const std::string& words, const std::string& word) {
  return (" " + words + " ").find(" " + word + " ") != std::string::npos;
}

std::string TextOf(const Json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// A class of hidden states alone remains one.
std::string ClassOf(const Json& classes) {
  const bool named = classes.is_array() && !classes.empty() && classes[0].is_string();
  return named && EndsWith(classes[0].get<std::string>(), "Model") ? "Model" : "ForCausalLM";
}

}  // namespace

bool TakeTextPart(Json& config) {
  const std::string type = TextOf(config, "model_type");
  const auto whole = std::find_if(std::begin(kWholes), std::end(kWholes),
                                  [&](const Whole& entry) { return !type.empty() && Lists(entry.model_types, type); });
  if (whole == std::end(kWholes)) return false;
  // Former configurations have the keys of texts beside the other parts' objects; text_config decides.
  Json text = config;
  const Json part = text.value("text_config", Json::object());
  if (!part.is_object()) Fail("config.json: text_config must be an object, not {}", Shown(part));
  const Json tied = text.value("tie_word_embeddings", Json());
  for (const char* other : {"text_config", "vision_config", "audio_config", "auto_map"}) text.erase(other);
  for (const auto& item : part.items()) text[item.key()] = item.value();
  if (!tied.is_null()) text["tie_word_embeddings"] = tied;  // the whole model's class ties
  std::string text_type = TextOf(part, "model_type");
  if (text_type.empty()) text_type = whole->text;
  for (const Same& same : kSame) {
    if (text_type == same.model_type) text_type = same.as;
  }
  text["model_type"] = text_type;
  text["architectures"] = {ClassOf(config.value("architectures", Json()))};
  for (const Default& absent : kDefaults) {
    if (text_type != absent.model_type) continue;
    const auto found = text.find(absent.key);
    if (found == text.end()) text[absent.key] = static_cast<int64_t>(absent.value);
  }
  // They concern pictures and sound.
  for (auto item = text.begin(); item != text.end();) {
    const std::string& key = item.key();
    const bool other = StartsWith(key, "image_") || StartsWith(key, "vision_") || StartsWith(key, "video_") ||
                       StartsWith(key, "audio_") || StartsWith(key, "mm_") || StartsWith(key, "projector_") ||
                       StartsWith(key, "boi_") || StartsWith(key, "eoi_") || StartsWith(key, "multimodal_") ||
                       key == "scale_factor" || key == "spatial_merge_size" || key == "perceiver_config" ||
                       key == "use_image_newline_parameter" || key == "downsample_ratio";
    item = other ? text.erase(item) : std::next(item);
  }
  config = std::move(text);
  return true;
}

void KeepTextPart(Weights& weights, Findings& findings) {
  // Later versions of the original library write "model." before the language model's name, former ones after it.
  for (const char* prefix : {"model.language_model.", "language_model.", "model.text_model."})
    weights.DropPrefix(prefix);
  size_t count = 0;
  for (const char* part : kOtherParts) {
    weights.Ignore(std::string(part) + "*");
    for (const std::string& name : weights.Stored()) count += StartsWith(name, part) ? 1 : 0;
  }
  findings.push_back(
      {Topic::kNotUsed, fmt::format("{} tensors of pictures or sound: only the part for texts is converted", count)});
}

}  // namespace fovea::tools
