// The metadata of a GGUF file; records which keys are read.
#ifndef FOVEA_TOOLS_CONVERT_GGUF_METADATA_H_
#define FOVEA_TOOLS_CONVERT_GGUF_METADATA_H_

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tools/base/fail.h"
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
  // The same, for a key without which nothing can be converted; fails if it is absent.
  JsonView Needed(const std::string& key) const {
    const JsonView view = Own(key);
    if (!view.IsNull()) return view;
    Fail("{} is missing; make the file again with convert_hf_to_gguf.py of llama.cpp, or convert the model's directory",
         view.name());
  }
  // The id of a special token ("eos"). Null if the file has none: an absent key, -1 (with or without a sign), or an id
  // outside the vocabulary, all of which llama.cpp takes so.
  std::optional<uint32_t> Token(const std::string& name) const {
    const JsonView id = Get("tokenizer.ggml." + name + "_token_id");
    if (id.IsNull() || id.json() == -1 || id.json() == UINT32_MAX) return std::nullopt;
    const uint32_t number = id.Number();
    const auto tokens = file_->metadata().find("tokenizer.ggml.tokens");
    const bool outside = tokens != file_->metadata().end() && tokens->is_array() && number >= tokens->size();
    return outside ? std::nullopt : std::optional(number);
  }

  // Keys that were not read: of the architecture, and the rest.
  std::vector<std::string> Unread(bool own = true) const {
    std::vector<std::string> keys;
    for (const auto& item : file_->metadata().items()) {
      const bool is_own = item.key().compare(0, architecture_.size() + 1, architecture_ + ".") == 0;
      if (is_own == own && read_.count(item.key()) == 0) keys.push_back(item.key());
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
