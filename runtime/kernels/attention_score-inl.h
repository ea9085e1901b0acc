// Scores of a group of rows with the keys of a packed block: the matmul, then scale, cap, terms and masks.
#if defined(FOVEA_RUNTIME_KERNELS_ATTENTION_SCORE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_RUNTIME_KERNELS_ATTENTION_SCORE_INL_H_
#undef FOVEA_RUNTIME_KERNELS_ATTENTION_SCORE_INL_H_
#else
#define FOVEA_RUNTIME_KERNELS_ATTENTION_SCORE_INL_H_
#endif

#include "runtime/kernels/attention_in_place-inl.h"
#include "runtime/kernels/attention_lanes-inl.h"
#include "runtime/kernels/attention_riscv-inl.h"
#include "runtime/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {

// ---- The matmul

// How an element of a row and an element of a key are added to their sum.
struct DotStep {
#if FOVEA_ATTENTION_BY_LANE
  using Lanes = MultiplyByLane<arm::kFmlaByLane>;
#endif
#if FOVEA_RISCV_VECTORS
  using Wide = riscv::DotOfWide;
#endif
  HWY_INLINE V operator()(V row, V key, V /*factor*/, V sum) const { return hn::MulAdd(row, key, sum); }
};
struct DistanceStep {
#if FOVEA_RISCV_VECTORS
  using Wide = riscv::DistanceOfWide;
#endif
  HWY_INLINE V operator()(V row, V key, V /*factor*/, V sum) const {
    const V difference = hn::Sub(row, key);
    return hn::MulAdd(difference, difference, sum);
  }
};
struct AdditiveStep {
  HWY_INLINE V operator()(V row, V key, V factor, V sum) const {
    return hn::MulAdd(factor, FastTanh(D(), hn::Add(row, key)), sum);
  }
};

struct NoFactors {
  HWY_INLINE float operator()(size_t /*r*/, size_t /*i*/) const { return 0.0f; }
};

// Destination of the sums over i of step(*a(r, i), b[i][...]): c, [kM][kN vectors].
enum class Into {
  kSet,     // c = sum
  kShrunk,  // c = c * shrink[r] + sum, started from c
  kFinish,  // c = (c + sum) * finish[...]
  // The sums are integers:
  kScores,  // c = sum * finish[...] * shrink[r]
  kValues,  // c = c * shrink[r] + sum * finish[r]
};

// Each element's sum runs in order of i, so it has the same bits for every shape.
template <size_t kM, size_t kN, Into kInto, class Step, class Rows, class Factors>
HWY_INLINE void Product(const Rows a, const Factors factors, const float* HWY_RESTRICT b, size_t b_stride, size_t depth,
                        float* HWY_RESTRICT c, size_t c_stride, const float* HWY_RESTRICT shrink,
                        const float* HWY_RESTRICT finish) {
#if FOVEA_RISCV_VECTORS
  if constexpr (riscv::kHasWide<Step>) {
    if constexpr (kInto != Into::kFinish) finish = nullptr;
    riscv::ProductOfWide<typename Step::Wide, kM, kN, kInto == Into::kShrunk>(a, b, b_stride, depth, c, c_stride,
                                                                              shrink, finish);
    return;
  }
#endif
  const D d;
  V sums[kM][kN];
  HWY_UNROLL(12)
  for (size_t r = 0; r < kM; ++r) {
    HWY_UNROLL(4)
    for (size_t n = 0; n < kN; ++n) {
      sums[r][n] = kInto == Into::kShrunk ? hn::Mul(hn::Load(d, c + r * c_stride + n * kLanes), hn::Set(d, shrink[r]))
                                          : hn::Zero(d);
    }
  }
  size_t i = 0;
#if FOVEA_ATTENTION_BY_LANE
  if constexpr (kByLane<Step>) {
    for (; i + kLanes <= depth; i += kLanes) b = AddLanes<typename Step::Lanes>(a, i, b, b_stride, sums);
  }
  // Rows of integers are padded to whole vectors: gcc would make room for this loop's operands before it.
  if constexpr (kByLane<Step> && kInto == Into::kScores) depth = 0;
#endif
  for (; i < depth; ++i, b += b_stride) {
    V columns[kN];
    HWY_UNROLL(4)
    for (size_t n = 0; n < kN; ++n) columns[n] = hn::Load(d, b + n * kLanes);
    HWY_UNROLL(12)
    for (size_t r = 0; r < kM; ++r) {
      const V element = hn::Set(d, *a(r, i)), factor = hn::Set(d, factors(r, i));
      HWY_UNROLL(4)
      for (size_t n = 0; n < kN; ++n) sums[r][n] = Step()(element, columns[n], factor, sums[r][n]);
    }
  }
  // Must be inlined, or clang keeps sums in memory; if it is written out here instead, gcc keeps some of them there.
  const auto store = [&](auto become) HWY_ATTR __attribute__((always_inline)) {
    HWY_UNROLL(12)
    for (size_t r = 0; r < kM; ++r) {
      HWY_UNROLL(4)
      for (size_t n = 0; n < kN; ++n) {
        float* to = c + r * c_stride + n * kLanes;
        hn::Store(become(sums[r][n], to, n * kLanes, r), d, to);
      }
    }
  };
  const auto number = [](V sum) HWY_ATTR { return hn::ConvertTo(D(), hn::BitCast(hn::RebindToSigned<D>(), sum)); };
  if constexpr (kInto == Into::kFinish) {
    store([=](V sum, const float* to, size_t column, size_t)
              HWY_ATTR { return hn::Mul(hn::Add(hn::Load(D(), to), sum), hn::Load(D(), finish + column)); });
  } else if constexpr (kInto == Into::kScores) {
    V column_factors[kN];
    HWY_UNROLL(4)
    for (size_t n = 0; n < kN; ++n) column_factors[n] = hn::Load(d, finish + n * kLanes);
    HWY_UNROLL(12)
    for (size_t r = 0; r < kM; ++r) {
      const V row_factor = hn::Set(d, shrink[r]);
      HWY_UNROLL(4)
      for (size_t n = 0; n < kN; ++n) {
#if FOVEA_ATTENTION_BY_LANE && HWY_COMPILER_GCC_ACTUAL
        // gcc 12 would convert all sums before it stores the first, which takes more registers than there are.
        __asm__ volatile("" : "+w"(sums[r][n].raw) : : "memory");
#endif
        hn::Store(hn::Mul(hn::Mul(number(sums[r][n]), column_factors[n]), row_factor), d,
                  c + r * c_stride + n * kLanes);
      }
    }
  } else if constexpr (kInto == Into::kValues) {
    store([=](V sum, const float* to, size_t, size_t r) HWY_ATTR {
      return hn::MulAdd(number(sum), hn::Set(D(), finish[r]), hn::Mul(hn::Load(D(), to), hn::Set(D(), shrink[r])));
    });
  } else {
    store([](V sum, const float*, size_t, size_t) HWY_ATTR { return sum; });
  }
}

// The same for `vectors` <= kColumns vectors of columns.
template <size_t kM, Into kInto, class Step, class Rows, class Factors>
HWY_INLINE void Columns(const Rows a, const Factors factors, const float* b, size_t b_stride, size_t depth, float* c,
                        size_t c_stride, size_t vectors, const float* shrink, const float* finish = nullptr) {
  if (kColumns == 4 && vectors == 4) {
    Product<kM, kColumns, kInto, Step>(a, factors, b, b_stride, depth, c, c_stride, shrink, finish);
    return;
  }
  if (vectors >= 2) {
    Product<kM, 2, kInto, Step>(a, factors, b, b_stride, depth, c, c_stride, shrink, finish);
    b += 2 * kLanes, c += 2 * kLanes, vectors -= 2;
    if (kInto == Into::kFinish || kInto == Into::kScores) finish += 2 * kLanes;
  }
  if (vectors == 1) Product<kM, 1, kInto, Step>(a, factors, b, b_stride, depth, c, c_stride, shrink, finish);
}

// ---- After the matmul

HWY_INLINE bool MayDiffer(Score score) {
  return (kAttendsScoreDistance || kAttendsScoreAdditive) && score != Score::kDot;
}
HWY_INLINE bool Capped(const AttentionTile& tile) { return kAttendsCap && tile.cap > 0.0f; }

// These are compiled once, in attention_terms.cc.

// Converts the product to a score in the tile's unit.
void FinishProduct(const AttentionTile& tile, float* scores, size_t from, size_t to);

// Applies the terms of the row's scores with keys [from, to) of the block.
void ApplyTerms(const AttentionTile& tile, const AttentionRow& row, float* scores, size_t from, size_t to);

// Masks the scores of [from, begin) and [end, to); from and to are multiples of kLanes. May write kLanes - 1 scores
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

// Turns the products of one row with keys [from, to) of the block into its scores.
HWY_INLINE void FinishScores(const AttentionTile& tile, const AttentionRow& row, float* scores, size_t from,
                             size_t to) {
  if (row.begin >= row.end) {
    Hide(scores, from, to, to, to);
    return;
  }
  if (MayDiffer(tile.score) || Capped(tile)) FinishProduct(tile, scores, from, to);
  if (kAttendsTerms && tile.terms.any) ApplyTerms(tile, row, scores, from, to);
  Hide(scores, from, row.begin, row.end, to);
}

// The keys from `key` on, before `to`, that are in one panel of the packed block; its rows have `depth` floats.
struct PanelPart {
  size_t end, vectors;
  const float* keys;

  HWY_INLINE PanelPart(const AttentionTile& tile, size_t depth, size_t key, size_t to)
      : end(HWY_MIN(key / kPanel * kPanel + kPanel, to)),
        vectors((end - key) / kLanes),
        keys(tile.packed_keys + key / kPanel * kPanel * depth + key % kPanel) {}
};

#if FOVEA_ATTENTION_INTEGERS
// Products of kM rows with keys [from, to) of the packed block, if they are integers. Not inlined, because gcc would
// keep fewer sums of products in f32 in registers.
template <size_t kM>
HWY_NOINLINE void MultiplyIntegerKeys(const AttentionTile& tile, const AttentionRow* rows, size_t from, size_t to,
                                      float* scores) {
  const size_t depth = WordsOf(tile);
  const float* a[kM];
  float factors[kM];
  for (size_t r = 0; r < kM; ++r) a[r] = rows[r].words, factors[r] = rows[r].factor;
  for (size_t key = from; key < to;) {
    const PanelPart part(tile, depth, key, to);
    Columns<kM, Into::kScores, IntegerStep>([&a](size_t r, size_t i) HWY_ATTR { return a[r] + i; }, NoFactors(),
                                            part.keys, kPanel, depth, scores + key, kScoreStride, part.vectors, factors,
                                            tile.key_factors + key);
    key = part.end;
  }
}
#endif

// Products of kM rows with keys [from, to) of the packed block.
template <size_t kM>
HWY_INLINE void MultiplyPackedKeys(const AttentionTile& tile, const AttentionRow* rows, size_t from, size_t to,
                                   float* scores) {
  const bool words = InWords(tile);
  const size_t depth = WordsOf(tile);
  const float *a[kM], *v[kM];
  for (size_t r = 0; r < kM; ++r) a[r] = words ? rows[r].words : rows[r].q, v[r] = rows[r].additive;
  const auto element = [&a](size_t r, size_t i) HWY_ATTR { return a[r] + i; };
  for (size_t key = from; key < to;) {
    const PanelPart part(tile, depth, key, to);
    const auto multiply = [&](auto step, const auto factors) HWY_ATTR {
      Columns<kM, Into::kSet, decltype(step)>(element, factors, part.keys, kPanel, depth, scores + key, kScoreStride,
                                              part.vectors, nullptr);
    };
    if (WithKeyStep(tile, [&](auto step) HWY_ATTR { multiply(step, NoFactors()); })) {
    } else if (kAttendsScoreDistance && tile.score == Score::kDistance) {
      multiply(DistanceStep(), NoFactors());
    } else if (kAttendsScoreAdditive && tile.score == Score::kAdditive) {
      multiply(AdditiveStep(), [&v](size_t r, size_t i) HWY_ATTR { return v[r][i]; });
    } else {
      const size_t half = FirstHalf(depth);
      Columns<kM, Into::kSet, DotStep>(element, NoFactors(), part.keys, kPanel, half, scores + key, kScoreStride,
                                       part.vectors, nullptr);
      const auto after = [&a, half](size_t r, size_t i) HWY_ATTR { return a[r] + half + i; };
      Columns<kM, Into::kFinish, DotStep>(after, NoFactors(), part.keys + half * kPanel, kPanel, depth - half,
                                          scores + key, kScoreStride, part.vectors, nullptr, tile.key_factors + key);
    }
    key = part.end;
  }
}

// Scores of kM rows with the keys of the block that any of them sees, [*from, *to): whole vectors, -infinity where a
// row does not see a key. The score of row r and key i is at r * kScoreStride + i in the result; null: no row sees any.
template <size_t kM>
HWY_INLINE float* ScoreGroup(const AttentionTile& tile, AttentionRow* rows, uint32_t* begin, uint32_t* end) {
  *begin = tile.block, *end = 0;
  for (size_t r = 0; r < kM; ++r) {
    if (rows[r].begin >= rows[r].end) continue;
    *begin = HWY_MIN(*begin, rows[r].begin);
    *end = HWY_MAX(*end, rows[r].end);
  }
  if (*begin >= *end) return nullptr;
  const size_t from = *begin / kLanes * kLanes, to = RoundUpTo(*end, kLanes);
  // Between the rows of scores are kAttentionLanes floats that may be overwritten.
  float* scores = tile.scores + kAttentionLanes;
  const auto multiply = [&](auto element)
                            HWY_ATTR { MultiplyKeysInPlace<decltype(element), kM>(tile, rows, from, *end, scores); };
  bool widens = InWords(tile);
#if FOVEA_ATTENTION_INTEGERS
  if (InIntegers(tile)) {
    widens = false;
    MultiplyIntegerKeys<kM>(tile, rows, from, to, scores);
  } else
#endif
      if (!WithElementInPlace<kM>(tile, multiply)) {
    MultiplyPackedKeys<kM>(tile, rows, from, to, scores);
  }
  for (size_t r = 0; r < kM; ++r) {
    if (widens) WidenProduct(tile, rows[r], scores + r * kScoreStride, from, to);
    FinishScores(tile, rows[r], scores + r * kScoreStride, from, to);
  }
  return scores;
}

}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#endif  // per target
