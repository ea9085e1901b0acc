#include "tools/vectors/vector_index.h"

#include <stdlib.h>
#include <string.h>

#include "tools/base/fail.h"
#include "tools/base/lines.h"

namespace fovea::tools {
namespace {

constexpr char kNumpy[] = "\x93NUMPY";
constexpr uint64_t kMostWidth = 1 << 20;

// The text after 'key': in a NumPy header, which is a Python dictionary.
std::string After(const std::string& header, const char* key, const std::string& path) {
  const size_t at = header.find(std::string("'") + key + "':");
  if (at == std::string::npos) Fail("{}: the NumPy header has no '{}'", path, key);
  size_t begin = at + strlen(key) + 3;
  while (begin < header.size() && header[begin] == ' ') ++begin;
  return header.substr(begin);
}

}  // namespace

VectorIndex::VectorIndex(const std::string& path, const std::string& lines)
    : path_(path), file_(std::make_unique<MappedFile>(path)) {
  if (file_->size() >= 10 && memcmp(file_->data(), kNumpy, 6) == 0) {
    ReadNumpy();
  } else {
    ReadSafetensors();
  }
  if (!lines.empty()) ReadLinesFile(lines);
}

void VectorIndex::ReadNumpy() {
  const uint8_t* data = file_->data();
  const bool is_long = data[6] > 1;
  uint64_t size = data[8] | data[9] << 8;
  if (is_long && file_->size() >= 12)
    size |= static_cast<uint64_t>(data[10]) << 16 | static_cast<uint64_t>(data[11]) << 24;
  const uint64_t begin = (is_long ? 12 : 10) + size;
  if (begin > file_->size()) Fail("{}: the NumPy header ends after the file", path_);
  const std::string header(reinterpret_cast<const char*>(data) + (is_long ? 12 : 10), static_cast<size_t>(size));
  if (After(header, "descr", path_).rfind("'<f4'", 0) != 0 ||
      After(header, "fortran_order", path_).rfind("False", 0) != 0) {
    Fail("{}: an index is an array of f32, row by row (descr '<f4', fortran_order False)", path_);
  }
  const std::string shape = After(header, "shape", path_);
  char* end = nullptr;
  rows_ = shape[0] == '(' ? strtoull(shape.c_str() + 1, &end, 10) : 0;
  const uint64_t width = end != nullptr && end[0] == ',' && end[1] == ' ' ? strtoull(end + 2, &end, 10) : 0;
  if (width == 0 || width > kMostWidth || *end != ')') {
    Fail("{}: an index has the shape (texts, width), not {}", path_, shape.substr(0, shape.find(')') + 1));
  }
  if (rows_ != (file_->size() - begin) / 4 / width || (file_->size() - begin) % (4 * width) != 0) {
    Fail("{}: {} bytes of data, but the shape is ({}, {})", path_, file_->size() - begin, rows_, width);
  }
  width_ = static_cast<uint32_t>(width);
  texts_ = rows_;
  vectors_ = data + begin;
}

void VectorIndex::ReadSafetensors() {
  if (file_->size() != 0 && file_->data()[0] == '{') {
    Fail("{}: JSON Lines cannot be searched; 'fovea embed -o FILE.safetensors' writes an index", path_);
  }
  const StoredTensors tensors = ParseSafetensors(file_->data(), file_->size(), path_);
  metadata_ = ParseSafetensorsMetadata(file_->data(), file_->size(), path_);
  const auto find = [&](const char* name) {
    const auto found = tensors.find(name);
    return found == tensors.end() ? nullptr : &found->second;
  };
  const StoredTensor* embeddings = find("embeddings");
  if (embeddings == nullptr) Fail("{}: has no tensor 'embeddings'; fovea embed --output writes an index", path_);
  type_ = embeddings->type;
  const std::vector<uint64_t>& shape = embeddings->shape;
  const bool known = type_ == ElementType::kF32 || type_ == ElementType::kI8;
  if (!known || shape.size() != 2 || shape[1] == 0 || shape[1] > kMostWidth) {
    Fail("{}: embeddings are {} {}; f32 or int8 [rows, width] is needed", path_, ElementName(type_), ShapeText(shape));
  }
  rows_ = shape[0];
  width_ = static_cast<uint32_t>(shape[1]);
  vectors_ = embeddings->data;
  texts_ = rows_;
  if (int8()) {
    const StoredTensor* scales = find("scales");
    if (scales == nullptr || scales->type != ElementType::kF32 || scales->count() != rows_) {
      Fail("{}: int8 embeddings need scales, f32 [{}]", path_, rows_);
    }
    scales_ = scales->data;
  }
  if (const StoredTensor* offsets = find("row_offsets")) {
    CheckOffsets(*offsets, "row_offsets", rows_);
    row_offsets_ = offsets->data;
    texts_ = offsets->count() - 1;
    of_tokens_ = true;
  }
  const StoredTensor *text = find("text"), *offsets = find("text_offsets");
  if (text == nullptr || offsets == nullptr) return;
  CheckOffsets(*offsets, "text_offsets", text->bytes);
  if (offsets->count() != texts_ + 1) Fail("{}: {} texts for {} vectors", path_, offsets->count() - 1, texts_);
  text_ = text->data;
  text_offsets_ = offsets->data;
}

void VectorIndex::ReadLinesFile(const std::string& lines) {
  lines_ = ReadLines(lines);
  if (lines_.size() == texts_) return;
  Fail("{}: {} lines for the {} vectors of {}; give the file that was embedded", lines, lines_.size(), texts_, path_);
}

uint64_t VectorIndex::Entry(const uint8_t* list, uint64_t index) {
  uint64_t value = 0;
  memcpy(&value, list + 8 * index, 8);
  return value;
}

void VectorIndex::CheckOffsets(const StoredTensor& offsets, const char* name, uint64_t end) const {
  const bool is_list = offsets.type == ElementType::kI64 && offsets.count() > 0;
  uint64_t last = 0;
  for (uint64_t i = 0; is_list && i < offsets.count(); ++i) {
    const uint64_t next = Entry(offsets.data, i);
    if (next < last || next > end) Fail("{}: {}: entry {} is {}, expected {} to {}", path_, name, i, next, last, end);
    last = next;
  }
  if (!is_list || last != end) Fail("{}: {}: offsets up to {} are needed, as i64", path_, name, end);
}

std::string VectorIndex::Metadata(const std::string& key) const {
  const auto found = metadata_.find(key);
  return found == metadata_.end() ? "" : found->second;
}

const float* VectorIndex::Vectors(uint64_t text, uint32_t* rows) {
  const uint64_t begin = of_tokens_ ? Entry(row_offsets_, text) : text;
  const uint64_t end = of_tokens_ ? Entry(row_offsets_, text + 1) : text + 1;
  *rows = static_cast<uint32_t>(end - begin);
  const uint8_t* data = vectors_ + begin * width_ * ElementBytes(type_);
  if (!int8() && reinterpret_cast<uintptr_t>(data) % alignof(float) == 0) return reinterpret_cast<const float*>(data);
  const size_t count = static_cast<size_t>((end - begin) * width_);
  unpacked_.resize(count);
  if (!int8()) {
    memcpy(unpacked_.data(), data, count * sizeof(float));
    return unpacked_.data();
  }
  for (uint64_t row = begin; row < end; ++row) {
    float scale = 0;
    memcpy(&scale, scales_ + 4 * row, 4);
    const auto* from = reinterpret_cast<const int8_t*>(vectors_) + row * width_;
    float* to = unpacked_.data() + (row - begin) * width_;
    for (uint32_t i = 0; i < width_; ++i) to[i] = scale * static_cast<float>(from[i]);
  }
  return unpacked_.data();
}

std::string VectorIndex::Line(uint64_t text) const {
  if (!lines_.empty()) return lines_[text];
  if (text_ == nullptr) return "";
  const uint64_t begin = Entry(text_offsets_, text), end = Entry(text_offsets_, text + 1);
  return std::string(reinterpret_cast<const char*>(text_) + begin, static_cast<size_t>(end - begin));
}

}  // namespace fovea::tools
