// Random GEMM problems in buffers of exactly the documented size, and a backend set up and run on them.
#ifndef FOVEA_TESTS_GEMM_GEMM_PROBLEM_H_
#define FOVEA_TESTS_GEMM_GEMM_PROBLEM_H_

#include <cstring>
#include <memory>
#include <new>
#include <random>
#include <stdexcept>
#include <vector>

#include "runtime/gemm/gemm.h"
#include "runtime/kernels/quantize.h"

namespace fovea::testing {

// `size` bytes on a multiple of 64, not one more: the sanitizers watch both ends.
class AlignedBytes {
 public:
  explicit AlignedBytes(size_t size, uint8_t fill = 0xcd) : size_(size) {
    memory_.reset(static_cast<uint8_t*>(::operator new (size, std::align_val_t{64})));
    std::memset(memory_.get(), fill, size);
  }
  uint8_t* data() const { return memory_.get(); }
  size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(uint8_t* p) const { ::operator delete (p, std::align_val_t{64}); }
  };
  size_t size_;
  std::unique_ptr<uint8_t, Free> memory_;
};

struct GemmProblem {
  GemmWeights weights;
  GemmInput input;

  GemmProblem(GemmShape shape, size_t rows, bool with_bias, uint32_t seed)
      : rows_bytes_(shape.n * RowBytes(shape.type, shape.k)),
        scale_bytes_(ScaleBytes(shape.type, shape.n, shape.k)),
        bias_bytes_(shape.n * 4),
        x_bytes_(rows * shape.k * 4 + kGemmSlack, 0xff),  // NaN after the last row
        quantized_bytes_(rows * shape.k + kGemmSlack, 0xff),
        params_(rows + kGemmExtraParams, QuantParams{}) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    const auto byte = [&] { return static_cast<uint8_t>(random() >> 11); };
    uint8_t* w = rows_bytes_.data();
    for (size_t i = 0; i < rows_bytes_.size(); ++i) w[i] = byte();
    if (shape.type == DType::kF32) {
      for (size_t i = 0; i < shape.n * shape.k; ++i) reinterpret_cast<float*>(w)[i] = normal(random);
    }
    if (shape.type == DType::kF16) {  // exponents 2^-8 .. 2^7, and a few subnormals
      for (size_t i = 0; i < shape.n * shape.k; ++i) {
        const uint16_t bits = static_cast<uint16_t>(random());
        reinterpret_cast<uint16_t*>(w)[i] = i % 61 == 7 ? bits & 0x83ff : (bits & 0x83ff) | ((7 + bits % 16) << 10);
      }
    }
    if (shape.type == DType::kI8) {
      for (size_t i = 0; i < rows_bytes_.size(); ++i) w[i] = w[i] == 0x80 ? 0x81 : w[i];  // -128 is not in use
      for (size_t i = 0; i < shape.n; ++i) Scale(i, std::ldexp(1.0f + byte() / 256.0f, -9));
    }
    if (shape.type == DType::kI4) {
      for (size_t i = 0; i < scale_bytes_.size() / 2; ++i) {
        reinterpret_cast<uint16_t*>(scale_bytes_.data())[i] = static_cast<uint16_t>(0x3d00 + byte() % 128);
      }
    }
    for (size_t i = 0; i < shape.n; ++i) reinterpret_cast<float*>(bias_bytes_.data())[i] = normal(random);
    for (size_t i = 0; i < rows * shape.k; ++i) reinterpret_cast<float*>(x_bytes_.data())[i] = normal(random);
    for (size_t i = 0; i < rows * shape.k; ++i) quantized_bytes_.data()[i] = byte();
    for (size_t i = 0; i < rows; ++i) {
      params_[i] = {static_cast<int8_t>(byte()), std::ldexp(1.0f + byte() / 256.0f, -8)};
    }
    weights = {shape, rows_bytes_.data(), scale_bytes_.size() == 0 ? nullptr : scale_bytes_.data(),
               with_bias ? reinterpret_cast<const float*>(bias_bytes_.data()) : nullptr};
    input = {rows, reinterpret_cast<const float*>(x_bytes_.data()),
             reinterpret_cast<const int8_t*>(quantized_bytes_.data()), params_.data()};
  }

  // Rows [first, first + count) alone, as another call would get them.
  GemmInput Rows(size_t first, size_t count) {
    const size_t k = weights.shape.k;
    part_params_.assign(input.params + first, input.params + first + count);
    part_params_.resize(count + kGemmExtraParams);
    return {count, input.x + first * k, input.quantized + first * k, part_params_.data()};
  }

 private:
  void Scale(size_t i, float value) { reinterpret_cast<float*>(scale_bytes_.data())[i] = value; }

  AlignedBytes rows_bytes_, scale_bytes_, bias_bytes_, x_bytes_, quantized_bytes_;
  std::vector<QuantParams> params_, part_params_;
};

// The input, its quantized rows in pairs, which `rows` then holds, if they are to be.
inline GemmInput AsTaken(bool takes_pairs, const GemmInput& input, size_t k, AlignedBytes* rows) {
  if (!takes_pairs) return input;
  *rows = AlignedBytes(input.rows * k + kGemmSlack);
  auto* pairs = reinterpret_cast<int8_t*>(rows->data());
  for (size_t r = 0; r < input.rows; ++r) {
    CopyPairedRow(input.quantized + r * k, PairedRow(0, 1, k), pairs, PairedRow(r, input.rows, k), k);
  }
  return {input.rows, input.x, pairs, input.params};
}

// A backend made ready for one layer.
class ReadyGemm {
 public:
  ReadyGemm(const GemmBackend& backend, const Kernels& kernels, const GemmWeights& weights)
      : backend_(backend),
        weights_(weights),
        packed_(backend.packed_bytes(weights.shape)),
        storage_(backend.operator_bytes(weights.shape)),
        takes_pairs_(backend.takes_pairs(weights.shape) &&
                     (weights.shape.type == DType::kI8 ? kernels.gemm.packed_i8 : kernels.gemm.packed_i4) != nullptr) {
    fovea_error error{};
    Reporter reporter(&error);
    if (packed_.size() > 0 && !backend.pack(weights, packed_.data(), reporter).ok())
      throw std::runtime_error(error.text);
    if (!backend.make_operator(weights.shape, kernels, storage_.data(), reporter).ok()) {
      throw std::runtime_error(error.text);
    }
  }

  void Run(const GemmInput& input, Activation activation, float* y) const {
    Run(input, {y, 0, weights_.shape.n, activation});
  }
  void Run(const GemmInput& input, const GemmOutput& output) const {
    const void* packed = packed_.size() == 0 ? nullptr : packed_.data();
    AlignedBytes rows(0);
    const GemmInput taken = AsTaken(takes_pairs_, input, weights_.shape.k, &rows);
    if (!backend_.run(storage_.data(), weights_, packed, taken, output).ok()) throw std::runtime_error("run failed");
  }
  uint32_t column_step() const { return backend_.column_step; }

 private:
  const GemmBackend& backend_;
  GemmWeights weights_;
  AlignedBytes packed_, storage_;
  bool takes_pairs_;  // not if XNNPACK's kernels are to multiply
};

}  // namespace fovea::testing

#endif  // FOVEA_TESTS_GEMM_GEMM_PROBLEM_H_
