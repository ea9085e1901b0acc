// Streaming attention over packed blocks of keys: scores, running softmax and weighted sum of values, in f32.
//
// A tile is up to some hundred rows. A row is one query of one head, and all rows of a tile share one key/value head
// (GQA). The caller iterates over the keys in blocks: it packs a block once and lets every row of the tile attend to
// it. A row's result depends only on the row and on the sequence of its blocks, never on other rows of the tile.
#ifndef FOVEA_RUNTIME_KERNELS_ATTENTION_H_
#define FOVEA_RUNTIME_KERNELS_ATTENTION_H_

#include <stddef.h>
#include <stdint.h>

#include "runtime/blob/numbers.h"
#include "runtime/kernels/attention_features.h"
#include "runtime/kernels/attention_terms.h"
#include "runtime/kernels/cast.h"

namespace fovea {

// Upper bounds over all targets, so that sizes do not depend on the CPU.
inline constexpr uint32_t kAttentionLanes = 16;      // packed widths are multiples of this
inline constexpr uint32_t kAttentionGroup = 12;      // rows whose scores are computed together
inline constexpr uint32_t kAttentionKeyStep = 64;    // keys per block are a multiple of this ...
inline constexpr uint32_t kAttentionMaxBlock = 256;  // ... and at most this many

// Cached keys and values (the KV cache) are stored in pages of this many rows; a vector of keys is in one page.
inline constexpr uint32_t kPageRows = 32;
static_assert(kPageRows % kAttentionLanes == 0 && kAttentionKeyStep % kPageRows == 0, "");

// Row of `position` in paged memory: page number from the table, then row within the page. page_mask is the size of the
// table, a power of 2, minus 1.
inline size_t PagedRow(const uint32_t* pages, uint32_t page_mask, size_t position) {
  return size_t{pages[(position / kPageRows) & page_mask]} * kPageRows + position % kPageRows;
}

inline constexpr uint32_t kMostI8Depth = 1u << 16;  // d_k of int8 and int16 products, so that an int32 holds the sum

// Whether this build may have products in int16 (attention_i16-inl.h), and on 64-bit Arm in int8
// (attention_words-inl.h).
#if defined(HWY_COMPILE_ONLY_SCALAR) || defined(HWY_COMPILE_ONLY_EMU128)
inline constexpr bool kBuildsI16 = false, kBuildsArmI8 = false;
#elif defined(__x86_64__) || defined(_M_X64)
inline constexpr bool kBuildsI16 = kAttendsProducts, kBuildsArmI8 = false;
#elif defined(__aarch64__) && !defined(FOVEA_SMALL)
inline constexpr bool kBuildsI16 = false, kBuildsArmI8 = kAttendsProducts;
#else
inline constexpr bool kBuildsI16 = false, kBuildsArmI8 = false;
#endif

// The type of products where a program allows other than f32 (ScorePart::may_round) and the processor has it, and the
// number of keys from which on it is faster: with fewer, rounding the rows takes longer than it saves.
inline constexpr Products kRounded = kBuildsI16 ? Products::kI16 : kBuildsArmI8 ? Products::kI8 : Products::kF32;
inline constexpr uint32_t kRoundedKeys = 64;

// Keys and values of one head of one segment: position p is at k + Row(p) * k_stride (bytes).
struct KeySource {
  const uint8_t* k;
  const uint8_t* v;
  size_t k_stride, v_stride;
  const float* k_scales;  // kI8: the scale of position p is at Row(p) * k_scale_stride
  const float* v_scales;
  size_t k_scale_stride, v_scale_stride;
  DType type;  // kF32, kF16, kBf16 or kI8
  // Page table (PagedRow); null: rows are contiguous.
  const uint32_t* pages;
  uint32_t page_mask;

  size_t Row(size_t position) const { return pages == nullptr ? position : PagedRow(pages, page_mask, position); }
};

// The top-k keys of a row so far: higher scores first, then lower positions. The arrays have room for `capacity` >= 2 *
// keep + 2 * kAttentionLanes entries.
struct TopKeys {
  float* scores;
  uint32_t* keys;  // positions
  uint32_t count, keep, capacity;
  float least;  // bound: keys with lower scores can no longer be in the top-k; starts as -infinity
};

struct AttentionRow {
  const float* q;  // [d_k]
  union {
    const float* words;     // the same in words, if products are not kF32; written by `narrow`
    const float* additive;  // [d_k], Score::kAdditive
  };
  float factor;      // factor of a product of words
  int32_t offset;    // added to it before
  float center;      // center of the row's window, from which weights fade
  int32_t position;  // the query's, in its segment
  RowTerms terms;
  float* weights;  // output of scores, then weights: by position, or with weight_keys in order of arrival; or null
  uint32_t* weight_keys;  // position of each weight, or null
  float* out;             // [d_v]
  TopKeys* top;           // only for `choose` and `finish_top_k`
  uint32_t begin, end;    // keys of the current block that the row sees; begin >= end: none
  uint32_t weight_count;  // number of weights, with weight_keys
  float max;              // running maximum of the row's scores (in units of log 2); starts as -infinity, or a sink's
};

struct AttentionTile {
  uint32_t d_k, d_v;
  uint32_t block;  // keys per block, a multiple of kAttentionKeyStep
  Score score;
  float scale;        // factor of the scores
  float cap;          // soft cap: scores become cap * tanh(score / cap); 0: none
  Products products;  // for Score::kDot; must be in AttentionKernels::has
  // Weights as a function of each score alone, not normalised (kernels.activation.apply); null: softmax.
  void (*weigh)(const float* x, size_t count, float* y);
  TileTerms terms;
  float fade;         // weights (not sums) are multiplied by 2^(fade * (position - center)^2); 0: no fading
  bool repeats;       // a key may occur more than once; matters only for dense weights
  bool keeps_scores;  // taps record scores, in their natural unit, not weights
  bool untapped;      // weights of the current keys are not recorded
  bool careful;       // skips values of weight 0, so NaN there does not matter: slower, same bits if all are finite
  // Where `attend` and `choose` read keys and values in place, without packing: for Score::kDot with f32 products, up
  // to AttentionKernels::in_place_rows rows, not if `careful`. Gives the same bits. Null: the packed block.
  const KeySource* source;
  // Scratch, 64-aligned. [...] counts floats; d_v' is d_v rounded up to kAttentionLanes.
  float* packed_keys;    // [block * d_k]
  float* packed_values;  // [block, d_v']
  float* widened;        // [kAttentionLanes, max(d_k, d_v)]
  float* key_factors;    // [block] factors of products with keys, for Score::kDot
  // [block] factors of weights if values are kI8 and products kF32 or kI8; with kI16 [2 * block] levels of values and
  // their factors; else null.
  float* value_factors;
  // For products other than kF32; w is MostWords(d_k).
  const CastKernels* cast;
  float* query_words;    // [row_count, w]
  float* key_words;      // [kAttentionLanes, w]; with kI16 [kAttentionLanes, d_k]
  float* scores;         // [kAttentionScoreFloats]
  float* sums;           // [row_count, kAttentionLanes], starts at 0
  float* sum_of_values;  // [row_count, d_v'], starts at 0
  AttentionRow* rows;    // [row_count]
  uint32_t row_count;
  // The current block. Key i is at position index[i], or at first + i * step if index is null.
  const uint32_t* index;
  uint32_t first, step;
  uint32_t existing;  // with `source`: number of positions, in and after the block, that have a key
  // With kI8 products, a softmax and AttentionKernels::half_values: weights times values are in f16, except values that
  // f16 does not hold well, which are read here. Null: f32.
  const KeySource* halves;

  // Whether recorded weights are scores until they are finished.
  bool StoresScores() const { return weigh == nullptr || keeps_scores; }
  uint32_t Position(uint32_t i) const { return index != nullptr ? index[i] : first + i * step; }
};

// Words per row for any type, a multiple of kAttentionLanes.
inline size_t MostWords(size_t d_k) {
  return ((d_k + 1) / 2 + kAttentionLanes - 1) / kAttentionLanes * kAttentionLanes;
}

inline constexpr uint32_t kAttentionScoreFloats =
    kAttentionGroup * (kAttentionMaxBlock + kAttentionLanes) + kAttentionLanes;

struct AttentionKernels {
  bool has[kProductsCount];  // products for which this CPU has an instruction; kF32 always
  uint16_t in_place_rows;    // tiles of at most this many rows are faster with AttentionTile::source, where possible
  bool half_values;          // this CPU has AttentionTile::halves
  // If products are not kF32: converts all rows of the tile to words, before the first block.
  void (*narrow)(const AttentionTile&);
  // Packs keys [begin, end) of the current block, begin < end <= block. Reads keys [begin rounded down to lanes, end).
  void (*pack)(const AttentionTile&, const KeySource&, uint32_t begin, uint32_t end);
  // Lets each row attend to its keys of the packed block. Rows with `weights` get the block's scores there, not
  // normalised; with a weighting function the final weights, added to the existing ones.
  void (*attend)(const AttentionTile&);
  // Whether the sums of a row have become NaN: by a value that it sees, or by one that only other rows see.
  bool (*spoilt)(const AttentionTile&);
  // Writes the rows' outputs (zeros for a row that saw no key) and turns recorded scores into weights: weight_count of
  // them, or the first `keys`. Unwritten entries must be -infinity (0 with a weighting function).
  void (*finish)(const AttentionTile&, uint32_t keys);
  // Used instead of attend: adds the keys of the packed block that may be in the row's top-k to row.top.
  void (*choose)(const AttentionTile&);
  // Used instead of finish: computes the row's output over its top-k keys only.
  void (*finish_top_k)(const AttentionTile&, const KeySource&);
  // Keys [begin, end) of the current block as dense f32 rows, times `factor`.
  void (*unpack)(const AttentionTile&, const KeySource&, uint32_t begin, uint32_t end, float factor, float* rows);
  // Merges the results of one set of keys (rows of `part`) into `whole`, whose rows are the same queries.
  void (*merge)(const AttentionTile& part, uint32_t part_row, const AttentionTile& whole, uint32_t whole_row);
};

// The kernels for this CPU.
AttentionKernels GetAttentionKernels();

}  // namespace fovea

#endif  // FOVEA_RUNTIME_KERNELS_ATTENTION_H_
