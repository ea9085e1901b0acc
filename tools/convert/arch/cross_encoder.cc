// Models that score a pair of texts.
#include "tools/convert/arch/cross_encoder.h"

#include <filesystem>

#include "tools/base/fail.h"
#include "tools/base/utf8_path.h"

namespace fovea::tools {
namespace {

namespace fs = std::filesystem;

constexpr char kSettings[] = "config_sentence_transformers.json";

struct Activation {
  std::string name;   // "torch.nn.modules.linear.Identity"; empty: not configured
  std::string where;  // the file and key
};

// In the order in which CrossEncoder looks for it (sentence_transformers/cross_encoder/model.py).
Activation ActivationOf(const Checkpoint& checkpoint) {
  const fs::path file = Utf8Path(checkpoint.directory) / kSettings;
  const Json json = !checkpoint.directory.empty() && fs::exists(file) ? ReadJson(file.string()) : Json();
  if (json.is_object()) {
    const JsonView settings(json, file.string());
    const bool scores_pairs = settings["model_type"].Text("") == "CrossEncoder";
    const std::string name = scores_pairs ? settings["activation_fn"].Text("") : "";
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
