// Rounding weights to integers with regard to the rows that they will be multiplied with.
#include "tools/convert/rounding.h"

#include <math.h>
#include <string.h>

#include <algorithm>

#include "tools/base/half.h"

namespace fovea::tools {
namespace {

constexpr double kDistrust = 0.3;     // of samples: this share of the mean diagonal is added to the diagonal
constexpr size_t kRowsTogether = 16;  // worked on while they are in the cache

// y += a x
void AddScaled(float a, const float* x, size_t count, float* y) {
  for (size_t i = 0; i < count; ++i) y[i] += a * x[i];
}

float ScaleAt(const BlobTensor& tensor, uint64_t row, uint64_t column) {
  if (tensor.type == DType::kI8) {
    float scale;
    memcpy(&scale, &tensor.scales[4 * row], sizeof(scale));
    return scale;
  }
  uint16_t scale;
  memcpy(&scale, &tensor.scales[2 * ((row * tensor.width + column) / kI4Block)], sizeof(scale));
  return FromBf16(scale);
}

void Store(int value, uint64_t at, BlobTensor& tensor) {
  if (tensor.type == DType::kI8) {
    tensor.data[at] = static_cast<uint8_t>(value);
    return;
  }
  uint8_t& pair = tensor.data[at / 2];
  const int nibble = value + 8;
  pair = static_cast<uint8_t>(at % 2 == 0 ? (pair & 0xf0) | nibble : (pair & 0x0f) | nibble << 4);
}

}  // namespace

RowStatistics MakeStatistics(const std::vector<const Matrix*>& inputs, bool centered) {
  const size_t width = inputs[0]->width;
  RowStatistics statistics;
  statistics.mean.resize(width);
  double count = 0;
  for (const Matrix* input : inputs) {
    count += input->rows;
    for (size_t i = 0; i < input->values.size(); ++i) statistics.mean[i % width] += input->values[i];
  }
  for (double& mean : statistics.mean) mean /= count;
  // The upper triangle of the mean products. Here and below, rows of it are in use for several others at a time: it may
  // be larger than a cache.
  std::vector<float> upper(width * width), some(kRowsTogether * width);
  for (const Matrix* input : inputs) {
    for (size_t first = 0; first < input->rows; first += kRowsTogether) {
      const size_t rows = std::min<size_t>(kRowsTogether, input->rows - first);
      for (size_t at = 0; at < rows * width; ++at) {
        some[at] = input->values[first * width + at] - (centered ? static_cast<float>(statistics.mean[at % width]) : 0);
      }
      for (size_t i = 0; i < width; ++i) {
        for (const float* row = some.data(); row != some.data() + rows * width; row += width) {
          if (row[i] != 0) AddScaled(row[i] / static_cast<float>(count), row + i, width - i, &upper[i * width + i]);
        }
      }
    }
  }
  double diagonal = 0;
  for (size_t i = 0; i < width; ++i) diagonal += upper[i * width + i] / static_cast<double>(width);
  const float added =
      diagonal > 0 ? static_cast<float>(kDistrust * diagonal) : 1.0f;  // rows that are all the same say nothing
  for (size_t i = 0; i < width; ++i) upper[i * width + i] += added;
  // Cholesky: matrix = upper transposed times upper, and L is upper transposed.
  const auto subtract = [&](size_t pivot, size_t i) {
    const float* row = &upper[pivot * width];
    AddScaled(-row[i], row + i, width - i, &upper[i * width + i]);
  };
  for (size_t first = 0; first < width; first += kRowsTogether) {
    const size_t end = std::min(first + kRowsTogether, width);
    for (size_t j = first; j < end; ++j) {
      for (size_t pivot = first; pivot < j; ++pivot) subtract(pivot, j);
      const float inverse = 1 / sqrtf(upper[j * width + j]);
      for (size_t i = j; i < width; ++i) upper[j * width + i] *= inverse;
    }
    for (size_t i = end; i < width; ++i) {
      for (size_t pivot = first; pivot < end; ++pivot) subtract(pivot, i);
    }
  }
  statistics.factor.resize(width * (width + 1) / 2);
  for (size_t i = 0; i < width; ++i) {
    for (size_t k = 0; k <= i; ++k) statistics.factor[i * (i + 1) / 2 + k] = upper[k * width + i];
  }
  return statistics;
}

void RoundWeights(const std::vector<float>& values, const RowStatistics& statistics, BlobTensor& tensor) {
  const size_t width = tensor.width;
  const int low = tensor.type == DType::kI8 ? -127 : -8, high = tensor.type == DType::kI8 ? 127 : 7;
  std::vector<float> sums(kRowsTogether * width);  // of errors so far, times the factor
  for (size_t first = 0; first < tensor.rows; first += kRowsTogether) {
    const size_t rows = std::min<size_t>(kRowsTogether, tensor.rows - first);
    std::fill(sums.begin(), sums.end(), 0.0f);
    for (size_t j = width; j-- > 0;) {
      const float* factor = &statistics.factor[j * (j + 1) / 2];
      for (size_t r = 0; r < rows; ++r) {
        float* sum = &sums[r * width];
        const uint64_t at = (first + r) * width + j;
        const float scale = ScaleAt(tensor, first + r, j), wanted = values[at] - sum[j] / factor[j];
        const float steps = std::clamp(wanted / scale, static_cast<float>(low), static_cast<float>(high));
        const int rounded = static_cast<int>(lrintf(steps));
        Store(rounded, at, tensor);
        AddScaled(static_cast<float>(rounded) * scale - values[at], factor, j, sum);
      }
    }
  }
}

}  // namespace fovea::tools
