// Products of f32 are exact in f64, so a sum's error is that of its additions: below count * 2^-53 of the terms' sizes.
#include "runtime/kernels/similarity.h"

#include <math.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/kernels/similarity.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "runtime/kernels/loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {
namespace {

#if HWY_HAVE_FLOAT64 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128

using F64 = hn::ScalableTag<double>;
using F64Vec = hn::Vec<F64>;

HWY_INLINE F64Vec Wide(const float* x) { return hn::PromoteTo(F64(), hn::LoadU(hn::Rebind<float, F64>(), x)); }
HWY_INLINE F64Vec Wide(const float* x, size_t count) {
  return hn::PromoteTo(F64(), hn::LoadN(hn::Rebind<float, F64>(), x, count));
}

// The sum of term(a, b, sum) in four chains; zeros beyond the end add nothing.
template <class Term>
HWY_INLINE double Sum(const float* a, const float* b, size_t count, const Term& term) {
  const F64 d;
  const size_t n = hn::Lanes(d);
  F64Vec s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  size_t i = 0;
  for (; i + 4 * n <= count; i += 4 * n) {
    s0 = term(Wide(a + i), Wide(b + i), s0);
    s1 = term(Wide(a + i + n), Wide(b + i + n), s1);
    s2 = term(Wide(a + i + 2 * n), Wide(b + i + 2 * n), s2);
    s3 = term(Wide(a + i + 3 * n), Wide(b + i + 3 * n), s3);
  }
  for (; i + n <= count; i += n) s0 = term(Wide(a + i), Wide(b + i), s0);
  if (i < count) s1 = term(Wide(a + i, count - i), Wide(b + i, count - i), s1);
  return hn::ReduceSum(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)));
}

HWY_INLINE F64Vec ProductTerm(F64Vec x, F64Vec y, F64Vec sum) { return hn::MulAdd(x, y, sum); }
HWY_INLINE F64Vec SquareTerm(F64Vec x, F64Vec y, F64Vec sum) {
  const F64Vec apart = hn::Sub(x, y);
  return hn::MulAdd(apart, apart, sum);
}
HWY_INLINE F64Vec AbsoluteTerm(F64Vec x, F64Vec y, F64Vec sum) { return hn::Add(sum, hn::Abs(hn::Sub(x, y))); }

#else

template <class Term>
double Sum(const float* a, const float* b, size_t count, const Term& term) {
  double sum = 0;
  for (size_t i = 0; i < count; ++i) sum = term(double{a[i]}, double{b[i]}, sum);
  return sum;
}

double ProductTerm(double x, double y, double sum) { return sum + x * y; }
double SquareTerm(double x, double y, double sum) { return sum + (x - y) * (x - y); }
double AbsoluteTerm(double x, double y, double sum) { return sum + fabs(x - y); }

#endif

// Terms are lambdas, because functions passed as pointers might not be inlined.
#define FOVEA_TERM(name) [](auto x, auto y, auto sum) HWY_ATTR { return name(x, y, sum); }

double Dot(const float* a, const float* b, size_t count) { return Sum(a, b, count, FOVEA_TERM(ProductTerm)); }
DotProducts Dots(const float* a, const float* b, size_t count) {
  return {Dot(a, b, count), Dot(a, a, count), Dot(b, b, count)};
}
double Squared(const float* a, const float* b, size_t count) { return Sum(a, b, count, FOVEA_TERM(SquareTerm)); }
double Manhattan(const float* a, const float* b, size_t count) { return Sum(a, b, count, FOVEA_TERM(AbsoluteTerm)); }

#undef FOVEA_TERM

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea {
namespace {

HWY_EXPORT(Dot);
HWY_EXPORT(Dots);
HWY_EXPORT(Squared);
HWY_EXPORT(Manhattan);

}  // namespace

double DotProduct(const float* a, const float* b, size_t count) { return HWY_DYNAMIC_DISPATCH(Dot)(a, b, count); }
DotProducts DotProductsWithLengths(const float* a, const float* b, size_t count) {
  return HWY_DYNAMIC_DISPATCH(Dots)(a, b, count);
}
double SquaredDistance(const float* a, const float* b, size_t count) {
  return HWY_DYNAMIC_DISPATCH(Squared)(a, b, count);
}
double ManhattanDistance(const float* a, const float* b, size_t count) {
  return HWY_DYNAMIC_DISPATCH(Manhattan)(a, b, count);
}

}  // namespace fovea
#endif
