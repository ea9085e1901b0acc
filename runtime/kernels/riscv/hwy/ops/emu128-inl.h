// Included in place of Highway's header of this name when RISC-V is compiled for: vectors of 16 bytes for processors
// with vector instructions (RVV 1.0). Highway's types for RVV have no known size, so they cannot be elements of arrays,
// as kernels need; its target of plain loops (EMU128) has arrays of lanes, from which compilers make poor code. Here
// operations of that target that kernels use are overloaded with clang's fixed-size vectors, which it compiles to RVV
// for any processor with vectors of 128 bits or more. The rest stay loops.
#undef FOVEA_RISCV_VECTORS
#if defined(__clang__) && defined(__riscv_v) && __riscv_v_min_vlen >= 128
#define FOVEA_RISCV_VECTORS 1
#include <math.h>
#include <riscv_vector.h>

#include "hwy/ops/shared-inl.h"
// Vectors are passed to functions as two integers, unless they are aligned: then as one, which becomes a vector again.
#define struct struct alignas(16)
#else
#define FOVEA_RISCV_VECTORS 0
#endif
#include_next "hwy/ops/emu128-inl.h"
#undef struct

#if FOVEA_RISCV_VECTORS
HWY_BEFORE_NAMESPACE();
namespace hwy {
namespace HWY_NAMESPACE {
namespace riscv {

template <typename T, size_t N>
struct Fixed {
  typedef T Type __attribute__((vector_size(N * sizeof(T))));
  typedef T InMemory __attribute__((vector_size(N * sizeof(T)), aligned(sizeof(T)), may_alias));
};
template <typename T, size_t N = 16 / sizeof(T)>
using Raw = typename Fixed<T, N>::Type;

template <typename T, size_t N>
HWY_INLINE Raw<T, N> Of(Vec128<T, N> v) {
  Raw<T, N> raw;
  CopyBytes<N * sizeof(T)>(v.raw, &raw);
  return raw;
}
// The same for lanes that are 16-bit floats.
template <typename U, typename T, size_t N>
HWY_INLINE Raw<U, N> BitsOf(Vec128<T, N> v) {
  Raw<U, N> raw;
  CopyBytes<N * sizeof(T)>(v.raw, &raw);
  return raw;
}
template <typename T, size_t N, class R>
HWY_INLINE Vec128<T, N> To(R raw) {
  static_assert(sizeof(R) == N * sizeof(T), "");
  Vec128<T, N> v;
  CopyBytes<N * sizeof(T)>(&raw, v.raw);
  return v;
}
// Each lane all ones or all zeros.
template <typename T, size_t N>
HWY_INLINE Raw<MakeSigned<T>, N> Of(Mask128<T, N> m) {
  Raw<MakeSigned<T>, N> raw;
  CopyBytes<N * sizeof(T)>(m.bits, &raw);
  return raw;
}
template <typename T, size_t N, class R>
HWY_INLINE Mask128<T, N> ToMask(R raw) {
  static_assert(sizeof(R) == N * sizeof(T), "");
  Mask128<T, N> m;
  CopyBytes<N * sizeof(T)>(&raw, m.bits);
  return m;
}
template <typename T, size_t N>
HWY_INLINE Raw<T, N> Splat(T value) {
  return value - Raw<T, N>{};
}

template <typename T, size_t N>
HWY_INLINE Vec128<T, N> Load(const T* p) {
  using Lane = MakeSigned<T>;
  return To<T, N>(*reinterpret_cast<const typename Fixed<Lane, N>::InMemory*>(p));
}
template <typename T, size_t N>
HWY_INLINE void Store(Vec128<T, N> v, T* p) {
  using Lane = MakeSigned<T>;
  *reinterpret_cast<typename Fixed<Lane, N>::InMemory*>(p) = BitsOf<Lane>(v);
}
// Through memory: a fixed-size vector has no partial access.
template <typename T, size_t N>
HWY_INLINE Vec128<T, N> LoadN(const T* p, size_t count) {
  Vec128<T, N> v;
  count = HWY_MIN(count, N);
  if constexpr (sizeof(T) == 4) {
    const vint32m1_t zero = __riscv_vmv_v_x_i32m1(0, N);
    const vint32m1_t part = __riscv_vle32_v_i32m1_tu(zero, reinterpret_cast<const int32_t*>(p), count);
    __riscv_vse32_v_i32m1(reinterpret_cast<int32_t*>(v.raw), part, N);
  } else if constexpr (sizeof(T) == 2) {
    const vint16m1_t zero = __riscv_vmv_v_x_i16m1(0, N);
    const vint16m1_t part = __riscv_vle16_v_i16m1_tu(zero, reinterpret_cast<const int16_t*>(p), count);
    __riscv_vse16_v_i16m1(reinterpret_cast<int16_t*>(v.raw), part, N);
  } else {
    const vint8m1_t zero = __riscv_vmv_v_x_i8m1(0, N);
    const vint8m1_t part = __riscv_vle8_v_i8m1_tu(zero, reinterpret_cast<const int8_t*>(p), count);
    __riscv_vse8_v_i8m1(reinterpret_cast<int8_t*>(v.raw), part, N);
  }
  return v;
}
template <typename T, size_t N>
HWY_INLINE void StoreN(Vec128<T, N> v, T* p, size_t count) {
  count = HWY_MIN(count, N);
  if constexpr (sizeof(T) == 4) {
    const vint32m1_t all = __riscv_vle32_v_i32m1(reinterpret_cast<const int32_t*>(v.raw), N);
    __riscv_vse32_v_i32m1(reinterpret_cast<int32_t*>(p), all, count);
  } else if constexpr (sizeof(T) == 2) {
    const vint16m1_t all = __riscv_vle16_v_i16m1(reinterpret_cast<const int16_t*>(v.raw), N);
    __riscv_vse16_v_i16m1(reinterpret_cast<int16_t*>(p), all, count);
  } else {
    const vint8m1_t all = __riscv_vle8_v_i8m1(reinterpret_cast<const int8_t*>(v.raw), N);
    __riscv_vse8_v_i8m1(reinterpret_cast<int8_t*>(p), all, count);
  }
}

template <class A>
HWY_INLINE auto Joined(A a, A b) {
  if constexpr (sizeof(a[0]) == 4) return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
  if constexpr (sizeof(a[0]) == 2) {
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  }
}
template <class A>
HWY_INLINE A Lower(A a, A b) {
  return __builtin_shufflevector(a, b, 0, 4, 1, 5);
}
template <class A>
HWY_INLINE A Upper(A a, A b) {
  return __builtin_shufflevector(a, b, 2, 6, 3, 7);
}
template <typename T, class Wide>
HWY_INLINE auto Saturated(Wide v) {
  using Lane = typename std::remove_reference<decltype(v[0])>::type;
  constexpr size_t N = sizeof(v) / sizeof(Lane);
  const Wide least = Splat<Lane, N>(LimitsMin<T>()), most = Splat<Lane, N>(LimitsMax<T>());
  const Wide kept = __builtin_elementwise_min(__builtin_elementwise_max(v, least), most);
  return __builtin_convertvector(kept, Raw<T, N>);
}

}  // namespace riscv

// ---- Memory. Addresses need only the alignment of a lane.

#define FOVEA_MEMORY(T)                                                                     \
  template <size_t M, int kPow2>                                                            \
  HWY_API auto LoadU(Simd<T, M, kPow2> d, const T* HWY_RESTRICT p) {                        \
    return riscv::Load<T, d.MaxLanes()>(p);                                                 \
  }                                                                                         \
  template <size_t M, int kPow2>                                                            \
  HWY_API auto Load(Simd<T, M, kPow2> d, const T* HWY_RESTRICT p) {                         \
    return riscv::Load<T, d.MaxLanes()>(p);                                                 \
  }                                                                                         \
  template <size_t M, int kPow2>                                                            \
  HWY_API auto LoadN(Simd<T, M, kPow2> d, const T* HWY_RESTRICT p, size_t count) {          \
    return riscv::LoadN<T, d.MaxLanes()>(p, count);                                         \
  }                                                                                         \
  template <size_t M, int kPow2, size_t N>                                                  \
  HWY_API void StoreU(Vec128<T, N> v, Simd<T, M, kPow2>, T* HWY_RESTRICT p) {               \
    riscv::Store(v, p);                                                                     \
  }                                                                                         \
  template <size_t M, int kPow2, size_t N>                                                  \
  HWY_API void Store(Vec128<T, N> v, Simd<T, M, kPow2>, T* HWY_RESTRICT p) {                \
    riscv::Store(v, p);                                                                     \
  }                                                                                         \
  template <size_t M, int kPow2, size_t N>                                                  \
  HWY_API void StoreN(Vec128<T, N> v, Simd<T, M, kPow2>, T* HWY_RESTRICT p, size_t count) { \
    riscv::StoreN(v, p, count);                                                             \
  }
FOVEA_MEMORY(float)
FOVEA_MEMORY(int32_t)
FOVEA_MEMORY(uint32_t)
FOVEA_MEMORY(int16_t)
FOVEA_MEMORY(uint16_t)
FOVEA_MEMORY(int8_t)
FOVEA_MEMORY(uint8_t)
FOVEA_MEMORY(float16_t)
FOVEA_MEMORY(bfloat16_t)
#undef FOVEA_MEMORY

// ---- Operations of every lane type

// clang-format off
#define FOVEA_INTEGERS(X)                                                                \
  X(int32_t, 4) X(uint32_t, 4) X(int16_t, 8) X(uint16_t, 8) X(int8_t, 16) X(uint8_t, 16) \
  X(int16_t, 4) X(uint16_t, 4) X(int8_t, 8) X(uint8_t, 8) X(int8_t, 4) X(uint8_t, 4)
// clang-format on

#define FOVEA_BINARY(Name, operation, T, N)                      \
  HWY_API Vec128<T, N> Name(Vec128<T, N> a, Vec128<T, N> b) {    \
    return riscv::To<T, N>(riscv::Of(a) operation riscv::Of(b)); \
  }
#define FOVEA_COMPARISON(Name, operation, T, N)                      \
  HWY_API Mask128<T, N> Name(Vec128<T, N> a, Vec128<T, N> b) {       \
    return riscv::ToMask<T, N>(riscv::Of(a) operation riscv::Of(b)); \
  }

// If a lane is NaN, the smaller and the larger one are the second.
#define FOVEA_OPERATIONS(T, N)                                                                            \
  HWY_API Vec128<T, N> Set(Simd<T, N, 0>, T value) { return riscv::To<T, N>(riscv::Splat<T, N>(value)); } \
  HWY_API Vec128<T, N> Zero(Simd<T, N, 0>) { return riscv::To<T, N>(riscv::Raw<T, N>{}); }                \
  FOVEA_BINARY(Add, +, T, N)                                                                              \
  FOVEA_BINARY(Sub, -, T, N)                                                                              \
  FOVEA_BINARY(Mul, *, T, N)                                                                              \
  FOVEA_COMPARISON(Lt, <, T, N)                                                                           \
  FOVEA_COMPARISON(Gt, >, T, N)                                                                           \
  FOVEA_COMPARISON(Le, <=, T, N)                                                                          \
  FOVEA_COMPARISON(Ge, >=, T, N)                                                                          \
  FOVEA_COMPARISON(Eq, ==, T, N)                                                                          \
  FOVEA_COMPARISON(Ne, !=, T, N)                                                                          \
  HWY_API Vec128<T, N> Min(Vec128<T, N> a, Vec128<T, N> b) {                                              \
    return riscv::To<T, N>(riscv::Of(a) < riscv::Of(b) ? riscv::Of(a) : riscv::Of(b));                    \
  }                                                                                                       \
  HWY_API Vec128<T, N> Max(Vec128<T, N> a, Vec128<T, N> b) {                                              \
    return riscv::To<T, N>(riscv::Of(a) > riscv::Of(b) ? riscv::Of(a) : riscv::Of(b));                    \
  }                                                                                                       \
  HWY_API Vec128<T, N> IfThenElse(Mask128<T, N> m, Vec128<T, N> yes, Vec128<T, N> no) {                   \
    return riscv::To<T, N>(riscv::Of(m) != 0 ? riscv::Of(yes) : riscv::Of(no));                           \
  }                                                                                                       \
  HWY_API Vec128<T, N> IfThenElseZero(Mask128<T, N> m, Vec128<T, N> yes) {                                \
    return riscv::To<T, N>(riscv::Of(m) != 0 ? riscv::Of(yes) : riscv::Raw<T, N>{});                      \
  }                                                                                                       \
  HWY_API Vec128<T, N> IfThenZeroElse(Mask128<T, N> m, Vec128<T, N> no) {                                 \
    return riscv::To<T, N>(riscv::Of(m) != 0 ? riscv::Raw<T, N>{} : riscv::Of(no));                       \
  }
FOVEA_OPERATIONS(float, 4)
FOVEA_INTEGERS(FOVEA_OPERATIONS)
#undef FOVEA_OPERATIONS
#undef FOVEA_COMPARISON

#define FOVEA_OPERATIONS(T, N)                                          \
  FOVEA_BINARY(And, &, T, N)                                            \
  FOVEA_BINARY(Or, |, T, N)                                             \
  FOVEA_BINARY(Xor, ^, T, N)                                            \
  template <int kBits>                                                  \
  HWY_API Vec128<T, N> ShiftLeft(Vec128<T, N> v) {                      \
    return riscv::To<T, N>(riscv::BitsOf<MakeUnsigned<T>>(v) << kBits); \
  }                                                                     \
  template <int kBits>                                                  \
  HWY_API Vec128<T, N> ShiftRight(Vec128<T, N> v) {                     \
    return riscv::To<T, N>(riscv::Of(v) >> kBits);                      \
  }
FOVEA_INTEGERS(FOVEA_OPERATIONS)
#undef FOVEA_OPERATIONS
#undef FOVEA_INTEGERS

// ---- f32

using F32x4 = Vec128<float, 4>;
FOVEA_BINARY(Div, /, float, 4)
#undef FOVEA_BINARY
HWY_API F32x4 MulAdd(F32x4 a, F32x4 b, F32x4 add) {
  return riscv::To<float, 4>(__builtin_elementwise_fma(riscv::Of(a), riscv::Of(b), riscv::Of(add)));
}
HWY_API F32x4 NegMulAdd(F32x4 a, F32x4 b, F32x4 add) {
  return riscv::To<float, 4>(__builtin_elementwise_fma(-riscv::Of(a), riscv::Of(b), riscv::Of(add)));
}
HWY_API F32x4 MulSub(F32x4 a, F32x4 b, F32x4 sub) {
  return riscv::To<float, 4>(__builtin_elementwise_fma(riscv::Of(a), riscv::Of(b), -riscv::Of(sub)));
}
HWY_API F32x4 Neg(F32x4 v) { return riscv::To<float, 4>(-riscv::Of(v)); }
HWY_API F32x4 Abs(F32x4 v) { return riscv::To<float, 4>(__builtin_elementwise_abs(riscv::Of(v))); }
HWY_API F32x4 Sqrt(F32x4 v) { return riscv::To<float, 4>(__builtin_elementwise_sqrt(riscv::Of(v))); }
HWY_API F32x4 Round(F32x4 v) { return riscv::To<float, 4>(__builtin_elementwise_rint(riscv::Of(v))); }
HWY_API F32x4 CopySign(F32x4 v, F32x4 sign) {
  return riscv::To<float, 4>(__builtin_elementwise_copysign(riscv::Of(v), riscv::Of(sign)));
}
#define FOVEA_BITWISE(Name, operation)                                                           \
  HWY_API F32x4 Name(F32x4 a, F32x4 b) {                                                         \
    return riscv::To<float, 4>(riscv::BitsOf<uint32_t>(a) operation riscv::BitsOf<uint32_t>(b)); \
  }
FOVEA_BITWISE(And, &)
FOVEA_BITWISE(Or, |)
FOVEA_BITWISE(Xor, ^)
#undef FOVEA_BITWISE
HWY_API float ReduceMax(Simd<float, 4, 0>, F32x4 v) { return __builtin_reduce_max(riscv::Of(v)); }
HWY_API float ReduceMin(Simd<float, 4, 0>, F32x4 v) { return __builtin_reduce_min(riscv::Of(v)); }

// ---- Conversions

// Conversions of N lanes; saturating if the integers become smaller.
using DF = Simd<float, 4, 0>;
using DW = RepartitionToNarrow<DF>;  // words of 16 bits in a whole vector
#define FOVEA_CONVERSION(Name, From, T, D, N)                                                \
  HWY_API Vec128<T, N> Name(Rebind<T, D>, Vec128<From, N> v) {                               \
    return riscv::To<T, N>(__builtin_convertvector(riscv::Of(v), riscv::Fixed<T, N>::Type)); \
  }
FOVEA_CONVERSION(PromoteTo, int8_t, int16_t, DW, 8)
FOVEA_CONVERSION(PromoteTo, uint8_t, uint16_t, DW, 8)
FOVEA_CONVERSION(PromoteTo, int8_t, int32_t, DF, 4)
FOVEA_CONVERSION(PromoteTo, uint8_t, int32_t, DF, 4)
FOVEA_CONVERSION(PromoteTo, uint8_t, uint32_t, DF, 4)
FOVEA_CONVERSION(PromoteTo, int16_t, int32_t, DF, 4)
FOVEA_CONVERSION(PromoteTo, uint16_t, uint32_t, DF, 4)
FOVEA_CONVERSION(TruncateTo, uint32_t, uint16_t, DF, 4)
FOVEA_CONVERSION(TruncateTo, uint32_t, uint8_t, DF, 4)
FOVEA_CONVERSION(TruncateTo, uint16_t, uint8_t, DW, 8)
FOVEA_CONVERSION(ConvertTo, int32_t, float, DF, 4)
#undef FOVEA_CONVERSION

// To the nearest integer; NaN becomes the least one.
HWY_API Vec128<int32_t> NearestInt(F32x4 v) {
  const auto least = riscv::Splat<float, 4>(-0x1p31f), most = riscv::Splat<float, 4>(0x1.fffffep30f);
  auto kept = riscv::Of(v);
  kept = kept > least ? kept : least;
  kept = kept < most ? kept : most;
  return riscv::To<int32_t, 4>(__builtin_convertvector(__builtin_elementwise_rint(kept), riscv::Raw<int32_t>));
}
// Kernels convert whole numbers only: with the rounding mode's instruction, because QEMU 7.2 stops at the other one.
HWY_API Vec128<int32_t> ConvertTo(Simd<int32_t, 4, 0>, F32x4 v) { return NearestInt(v); }

// bits as f32: exponents are moved by a multiplication, which also normalises small numbers.
HWY_API F32x4 PromoteTo(DF, Vec128<float16_t, 4> v) {
  const auto bits = __builtin_convertvector(riscv::BitsOf<uint16_t>(v), riscv::Fixed<uint32_t, 4>::Type);
  const auto magnitude = (bits & 0x7fff) << 13;
  riscv::Raw<float> small;
  CopyBytes<16>(&magnitude, &small);
  const auto moved = small * 0x1p112f;
  riscv::Raw<uint32_t> result;
  CopyBytes<16>(&moved, &result);
  result = magnitude >= 0x0f800000u ? magnitude | 0x7f800000u : result;  // infinity, NaN
  return riscv::To<float, 4>(result | ((bits & 0x8000) << 16));
}
HWY_API F32x4 PromoteTo(DF, Vec128<bfloat16_t, 4> v) {
  return riscv::To<float, 4>(__builtin_convertvector(riscv::BitsOf<uint16_t>(v), riscv::Fixed<uint32_t, 4>::Type)
                             << 16);
}

#define FOVEA_NARROWER(From, T, D, N)                              \
  HWY_API Vec128<T, N> DemoteTo(Rebind<T, D>, Vec128<From, N> v) { \
    return riscv::To<T, N>(riscv::Saturated<T>(riscv::Of(v)));     \
  }
FOVEA_NARROWER(int32_t, int16_t, DF, 4)
FOVEA_NARROWER(int32_t, int8_t, DF, 4)
FOVEA_NARROWER(int16_t, int8_t, DW, 8)
#undef FOVEA_NARROWER
HWY_API Vec128<int16_t> OrderedDemote2To(Simd<int16_t, 8, 0>, Vec128<int32_t> a, Vec128<int32_t> b) {
  return riscv::To<int16_t, 8>(riscv::Saturated<int16_t>(riscv::Joined(riscv::Of(a), riscv::Of(b))));
}
HWY_API Vec128<int8_t> OrderedDemote2To(Simd<int8_t, 16, 0>, Vec128<int16_t> a, Vec128<int16_t> b) {
  return riscv::To<int8_t, 16>(riscv::Saturated<int8_t>(riscv::Joined(riscv::Of(a), riscv::Of(b))));
}

// ---- Across lanes

#define FOVEA_INTERLEAVE(T, N)                                                          \
  HWY_API Vec128<T, N> InterleaveLower(Simd<T, N, 0>, Vec128<T, N> a, Vec128<T, N> b) { \
    return riscv::To<T, N>(riscv::Lower(riscv::Of(a), riscv::Of(b)));                   \
  }                                                                                     \
  HWY_API Vec128<T, N> InterleaveUpper(Simd<T, N, 0>, Vec128<T, N> a, Vec128<T, N> b) { \
    return riscv::To<T, N>(riscv::Upper(riscv::Of(a), riscv::Of(b)));                   \
  }
FOVEA_INTERLEAVE(float, 4)
FOVEA_INTERLEAVE(int32_t, 4)
FOVEA_INTERLEAVE(uint32_t, 4)
#undef FOVEA_INTERLEAVE
HWY_API void LoadInterleaved2(DF d, const float* HWY_RESTRICT p, F32x4& even, F32x4& odd) {
  const auto low = riscv::Of(LoadU(d, p)), high = riscv::Of(LoadU(d, p + 4));
  even = riscv::To<float, 4>(__builtin_shufflevector(low, high, 0, 2, 4, 6));
  odd = riscv::To<float, 4>(__builtin_shufflevector(low, high, 1, 3, 5, 7));
}
HWY_API void StoreInterleaved2(F32x4 even, F32x4 odd, DF d, float* HWY_RESTRICT p) {
  StoreU(InterleaveLower(d, even, odd), d, p);
  StoreU(InterleaveUpper(d, even, odd), d, p + 4);
}

// ---- Products of integers

HWY_API Vec128<int32_t> ReorderWidenMulAccumulate(Simd<int32_t, 4, 0>, Vec128<int16_t> a, Vec128<int16_t> b,
                                                  Vec128<int32_t> low, Vec128<int32_t>& high) {
  using Half = riscv::Raw<int16_t, 4>;
  using Wide = riscv::Raw<int32_t, 4>;
  const auto x = riscv::Of(a), y = riscv::Of(b);
  const Half x0 = __builtin_shufflevector(x, x, 0, 1, 2, 3), x1 = __builtin_shufflevector(x, x, 4, 5, 6, 7);
  const Half y0 = __builtin_shufflevector(y, y, 0, 1, 2, 3), y1 = __builtin_shufflevector(y, y, 4, 5, 6, 7);
  high = riscv::To<int32_t, 4>(riscv::Of(high) + __builtin_convertvector(x1, Wide) * __builtin_convertvector(y1, Wide));
  return riscv::To<int32_t, 4>(riscv::Of(low) + __builtin_convertvector(x0, Wide) * __builtin_convertvector(y0, Wide));
}

}  // namespace HWY_NAMESPACE
}  // namespace hwy
HWY_AFTER_NAMESPACE();
#endif  // FOVEA_RISCV_VECTORS
