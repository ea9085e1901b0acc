// The original: sentence_transformers/models/{Pooling,Dense,LayerNorm,Normalize}.py; pylate/models/Dense.py.
#include "tools/convert/published/sentence_modules.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "runtime/blob/format.h"
#include "tools/base/fail.h"
#include "tools/base/utf8_path.h"
#include "tools/convert/arch/config.h"
#include "tools/convert/published/weight_files.h"

namespace fovea::tools {
namespace {

namespace fs = std::filesystem;

Config ConfigIn(const std::string& directory) { return Config((Utf8Path(directory) / "config.json").string()); }

struct Mode {
  const char* name;
  const char* key;   // in configurations before version 5.4
  const char* pool;  // kind of `pool`
  bool absent;       // what an absent key means
};
// In the order in which the original concatenates them, which does not depend on the order of a list of modes.
constexpr Mode kModes[] = {
    {"cls", "pooling_mode_cls_token", "first", false},
    {"max", "pooling_mode_max_tokens", "max", false},
    {"mean", "pooling_mode_mean_tokens", "mean", true},
    {"mean_sqrt_len_tokens", "pooling_mode_mean_sqrt_len_tokens", "mean_sqrt", false},
    {"weightedmean", "pooling_mode_weightedmean_tokens", "rising_mean", false},
    {"lasttoken", "pooling_mode_lasttoken", "last", false},
};

std::string KnownModes() {
  std::string known;
  for (const Mode& mode : kModes) known += (known.empty() ? "" : ", ") + std::string(mode.name);
  return known;
}

std::vector<std::string> ModesOf(const Config& config, const std::string& where) {
  const JsonView value = config.View("pooling_mode");
  std::vector<std::string> modes;
  if (value.IsNull()) {
    for (const Mode& mode : kModes) {
      if (config.Flag(mode.key, mode.absent)) modes.push_back(mode.name);
    }
  } else if (value.json().is_array()) {
    for (size_t i = 0; i < value.List().size(); ++i) modes.push_back(value.At(i).Text());
  } else {
    modes.push_back(value.Text());
  }
  if (modes.empty()) Fail("{}: no pooling mode is set; set pooling_mode to one of {}", where, KnownModes());
  return modes;
}

// "torch.nn.modules.activation.Tanh" and classes of transformers.activations, by the last part of the name.
std::string ActivationOfClass(const std::string& name) {
  static const std::map<std::string, const char*> names = {
      {"GELU", "gelu"},
      {"GELUActivation", "gelu"},
      {"GELUTanh", "gelu_tanh"},
      {"Identity", "none"},
      {"LinearActivation", "none"},
      {"NewGELUActivation", "gelu_tanh"},
      {"PytorchGELUTanh", "gelu_tanh"},
      {"QuickGELUActivation", "quick_gelu"},
      {"ReLU", "relu"},
      {"SiLU", "silu"},
      {"SiLUActivation", "silu"},
      {"Sigmoid", "sigmoid"},
      {"Tanh", "tanh"},
  };
  const auto found = names.find(name.substr(name.rfind('.') + 1));
  return found == names.end() ? "" : found->second;
}

}  // namespace

std::string ModuleChain::Next(Tail& tail, const char* op, std::vector<std::string> in, std::vector<std::string> tensors,
                              Json attributes) {
  std::vector<Operation>& operations = description_.programs[tail.program].operations;
  if (operations.size() >= kMaxOperations) Fail("modules.json: more than {} operations", kMaxOperations);
  const std::string out = fmt::format("module.{}", operations.size());
  operations.push_back({op, std::move(in), std::move(tensors), out, std::move(attributes)});
  return out;
}

void ModuleChain::Append(const char* op, const std::vector<std::string>& tensors, const Json& attributes) {
  for (Tail& tail : tails_) tail.value = Next(tail, op, {tail.value}, tensors, attributes);
}

std::string ModuleChain::AddWeights(const std::string& directory) {
  const std::string prefix = fmt::format("module.{}.", modules_++);
  AddWeightFiles(directory, prefix, description_.weights, description_.findings);
  return prefix;
}

bool PoolsPrompts(const std::string& directory) { return ConfigIn(directory).Flag("include_prompt", true); }

void ModuleChain::Pooling(const std::string& directory) {
  if (pooled_) Fail("{}: a second Pooling module is not supported; remove it from modules.json", directory);
  const Config config = ConfigIn(directory);
  Pool(ModesOf(config, directory));
  if (config.Flag("include_prompt", true)) return;
  description_.warnings.push_back(
      fmt::format("{}: include_prompt false is not supported: the original leaves the tokens of a prompt out of the "
                  "embedding, so prompts are refused; embeddings of texts without a prompt are right",
                  (Utf8Path(directory) / "config.json").string()));
}

void ModuleChain::Pool(const std::vector<std::string>& modes) {
  for (const std::string& name : modes) {
    const auto same = [&](const Mode& mode) { return name == mode.name; };
    if (std::none_of(std::begin(kModes), std::end(kModes), same)) {
      Fail("pooling mode {} is unknown; these are known: {}", name, KnownModes());
    }
  }
  for (Tail& tail : tails_) {
    std::vector<std::string> parts;
    for (const Mode& mode : kModes) {
      if (std::count(modes.begin(), modes.end(), mode.name) == 0) continue;
      parts.push_back(Next(tail, "pool", {tail.value}, {}, {{"kind", mode.pool}}));
    }
    tail.value = parts.size() == 1 ? parts[0] : Next(tail, "concat", parts, {}, Json::object());
  }
  pooled_ = true;
}

void ModuleChain::Dense(const std::string& directory) {
  const Config config = ConfigIn(directory);
  const std::string prefix = AddWeights(directory);
  std::vector<std::string> tensors = {prefix + "linear.weight"};
  if (config.Flag("bias", true)) tensors.push_back(prefix + "linear.bias");
  const std::string published = config.Text("activation_function", "torch.nn.modules.activation.Tanh");
  const std::string activation = ActivationOfClass(published);
  if (activation.empty()) Fail("{}: activation_function {} is not supported", directory, published);
  const bool residual = config.Flag("use_residual", false);
  for (Tail& tail : tails_) {
    const std::string in = tail.value;
    tail.value = Next(tail, "linear", {in}, tensors, {{"activation", activation}});
    if (!residual) continue;
    const std::string weight = prefix + "residual.weight";
    const bool projects = description_.weights.Has(weight);
    const std::string kept = projects ? Next(tail, "linear", {in}, {weight}, {{"activation", "none"}}) : in;
    tail.value = Next(tail, "add", {tail.value, kept}, {}, Json::object());
  }
}

void ModuleChain::LayerNorm(const std::string& directory) {
  const std::string prefix = AddWeights(directory);
  // The default of torch.nn.LayerNorm.
  Append("norm", {prefix + "norm.weight", prefix + "norm.bias"}, {{"kind", "layer"}, {"epsilon", 1e-5}});
}

void ModuleChain::Project(const std::vector<std::string>& tensors) {
  Append("linear", tensors, {{"activation", "none"}});
}

void ModuleChain::Normalize() { Append("normalize", {}, {{"epsilon", 1e-12}}); }

void ModuleChain::Finish(const std::string& output) {
  for (const Tail& tail : tails_) {
    Program& program = description_.programs[tail.program];
    for (Operation& operation : program.operations) {
      if (operation.out == tail.value) operation.out = output;
    }
    program.outputs = {output};
  }
}

}  // namespace fovea::tools
