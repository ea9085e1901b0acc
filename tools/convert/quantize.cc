// Converts f32 values to the bytes of a blob's tensor, and back.
#include "tools/convert/quantize.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include <algorithm>
#include <iterator>

#include "tools/base/fail.h"
#include "tools/base/half.h"
#include "tools/base/workers.h"
#include "tools/convert/vectors.h"

namespace fovea::tools {
namespace {

// Fractions of the scale that just represents the largest magnitude: clipping a rare large value slightly can make the
// remaining values more exact.
constexpr float kTrials[] = {1.0f, 0.98f, 0.96f, 0.94f, 0.92f, 0.9f, 0.87f, 0.84f, 0.8f, 0.75f};

// Rounds to the nearest whole number, ties to even, for magnitudes up to 2^22.
float Round(float value) { return (value + 0x1.8p23f) - 0x1.8p23f; }

float Steps(float value, float inverse_scale, int low, int high) {
  return Round(std::clamp(value * inverse_scale, static_cast<float>(low), static_cast<float>(high)));
}

typedef double Doubles __attribute__((vector_size(32)));
constexpr size_t kLanes = sizeof(ShortVector) / sizeof(float);

// Sums of squared errors for kVectors vectors of scales, in the order of the values; each error times its weight, if
// there are weights.
template <size_t kVectors, bool kWeighed>
FOVEA_INLINE void SumErrors(const float* values, const float* weights, size_t count, const float* scales, float low,
                            float high, double* sums) {
  const ShortVector least = ShortVector{} + low, most = ShortVector{} + high, whole = ShortVector{} + 0x1.8p23f;
  ShortVector scale[kVectors], inverse[kVectors];
  Doubles sum[kVectors];
#pragma GCC unroll 6
  for (size_t v = 0; v < kVectors; ++v) {
    scale[v] = LoadVector<ShortVector>(scales + v * kLanes);
    inverse[v] = 1 / scale[v];
    sum[v] = Doubles{};
  }
  for (size_t i = 0; i < count; ++i) {
#pragma GCC unroll 6
    for (size_t v = 0; v < kVectors; ++v) {
      ShortVector steps = values[i] * inverse[v];
      steps = steps < least ? least : steps;
      steps = most < steps ? most : steps;
      const ShortVector error = values[i] - ((steps + whole) - whole) * scale[v];
      const ShortVector square = error * error;
      sum[v] += __builtin_convertvector(kWeighed ? square * weights[i] : square, Doubles);
    }
  }
#pragma GCC unroll 6
  for (size_t v = 0; v < kVectors; ++v) memcpy(sums + v * kLanes, &sum[v], sizeof(sum[v]));
}

constexpr size_t kOnce = (std::size(kTrials) + kLanes - 1) / kLanes, kTwice = (2 * std::size(kTrials)) / kLanes;
static_assert(kTwice * kLanes == 2 * std::size(kTrials), "whole vectors of scales");

FOVEA_INLINE void SumErrorsOf(bool twice, const float* values, const float* weights, size_t count, const float* scales,
                              float low, float high, double* sums) {
  if (weights != nullptr) {  // int4
    SumErrors<kTwice, true>(values, weights, count, scales, low, high, sums);
  } else if (twice) {
    SumErrors<kTwice, false>(values, nullptr, count, scales, low, high, sums);
  } else {
    SumErrors<kOnce, false>(values, nullptr, count, scales, low, high, sums);
  }
}

#ifdef FOVEA_HAS_LONG_VECTORS
FOVEA_LONG_VECTORS void SumErrorsLong(bool twice, const float* values, const float* weights, size_t count,
                                      const float* scales, float low, float high, double* sums) {
  SumErrorsOf(twice, values, weights, count, scales, low, high, sums);
}
#endif

void SumErrorsShort(bool twice, const float* values, const float* weights, size_t count, const float* scales, float low,
                    float high, double* sums) {
  SumErrorsOf(twice, values, weights, count, scales, low, high, sums);
}

auto BestSumErrors() {
#ifdef FOVEA_HAS_LONG_VECTORS
  if (HasLongVectors()) return SumErrorsLong;
#endif
  return SumErrorsShort;
}

// `store` rounds a scale to its stored type; `weights` of the errors can be null.
template <typename Store>
float BestScale(const float* values, const float* weights, uint32_t count, int low, int high, const Store& store) {
  float largest = 0;
  for (uint32_t i = 0; i < count; ++i) largest = std::max(largest, fabsf(values[i]));
  float scales[kTwice * kLanes];
  size_t scale_count = 0;
  for (float full : {largest / static_cast<float>(high), largest / static_cast<float>(-low)}) {
    for (float trial : kTrials) {
      const float scale = store(full * trial);
      if (scale >= FLT_MIN) scales[scale_count++] = scale;
    }
    if (-low == high) break;
  }
  if (scale_count == 0) return 1;
  std::fill(scales + scale_count, std::end(scales), 1.0f);
  double errors[kTwice * kLanes];
  BestSumErrors()(scale_count > kOnce * kLanes, values, weights, count, scales, static_cast<float>(low),
                  static_cast<float>(high), errors);
  return scales[std::min_element(errors, errors + scale_count) - errors];
}

constexpr size_t kElementsTogether = size_t{1} << 16;  // for one worker at a time

template <typename Use>
void ForRows(size_t rows, size_t width, Workers* workers, const Use& use) {
  if (workers == nullptr || rows * width <= kElementsTogether) return use(0, rows);
  workers->ForParts(rows, std::max<size_t>(1, kElementsTogether / width), use);
}

// A scale of which all values of a row are multiples by -127 to 127, as for values that were quantized to eight bits
// before; 0 if there is none. It is the largest value over its number, or a neighbour: their product was rounded.
float WholeInt8Scale(const float* row, uint32_t width) {
  float largest = 0;
  for (uint32_t i = 0; i < width; ++i) largest = std::max(largest, fabsf(row[i]));
  for (int whole = 127; whole > 0; --whole) {
    const float quotient = largest / static_cast<float>(whole);
    for (const float scale : {quotient, nextafterf(quotient, 0), nextafterf(quotient, FLT_MAX)}) {
      if (!(scale >= FLT_MIN)) continue;
      const auto is_whole = [&](float value) { return Steps(value, 1 / scale, -127, 127) * scale == value; };
      if (std::all_of(row, row + width, is_whole)) return scale;
    }
  }
  return 0;
}

void EncodeInt8(const std::vector<float>& values, size_t first, size_t end, BlobTensor& tensor) {
  for (size_t r = first; r < end; ++r) {
    const float* row = values.data() + r * tensor.width;
    float scale = WholeInt8Scale(row, tensor.width);
    if (scale == 0) scale = BestScale(row, nullptr, tensor.width, -127, 127, [](float s) { return s; });
    memcpy(tensor.scales.data() + 4 * r, &scale, 4);
    for (uint64_t i = 0; i < tensor.width; ++i) {
      tensor.data[r * tensor.width + i] = static_cast<uint8_t>(static_cast<int>(Steps(row[i], 1 / scale, -127, 127)));
    }
  }
}

void EncodeInt4(const std::vector<float>& values, size_t first, size_t end, BlobTensor& tensor) {
  for (size_t b = first; b < end; ++b) {
    const float* block = values.data() + b * kI4Block;
    float chosen = WholeInt4Scale(block);
    if (chosen == 0) chosen = BestInt4Scale(block, nullptr);
    const uint16_t scale = ToBf16(chosen);
    memcpy(tensor.scales.data() + 2 * b, &scale, 2);
    const float inverse = 1 / FromBf16(scale);
    for (uint32_t i = 0; i < kI4Block; i += 2) {
      const int low = static_cast<int>(Steps(block[i], inverse, -8, 7)) + 8;
      const int high = static_cast<int>(Steps(block[i + 1], inverse, -8, 7)) + 8;
      tensor.data[(b * kI4Block + i) / 2] = static_cast<uint8_t>(low | high << 4);
    }
  }
}

bool IsInfinite(uint16_t half) { return (half & 0x7fff) == 0x7c00; }

void EncodeHalf(const std::vector<float>& values, BlobTensor& tensor) {
  for (size_t i = 0; i < values.size(); ++i) {
    const uint16_t half = ToHalf(values[i]);
    if (IsInfinite(half)) Fail("tensor {}: {} is too large for f16", tensor.name, values[i]);
    memcpy(tensor.data.data() + 2 * i, &half, 2);
  }
}

void EncodeWhole(const std::vector<float>& values, BlobTensor& tensor) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] != Round(values[i]) || fabsf(values[i]) > 0x1p22f) {
      Fail("tensor {}: {} is not an index", tensor.name, values[i]);
    }
    const auto whole = static_cast<int32_t>(values[i]);
    memcpy(tensor.data.data() + 4 * i, &whole, 4);
  }
}

void DecodeElements(const BlobTensor& tensor, size_t first, size_t end, std::vector<float>& values) {
  const auto half_at = [](const std::vector<uint8_t>& bytes, size_t i) {
    return static_cast<uint16_t>(bytes[2 * i] | bytes[2 * i + 1] << 8);
  };
  for (size_t i = first; i < end; ++i) {
    switch (tensor.type) {
      case DType::kF32:
        memcpy(&values[i], &tensor.data[4 * i], 4);
        break;
      case DType::kF16:
        values[i] = FromHalf(half_at(tensor.data, i));
        break;
      case DType::kBf16:
        values[i] = FromBf16(half_at(tensor.data, i));
        break;
      case DType::kI8: {
        float scale;
        memcpy(&scale, &tensor.scales[i / tensor.width * 4], 4);
        values[i] = scale * static_cast<float>(static_cast<int8_t>(tensor.data[i]));
        break;
      }
      case DType::kI4: {
        const int q = tensor.data[i / 2] >> (i % 2 * 4) & 15;
        values[i] = FromBf16(half_at(tensor.scales, i / kI4Block)) * static_cast<float>(q - 8);
        break;
      }
      case DType::kI32: {
        int32_t whole;
        memcpy(&whole, &tensor.data[4 * i], 4);
        values[i] = static_cast<float>(whole);
        break;
      }
    }
  }
}

}  // namespace

float WholeInt4Scale(const float* block) {
  float largest = 0;
  for (uint32_t i = 0; i < kI4Block; ++i) largest = std::max(largest, fabsf(block[i]));
  for (int whole = 8; whole > 0; --whole) {
    const float scale = largest / static_cast<float>(whole);
    if (!(scale >= FLT_MIN) || scale != FromBf16(ToBf16(scale))) continue;
    const auto is_whole = [&](float value) { return Steps(value, 1 / scale, -8, 7) * scale == value; };
    if (std::all_of(block, block + kI4Block, is_whole)) return scale;
  }
  return 0;
}

float BestInt4Scale(const float* block, const float* weights) {
  return BestScale(block, weights, kI4Block, -8, 7, [](float s) { return FromBf16(ToBf16(s)); });
}

DType StorableType(DType wanted, const std::vector<float>& values, uint32_t width) {
  if (wanted == DType::kI4 && width % kI4Block != 0) return DType::kI8;
  const auto too_large = [](float value) { return std::isfinite(value) && IsInfinite(ToHalf(value)); };
  const bool large = wanted == DType::kF16 && std::any_of(values.begin(), values.end(), too_large);
  return large ? DType::kF32 : wanted;
}

void EncodeTensor(const std::vector<float>& values, BlobTensor& tensor, bool hides, Workers* workers) {
  for (float value : values) {
    const bool hidden = hides && tensor.type == DType::kF32 && value == -INFINITY;
    if (!std::isfinite(value) && !hidden) Fail("tensor {}: holds {}", tensor.name, value);
  }
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  tensor.data.clear();
  if (tensor.type != DType::kF32) tensor.data.resize(RowBytes(tensor.type, tensor.width) * tensor.rows);
  tensor.scales.assign(ScaleBytes(tensor.type, tensor.rows, tensor.width), 0);
  switch (tensor.type) {
    case DType::kF32:
      tensor.data.assign(bytes, bytes + 4 * values.size());
      break;
    case DType::kF16:
      EncodeHalf(values, tensor);
      break;
    case DType::kI8:
      ForRows(tensor.rows, tensor.width, workers,
              [&](size_t first, size_t end) { EncodeInt8(values, first, end, tensor); });
      break;
    case DType::kI4:
      ForRows(values.size() / kI4Block, kI4Block, workers,
              [&](size_t first, size_t end) { EncodeInt4(values, first, end, tensor); });
      break;
    case DType::kI32:
      EncodeWhole(values, tensor);
      break;
    case DType::kBf16:
      Fail("tensor {}: no constant is stored as bf16", tensor.name);
  }
}

std::vector<float> DecodeTensor(const BlobTensor& tensor, Workers* workers) {
  std::vector<float> values(uint64_t{tensor.rows} * tensor.width);
  ForRows(tensor.rows, tensor.width, workers,
          [&](size_t first, size_t end) { DecodeElements(tensor, first * tensor.width, end * tensor.width, values); });
  return values;
}

QuantizationError CompareTensors(const std::vector<float>& exact, const std::vector<float>& stored) {
  double largest = 0, errors = 0, squares = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    const double error = static_cast<double>(exact[i]) - stored[i];
    largest = std::max(largest, fabs(error));
    errors += error * error;
    squares += static_cast<double>(exact[i]) * exact[i];
  }
  return {largest, squares > 0 ? sqrt(errors / squares) : 0};
}

}  // namespace fovea::tools
