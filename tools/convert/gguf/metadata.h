// The metadata of a GGUF file; records which keys are read.
#ifndef FOVEA_TOOLS_CONVERT_GGUF_METADATA_H_
#define FOVEA_TOOLS_CONVERT_GGUF_METADATA_H_

#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tools/gguf/gguf.h"

namespace fovea::tools {

class GgufMetadata {
 public:
  explicit GgufMetadata(std::shared_ptr<const GgufReader> file) : file_(std::move(file)) {
    architecture_ = Get("general.architecture").Text();
  }

  const std::string& path() const { return file_->path(); }
  const std::string& architecture() const { return architecture_; }
  // Null if absent. Messages name file and key.
  JsonView Get(const std::string& key) const {
    static const Json none;
    read_.insert(key);
    const auto found = file_->metadata().find(key);
    return {found == file_->metadata().end() ? none : *found, path() + ": " + key};
  }
  // A key of the architecture: "llama.block_count" by "block_count".
  JsonView Own(const std::string& key) const { return Get(architecture_ + "." + key); }
  // Keys of the architecture that were not read.
  std::vector<std::string> Unread() const {
    std::vector<std::string> keys;
    for (const auto& item : file_->metadata().items()) {
      const bool own = item.key().compare(0, architecture_.size() + 1, architecture_ + ".") == 0;
      if (own && read_.count(item.key()) == 0) keys.push_back(item.key());
    }
    return keys;
  }

 private:
  std::shared_ptr<const GgufReader> file_;
  std::string architecture_;
  mutable std::set<std::string> read_;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_GGUF_METADATA_H_
