// Destinations for the bytes of a blob while it is written.
#include "tools/blob/output.h"

#include <errno.h>
#include <string.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "tools/base/fail.h"
#include "tools/base/mapped_file.h"
#include "tools/base/system.h"
#include "tools/base/utf8_path.h"

namespace fovea::tools {
namespace {

std::string Followed(std::filesystem::path path) {
  std::error_code error;
  for (int links = 0; links < 40 && std::filesystem::is_symlink(path, error); ++links) {
    path = path.parent_path() / std::filesystem::read_symlink(path, error);
  }
  return path.string();
}

}  // namespace

void BlobBytes::Write(uint64_t at, const void* data, uint64_t size) {
  const auto* begin = static_cast<const uint8_t*>(data);
  if (at == bytes.size()) {
    bytes.insert(bytes.end(), begin, begin + size);
    return;
  }
  bytes.resize(std::max<uint64_t>(bytes.size(), at + size));
  if (size != 0) memcpy(bytes.data() + at, data, size);
}

void BlobBytes::Read(uint64_t at, void* data, uint64_t size) {
  if (size != 0) memcpy(data, bytes.data() + at, size);
}

BlobFile::BlobFile(const std::string& path) : path_(Followed(Utf8Path(path))) {
  errno = EEXIST;  // a file of that name may belong to another program or conversion
  for (int i = 0; file_ == nullptr && errno == EEXIST && i < 100; ++i) {
    partial_ = path_ + ".part" + (i == 0 ? "" : std::to_string(i));
    file_ = CreateNewFile(partial_);
  }
  if (file_ == nullptr) FailToWrite();
  removed_ = std::make_unique<PartialFile>(partial_);
}

BlobFile::~BlobFile() {
  if (file_ == nullptr) return;
  fclose(file_);
  RemoveFile(partial_);
}

void BlobFile::FailToWrite() const { Fail("{}: cannot write", path_); }

void BlobFile::Seek(uint64_t at) {
#ifdef _WIN32
  const int failed = _fseeki64(file_, static_cast<int64_t>(at), SEEK_SET);
#else
  const int failed = fseeko(file_, static_cast<off_t>(at), SEEK_SET);
#endif
  if (failed != 0) FailToWrite();
}

void BlobFile::Write(uint64_t at, const void* data, uint64_t size) {
  Seek(at);
  if (fwrite(data, 1, size, file_) != size) FailToWrite();
}

void BlobFile::Read(uint64_t at, void* data, uint64_t size) {
  Seek(at);
  if (fread(data, 1, size, file_) != size) FailToWrite();
}

void BlobFile::Shorten(uint64_t size) {
  std::error_code error;
  if (fflush(file_) == 0) std::filesystem::resize_file(Utf8Path(partial_), size, error);
  if (error) FailToWrite();
}

const std::string& BlobFile::Flushed() {
  if (fflush(file_) != 0) FailToWrite();
  return partial_;
}

void BlobFile::Keep() {
  const bool written = fclose(file_) == 0;
  file_ = nullptr;
  std::error_code error;
  if (written) std::filesystem::rename(Utf8Path(partial_), Utf8Path(path_), error);
  if (!written || error) {
    RemoveFile(partial_);
    FailToWrite();
  }
}

bool IsReplaceable(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_type type = std::filesystem::status(Utf8Path(path), error).type();
  return type == std::filesystem::file_type::not_found || type == std::filesystem::file_type::regular;
}

void WriteBlobFile(const std::string& path, const std::vector<uint8_t>& blob) {
  if (!IsReplaceable(path)) return WriteFile(path, blob.data(), blob.size());
  BlobFile file(path);
  file.Write(0, blob.data(), blob.size());
  file.Keep();
}

}  // namespace fovea::tools
