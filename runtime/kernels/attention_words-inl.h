// Products in types shorter than f32: rows are words of two bf16 or four int8; one instruction multiplies all elements
// of a word and adds them to a 32-bit lane. Words are passed as floats, whose value is never used.
#if defined(FOVEA_RUNTIME_KERNELS_ATTENTION_WORDS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_RUNTIME_KERNELS_ATTENTION_WORDS_INL_H_
#undef FOVEA_RUNTIME_KERNELS_ATTENTION_WORDS_INL_H_
#else
#define FOVEA_RUNTIME_KERNELS_ATTENTION_WORDS_INL_H_
#endif

#include <string.h>

#include "hwy/cache_control.h"
#include "runtime/base/arm_extensions.h"
#include "runtime/kernels/attention_i16-inl.h"
#include "runtime/kernels/attention_lanes-inl.h"

// Whether int8 products by SDOT are compiled, and whether the processor is asked for the instruction at run time: not
// in a build for one processor.
#undef FOVEA_ATTENTION_SDOT
#undef FOVEA_ATTENTION_ASKS
#if FOVEA_ATTENTION_BY_LANE && (HWY_TARGET == HWY_NEON_BF16 || defined(__ARM_FEATURE_DOTPROD))
#define FOVEA_ATTENTION_SDOT 1
#define FOVEA_ATTENTION_ASKS 0
#elif FOVEA_ATTENTION_BY_LANE && !defined(HWY_COMPILE_ONLY_STATIC)
#define FOVEA_ATTENTION_SDOT 1
#define FOVEA_ATTENTION_ASKS 1
#else
#define FOVEA_ATTENTION_SDOT 0
#define FOVEA_ATTENTION_ASKS 0
#endif

// Whether sums of products may be integers that are scores but for factors: int16, and int8 without an offset.
#undef FOVEA_ATTENTION_INTEGERS
#define FOVEA_ATTENTION_INTEGERS (FOVEA_ATTENTION_I16 || FOVEA_ATTENTION_SDOT)

#include "runtime/kernels/attention_halves-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {

#if HWY_ARCH_X86
constexpr bool kHasI8 = kAttendsProducts && HWY_TARGET <= HWY_AVX3_DL;
constexpr bool kHasBf16 = kHasI8 && HWY_NATIVE_DOT_BF16;
#else
constexpr bool kHasI8 = kAttendsProducts && (HWY_TARGET == HWY_NEON_BF16 || FOVEA_ATTENTION_SDOT);
constexpr bool kHasBf16 = kAttendsProducts && HWY_TARGET == HWY_NEON_BF16;
#endif
// Whether this processor has the instruction for int8.
#if FOVEA_ATTENTION_ASKS
inline bool HasI8() { return kHasI8 && ArmHasDotProduct(); }
#else
constexpr bool HasI8() { return kHasI8; }
#endif

HWY_INLINE bool InWords(const AttentionTile& tile) { return kHasI8 && tile.products != Products::kF32; }
// Elements per word; for f32 one.
HWY_INLINE size_t PerWord(const AttentionTile& tile) {
  return !InWords(tile) ? 1 : tile.products == Products::kI8 ? 4 : 2;
}
HWY_INLINE size_t WordsOf(const AttentionTile& tile) {
  const size_t words = (tile.d_k + PerWord(tile) - 1) / PerWord(tile);
  return FOVEA_ATTENTION_SDOT && PerWord(tile) == 4 ? RoundUpTo(words, kLanes) : words;
}

// Where kHasI8 may be true.
#if HWY_TARGET == HWY_NEON_BF16 || FOVEA_ATTENTION_SDOT || (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3_DL)

using DI = hn::RebindToSigned<D>;
using DBytes = hn::Repartition<int8_t, D>;

// One operand of x86's instruction is unsigned: keys enter as k + 128, which adds 128 times the sum of the query.
constexpr uint32_t kKeyFlip = HWY_ARCH_X86 ? 0x80808080u : 0;

HWY_INLINE hn::Vec<DI> DotBytes(hn::Vec<DBytes> query, V key, hn::Vec<DI> sum) {
#if HWY_ARCH_X86
  return hn::SumOfMulQuadAccumulate(DI(), hn::BitCast(hn::RebindToUnsigned<DBytes>(), key), query, sum);
#else
  return hn::Vec<DI>(arm::AddProduct<arm::kSdot>(sum.raw, hn::BitCast(DBytes(), key).raw, query.raw));
#endif
}

// ---- Steps of the matmul

struct I8Step {
#if FOVEA_ATTENTION_SDOT
  using Lanes = MultiplyByLane<arm::kSdotByLane>;
#endif
  HWY_INLINE V operator()(V row, V key, V /*factor*/, V sum) const {
    const D d;
    return hn::BitCast(d, DotBytes(hn::BitCast(DBytes(), row), key, hn::BitCast(DI(), sum)));
  }
};

#if FOVEA_ATTENTION_I16
using IntegerStep = I16Step;
HWY_INLINE bool InIntegers(const AttentionTile& tile) { return InI16(tile); }
#elif FOVEA_ATTENTION_SDOT
using IntegerStep = I8Step;
HWY_INLINE bool InIntegers(const AttentionTile& tile) { return InWords(tile) && tile.products == Products::kI8; }
#endif

struct Bf16Step {
#if FOVEA_ATTENTION_SDOT
  using Lanes = MultiplyByLane<arm::kBfdotByLane>;
#endif
  HWY_INLINE V operator()(V row, V key, V /*factor*/, V sum) const {
    const D d;
    const hn::Repartition<hwy::bfloat16_t, D> pairs;
    V none = sum;
    return hn::ReorderWidenMulAccumulate(d, hn::BitCast(pairs, row), hn::BitCast(pairs, key), sum, none);
  }
};

// Calls f(step) and returns true if products of queries and keys (or weights and values) use words, but not InIntegers.
template <class F>
HWY_INLINE bool WithKeyStep(const AttentionTile& tile, const F f) {
  if (tile.products == Products::kF32) return false;
  if constexpr (kHasBf16) {
    if (tile.products == Products::kBf16) return f(Bf16Step()), true;
  }
#if !FOVEA_ATTENTION_SDOT
  return f(I8Step()), true;
#else
  return false;
#endif
}
template <class F>
HWY_INLINE bool WithValueStep(const AttentionTile& tile, const F f) {
  if constexpr (kHasBf16) {
    if (tile.products == Products::kBf16) return f(Bf16Step()), true;
  }
  return false;
}

// ---- Converting rows to words

// Sets the elements of a row of words after d_k to 0, up to a whole vector.
HWY_INLINE void PadWords(const AttentionTile& tile, float* words) {
  const size_t whole = tile.d_k / PerWord(tile), end = RoundUpTo(WordsOf(tile), kLanes);
  if (whole < end) memset(words + whole, 0, (end - whole) * sizeof(float));
}

// Converts x [d_k] to `words`; *factor restores the scale of the elements.
HWY_INLINE void NarrowRow(const AttentionTile& tile, const float* x, float* words, float* factor) {
  PadWords(tile, words);
  if (tile.products == Products::kI8) {
    tile.cast->i8(x, 1, tile.d_k, reinterpret_cast<int8_t*>(words), factor);
  } else {
    tile.cast->bf16(x, tile.d_k, reinterpret_cast<uint16_t*>(words));
    *factor = 1.0f;
  }
}

// The number to add to products of a query of int8 because of kKeyFlip.
HWY_INLINE int32_t OffsetOf(const float* query, size_t words) {
#if HWY_ARCH_X86
  const D d;
  const V most = hn::BitCast(d, hn::Set(hn::RebindToUnsigned<DI>(), kKeyFlip));
  hn::Vec<DI> sums = hn::Zero(DI());
  for (size_t i = 0; i < words; i += kLanes) sums = DotBytes(hn::BitCast(DBytes(), hn::Load(d, query + i)), most, sums);
  return -hn::ReduceSum(DI(), sums);
#else
  static_cast<void>(query), static_cast<void>(words);
  return 0;
#endif
}

inline void Narrow(const AttentionTile& tile) {
#if FOVEA_ATTENTION_I16
  if (InI16(tile)) return NarrowI16(tile);
#endif
  const size_t stride = MostWords(tile.d_k);
  for (size_t r = 0; r < tile.row_count; ++r) {
    AttentionRow& row = tile.rows[r];
    float* to = tile.query_words + r * stride;
    NarrowRow(tile, row.q, to, &row.factor);
    row.words = to;
    row.factor *= KeyScale(tile);
    row.offset = tile.products == Products::kI8 ? OffsetOf(to, WordsOf(tile)) : 0;
  }
}

// Packs keys [key, end), at most kLanes; lanes past the end repeat the last key.
HWY_INLINE void PackKeyWords(const AttentionTile& tile, const KeySource& source, size_t key, size_t end, float* to) {
  const size_t stride = MostWords(tile.d_k), last = HWY_MIN(end, key + kLanes) - 1 - key;
  const DType stored = tile.products == Products::kI8 ? DType::kI8 : DType::kBf16;
  for (size_t lane = 0; lane <= last; ++lane) {
    const size_t position = tile.Position(static_cast<uint32_t>(key + lane));
    float* words = tile.key_words + lane * stride;
    if (source.type == stored) {
      PadWords(tile, words);
      memcpy(words, source.k + source.Row(position) * source.k_stride, tile.d_k * 4 / PerWord(tile));
      tile.key_factors[key + lane] = KeyRowScale(source, position);
    } else {
      NarrowRow(tile, KeyRow(tile, source, position), words, &tile.key_factors[key + lane]);
    }
  }
  const uint8_t* rows[kLanes];
  for (size_t lane = 0; lane < kLanes; ++lane) {
    rows[lane] = reinterpret_cast<const uint8_t*>(tile.key_words + HWY_MIN(lane, last) * stride);
  }
  const hn::RebindToUnsigned<D> bits;
  const auto flip = hn::Set(bits, tile.products == Products::kI8 ? kKeyFlip : 0u);
  const auto flipped = [=](V v) HWY_ATTR { return hn::BitCast(D(), hn::Xor(hn::BitCast(bits, v), flip)); };
  PackRows<float>(rows, WordsOf(tile), flipped, to);
}

// Packs the values of keys `key`, which is even, and key + 1 (zeros past the end): one word per element.
HWY_INLINE void PackValuePair(const AttentionTile& tile, const KeySource& source, size_t key, size_t end, float* to) {
  const D d;
  const hn::RebindToUnsigned<D> bits;
  const hn::Rebind<hwy::bfloat16_t, D> bf16;
  const auto rounded = [=](V v) HWY_ATTR { return hn::BitCast(bits, hn::PromoteTo(d, hn::DemoteTo(bf16, v))); };
  const float* even = ValueRow(tile, source, tile.Position(static_cast<uint32_t>(key)));
  const bool both = key + 1 < end;
  const float* odd = both ? ValueRow(tile, source, tile.Position(static_cast<uint32_t>(key + 1)), 1) : even;
  for (size_t j = 0; j < tile.d_v; j += kLanes) {
    const size_t n = HWY_MIN(tile.d_v - j, kLanes);
    const auto low = hn::ShiftRight<16>(rounded(hn::LoadN(d, even + j, n)));
    const auto high = both ? rounded(hn::LoadN(d, odd + j, n)) : hn::Zero(bits);
    hn::Store(hn::BitCast(d, hn::Or(low, high)), d, to + j);
  }
}

// sum += weights * values, a pair of each; a value of weight 0 is skipped, even if it is not finite.
template <class Step>
HWY_INLINE void AddValuePair(Step step, float weights, const float* values, size_t width, float* sum) {
  const D d;
  const hn::RebindToUnsigned<D> bits;
  uint32_t pair;
  memcpy(&pair, &weights, sizeof(pair));
  const uint32_t kept = ((pair & 0x7fffu) != 0 ? 0xffffu : 0u) | ((pair & 0x7fff0000u) != 0 ? 0xffff0000u : 0u);
  if (kept == 0) return;
  const V factor = hn::Set(d, weights), mask = hn::BitCast(d, hn::Set(bits, kept));
  for (size_t j = 0; j < width; j += kLanes) {
    const V value = hn::And(hn::Load(d, values + j), mask);
    hn::Store(step(factor, value, factor, hn::Load(d, sum + j)), d, sum + j);
  }
}

// ---- Converting back

// Converts the product of one row with keys [from, to) of the block to the unit of a score.
HWY_INLINE void WidenProduct(const AttentionTile& tile, const AttentionRow& row, float* scores, size_t from,
                             size_t to) {
  const D d;
  const V factor = hn::Set(d, row.factor);
  const auto offset = hn::Set(DI(), row.offset);
  for (size_t i = from; i < to; i += kLanes) {
    V score = hn::Load(d, scores + i);
    if (tile.products == Products::kI8) {
      score = hn::Mul(hn::ConvertTo(d, hn::Add(hn::BitCast(DI(), score), offset)), hn::Load(d, tile.key_factors + i));
    }
    hn::Store(hn::Mul(factor, score), d, scores + i);
  }
}

// Converts weights [from, to) of the block to pairs, in place: keys i and i + 1 are at i / 2.
HWY_INLINE void NarrowWeights(float* weights, size_t from, size_t to) {
  const D d;
  const hn::Repartition<hwy::bfloat16_t, D> pairs;
  for (size_t i = from; i < to; i += 2 * kLanes) {
    const V low = hn::Load(d, weights + i), high = hn::Load(d, weights + i + kLanes);
    hn::StoreU(hn::BitCast(d, hn::OrderedDemote2To(pairs, low, high)), d, weights + i / 2);
  }
}

#else

template <class F>
HWY_INLINE bool WithKeyStep(const AttentionTile&, const F) {
  return false;
}
template <class F>
HWY_INLINE bool WithValueStep(const AttentionTile&, const F) {
  return false;
}
// Never called, because `has` is false.
inline void Narrow(const AttentionTile&) {}
HWY_INLINE void PackKeyWords(const AttentionTile&, const KeySource&, size_t, size_t, float*) {}
HWY_INLINE void PackValuePair(const AttentionTile&, const KeySource&, size_t, size_t, float*) {}
template <class Step>
HWY_INLINE void AddValuePair(Step, float, const float*, size_t, float*) {}
HWY_INLINE void WidenProduct(const AttentionTile&, const AttentionRow&, float*, size_t, size_t) {}
HWY_INLINE void NarrowWeights(float*, size_t, size_t) {}

#endif

// ---- A block, in the products of the tile

// Rows of one head are not contiguous, so hardware prefetchers do not follow them: prefetches keys some vectors ahead,
// and values kValues keys ahead. Addresses past the block are of the next block or invalid, which a prefetch allows.
template <size_t kAhead = 48, size_t kValues = 0>
HWY_INLINE void FetchAhead(const AttentionTile& tile, const KeySource& source, size_t key, size_t end) {
  if (HWY_TARGET == HWY_SCALAR) return;  // costs more than a small processor's memory accesses
  const size_t element = ElementBytes(source.type), key_bytes = tile.d_k * element, value_bytes = tile.d_v * element;
  if (tile.index != nullptr && key + kAhead + kLanes > end) return;
  for (size_t i = key + kAhead; i < key + kAhead + kLanes; ++i) {
    const size_t position = tile.Position(static_cast<uint32_t>(i));
    for (size_t byte = 0; byte < key_bytes; byte += 64)
      hwy::Prefetch(source.k + source.Row(position) * source.k_stride + byte);
  }
  for (size_t i = key + kValues; i < key + kValues + kLanes; ++i) {
    const size_t position = tile.Position(static_cast<uint32_t>(i));
    for (size_t byte = 0; byte < value_bytes; byte += 64)
      hwy::Prefetch(source.v + source.Row(position) * source.v_stride + byte);
  }
}

inline void Pack(const AttentionTile& tile, const KeySource& source, uint32_t begin, uint32_t end) {
#if FOVEA_ATTENTION_I16
  if (InI16(tile)) {
    for (size_t key = begin / kLanes * kLanes; key < end; key += kLanes) {
      FetchAhead<16, 16>(tile, source, key, end);
      PackI16(tile, source, key, begin, end);
    }
    return;
  }
#endif
  const bool words = InWords(tile);
  const size_t depth = WordsOf(tile);
  // Whole vectors of keys: the first one may begin before `begin`, where there is a key as well.
  for (size_t key = begin / kLanes * kLanes; key < end; key += kLanes) {
    float* to = tile.packed_keys + key / kPanel * kPanel * depth + key % kPanel;
    FetchAhead(tile, source, key, end);
    words ? PackKeyWords(tile, source, key, end, to) : PackKeys(tile, source, key, end, to);
  }
#if FOVEA_ATTENTION_HALVES
  if (InHalves(tile)) return PackHalfValues(tile, source, begin, end);
#endif
  const size_t width = RoundUpTo(tile.d_v, kAttentionLanes);
  if (kHasBf16 && tile.products == Products::kBf16) {
    for (size_t key = begin / 2 * 2; key < end; key += 2) {
      PackValuePair(tile, source, key, end, tile.packed_values + key / 2 * width);
    }
  } else {
    for (size_t key = begin; key < end; ++key) PackValue(tile, source, key, tile.packed_values + key * width);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#endif  // per target
