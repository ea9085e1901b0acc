// Steps of recurrent cells.
#include "runtime/kernels/recurrent.h"

#include "runtime/blob/included.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/kernels/recurrent.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "runtime/kernels/kernels.h"
#include "runtime/kernels/loop-inl.h"
#include "runtime/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {
namespace {

struct SigmoidGate {
  HWY_INLINE F32Vec operator()(F32 d, F32Vec x) const { return FastSigmoid(d, x); }
};
struct HardSigmoidGate {
  HWY_INLINE F32Vec operator()(F32 d, F32Vec x) const { return HardSigmoid(d, x); }
};

template <class Lanes>
HWY_INLINE F32Vec Sum(F32 d, Lanes lanes, const float* x, const float* u) {
  return hn::Add(lanes.Load(d, x), lanes.Load(d, u));
}

// z h + (1 - z) n
HWY_INLINE F32Vec Blend(F32Vec z, F32Vec h, F32Vec n) { return hn::MulAdd(z, hn::Sub(h, n), n); }

template <class Act>
void Gru(const float* x, const float* u, size_t width, float* h) {
  const F32 d;
  const float *x_z = x + width, *x_n = x + 2 * width, *u_z = u + width, *u_n = u + 2 * width;
  ForVectors(d, width, [=](size_t i, auto lanes) HWY_ATTR {
    const F32Vec r = Act()(d, Sum(d, lanes, x + i, u + i)), z = Act()(d, Sum(d, lanes, x_z + i, u_z + i));
    const F32Vec n = FastTanh(d, hn::MulAdd(r, lanes.Load(d, u_n + i), lanes.Load(d, x_n + i)));
    lanes.Store(Blend(z, lanes.Load(d, h + i), n), d, h + i);
  });
}

template <class Act>
void GruReset(const float* x, const float* u, const float* h, size_t width, float* y) {
  const F32 d;
  ForVectors(d, width, [=](size_t i, auto lanes) HWY_ATTR {
    lanes.Store(hn::Mul(Act()(d, Sum(d, lanes, x + i, u + i)), lanes.Load(d, h + i)), d, y + i);
  });
}

template <class Act>
void GruUpdate(const float* x, const float* u, const float* n, size_t width, float* h) {
  const F32 d;
  const float *x_z = x + width, *x_n = x + 2 * width, *u_z = u + width;
  ForVectors(d, width, [=](size_t i, auto lanes) HWY_ATTR {
    const F32Vec z = Act()(d, Sum(d, lanes, x_z + i, u_z + i));
    const F32Vec candidate = FastTanh(d, Sum(d, lanes, x_n + i, n + i));
    lanes.Store(Blend(z, lanes.Load(d, h + i), candidate), d, h + i);
  });
}

// Input of a gate: its sum, with peepholes plus the cell times a weight.
struct NoPeepholes {
  template <class Lanes>
  HWY_INLINE F32Vec operator()(F32 /*d*/, Lanes /*lanes*/, size_t /*at*/, F32Vec /*cell*/, F32Vec sum) const {
    return sum;
  }
};
struct Peepholes {
  template <class Lanes>
  HWY_INLINE F32Vec operator()(F32 d, Lanes lanes, size_t at, F32Vec cell, F32Vec sum) const {
    return hn::MulAdd(lanes.Load(d, peepholes + at), cell, sum);
  }
  const float* peepholes;
};

template <class Act, class See>
HWY_INLINE void LstmSeeing(const float* x, const float* u, See see, size_t width, float* h, float* c) {
  const F32 d;
  const float *x_f = x + width, *x_g = x + 2 * width, *x_o = x + 3 * width;
  const float *u_f = u + width, *u_g = u + 2 * width, *u_o = u + 3 * width;
  ForVectors(d, width, [=](size_t i, auto lanes) HWY_ATTR {
    const F32Vec old = lanes.Load(d, c + i);
    const F32Vec in = Act()(d, see(d, lanes, i, old, Sum(d, lanes, x + i, u + i)));
    const F32Vec forget = Act()(d, see(d, lanes, width + i, old, Sum(d, lanes, x_f + i, u_f + i)));
    const F32Vec g = FastTanh(d, Sum(d, lanes, x_g + i, u_g + i));
    const F32Vec cell = hn::MulAdd(forget, old, hn::Mul(in, g));
    const F32Vec out = Act()(d, see(d, lanes, 2 * width + i, cell, Sum(d, lanes, x_o + i, u_o + i)));
    lanes.Store(cell, d, c + i);
    lanes.Store(hn::Mul(out, FastTanh(d, cell)), d, h + i);
  });
}

template <class Act>
void Lstm(const float* x, const float* u, size_t width, float* h, float* c) {
  LstmSeeing<Act>(x, u, NoPeepholes{}, width, h, c);
}

template <class Act>
void LstmPeephole(const float* x, const float* u, const float* p, size_t width, float* h, float* c) {
  LstmSeeing<Act>(x, u, Peepholes{p}, width, h, c);
}

template <class Act>
constexpr CellKernels CellsOf() {
  constexpr bool kGru = IsIncluded(CellKind::kGru), kLstm = IsIncluded(CellKind::kLstm);
  return {kGru ? Gru<Act> : nullptr, kGru ? GruReset<Act> : nullptr, kGru ? GruUpdate<Act> : nullptr,
          kLstm ? Lstm<Act> : nullptr, kLstm && kHasPeepholes ? LstmPeephole<Act> : nullptr};
}

constexpr RecurrentKernels MakeRecurrentKernels() {
  if (!Includes("operation", "recurrent") && !Includes("operation", "cell")) return {};
  return {{CellsOf<SigmoidGate>(), CellsOf<HardSigmoidGate>()}};
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea {
FOVEA_EXPORT_KERNELS(Recurrent, recurrent)
}  // namespace fovea
#endif
