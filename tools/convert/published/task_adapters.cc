// The original: modeling_lora.py of jinaai/xlm-roberta-flash-implementation: LoRAParametrization.
#include "tools/convert/published/task_adapters.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/base/affixes.h"
#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

constexpr char kOriginal[] = ".parametrizations.weight.original";
constexpr char kMatrix[] = ".parametrizations.weight.0.lora_";

struct Tasks {
  std::vector<std::string> names;
  uint32_t chosen = 0, rank = 0;
  double scale = 0;
};

std::vector<std::string> NamesOf(const Config& config) {
  std::vector<std::string> names;
  const JsonView list = config.View("lora_adaptations");
  for (size_t i = 0; i < list.List().size(); ++i) names.push_back(list.At(i).Text());
  return names;
}

uint64_t CountOf(const Constant& constant) { return uint64_t{constant.rows} * constant.width; }

// The weight [outer, inner] of a linear layer gets B A of B [tasks, outer, rank] and A [tasks, rank, inner]; an
// embedding [outer, inner] gets A B of A [tasks, outer, rank] and B [tasks, rank, inner].
Constant Merged(const std::string& layer, const Constant& base, Constant left, Constant right, const Tasks& tasks) {
  const uint64_t outer = base.rows, inner = base.width, rank = tasks.rank, count = tasks.names.size();
  if (CountOf(left) != count * outer * rank || CountOf(right) != count * rank * inner) {
    Fail(
        "tensors {}{}A and {}{}B do not hold a matrix of rank {} (lora_rank) for each of {} tasks (lora_adaptations) "
        "for weights of [{}, {}]",
        layer, kMatrix, layer, kMatrix, rank, count, outer, inner);
  }
  Constant merged = base;
  merged.load = [=] {
    std::vector<float> weight = base.load();
    const std::vector<float> l = left.load(), r = right.load();
    const float* const of_left = &l[tasks.chosen * outer * rank];
    const float* const of_right = &r[tasks.chosen * rank * inner];
    std::vector<double> row(inner);
    for (uint64_t i = 0; i < outer; ++i) {
      std::fill(row.begin(), row.end(), 0.0);
      for (uint64_t k = 0; k < rank; ++k) {
        const double by = tasks.scale * static_cast<double>(of_left[i * rank + k]);
        for (uint64_t c = 0; c < inner; ++c) row[c] += by * static_cast<double>(of_right[k * inner + c]);
      }
      for (uint64_t c = 0; c < inner; ++c) {
        weight[i * inner + c] = static_cast<float>(static_cast<double>(weight[i * inner + c]) + row[c]);
      }
    }
    return weight;
  };
  return merged;
}

// The tensor under its name, or a failure that names its layer.
Constant TakePart(const std::string& layer, const char* part, Weights& weights) {
  const std::string name = layer + kMatrix + part;
  if (!weights.Has(name)) Fail("no tensor {}, which {}{} needs", name, layer, kOriginal);
  return weights.Take(name)();
}

}  // namespace

bool HasTaskAdapters(const Config& config) { return config.Get("lora_adaptations").is_array(); }

void MergeTaskAdapter(const Config& config, const std::string& task, Weights& weights, Findings& findings) {
  Tasks tasks;
  tasks.names = NamesOf(config);
  const std::string known = fmt::format("{}", fmt::join(tasks.names, ", "));
  const auto found = std::find(tasks.names.begin(), tasks.names.end(), task);
  if (!task.empty() && found == tasks.names.end()) {
    Fail("--adapter {} is not a task of this model; its tasks (config.json: lora_adaptations) are: {}", task, known);
  }
  tasks.chosen = static_cast<uint32_t>(found - tasks.names.begin());
  tasks.rank = config.Number("lora_rank", 4);
  if (tasks.rank == 0) Fail("config.json: lora_rank must not be 0");
  tasks.scale = config.Real("lora_alpha", 1) / tasks.rank;
  size_t layers = 0;
  for (const std::string& stored : weights.Stored()) {
    if (!EndsWith(stored, kOriginal)) continue;
    const std::string layer = stored.substr(0, stored.size() - std::string(kOriginal).size());
    const Constant base = weights.Take(stored)();
    const Constant a = TakePart(layer, "A", weights), b = TakePart(layer, "B", weights);
    const bool embedding = EndsWith(layer, "_embeddings");
    const Constant whole = task.empty() ? base : Merged(layer, base, embedding ? a : b, embedding ? b : a, tasks);
    weights.AddMade(layer + ".weight", [whole] { return whole; });
    ++layers;
  }
  if (layers == 0) {
    if (!task.empty()) Fail("--adapter {}: the weights have no matrices for tasks (...{}A)", task, kMatrix);
    return;
  }
  findings.push_back(
      {Topic::kFiles, task.empty() ? fmt::format("matrices for tasks were not merged, as the original without a task; "
                                                 "--adapter TASK merges the adapters of one task: {}",
                                                 known)
                                   : fmt::format("matrices for task {} merged into {} layers", task, layers)});
}

}  // namespace fovea::tools
