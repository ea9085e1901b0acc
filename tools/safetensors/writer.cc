// Writes safetensors. The data, and every tensor whose size allows it, are aligned to 8 bytes.
#include <string.h>

#include <nlohmann/json.hpp>

#include "tools/base/fail.h"
#include "tools/safetensors/safetensors.h"

namespace fovea::tools {

void SafetensorsWriter::Add(const std::string& name, ElementType type, const std::vector<uint64_t>& shape,
                            const void* values) {
  for (const Entry& entry : entries_) {
    if (entry.name == name) Fail("tensor {} is added twice", name);
  }
  uint64_t bytes = ElementBytes(type);
  for (uint64_t dimension : shape) bytes *= dimension;
  entries_.push_back({name, type, shape, std::string(static_cast<const char*>(values), bytes)});
}

void SafetensorsWriter::AddFloats(const std::string& name, const std::vector<uint64_t>& shape, const float* values) {
  Add(name, ElementType::kF32, shape, values);
}

void SafetensorsWriter::AddIntegers(const std::string& name, const std::vector<uint64_t>& shape,
                                    const int64_t* values) {
  Add(name, ElementType::kI64, shape, values);
}

std::string SafetensorsWriter::Bytes() const {
  nlohmann::ordered_json header = {{"__metadata__", {{"format", "pt"}}}};
  uint64_t offset = 0;
  std::string data;
  for (const Entry& entry : entries_) {
    header[entry.name] = {{"dtype", ElementName(entry.type)},
                          {"shape", entry.shape},
                          {"data_offsets", {offset, offset + entry.bytes.size()}}};
    offset += entry.bytes.size();
    data += entry.bytes;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const uint64_t size = text.size();
  std::string bytes(reinterpret_cast<const char*>(&size), 8);
  return bytes + text + data;
}

void SafetensorsWriter::Write(const std::string& path) const {
  const std::string bytes = Bytes();
  WriteFile(path, bytes.data(), bytes.size());
}

}  // namespace fovea::tools
