#include "tools/vectors/growing_file.h"

#include <fstream>

#include "tools/base/fail.h"

namespace fovea::tools {

GrowingFile::GrowingFile(const std::string& path, uint64_t head, std::ostream& out)
    : path_(path), head_(head), out_(out) {
  if (path != "-" && IsReplaceable(path)) {
    file_ = std::make_unique<BlobFile>(path);
  } else {
    spool_ = std::make_unique<TemporaryFile>();
  }
}

void GrowingFile::Append(const void* data, uint64_t size) {
  if (file_ != nullptr) {
    file_->Write(head_ + size_, data, size);
  } else {
    spool_->Append(data, size);
  }
  size_ += size;
}

void GrowingFile::Append(TemporaryFile& spool) {
  spool.ReadAll([&](const char* data, size_t size) { Append(data, size); });
}

void GrowingFile::Finish(const std::string& head) {
  if (head.size() != head_) Fail("{}: a head of {} bytes, {} were announced", path_, head.size(), head_);
  if (file_ != nullptr) {
    file_->Write(0, head.data(), head.size());
    return file_->Keep();
  }
  std::ofstream pipe;
  if (path_ != "-") pipe.open(path_, std::ios::binary);
  std::ostream& to = path_ == "-" ? out_ : pipe;
  to.write(head.data(), static_cast<std::streamsize>(head.size()));
  spool_->ReadAll([&](const char* data, size_t size) { to.write(data, static_cast<std::streamsize>(size)); });
  to.flush();
  if (!to) Fail("{}: cannot write", path_ == "-" ? "standard output" : path_);
}

}  // namespace fovea::tools
