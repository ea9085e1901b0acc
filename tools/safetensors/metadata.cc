// The metadata in the header of a safetensors file.
#include "tools/safetensors/metadata.h"

#include <string.h>

#include <nlohmann/json.hpp>

#include "tools/base/fail.h"
#include "tools/base/json.h"

namespace fovea::tools {
namespace {

uint64_t HeaderSize(const uint8_t* data, uint64_t size, const std::string& where) {
  uint64_t header = 0;
  if (size >= 8) memcpy(&header, data, 8);
  if (size < 8 || header > size - 8 || header > kMaxJsonBytes) Fail("{}: not a safetensors file", where);
  return header;
}

}  // namespace

SafetensorsMetadata ParseSafetensorsMetadata(const uint8_t* data, uint64_t size, const std::string& where) {
  const auto bytes = static_cast<size_t>(HeaderSize(data, size, where));
  const Json header = ParseJson({reinterpret_cast<const char*>(data) + 8, bytes}, where + ": header");
  SafetensorsMetadata metadata;
  const JsonView entries = JsonView(header, where)["__metadata__"];
  if (entries.IsNull()) return metadata;
  for (const auto& [key, value] : entries.Object().items()) metadata[key] = Text(value, entries.name() + "." + key);
  return metadata;
}

std::string WithMetadata(const std::string& file, const std::vector<std::pair<std::string, std::string>>& metadata) {
  const auto bytes =
      static_cast<size_t>(HeaderSize(reinterpret_cast<const uint8_t*>(file.data()), file.size(), "file"));
  nlohmann::ordered_json header = nlohmann::ordered_json::parse(file.substr(8, bytes));
  for (const auto& [key, value] : metadata) header["__metadata__"][key] = value;
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const uint64_t size = text.size();
  std::string made(reinterpret_cast<const char*>(&size), 8);
  made += text;
  return made.append(file, 8 + bytes, std::string::npos);
}

}  // namespace fovea::tools
