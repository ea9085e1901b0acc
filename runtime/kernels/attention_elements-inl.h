// Loads elements of keys and values of any stored type as vectors of f32: along a row, and across rows.
#if defined(FOVEA_RUNTIME_KERNELS_ATTENTION_ELEMENTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_RUNTIME_KERNELS_ATTENTION_ELEMENTS_INL_H_
#undef FOVEA_RUNTIME_KERNELS_ATTENTION_ELEMENTS_INL_H_
#else
#define FOVEA_RUNTIME_KERNELS_ATTENTION_ELEMENTS_INL_H_
#endif

#include "hwy/highway.h"
#include "runtime/base/dtype.h"
#include "runtime/kernels/attention.h"
#include "runtime/kernels/loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, kAttentionLanes>;
using V = hn::Vec<D>;
constexpr size_t kLanes = hn::MaxLanes(D());

// f(T()), T the type of stored elements.
template <class F>
HWY_INLINE void WithElement(DType type, const F f) {
  if constexpr (kRowsF16) {
    if (type == DType::kF16) return f(hwy::float16_t());
  }
  if constexpr (kRowsBf16) {
    if (type == DType::kBf16) return f(hwy::bfloat16_t());
  }
  if constexpr (kRowsI8) {
    if (type == DType::kI8) return f(int8_t());
  }
  f(float());
}

// ---- Along a row

// The next elements of a row, as many as `lanes`. Elements of int8 still need the row's scale.
template <class DB, class Lanes>
HWY_INLINE hn::Vec<DB> LoadElements(DB d, const float* from, Lanes lanes) {
  return lanes.Load(d, from);
}
template <class DB, class T, class Lanes>
HWY_INLINE hn::Vec<DB> LoadElements(DB d, const T* from, Lanes lanes) {
  return hn::PromoteTo(d, lanes.Load(hn::Rebind<T, DB>(), from));
}
template <class DB, class Lanes>
HWY_INLINE hn::Vec<DB> LoadElements(DB d, const int8_t* from, Lanes lanes) {
  return hn::ConvertTo(d, hn::PromoteTo(hn::RebindToSigned<DB>(), lanes.Load(hn::Rebind<int8_t, DB>(), from)));
}

template <typename T>
constexpr bool kScaled = false;
template <>
inline constexpr bool kScaled<int8_t> = true;

// The factor for an element from TransposeElements.
template <typename T>
constexpr float kUnit = 1.0f;

// ---- Over rows

// Below, `rows` are the rows of kLanes keys, one per lane.

// The number of elements that are loaded from a row at once.
template <typename T>
constexpr size_t kLoaded = 16 / sizeof(T);

#if HWY_TARGET == HWY_SCALAR || HWY_HAVE_SCALABLE
template <bool kPart, typename T, class DB, class Use>
HWY_INLINE void TransposeElements(DB d, const uint8_t* const* rows, size_t offset, size_t count, const Use use) {
  HWY_ALIGN float lanes[hn::MaxLanes(DB())];
  const hn::CappedTag<float, 1> one;
  for (size_t e = 0; e < count; ++e) {
    for (size_t lane = 0; lane < hn::MaxLanes(DB()); ++lane) {
      const T* row = reinterpret_cast<const T*>(rows[lane]) + offset;
      lanes[lane] = hn::GetLane(LoadElements(one, row + e, AllLanes()));
    }
    use(e, hn::Load(d, lanes));
  }
}
#else
template <>
inline constexpr float kUnit<int8_t> = 0x1p-24f;

// Splits 32-bit words of kLanes keys into elements: use(first + i, the i-th element of each word).
template <class DB, class Use>
HWY_INLINE void ForElementsOf(DB /*d*/, float, hn::Vec<DB> words, size_t first, const Use use) {
  use(first, words);
}
template <class DB, class Use>
HWY_INLINE void ForElementsOf(DB d, hwy::bfloat16_t, hn::Vec<DB> words, size_t first, const Use use) {
  const hn::RebindToUnsigned<DB> bits;
  const auto pairs = hn::BitCast(bits, words);
  use(first, hn::BitCast(d, hn::ShiftLeft<16>(pairs)));
  use(first + 1, hn::BitCast(d, hn::And(pairs, hn::Set(bits, 0xffff0000u))));
}
template <class DB, class Use>
HWY_INLINE void ForElementsOf(DB d, hwy::float16_t, hn::Vec<DB> words, size_t first, const Use use) {
  const hn::RebindToUnsigned<DB> bits;
  const hn::Rebind<uint16_t, DB> half_bits;
  const hn::Rebind<hwy::float16_t, DB> half;
  const auto pairs = hn::BitCast(bits, words);
  use(first, hn::PromoteTo(d, hn::BitCast(half, hn::TruncateTo(half_bits, pairs))));
  use(first + 1, hn::PromoteTo(d, hn::BitCast(half, hn::TruncateTo(half_bits, hn::ShiftRight<16>(pairs)))));
}
template <class DB, class Use>
HWY_INLINE void ForElementsOf(DB d, int8_t, hn::Vec<DB> words, size_t first, const Use use) {
  // Keeps a byte in the top of its word, so that no sign extension is needed.
  const hn::RebindToSigned<DB> bits;
  const auto bytes = hn::BitCast(bits, words), top = hn::Set(bits, static_cast<int32_t>(0xff000000u));
  use(first, hn::ConvertTo(d, hn::ShiftLeft<24>(bytes)));
  use(first + 1, hn::ConvertTo(d, hn::And(hn::ShiftLeft<16>(bytes), top)));
  use(first + 2, hn::ConvertTo(d, hn::And(hn::ShiftLeft<8>(bytes), top)));
  use(first + 3, hn::ConvertTo(d, hn::And(bytes, top)));
}

// 16 bytes from `offset` on (or their first `count` elements) of keys lane, lane + 4, ...: one 128-bit block per key.
template <bool kPart, typename T, class DB>
HWY_INLINE hn::Vec<DB> LoadBlocks(DB d, const uint8_t* const* rows, size_t lane, size_t offset, size_t count) {
  if constexpr (hn::MaxLanes(DB()) == 4) {
    using Bits = hwy::MakeUnsigned<T>;
    const hn::Repartition<Bits, DB> bits;
    const Bits* from = reinterpret_cast<const Bits*>(rows[lane]) + offset;
    return hn::BitCast(d, kPart ? hn::LoadN(bits, from, count) : hn::LoadU(bits, from));
  } else {
    const hn::Half<DB> half;
    const auto upper = LoadBlocks<kPart, T>(half, rows, lane + hn::MaxLanes(DB()) / 2, offset, count);
    return hn::Combine(d, upper, LoadBlocks<kPart, T>(half, rows, lane, offset, count));
  }
}

// Elements [offset, offset + kLoaded), or the first `count` of them, of all keys: use(e, vector over the keys).
template <bool kPart, typename T, class DB, class Use>
HWY_INLINE void TransposeElements(DB d, const uint8_t* const* rows, size_t offset, size_t count, const Use use) {
  using W = hn::Vec<DB>;
  const W a0 = LoadBlocks<kPart, T>(d, rows, 0, offset, count), a1 = LoadBlocks<kPart, T>(d, rows, 1, offset, count);
  const W a2 = LoadBlocks<kPart, T>(d, rows, 2, offset, count), a3 = LoadBlocks<kPart, T>(d, rows, 3, offset, count);
  const W lower02 = hn::InterleaveLower(d, a0, a2), lower13 = hn::InterleaveLower(d, a1, a3);
  const W upper02 = hn::InterleaveUpper(d, a0, a2), upper13 = hn::InterleaveUpper(d, a1, a3);
  constexpr size_t kPerWord = sizeof(float) / sizeof(T);
  const auto use_existing = [&](size_t e, W x) HWY_ATTR {
    if (!kPart || e < count) use(e, x);
  };
  ForElementsOf(d, T(), hn::InterleaveLower(d, lower02, lower13), 0, use_existing);
  ForElementsOf(d, T(), hn::InterleaveUpper(d, lower02, lower13), kPerWord, use_existing);
  ForElementsOf(d, T(), hn::InterleaveLower(d, upper02, upper13), 2 * kPerWord, use_existing);
  ForElementsOf(d, T(), hn::InterleaveUpper(d, upper02, upper13), 3 * kPerWord, use_existing);
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#endif  // per target
