// Fast elementary functions on vectors of f32. Every formula passes NaN through without a test for it.
// The coefficients are minimax fits made for this file; the bounds stated are over all finite floats, rounding
// included.
#if defined(FOVEA_RUNTIME_KERNELS_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_RUNTIME_KERNELS_MATH_INL_H_
#undef FOVEA_RUNTIME_KERNELS_MATH_INL_H_
#else
#define FOVEA_RUNTIME_KERNELS_MATH_INL_H_
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// c0 + c1 x + c2 x^2 + ... by Horner's rule.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Polynomial(D d, V /*x*/, float c0) {
  return hn::Set(d, c0);
}
template <class D, class V = hn::Vec<D>, class... Rest>
HWY_INLINE V Polynomial(D d, V x, float c0, float c1, Rest... rest) {
  return hn::MulAdd(Polynomial(d, x, c1, rest...), x, hn::Set(d, c0));
}

// Adding this to |t| < 2^22 rounds t to an integer n, held in the low bits as n + 127: the exponent field of 2^n.
inline constexpr float kRoundMagic = 12582912.0f + 127.0f;

// 2^n for `rounded` = n + kRoundMagic, -126 <= n <= 128 (128 gives infinity).
template <class D, class V = hn::Vec<D>>
HWY_INLINE V PowerOfTwo(D d, V rounded) {
  const hn::RebindToUnsigned<D> du;
  return hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(du, rounded)));
}

// e^x for x <= 88; relative error 1.8e-7. Below -87.3 the result is 0 (also for -infinity).
template <class D, class V = hn::Vec<D>>
HWY_INLINE V FastExp(D d, V x) {
  const V magic = hn::Set(d, kRoundMagic);
  const V rounded = hn::MulAdd(x, hn::Set(d, 1.44269504f), magic);
  const V n = hn::Sub(rounded, magic);
  // ln 2 in two parts, the first of 9 bits so that n times it is exact without FMA as well.
  V r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x);
  r = hn::MulAdd(n, hn::Set(d, 2.12194440e-4f), r);
  const V p =
      Polynomial(d, r, 1.0f, 9.999997020e-01f, 4.999914765e-01f, 1.666765213e-01f, 4.189817607e-02f, 8.289358579e-03f);
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -87.3f)), hn::Mul(p, PowerOfTwo(d, rounded)));
}

// 2^x for -126 <= x < 127.5; relative error 1.8e-7. From 127.5 to 128 the result is infinity. Below -126 it is at most
// 2^-126 and never negative, and from -127 to below -126.5 exactly 0: clamping at -127 turns what is far below into
// zeros. Outside -127 <= x <= 128: unspecified.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V FastExp2(D d, V x) {
  const V magic = hn::Set(d, kRoundMagic);
  const V rounded = hn::Add(x, magic);
  const V r = hn::Sub(x, hn::Sub(rounded, magic));
  const V p =
      Polynomial(d, r, 1.0f, 6.931470037e-01f, 2.402224541e-01f, 5.550706759e-02f, 9.671361186e-03f, 1.327136531e-03f);
  return hn::Mul(p, PowerOfTwo(d, rounded));
}

// tanh x; relative error 4e-7 (so it may exceed 1 by two ulp), exactly +-1 beyond |x| = 9.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V FastTanh(D d, V x) {
  const V u = hn::Mul(x, x);
  const V p = Polynomial(d, u, 1.0f, 1.338105053e-01f, 3.495616373e-03f, 2.060951192e-05f, 1.335519695e-08f);
  const V q = Polynomial(d, u, 1.0f, 4.671436548e-01f, 2.587709203e-02f, 3.285679559e-04f, 7.776790198e-07f);
  const V one = hn::Set(d, 1.0f);
  return hn::IfThenElse(hn::Gt(hn::Abs(x), hn::Set(d, 9.0f)), hn::CopySign(one, x), hn::Div(hn::Mul(x, p), q));
}

// 1 / (1 + e^-x); relative error 4e-7. Below -87.3 the result is 0.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V FastSigmoid(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  const V e = FastExp(d, hn::Neg(hn::Abs(x)));
  return hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one), hn::Add(one, e));
}

// log(1 / (1 + e^-x)) = min(x, 0) - log(1 + e^-|x|); relative error 5e-7. From 87.3 on the result is 0.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V FastLogSigmoid(D d, V x) {
  const V e = FastExp(d, hn::Neg(hn::Abs(x)));
  // log(1 + e) = 2 artanh(s) for s = e / (2 + e) <= 1/3.
  const V s = hn::Div(e, hn::Add(e, hn::Set(d, 2.0f)));
  const V p =
      Polynomial(d, hn::Mul(s, s), 2.0f, 6.666632164e-01f, 4.002459523e-01f, 2.796515774e-01f, 2.815777837e-01f);
  return hn::NegMulAdd(s, p, hn::Min(x, hn::Zero(d)));
}

// Natural logarithm; relative error 3e-7. Numbers below 2^-126 count as 2^-126.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V FastLog(D d, V x) {
  const hn::RebindToSigned<D> di;
  const V least = hn::Set(d, 0x1p-126f);
  const auto bits = hn::BitCast(di, hn::IfThenElse(hn::Lt(x, least), least, x));
  // x = m 2^n for m from sqrt(1/2) to sqrt(2), and log m = 2 artanh(s) for |s| <= 0.172.
  const auto half = hn::Set(di, 0x3f3504f3);
  const auto above = hn::Sub(bits, half);
  const V n = hn::ConvertTo(d, hn::ShiftRight<23>(above));
  const V m = hn::BitCast(d, hn::Add(hn::And(above, hn::Set(di, 0x007fffff)), half));
  const V one = hn::Set(d, 1.0f);
  const V s = hn::Div(hn::Sub(m, one), hn::Add(m, one));
  const V p =
      Polynomial(d, hn::Mul(s, s), 2.0f, 6.666666667e-01f, 4.000000000e-01f, 2.857142857e-01f, 2.222222222e-01f);
  // ln 2 in two parts as in FastExp.
  const V low = hn::MulAdd(s, p, hn::Mul(n, hn::Set(d, -2.12194440e-4f)));
  const V log = hn::MulAdd(n, hn::Set(d, 0.693359375f), low);
  return hn::IfThenElse(hn::Le(x, hn::Set(d, 0x1.fffffep127f)), log, x);  // infinity and NaN
}

// 0.2 x + 0.5 between 0 and 1.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V HardSigmoid(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  const V y = hn::MulAdd(x, hn::Set(d, 0.2f), hn::Set(d, 0.5f));
  return hn::IfThenZeroElse(hn::Lt(y, hn::Zero(d)), hn::IfThenElse(hn::Gt(y, one), one, y));
}

// Sine and cosine of x; absolute error 8e-8 for |x| <= 2^20. Beyond that the results are arbitrary, at most 1 in size.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void FastSinCos(D d, V x, V& sin, V& cos) {
  const hn::RebindToSigned<D> di;
  // x - n pi / 2: n in two parts of 10 bits and pi / 2 in two of 13 bits and a rest, so that products and differences
  // are exact, with FMA and without.
  const V n = hn::Round(hn::Mul(x, hn::Set(d, 0.636619747f)));
  const V high = hn::Mul(hn::Round(hn::Mul(n, hn::Set(d, 0x1p-10f))), hn::Set(d, 0x1p10f)), low = hn::Sub(n, high);
  const V first = hn::Set(d, 1.570556640625f), second = hn::Set(d, 2.396702766418457e-4f);
  V r = hn::NegMulAdd(low, first, hn::NegMulAdd(high, first, x));
  r = hn::NegMulAdd(low, second, hn::NegMulAdd(high, second, r));
  r = hn::NegMulAdd(n, hn::Set(d, 1.5893254773528196e-8f), r);
  r = hn::Min(hn::Max(r, hn::Set(d, -1.0f)), hn::Set(d, 1.0f));
  const V z = hn::Mul(r, r);
  const V odd = hn::Mul(hn::Mul(r, z), Polynomial(d, z, -1.666665077e-01f, 8.331957273e-03f, -1.949342695e-04f));
  const V even = Polynomial(d, z, 4.166664556e-02f, -1.388734090e-03f, 2.443577978e-05f);
  const V s = hn::Add(r, odd);
  const V c = hn::MulAdd(hn::Mul(z, z), even, hn::NegMulAdd(z, hn::Set(d, 0.5f), hn::Set(d, 1.0f)));
  const auto quarter = hn::ConvertTo(di, n);
  const auto swap = hn::RebindMask(d, hn::TestBit(quarter, hn::Set(di, 1)));
  const auto sign_of = [d, di](auto turn)
                           HWY_ATTR { return hn::BitCast(d, hn::ShiftLeft<30>(hn::And(turn, hn::Set(di, 2)))); };
  sin = hn::Xor(hn::IfThenElse(swap, c, s), sign_of(quarter));
  cos = hn::Xor(hn::IfThenElse(swap, s, c), sign_of(hn::Add(quarter, hn::Set(di, 1))));
}

}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#endif  // per target
