// Rounds weights to integers with regard to the rows that they are multiplied with.
#include "tools/convert/rounding.h"

#include <math.h>
#include <string.h>

#include <algorithm>

#include "tools/base/half.h"
#include "tools/convert/product.h"
#include "tools/convert/quantize.h"
#include "tools/convert/vectors.h"

namespace fovea::tools {
namespace {

constexpr double kDistrust = 0.3;  // regularization: this share of the mean diagonal is added to the diagonal

// Block sizes; they do not affect the bits.
constexpr size_t kSampleRows = 256, kHigh = 144, kWide = 256, kPivots = 16, kSquare = 64;
constexpr size_t kRowsTogether = 96;     // rows of a weight; whole vectors
constexpr size_t kColumnsTogether = 64;  // columns of int8; for int4 a block

// y += a x
void AddScaled(float a, const float* x, size_t count, float* y) {
  for (size_t i = 0; i < count; ++i) y[i] += a * x[i];
}

// Calls `tile` with (row, end row, column, end column) for rectangles that cover the upper triangle of rows [first,
// end) of a square matrix.
template <typename Use>
void ForUpper(size_t first, size_t end, size_t width, Workers& workers, const Use& use) {
  const size_t high = (end - first + kHigh - 1) / kHigh, wide = (width - first + kWide - 1) / kWide;
  workers.ForEach(high * wide, [&](size_t tile) {
    const size_t row = first + tile / wide * kHigh, column = first + tile % wide * kWide;
    const size_t end_row = std::min(end, row + kHigh), end_column = std::min(width, column + kWide);
    if (end_column > row) use(row, end_row, column, end_column);
  });
}

// The upper triangle of the mean products; the lower triangle is undefined.
std::vector<float> MeanProducts(const std::vector<const Matrix*>& inputs, const std::vector<double>& mean, double count,
                                bool centered, Workers& workers) {
  const size_t width = mean.size();
  const auto rows_in_all = static_cast<float>(count);
  std::vector<float> upper(width * width), rows(kSampleRows * width), shares(kSampleRows * width);
  for (const Matrix* input : inputs) {
    for (size_t first = 0; first < input->rows; first += kSampleRows) {
      const size_t some = std::min<size_t>(kSampleRows, input->rows - first);
      workers.ForParts(some, 16, [&](size_t from, size_t to) {
        for (size_t r = from; r < to; ++r) {
          const float* row = input->values.data() + (first + r) * width;
          for (size_t i = 0; i < width; ++i) {
            rows[r * width + i] = row[i] - (centered ? static_cast<float>(mean[i]) : 0);
            shares[r * width + i] = rows[r * width + i] / rows_in_all;
          }
        }
      });
      const auto stride = static_cast<ptrdiff_t>(width);
      ForUpper(0, width, width, workers, [&](size_t row, size_t end_row, size_t column, size_t end_column) {
        AddProduct({&shares[row], stride}, 1, {&rows[column], stride}, some, end_row - row, end_column - column,
                   &upper[row * width + column], width);
      });
    }
  }
  return upper;
}

// Cholesky factorization of rows [first, end), from which the rows above are already subtracted: the matrix becomes
// upper transposed times upper.
void FactorRows(std::vector<float>& upper, size_t width, size_t first, size_t end, Workers& workers) {
  const auto row = [&](size_t j) { return &upper[j * width]; };
  if (end - first > kPivots) {
    const size_t middle = first + std::max(kPivots, (end - first) / 2 / kPivots * kPivots);
    FactorRows(upper, width, first, middle, workers);
    const auto stride = static_cast<ptrdiff_t>(width);
    ForUpper(middle, end, width, workers, [&](size_t from, size_t to, size_t column, size_t end_column) {
      AddProduct({row(first) + from, stride}, -1, {row(first) + column, stride}, middle - first, to - from,
                 end_column - column, row(from) + column, width);
    });
    FactorRows(upper, width, middle, end, workers);
    return;
  }
  float inverses[kPivots];
  const auto factor = [&](size_t j, size_t from, size_t to) {
    for (size_t pivot = first; pivot < j; ++pivot)
      AddScaled(-row(pivot)[j], row(pivot) + from, to - from, row(j) + from);
    if (from == j) inverses[j - first] = 1 / sqrtf(row(j)[j]);
    for (size_t i = from; i < to; ++i) row(j)[i] *= inverses[j - first];
  };
  for (size_t j = first; j < end; ++j) factor(j, j, end);
  workers.ForParts(width - end, 2 * kWide, [&](size_t from, size_t to) {
    for (size_t j = first; j < end; ++j) factor(j, end + from, end + to);
  });
}

void Transpose(std::vector<float>& square, size_t width, Workers& workers) {
  const size_t blocks = (width + kSquare - 1) / kSquare;
  workers.ForEach(blocks, [&](size_t block) {
    const size_t end = std::min(width, (block + 1) * kSquare);
    for (size_t first = 0; first <= block * kSquare; first += kSquare) {
      for (size_t i = block * kSquare; i < end; ++i) {
        const size_t last = std::min(i, first + kSquare);
        for (size_t k = first; k < last; ++k) std::swap(square[i * width + k], square[k * width + i]);
      }
    }
  });
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

enum class Rounding { kNone, kToScales };

// A column of kRowsTogether rows: rounds `values` to multiples of `scales` between low and high, corrected by `sums` of
// the errors so far times the factor, and stores the `errors`. Without rounding, stores the corrected values.
template <typename Vector, Rounding kRounding>
FOVEA_INLINE void RoundColumn(const float* scales, const float* sums, float diagonal, float low, float high,
                              float* values, float* errors) {
  constexpr size_t kLanes = sizeof(Vector) / sizeof(float);
  constexpr float kWhole = 0x1.8p23f;  // adding it rounds to the nearest integer, ties to even
  const Vector least = Vector{} + low, most = Vector{} + high;
  for (size_t r = 0; r < kRowsTogether; r += kLanes) {
    const Vector value = LoadVector<Vector>(values + r), best = value - LoadVector<Vector>(sums + r) / diagonal;
    if (kRounding == Rounding::kNone) {
      StoreVector(best, values + r);
      StoreVector<Vector>(best - value, errors + r);
      continue;
    }
    const Vector scale = LoadVector<Vector>(scales + r);
    Vector steps = best / scale;
    steps = steps < least ? least : steps;
    steps = most < steps ? most : steps;
    const Vector rounded = (steps + kWhole) - kWhole;
    StoreVector(rounded, values + r);
    StoreVector<Vector>(rounded * scale - value, errors + r);
  }
}

// Columns end - 1 to first of kRowsTogether rows, stored by columns: `sums` (from column `first` on) hold the part of
// the columns from `end` on. `errors` gets one more column for each, in descending order.
template <typename Vector, Rounding kRounding>
FOVEA_INLINE void RoundColumns(const float* factor, size_t width, size_t first, size_t end, const float* scales,
                               float low, float high, float* sums, float* values, float* errors) {
  constexpr size_t kLanes = sizeof(Vector) / sizeof(float);
  for (size_t j = end; j-- > first; errors += kRowsTogether) {
    const float* row = factor + j * width;
    const size_t at = (j - first) * kRowsTogether;
    RoundColumn<Vector, kRounding>(scales, sums + at, row[j], low, high, values + at, errors);
    for (size_t k = first; k < j; ++k) {
      float* sum = sums + (k - first) * kRowsTogether;
      for (size_t r = 0; r < kRowsTogether; r += kLanes) {
        StoreVector<Vector>(LoadVector<Vector>(sum + r) + row[k] * LoadVector<Vector>(errors + r), sum + r);
      }
    }
  }
}

#ifdef FOVEA_HAS_LONG_VECTORS
template <Rounding kRounding>
FOVEA_LONG_VECTORS void RoundColumnsLong(const float* factor, size_t width, size_t first, size_t end,
                                         const float* scales, float low, float high, float* sums, float* values,
                                         float* errors) {
  RoundColumns<LongVector, kRounding>(factor, width, first, end, scales, low, high, sums, values, errors);
}
#endif

template <Rounding kRounding>
void RoundColumnsShort(const float* factor, size_t width, size_t first, size_t end, const float* scales, float low,
                       float high, float* sums, float* values, float* errors) {
  RoundColumns<ShortVector, kRounding>(factor, width, first, end, scales, low, high, sums, values, errors);
}

template <Rounding kRounding>
auto BestRoundColumns() {
#ifdef FOVEA_HAS_LONG_VECTORS
  if (HasLongVectors()) return RoundColumnsLong<kRounding>;
#endif
  return RoundColumnsShort<kRounding>;
}

// Rounds up to kRowsTogether rows of a weight, stored by columns meanwhile.
class RowsRounder {
 public:
  RowsRounder(const std::vector<float>& values, const std::vector<float>& factor, size_t first_row, size_t end_row,
              BlobTensor& tensor)
      : values_(values),
        factor_(factor),
        width_(tensor.width),
        first_row_(first_row),
        rows_(end_row - first_row),
        int4_(tensor.type == DType::kI4),
        tensor_(tensor) {}

  void Round() {
    const auto round = BestRoundColumns<Rounding::kToScales>();
    const float low = int4_ ? -8 : -127, high = int4_ ? 7 : 127;
    std::vector<float> errors(width_ * kRowsTogether);
    const size_t together = int4_ ? size_t{kI4Block} : kColumnsTogether;
    for (size_t end = width_; end > 0;) {
      const size_t first = (end - 1) / together * together;
      std::fill(sums_.begin(), sums_.end(), 0.0f);
      AddProduct({&factor_[(width_ - 1) * width_ + first], -static_cast<ptrdiff_t>(width_)}, 1,
                 {errors.data(), kRowsTogether}, width_ - end, end - first, kRowsTogether, sums_.data(), kRowsTogether);
      std::fill(columns_.begin(), columns_.end(), 0.0f);
      for (size_t r = 0; r < rows_; ++r) {
        for (size_t j = first; j < end; ++j) columns_[(j - first) * kRowsTogether + r] = Value(r, j);
      }
      if (int4_) ChooseScales(first, end);
      for (size_t r = 0; r < rows_; ++r) scales_[r] = ScaleAt(tensor_, first_row_ + r, first);
      round(factor_.data(), width_, first, end, scales_.data(), low, high, sums_.data(), columns_.data(),
            &errors[(width_ - end) * kRowsTogether]);
      for (size_t r = 0; r < rows_; ++r) {
        for (size_t j = first; j < end; ++j) {
          Store(static_cast<int>(columns_[(j - first) * kRowsTogether + r]), (first_row_ + r) * width_ + j, tensor_);
        }
      }
      end = first;
    }
  }

 private:
  float Value(size_t row, size_t column) const { return values_[(first_row_ + row) * width_ + column]; }

  // Chooses the scales of a block for its values corrected by the errors so far, without rounding.
  void ChooseScales(size_t first, size_t end) {
    std::vector<float> sums = sums_, best = columns_, changes(kI4Block * kRowsTogether);
    BestRoundColumns<Rounding::kNone>()(factor_.data(), width_, first, end, nullptr, 0, 0, sums.data(), best.data(),
                                        changes.data());
    float block[kI4Block], exact[kI4Block], weights[kI4Block];
    for (size_t j = first; j < end; ++j) weights[j - first] = factor_[j * width_ + j] * factor_[j * width_ + j];
    for (size_t r = 0; r < rows_; ++r) {
      for (size_t j = first; j < end; ++j) {
        block[j - first] = best[(j - first) * kRowsTogether + r];
        exact[j - first] = Value(r, j);
      }
      if (WholeInt4Scale(exact) != 0) continue;  // it keeps that scale
      const uint16_t scale = ToBf16(BestInt4Scale(block, weights));
      memcpy(&tensor_.scales[2 * (((first_row_ + r) * width_ + first) / kI4Block)], &scale, 2);
    }
  }

  const std::vector<float>&values_, &factor_;
  const size_t width_, first_row_, rows_;
  const bool int4_;
  BlobTensor& tensor_;
  std::vector<float> sums_ = std::vector<float>(kColumnsTogether * kRowsTogether), columns_ = sums_;
  std::vector<float> scales_ = std::vector<float>(kRowsTogether, 1.0f);
};

}  // namespace

RowStatistics MakeStatistics(const std::vector<const Matrix*>& inputs, bool centered, Workers& workers) {
  const size_t width = inputs[0]->width;
  RowStatistics statistics;
  statistics.mean.resize(width);
  double count = 0;
  for (const Matrix* input : inputs) count += input->rows;
  workers.ForParts(width, kWide, [&](size_t first, size_t end) {
    for (const Matrix* input : inputs) {
      for (size_t r = 0; r < input->rows; ++r) {
        for (size_t i = first; i < end; ++i) statistics.mean[i] += input->values[r * width + i];
      }
    }
    for (size_t i = first; i < end; ++i) statistics.mean[i] /= count;
  });
  std::vector<float> upper = MeanProducts(inputs, statistics.mean, count, centered, workers);
  double diagonal = 0;
  for (size_t i = 0; i < width; ++i) diagonal += upper[i * width + i] / static_cast<double>(width);
  const float added = diagonal > 0 ? static_cast<float>(kDistrust * diagonal) : 1.0f;  // equal rows give no information
  for (size_t i = 0; i < width; ++i) upper[i * width + i] += added;
  FactorRows(upper, width, 0, width, workers);
  Transpose(upper, width, workers);
  statistics.factor = std::move(upper);
  return statistics;
}

void RoundWeights(const std::vector<float>& values, const RowStatistics& statistics, BlobTensor& tensor,
                  Workers& workers) {
  workers.ForParts(tensor.rows, kRowsTogether, [&](size_t first, size_t end) {
    RowsRounder(values, statistics.factor, first, end, tensor).Round();
  });
}

}  // namespace fovea::tools
