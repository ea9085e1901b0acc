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

bool IsCrossEncoder(const std::string& directory) {
  const fs::path file = fs::path(directory) / kSettings;
  if (!fs::exists(file)) return false;
  const Json json = ReadJson(file.string());
  return json.is_object() && JsonView(json, file.string())["model_type"].Text("") == "CrossEncoder";
}

Description DescribeCrossEncoder(const std::string& directory, const Reading& reading) {
  const std::string path = (fs::path(directory) / "modules.json").string();
  const Json modules = ReadJson(path);
  const JsonView list(modules, path);
  const size_t count = list.List().size();
  for (size_t i = 0; i < count; ++i) {
    const std::string type = list.At(i)["type"].Text();
    const std::string kind = type.substr(type.rfind('.') + 1);
    if (i == 0 && kind == "Transformer") continue;
    Fail(
        "{}: module {} of a CrossEncoder is not supported; --task causal-lm or embedding converts the model without it",
        path, type);
  }
  if (count == 0) Fail("{}: lists no module", path);
  const std::string where = (fs::path(directory) / list.At(0)["path"].Text("")).string();
  Description description = DescribeTransformer(where, reading);
  const fs::path limits = fs::path(where) / "sentence_bert_config.json";
  if (!fs::exists(limits)) return description;
  const uint32_t most = Config(limits.string()).Number("max_seq_length", 0);
  // It overrides the tokenizer's files.
  if (most != 0) description.tokenizer = {{"type", "directory"}, {"lower_case", false}, {"max_length", most}};
  return description;
}

}  // namespace fovea::tools
