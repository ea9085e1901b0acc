// Quantizes rows of activations to int8, each with its own range, for integer matmuls.
#ifndef FOVEA_RUNTIME_KERNELS_QUANTIZE_H_
#define FOVEA_RUNTIME_KERNELS_QUANTIZE_H_

#include <stddef.h>
#include <stdint.h>

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
};

QuantizeKernels GetQuantizeKernels();

}  // namespace fovea

#endif  // FOVEA_RUNTIME_KERNELS_QUANTIZE_H_
