// Keys transposed and values aligned: one block as the attention kernel reads it.
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

// Rows and columns (in vectors) of the matrix product: their sums and operands fill the register file. Keys are read
// once for all rows of a group, so more rows are better than more columns where a load costs as little as on AVX-512.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
constexpr size_t kGroup = 12, kColumns = 2;
#elif HWY_ARCH_ARM_A64
constexpr size_t kGroup = 6, kColumns = 4;
#elif HWY_TARGET == HWY_SCALAR
constexpr size_t kGroup = 4, kColumns = 2;  // small code before the last percent of speed
#else
constexpr size_t kGroup = 6, kColumns = 2;
#endif
static_assert(kGroup <= kAttentionGroup, "scratch is for this many rows");
constexpr size_t kPanel = kColumns * kLanes;  // packed keys are stored as [panel][d_k][kPanel]
static_assert(kAttentionKeyStep % kPanel == 0, "a block is whole panels");

constexpr float kLog2E = 1.44269504f;

HWY_INLINE size_t RoundUpTo(size_t n, size_t multiple) { return (n + multiple - 1) / multiple * multiple; }

// By what scores are in other units than their natural ones: of log 2 where an exponential follows.
HWY_INLINE float ScoreUnit(const AttentionTile& tile) { return tile.weigh == nullptr ? kLog2E : 1.0f; }

// What packed keys are multiplied with, so that a product needs no scaling of its own.
HWY_INLINE float KeyScale(const AttentionTile& tile) {
  if (tile.score != Score::kDot) return 1.0f;
  return tile.cap > 0.0f ? tile.scale / tile.cap : tile.scale * ScoreUnit(tile);
}

// ---- Rows

HWY_INLINE size_t ElementBytes(DType type) { return type == DType::kF32 ? 4 : type == DType::kI8 ? 1 : 2; }

// A row of `width` elements as f32: where it stands, or widened into `to`.
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

// The key at `position`, through row `lane` of the scratch for widened rows; likewise the value.
HWY_INLINE const float* KeyRow(const AttentionTile& tile, const KeySource& source, size_t position, size_t lane = 0) {
  return Widened(source.type, source.k + source.Row(position) * source.k_stride, KeyRowScale(source, position),
                 tile.d_k, tile.widened + lane * tile.d_k);
}
HWY_INLINE const float* ValueRow(const AttentionTile& tile, const KeySource& source, size_t position, size_t lane = 0) {
  return Widened(source.type, source.v + source.Row(position) * source.v_stride, ValueRowScale(source, position),
                 tile.d_v, tile.widened + lane * tile.d_v);
}

// ---- A block

// The rows of keys [key, end) of at most `count`; lanes past the end have the last key's.
HWY_INLINE void FindKeys(const AttentionTile& tile, const KeySource& source, size_t key, size_t end, size_t count,
                         const uint8_t** rows) {
  for (size_t lane = 0; lane < count; ++lane) {
    const uint32_t position = tile.Position(static_cast<uint32_t>(HWY_MIN(key + lane, end - 1)));
    rows[lane] = source.k + source.Row(position) * source.k_stride;
  }
}

// All elements of kLanes keys, transposed; `finish` is what becomes of a vector of them.
template <typename T, class Finish>
HWY_INLINE void PackRows(const uint8_t* const* rows, size_t width, const Finish finish, float* to) {
  const D d;
  size_t j = 0;
  const auto store = [&](size_t e, V x) HWY_ATTR { hn::Store(finish(x), d, to + (j + e) * kPanel); };
  for (; j + kLoaded<T> <= width; j += kLoaded<T>) TransposeElements<false, T>(d, rows, j, kLoaded<T>, store);
  if (j < width) TransposeElements<true, T>(d, rows, j, width - j, store);
}

// The keys' own scales; unused where they have none.
template <typename T, class DB>
HWY_INLINE hn::Vec<DB> KeyScales(DB d, const AttentionTile& tile, const KeySource& source, size_t key, size_t end) {
  HWY_ALIGN float scales[hn::MaxLanes(DB())] = {};
  for (size_t lane = 0; kScaled<T> && lane < hn::MaxLanes(DB()); ++lane) {
    scales[lane] = KeyRowScale(source, tile.Position(static_cast<uint32_t>(HWY_MIN(key + lane, end - 1))));
  }
  return hn::Load(d, scales);
}

// An element of a vector of keys times their own scales, then the score's.
template <typename T, class W>
HWY_INLINE W ScaleKeys(W x, W scales, W factor) {
  return hn::Mul(factor, kScaled<T> ? hn::Mul(scales, x) : x);
}

// Keys [key, end) of at most kLanes, times the score's scale; lanes past the end repeat the last key.
HWY_INLINE void PackKeys(const AttentionTile& tile, const KeySource& source, size_t key, size_t end, float* to) {
  const uint8_t* rows[kLanes];
  FindKeys(tile, source, key, end, kLanes, rows);
  WithElement(source.type, [&](auto element) HWY_ATTR {
    using T = decltype(element);
    const V scales = KeyScales<T>(D(), tile, source, key, end), factor = hn::Set(D(), KeyScale(tile));
    PackRows<T>(
        rows, tile.d_k, [=](V x) HWY_ATTR { return ScaleKeys<T>(x, scales, factor); }, to);
  });
}

// The value as it is, in whole vectors.
HWY_INLINE void PackValue(const AttentionTile& tile, const KeySource& source, size_t key, float* to) {
  const D d;
  const size_t width = tile.d_v;
  const float* from = ValueRow(tile, source, tile.Position(static_cast<uint32_t>(key)));
  size_t j = 0;
  for (; j + kLanes <= width; j += kLanes) hn::Store(hn::LoadU(d, from + j), d, to + j);
  if (j < width) hn::Store(hn::LoadN(d, from + j, width - j), d, to + j);
}

}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#endif  // per target
