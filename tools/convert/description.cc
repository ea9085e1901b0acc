// A model in the words of the runtime.
#include "tools/convert/description.h"

#include <algorithm>

#include "tools/base/affixes.h"
#include "tools/base/fail.h"

namespace fovea::tools {
std::vector<std::string> LeftOut(const Description& description) {
  std::vector<std::string> names = description.weights.Unused();
  for (const std::string& name : names) {
    const bool matters = std::any_of(description.must_use.begin(), description.must_use.end(),
                                     [&](const std::string& start) { return StartsWith(name, start); });
    if (matters) Fail("tensor {} is not used by this architecture; --ignore '{}' leaves it out", name, name);
  }
  return names;
}

void Description::SetMetadata(const std::string& key, const std::string& value) {
  const auto [at, is_new] = metadata_index.emplace(key, metadata.size());
  if (is_new) {
    metadata.emplace_back(key, value);
  } else {
    metadata[at->second].second = value;
  }
}

}  // namespace fovea::tools
