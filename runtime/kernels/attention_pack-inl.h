// Keys transposed and values aligned: one block as the attention kernel reads it.
#if defined(FOVEA_RUNTIME_KERNELS_ATTENTION_PACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_RUNTIME_KERNELS_ATTENTION_PACK_INL_H_
#undef FOVEA_RUNTIME_KERNELS_ATTENTION_PACK_INL_H_
#else
#define FOVEA_RUNTIME_KERNELS_ATTENTION_PACK_INL_H_
#endif

#include <limits>

#include "hwy/highway.h"
#include "runtime/kernels/attention.h"

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, kAttentionLanes>;
using V = hn::Vec<D>;
constexpr size_t kLanes = hn::MaxLanes(D());
// Rows and columns (in vectors) of the matrix product: their sums and operands fill the register file. Keys are read
// once for all rows of a group, so more rows are better than more columns where a load costs as little as on AVX-512.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
constexpr size_t kGroup = 12, kColumns = 2;
#elif HWY_ARCH_ARM_A64
constexpr size_t kGroup = 6, kColumns = 4;
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

// ---- Packing

// Below, `keys` maps a lane to the row of its key, [d_k] floats or words, and `finish` is what becomes of a vector of
// them.

#if HWY_TARGET == HWY_SCALAR || HWY_HAVE_SCALABLE
template <class Keys, class Finish>
HWY_INLINE void TransposeKeys(const Keys keys, size_t d_k, const Finish finish, float* to) {
  const D d;
  for (size_t j = 0; j < d_k; ++j, to += kPanel) {
    for (size_t i = 0; i < kLanes; ++i) to[i] = keys(i)[j];
    hn::Store(finish(hn::Load(d, to)), d, to);
  }
}
#else
// Four floats from `offset` on (or the first `count` of them) of keys lane, lane + 4, ...: a 128-bit block for each.
template <bool kPart, class DB, class Keys>
HWY_INLINE hn::Vec<DB> LoadBlocks(DB d, const Keys keys, size_t lane, size_t offset, size_t count) {
  if constexpr (hn::MaxLanes(DB()) == 4) {
    return kPart ? hn::LoadN(d, keys(lane) + offset, count) : hn::LoadU(d, keys(lane) + offset);
  } else {
    const hn::Half<DB> half;
    const auto upper = LoadBlocks<kPart>(half, keys, lane + hn::MaxLanes(DB()) / 2, offset, count);
    return hn::Combine(d, upper, LoadBlocks<kPart>(half, keys, lane, offset, count));
  }
}

// Four elements of kLanes keys become four vectors over the keys.
template <bool kPart, class Keys, class Finish>
HWY_INLINE void TransposeFour(const Keys keys, size_t offset, size_t count, const Finish finish, float* to) {
  const D d;
  const V a0 = LoadBlocks<kPart>(d, keys, 0, offset, count), a1 = LoadBlocks<kPart>(d, keys, 1, offset, count);
  const V a2 = LoadBlocks<kPart>(d, keys, 2, offset, count), a3 = LoadBlocks<kPart>(d, keys, 3, offset, count);
  const V lower02 = hn::InterleaveLower(d, a0, a2), lower13 = hn::InterleaveLower(d, a1, a3);
  const V upper02 = hn::InterleaveUpper(d, a0, a2), upper13 = hn::InterleaveUpper(d, a1, a3);
  hn::Store(finish(hn::InterleaveLower(d, lower02, lower13)), d, to);
  if (!kPart || count > 1) hn::Store(finish(hn::InterleaveUpper(d, lower02, lower13)), d, to + kPanel);
  if (!kPart || count > 2) hn::Store(finish(hn::InterleaveLower(d, upper02, upper13)), d, to + 2 * kPanel);
  if (!kPart) hn::Store(finish(hn::InterleaveUpper(d, upper02, upper13)), d, to + 3 * kPanel);
}

template <class Keys, class Finish>
HWY_INLINE void TransposeKeys(const Keys keys, size_t d_k, const Finish finish, float* to) {
  size_t j = 0;
  for (; j + 4 <= d_k; j += 4) TransposeFour<false>(keys, j, 4, finish, to + j * kPanel);
  if (j < d_k) TransposeFour<true>(keys, j, d_k - j, finish, to + j * kPanel);
}
#endif

// ---- Other types than f32

template <typename T>
HWY_INLINE void WidenHalf(const uint8_t* row, size_t width, float* to) {
  const D d;
  const hn::Rebind<T, D> half;
  const T* from = reinterpret_cast<const T*>(row);
  size_t j = 0;
  for (; j + kLanes <= width; j += kLanes) hn::StoreU(hn::PromoteTo(d, hn::LoadU(half, from + j)), d, to + j);
  if (j < width) hn::StoreN(hn::PromoteTo(d, hn::LoadN(half, from + j, width - j)), d, to + j, width - j);
}

HWY_INLINE void WidenI8(const uint8_t* row, float scale, size_t width, float* to) {
  const D d;
  const hn::RebindToSigned<D> d32;
  const hn::Rebind<int8_t, D> d8;
  const V factor = hn::Set(d, scale);
  const int8_t* from = reinterpret_cast<const int8_t*>(row);
  const auto widen = [&](hn::Vec<decltype(d8)> v)
                         HWY_ATTR { return hn::Mul(factor, hn::ConvertTo(d, hn::PromoteTo(d32, v))); };
  size_t j = 0;
  for (; j + kLanes <= width; j += kLanes) hn::StoreU(widen(hn::LoadU(d8, from + j)), d, to + j);
  if (j < width) hn::StoreN(widen(hn::LoadN(d8, from + j, width - j)), d, to + j, width - j);
}

HWY_INLINE size_t ElementBytes(DType type) { return type == DType::kF32 ? 4 : type == DType::kI8 ? 1 : 2; }

// A row of `width` elements as f32: where it stands, or widened into `to`.
HWY_INLINE const float* Widened(DType type, const uint8_t* row, float scale, size_t width, float* to) {
  switch (type) {
    case DType::kF32:
      return reinterpret_cast<const float*>(row);
    case DType::kF16:
      WidenHalf<hwy::float16_t>(row, width, to);
      break;
    case DType::kBf16:
      WidenHalf<hwy::bfloat16_t>(row, width, to);
      break;
    default:
      WidenI8(row, scale, width, to);
      break;
  }
  return to;
}

HWY_INLINE float KeyRowScale(const KeySource& source, size_t position) {
  return source.type == DType::kI8 ? source.k_scales[position * source.k_scale_stride] : 1.0f;
}

// The key at `position`, through row `lane` of the scratch for widened rows; likewise the value.
HWY_INLINE const float* KeyRow(const AttentionTile& tile, const KeySource& source, size_t position, size_t lane = 0) {
  return Widened(source.type, source.k + position * source.k_stride, KeyRowScale(source, position), tile.d_k,
                 tile.widened + lane * tile.d_k);
}
HWY_INLINE const float* ValueRow(const AttentionTile& tile, const KeySource& source, size_t position, size_t lane = 0) {
  const float scale = source.type == DType::kI8 ? source.v_scales[position * source.v_scale_stride] : 1.0f;
  return Widened(source.type, source.v + position * source.v_stride, scale, tile.d_v, tile.widened + lane * tile.d_v);
}

// ---- A block

// Keys [key, end) of at most kLanes, times the score's scale; lanes past the end repeat the last key.
HWY_INLINE void PackKeys(const AttentionTile& tile, const KeySource& source, size_t key, size_t end, float* to) {
  const V factor = hn::Set(D(), KeyScale(tile));
  const auto scaled = [factor](V v) HWY_ATTR { return hn::Mul(factor, v); };
  const size_t last = HWY_MIN(end, key + kLanes) - 1;
  if (source.type != DType::kF32) {
    const size_t d_k = tile.d_k;
    for (size_t lane = 0; key + lane <= last; ++lane) {
      KeyRow(tile, source, tile.Position(static_cast<uint32_t>(key + lane)), lane);
    }
    const float* rows = tile.widened;
    const size_t count = last - key;
    TransposeKeys([=](size_t lane) HWY_ATTR { return rows + HWY_MIN(lane, count) * d_k; }, d_k, scaled, to);
  } else if (tile.index != nullptr) {
    const uint32_t* index = tile.index;
    const uint8_t* rows = source.k;
    const size_t stride = source.k_stride;
    TransposeKeys(
        [=](size_t lane)
            HWY_ATTR { return reinterpret_cast<const float*>(rows + index[HWY_MIN(key + lane, last)] * stride); },
        tile.d_k, scaled, to);
  } else {
    const uint8_t* rows = source.k + (tile.first + key * tile.step) * source.k_stride;
    const size_t stride = tile.step * source.k_stride;
    if (key + kLanes <= end) {
      TransposeKeys([=](size_t lane) HWY_ATTR { return reinterpret_cast<const float*>(rows + lane * stride); },
                    tile.d_k, scaled, to);
    } else {
      const size_t count = last - key;
      TransposeKeys([=](size_t lane)
                        HWY_ATTR { return reinterpret_cast<const float*>(rows + HWY_MIN(lane, count) * stride); },
                    tile.d_k, scaled, to);
    }
  }
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
