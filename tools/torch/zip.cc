// PKWARE's APPNOTE.TXT, sections 4.3 and 4.5.3. Numbers are little-endian.
#include "tools/torch/zip.h"

#include <string.h>

#include <algorithm>

#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

constexpr uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50, kEnd64 = 0x06064b50,
                   kLocator64 = 0x07064b50;
constexpr uint64_t kMostEntries = uint64_t{1} << 20;
constexpr uint64_t kEndBytes = 22, kLocatorBytes = 20, kEnd64Bytes = 56, kCentralBytes = 46, kLocalBytes = 30;

class Directory {
 public:
  Directory(const uint8_t* data, uint64_t size, const std::string& where) : data_(data), size_(size), where_(where) {}

  ZipEntries Read() {
    const uint64_t end = FindEnd();
    uint64_t count = Number(end + 10, 2), bytes = Number(end + 12, 4), at = Number(end + 16, 4);
    if (end >= kLocatorBytes && Number(end - kLocatorBytes, 4) == kLocator64) {
      const uint64_t end64 = Number(end - kLocatorBytes + 8, 8);
      if (!Fits(end64, kEnd64Bytes) || Number(end64, 4) != kEnd64) Fault("the end of the directory is damaged");
      count = Number(end64 + 32, 8), bytes = Number(end64 + 40, 8), at = Number(end64 + 48, 8);
    }
    if (!Fits(at, bytes)) Fault("its directory is outside the file; the file may be cut");
    if (count > kMostEntries || count > bytes / kCentralBytes) Fault("its directory has too many entries");
    ZipEntries entries;
    for (uint64_t left = count; left > 0; --left) at = ReadEntry(at, entries);
    return entries;
  }

 private:
  [[noreturn]] void Fault(const std::string& what) const { Fail("{}: zip: {}", where_, what); }
  bool Fits(uint64_t at, uint64_t bytes) const { return at <= size_ && bytes <= size_ - at; }
  uint64_t Number(uint64_t at, size_t bytes) const {
    if (!Fits(at, bytes)) Fault("a record is outside the file");
    uint64_t number = 0;
    for (size_t i = 0; i < bytes; ++i) number |= uint64_t{data_[at + i]} << 8 * i;
    return number;
  }

  // Behind it is a comment of at most 65,535 bytes.
  uint64_t FindEnd() const {
    const uint64_t first = size_ > kEndBytes + 65535 ? size_ - kEndBytes - 65535 : 0;
    for (uint64_t at = size_ >= kEndBytes ? size_ - kEndBytes + 1 : 0; at > first; --at) {
      if (Number(at - 1, 4) == kEnd) return at - 1;
    }
    Fault("has no directory at its end; the file is cut");
  }

  uint64_t ReadEntry(uint64_t at, ZipEntries& entries) const {
    if (!Fits(at, kCentralBytes) || Number(at, 4) != kCentral) Fault("its directory is damaged");
    const uint64_t flags = Number(at + 8, 2), method = Number(at + 10, 2);
    uint64_t stored = Number(at + 20, 4), bytes = Number(at + 24, 4), local = Number(at + 42, 4);
    const uint64_t name_bytes = Number(at + 28, 2), extra_bytes = Number(at + 30, 2), comment = Number(at + 32, 2);
    if (!Fits(at + kCentralBytes, name_bytes + extra_bytes + comment)) Fault("its directory is damaged");
    const std::string name(reinterpret_cast<const char*>(data_ + at + kCentralBytes), name_bytes);
    // Zip64: the numbers that do not fit above, in this order.
    const uint64_t extra_end = at + kCentralBytes + name_bytes + extra_bytes;
    for (uint64_t extra = at + kCentralBytes + name_bytes; extra + 4 <= extra_end;) {
      const uint64_t id = Number(extra, 2), length = Number(extra + 2, 2);
      uint64_t from = extra + 4;
      extra = from + length;
      if (extra > extra_end) Fault(fmt::format("entry {} is damaged", name));
      if (id != 1) continue;
      for (uint64_t* const number : {&bytes, &stored, &local}) {
        if (*number != UINT32_MAX) continue;
        if (from + 8 > extra) Fault(fmt::format("entry {} is damaged", name));
        *number = Number(from, 8);
        from += 8;
      }
    }
    if ((flags & 1) != 0) Fault(fmt::format("entry {} is encrypted, which is not supported", name));
    if (!Fits(local, kLocalBytes) || Number(local, 4) != kLocal) Fault(fmt::format("entry {} is damaged", name));
    const uint64_t data = local + kLocalBytes + Number(local + 26, 2) + Number(local + 28, 2);
    if (!Fits(data, stored)) Fault(fmt::format("entry {} is outside the file; the file may be cut", name));
    ZipEntry entry;
    if (method == 0) {
      if (bytes != stored) Fault(fmt::format("entry {} has two sizes", name));
      entry = {data_ + data, bytes};
    }
    if (!entries.emplace(name, entry).second) Fault(fmt::format("entry {} occurs twice", name));
    return extra_end + comment;
  }

  const uint8_t* data_;
  const uint64_t size_;
  const std::string& where_;
};

}  // namespace

bool IsZip(const uint8_t* data, uint64_t size) { return size >= 4 && memcmp(data, "PK\3\4", 4) == 0; }

ZipEntries ParseZip(const uint8_t* data, uint64_t size, const std::string& where) {
  return Directory(data, size, where).Read();
}

}  // namespace fovea::tools
