#include "tools/convert/published/wrapper_prefix.h"

#include <algorithm>

#include "tools/base/affixes.h"
#include "tools/base/fail.h"
#include "tools/convert/published/adapter.h"
#include "tools/convert/published/task_adapters.h"
#include "tools/convert/resolve.h"

namespace fovea::tools {
namespace {

constexpr size_t kMostParts = 4;

void CheckComplete(const Description& description, const Reading& reading) {
  if (reading.backbone) return;  // a part of a model has no outputs yet, so nothing is requested
  Resolve(description);
  LeftOut(description);
}

}  // namespace

std::vector<std::string> SharedPrefixes(const Weights& weights) {
  const std::vector<std::string> names = weights.Stored();  // sorted: the first and the last differ most
  std::vector<std::string> prefixes;
  if (names.empty()) return prefixes;
  const std::string& first = names.front();
  for (size_t dot = first.find('.'); dot != std::string::npos && prefixes.size() < kMostParts;
       dot = first.find('.', dot + 1)) {
    const std::string prefix = first.substr(0, dot + 1);
    if (!StartsWith(names.back(), prefix)) break;
    prefixes.push_back(prefix);
  }
  return prefixes;
}

Description DescribeUnwrapped(const Config& config, const std::string& directory, const AddWeights& add,
                              const Reading& reading) {
  std::vector<std::string> prefixes;
  const auto describe = [&](const std::string& dropped) {
    const auto add_dropped = [&](Weights& weights, Findings& findings) {
      add(weights, findings);
      if (prefixes.empty()) prefixes = SharedPrefixes(weights);
      weights.DropPrefix(dropped);
      if (HasTaskAdapters(config)) {
        MergeTaskAdapter(config, reading.adapter, weights, findings);
      } else if (!reading.adapter.empty()) {
        MergeAdapter(reading.adapter, weights, findings);
      }
    };
    return DescribeModel(config, directory, add_dropped, reading);
  };
  try {
    Description description = describe("");
    if (!prefixes.empty()) CheckComplete(description, reading);
    return description;
  } catch (const Failure& first) {
    for (const std::string& prefix : prefixes) {
      try {
        Description description = describe(prefix);
        CheckComplete(description, reading);
        description.findings.push_back(
            {Topic::kFiles, fmt::format("all tensors are named {}...: this beginning was dropped", prefix)});
        return description;
      } catch (const Failure&) {  // not this one
      }
    }
    throw;
  }
}

}  // namespace fovea::tools
