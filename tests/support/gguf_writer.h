// A plain writer of GGUF files, for tests of their readers.
#ifndef FOVEA_TESTS_SUPPORT_GGUF_WRITER_H_
#define FOVEA_TESTS_SUPPORT_GGUF_WRITER_H_

#include <stddef.h>
#include <stdint.h>

#include <string>
#include <utility>
#include <vector>

namespace fovea::test {

template <typename T>
std::string Raw(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

inline std::string RawText(const std::string& text) { return Raw<uint64_t>(text.size()) + text; }

// `type`: the format's number of the element type.
struct GgufEntry {
  std::string name;
  std::vector<uint64_t> shape;  // the outermost dimension first
  uint32_t type;
  std::string bytes;
};

class GgufWriter {
 public:
  uint32_t version = 3;
  uint64_t alignment = 32;

  // A value of any type, as the bytes in the file.
  void Set(const std::string& key, uint32_t type, const std::string& bytes) {
    for (auto& [known, value] : values_) {
      if (known == key) return static_cast<void>(value = Raw(type) + bytes);
    }
    values_.emplace_back(key, Raw(type) + bytes);
  }
  void Number(const std::string& key, uint32_t value) { Set(key, 4, Raw(value)); }
  void Real(const std::string& key, float value) { Set(key, 6, Raw(value)); }
  void Flag(const std::string& key, bool value) { Set(key, 7, Raw<uint8_t>(value)); }
  void Text(const std::string& key, const std::string& value) { Set(key, 8, RawText(value)); }
  void Texts(const std::string& key, const std::vector<std::string>& list) {
    std::string bytes = Raw<uint32_t>(8) + Raw<uint64_t>(list.size());
    for (const std::string& text : list) bytes += RawText(text);
    Set(key, 9, bytes);
  }
  template <typename T>
  void List(const std::string& key, uint32_t type, const std::vector<T>& list) {
    std::string bytes = Raw(type) + Raw<uint64_t>(list.size());
    for (const T& value : list) bytes += Raw(value);
    Set(key, 9, bytes);
  }
  void Remove(const std::string& key) {
    for (size_t i = 0; i < values_.size(); ++i) {
      if (values_[i].first == key) values_.erase(values_.begin() + static_cast<ptrdiff_t>(i--));
    }
  }
  void Add(GgufEntry entry) { entries.push_back(std::move(entry)); }

  std::vector<GgufEntry> entries;

  std::string Bytes() const {
    std::string file = "GGUF" + Raw(version) + Raw<uint64_t>(entries.size()) + Raw<uint64_t>(values_.size());
    for (const auto& [key, value] : values_) file += RawText(key) + value;
    std::string data;
    for (const GgufEntry& entry : entries) {
      file += RawText(entry.name) + Raw(static_cast<uint32_t>(entry.shape.size()));
      for (size_t i = entry.shape.size(); i-- > 0;) file += Raw(entry.shape[i]);
      file += Raw(entry.type) + Raw<uint64_t>(data.size());
      data += entry.bytes;
      data.resize((data.size() + alignment - 1) / alignment * alignment);
    }
    file.resize((file.size() + alignment - 1) / alignment * alignment);
    return file + data;
  }

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

}  // namespace fovea::test

#endif  // FOVEA_TESTS_SUPPORT_GGUF_WRITER_H_
