// A model in the words of the runtime.
#include "tools/convert/description.h"

namespace fovea::tools {

void Description::SetMetadata(const std::string& key, const std::string& value) {
  const auto [at, is_new] = metadata_index.emplace(key, metadata.size());
  if (is_new) {
    metadata.emplace_back(key, value);
  } else {
    metadata[at->second].second = value;
  }
}

}  // namespace fovea::tools
