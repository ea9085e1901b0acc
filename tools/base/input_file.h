// A file named by the user, as one block of bytes: mapped, or read where it cannot be mapped.
#ifndef FOVEA_TOOLS_BASE_INPUT_FILE_H_
#define FOVEA_TOOLS_BASE_INPUT_FILE_H_

#include <stdint.h>

#include <optional>
#include <string>

#include "tools/base/mapped_file.h"

namespace fovea::tools {

// "-" is standard input. Pipes cannot be mapped and are read.
class InputFile {
 public:
  explicit InputFile(const std::string& path);

  const uint8_t* data() const { return mapped_ ? mapped_->data() : reinterpret_cast<const uint8_t*>(read_.data()); }
  uint64_t size() const { return mapped_ ? mapped_->size() : read_.size(); }

 private:
  std::optional<MappedFile> mapped_;
  std::string read_;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BASE_INPUT_FILE_H_
