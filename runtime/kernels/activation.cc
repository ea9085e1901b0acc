// Activation functions on vectors.
#include "runtime/kernels/activation.h"

#include "runtime/blob/included.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/kernels/activation.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "runtime/kernels/kernels.h"
#include "runtime/kernels/loop-inl.h"
#include "runtime/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {
namespace {

struct None {
  HWY_INLINE F32Vec operator()(F32 /*d*/, F32Vec x) const { return x; }
};

struct Relu {
  HWY_INLINE F32Vec operator()(F32 d, F32Vec x) const { return hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x); }
};

// Activations of the form x * F(x) with F(-x) = 1 - F(x) are max(x, 0) - |x| * F(-|x|): one smooth piece, no
// cancellation, and exact zeros where |x| * F(-|x|) (the tail) is below kLimit's reach.
template <class Tail>
struct MinusTail {
  HWY_INLINE F32Vec operator()(F32 d, F32Vec x) const {
    const F32Vec a = hn::Abs(x);
    const F32Vec tail = hn::Mul(a, Tail()(d, a));
    return hn::Sub(hn::Max(x, hn::Zero(d)), hn::IfThenZeroElse(hn::Gt(a, hn::Set(d, Tail::kLimit)), tail));
  }
};

// The normal distribution's P(X > a) as 2^polynomial: its logarithm is nearly a parabola. a * tail is within 1e-7.
struct NormalTail {
  static constexpr float kLimit = 6.0f;
  HWY_INLINE F32Vec operator()(F32 d, F32Vec a) const {
    return FastExp2(d,
                    Polynomial(d, a, -1.0f, -1.151137710e+00f, -4.589801729e-01f, -5.307722837e-02f, 7.783416659e-03f,
                               -6.160947378e-04f, -1.201111172e-05f, 6.921117802e-06f, -4.142412990e-07f));
  }
};

// e / (1 + e) for e = 2^-(2 sqrt(2/pi) (a + 0.044715 a^3) / ln 2).
struct GeluTanhTail {
  static constexpr float kLimit = 8.0f;
  HWY_INLINE F32Vec operator()(F32 d, F32Vec a) const {
    const F32Vec e = FastExp2(d, hn::Mul(a, Polynomial(d, hn::Mul(a, a), -2.30220819f, -0.102943240f)));
    return hn::Div(e, hn::Add(e, hn::Set(d, 1.0f)));
  }
};

struct LogisticTail {
  static constexpr float kLimit = 87.0f;
  HWY_INLINE F32Vec operator()(F32 d, F32Vec a) const {
    const F32Vec e = FastExp(d, hn::Neg(a));
    return hn::Div(e, hn::Add(e, hn::Set(d, 1.0f)));
  }
};

struct QuickTail {
  static constexpr float kLimit = 51.0f;
  HWY_INLINE F32Vec operator()(F32 d, F32Vec a) const { return LogisticTail()(d, hn::Mul(a, hn::Set(d, 1.702f))); }
};

struct Tanh {
  HWY_INLINE F32Vec operator()(F32 d, F32Vec x) const { return FastTanh(d, x); }
};

struct Sigmoid {
  HWY_INLINE F32Vec operator()(F32 d, F32Vec x) const { return FastSigmoid(d, x); }
};

struct LogSigmoid {
  HWY_INLINE F32Vec operator()(F32 d, F32Vec x) const { return FastLogSigmoid(d, x); }
};

struct HardSigmoidOf {
  HWY_INLINE F32Vec operator()(F32 d, F32Vec x) const { return HardSigmoid(d, x); }
};

struct Log {
  HWY_INLINE F32Vec operator()(F32 d, F32Vec x) const { return FastLog(d, x); }
};

template <class Act>
void Apply(const float* x, size_t count, float* y) {
  const F32 d;
  MapVectors(d, count, y, [=](size_t i, auto lanes) HWY_ATTR { return Act()(d, lanes.Load(d, x + i)); });
}

template <class Act>
void Gate(const float* a, const float* b, size_t count, float* y) {
  const F32 d;
  MapVectors(d, count, y, [=](size_t i, auto lanes) HWY_ATTR {
    return hn::Mul(Act()(d, lanes.Load(d, a + i)), lanes.Load(d, b + i));
  });
}

// In the order of the enumeration. Null: this build does not include the activation.
template <class... Acts>
constexpr ActivationKernels TableOf() {
  static_assert(sizeof...(Acts) == kActivationCount, "an activation is missing");
  uint32_t i = 0, k = 0;
  return {{(IsIncluded(Activation(i++)) ? Apply<Acts> : nullptr)...},
          {(IsIncluded(Activation(k++)) && Includes("operation", "gate") ? Gate<Acts> : nullptr)...}};
}

constexpr ActivationKernels MakeActivationKernels() {
  return TableOf<None, Relu, MinusTail<NormalTail>, MinusTail<GeluTanhTail>, MinusTail<LogisticTail>, Tanh, Sigmoid,
                 LogSigmoid, HardSigmoidOf, MinusTail<QuickTail>, Log>();
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea {
FOVEA_EXPORT_KERNELS(Activation, activation)
}  // namespace fovea
#endif
