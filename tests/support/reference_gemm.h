// y = act(x W^T + b) in plain double loops, straight from what a blob stores, with a bound on a backend's error.
#ifndef FOVEA_TESTS_SUPPORT_REFERENCE_GEMM_H_
#define FOVEA_TESTS_SUPPORT_REFERENCE_GEMM_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "runtime/gemm/gemm.h"
#include "runtime/kernels/quantize.h"
#include "tests/support/split_bound.h"

namespace fovea::testing {

inline double DoubleFromF16(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return bits >> 15 ? -magnitude : magnitude;
}

inline double DoubleFromBf16(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, 4);
  return value;
}

// Weight (row, i) as a number.
inline double WeightValue(const GemmWeights& w, size_t row, size_t i) {
  const size_t at = row * w.shape.k + i;
  switch (w.shape.type) {
    case DType::kF32:
      return static_cast<const float*>(w.rows)[at];
    case DType::kF16:
      return DoubleFromF16(static_cast<const uint16_t*>(w.rows)[at]);
    case DType::kI8:
      return static_cast<double>(static_cast<const int8_t*>(w.rows)[at]) * static_cast<const float*>(w.scales)[row];
    case DType::kI4: {
      const uint8_t byte = static_cast<const uint8_t*>(w.rows)[at / 2];
      const int nibble = i % 2 == 0 ? byte & 15 : byte >> 4;
      return (nibble - 8) * DoubleFromBf16(static_cast<const uint16_t*>(w.scales)[at / kI4Block]);
    }
    default:
      return std::nan("");
  }
}

inline double ReferenceActivation(Activation activation, double x) {
  switch (activation) {
    case Activation::kNone:
      return x;
    case Activation::kRelu:
      return x < 0 ? 0 : x;
    case Activation::kGelu:
      return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
    case Activation::kGeluTanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
    case Activation::kSilu:
      return x / (1 + std::exp(-x));
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case Activation::kLogSigmoid:
      return std::fmin(x, 0) - std::log1p(std::exp(-std::fabs(x)));
    case Activation::kHardSigmoid:
      return std::fmin(1, std::fmax(0, 0.2 * x + 0.5));
    case Activation::kQuickGelu:
      return x / (1 + std::exp(-1.702 * x));
    case Activation::kLog:
      return std::log(std::fmax(x, 0x1p-126));
  }
  return std::nan("");
}

// How far the activation of what is within `tolerance` of x may be from its own. All have a slope below 1.13, but for
// the logarithm, which is steep near 0 and as long as its numbers are small.
inline double SpreadOf(Activation activation, double x, double tolerance) {
  if (activation != Activation::kLog) return 1.13 * tolerance;
  const double y = ReferenceActivation(activation, x), above = ReferenceActivation(activation, x + tolerance);
  const double below = ReferenceActivation(activation, x - tolerance);
  return std::fmax(above - y, y - below) + 3e-7 * std::fmax(std::fabs(y), std::fabs(below));
}

struct ReferenceValue {
  double y;
  double tolerance;  // what f32 arithmetic in any order may lose
};

class ReferenceGemm {
 public:
  explicit ReferenceGemm(const GemmWeights& weights) : weights_(weights) {
    for (size_t row = 0; row < weights.shape.n; ++row) {
      for (size_t i = 0; i < weights.shape.k; ++i) values_.push_back(WeightValue(weights, row, i));
    }
  }

  // Integer sums are exact within a row (int8) or block (int4), so an integer backend may only lose the f32 roundings
  // of what follows: a few of the result for int8; for int4 one per block of sums as large as if x and its zero point
  // were multiplied apart. f32 and f16 lose a rounding per element, which add up like their root. Activations are good
  // to 3e-7 of their input, the logarithm of its result. `split`: f16 weights and x are multiplied in two bytes.
  ReferenceValue At(const GemmInput& input, Activation activation, size_t row, size_t column,
                    bool split = false) const {
    const size_t k = weights_.shape.k;
    const DType type = weights_.shape.type;
    const double epsilon = std::numeric_limits<float>::epsilon();
    const double* w = values_.data() + column * k;
    double sum = 0, magnitude = 0;
    if (GemmTakesQuantized(type)) {
      const double zero = input.params[row].zero_point, scale = input.params[row].scale;
      const int8_t* x = input.quantized + row * k;
      for (size_t i = 0; i < k; ++i) {
        sum += (x[i] - zero) * w[i] * scale;
        magnitude += (std::fabs(x[i]) + std::fabs(zero)) * std::fabs(w[i]) * scale;
      }
    } else {
      const float* x = input.x + row * k;
      for (size_t i = 0; i < k; ++i) {
        sum += x[i] * w[i];
        magnitude += std::fabs(x[i] * w[i]);
      }
    }
    const double bias = weights_.bias == nullptr ? 0 : weights_.bias[column];
    const double y = sum + bias;
    double tolerance = 4 * epsilon * (std::fabs(sum) + std::fabs(bias)) + 1e-30;
    if (type == DType::kI4) tolerance += epsilon * std::sqrt(k / 32.0 + 4) * magnitude;
    if (!GemmTakesQuantized(type)) tolerance += epsilon * std::sqrt(static_cast<double>(k)) * magnitude;
    if (split) tolerance += SplitBound(input.x + row * k, w, k);
    if (activation == Activation::kNone) return {y, tolerance};
    return {ReferenceActivation(activation, y), SpreadOf(activation, y, tolerance) + 3e-7 * std::fmax(1, std::fabs(y))};
  }

 private:
  GemmWeights weights_;
  std::vector<double> values_;
};

}  // namespace fovea::testing

#endif  // FOVEA_TESTS_SUPPORT_REFERENCE_GEMM_H_
