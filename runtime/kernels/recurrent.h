// One step of one row of a recurrent layer: gates and old state -> new state.
#ifndef FOVEA_RUNTIME_KERNELS_RECURRENT_H_
#define FOVEA_RUNTIME_KERNELS_RECURRENT_H_

#include <stddef.h>
#include <stdint.h>

namespace fovea {

// In every call x is the input part of the gates and u the state part, biases included: parts of `width`, concatenated:
// r, z, n for a GRU and i, f, g, o for an LSTM. s is the activation of gates. Absolute error below 1e-6 * (1 + |x_n| +
// |u_n|) for a GRU, 1e-6 * (1 + |c|) for an LSTM's h and c.
struct CellKernels {
  // h = z h + (1 - z) tanh(x_n + r u_n), r = s(x_r + u_r), z = s(x_z + u_z)
  void (*gru)(const float* x, const float* u, size_t width, float* h);
  // The same in two halves, for layers that reset before the matmul: y = r h (u: r and z only) ...
  void (*gru_reset)(const float* x, const float* u, const float* h, size_t width, float* y);
  // ... and h = z h + (1 - z) tanh(x_n + n), where n was computed from y
  void (*gru_update)(const float* x, const float* u, const float* n, size_t width, float* h);
  // c = s(f) c + s(i) tanh(g), h = s(o) tanh(c)
  void (*lstm)(const float* x, const float* u, size_t width, float* h, float* c);
  // The same with peepholes p to i, f and o: i and f read the old cell state, o the new one.
  void (*lstm_peephole)(const float* x, const float* u, const float* p, size_t width, float* h, float* c);
};

enum class Gate : uint32_t { kSigmoid = 0, kHardSigmoid = 1 };
inline constexpr uint32_t kGateCount = 2;

// NaN gives NaN. No output may be another argument's memory.
struct RecurrentKernels {
  CellKernels of[kGateCount];  // by Gate
};

RecurrentKernels GetRecurrentKernels();

}  // namespace fovea

#endif  // FOVEA_RUNTIME_KERNELS_RECURRENT_H_
