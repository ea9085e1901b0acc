// Reads GGUF: counts, metadata, a list of tensors, then their data.
#include "tools/gguf/gguf.h"

#include <string.h>

#include <algorithm>

#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

constexpr uint32_t kMagic = 0x46554747;  // "GGUF"
constexpr uint32_t kOldest = 2, kNewest = 3;
constexpr uint64_t kMaxKey = 65535, kMaxName = 64, kDefaultAlignment = 32, kMaxAlignment = 1 << 20;
constexpr uint32_t kMaxRank = 4;
constexpr int kMaxNesting = 4;

// Types of metadata values, by their numbers in the file.
enum ValueType : uint32_t {
  kUint8,
  kInt8,
  kUint16,
  kInt16,
  kUint32,
  kInt32,
  kFloat32,
  kBool,
  kString,
  kArray,
  kUint64,
  kInt64,
  kFloat64
};

struct TypeInfo {
  uint32_t number;
  const char* name;
  GgufBlock block;  // 0 elements: known by name only
};
// Those with three numbers were layouts for one kind of machine, which the format no longer has.
constexpr TypeInfo kTypes[] = {
    {0, "F32", {1, 4}},         {1, "F16", {1, 2}},         {2, "Q4_0", {32, 18}},      {3, "Q4_1", {32, 20}},
    {4, "Q4_2", {0, 0}},        {5, "Q4_3", {0, 0}},        {6, "Q5_0", {32, 22}},      {7, "Q5_1", {32, 24}},
    {8, "Q8_0", {32, 34}},      {9, "Q8_1", {32, 36}},      {10, "Q2_K", {256, 84}},    {11, "Q3_K", {256, 110}},
    {12, "Q4_K", {256, 144}},   {13, "Q5_K", {256, 176}},   {14, "Q6_K", {256, 210}},   {15, "Q8_K", {256, 292}},
    {16, "IQ2_XXS", {0, 0}},    {17, "IQ2_XS", {0, 0}},     {18, "IQ3_XXS", {0, 0}},    {19, "IQ1_S", {0, 0}},
    {20, "IQ4_NL", {32, 18}},   {21, "IQ3_S", {0, 0}},      {22, "IQ2_S", {0, 0}},      {23, "IQ4_XS", {256, 136}},
    {24, "I8", {0, 0}},         {25, "I16", {0, 0}},        {26, "I32", {0, 0}},        {27, "I64", {0, 0}},
    {28, "F64", {1, 8}},        {29, "IQ1_M", {0, 0}},      {30, "BF16", {1, 2}},       {31, "Q4_0_4_4", {0, 0}},
    {32, "Q4_0_4_8", {0, 0}},   {33, "Q4_0_8_8", {0, 0}},   {34, "TQ1_0", {256, 54}},   {35, "TQ2_0", {256, 66}},
    {36, "IQ4_NL_4_4", {0, 0}}, {37, "IQ4_NL_4_8", {0, 0}}, {38, "IQ4_NL_8_8", {0, 0}}, {39, "MXFP4", {32, 17}},
    {40, "NVFP4", {0, 0}},      {41, "Q1_0", {0, 0}},
};

const TypeInfo* InfoOf(uint32_t number) {
  const auto found =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](const TypeInfo& i) { return i.number == number; });
  return found == std::end(kTypes) ? nullptr : found;
}

class Parser {
 public:
  Parser(const uint8_t* data, uint64_t size, const std::string& where) : data_(data), size_(size), where_(where) {}

  GgufContent Run() {
    if (size_ < 4 || Take<uint32_t>("header") != kMagic) Fail("{}: not a GGUF file", where_);
    const auto version = Take<uint32_t>("header");
    if (version == __builtin_bswap32(kOldest) || version == __builtin_bswap32(kNewest)) {
      Fail("{}: its numbers are big-endian, which is not supported", where_);
    }
    if (version < kOldest || version > kNewest) {
      Fail("{}: GGUF version {} is not supported; supported are {} and {}", where_, version, kOldest, kNewest);
    }
    const auto tensors = Take<uint64_t>("header"), values = Take<uint64_t>("header");
    for (uint64_t i = 0; i < values; ++i) ReadEntry();
    // The start of the data is known only after the whole list.
    std::vector<std::pair<std::string, uint64_t>> offsets;
    for (uint64_t i = 0; i < tensors; ++i) offsets.push_back(ReadTensor());
    const uint64_t alignment = Alignment();
    if (!offsets.empty()) Place(offsets, alignment);
    return std::move(content_);
  }

 private:
  // `what`: the part being read, for the message if the file ends in it.
  const uint8_t* TakeBytes(uint64_t bytes, const std::string& what) {
    if (bytes > size_ - at_) Fail("{}: {}: the file ends in it, after {} bytes", where_, what, size_);
    at_ += bytes;
    return data_ + (at_ - bytes);
  }
  template <typename T>
  T Take(const std::string& what) {
    T value;
    memcpy(&value, TakeBytes(sizeof(T), what), sizeof(T));
    return value;
  }
  std::string TakeString(uint64_t most, const std::string& what) {
    const auto length = Take<uint64_t>(what);
    if (length > most) Fail("{}: {}: a string of {} bytes, more than {}", where_, what, length, most);
    return {reinterpret_cast<const char*>(TakeBytes(length, what)), static_cast<size_t>(length)};
  }

  void ReadEntry() {
    const std::string key = TakeString(kMaxKey, fmt::format("key {} of the metadata", content_.metadata.size()));
    if (content_.metadata.contains(key)) Fail("{}: {} occurs twice", where_, key);
    const auto type = Take<uint32_t>(key);
    content_.metadata[key] = ReadValue(type, key, 0);
  }

  Json ReadValue(uint32_t type, const std::string& key, int depth) {
    switch (type) {
      case kUint8:
        return Take<uint8_t>(key);
      case kInt8:
        return Take<int8_t>(key);
      case kUint16:
        return Take<uint16_t>(key);
      case kInt16:
        return Take<int16_t>(key);
      case kUint32:
        return Take<uint32_t>(key);
      case kInt32:
        return Take<int32_t>(key);
      case kFloat32:
        return Take<float>(key);
      case kBool: {
        const auto value = Take<uint8_t>(key);
        if (value > 1) Fail("{}: {}: {} is neither true nor false", where_, key, value);
        return value == 1;
      }
      case kString:
        return TakeString(kMaxJsonBytes, key);
      case kUint64:
        return Take<uint64_t>(key);
      case kInt64:
        return Take<int64_t>(key);
      case kFloat64:
        return Take<double>(key);
      case kArray:
        return ReadArray(key, depth + 1);
      default:
        Fail("{}: {}: unknown value type {}", where_, key, type);
    }
  }

  // Each element takes bytes of the file, so the file size limits the memory regardless of the stated count.
  Json ReadArray(const std::string& key, int depth) {
    if (depth > kMaxNesting) Fail("{}: {}: arrays nested more than {} deep", where_, key, kMaxNesting);
    const auto type = Take<uint32_t>(key);
    const auto count = Take<uint64_t>(key);
    if (count > size_ - at_) Fail("{}: {}: {} elements in a file of {} bytes", where_, key, count, size_);
    Json array = Json::array();
    for (uint64_t i = 0; i < count; ++i) array.push_back(ReadValue(type, key, depth));
    return array;
  }

  // Reads an entry of the list: the name, and the offset in the data.
  std::pair<std::string, uint64_t> ReadTensor() {
    const std::string name = TakeString(kMaxName, fmt::format("name of tensor {}", content_.tensors.size()));
    const std::string what = "tensor " + name;
    const auto added = content_.tensors.emplace(name, GgufTensor());
    if (!added.second) Fail("{}: {} occurs twice", where_, what);
    GgufTensor& tensor = added.first->second;
    const auto rank = Take<uint32_t>(what);
    if (rank > kMaxRank) Fail("{}: {}: {} dimensions, more than {}", where_, what, rank, kMaxRank);
    for (uint32_t i = 0; i < rank; ++i) tensor.shape.insert(tensor.shape.begin(), Take<uint64_t>(what));
    const auto type = Take<uint32_t>(what);
    const TypeInfo* info = InfoOf(type);
    if (info == nullptr) Fail("{}: {}: unknown element type {}", where_, what, type);
    if (info->block.elements == 0) {
      Fail("{}: {}: elements of type {} are not supported; use another file of the model, such as Q4_K_M or Q8_0",
           where_, what, info->name);
    }
    tensor.type = static_cast<GgufType>(type);
    const uint64_t width = tensor.shape.empty() ? 1 : tensor.shape.back();
    if (width % info->block.elements != 0) {
      Fail("{}: {}: rows of {} elements are not whole blocks of {}", where_, what, width, info->name);
    }
    uint64_t elements = 1;
    for (uint64_t dimension : tensor.shape) {
      if (__builtin_mul_overflow(elements, dimension, &elements)) Fail("{}: {}: is too large", where_, what);
    }
    if (__builtin_mul_overflow(elements / info->block.elements, info->block.bytes, &tensor.bytes)) {
      Fail("{}: {}: is too large", where_, what);
    }
    return {name, Take<uint64_t>(what)};
  }

  uint64_t Alignment() const {
    const std::string key = "general.alignment";
    if (!content_.metadata.contains(key)) return kDefaultAlignment;
    const auto alignment = static_cast<uint64_t>(
        WholeNumber(content_.metadata[key], where_ + ": " + key, {8, static_cast<int64_t>(kMaxAlignment)}));
    if ((alignment & (alignment - 1)) != 0) Fail("{}: {}: {} is not a power of two", where_, key, alignment);
    return alignment;
  }

  void Place(const std::vector<std::pair<std::string, uint64_t>>& offsets, uint64_t alignment) {
    TakeBytes((alignment - at_ % alignment) % alignment, "list of tensors");
    const uint64_t begin = at_, all = size_ - at_;
    std::vector<std::pair<uint64_t, const GgufTensors::value_type*>> order;
    for (const auto& [name, offset] : offsets) {
      const auto found = content_.tensors.find(name);
      GgufTensor& tensor = found->second;
      if (offset % alignment != 0)
        Fail("{}: tensor {}: offset {} is not a multiple of {}", where_, name, offset, alignment);
      if (offset > all || tensor.bytes > all - offset) {
        Fail("{}: tensor {}: {} bytes from {} on are outside the {} bytes of data", where_, name, tensor.bytes, offset,
             all);
      }
      tensor.data = data_ + begin + offset;
      if (tensor.bytes != 0) order.emplace_back(offset, &*found);
    }
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (size_t i = 1; i < order.size(); ++i) {
      if (order[i - 1].first + order[i - 1].second->second.bytes > order[i].first) {
        Fail("{}: tensors {} and {} overlap", where_, order[i - 1].second->first, order[i].second->first);
      }
    }
  }

  const uint8_t* const data_;
  const uint64_t size_;
  const std::string where_;
  uint64_t at_ = 0;
  GgufContent content_;
};

}  // namespace

const char* GgufTypeName(GgufType type) { return InfoOf(static_cast<uint32_t>(type))->name; }
GgufBlock BlockOf(GgufType type) { return InfoOf(static_cast<uint32_t>(type))->block; }

GgufContent ParseGguf(const uint8_t* data, uint64_t size, const std::string& where) {
  return Parser(data, size, where).Run();
}

}  // namespace fovea::tools
