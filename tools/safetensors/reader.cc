// Reads safetensors: a u64 header size, a JSON header, then the data. The file is not trusted.
#include <string.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "tools/base/fail.h"
#include "tools/base/float8.h"
#include "tools/base/half.h"
#include "tools/base/json.h"
#include "tools/base/utf8_path.h"
#include "tools/safetensors/safetensors.h"

namespace fovea::tools {
namespace {

constexpr uint64_t kMaxHeader = 100'000'000;
constexpr size_t kMaxRank = 16;

struct TypeInfo {
  ElementType type;
  const char* name;
  uint32_t bytes;
};
constexpr TypeInfo kTypes[] = {
    {ElementType::kF64, "F64", 8},        {ElementType::kF32, "F32", 4},        {ElementType::kF16, "F16", 2},
    {ElementType::kBF16, "BF16", 2},      {ElementType::kF8E4M3, "F8_E4M3", 1}, {ElementType::kF8E5M2, "F8_E5M2", 1},
    {ElementType::kF8E8M0, "F8_E8M0", 1}, {ElementType::kI64, "I64", 8},        {ElementType::kI32, "I32", 4},
    {ElementType::kI16, "I16", 2},        {ElementType::kI8, "I8", 1},          {ElementType::kU64, "U64", 8},
    {ElementType::kU32, "U32", 4},        {ElementType::kU16, "U16", 2},        {ElementType::kU8, "U8", 1},
    {ElementType::kBool, "BOOL", 1},
};

const TypeInfo& Info(ElementType type) {
  return *std::find_if(std::begin(kTypes), std::end(kTypes), [&](const TypeInfo& i) { return i.type == type; });
}

std::string SupportedTypes() {
  std::string names;
  for (const TypeInfo& info : kTypes) names += fmt::format("{}{}", names.empty() ? "" : ", ", info.name);
  return names + " are";
}

Json ParseHeader(const uint8_t* begin, uint64_t size, const std::string& where) {
  Json header = ParseJson({reinterpret_cast<const char*>(begin), static_cast<size_t>(size)}, where + ": header");
  if (!header.is_object()) Fail("{}: header is not a JSON object", where);
  return header;
}

StoredTensor ParseEntry(const std::string& name, const Json& entry, const uint8_t* data, uint64_t size,
                        const std::string& where) {
  constexpr WholeRange kAny = {0, INT64_MAX};
  const auto part = [&](const char* key) { return fmt::format("{}: tensor {}: {}", where, name, key); };
  if (!entry.is_object() || !entry.contains("dtype") || !entry.contains("shape") || !entry.contains("data_offsets") ||
      !entry["dtype"].is_string() || !entry["shape"].is_array() || !entry["data_offsets"].is_array() ||
      entry["data_offsets"].size() != 2) {
    Fail("{}: tensor {}: needs dtype, shape and two data_offsets", where, name);
  }
  StoredTensor tensor;
  const std::string type = entry["dtype"];
  const auto info =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](const TypeInfo& i) { return type == i.name; });
  if (info == std::end(kTypes))
    Fail("{}: tensor {}: element type {} is not supported; {}", where, name, type, SupportedTypes());
  tensor.type = info->type;

  const uint64_t begin = static_cast<uint64_t>(WholeNumber(entry["data_offsets"][0], part("data_offsets"), kAny));
  const uint64_t end = static_cast<uint64_t>(WholeNumber(entry["data_offsets"][1], part("data_offsets"), kAny));
  if (begin > end || end > size) {
    Fail("{}: tensor {}: bytes {} to {} are outside the {} bytes of data", where, name, begin, end, size);
  }
  if (entry["shape"].size() > kMaxRank) Fail("{}: tensor {}: more than {} dimensions", where, name, kMaxRank);
  uint64_t bytes = info->bytes;
  for (const Json& dimension : entry["shape"]) {
    tensor.shape.push_back(static_cast<uint64_t>(WholeNumber(dimension, part("shape"), kAny)));
    if (__builtin_mul_overflow(bytes, tensor.shape.back(), &bytes)) bytes = UINT64_MAX;
  }
  if (bytes != end - begin) {
    Fail("{}: tensor {}: {} {} does not take {} bytes", where, name, type, ShapeText(tensor.shape), end - begin);
  }
  tensor.data = data + begin;
  tensor.bytes = bytes;
  return tensor;
}

template <typename T>
T Load(const uint8_t* data) {
  T value;
  memcpy(&value, data, sizeof(T));
  return value;
}

// Calls `use` with element i in its stored type.
template <typename Use>
void ForEach(const StoredTensor& tensor, const Use& use) {
  const uint64_t count = tensor.count();
  const uint8_t* p = tensor.data;
  switch (tensor.type) {
    case ElementType::kF64:
      for (uint64_t i = 0; i < count; ++i) use(i, Load<double>(p + 8 * i));
      break;
    case ElementType::kF32:
      for (uint64_t i = 0; i < count; ++i) use(i, Load<float>(p + 4 * i));
      break;
    case ElementType::kF16:
      for (uint64_t i = 0; i < count; ++i) use(i, FromHalf(Load<uint16_t>(p + 2 * i)));
      break;
    case ElementType::kBF16:
      for (uint64_t i = 0; i < count; ++i) use(i, FromBf16(Load<uint16_t>(p + 2 * i)));
      break;
    case ElementType::kF8E4M3:
      for (uint64_t i = 0; i < count; ++i) use(i, FromE4M3(p[i]));
      break;
    case ElementType::kF8E5M2:
      for (uint64_t i = 0; i < count; ++i) use(i, FromE5M2(p[i]));
      break;
    case ElementType::kF8E8M0:
      for (uint64_t i = 0; i < count; ++i) use(i, FromE8M0(p[i]));
      break;
    case ElementType::kI64:
      for (uint64_t i = 0; i < count; ++i) use(i, Load<int64_t>(p + 8 * i));
      break;
    case ElementType::kI32:
      for (uint64_t i = 0; i < count; ++i) use(i, Load<int32_t>(p + 4 * i));
      break;
    case ElementType::kI16:
      for (uint64_t i = 0; i < count; ++i) use(i, Load<int16_t>(p + 2 * i));
      break;
    case ElementType::kU32:
      for (uint64_t i = 0; i < count; ++i) use(i, Load<uint32_t>(p + 4 * i));
      break;
    case ElementType::kU16:
      for (uint64_t i = 0; i < count; ++i) use(i, Load<uint16_t>(p + 2 * i));
      break;
    case ElementType::kU8:
      for (uint64_t i = 0; i < count; ++i) use(i, p[i]);
      break;
    case ElementType::kI8:
      for (uint64_t i = 0; i < count; ++i) use(i, static_cast<int8_t>(p[i]));
      break;
    case ElementType::kBool:
      for (uint64_t i = 0; i < count; ++i) use(i, static_cast<uint8_t>(p[i] != 0));
      break;
    case ElementType::kU64:
      for (uint64_t i = 0; i < count; ++i) use(i, Load<uint64_t>(p + 8 * i));
      break;
  }
}

}  // namespace

const char* ElementName(ElementType type) { return Info(type).name; }
uint32_t ElementBytes(ElementType type) { return Info(type).bytes; }

std::vector<float> ToFloats(const StoredTensor& tensor) {
  std::vector<float> values(tensor.count());
  if (tensor.type == ElementType::kF32) {
    if (tensor.bytes != 0) memcpy(values.data(), tensor.data, tensor.bytes);
  } else {
    ForEach(tensor, [&](uint64_t i, auto value) { values[i] = static_cast<float>(value); });
  }
  return values;
}

std::vector<int64_t> ToIntegers(const StoredTensor& tensor) {
  const std::string name = ElementName(tensor.type);
  if (name[0] == 'F' || name == "BF16") Fail("expected whole numbers, found {}", name);
  std::vector<int64_t> values(tensor.count());
  ForEach(tensor, [&](uint64_t i, auto value) { values[i] = static_cast<int64_t>(value); });
  return values;
}

std::string ShapeText(const std::vector<uint64_t>& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

StoredTensors ParseSafetensors(const uint8_t* data, uint64_t size, const std::string& where) {
  if (size < 8) Fail("{}: too short for a safetensors file", where);
  const uint64_t header_size = Load<uint64_t>(data);
  if (header_size > kMaxHeader || header_size > size - 8) {
    Fail("{}: not a safetensors file: header of {} bytes in a file of {}", where, header_size, size);
  }
  const Json header = ParseHeader(data + 8, header_size, where);
  StoredTensors tensors;
  std::vector<std::pair<const uint8_t*, const StoredTensors::value_type*>> order;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    const auto at =
        tensors.emplace(name, ParseEntry(name, entry, data + 8 + header_size, size - 8 - header_size, where));
    if (at.first->second.bytes != 0) order.emplace_back(at.first->second.data, &*at.first);
  }
  std::sort(order.begin(), order.end());
  for (size_t i = 1; i < order.size(); ++i) {
    if (order[i - 1].first + order[i - 1].second->second.bytes > order[i].first) {
      Fail("{}: tensors {} and {} overlap", where, order[i - 1].second->first, order[i].second->first);
    }
  }
  return tensors;
}

SafetensorsReader::SafetensorsReader(const std::string& path) : path_(path) {
  namespace fs = std::filesystem;
  std::set<std::string> names;
  if (Utf8Path(path).extension() == ".json") {
    const Json index = ReadJson(path);
    for (const auto& [tensor, file] : JsonView(index, path)["weight_map"].Object().items()) {
      names.insert(Text(file, fmt::format("{}: weight_map.{}", path, tensor)));
    }
    for (const std::string& name : names) {
      if (name.find('/') != std::string::npos) Fail("{}: {} is not a file beside it", path, name);
    }
  } else {
    names.insert(Utf8Path(path).filename().string());
  }
  for (const std::string& name : names) {
    const std::string file = (Utf8Path(path).parent_path() / name).string();
    if (names.size() > 1 && !fs::exists(Utf8Path(file)))
      Fail("{}: lists {}, which is not beside it; download it", path, name);
    files_.push_back(std::make_unique<MappedFile>(file));
    for (auto& [tensor, stored] : ParseSafetensors(files_.back()->data(), files_.back()->size(), file)) {
      if (!tensors_.emplace(tensor, stored).second) Fail("{}: tensor {} is in two files", path, tensor);
    }
  }
}

const StoredTensor* SafetensorsReader::Find(const std::string& name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

const StoredTensor& SafetensorsReader::Get(const std::string& name) const {
  const StoredTensor* tensor = Find(name);
  if (tensor == nullptr) Fail("{}: no tensor {}", path_, name);
  return *tensor;
}

void SafetensorsReader::Forget(const StoredTensor& tensor) const {
  for (const auto& file : files_) {
    if (file->Forget(tensor.data, tensor.bytes)) return;
  }
}

}  // namespace fovea::tools
