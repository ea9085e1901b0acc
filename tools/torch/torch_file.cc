// The forms of torch/serialization.py: a zip file (_save), and pickles followed by the bytes of the storages
// (_legacy_save).
#include "tools/torch/torch_file.h"

#include <string.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>
#include <utility>

#include "tools/base/affixes.h"
#include "tools/base/fail.h"
#include "tools/torch/pickle.h"
#include "tools/torch/state_dict.h"
#include "tools/torch/zip.h"

namespace fovea::tools {
namespace {

// torch.serialization.MAGIC_NUMBER, little-endian.
constexpr std::string_view kMagic("\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 10);
constexpr int64_t kProtocol = 1001;

TorchEntries ParseZipForm(const uint8_t* data, uint64_t size, const std::string& where) {
  const ZipEntries entries = ParseZip(data, size, where);
  std::string folder;
  for (const auto& [name, entry] : entries) {
    const size_t slash = name.find('/');
    if (slash == std::string::npos || name.compare(slash, std::string::npos, "/data.pkl") != 0) continue;
    if (!folder.empty()) Fail("{}: has {}data.pkl and {}", where, folder, name);
    folder = name.substr(0, slash + 1);
  }
  if (folder.empty()) Fail("{}: is a zip file without data.pkl; torch.save writes one, in one folder", where);
  for (const auto& [name, entry] : entries) {
    if (StartsWith(name, folder + "code/") || name == folder + "constants.pkl") {
      Fail("{}: is a TorchScript program, which is not run; the weights are in the model that it was traced from",
           where);
    }
    if (entry.data == nullptr) {
      Fail("{}: zip: entry {} is compressed, torch.save stores entries as they are; unpack it, then: zip -0", where,
           name);
    }
  }
  const auto order = entries.find(folder + "byteorder");
  bool swapped = false;
  if (order != entries.end()) {
    const std::string_view text(reinterpret_cast<const char*>(order->second.data), order->second.bytes);
    swapped = text == "big";
    if (!swapped && text != "little") Fail("{}: byteorder must be little or big", where);
  }
  const auto storage = [&](const std::string& key) -> TorchStorage {
    const auto found = entries.find(folder + "data/" + key);
    if (found == entries.end()) Fail("{}: has no entry {}data/{}", where, folder, key);
    return {found->second.data, found->second.bytes};
  };
  const ZipEntry& pickled = entries.at(folder + "data.pkl");
  return StateDict(ParsePickle(pickled.data, pickled.bytes, where), storage, swapped, where).Read();
}

class LegacyForm {
 public:
  LegacyForm(const uint8_t* data, uint64_t size, const std::string& where) : data_(data), size_(size), where_(where) {}

  TorchEntries Read() {
    const Pickle magic = Next();
    if (magic.At(magic.root).kind != PickleKind::kBytes || magic.At(magic.root).text != kMagic) {
      Fail("{}: is a pickle, but not one of torch.save", where_);
    }
    const Pickle protocol = Next();
    if (protocol.At(protocol.root).kind != PickleKind::kInteger || protocol.At(protocol.root).integer != kProtocol) {
      Fail("{}: its protocol of torch.save is unknown, {} is known", where_, kProtocol);
    }
    Next();  // the writer's machine; elements are little-endian on every machine
    Pickle object = Next();
    ReadStorages(object);
    const auto storage = [&](const std::string& key) {
      const auto found = storages_.find(key);
      if (found == storages_.end()) Fail("{}: has no storage {}", where_, key);
      return found->second;
    };
    return StateDict(std::move(object), storage, false, where_).Read();
  }

 private:
  Pickle Next() {
    Pickle pickle = ParsePickle(data_ + at_, size_ - at_, where_);
    at_ += pickle.bytes;
    return pickle;
  }

  // A list of keys, then for each its number of elements and their bytes.
  void ReadStorages(const Pickle& object) {
    std::map<std::string_view, uint32_t> widths;
    for (const PickleValue& value : object.values) {
      if (value.kind != PickleKind::kReference) continue;
      const TorchReference reference = ReferenceOf(object, value, where_);
      widths[reference.key] = reference.element_bytes;
    }
    const Pickle keys = Next();
    for (const uint32_t item : keys.At(keys.root).items) {
      const PickleValue& key = keys.At(item);
      const auto width = widths.find(key.text);
      if (key.kind != PickleKind::kText || width == widths.end()) {
        Fail("{}: storage {} is not used by a tensor", where_, std::string(key.text));
      }
      if (size_ - at_ < 8) Cut(key);
      uint64_t count = 0;
      for (size_t i = 0; i < 8; ++i) count |= uint64_t{data_[at_ + i]} << 8 * i;
      at_ += 8;
      if (count > (size_ - at_) / width->second) Cut(key);
      storages_[std::string(key.text)] = {data_ + at_, count * width->second};
      at_ += count * width->second;
    }
  }
  [[noreturn]] void Cut(const PickleValue& key) const {
    Fail("{}: storage {} is outside the file; the file may be cut", where_, std::string(key.text));
  }

  const uint8_t* data_;
  const uint64_t size_;
  const std::string& where_;
  uint64_t at_ = 0;
  std::map<std::string, TorchStorage> storages_;
};

}  // namespace

uint64_t TorchTensor::count() const {
  uint64_t count = 1;
  for (const uint64_t dimension : shape) count *= dimension;
  return count;
}

TorchEntries ParseTorch(const uint8_t* data, uint64_t size, const std::string& where) {
  if (IsZip(data, size)) return ParseZipForm(data, size, where);
  if (size >= 2 && data[0] == 0x80) return LegacyForm(data, size, where).Read();
  const bool tar = size > 262 && memcmp(data + 257, "ustar", 5) == 0;
  if (tar) Fail("{}: is a tar file, as torch wrote before version 0.2; load and save it with a later one", where);
  Fail("{}: is not a file of torch.save", where);
}

std::vector<float> ToFloats(const TorchTensor& tensor) {
  const uint32_t width = ElementBytes(tensor.type);
  StoredTensor stored = {tensor.type, tensor.shape, tensor.data, tensor.count() * width};
  uint64_t expected = 1;
  bool in_order = !tensor.swapped || width == 1;
  for (size_t i = tensor.shape.size(); i > 0; --i) {
    if (tensor.shape[i - 1] != 1 && tensor.strides[i - 1] != expected) in_order = false;
    expected *= tensor.shape[i - 1];
  }
  if (in_order || stored.bytes == 0) return ToFloats(stored);
  std::vector<uint8_t> bytes(stored.bytes);
  std::vector<uint64_t> index(tensor.shape.size());
  uint64_t from = 0;  // in elements
  for (uint64_t to = 0; to < stored.bytes; to += width) {
    memcpy(&bytes[to], tensor.data + from * width, width);
    if (tensor.swapped) std::reverse(&bytes[to], &bytes[to] + width);
    for (size_t i = index.size(); i > 0; --i) {
      from += tensor.strides[i - 1];
      if (++index[i - 1] < tensor.shape[i - 1]) break;
      from -= tensor.shape[i - 1] * tensor.strides[i - 1];
      index[i - 1] = 0;
    }
  }
  stored.data = bytes.data();
  return ToFloats(stored);
}

TorchReader::TorchReader(const std::string& path)
    : file_(path), entries_(ParseTorch(file_.data(), file_.size(), path)) {}

void TorchReader::Forget(const TorchTensor& tensor) const {
  uint64_t last = 0;
  for (size_t i = 0; i < tensor.shape.size(); ++i) last += (tensor.shape[i] - 1) * tensor.strides[i];
  if (tensor.count() != 0) file_.Forget(tensor.data, (last + 1) * ElementBytes(tensor.type));
}

}  // namespace fovea::tools
