// The attention kernel: one small matrix product, used for scores (Q K^T) and for the sum of values (P V), and the
// running softmax between the two.
#include "runtime/kernels/attention.h"

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/kernels/attention.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "runtime/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {
namespace {
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

constexpr size_t kScoreStride = kAttentionMaxBlock + kAttentionLanes;
constexpr float kLog2E = 1.44269504f;
constexpr float kHidden = -std::numeric_limits<float>::infinity();

HWY_INLINE size_t RoundUpTo(size_t n, size_t multiple) { return (n + multiple - 1) / multiple * multiple; }

// 2^x for x <= 0; exactly 1 for 0 and exactly 0 below -126.5 and for -infinity.
HWY_INLINE V Weight(V x) {
  const D d;
  return FastExp2(d, hn::Max(x, hn::Set(d, -127.0f)));
}

// ---- Packing

// Below, `keys` maps a lane to the row of its key: [d_k] floats.

#if HWY_TARGET == HWY_SCALAR || HWY_HAVE_SCALABLE
template <class Keys>
HWY_INLINE void TransposeKeys(const Keys keys, size_t d_k, float scale, float* to) {
  for (size_t j = 0; j < d_k; ++j) {
    for (size_t i = 0; i < kLanes; ++i) to[j * kPanel + i] = keys(i)[j] * scale;
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
template <bool kPart, class Keys>
HWY_INLINE void TransposeFour(const Keys keys, size_t offset, size_t count, V scale, float* to) {
  const D d;
  const V a0 = LoadBlocks<kPart>(d, keys, 0, offset, count), a1 = LoadBlocks<kPart>(d, keys, 1, offset, count);
  const V a2 = LoadBlocks<kPart>(d, keys, 2, offset, count), a3 = LoadBlocks<kPart>(d, keys, 3, offset, count);
  const V lower02 = hn::InterleaveLower(d, a0, a2), lower13 = hn::InterleaveLower(d, a1, a3);
  const V upper02 = hn::InterleaveUpper(d, a0, a2), upper13 = hn::InterleaveUpper(d, a1, a3);
  hn::Store(hn::Mul(scale, hn::InterleaveLower(d, lower02, lower13)), d, to);
  if (!kPart || count > 1) hn::Store(hn::Mul(scale, hn::InterleaveUpper(d, lower02, lower13)), d, to + kPanel);
  if (!kPart || count > 2) hn::Store(hn::Mul(scale, hn::InterleaveLower(d, upper02, upper13)), d, to + 2 * kPanel);
  if (!kPart) hn::Store(hn::Mul(scale, hn::InterleaveUpper(d, upper02, upper13)), d, to + 3 * kPanel);
}

template <class Keys>
HWY_INLINE void TransposeKeys(const Keys keys, size_t d_k, float scale, float* to) {
  const V factor = hn::Set(D(), scale);
  size_t j = 0;
  for (; j + 4 <= d_k; j += 4) TransposeFour<false>(keys, j, 4, factor, to + j * kPanel);
  if (j < d_k) TransposeFour<true>(keys, j, d_k - j, factor, to + j * kPanel);
}
#endif

void Pack(const AttentionTile& tile, const float* k, size_t k_stride, const float* v, size_t v_stride, uint32_t begin,
          uint32_t end) {
  const D d;
  const float scale = tile.scale * kLog2E;
  for (size_t key = begin / kLanes * kLanes; key < end; key += kLanes) {
    float* to = tile.packed_keys + key / kPanel * kPanel * tile.d_k + key % kPanel;
    const float* from = k + key * k_stride;
    if (key + kLanes <= end) {
      TransposeKeys([=](size_t lane) HWY_ATTR { return from + lane * k_stride; }, tile.d_k, scale, to);
    } else {  // lanes past the end repeat the last key
      const size_t last = end - 1 - key;
      TransposeKeys([=](size_t lane) HWY_ATTR { return from + HWY_MIN(lane, last) * k_stride; }, tile.d_k, scale, to);
    }
  }
  const size_t width = tile.d_v;
  const size_t packed_width = RoundUpTo(width, kAttentionLanes);
  for (size_t key = begin; key < end; ++key) {
    const float* from = v + key * v_stride;
    float* to = tile.packed_values + key * packed_width;
    size_t j = 0;
    for (; j + kLanes <= width; j += kLanes) hn::Store(hn::LoadU(d, from + j), d, to + j);
    if (j < width) hn::Store(hn::LoadN(d, from + j, width - j), d, to + j);
  }
}

// ---- The matrix product

// c[r][0 .. kN vectors) = (kAccumulate ? c * factors[r] : 0) + sum over i of a[r][i] * b[i][..]. The sum runs in order
// of i for each element by itself, so it has the same bits in every shape.
template <size_t kM, size_t kN, bool kAccumulate, class Rows>
HWY_INLINE void Product(const Rows a, const float* HWY_RESTRICT b, size_t b_stride, size_t depth, float* HWY_RESTRICT c,
                        size_t c_stride, const float* HWY_RESTRICT factors) {
  const D d;
  V sums[kM][kN];
  HWY_UNROLL(12)
  for (size_t r = 0; r < kM; ++r) {
    HWY_UNROLL(4)
    for (size_t n = 0; n < kN; ++n) {
      sums[r][n] =
          kAccumulate ? hn::Mul(hn::Load(d, c + r * c_stride + n * kLanes), hn::Set(d, factors[r])) : hn::Zero(d);
    }
  }
  for (size_t i = 0; i < depth; ++i, b += b_stride) {
    V columns[kN];
    HWY_UNROLL(4)
    for (size_t n = 0; n < kN; ++n) columns[n] = hn::Load(d, b + n * kLanes);
    HWY_UNROLL(12)
    for (size_t r = 0; r < kM; ++r) {
      const V element = hn::Set(d, a(r, i));
      HWY_UNROLL(4)
      for (size_t n = 0; n < kN; ++n) sums[r][n] = hn::MulAdd(element, columns[n], sums[r][n]);
    }
  }
  HWY_UNROLL(12)
  for (size_t r = 0; r < kM; ++r) {
    HWY_UNROLL(4)
    for (size_t n = 0; n < kN; ++n) hn::Store(sums[r][n], d, c + r * c_stride + n * kLanes);
  }
}

// The same for `vectors` <= kColumns vectors of columns.
template <size_t kM, bool kAccumulate, class Rows>
HWY_INLINE void Products(const Rows a, const float* b, size_t b_stride, size_t depth, float* c, size_t c_stride,
                         size_t vectors, const float* factors) {
  if (kColumns == 4 && vectors == 4) {
    Product<kM, kColumns, kAccumulate>(a, b, b_stride, depth, c, c_stride, factors);
    return;
  }
  if (vectors >= 2) {
    Product<kM, 2, kAccumulate>(a, b, b_stride, depth, c, c_stride, factors);
    b += 2 * kLanes, c += 2 * kLanes, vectors -= 2;
  }
  if (vectors == 1) Product<kM, 1, kAccumulate>(a, b, b_stride, depth, c, c_stride, factors);
}

// ---- The running softmax

// Hides the scores of [from, begin) and [end, to); from and to are multiples of kLanes. May write kLanes - 1 scores
// before `from` and after `to`, which hold nothing.
HWY_INLINE void Hide(float* scores, size_t from, size_t begin, size_t end, size_t to) {
  const D d;
  const V hidden = hn::Set(d, kHidden);
  if (from < begin) {
    for (size_t i = from; i + kLanes < begin; i += kLanes) hn::StoreU(hidden, d, scores + i);
    hn::StoreU(hidden, d, scores + begin - kLanes);
  }
  for (size_t i = end; i < to; i += kLanes) hn::StoreU(hidden, d, scores + i);
}

// Adds the bias of the keys [from, to) by their distance from the row's query.
void AddBias(const AttentionTile& tile, const AttentionRow& row, float* scores, size_t from, size_t to) {
  const D d;
  const int64_t reach = tile.reach;
  const V log2e = hn::Set(d, kLog2E);
  for (size_t i = from; i < to; i += kLanes) {
    const int64_t distance = int64_t{tile.first} + int64_t(i) * tile.step - row.position;
    V bias;
    if (tile.step == 1 && distance >= -reach && distance + int64_t(kLanes) - 1 <= reach) {
      bias = hn::LoadU(d, row.bias + distance);
    } else {
      HWY_ALIGN float lanes[kLanes];
      for (size_t lane = 0; lane < kLanes; ++lane) {
        const int64_t at = distance + int64_t(lane) * tile.step;
        lanes[lane] = row.bias[HWY_MAX(-reach, HWY_MIN(at, reach))];
      }
      bias = hn::Load(d, lanes);
    }
    hn::Store(hn::MulAdd(bias, log2e, hn::Load(d, scores + i)), d, scores + i);
  }
}

// Replaces the scores of kM rows by weights relative to the new maximum; factors[r] is by what the former sums shrink.
template <size_t kM>
HWY_INLINE void Softmax(AttentionRow* rows, float* sums, float* scores, size_t stride, size_t from, size_t to,
                        float* HWY_RESTRICT factors) {
  const D d;
  constexpr size_t kPadded = (kM + kLanes - 1) / kLanes * kLanes;
  HWY_ALIGN float shrink[kPadded] = {};
  float bases[kM];
  for (size_t r = 0; r < kM; ++r) {
    const float* row_scores = scores + r * stride;
    V max = hn::Load(d, row_scores + from);
    for (size_t i = from + kLanes; i < to; i += kLanes) max = hn::Max(max, hn::Load(d, row_scores + i));
    const float new_max = HWY_MAX(rows[r].max, hn::ReduceMax(d, max));
    // With no key so far any finite base gives the weights 0.
    bases[r] = new_max == kHidden ? 0.0f : new_max;
    shrink[r] = rows[r].max - bases[r];
    rows[r].max = new_max;
  }
  for (size_t i = 0; i < kPadded; i += kLanes) hn::Store(Weight(hn::Load(d, shrink + i)), d, shrink + i);
  for (size_t r = 0; r < kM; ++r) {
    float* row_scores = scores + r * stride;
    const V base = hn::Set(d, bases[r]);
    V sum = hn::Mul(hn::Load(d, sums + r * kAttentionLanes), hn::Set(d, shrink[r]));
    for (size_t i = from; i < to; i += kLanes) {
      const V weight = Weight(hn::Sub(hn::Load(d, row_scores + i), base));
      hn::Store(weight, d, row_scores + i);
      sum = hn::Add(sum, weight);
    }
    hn::Store(sum, d, sums + r * kAttentionLanes);
    factors[r] = shrink[r];
  }
}

template <size_t kM>
HWY_NOINLINE void AttendGroup(const AttentionTile& tile, size_t first_row) {
  AttentionRow* rows = tile.rows + first_row;
  uint32_t begin = tile.block, end = 0;
  for (size_t r = 0; r < kM; ++r) {
    if (rows[r].begin >= rows[r].end) continue;
    begin = HWY_MIN(begin, rows[r].begin);
    end = HWY_MAX(end, rows[r].end);
  }
  if (begin >= end) return;
  const size_t from = begin / kLanes * kLanes, to = RoundUpTo(end, kLanes);
  // Between the rows of scores lie kAttentionLanes floats that may be overwritten.
  constexpr size_t stride = kScoreStride;
  float* scores = tile.scores + kAttentionLanes;

  const float* a[kM];
  for (size_t r = 0; r < kM; ++r) a[r] = rows[r].q;
  for (size_t key = from; key < to;) {
    const size_t panel_end = HWY_MIN(key / kPanel * kPanel + kPanel, to);
    Products<kM, false>([&a](size_t r, size_t i) HWY_ATTR { return a[r][i]; },
                        tile.packed_keys + key / kPanel * kPanel * tile.d_k + key % kPanel, kPanel, tile.d_k,
                        scores + key, stride, (panel_end - key) / kLanes, nullptr);
    key = panel_end;
  }

  float factors[kM];
  for (size_t r = 0; r < kM; ++r) {
    float* row_scores = scores + r * stride;
    const size_t visible_begin = HWY_MIN(rows[r].begin, to), visible_end = HWY_MAX(rows[r].end, visible_begin);
    if (rows[r].bias != nullptr) AddBias(tile, rows[r], row_scores, from, to);
    if (rows[r].begin >= rows[r].end) {
      Hide(row_scores, from, to, to, to);
    } else {
      Hide(row_scores, from, visible_begin, visible_end, to);
      if (rows[r].weights != nullptr) {
        for (size_t i = visible_begin; i < visible_end; ++i) {
          rows[r].weights[tile.first + i * tile.step] = row_scores[i];
        }
      }
    }
  }
  Softmax<kM>(rows, tile.sums + first_row * kAttentionLanes, scores, stride, from, to, factors);

  const size_t width = RoundUpTo(tile.d_v, kAttentionLanes);
  const size_t vectors = RoundUpTo(tile.d_v, kLanes) / kLanes;
  float* out = tile.sum_of_values + first_row * width;
  const float* weights = scores + begin;
  for (size_t n = 0; n < vectors; n += kColumns) {
    Products<kM, true>([=](size_t r, size_t i) HWY_ATTR { return weights[r * kScoreStride + i]; },
                       tile.packed_values + begin * width + n * kLanes, width, end - begin, out + n * kLanes, width,
                       HWY_MIN(vectors - n, kColumns), factors);
  }
}

void Attend(const AttentionTile& tile) {
  size_t row = 0;
  const size_t count = tile.row_count;
  for (; row + kGroup <= count; row += kGroup) AttendGroup<kGroup>(tile, row);
  if constexpr (kGroup > 8) {
    if (row + 8 <= count) AttendGroup<8>(tile, row), row += 8;
  }
  if (row + 4 <= count) AttendGroup<4>(tile, row), row += 4;
  if (row + 2 <= count) AttendGroup<2>(tile, row), row += 2;
  if (row < count) AttendGroup<1>(tile, row);
}

void Finish(const AttentionTile& tile, uint32_t keys) {
  const D d;
  const size_t width = RoundUpTo(tile.d_v, kAttentionLanes);
  for (size_t r = 0; r < tile.row_count; ++r) {
    const AttentionRow& row = tile.rows[r];
    const float sum = hn::ReduceSum(d, hn::Load(d, tile.sums + r * kAttentionLanes));
    const V inverse = hn::Set(d, sum > 0.0f ? 1.0f / sum : 0.0f);
    const float* from = tile.sum_of_values + r * width;
    size_t j = 0;
    for (; j + kLanes <= tile.d_v; j += kLanes) hn::StoreU(hn::Mul(hn::Load(d, from + j), inverse), d, row.out + j);
    if (j < tile.d_v) hn::StoreN(hn::Mul(hn::Load(d, from + j), inverse), d, row.out + j, tile.d_v - j);
    if (row.weights == nullptr) continue;
    const V max = hn::Set(d, row.max == kHidden ? 0.0f : row.max);
    for (size_t i = 0; i < keys; i += kLanes) {
      const size_t n = HWY_MIN(keys - i, kLanes);
      hn::StoreN(hn::Mul(Weight(hn::Sub(hn::LoadN(d, row.weights + i, n), max)), inverse), d, row.weights + i, n);
    }
  }
}

}  // namespace

AttentionKernels FillAttentionKernels() { return {Pack, Attend, Finish}; }

}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea {
HWY_EXPORT(FillAttentionKernels);
AttentionKernels GetAttentionKernels() { return HWY_DYNAMIC_DISPATCH(FillAttentionKernels)(); }
}  // namespace fovea
#endif
