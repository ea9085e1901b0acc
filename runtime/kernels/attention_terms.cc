// Finishes scores of attention: their kind and cap, and the terms of attention_terms.h.
#include "runtime/kernels/attention_terms.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/kernels/attention_terms.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "runtime/kernels/attention_score-inl.h"
#include "runtime/kernels/attention_term_distance_bias-inl.h"
#include "runtime/kernels/attention_term_key_bias-inl.h"
#include "runtime/kernels/attention_term_pair_bias-inl.h"
#include "runtime/kernels/attention_term_relative-inl.h"
#include "runtime/kernels/attention_term_self_score-inl.h"
#include "runtime/kernels/attention_term_slope-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {
namespace {

// Summands: terms that are added up before the sum is multiplied by the unit of scores.

HWY_INLINE bool HasSummands(const AttentionTile& tile, const AttentionRow& row) {
  return tile.terms.count_bias != 0.0f || HasKeyBias(tile) || HasRelative(tile, row);
}

HWY_INLINE void ApplySummands(const AttentionTile& tile, const AttentionRow& row, float* scores, size_t from,
                              size_t to) {
  const D d;
  const V unit = hn::Set(d, ScoreUnit(tile));
  const bool key_bias = HasKeyBias(tile), relative = HasRelative(tile, row);
  for (size_t i = from; i < to; i += kLanes) {
    V sum = hn::Set(d, tile.terms.count_bias);
    if (key_bias) sum = hn::Add(sum, KeyBias(tile, row, i));
    if (relative) sum = AddRelative(tile, row, i, sum);
    hn::Store(hn::Add(hn::Load(d, scores + i), hn::Mul(unit, sum)), d, scores + i);
  }
}

// Masks keys after the query, where the keys of a block are in any order.

HWY_INLINE bool HasCausalMask(const AttentionTile& tile, const AttentionRow& /*row*/) { return tile.terms.causal; }

HWY_INLINE void ApplyCausalMask(const AttentionTile& tile, const AttentionRow& row, float* scores, size_t from,
                                size_t to) {
  const D d;
  const Int own = hn::Set(hn::RebindToSigned<D>(), row.position);
  for (size_t i = from; i < to; i += kLanes) {
    const auto is_later = hn::RebindMask(d, hn::Gt(Positions(tile, row, i), own));
    hn::Store(hn::IfThenElse(is_later, hn::Set(d, kHidden), hn::Load(d, scores + i)), d, scores + i);
  }
}

}  // namespace

// Converts the product to a score in the tile's unit.
HWY_NOINLINE void FinishProduct(const AttentionTile& tile, float* scores, size_t from, size_t to) {
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

HWY_NOINLINE void ApplyTerms(const AttentionTile& tile, const AttentionRow& row, float* scores, size_t from,
                             size_t to) {
#define FOVEA_ATTENTION_TERM(Name, built) \
  if ((built) && Has##Name(tile, row)) Apply##Name(tile, row, scores, from, to);
#include "runtime/kernels/attention_term_list.inc"
#undef FOVEA_ATTENTION_TERM
}

}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();
