// Quantizes rows of activations to int8, each with its own range, for integer matmuls.
#ifndef FOVEA_RUNTIME_KERNELS_QUANTIZE_H_
#define FOVEA_RUNTIME_KERNELS_QUANTIZE_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace fovea {

// x = (q - zero_point) * scale. Same layout and convention as XNNPACK's dynamically quantized (qd8) inputs.
struct QuantParams {
  int32_t zero_point;
  float scale;
};

struct QuantizeKernels {
  // Row r of x [rows, width] to q [rows, width] and params[r]. The range contains the row and zero; zero is exact.
  // Bit-identical to XNNPACK's f32 -> qd8 conversion. Rows holding NaN or infinity give unspecified numbers.
  void (*quantize_rows)(const float* x, size_t rows, size_t width, int8_t* q, QuantParams* params);
  // The same in pairs (below). Null where no GEMM kernel of this CPU reads pairs.
  void (*quantize_pairs)(const float* x, size_t rows, size_t width, int8_t* q, QuantParams* params);
};

// Rows in pairs, for matrix products of two rows (SMMLA): rows 2 i and 2 i + 1 begin at 2 i * width and alternate,
// eight elements of each. The last of an odd number of rows is stored as it would be alone. `width` is a multiple of 8.
constexpr size_t kPairedElements = 8;

// Where a row's groups of eight elements are.
struct PairedRow {
  size_t first, step;

  PairedRow(size_t row, size_t rows, size_t width)
      : first(row / 2 * 2 * width + row % 2 * kPairedElements),
        step(row % 2 == 0 && row + 1 == rows ? kPairedElements : 2 * kPairedElements) {}
};

// Copies a row of width `width` between two such places.
inline void CopyPairedRow(const int8_t* from, PairedRow source, int8_t* to, PairedRow target, size_t width) {
  for (size_t i = 0; i < width / kPairedElements; ++i) {
    memcpy(to + target.first + i * target.step, from + source.first + i * source.step, kPairedElements);
  }
}

QuantizeKernels GetQuantizeKernels();

}  // namespace fovea

#endif  // FOVEA_RUNTIME_KERNELS_QUANTIZE_H_
