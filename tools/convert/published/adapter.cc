// The original: peft/tuners/lora/layer.py (Linear.get_delta_weight, Embedding, _ConvNd) and peft/tuners/lora/dora.py.
#include "tools/convert/published/adapter.h"

#include <math.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "tools/base/affixes.h"
#include "tools/base/fail.h"
#include "tools/base/json.h"
#include "tools/base/utf8_path.h"
#include "tools/convert/published/kinds.h"
#include "tools/convert/published/weight_files.h"

namespace fovea::tools {
namespace {

namespace fs = std::filesystem;

// Keys that concern training or where the adapter came from; target_modules and the like list for which modules there
// are matrices, which the file shows.
constexpr const char* kNoEffect[] = {
    "auto_mapping",    "base_model_name_or_path", "corda_config",   "ensure_weight_tying", "eva_config",
    "exclude_modules", "inference_mode",          "layers_pattern", "layers_to_transform", "loftq_config",
    "lora_dropout",    "megatron_core",           "peft_version",   "qalora_group_size",   "revision",
    "runtime_config",  "target_modules",          "task_type"};
// Keys that are not supported unless they have no value, or false, or are empty.
constexpr const char* kRefused[] = {
    "alora_invocation_tokens", "arrow_config",      "layer_replication",       "lora_bias",  "lora_ga_config",
    "megatron_config",         "target_parameters", "trainable_token_indices", "use_bdlora", "use_qalora"};
constexpr const char* kRead[] = {
    "alpha_pattern", "bias", "fan_in_fan_out", "init_lora_weights", "lora_alpha", "modules_to_save",
    "peft_type",     "r",    "rank_pattern",   "use_dora",          "use_rslora"};
// Ways to begin training that leave the base's weights as they are; PiSSA, OLoRA, CorDA and LoftQ change them.
constexpr const char* kPlainStarts[] = {"gaussian", "eva", "orthogonal"};

bool IsIn(const std::string& text, const char* const* first, const char* const* last) {
  return std::any_of(first, last, [&](const char* known) { return text == known; });
}

bool IsOff(const Json& value) {
  return value.is_null() || value == false || ((value.is_array() || value.is_object()) && value.empty());
}

// All matrices of one module.
struct Module {
  std::map<std::string, FileTensor> parts;  // "lora_A", "lora_B", "lora_embedding_A", "lora_magnitude_vector", ...
};

struct Factors {
  std::function<std::vector<float>()> a, b, magnitude;  // [rank, inner], [outer, rank], [outer]
  uint32_t rank = 0, outer = 0, inner = 0;
  double scale = 0;
  bool transposed = false;  // the weight is stored [inner, outer]
};

// W + scale * B A, and with DoRA each row of it at its stored length.
std::vector<float> Merged(const Factors& factors, std::vector<float> weight) {
  const std::vector<float> a = factors.a(), b = factors.b();
  const std::vector<float> magnitude = factors.magnitude ? factors.magnitude() : std::vector<float>();
  std::vector<double> row(factors.inner);
  for (uint32_t i = 0; i < factors.outer; ++i) {
    const auto at = [&](uint32_t k) -> float& {
      return factors.transposed ? weight[uint64_t{k} * factors.outer + i] : weight[uint64_t{i} * factors.inner + k];
    };
    std::fill(row.begin(), row.end(), 0.0);
    for (uint32_t r = 0; r < factors.rank; ++r) {
      const double by = factors.scale * static_cast<double>(b[uint64_t{i} * factors.rank + r]);
      const float* const of = &a[uint64_t{r} * factors.inner];
      for (uint32_t k = 0; k < factors.inner; ++k) row[k] += by * static_cast<double>(of[k]);
    }
    double length = 0;
    for (uint32_t k = 0; k < factors.inner; ++k) {
      row[k] += static_cast<double>(at(k));
      length += row[k] * row[k];
    }
    const double by = magnitude.empty() ? 1 : static_cast<double>(magnitude[i]) / sqrt(length);
    for (uint32_t k = 0; k < factors.inner; ++k) at(k) = static_cast<float>(by * row[k]);
  }
  return weight;
}

class Adapter {
 public:
  Adapter(const std::string& directory, Weights& weights, Findings& findings)
      : directory_(directory),
        path_((Utf8Path(directory) / "adapter_config.json").string()),
        json_(Read(path_)),
        config_(json_, path_),
        weights_(weights),
        findings_(findings) {}

  void Merge() {
    CheckConfig();
    std::string file;
    for (const char* name : {"adapter_model.safetensors", "adapter_model.bin"}) {
      if (file.empty() && fs::exists(Utf8Path(directory_) / name)) file = name;
    }
    if (file.empty()) Fail("{}: has no adapter_model.safetensors or adapter_model.bin", directory_);
    const std::string path = (Utf8Path(directory_) / file).string();
    RefusePointer(path);
    std::map<std::string, Module> modules;
    std::map<std::string, FileTensor> whole;
    for (auto& [name, tensor] : ReadTensors(path, findings_)) Sort(name, std::move(tensor), modules, whole);
    for (const auto& [name, module] : modules) MergeModule(name, module);
    for (auto& [name, tensor] : whole) Replace(name, std::move(tensor));
    findings_.push_back({Topic::kFiles, fmt::format("{}: merged, {} matrices changed and {} replaced", path,
                                                    modules.size(), whole.size())});
  }

 private:
  static Json Read(const std::string& path) {
    if (!fs::exists(Utf8Path(path))) Fail("{}: No such file; --adapter needs the directory of an adapter", path);
    RefusePointer(path);
    return ReadJson(path);
  }

  void CheckConfig() {
    std::string type = config_["peft_type"].Text("LORA");
    for (char& letter : type) letter = static_cast<char>(toupper(static_cast<unsigned char>(letter)));
    if (type != "LORA") Fail("{}: peft_type {} is not supported, LORA is", path_, type);
    std::vector<std::string> unknown;
    for (const auto& [key, value] : config_.Object().items()) {
      if (IsIn(key, std::begin(kRefused), std::end(kRefused))) {
        if (!IsOff(value)) Fail("{}: {} is not supported; merge the adapter with PEFT (merge_and_unload)", path_, key);
      } else if (!IsIn(key, std::begin(kNoEffect), std::end(kNoEffect)) &&
                 !IsIn(key, std::begin(kRead), std::end(kRead)) && !IsOff(value)) {
        unknown.push_back(key);
      }
    }
    if (!unknown.empty()) {
      findings_.push_back({Topic::kNotUsed, fmt::format("{}: unknown keys {}", path_, fmt::join(unknown, ", "))});
    }
    const Json& start = config_["init_lora_weights"].json();
    if (start.is_string() && !IsIn(start.get<std::string>(), std::begin(kPlainStarts), std::end(kPlainStarts))) {
      Fail(
          "{}: init_lora_weights {} changes the base's weights, which is not supported; convert the adapter with PEFT "
          "first (path_initial_model_for_weight_conversion)",
          path_, Shown(start));
    }
    for (const auto& entry : SavedModules()) saved_.push_back(entry);
  }

  std::vector<std::string> SavedModules() const {
    std::vector<std::string> names;
    const JsonView list = config_["modules_to_save"];
    if (list.IsNull()) return names;
    for (size_t i = 0; i < list.List().size(); ++i) names.push_back(list.At(i).Text());
    return names;
  }

  // Splits names: "base_model.model.bert.encoder.query.lora_A.weight".
  void Sort(std::string name, FileTensor tensor, std::map<std::string, Module>& modules,
            std::map<std::string, FileTensor>& whole) const {
    for (const char* front : {"base_model.model.", "base_model."}) {
      if (!StartsWith(name, front)) continue;
      name = name.substr(std::string(front).size());
      break;
    }
    for (const char* part : {"lora_A", "lora_B", "lora_embedding_A", "lora_embedding_B", "lora_magnitude_vector"}) {
      const size_t at = name.find(fmt::format(".{}", part));
      if (at == std::string::npos) continue;
      const std::string rest = name.substr(at + 1 + std::string(part).size());
      if (!rest.empty() && rest != ".weight" && rest != ".default" && rest != ".default.weight") continue;
      modules[name.substr(0, at)].parts[part] = std::move(tensor);
      return;
    }
    if (name.find("lora_") != std::string::npos) {
      Fail("{}: tensor {} of the adapter is not supported", directory_, name);
    }
    for (const char* inner : {".modules_to_save.default", ".modules_to_save", ".original_module", ".base_layer"}) {
      const size_t at = name.find(fmt::format("{}.", inner));
      if (at != std::string::npos) name.erase(at, std::string(inner).size());
    }
    whole[name] = std::move(tensor);
  }

  // The stored name that is `name`, or differs from it by a beginning ("bert."); empty if there is none.
  std::string Stored(const std::string& name) const {
    if (weights_.Has(name)) return name;
    std::string found;
    for (const std::string& stored : weights_.Stored()) {
      if (!EndsWith(stored, "." + name) && !EndsWith(name, "." + stored)) continue;
      if (!found.empty()) Fail("{}: {} of the adapter may be {} or {} of the base", directory_, name, found, stored);
      found = stored;
    }
    return found;
  }

  // Value of the entry whose key is the module's name or its end; null if there is none.
  JsonView Pattern(const char* patterns, const std::string& module) const {
    const JsonView all = config_[patterns];
    if (!all.IsNull()) {
      for (const auto& [key, value] : all.Object().items()) {
        const std::string plain = StartsWith(key, "^") ? key.substr(1) : key;
        const auto is_plain = [](char c) {
          return isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-';
        };
        if (!std::all_of(plain.begin(), plain.end(), is_plain)) {
          Fail("{}: {}: {} is a regular expression, which is not supported; write out the modules", path_, patterns,
               key);
        }
        if (module == plain || (plain == key && EndsWith(module, "." + plain))) return all[key.c_str()];
      }
    }
    static const Json none;
    return {none, path_};
  }

  static FileTensor Part(const Module& module, const char* name) {
    const auto found = module.parts.find(name);
    return found == module.parts.end() ? FileTensor() : found->second;
  }

  void MergeModule(const std::string& name, const Module& module) {
    const bool embedding = module.parts.count("lora_embedding_A") != 0;
    const FileTensor a = Part(module, embedding ? "lora_embedding_A" : "lora_A"),
                     b = Part(module, embedding ? "lora_embedding_B" : "lora_B"),
                     magnitude = Part(module, "lora_magnitude_vector");
    const std::string where = fmt::format("{}: module {}", directory_, name);
    if (!a.load || !b.load) Fail("{}: needs matrices A and B", where);
    if (a.shape.size() < 2 || b.shape.size() < 2 || a.shape[0] != b.shape[1] || a.shape[0] == 0) {
      Fail("{}: A {} and B {} have no common rank", where, ShapeText(a.shape), ShapeText(b.shape));
    }
    const std::string stored = Stored(name + ".weight");
    if (stored.empty()) Fail("{}: the base has no tensor {}.weight; is it another base?", where, name);
    Constant base = weights_.Take(stored)();

    Factors factors;
    factors.a = a.load, factors.b = b.load, factors.magnitude = magnitude.load;
    uint64_t inner = 1, outer = b.shape[0];
    for (size_t i = 1; i < a.shape.size(); ++i) inner *= a.shape[i];
    for (size_t i = 2; i < b.shape.size(); ++i) outer *= b.shape[i];
    // Embeddings are stored [words, width], Conv1D of GPT-2 [in, out].
    factors.transposed = embedding || config_["fan_in_fan_out"].Flag(false);
    const uint64_t rows = factors.transposed ? inner : outer, width = factors.transposed ? outer : inner;
    if (rows != base.rows || width != base.width) {
      Fail("{}: B A is [{}, {}], tensor {} of the base is [{}, {}]; is it another base?", where, rows, width, stored,
           base.rows, base.width);
    }
    factors.rank = static_cast<uint32_t>(a.shape[0]);
    factors.outer = static_cast<uint32_t>(outer), factors.inner = static_cast<uint32_t>(inner);
    const uint32_t rank =
        Pattern("rank_pattern", name).Number({1, UINT32_MAX}, config_["r"].Number({1, UINT32_MAX}, 8));
    if (rank != factors.rank) Fail("{}: A has {} rows, adapter_config.json has rank {}", where, factors.rank, rank);
    const double alpha = Pattern("alpha_pattern", name).Real({}, config_["lora_alpha"].Real({}, 8));
    factors.scale = alpha / (config_["use_rslora"].Flag(false) ? sqrt(rank) : rank);
    if (config_["use_dora"].Flag(false)) {
      if (!magnitude.load || embedding || a.shape.size() > 2) {
        Fail("{}: use_dora is supported for linear layers with a lora_magnitude_vector", where);
      }
      uint64_t count = 1;
      for (const uint64_t dimension : magnitude.shape) count *= dimension;
      if (count != outer) Fail("{}: lora_magnitude_vector has {} elements, not {}", where, count, outer);
    } else if (magnitude.load) {
      Fail("{}: has a lora_magnitude_vector, but use_dora is not set", where);
    }
    base.load = [factors, load = std::move(base.load)] { return Merged(factors, load()); };
    weights_.AddMade(stored, [base] { return base; });
  }

  // Biases, and modules that were trained whole: heads, embeddings of more words.
  void Replace(const std::string& name, FileTensor tensor) {
    const std::string stored = Stored(name);
    if (!stored.empty()) {
      weights_.Take(stored);
      weights_.AddTensor(stored, tensor.shape, std::move(tensor.load));
      return;
    }
    const bool saved = std::any_of(saved_.begin(), saved_.end(), [&](const std::string& module) {
      return StartsWith(name, module + ".") || name.find("." + module + ".") != std::string::npos;
    });
    if (!saved) Fail("{}: tensor {} of the adapter has no place in the base; is it another base?", directory_, name);
    weights_.AddTensor(name, tensor.shape, std::move(tensor.load));
  }

  const std::string directory_, path_;
  const Json json_;
  const JsonView config_;
  Weights& weights_;
  Findings& findings_;
  std::vector<std::string> saved_;
};

}  // namespace

void MergeAdapter(const std::string& directory, Weights& weights, Findings& findings) {
  Adapter(directory, weights, findings).Merge();
}

bool HasAdapter(const std::string& directory) { return fs::exists(Utf8Path(directory) / "adapter_config.json"); }

}  // namespace fovea::tools
