// A model in the words of the runtime.
#include "tools/convert/description.h"

namespace fovea::tools {

void Description::SetMetadata(const std::string& key, const std::string& value) {
  for (auto& entry : metadata) {
    if (entry.first == key) {
      entry.second = value;
      return;
    }
  }
  metadata.emplace_back(key, value);
}

}  // namespace fovea::tools
