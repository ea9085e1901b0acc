#include "tools/vectors/vector_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "tools/base/fail.h"
#include "tools/base/print.h"
#include "tools/base/utf8_path.h"
#include "tools/vectors/growing_file.h"

namespace fovea::tools {
namespace {

constexpr uint64_t kAlignment = 64;

// The number of rows is known at the end: the head has room for it.
class NumpyWriter : public VectorWriter {
 public:
  NumpyWriter(const VectorFile& file, std::ostream& out) : width_(file.width), file_(file.path, kHead, out) {}

  void Add(const TextVectors& text) override {
    file_.Append(text.values.data(), text.values.size() * sizeof(float));
    ++rows_;
  }

  void Finish() override {
    const std::string about =
        fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", rows_, width_);
    std::string head("\x93NUMPY\x01\x00", 8);
    const uint16_t size = kHead - 10;
    head += static_cast<char>(size & 255);
    head += static_cast<char>(size >> 8);
    head += about;
    head.resize(kHead - 1, ' ');
    file_.Finish(head + "\n");
  }

 private:
  static constexpr uint64_t kHead = 128;

  const uint32_t width_;
  uint64_t rows_ = 0;
  GrowingFile file_;
};

class SafetensorsVectors : public VectorWriter {
 public:
  SafetensorsVectors(const VectorFile& file, std::ostream& out)
      : about_(file), head_(HeadSize(file)), file_(file.path, head_, out) {
    AddOffset(0, &text_offsets_);
    AddOffset(0, &row_offsets_);
  }

  void Add(const TextVectors& text) override {
    for (uint32_t row = 0; row < text.rows; ++row) {
      const float* values = text.values.data() + size_t{row} * about_.width;
      if (!about_.int8) continue;
      quantized_.resize(about_.width);
      const float scale = QuantizeVector(values, about_.width, quantized_.data());
      file_.Append(quantized_.data(), quantized_.size());
      scales_.Append(&scale, sizeof(scale));
    }
    if (!about_.int8) file_.Append(text.values.data(), text.values.size() * sizeof(float));
    rows_ += text.rows;
    ++texts_;
    AddOffset(rows_, &row_offsets_);
    text_.Append(text.text.data(), text.text.size());
    AddOffset(text_.size(), &text_offsets_);
  }

  void Finish() override {
    OrderedJson header;
    header["__metadata__"] = Metadata(about_);
    const auto place = [&](const char* name, const char* type, const std::vector<uint64_t>& shape, uint64_t begin) {
      header[name] = {{"dtype", type}, {"shape", shape}, {"data_offsets", {begin, file_.size()}}};
    };
    const auto append = [&](const char* name, const char* type, const std::vector<uint64_t>& shape,
                            TemporaryFile& spool) {
      const uint64_t begin = file_.size();
      file_.Append(spool);
      place(name, type, shape, begin);
    };
    place("embeddings", about_.int8 ? "I8" : "F32", {rows_, about_.width}, 0);
    append("text_offsets", "I64", {texts_ + 1}, text_offsets_);
    if (about_.of_tokens) append("row_offsets", "I64", {texts_ + 1}, row_offsets_);
    if (about_.int8) append("scales", "F32", {rows_}, scales_);
    append("text", "U8", {text_.size()}, text_);
    std::string text = header.dump();
    text.resize(head_ - 8, ' ');
    const uint64_t size = text.size();
    file_.Finish(std::string(reinterpret_cast<const char*>(&size), 8) + text);
  }

 private:
  static OrderedJson Metadata(const VectorFile& file) {
    OrderedJson metadata = OrderedJson::object();
    for (const auto& [key, value] : file.metadata) metadata[key] = value;
    return metadata;
  }
  // With room for the records of all tensors.
  static uint64_t HeadSize(const VectorFile& file) {
    return (Metadata(file).dump().size() + 1024 + kAlignment) / kAlignment * kAlignment;
  }
  static void AddOffset(uint64_t offset, TemporaryFile* to) { to->Append(&offset, sizeof(offset)); }

  const VectorFile about_;
  const uint64_t head_;
  GrowingFile file_;
  TemporaryFile text_, text_offsets_, row_offsets_, scales_;
  std::vector<int8_t> quantized_;
  uint64_t rows_ = 0, texts_ = 0;
};

// Numbers have at most nine digits, which identify an f32.
class JsonLinesWriter : public VectorWriter {
 public:
  JsonLinesWriter(const VectorFile& file, std::ostream& out)
      : about_(file),
        file_(file.path == "-" ? nullptr : std::make_unique<std::ofstream>(file.path, std::ios::binary)),
        out_(file_ == nullptr ? out : *file_) {
    if (!out_) Fail("{}: cannot write", file.path);
  }

  void Add(const TextVectors& text) override {
    fmt::memory_buffer line;
    const auto list = [&](const float* values) {
      for (uint32_t i = 0; i < about_.width; ++i) {
        const bool number = std::isfinite(values[i]);
        if (number) fmt::format_to(std::back_inserter(line), "{}{}", i == 0 ? '[' : ',', values[i]);
        if (!number) fmt::format_to(std::back_inserter(line), "{}null", i == 0 ? '[' : ',');
      }
      line.push_back(']');
    };
    OrderedJson about = {{"text", text.text}};
    if (text.dropped != 0) about["dropped_tokens"] = text.dropped;
    std::string begin = JsonText(about, -1);
    begin.pop_back();
    line.append(begin);
    fmt::format_to(std::back_inserter(line), about_.of_tokens ? ",\"token_embeddings\":[" : ",\"embedding\":");
    for (uint32_t row = 0; row < text.rows; ++row) {
      if (row != 0) line.push_back(',');
      list(text.values.data() + size_t{row} * about_.width);
    }
    fmt::format_to(std::back_inserter(line), about_.of_tokens ? "]}}\n" : "}}\n");
    out_.write(line.data(), static_cast<std::streamsize>(line.size()));
  }

  void Finish() override {
    out_.flush();
    if (!out_) Fail("{}: cannot write", about_.path == "-" ? "standard output" : about_.path);
  }

 private:
  const VectorFile about_;
  std::unique_ptr<std::ofstream> file_;
  std::ostream& out_;
};

}  // namespace

VectorForm VectorFormOf(const std::string& path) {
  const std::string end = Utf8Path(path).extension().string();
  if (end == ".npy") return VectorForm::kNumpy;
  if (end == ".safetensors") return VectorForm::kSafetensors;
  if (end == ".jsonl") return VectorForm::kJsonLines;
  Fail("{}: the name must end in .npy, .safetensors or .jsonl, or --format must name one of them", path);
}

float QuantizeVector(const float* values, uint32_t width, int8_t* quantized) {
  float most = 0;
  for (uint32_t i = 0; i < width; ++i) most = std::max(most, std::abs(values[i]));
  const float scale = most / 127;
  for (uint32_t i = 0; i < width; ++i) {
    quantized[i] = static_cast<int8_t>(scale == 0 ? 0 : std::lround(std::clamp(values[i] / scale, -127.0f, 127.0f)));
  }
  return scale;
}

std::unique_ptr<VectorWriter> WriteVectors(const VectorFile& file, std::ostream& out) {
  if (file.int8 && file.form != VectorForm::kSafetensors) {
    Fail("{}: int8 vectors have scales, which only .safetensors holds; write that, or f32", file.path);
  }
  if (file.of_tokens && file.form == VectorForm::kNumpy) {
    Fail("{}: the model makes a vector for each token, so texts have different shapes; write .safetensors or .jsonl",
         file.path);
  }
  if (file.form == VectorForm::kNumpy) return std::make_unique<NumpyWriter>(file, out);
  if (file.form == VectorForm::kSafetensors) return std::make_unique<SafetensorsVectors>(file, out);
  return std::make_unique<JsonLinesWriter>(file, out);
}

}  // namespace fovea::tools
