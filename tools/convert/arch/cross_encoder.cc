// Models that score a pair of texts.
#include "tools/convert/arch/cross_encoder.h"

#include <filesystem>

#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

namespace fs = std::filesystem;

constexpr char kSettings[] = "config_sentence_transformers.json";

struct Activation {
  std::string name;   // "torch.nn.modules.linear.Identity"; empty: not configured
  std::string where;  // the file and key
};

// Whether sentence-transformers reads the directory as its class CrossEncoder.
bool IsCrossEncoder(const std::string& directory) {
  const fs::path file = fs::path(directory) / kSettings;
  if (!fs::exists(file)) return false;
  const Json json = ReadJson(file.string());
  return json.is_object() && JsonView(json, file.string())["model_type"].Text("") == "CrossEncoder";
}

// In the order in which CrossEncoder looks for it (sentence_transformers/cross_encoder/model.py).
Activation ActivationOf(const Checkpoint& checkpoint) {
  const fs::path file = fs::path(checkpoint.directory) / kSettings;
  if (!checkpoint.directory.empty() && IsCrossEncoder(checkpoint.directory)) {
    const Json json = ReadJson(file.string());
    const std::string name = JsonView(json, file.string())["activation_fn"].Text("");
    if (!name.empty()) return {name, std::string(kSettings) + ": activation_fn"};
  }
  const Config& config = checkpoint.config;
  const std::string former = config.Text("sbert_ce_default_activation_function", "");
  if (config.Get("sentence_transformers").is_object()) {
    const std::string name = config.View("sentence_transformers")["activation_fn"].Text("");
    if (!name.empty()) return {name, "config.json: sentence_transformers.activation_fn"};
  }
  return {former, "config.json: sbert_ce_default_activation_function"};
}

}  // namespace

void DescribeScore(const Checkpoint& checkpoint, Description& description) {
  const Activation activation = ActivationOf(checkpoint);
  const std::string kind = activation.name.substr(activation.name.rfind('.') + 1);
  std::string name = checkpoint.config.Text("problem_type", "") == "regression" ? "none" : "sigmoid";
  if (kind == "Sigmoid") {
    name = "sigmoid";
  } else if (kind == "Identity") {
    name = "none";
  } else if (!kind.empty()) {
    description.warnings.push_back(
        fmt::format("{} {} is not supported: scores are the model's logits, before that function", activation.where,
                    activation.name));
    name = "none";
  }
  description.SetMetadata("score_activation", name);
}

}  // namespace fovea::tools
