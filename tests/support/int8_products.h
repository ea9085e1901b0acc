// int8 products of a kernel against plain sums of 64-bit integers, to equal bits. No heap and no test library, because
// firmware runs this as well.
#ifndef FOVEA_TESTS_SUPPORT_INT8_PRODUCTS_H_
#define FOVEA_TESTS_SUPPORT_INT8_PRODUCTS_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <initializer_list>

#include "runtime/kernels/gemm.h"

namespace fovea::testing {

class Int8Products {
 public:
  static constexpr size_t kMostRows = 7, kMostColumns = 9, kMostK = 400, kGuard = 3;
  static constexpr size_t kElements = kMostColumns * kMostK;
  static_assert(kElements >= kMostRows * kMostK, "rows of x do not fit");

  // Calls report(rows, columns, k, bias or not, row, column) where `multiply` is wrong, and returns the number of
  // calls.
  template <class Report>
  size_t Check(void (*multiply)(const GemmTile&), const Report& report) {
    size_t wrong = 0;
    for (const size_t k : {1, 2, 3, 4, 5, 7, 15, 16, 17, 31, 32, 33, 47, 48, 63, 64, 65, 96, 97, 130, 399, 400}) {
      for (size_t rows = 1; rows <= kMostRows; rows += rows < 3 ? 1 : 2) {
        for (const size_t columns : {1, 2, 3, 4, 5, 8, 9}) {
          const bool bias = (rows + columns + k) % 3 != 0;
          Fill(rows, columns, k);
          wrong += CheckOne(multiply, rows, columns, k, bias, report);
        }
      }
    }
    return wrong;
  }

 private:
  // Most cases are random, one in four has the ends of the ranges only. Scales are powers of two: multiplying and
  // adding rounds once, whether it is one instruction or two.
  void Fill(size_t rows, size_t columns, size_t k) {
    const bool ends = Next() % 4 == 0;
    const auto any = [&](int least) {
      return static_cast<int8_t>(!ends ? static_cast<int>(Next()) : Next() % 2 != 0 ? 127 : least);
    };
    for (size_t i = 0; i < rows * k; ++i) x_[i] = any(-128);
    for (size_t i = 0; i < kGemmTileSlack; ++i) x_[rows * k + i] = any(-128);
    for (size_t i = 0; i < columns * k; ++i) w_[i] = any(-127);
    for (size_t r = 0; r < rows; ++r) {
      const int32_t zeros[] = {-128, 127, 0, static_cast<int8_t>(Next())};
      params_[r] = {zeros[Next() % 4], Next() % 2 != 0 ? 0.03125f : 0.5f};
    }
    for (size_t c = 0; c < columns; ++c) {
      scales_[c] = Next() % 2 != 0 ? 0.25f : 0.0009765625f;
      bias_[c] = 0.1f * static_cast<float>(static_cast<int8_t>(Next()));
    }
  }

  template <class Report>
  size_t CheckOne(void (*multiply)(const GemmTile&), size_t rows, size_t columns, size_t k, bool bias,
                  const Report& report) {
    const size_t stride = columns + kGuard;
    for (size_t i = 0; i < rows * stride; ++i) y_[i] = kUntouched;
    GemmTile tile{rows, columns, k, x_, params_, w_, scales_, bias ? bias_ : nullptr, y_, stride, GemmPacking::kOther};
    multiply(tile);
    size_t wrong = 0;
    for (size_t r = 0; r < rows; ++r) {
      for (size_t c = 0; c < stride; ++c) {
        const float expected = c < columns ? Expected(r, c, k, bias) : kUntouched;
        if (memcmp(&y_[r * stride + c], &expected, sizeof(float)) == 0) continue;
        ++wrong;
        report(rows, columns, k, bias, r, c);
      }
    }
    return wrong;
  }

  float Expected(size_t row, size_t column, size_t k, bool bias) const {
    int64_t sum = 0;
    for (size_t i = 0; i < k; ++i) sum += (x_[row * k + i] - params_[row].zero_point) * w_[column * k + i];
    const float product = static_cast<float>(sum) * (params_[row].scale * scales_[column]);
    return product + (bias ? bias_[column] : 0.0f);
  }

  uint32_t Next() {
    state_ = state_ * 1664525u + 1013904223u;
    return state_ >> 16;
  }

  static constexpr float kUntouched = -12345.5f;
  // All zero at first, so that nothing has to run before main.
  uint32_t state_ = 0;
  int8_t x_[kElements + kGemmTileSlack] = {}, w_[kElements] = {};
  QuantParams params_[kMostRows] = {};
  float scales_[kMostColumns] = {}, bias_[kMostColumns] = {}, y_[kMostRows * (kMostColumns + kGuard)] = {};
};

}  // namespace fovea::testing

#endif  // FOVEA_TESTS_SUPPORT_INT8_PRODUCTS_H_
