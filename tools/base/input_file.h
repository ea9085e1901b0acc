// A file named by the user, as one block of bytes: mapped, or read where it cannot be mapped.
#ifndef FOVEA_TOOLS_BASE_INPUT_FILE_H_
#define FOVEA_TOOLS_BASE_INPUT_FILE_H_

#include <stdint.h>

#include <istream>
#include <memory>
#include <optional>
#include <string>

#include "tools/base/mapped_file.h"
#include "tools/base/temporary_file.h"

namespace fovea::tools {

// "-" is standard input. Pipes cannot be mapped and are read; more than 64 MiB of them go to a temporary file.
class InputFile {
 public:
  explicit InputFile(const std::string& path);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const uint8_t* data() const { return mapped_ ? mapped_->data() : reinterpret_cast<const uint8_t*>(read_.data()); }
  uint64_t size() const { return mapped_ ? mapped_->size() : read_.size(); }
  // Lets the system drop bytes from memory; they are read again on access.
  void Forget(const uint8_t* begin, uint64_t size) const {
    if (mapped_) mapped_->Forget(begin, size);
  }

 private:
  void ReadPipe(std::istream& pipe);
  // Writes what was read and the rest of the pipe to a temporary file. False if none can be created.
  bool Spool(std::istream& pipe);

  std::unique_ptr<TemporaryFile> spooled_;  // null: the input is a file, or short
  std::optional<MappedFile> mapped_;
  std::string read_;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BASE_INPUT_FILE_H_
