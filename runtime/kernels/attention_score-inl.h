// Scores of a group of rows with the keys of a packed block: the matmul, then scale, cap, biases and masks.
#if defined(FOVEA_RUNTIME_KERNELS_ATTENTION_SCORE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_RUNTIME_KERNELS_ATTENTION_SCORE_INL_H_
#undef FOVEA_RUNTIME_KERNELS_ATTENTION_SCORE_INL_H_
#else
#define FOVEA_RUNTIME_KERNELS_ATTENTION_SCORE_INL_H_
#endif

#include "runtime/kernels/attention_in_place-inl.h"
#include "runtime/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {

constexpr float kHidden = -std::numeric_limits<float>::infinity();

// ---- The matmul

// How an element of a row and an element of a key are added to their sum.
struct DotStep {
  HWY_INLINE V operator()(V row, V key, V /*factor*/, V sum) const { return hn::MulAdd(row, key, sum); }
};
struct DistanceStep {
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

// Destination of the sums over i of step(a[r][i], b[i][...]): c, [kM][kN vectors].
enum class Into {
  kSet,     // c = sum
  kShrunk,  // c = c * shrink[r] + sum, started from c
  kFinish,  // c = (c + sum) * finish[...]
};

// Each element's sum runs in order of i, so it has the same bits for every shape.
template <size_t kM, size_t kN, Into kInto, class Step, class Rows, class Factors>
HWY_INLINE void Product(const Rows a, const Factors factors, const float* HWY_RESTRICT b, size_t b_stride, size_t depth,
                        float* HWY_RESTRICT c, size_t c_stride, const float* HWY_RESTRICT shrink,
                        const float* HWY_RESTRICT finish) {
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
  for (size_t i = 0; i < depth; ++i, b += b_stride) {
    V columns[kN];
    HWY_UNROLL(4)
    for (size_t n = 0; n < kN; ++n) columns[n] = hn::Load(d, b + n * kLanes);
    HWY_UNROLL(12)
    for (size_t r = 0; r < kM; ++r) {
      const V element = hn::Set(d, a(r, i)), factor = hn::Set(d, factors(r, i));
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
        hn::Store(become(sums[r][n], to, n * kLanes), d, to);
      }
    }
  };
  if (kInto != Into::kFinish) {
    store([](V sum, const float*, size_t) HWY_ATTR { return sum; });
  } else {
    store([=](V sum, const float* to, size_t column)
              HWY_ATTR { return hn::Mul(hn::Add(hn::Load(D(), to), sum), hn::Load(D(), finish + column)); });
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
    if (kInto == Into::kFinish) finish += 2 * kLanes;
  }
  if (vectors == 1) Product<kM, 1, kInto, Step>(a, factors, b, b_stride, depth, c, c_stride, shrink, finish);
}

// ---- After the matmul

constexpr bool kAddsByKey =
    kAttendsLayout || kAttendsClustered || kAttendsKeyBias || kAttendsRelative || kAttendsSelfScore;

HWY_INLINE bool MayDiffer(Score score) {
  return (kAttendsScoreDistance || kAttendsScoreAdditive) && score != Score::kDot;
}
HWY_INLINE bool Capped(const AttentionTile& tile) { return kAttendsCap && tile.cap > 0.0f; }

// Converts the product to a score in the tile's unit.
HWY_INLINE void FinishProduct(const AttentionTile& tile, float* scores, size_t from, size_t to) {
  const D d;
  const float unit = ScoreUnit(tile);
  if (MayDiffer(tile.score)) {
    const float sign = tile.score == Score::kDistance ? -tile.scale : tile.scale;
    const V factor = hn::Set(d, Capped(tile) ? sign / tile.cap : sign * unit);
    for (size_t i = from; i < to; i += kLanes) hn::Store(hn::Mul(factor, hn::Load(d, scores + i)), d, scores + i);
  }
  if (Capped(tile)) {
    const V cap = hn::Set(d, tile.cap * unit);
    for (size_t i = from; i < to; i += kLanes) {
      hn::Store(hn::Mul(cap, FastTanh(d, hn::Load(d, scores + i))), d, scores + i);
    }
  }
}

// key - query for entry i of the block along an axis, clamped to max_distance.
HWY_INLINE int64_t Distance(const AttentionTile& tile, const AttentionRow& row, size_t i, size_t axis) {
  const int64_t at = tile.coordinates != nullptr ? tile.coordinates[axis * tile.block + i]
                                                 : int64_t{tile.Position(static_cast<uint32_t>(i))};
  const int64_t own = tile.coordinates != nullptr ? tile.row_coordinates[row.place + axis] : row.coordinate;
  const int64_t most = tile.max_distance, distance = at - own;
  return HWY_MAX(-most, HWY_MIN(distance, most));
}

using Int = hn::Vec<hn::RebindToSigned<D>>;

// The same for kLanes entries from i on with coordinates, plus max_distance.
HWY_INLINE Int Distances(const AttentionTile& tile, const AttentionRow& row, size_t i, size_t axis) {
  const hn::RebindToSigned<D> di;
  const int64_t own = tile.row_coordinates[row.place + axis], most = tile.max_distance;
  // Differences within these bounds are at most max_distance, so none overflows.
  const auto low = static_cast<int32_t>(HWY_MAX(own - most, int64_t{INT32_MIN}));
  const auto high = static_cast<int32_t>(HWY_MIN(own + most, int64_t{INT32_MAX}));
  const Int at = hn::LoadU(di, tile.coordinates + axis * tile.block + i);
  const Int bounded = hn::Max(hn::Set(di, low), hn::Min(at, hn::Set(di, high)));
  return hn::Add(hn::Sub(bounded, hn::Set(di, tile.row_coordinates[row.place + axis])),
                 hn::Set(di, static_cast<int32_t>(most)));
}

// Adds the biases of all axes with coordinates.
HWY_INLINE void AddDistanceBiases(const AttentionTile& tile, const AttentionRow& row, float* scores, size_t from,
                                  size_t to) {
  const D d;
  const V unit = hn::Set(d, ScoreUnit(tile));
  for (size_t i = from; i < to; i += kLanes) {
    V sum = hn::Load(d, scores + i);
    for (size_t axis = 0; axis < tile.axes; ++axis) {
      const float* bias = row.bias - tile.max_distance + axis * tile.bias_step;
      sum = hn::MulAdd(hn::GatherIndex(d, bias, Distances(tile, row, i, axis)), unit, sum);
    }
    hn::Store(sum, d, scores + i);
  }
}

// Adds the bias of keys [from, to) by their distance from the row's query. Entries outside [begin, end) have no key.
HWY_INLINE void AddDistanceBias(const AttentionTile& tile, const AttentionRow& row, float* scores, size_t from,
                                size_t to) {
  if (kAttendsCoordinates && tile.coordinates != nullptr) return AddDistanceBiases(tile, row, scores, from, to);
  const D d;
  const int64_t most = tile.max_distance;
  const V unit = hn::Set(d, ScoreUnit(tile));
  const bool even = tile.index == nullptr && tile.step == 1;
  for (size_t i = from; i < to; i += kLanes) {
    const int64_t distance = int64_t{tile.first} + int64_t(i) - row.coordinate;
    V bias;
    if (even && distance >= -most && distance + int64_t(kLanes) - 1 <= most) {
      bias = hn::LoadU(d, row.bias + distance);
    } else {
      HWY_ALIGN float lanes[kLanes];
      for (size_t lane = 0; lane < kLanes; ++lane) {
        const bool exists = i + lane >= row.begin && i + lane < row.end;
        lanes[lane] = exists ? row.bias[Distance(tile, row, i + lane, 0)] : 0.0f;
      }
      bias = hn::Load(d, lanes);
    }
    hn::Store(hn::MulAdd(bias, unit, hn::Load(d, scores + i)), d, scores + i);
  }
}

// Adds the linear bias of keys [from, to) at any distance (ALiBi).
HWY_INLINE void AddSlope(const AttentionTile& tile, const AttentionRow& row, float* scores, size_t from, size_t to) {
  const D d;
  const V slope = hn::Set(d, row.slope * ScoreUnit(tile));
  const bool even = tile.index == nullptr && tile.coordinates == nullptr;
  for (size_t i = from; i < to; i += kLanes) {
    V distance;
    if (even) {
      const int64_t first = int64_t{tile.first} + int64_t(i) * tile.step - row.coordinate;
      const V step = hn::Set(d, static_cast<float>(tile.step));
      distance = hn::MulAdd(hn::Iota(d, 0), step, hn::Set(d, static_cast<float>(first)));
    } else {
      HWY_ALIGN float lanes[kLanes];
      for (size_t lane = 0; lane < kLanes; ++lane) {
        const bool exists = i + lane >= row.begin && i + lane < row.end;
        const uint32_t position = exists ? tile.Position(static_cast<uint32_t>(i + lane)) : 0;
        const int64_t at = exists && tile.coordinates != nullptr ? tile.coordinates[i + lane] : int64_t{position};
        lanes[lane] = static_cast<float>(at - row.coordinate);
      }
      distance = hn::Load(d, lanes);
    }
    hn::Store(hn::MulAdd(slope, distance, hn::Load(d, scores + i)), d, scores + i);
  }
}

// Adds the relative scores of kLanes consecutive keys, from entry i on; buckets(axis) are the buckets of their
// distances. Rounds as the scalar code does.
template <class Buckets>
HWY_INLINE void AddRelative(const AttentionTile& tile, const AttentionRow& row, size_t i, const Buckets buckets,
                            float* scores) {
  const D d;
  const hn::RebindToSigned<D> di;
  V add = hn::Set(d, tile.block_bias);
  const size_t line = size_t{tile.axes} * tile.bucket_count;
  for (size_t axis = 0; axis < tile.axes; ++axis) {
    const Int of_axis = buckets(axis);
    const size_t first = axis * tile.bucket_count;
    if (row.relative != nullptr) add = hn::Add(add, hn::GatherIndex(d, row.relative + first, of_axis));
    if (tile.key_relative != nullptr) {
      const auto lines = hn::Mul(hn::Iota(di, 0), hn::Set(di, static_cast<int32_t>(line)));
      add = hn::Add(add, hn::GatherIndex(d, tile.key_relative + i * line + first, hn::Add(lines, of_axis)));
    }
  }
  hn::StoreU(hn::Add(hn::LoadU(d, scores + i), hn::Mul(hn::Set(d, ScoreUnit(tile)), add)), d, scores + i);
}

// Adds everything that depends on single keys. Scalar except for the simplest relative scores, because plain attention
// does not use it.
HWY_INLINE void AddByKey(const AttentionTile& tile, const AttentionRow& row, float* scores) {
  const float unit = ScoreUnit(tile);
  const bool relative =
      kAttendsRelative && !tile.apart && !row.apart && (row.relative != nullptr || tile.key_relative != nullptr);
  const bool placed = kAttendsCoordinates && tile.coordinates != nullptr;
  const bool even = relative && (placed || (tile.index == nullptr && tile.step == 1)) && tile.key_bias == nullptr &&
                    !tile.has_self_score && !tile.causal && tile.bucket_count < (1u << 22);
  const hn::RebindToSigned<D> di;
  for (uint32_t i = row.begin; i < row.end; ++i) {
    if (even && i + kLanes <= row.end) {
      const int64_t most = tile.max_distance, distance = int64_t{tile.first} + i - row.coordinate;
      if (placed) {
        const auto buckets = [&](size_t axis)
                                 HWY_ATTR { return hn::GatherIndex(di, tile.buckets, Distances(tile, row, i, axis)); };
        AddRelative(tile, row, i, buckets, scores);
        i += kLanes - 1;
        continue;
      }
      if (distance >= -most && distance + int64_t(kLanes) - 1 <= most) {
        const auto buckets = [&](size_t) HWY_ATTR { return hn::LoadU(di, tile.buckets + most + distance); };
        AddRelative(tile, row, i, buckets, scores);
        i += kLanes - 1;
        continue;
      }
    }
    const uint32_t position = tile.Position(i);
    float add = tile.block_bias;
    if (tile.key_bias != nullptr) add += tile.key_bias[position * tile.key_bias_stride];
    for (size_t axis = 0; relative && axis < tile.axes; ++axis) {
      const size_t bucket = static_cast<size_t>(tile.buckets[Distance(tile, row, i, axis) + tile.max_distance]);
      const size_t at = axis * tile.bucket_count + bucket;
      if (row.relative != nullptr) add += row.relative[at];
      if (tile.key_relative != nullptr) add += tile.key_relative[size_t{i} * tile.axes * tile.bucket_count + at];
    }
    scores[i] += unit * add;
    if (static_cast<int64_t>(position) == row.position && tile.has_self_score) scores[i] = unit * tile.self_score;
    if (static_cast<int64_t>(position) > row.position && tile.causal) scores[i] = kHidden;
  }
}

// Adds the pair bias of each key to its score.
HWY_INLINE void AddPairBias(const AttentionTile& tile, const AttentionRow& row, float* scores) {
  const D d;
  const V unit = hn::Set(d, ScoreUnit(tile));
  const bool even = tile.index == nullptr && tile.step == 1;
  for (uint32_t i = row.begin; i < row.end; i += even ? kLanes : 1) {
    const size_t n = even ? HWY_MIN(row.end - i, kLanes) : 1;
    const V bias = hn::LoadN(d, static_cast<const float*>(row.pairs) + tile.Position(i), n);
    hn::StoreN(hn::MulAdd(bias, unit, hn::LoadN(d, scores + i, n)), d, scores + i, n);
  }
}

// Masks the keys that the row's mask hides.
HWY_INLINE void HideMasked(const AttentionTile& tile, const AttentionRow& row, float* scores) {
  const D d;
  const hn::RebindToSigned<D> d32;
  const hn::Rebind<uint8_t, D> d8;
  const bool even = tile.index == nullptr && tile.step == 1;
  for (uint32_t i = row.begin; i < row.end; i += even ? kLanes : 1) {
    const size_t n = even ? HWY_MIN(row.end - i, kLanes) : 1;
    const auto seen = hn::PromoteTo(d32, hn::LoadN(d8, static_cast<const uint8_t*>(row.pairs) + tile.Position(i), n));
    const auto hides = hn::RebindMask(d, hn::Eq(seen, hn::Zero(d32)));
    hn::StoreN(hn::IfThenElse(hides, hn::Set(d, kHidden), hn::LoadN(d, scores + i, n)), d, scores + i, n);
  }
}

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
  const bool apart = tile.apart || row.apart, pairs = kAttendsPairBias && row.pairs != nullptr;
  if (kAttendsDistanceBias && row.bias != nullptr && !apart) AddDistanceBias(tile, row, scores, from, to);
  if (kAttendsSlopes && row.slope != 0.0f && !apart) AddSlope(tile, row, scores, from, to);
  const bool by_key = tile.block_bias != 0.0f || tile.key_bias != nullptr || tile.key_relative != nullptr ||
                      tile.has_self_score || tile.causal;
  if (pairs && !tile.pairs_mask) AddPairBias(tile, row, scores);
  if (kAddsByKey && (by_key || row.relative != nullptr)) AddByKey(tile, row, scores);
  if (pairs && tile.pairs_mask) HideMasked(tile, row, scores);
  Hide(scores, from, row.begin, row.end, to);
}

// Products of kM rows with keys [from, to) of the packed block.
template <size_t kM>
HWY_INLINE void MultiplyPackedKeys(const AttentionTile& tile, const AttentionRow* rows, size_t from, size_t to,
                                   float* scores) {
  const bool words = InWords(tile);
  const size_t depth = WordsOf(tile);
  const float *a[kM], *v[kM];
  for (size_t r = 0; r < kM; ++r) a[r] = words ? rows[r].words : rows[r].q, v[r] = rows[r].additive;
  const auto element = [&a](size_t r, size_t i) HWY_ATTR { return a[r][i]; };
  for (size_t key = from; key < to;) {
    const size_t panel_end = HWY_MIN(key / kPanel * kPanel + kPanel, to), vectors = (panel_end - key) / kLanes;
    const float* keys = tile.packed_keys + key / kPanel * kPanel * depth + key % kPanel;
    const auto multiply = [&](auto step, const auto factors) HWY_ATTR {
      Columns<kM, Into::kSet, decltype(step)>(element, factors, keys, kPanel, depth, scores + key, kScoreStride,
                                              vectors, nullptr);
    };
    if (WithKeyStep(tile, [&](auto step) HWY_ATTR { multiply(step, NoFactors()); })) {
    } else if (kAttendsScoreDistance && tile.score == Score::kDistance) {
      multiply(DistanceStep(), NoFactors());
    } else if (kAttendsScoreAdditive && tile.score == Score::kAdditive) {
      multiply(AdditiveStep(), [&v](size_t r, size_t i) HWY_ATTR { return v[r][i]; });
    } else {
      const size_t half = FirstHalf(depth);
      Columns<kM, Into::kSet, DotStep>(element, NoFactors(), keys, kPanel, half, scores + key, kScoreStride, vectors,
                                       nullptr);
      const auto after = [&a, half](size_t r, size_t i) HWY_ATTR { return a[r][half + i]; };
      Columns<kM, Into::kFinish, DotStep>(after, NoFactors(), keys + half * kPanel, kPanel, depth - half, scores + key,
                                          kScoreStride, vectors, nullptr, tile.key_factors + key);
    }
    key = panel_end;
  }
}

// Scores of kM rows with the keys of the block that any of them sees, [*from, *to): whole vectors, -infinity where a
// row does not see a key. The score of row r and key i is at r * kScoreStride + i in the result; null: no row sees any.
// any.
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
  if (!WithElementInPlace<kM>(tile, multiply)) MultiplyPackedKeys<kM>(tile, rows, from, to, scores);
  for (size_t r = 0; r < kM; ++r) {
    if (InWords(tile)) WidenProduct(tile, rows[r], scores + r * kScoreStride, from, to);
    FinishScores(tile, rows[r], scores + r * kScoreStride, from, to);
  }
  return scores;
}

}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#endif  // per target
