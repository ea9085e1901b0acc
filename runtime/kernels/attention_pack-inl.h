// Packs a block for the attention kernel: keys transposed, values aligned.
#if defined(FOVEA_RUNTIME_KERNELS_ATTENTION_PACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_RUNTIME_KERNELS_ATTENTION_PACK_INL_H_
#undef FOVEA_RUNTIME_KERNELS_ATTENTION_PACK_INL_H_
#else
#define FOVEA_RUNTIME_KERNELS_ATTENTION_PACK_INL_H_
#endif

#include <limits>

#include "hwy/highway.h"
#include "runtime/kernels/attention_elements-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#ifdef FOVEA_SMALL
constexpr bool kSmall = true;  // one group size of four rows, and one: half the code, the same bits
#else
constexpr bool kSmall = HWY_TARGET == HWY_SCALAR;
#endif

// Rows and columns (in vectors) of the matmul: their sums and operands fill the register file. Keys are loaded once for
// all rows of a group, so more rows are better than more columns where a load is as cheap as on AVX-512.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
constexpr size_t kGroup = 12, kColumns = 2;
#elif HWY_ARCH_ARM_A64 || FOVEA_RISCV_VECTORS
constexpr size_t kGroup = kSmall ? 4 : 6, kColumns = 4;
#elif HWY_TARGET == HWY_SCALAR
constexpr size_t kGroup = 4, kColumns = 2;
#else
constexpr size_t kGroup = 6, kColumns = 2;
#endif
static_assert(kGroup <= kAttentionGroup, "scratch has room for this many rows");
constexpr size_t kPanel = kColumns * kLanes;  // packed keys are stored as [panel][d_k][kPanel]
static_assert(kAttentionKeyStep % kPanel == 0, "a block must consist of whole panels");
constexpr size_t kScoreStride = kAttentionMaxBlock + kAttentionLanes;  // between the scores of rows

constexpr float kLog2E = 1.44269504f;
constexpr float kHidden = -std::numeric_limits<float>::infinity();  // score of a key that a row does not see

HWY_INLINE size_t RoundUpTo(size_t n, size_t multiple) { return (n + multiple - 1) / multiple * multiple; }

// The unit of scores relative to their natural one: log 2 if an exponential follows.
HWY_INLINE float ScoreUnit(const AttentionTile& tile) { return tile.weigh == nullptr ? kLog2E : 1.0f; }

// The factor of products with keys, besides the keys' own scales.
HWY_INLINE float KeyScale(const AttentionTile& tile) {
  if (tile.score != Score::kDot) return 1.0f;
  return tile.cap > 0.0f ? tile.scale / tile.cap : tile.scale * ScoreUnit(tile);
}

// ---- Rows

HWY_INLINE size_t ElementBytes(DType type) { return type == DType::kF32 ? 4 : type == DType::kI8 ? 1 : 2; }

// A dot product is computed as two sums, of the elements before this one and from it on, which halves its latency where
// no other work overlaps. The first part is read in whole vectors.
HWY_INLINE size_t FirstHalf(size_t d_k) { return d_k / 32 * 16; }

// A row of `width` elements as f32: in place, or widened into `to`.
HWY_INLINE const float* Widened(DType type, const uint8_t* row, float scale, size_t width, float* to) {
  if (type == DType::kF32) return reinterpret_cast<const float*>(row);
  WithElement(type, [=](auto element) HWY_ATTR {
    using T = decltype(element);
    ForVectors(D(), width, [=](size_t j, auto lanes) HWY_ATTR {
      const V x = LoadElements(D(), reinterpret_cast<const T*>(row) + j, lanes);
      lanes.Store(kScaled<T> ? hn::Mul(hn::Set(D(), scale), x) : x, D(), to + j);
    });
  });
  return to;
}

HWY_INLINE float KeyRowScale(const KeySource& source, size_t position) {
  return source.type == DType::kI8 ? source.k_scales[source.Row(position) * source.k_scale_stride] : 1.0f;
}
HWY_INLINE float ValueRowScale(const KeySource& source, size_t position) {
  return source.type == DType::kI8 ? source.v_scales[source.Row(position) * source.v_scale_stride] : 1.0f;
}

// The key at `position`, through row `lane` of the scratch for widened rows.
HWY_INLINE const float* KeyRow(const AttentionTile& tile, const KeySource& source, size_t position, size_t lane = 0) {
  return Widened(source.type, source.k + source.Row(position) * source.k_stride, KeyRowScale(source, position),
                 tile.d_k, tile.widened + lane * tile.d_k);
}
HWY_INLINE const float* ValueRow(const AttentionTile& tile, const KeySource& source, size_t position, size_t lane = 0) {
  return Widened(source.type, source.v + source.Row(position) * source.v_stride, ValueRowScale(source, position),
                 tile.d_v, tile.widened + lane * tile.d_v);
}
// The value without its scale, by which its weight is multiplied (`value_factors`).
HWY_INLINE const float* PlainValueRow(const AttentionTile& tile, const KeySource& source, size_t position) {
  return Widened(source.type, source.v + source.Row(position) * source.v_stride, 1.0f, tile.d_v, tile.widened);
}

// ---- A block

// A vector of keys, from `key` on and before `end`; lanes past the end repeat the last key.
template <size_t kCount>
struct KeyVector {
  size_t rows[kCount];

  KeyVector(const AttentionTile& tile, const KeySource& source, size_t key, size_t end) {
    const size_t last = end - 1 - key;
    if (tile.index == nullptr && tile.step == 1) {
      const size_t first = source.Row(tile.first + key);  // they are in one page
      for (size_t lane = 0; lane < kCount; ++lane) rows[lane] = first + HWY_MIN(lane, last);
      return;
    }
    for (size_t lane = 0; lane < kCount; ++lane) {
      rows[lane] = source.Row(tile.Position(static_cast<uint32_t>(key + HWY_MIN(lane, last))));
    }
  }
  void Find(const KeySource& source, const uint8_t** to) const {
    for (size_t lane = 0; lane < kCount; ++lane) to[lane] = source.k + rows[lane] * source.k_stride;
  }
  // Factors for elements from TransposeElements: the keys' scales times `factor`.
  template <typename T, class DB>
  HWY_INLINE hn::Vec<DB> Factors(DB d, const KeySource& source, float factor) const {
    if (!kScaled<T>) return hn::Set(d, factor);
    HWY_ALIGN float scales[kCount];
    for (size_t lane = 0; lane < kCount; ++lane) scales[lane] = source.k_scales[rows[lane] * source.k_scale_stride];
    return hn::Mul(hn::Set(d, factor * kUnit<T>), hn::Load(d, scales));
  }
};

// Writes all elements of kLanes keys, transposed, a vector every kStride floats; `finish` transforms each vector.
template <typename T, size_t kStride = kPanel, class Finish>
HWY_INLINE void PackRows(const uint8_t* const* rows, size_t width, const Finish finish, float* to) {
  const D d;
  size_t j = 0;
  const auto store = [&](size_t e, V x) HWY_ATTR { hn::Store(finish(x), d, to + (j + e) * kStride); };
  for (; j + kLoaded<T> <= width; j += kLoaded<T>) TransposeElements<false, T>(d, rows, j, kLoaded<T>, store);
  if (j < width) TransposeElements<true, T>(d, rows, j, width - j, store);
}

// Packs keys [key, end), at most kLanes; lanes past the end repeat the last key. For dot products their factors are
// written separately; for other scores the keys themselves are scaled.
HWY_INLINE void PackKeys(const AttentionTile& tile, const KeySource& source, size_t key, size_t end, float* to) {
  const D d;
  const KeyVector<kLanes> keys(tile, source, key, end);
  const uint8_t* rows[kLanes];
  keys.Find(source, rows);
  WithElement(source.type, [&](auto element) HWY_ATTR {
    using T = decltype(element);
    const V factors = keys.template Factors<T>(d, source, KeyScale(tile));
    if (tile.score == Score::kDot) hn::Store(factors, d, tile.key_factors + key);
    const V scales = tile.score == Score::kDot ? hn::Set(d, 1.0f) : factors;
    PackRows<T>(
        rows, tile.d_k, [=](V x) HWY_ATTR { return kScaled<T> ? hn::Mul(scales, x) : x; }, to);
  });
}

// Packs the value as stored, in whole vectors.
HWY_INLINE void PackValue(const AttentionTile& tile, const KeySource& source, size_t key, float* to) {
  const D d;
  const size_t width = tile.d_v;
  const size_t position = tile.Position(static_cast<uint32_t>(key));
  const float* from = PlainValueRow(tile, source, position);
  if (kRowsI8 && tile.value_factors != nullptr) tile.value_factors[key] = ValueRowScale(source, position);
  size_t j = 0;
  for (; j + kLanes <= width; j += kLanes) hn::Store(hn::LoadU(d, from + j), d, to + j);
  if (j < width) hn::Store(hn::LoadN(d, from + j, width - j), d, to + j);
}

}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#endif  // per target
