#include "tools/run/results.h"

#include <algorithm>

#include "tools/base/fail.h"
#include "tools/model/batch.h"

namespace fovea::tools {
namespace {

// Most names listed in a message.
constexpr size_t kMostNames = 40;

// Wildcard matching; * extends only on a mismatch, so the time is bounded by the product of the lengths.
bool Fits(const std::string& name, const std::string& pattern) {
  size_t at = 0, in = 0, star = std::string::npos, after = 0;
  while (at < name.size()) {
    if (in < pattern.size() && pattern[in] == '*') {
      star = in++, after = at;
    } else if (in < pattern.size() && pattern[in] == name[at]) {
      ++in, ++at;
    } else if (star != std::string::npos) {
      in = star + 1, at = ++after;
    } else {
      return false;
    }
  }
  return std::all_of(pattern.begin() + static_cast<ptrdiff_t>(in), pattern.end(), [](char c) { return c == '*'; });
}

// Names that metadata "alias.<name>" gives to values, in addition to their names in the program.
std::vector<std::string> AliasesOf(const Model& model) {
  const std::string prefix = "alias.";
  std::vector<std::string> names;
  const char *key = nullptr, *value = nullptr;
  for (uint32_t i = 0; fovea_model_get_metadata(model.get(), i, &key, &value) == FOVEA_OK; ++i) {
    if (std::string(key).rfind(prefix, 0) == 0) names.push_back(key + prefix.size());
  }
  return names;
}

class Collector {
 public:
  Collector(const Model& model, uint32_t program) : model_(model), program_(program) {}

  void AddOutputs() {
    for (const uint32_t value : OutputsOf(model_, program_)) AddValue(model_.Value(program_, value).name, value);
    for (const char* name : {"last_hidden_state", "pooler_output", "logits", "sentence_embedding"}) {
      if (const auto value = model_.FindValue(program_, name)) AddValue(name, *value);
    }
  }

  void AddTrace() {
    const size_t before = results_.values.size();
    for (uint32_t i = 0;; ++i) {
      const std::string name = fmt::format("hidden_states.{}", i);
      const auto value = model_.FindValue(program_, name);
      if (!value) break;
      AddValue(name, *value);
    }
    for (uint32_t i = 0;; ++i) {
      const std::string name = fmt::format("attentions.{}", i);
      const auto step = model_.FindAttention(program_, name);
      if (!step) break;
      results_.attentions.emplace_back(name, *step);
    }
    const auto none = [&](const char* what) {
      results_.left_out.push_back(fmt::format("{}.N: program {} has none; --values '*' writes all values", what,
                                              model_.Program(program_).name));
    };
    if (results_.values.size() == before) none("hidden_states");
    if (results_.attentions.empty()) none("attentions");
  }

  void AddMatching(const std::string& pattern) {
    bool found = false;
    std::vector<std::string> names;
    const auto add = [&](const std::string& name, uint32_t value) {
      names.push_back(name);
      if (!Fits(name, pattern)) return;
      found = true;
      const fovea_value_info info = model_.Value(program_, value);
      if (info.role == FOVEA_ROLE_INPUT) {
        results_.left_out.push_back(fmt::format("{}: it is an input", name));
      } else if (model_.Space(info.space).is_cached != 0) {
        results_.left_out.push_back(fmt::format("{}: it is in a cached space (KV cache)", name));
      } else {
        AddValue(name, value);
      }
    };
    for (uint32_t value = 0; value < model_.Program(program_).value_count; ++value) {
      add(model_.Value(program_, value).name, value);
    }
    for (const std::string& alias : AliasesOf(model_)) {
      const auto value = model_.FindValue(program_, alias);
      if (value && model_.Value(program_, *value).name != alias) add(alias, *value);
    }
    for (uint32_t step = 0; step < model_.Program(program_).step_count; ++step) {
      const fovea_step_info info = model_.Step(program_, step);
      if (info.heads == 0 || !Fits(info.name, pattern)) continue;
      found = true;
      const bool taken = std::find(names.begin(), names.end(), info.name) != names.end();
      AddStep(taken ? fmt::format("{}.weights", info.name) : info.name, step);
    }
    if (found) return;
    const size_t count = names.size();
    if (count > kMostNames) names.resize(kMostNames);
    Fail("{}: program {} has no value or attention operation '{}'; its values: {}{}", model_.name(),
         model_.Program(program_).name, pattern, fmt::join(names, ", "),
         count > kMostNames ? fmt::format(" and {} more", count - kMostNames) : "");
  }

  Results Take() { return std::move(results_); }

 private:
  using List = std::vector<std::pair<std::string, uint32_t>>;

  static void Add(const std::string& name, uint32_t index, List* list) {
    const auto same = [&](const auto& known) { return known.first == name; };
    if (std::none_of(list->begin(), list->end(), same)) list->emplace_back(name, index);
  }
  void AddValue(const std::string& name, uint32_t value) { Add(name, value, &results_.values); }
  // An operation has one tap.
  void AddStep(const std::string& name, uint32_t step) {
    const auto same = [&](const auto& known) { return known.second == step; };
    if (std::none_of(results_.attentions.begin(), results_.attentions.end(), same)) {
      Add(name, step, &results_.attentions);
    }
  }

  const Model& model_;
  const uint32_t program_;
  Results results_;
};

}  // namespace

Results ResultsOf(const Model& model, uint32_t program, bool trace, const std::vector<std::string>& patterns) {
  Collector collector(model, program);
  collector.AddOutputs();
  if (trace) collector.AddTrace();
  for (const std::string& pattern : patterns) collector.AddMatching(pattern);
  return collector.Take();
}

}  // namespace fovea::tools
