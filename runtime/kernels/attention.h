// Streaming attention over packed blocks of keys: scores, running softmax and weighted sum of values, in f32.
//
// A tile is up to some hundred rows; a row is one query of one head, and all rows of a tile share one key/value head.
// The caller walks over the keys in blocks: it packs a block once and lets every row of the tile attend to it.
// What a row gets depends on the row and on the sequence of its blocks only, never on the rows beside it.
#ifndef FOVEA_RUNTIME_KERNELS_ATTENTION_H_
#define FOVEA_RUNTIME_KERNELS_ATTENTION_H_

#include <stddef.h>
#include <stdint.h>

#include "runtime/blob/numbers.h"
#include "runtime/kernels/attention_features.h"
#include "runtime/kernels/cast.h"

namespace fovea {

// Bounds over all targets, so that sizes do not depend on the CPU.
inline constexpr uint32_t kAttentionLanes = 16;      // packed widths are multiples of it
inline constexpr uint32_t kAttentionGroup = 12;      // rows whose scores are held together
inline constexpr uint32_t kAttentionKeyStep = 64;    // keys per block are a multiple of it ...
inline constexpr uint32_t kAttentionMaxBlock = 256;  // ... and at most this many

// Rows of keys and values that are kept from run to run lie in pages of so many; a vector of keys is in one page.
inline constexpr uint32_t kPageRows = 32;
static_assert(kPageRows % kAttentionLanes == 0 && kAttentionKeyStep % kPageRows == 0, "");

// Where position `position` stands in pages: its page's number in the table, then its row there. page_mask is the size
// of the table, a power of 2, less 1.
inline size_t PagedRow(const uint32_t* pages, uint32_t page_mask, size_t position) {
  return size_t{pages[(position / kPageRows) & page_mask]} * kPageRows + position % kPageRows;
}

inline constexpr uint32_t kMostI8Depth = 1u << 16;  // d_k of int8 products, so that an int32 holds the sum

// Keys and values of one head of one segment: position p stands at k + Row(p) * k_stride (bytes).
struct KeySource {
  const uint8_t* k;
  const uint8_t* v;
  size_t k_stride, v_stride;
  const float* k_scales;  // kI8: of position p at Row(p) * k_scale_stride
  const float* v_scales;
  size_t k_scale_stride, v_scale_stride;
  DType type;  // kF32, kF16, kBf16 or kI8
  // Where rows lie in pages (PagedRow); null: rows are neighbours.
  const uint32_t* pages;
  uint32_t page_mask;

  size_t Row(size_t position) const { return pages == nullptr ? position : PagedRow(pages, page_mask, position); }
};

// The top-k keys of a row so far: higher scores first, then lower positions. The arrays have room for `capacity`
// >= 2 * keep + 2 * kAttentionLanes entries.
struct TopKeys {
  float* scores;
  uint32_t* keys;  // positions
  uint32_t count, keep, capacity;
  float least;  // scores below it cannot be among them any more; starts as -infinity
};

struct AttentionRow {
  const float* q;  // [d_k]
  union {
    const float* words;     // the same as words, Products other than kF32, which are dot products; set by `narrow`
    const float* additive;  // [d_k], Score::kAdditive
  };
  float factor;    // what a product of words is multiplied with
  int32_t offset;  // what is added to it before
  // By distance along the first axis: bias[key - position], distance clamped to max_distance; or null.
  const float* bias;
  float slope;            // of a bias that is slope * (key - position), by any distance; 0: there is none
  float center;           // of the row's window, where weights fade with the distance from it
  const float* relative;  // [axes, buckets] the query's part of the score by bucket of the distance; or null
  const void* pairs;      // by position of the key: f32 added to its score, or u8 (pairs_mask) of which 0 hides it
  float* weights;  // where scores, then weights go: by position, or in order of arrival with weight_keys; or null
  uint32_t* weight_keys;  // position of each weight, or null
  float* out;             // [d_v]
  TopKeys* top;           // only for `choose` and `finish_top_k`
  int32_t position;       // of the query in its segment
  int32_t coordinate;     // of the query: its position, or where distances are between coordinates the first of these
  uint32_t place;         // of its coordinates in those of the tile's rows
  bool apart;             // nothing depends on the query's distances
  uint32_t begin, end;    // keys of the present block that the row sees; begin >= end: none
  uint32_t weight_count;  // with weight_keys
  float max;              // running maximum of the row's scores (in units of log 2); starts as -infinity, or a sink's
};

struct AttentionTile {
  uint32_t d_k, d_v;
  uint32_t block;  // keys per block, a multiple of kAttentionKeyStep
  Score score;
  float scale;        // of the scores
  float cap;          // scores become cap * tanh(score / cap); 0: they do not
  Products products;  // of Score::kDot; one that AttentionKernels::has names
  // Weights that are a function of their own score, without normalisation (kernels.activation.apply); null: softmax.
  void (*weigh)(const float* x, size_t count, float* y);
  uint32_t max_distance;   // of the rows' bias and of `buckets`
  const int32_t* buckets;  // [2 * max_distance + 1] bucket of each clamped distance, for the relative parts
  uint32_t bucket_count;
  float self_score;  // a query's score with the key at its own position, if has_self_score
  bool has_self_score;
  float fade;    // weights are multiplied by 2^(fade * (position - center)^2), the sums are not; 0: they are not either
  bool repeats;  // a key may come more than once; only its dense weights need to know
  bool keeps_scores;  // weights of rows are for scores, in their natural unit
  bool untapped;      // the keys at hand leave no weights
  bool careful;       // values of weight 0 are left out, whatever they are: slower, the same bits where all are finite
  bool pairs_mask;    // what `pairs` of the rows is
  bool causal;        // hides keys after the row's position by their positions, not by [begin, end)
  // Where `attend` and `choose` read keys and values, which need not be packed then: for Score::kDot, products in f32,
  // up to AttentionKernels::in_place_rows rows, not if `careful`. The same bits. Null: from the packed block.
  const KeySource* source;
  // Scratch, 64-aligned. [..] are floats; d_v' is d_v rounded up to kAttentionLanes.
  float* packed_keys;    // [block * d_k]
  float* packed_values;  // [block, d_v']
  float* widened;        // [kAttentionLanes, max(d_k, d_v)]
  float* key_factors;    // [block] of Score::kDot: what products with keys are multiplied with
  float* value_factors;  // [block] where values are kI8 and products not kBf16: what weights are; else null
  // Products other than kF32; w is MostWords(d_k).
  const CastKernels* cast;
  float* query_words;    // [row_count, w]
  float* key_words;      // [kAttentionLanes, w]
  float* scores;         // [kAttentionScoreFloats]
  float* sums;           // [row_count, kAttentionLanes], starts as 0
  float* sum_of_values;  // [row_count, d_v'], starts as 0
  AttentionRow* rows;    // [row_count]
  uint32_t row_count;
  // The present block. Key i of it stands at position index[i], or at first + i * step where index is null.
  const uint32_t* index;
  uint32_t first, step;
  uint32_t existing;      // with `source`: how many places, in the block and after it, have a key
  bool apart;             // nothing depends on the distances of its keys
  float block_bias;       // added to every score (how often a key counts, as a logarithm)
  const float* key_bias;  // added to the score of the key at position p: key_bias[p * key_bias_stride]; or null
  size_t key_bias_stride;
  // Where distances are between coordinates: [axes, block] those of the keys of the block, anything where there is no
  // key. Biases and relative parts are added for each axis, a bias bias_step floats after that of the axis before.
  const int32_t* coordinates;      // or null: one axis, positions
  const int32_t* row_coordinates;  // with these: [axes] at each row's place
  uint32_t axes;
  size_t bias_step;
  const float* key_relative;  // [block, axes, bucket_count] each key's part of the score by bucket; or null

  // Whether rows' weights are scores until they are finished.
  bool StoresScores() const { return weigh == nullptr || keeps_scores; }
  uint32_t Position(uint32_t i) const { return index != nullptr ? index[i] : first + i * step; }
};

// Words of a row in any type, a multiple of kAttentionLanes.
inline size_t MostWords(size_t d_k) {
  return ((d_k + 1) / 2 + kAttentionLanes - 1) / kAttentionLanes * kAttentionLanes;
}

inline constexpr uint32_t kAttentionScoreFloats =
    kAttentionGroup * (kAttentionMaxBlock + kAttentionLanes) + kAttentionLanes;

struct AttentionKernels {
  bool has[kProductsCount];  // the products that this CPU has an instruction for; kF32 always
  uint32_t in_place_rows;    // tiles of no more rows are faster with AttentionTile::source, where that is possible
  // Where products are not kF32: before the first block, makes the words of all rows of the tile.
  void (*narrow)(const AttentionTile&);
  // Packs keys [begin, end) of the present block, begin < end <= block. Reads keys [begin rounded down to lanes, end).
  void (*pack)(const AttentionTile&, const KeySource&, uint32_t begin, uint32_t end);
  // Each row takes in its keys of the packed block. Rows with weights get the block's scores there, unscaled by max; if
  // the tile has a weighting of its own, its weights, added to what is there.
  void (*attend)(const AttentionTile&);
  // Whether the sums of a row have become NaN: by a value that it sees, or by one that only rows beside it see.
  bool (*spoilt)(const AttentionTile&);
  // Writes the rows' outputs (zeros for a row that saw no key) and turns weights from scores into weights: weight_count
  // of them, or the first `keys`. Where nothing was stored there must be -infinity (0 with a weighting of its own).
  void (*finish)(const AttentionTile&, uint32_t keys);
  // Instead of attend: puts the keys of the packed block that may be among the top-k of their row into row.top.
  void (*choose)(const AttentionTile&);
  // Instead of finish: the row's output over its top-k keys only.
  void (*finish_top_k)(const AttentionTile&, const KeySource&);
  // Keys [begin, end) of the present block as dense f32 rows, times `factor`.
  void (*unpack)(const AttentionTile&, const KeySource&, uint32_t begin, uint32_t end, float factor, float* rows);
  // Adds the outcome of one set of keys (rows of `part`) to that of others (rows of `whole`, all of the same queries).
  void (*merge)(const AttentionTile& part, uint32_t part_row, const AttentionTile& whole, uint32_t whole_row);
};

// The kernels for this CPU.
AttentionKernels GetAttentionKernels();

}  // namespace fovea

#endif  // FOVEA_RUNTIME_KERNELS_ATTENTION_H_
