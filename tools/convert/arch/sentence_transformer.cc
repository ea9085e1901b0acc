// A directory of sentence-transformers: modules.json lists an encoder, then pooling, dense layers and normalisation.
#include <filesystem>

#include "runtime/blob/format.h"
#include "tools/base/fail.h"
#include "tools/convert/arch/architecture.h"
#include "tools/convert/published/weight_files.h"

namespace fovea::tools {
namespace {

namespace fs = std::filesystem;

struct Mode {
  const char* key;
  const char* pool;
};
constexpr Mode kModes[] = {
    {"pooling_mode_cls_token", "first"}, {"pooling_mode_mean_tokens", "mean"},
    {"pooling_mode_max_tokens", "max"},  {"pooling_mode_mean_sqrt_len_tokens", "mean_sqrt"},
    {"pooling_mode_lasttoken", "last"},  {"pooling_mode_weightedmean_tokens", "rising_mean"},
};

Operation Pooling(const std::string& directory, const std::string& in, const std::string& out) {
  const Config config((fs::path(directory) / "config.json").string());
  const Mode* chosen = nullptr;
  for (const Mode& mode : kModes) {
    if (!config.Flag(mode.key, false)) continue;
    if (chosen != nullptr) Fail("{}: {} together with {} is not supported", directory, chosen->key, mode.key);
    chosen = &mode;
  }
  if (chosen == nullptr) Fail("{}: no known pooling mode is set", directory);
  return {"pool", {in}, {}, out, {{"kind", chosen->pool}}};
}

Operation Dense(const std::string& directory, Description& description, const std::string& in, const std::string& out) {
  const Config config((fs::path(directory) / "config.json").string());
  const std::string prefix = out + ".";
  AddWeightFiles(directory, prefix, description.weights, description.findings);
  std::vector<std::string> tensors = {prefix + "linear.weight"};
  if (config.Flag("bias", true)) tensors.push_back(prefix + "linear.bias");
  // "torch.nn.modules.activation.Tanh"
  std::string activation = config.Text("activation_function", "torch.nn.modules.activation.Tanh");
  std::string name = activation.substr(activation.rfind('.') + 1);
  for (char& letter : name) letter = static_cast<char>(tolower(letter));
  if (name == "identity") name = "linear";
  const std::string known = ActivationName(name);
  if (known.empty()) Fail("{}: activation_function {} is not supported", directory, activation);
  return {"linear", {in}, tensors, out, {{"activation", known}}};
}

// The first of these names that is there, as sentence_transformers.models.Transformer.load looks for them.
constexpr const char* kLimits[] = {"sentence_bert_config.json",       "sentence_roberta_config.json",
                                   "sentence_distilbert_config.json", "sentence_camembert_config.json",
                                   "sentence_albert_config.json",     "sentence_xlm-roberta_config.json",
                                   "sentence_xlnet_config.json"};

void ReadLimits(const std::string& directory, Description& description) {
  for (const char* name : kLimits) {
    const fs::path file = fs::path(directory) / name;
    if (!fs::exists(file)) continue;
    const Config limits(file.string());
    // These override the tokenizer's files.
    description.tokenizer = {{"type", "directory"}, {"lower_case", limits.Flag("do_lower_case", false)}};
    const uint32_t most = limits.Number("max_seq_length", 0);
    if (most != 0) description.tokenizer["max_length"] = most;
    return;
  }
}

void WarnOfPrompts(const std::string& directory, Description& description) {
  const fs::path file = fs::path(directory) / "config_sentence_transformers.json";
  if (!fs::exists(file)) return;
  const Json json = ReadJson(file.string());
  const JsonView config(json, file.string());
  const std::string name = config["default_prompt_name"].Text("");
  if (name.empty()) return;
  const std::string prompt = config["prompts"].IsNull() ? "" : config["prompts"][name.c_str()].Text("");
  if (prompt.empty()) return;
  description.warnings.push_back(
      fmt::format("config_sentence_transformers.json: default_prompt_name {} is not applied: put \"{}\" in front of "
                  "each text",
                  name, prompt));
}

}  // namespace

Description DescribeSentenceTransformer(const std::string& directory, const Reading& reading) {
  const std::string path = (fs::path(directory) / "modules.json").string();
  const Json modules = ReadJson(path);
  const JsonView list(modules, path);
  Description description;
  std::string value;
  bool pooled = false;
  for (size_t i = 0; i < list.List().size(); ++i) {
    const JsonView module = list.At(i);
    const std::string type = module["type"].Text();
    const std::string kind = type.substr(type.rfind('.') + 1);
    const std::string where = (fs::path(directory) / module["path"].Text()).string();
    const bool first = value.empty();
    if (first != (kind == "Transformer")) Fail("{}: module {} is not supported at this position", path, type);
    if (first) {
      Reading backbone = reading;
      backbone.backbone = true;
      description = DescribeTransformer(where, backbone);
      description.SetMetadata("task", "embedding");
      ReadLimits(where, description);
      WarnOfPrompts(directory, description);
      value = description.programs[0].operations.back().out;
      continue;
    }
    std::vector<Operation>& operations = description.programs[0].operations;
    if (operations.size() >= kMaxOperations) Fail("{}: more than {} operations", path, kMaxOperations);
    const std::string out = fmt::format("module.{}", operations.size());
    if (kind == "Pooling") {
      if (pooled) Fail("{}: more than one Pooling module is not supported", path);
      operations.push_back(Pooling(where, value, out));
      pooled = true;
    } else if (kind == "Dense") {
      operations.push_back(Dense(where, description, value, out));
    } else if (kind == "Normalize") {
      operations.push_back({"normalize", {value}, {}, out, {{"epsilon", 1e-12}}});
    } else {
      Fail("{}: module {} is not supported", path, type);
    }
    value = out;
  }
  if (!pooled) Fail("{}: a Pooling module is missing", path);
  description.programs[0].operations.back().out = "sentence_embedding";
  description.programs[0].outputs = {"sentence_embedding"};
  return description;
}

}  // namespace fovea::tools
