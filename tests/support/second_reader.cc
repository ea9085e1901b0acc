// A second reader of blobs. Constants are written as numbers, as in the specification.
#include "tests/support/second_reader.h"

#include <string.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace fovea::test {
namespace {

class Reader {
 public:
  explicit Reader(const std::vector<uint8_t>& bytes) : bytes_(bytes) {}

  ReadBlob Run() {
    Header();
    Metadata();
    Spaces();
    Tensors();
    Programs();
    if (const ReadSection* text = Find(10)) {
      blob_.text.assign(bytes_.begin() + static_cast<ptrdiff_t>(text->offset),
                        bytes_.begin() + static_cast<ptrdiff_t>(text->offset + text->size));
    }
    return std::move(blob_);
  }

 private:
  static void Need(bool holds, const char* what) {
    if (!holds) throw std::runtime_error(what);
  }
  uint64_t Number(uint64_t at, int bytes) const {
    Need(at + static_cast<uint64_t>(bytes) <= bytes_.size(), "a number is outside");
    uint64_t value = 0;
    for (int i = bytes - 1; i >= 0; --i) value = value << 8 | bytes_[at + static_cast<uint64_t>(i)];
    return value;
  }
  uint32_t U32(uint64_t at) const { return static_cast<uint32_t>(Number(at, 4)); }
  uint64_t U64(uint64_t at) const { return Number(at, 8); }

  const ReadSection* Find(uint32_t kind) const {
    for (const ReadSection& section : blob_.sections) {
      if (section.kind == kind) return &section;
    }
    return nullptr;
  }
  // Offset of record `index`, of `bytes` bytes each, and the number of records.
  uint64_t Record(uint32_t kind, uint64_t index, uint64_t bytes) const {
    Need(index < Count(kind, bytes), "a record is outside its section");
    return Find(kind)->offset + index * bytes;
  }
  uint64_t Count(uint32_t kind, uint64_t bytes) const {
    const ReadSection* section = Find(kind);
    if (section == nullptr) return 0;
    Need(section->size % bytes == 0, "a section holds no whole number of records");
    return section->size / bytes;
  }
  std::string String(uint32_t offset) const {
    const ReadSection* strings = Find(1);
    Need(strings != nullptr && offset < strings->size, "a string is outside");
    return reinterpret_cast<const char*>(bytes_.data() + strings->offset + offset);
  }

  void Header() {
    Need(bytes_.size() >= 64 && memcmp(bytes_.data(), "FOVEABLB", 8) == 0, "no magic");
    blob_.version = U32(8);
    blob_.size = U64(16);
    blob_.checksum = U64(24);
    for (uint64_t i = 32; i < 64; ++i) Need(bytes_[i] == 0, "the header's end is not zero");
    const uint32_t count = U32(12);
    std::vector<bool> covered(bytes_.size());
    const auto cover = [&](uint64_t offset, uint64_t size) {
      for (uint64_t i = offset; i < offset + size; ++i) {
        Need(!covered[i], "sections overlap");
        covered[i] = true;
      }
    };
    cover(0, 64 + 32 * uint64_t{count});
    for (uint32_t i = 0; i < count; ++i) {
      const uint64_t at = 64 + 32 * uint64_t{i};
      blob_.sections.push_back({U32(at), U64(at + 8), U64(at + 16), U64(at + 24)});
      const ReadSection& section = blob_.sections.back();
      Need(U32(at + 4) == 0 && section.offset % 64 == 0 && section.offset + section.size <= bytes_.size(),
           "a section record is wrong");
      cover(section.offset, section.size);
    }
    for (uint64_t i = 0; i < bytes_.size(); ++i) Need(covered[i] || bytes_[i] == 0, "padding is not zero");
    for (uint32_t kind : {1, 3, 5, 6, 7, 8, 11}) Need(Find(kind) != nullptr, "a section is missing");
    const ReadSection* strings = Find(1);
    Need(strings->size > 0 && bytes_[strings->offset + strings->size - 1] == 0, "the last string has no end");
  }

  void Metadata() {
    for (uint64_t i = 0; i < Count(2, 8); ++i) {
      const uint64_t at = Record(2, i, 8);
      blob_.metadata[String(U32(at))] = String(U32(at + 4));
    }
  }

  void Spaces() {
    for (uint64_t i = 0; i < Count(3, 24); ++i) {
      const uint64_t at = Record(3, i, 24);
      blob_.spaces.push_back({String(U32(at)), U32(at + 4), U32(at + 8), U32(at + 12), U32(at + 16),
                              U32(at + 20) & 0xffff, U32(at + 20) >> 16});
    }
  }

  void Tensors() {
    const ReadSection* weights = Find(11);
    for (uint64_t i = 0; i < Count(4, 32); ++i) {
      const uint64_t at = Record(4, i, 32);
      ReadTensor tensor;
      tensor.name = String(U32(at));
      tensor.type = U32(at + 4);
      tensor.rows = U32(at + 8);
      tensor.width = U32(at + 12);
      tensor.data = U64(at + 16);
      tensor.scales = U64(at + 24);
      Need(tensor.data % 64 == 0 && tensor.scales % 64 == 0, "tensor data is not aligned");
      for (uint64_t r = 0; r < tensor.rows; ++r) {
        for (uint64_t c = 0; c < tensor.width; ++c) {
          tensor.values.push_back(
              Element(tensor, weights->offset + tensor.data, weights->offset + tensor.scales, r, c));
        }
      }
      blob_.tensors.push_back(std::move(tensor));
    }
  }

  float Element(const ReadTensor& tensor, uint64_t data, uint64_t scales, uint64_t row, uint64_t column) const {
    const uint64_t index = row * tensor.width + column;
    switch (tensor.type) {
      case 0:
        return Float(U32(data + 4 * index));
      case 1:
        return Half(static_cast<uint32_t>(Number(data + 2 * index, 2)));
      case 2:
        return static_cast<float>(static_cast<int8_t>(Number(data + index, 1))) * Float(U32(scales + 4 * row));
      case 3: {
        Need(tensor.width % 32 == 0, "an int4 row has no whole number of blocks");
        const auto pair = static_cast<int>(Number(data + index / 2, 1));
        const int q = index % 2 == 0 ? pair % 16 : pair / 16;
        return static_cast<float>(q - 8) * Float(static_cast<uint32_t>(Number(scales + index / 32 * 2, 2)) << 16);
      }
      case 4:
        return static_cast<float>(static_cast<int32_t>(U32(data + 4 * index)));
      default:
        Need(false, "a tensor has no type");
        return 0;
    }
  }
  static float Float(uint32_t bits) {
    float value;
    memcpy(&value, &bits, 4);
    return value;
  }
  static float Half(uint32_t bits) {
    const float sign = (bits & 0x8000) != 0 ? -1.f : 1.f;
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    return sign * (exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                 : std::ldexp(static_cast<float>(fraction + 1024), exponent - 25));
  }

  void Programs() {
    uint64_t values = 0, operations = 0;
    for (uint64_t p = 0; p < Count(5, 24); ++p) {
      const uint64_t at = Record(5, p, 24);
      ReadProgram program;
      program.name = String(U32(at));
      Need(U32(at + 4) == values && U32(at + 12) == operations,
           "a program does not begin where the one before it ends");
      for (uint32_t i = 0; i < U32(at + 8); ++i) {
        const uint64_t v = Record(6, values + i, 24);
        const bool input = U32(v + 16) == 1;
        program.values.push_back({String(U32(v)), U32(v + 4), U32(v + 8), U32(v + 12), U32(v + 16),
                                  input ? 0 : U32(v + 20), input ? U32(v + 20) : 0});
      }
      for (uint32_t i = 0; i < U32(at + 16); ++i)
        program.operations.push_back(Operation(Record(7, operations + i, 32)));
      values += U32(at + 8);
      operations += U32(at + 16);
      CheckOrder(program);
      blob_.programs.push_back(std::move(program));
    }
    Need(values == Count(6, 24) && operations == Count(7, 32), "values or operations belong to no program");
  }

  ReadOperation Operation(uint64_t at) const {
    ReadOperation operation;
    operation.code = U32(at);
    if (U32(at + 4) != kAbsent) operation.name = String(U32(at + 4));
    operation.output = U32(at + 8);
    const uint32_t first = U32(at + 12), inputs = U32(at + 16), tensors = U32(at + 20);
    for (uint32_t i = 0; i < inputs; ++i) operation.inputs.push_back(U32(Record(8, first + i, 4)));
    for (uint32_t i = 0; i < tensors; ++i) operation.tensors.push_back(U32(Record(8, first + inputs + i, 4)));
    for (uint32_t i = 0; i < U32(at + 28); ++i) {
      const uint64_t attribute = Record(9, U32(at + 24) + i, 8);
      operation.attributes[U32(attribute)] = U32(attribute + 4);
    }
    return operation;
  }

  static void CheckOrder(const ReadProgram& program) {
    const auto inputs = static_cast<size_t>(std::count_if(program.values.begin(), program.values.end(),
                                                          [](const ReadValue& v) { return v.role % 2 == 1; }));
    for (const ReadValue& value : program.values) {
      Need(value.role == 3 ? value.carried_by < program.values.size() && program.values[value.carried_by].role == 2
                           : value.carried_by == 0,
           "a value is carried by no output");
      Need(value.role == 1 && value.type == 2 ? value.parts != 0 && value.width % value.parts == 0 : value.parts == 0,
           "an input of int8 has no scales, or another has");
    }
    Need(inputs + program.operations.size() == program.values.size(), "a value is made by no operation");
    for (size_t i = 0; i < program.operations.size(); ++i) {
      Need(program.operations[i].output == inputs + i, "an operation does not write the next value");
      for (uint32_t input : program.operations[i].inputs) Need(input < inputs + i, "an operation reads ahead");
    }
  }

  const std::vector<uint8_t>& bytes_;
  ReadBlob blob_;
};

}  // namespace

ReadBlob SecondReader(const std::vector<uint8_t>& bytes) { return Reader(bytes).Run(); }

}  // namespace fovea::test
