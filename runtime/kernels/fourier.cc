// Mixed-radix transforms in natural order (Stockham): each lane is a frame, so that all steps are plain vector
// arithmetic and no frame's bits depend on another frame.
#include "runtime/kernels/fourier.h"

#include "runtime/base/profile.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/kernels/fourier.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "runtime/kernels/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::CappedTag<float, kFourierLanes>;
using LanesVec = hn::Vec<Lanes>;

struct Complex {
  LanesVec re, im;
};
constexpr size_t kComplex = 2 * kFourierLanes;  // floats per complex number of all lanes

HWY_INLINE Complex Load(Lanes d, const float* at) { return {hn::LoadU(d, at), hn::LoadU(d, at + kFourierLanes)}; }

// One Stockham pass. x holds transforms of `done` numbers: number k of transform j at k * (all / done) + j. y gets
// transforms of `done * factor`: number k is the sum over r of e^(-2 pi i r k / (done * factor)) times number k % done
// of transform j + r * rest.
void Pass(const Fourier& fourier, size_t done, size_t factor, const float* x, float* y) {
  const Lanes d;
  const size_t all = fourier.complex_size(), rest = all / (done * factor), size = fourier.size;
  for (size_t k = 0; k < done * factor; ++k) {
    const size_t turn = k * rest * (size / all);  // in parts of the circle, of which there are `size`
    const float* from = x + (k % done) * (all / done) * kComplex;
    float* to = y + k * rest * kComplex;
    for (size_t at = 0; at < rest * kComplex; at += kComplex) {
      for (size_t lane = 0; lane < kFourierLanes; lane += hn::Lanes(d)) {
        const float* in = from + at + lane;
        Complex sum = Load(d, in);
        for (size_t r = 1, angle = turn; r < factor; ++r) {
          const Complex z = Load(d, in + r * rest * kComplex);
          const LanesVec cos = hn::Set(d, fourier.cosines[angle]), sin = hn::Set(d, fourier.sines[angle]);
          sum.re = hn::MulAdd(z.im, sin, hn::MulAdd(z.re, cos, sum.re));
          sum.im = hn::NegMulAdd(z.re, sin, hn::MulAdd(z.im, cos, sum.im));
          angle += turn;
          if (angle >= size) angle -= size;
        }
        hn::StoreU(sum.re, d, to + at + lane);
        hn::StoreU(sum.im, d, to + at + lane + kFourierLanes);
      }
    }
  }
}

// Number k of the transform of real numbers that were stored in pairs as complex ones: the symmetric part of their
// transform z comes from the numbers at even places, the antisymmetric part from the odd places.
HWY_INLINE Complex OfPairs(Lanes d, const Fourier& fourier, const float* z, size_t k) {
  const size_t all = fourier.complex_size();
  const Complex a = Load(d, z + k % all * kComplex), b = Load(d, z + (all - k) % all * kComplex);
  const LanesVec half = hn::Set(d, 0.5f);
  const Complex even = {hn::Mul(half, hn::Add(a.re, b.re)), hn::Mul(half, hn::Sub(a.im, b.im))};
  const Complex odd = {hn::Mul(half, hn::Add(a.im, b.im)), hn::Mul(half, hn::Sub(b.re, a.re))};
  const LanesVec cos = hn::Set(d, fourier.cosines[k]), sin = hn::Set(d, fourier.sines[k]);
  return {hn::MulAdd(odd.im, sin, hn::MulAdd(odd.re, cos, even.re)),
          hn::NegMulAdd(odd.re, sin, hn::MulAdd(odd.im, cos, even.im))};
}

const float* Spectrum(const Fourier& fourier, size_t bins, bool squares, float* a, float* b) {
  const Lanes d;
  size_t done = 1;
  for (size_t i = 0; i < fourier.count; ++i) {
    Pass(fourier, done, fourier.factors[i], a, b);
    done *= fourier.factors[i];
    float* const other = a;
    a = b, b = other;
  }
  for (size_t k = 0; k < bins; ++k) {
    for (size_t lane = 0; lane < kFourierLanes; lane += hn::Lanes(d)) {
      const Complex z = fourier.even() ? OfPairs(d, fourier, a + lane, k) : Load(d, a + k * kComplex + lane);
      const LanesVec square = hn::MulAdd(z.re, z.re, hn::Mul(z.im, z.im));
      hn::StoreU(squares ? square : hn::Sqrt(square), d, b + k * kFourierLanes + lane);
    }
  }
  return b;
}

constexpr FourierKernels MakeFourierKernels() { return {Includes("operation", "spectrum") ? Spectrum : nullptr}; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea {
FOVEA_EXPORT_KERNELS(Fourier, fourier)

}  // namespace fovea
#endif
