// Shared by the readers of quantized weights: the stored parts of a layer, where its scales apply, and what is
// reported of all layers.
#ifndef FOVEA_TOOLS_CONVERT_PUBLISHED_QUANTIZED_LAYERS_H_
#define FOVEA_TOOLS_CONVERT_PUBLISHED_QUANTIZED_LAYERS_H_

#include <stdint.h>
#include <string.h>

#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tools/base/json.h"
#include "tools/convert/weights.h"

namespace fovea::tools {

// A stored tensor of a layer, or none.
struct Part {
  std::string name;
  RawTensor raw;

  explicit operator bool() const { return raw.tensor != nullptr; }
  const StoredTensor& tensor() const { return *raw.tensor; }
  ElementType type() const { return raw.tensor->type; }
  // As a matrix: the last dimension is the width, all other dimensions are rows. A scalar is [1, 1].
  uint64_t rows() const;
  uint64_t width() const;
  bool Is(uint64_t rows, uint64_t width) const { return this->rows() == rows && this->width() == width; }
  std::string Shown() const;  // "tensor a.b [4, 8]"
  // The values. The kernel may drop the file's bytes from memory.
  std::vector<float> Floats() const;
  std::vector<int64_t> Integers() const;
  void Forget() const { raw.forget(); }
};

// The scale of element (row, column) is at (row / block_rows, column / block_width) of a matrix of scales.
struct ScaleGrid {
  uint64_t width = 1;  // columns of the matrix of scales
  uint64_t block_rows = 1, block_width = 1;

  uint64_t Row(uint64_t row) const { return row / block_rows * width; }
  uint64_t At(uint64_t row, uint64_t column) const { return Row(row) + column / block_width; }
};

// Rows and columns of a block that settings state; 0: not stated.
struct BlockSize {
  uint32_t rows = 0, width = 0;
};
// Scales for the whole matrix, each row, groups of columns of each row, or blocks; fails where their shape fits none.
ScaleGrid GridOf(const Part& scales, uint64_t rows, uint64_t width, BlockSize stated);

// Number `index` of `bits` bits in a chain of little-endian words, lowest bits first and across words; words of the
// chain are `stride` words apart.
inline uint32_t NumberAt(const uint8_t* words, uint64_t stride, uint64_t index, uint32_t bits) {
  const uint64_t bit = index * bits;
  const auto shift = static_cast<uint32_t>(bit % 32);
  uint32_t word;
  memcpy(&word, words + bit / 32 * stride * 4, 4);
  uint32_t number = word >> shift;
  if (shift + bits > 32) {
    memcpy(&word, words + (bit / 32 + 1) * stride * 4, 4);
    number |= word << (32 - shift);
  }
  return number & ((1u << bits) - 1);
}
// Words of such a chain.
inline uint64_t WordsOf(uint64_t numbers, uint32_t bits) { return (numbers * bits + 31) / 32; }

// The value of a float of four bits (E2M1).
float FromE2M1(uint32_t bits);

// Values of a matrix: number(row, column) * its scale.
template <typename Number>
std::vector<float> Scaled(uint64_t rows, uint64_t width, const ScaleGrid& grid, const std::vector<float>& scales,
                          const Number& number) {
  std::vector<float> values(rows * width);
  for (uint64_t r = 0; r < rows; ++r) {
    const float* of_row = scales.data() + grid.Row(r);
    for (uint64_t c = 0; c < width; ++c) values[r * width + c] = number(r, c) * of_row[c / grid.block_width];
  }
  return values;
}

// Facts of a layer for the report.
struct LayerFacts {
  std::string numbers;           // "4 bits", "nf4", "F8_E4M3"
  std::string extent;            // covered by one scale: "groups of 128", "rows"
  bool whole = false;            // numbers are whole, symmetric around 0
  uint32_t bits = 0;             // if whole
  uint64_t block_width = 0;      // if whole: consecutive columns with one scale
  const Part* scales = nullptr;  // if whole
};

// A model whose layers are quantized: replaces their stored parts by their weights, read when asked for.
class QuantizedModel {
 public:
  // `transposed`: layers whose weights the model's architecture reads as [in, out].
  QuantizedModel(const JsonView& settings, Weights& weights, std::vector<std::string> transposed)
      : settings_(settings), weights_(weights), transposed_(std::move(transposed)) {}

  const JsonView& settings() const { return settings_; }
  // X for each stored tensor X + ending, in order.
  std::vector<std::string> LayersWith(const std::string& ending) const;
  // Names of all stored tensors.
  std::vector<std::string> Stored() const { return weights_.Stored(); }
  Part Find(const std::string& name) const;
  // Fails unless the tensor is there, is not empty and has one of these element types.
  Part Get(const std::string& name, std::initializer_list<ElementType> types) const;
  Part GetFloats(const std::string& name) const;  // F32, F16 or BF16
  // Gives `layer`.weight these values in place of the parts `layer` + each of `endings`.
  void Set(const std::string& layer, const std::vector<std::string>& endings, uint64_t rows, uint64_t width,
           const std::function<std::vector<float>()>& load, const LayerFacts& facts);
  // The same under any name, without facts.
  void SetTensor(const std::string& name, uint64_t rows, uint64_t width,
                 const std::function<std::vector<float>()>& load);
  void Drop(const std::string& name) { weights_.Drop(name); }
  // Drops the parts X + ending of all layers X and records why they are not used.
  void DropAll(const std::string& ending, const std::string& reason);
  void Say(const std::string& text) { said_.push_back(text); }

  // Sentences for findings, that of all layers first.
  std::vector<std::string> Report(const std::string& method) const;
  size_t layers() const { return layers_; }

 private:
  const JsonView settings_;
  Weights& weights_;
  const std::vector<std::string> transposed_;
  size_t layers_ = 0;
  std::map<std::string, size_t> kinds_;  // layers by numbers and extent of scales
  uint64_t scales_of_four_ = 0, exact_scales_of_four_ = 0;
  size_t rows_of_eight_ = 0;  // layers of whole numbers of eight bits with scales for rows
  std::vector<std::string> said_;
};

// The readers, one for each method. Each sets the weights of all layers that it finds.
void ReadGptq(QuantizedModel& model);
void ReadAwq(QuantizedModel& model);
void ReadCompressedTensors(QuantizedModel& model);
void ReadBitsAndBytes(QuantizedModel& model);
void ReadFloat8(QuantizedModel& model);  // fp8 and fbgemm_fp8
void ReadModelOpt(QuantizedModel& model);
void ReadMlx(QuantizedModel& model);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_PUBLISHED_QUANTIZED_LAYERS_H_
