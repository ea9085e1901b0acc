/* fovea/attention.h - attention as a function: queries, keys and values in, outputs out.
 *
 * For programs that have their own model code and want only the kernel. There is no blob, no session and no handle. The
 * caller owns every array; a call reads and writes them until it returns and keeps nothing. It never allocates, and
 * works in one block of scratch whose exact size fovea_attention_scratch_size gives:
 *
 *   fovea_attention_scratch_size -> memory of alignment 64 -> fovea_attention_run, as often as wanted
 *
 * For every query and head: the score of each key that the pattern lets it see, the weights that follow from the
 * scores, and the sum of the values times their weights. No matrix of queries by keys is ever made: time follows the
 * keys that a pattern keeps, scratch depends neither on lengths nor on the machine (Rabe and Staats, arXiv 2112.05682;
 * Dao et al., arXiv 2205.14135).
 *
 * What attention is has four parts, each a struct of its own: the pattern (which keys), the score (how a pair of a
 * query and a key is scored), the weighting (how scores become weights) and the positions (where queries and keys
 * stand). Each may be NULL, which is the usual case: all keys, scaled dot products, softmax, and rows standing where
 * they are in their segment. Plain attention of 8 heads of 64 over one text needs three lines:
 *
 *   fovea_attention_options options = {sizeof(options)};
 *   options.heads = 8;
 *   options.d_k = 64;
 *
 * Any thread; calls are independent as long as their scratch and outputs are. Results have the same bits for any number
 * of workers and any tile_rows, and a query's are the same by itself and beside others. Everything that could lead
 * outside the caller's arrays (offsets, global keys, buckets, orders, sizes, strides) is checked before the first of
 * them is used; what cannot be checked is that the arrays are as long as the caller says.
 *
 * Keys and values may be anything, NaN and infinity included. A key changes the outputs of the queries that see it and
 * of no others; a value whose weight is exactly 0 changes nothing.
 */
#ifndef FOVEA_ATTENTION_H_
#define FOVEA_ATTENTION_H_

#include "fovea/runner.h"
#include "fovea/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Rows ---- */

/* Rows of vectors, one for each head. Strides are in bytes. Segments of rows (texts of a batch) lie in one of two ways:
 *
 *   segment_stride 0: the rows of all segments follow each other. The vector of row r and head h starts at
 *     (char*)data + r * row_stride + h * head_stride.
 *   else: each segment has its own place. The vector of the i-th row of segment s starts at
 *     (char*)data + s * segment_stride + i * row_stride + h * head_stride, and `rows` are those of one segment's place.
 *
 * Elements of a vector are next to each other. A head_stride of 0 is the bytes of a vector, a row_stride of 0 those of
 * all heads: [rows, heads, d] without gaps. The layout [batch, heads, time, d] is row_stride = d * element, head_stride
 * = time * row_stride, segment_stride = heads * head_stride, rows = time, with query_offsets and key_offsets of the
 * lengths that are in use. With one head its stride is not read. */
typedef struct fovea_attention_rows {
  const void* data; /* Aligned to an element, as are the strides. May be NULL if there are no rows. */
  uint32_t rows;    /* At most 2^31 - 1. */
  uint32_t type;    /* FOVEA_TYPE_F32; keys and values: F16, BF16 or I8, too. */
  size_t row_stride;
  size_t head_stride;
  size_t segment_stride;
  /* FOVEA_TYPE_I8 only: an element is integer * its vector's scale. Strides as above, of vectors of one f32. */
  const float* scales;
  size_t scale_row_stride;
  size_t scale_head_stride;
  size_t scale_segment_stride;
} fovea_attention_rows;

/* Where outputs go: f32 vectors of d_v for each query row and query head. They must not overlap each other, nor
 * anything that is read. */
typedef struct fovea_attention_out {
  float* data;
  uint32_t rows; /* At least as many as there are queries (in the longest segment); the rest is left alone. */
  size_t row_stride;
  size_t head_stride;
  size_t segment_stride;
} fovea_attention_out;

/* ---- Which keys ---- */

/* Positions count from 0 in each segment, of queries and of keys alike. The query at position p sees the union of what
 * is asked for here; q marks it, x the keys that it sees besides the one at its own position:
 *
 *   left 2, right 1            dilation 2, left 4, right 4   block 3, left 0, right 0     block 3, left 3, right 0
 *     . . x x q x . . .          x . x . q . x . x             . . . x q x . . .            x x x x q x . . .
 *   global first 1, last 2     global keys 1 and 6           layout {0, 2} of block 3     causal: cuts all of them
 *     x . . . q . . x x          . x . . q . x . .             x x x . q . x x x            x x x x q . . . .
 *
 * (global rows and keys and the layout take in q itself only if they name it). A key that the window has counts once,
 * whatever else names it; blocks of the layout and rounds of clusters count again, as their models want. A query that
 * sees no key gets zeros.
 *
 * Zero fields mean the default; all zero is full attention. Set struct_size to sizeof(fovea_attention_pattern). */
#define FOVEA_UNBOUNDED 0xffffffffu
enum {
  FOVEA_WINDOW_FULL = 0,  /* All keys (with a dilation: every dilation-th). left and right must be 0. */
  FOVEA_WINDOW_SIDES = 1, /* Keys p - left .. p + right, both ends included. */
  FOVEA_WINDOW_NONE = 2   /* Only what the fields below the window add. */
};
enum {
  FOVEA_CENTERS_NONE = 0,      /* Windows lie around the query's own position. */
  FOVEA_CENTERS_POSITIONS = 1, /* Around center_values[query row]: any number, in keys from the segment's first. */
  FOVEA_CENTERS_FRACTIONS = 2  /* The same times the number of keys of the segment. */
};
typedef struct fovea_attention_pattern {
  size_t struct_size;

  uint32_t causal; /* 1: of everything here, no key at a position after p. */

  /* Window: Longformer (arXiv 2004.05150), Mistral, ModernBERT. Of its keys those at a multiple of `dilation` from p.
   * With a block of more than 1, left and right count from the first and last row of the block that p lies in: 0 and 0
   * is attention inside a block, `block` and `block` takes in the neighbours. */
  uint32_t window;
  uint32_t left, right; /* Rows; FOVEA_UNBOUNDED: all. */
  uint32_t dilation;    /* 0: 1. At most 4096. */
  uint32_t block;       /* 0: 1. At most 2^20; more than 1 goes with neither dilation nor head_windows. */
  /* [heads, 3]: left, right (-1: all) and dilation of each query head, in place of those above; with
   * FOVEA_WINDOW_SIDES. */
  const int32_t* head_windows;

  uint32_t full_up_to; /* Segments of up to this many keys: full attention (within `causal`). */

  /* Of everything here only the keys with the highest scores, the lower position where they are equal. 0: all. At most
   * 2^20. */
  uint32_t top_k;

  /* Global rows: the first and last rows of a segment see all keys and are seen by all (BigBird, arXiv 2007.14062;
   * attention sinks, arXiv 2309.17453). In whole blocks; the last ones then count back from the end of the last block,
   * full or not. */
  uint32_t global_first, global_last;

  /* Global keys: rows of k, in ascending order, that all queries of their segment see (global tokens of Longformer).
   * Segment s has global_keys[global_key_offsets[s]] .. global_keys[global_key_offsets[s + 1] - 1]; the offsets may be
   * NULL where there is one segment. Rows count through all segments, however they lie. */
  uint32_t global_key_count;
  const uint32_t* global_keys;
  const uint32_t* global_key_offsets;

  /* Block-sparse layout (random blocks of BigBird and others): queries of block b also see the key blocks that row b -
   * global_first / block of [layout_heads, layout_rows, layout_columns] names. A key counts as often as its block is
   * named, and once more if the window has it. Negative numbers and blocks past the end name nothing. Goes with neither
   * dilation nor head_windows nor top_k; and no row may name a block twice where weights are no softmax or a self score
   * is given (FOVEA_E_ID, index: its index); entries times columns are then at most 2^18. */
  const int32_t* layout;
  uint32_t layout_heads; /* 0 or 1: one layout for all query heads; else `heads`. */
  uint32_t layout_rows;
  uint32_t layout_columns; /* At most 4096. */

  /* Clustered (Reformer, arXiv 2001.04451; Routing Transformer, arXiv 2003.05997): the rows of each segment are sorted
   * by bucket in `rounds` ways. The sorted rows are cut into chunks, and a query sees its own chunk, `chunks_before`
   * and `chunks_after` others around it, the chunks of all rounds, one round after the other, forming a circle (one
   * that would be a whole circle away is its own); a key counts as often as it is seen. With `chunk_multiple` a round
   * ends with chunks that have no rows, until it has a multiple of so many: Reformer pads texts so, where its layers
   * have chunks of several lengths. Segments of up to `chunk` rows: full attention. Queries and keys must be the same
   * segments. Goes with `causal` only; all else above must be 0.
   * Both tables have a column for each head and round, head * rounds + round, and an entry for each row r of k, at
   * r * cluster_stride + column. In a segment whose first row is f: order[r] is the row of k that stands at place r - f
   * of the sorted segment, rank[r] the place of row r, so rank[order[f + i]] = i. Rows sort by bucket, and by their own
   * order in a bucket. Both NULL with one round: rows stand as they are. */
  uint32_t rounds; /* 0: not clustered. At most 64. */
  uint32_t chunk;
  uint32_t chunks_before, chunks_after; /* At most 64 each. */
  uint32_t chunk_multiple;              /* 0: 1. At most 2^20. */
  const int32_t* order;
  const int32_t* rank;
  size_t cluster_stride; /* In entries; 0: heads * rounds. */

  /* Centered: local attention (Luong et al., arXiv 1508.04025). The window of a query lies around a number p that is
   * computed, and sees the keys p - left .. p + right, fewer at the ends of the segment, none if p is NaN. Monotonic: p
   * = the step's number; predictive: p = S * sigmoid(..), which is a fraction of the segment. Goes with
   * FOVEA_WINDOW_SIDES of two bounded sides, and nothing else of a pattern. */
  uint32_t centers;           /* FOVEA_CENTERS_* */
  const float* center_values; /* One for each query row. */
  size_t center_stride;       /* In bytes; 0: without gaps. */
} fovea_attention_pattern;

/* ---- How a pair is scored ---- */

enum {
  /* scale * sum_i q_i k_i (Luong et al., arXiv 1508.04025; Vaswani et al., arXiv 1706.03762) */
  FOVEA_SCORE_DOT = 0,
  /* -scale * sum_i (q_i - k_i)^2: with softmax the regression of Nadaraya and Watson by a Gaussian kernel */
  FOVEA_SCORE_DISTANCE = 1,
  /* scale * sum_i a_i tanh(q_i + k_i) (Bahdanau et al., arXiv 1409.0473; its W q and U k are the caller's to make) */
  FOVEA_SCORE_ADDITIVE = 2
};
/* In what type products are taken, if the CPU has an instruction for it (x86 with AVX-512: int8 with VNNI, bf16 with
 * BF16; 64-bit Arm with BF16: both); else in f32. Queries are rounded to the type, and keys that are not stored in it.
 * Sums, softmax and outputs are f32. */
enum {
  FOVEA_PRODUCTS_F32 = 0,
  FOVEA_PRODUCTS_BF16 = 1, /* Queries with keys, weights with values: an operand is off by up to 2^-9 of itself. */
  FOVEA_PRODUCTS_I8 = 2    /* Queries with keys: a row is off by up to 1/254 of its largest element. d_k to 65536. */
};

/* A bias or a mask for each pair of a query and a key. The only thing here that grows with queries times keys, and read
 * as it is: so many elements for each head and segment that has its own. Prefer a pattern where one says the same.
 * The entry of the i-th query of segment s, head h and the key at position j is the j-th element from
 * (char*)data + s * segment_stride + i * row_stride + h * head_stride on. A stride of 0 means that all share one:
 * head_stride 0 all heads, segment_stride 0 all segments, row_stride 0 all queries. */
#define FOVEA_BY_ROW ((size_t)-1) /* segment_stride: rows of all segments follow each other, as those of q may do. */
typedef struct fovea_attention_pairs_bias {
  const void* data; /* NULL: there is none. Aligned to an element, as are the strides. */
  uint32_t type; /* FOVEA_TYPE_F32: added to the score, -infinity hides. FOVEA_TYPE_U8: 0 hides, others do nothing. */
  uint32_t keys; /* Elements of a row; no segment may have more keys. */
  size_t row_stride, head_stride, segment_stride;
} fovea_attention_pairs_bias;

/* A score is made in this order: the kind's sum times the scale; the cap; the bias by distance; then key_bias, relative
 * scores and pair_bias are added, none of which is capped; self_score replaces what stands so far, all biases included;
 * a mask of pairs hides. Zero fields mean the default. Set struct_size to sizeof(fovea_attention_score). */
typedef struct fovea_attention_score {
  size_t struct_size;
  uint32_t kind;         /* FOVEA_SCORE_* */
  float scale;           /* 0: 1 / sqrt(d_k) for FOVEA_SCORE_DOT, else 1. */
  float cap;             /* Scores become cap * tanh(score / cap). 0: they do not. */
  uint32_t products;     /* FOVEA_PRODUCTS_*; other than f32 with FOVEA_SCORE_DOT only. */
  const float* additive; /* [heads, d_k] the vectors a; FOVEA_SCORE_ADDITIVE needs them, and only it. */

  /* Added to the scores of a key: f32 for each row of k, and of each query head or of all together. Strides as those of
   * rows. -infinity hides the key. */
  const float* key_bias;
  size_t key_bias_row_stride;
  size_t key_bias_head_stride;
  size_t key_bias_segment_stride;
  uint32_t key_bias_heads; /* 0 or 1: the same for all; else `heads`. */

  uint32_t max_distance; /* Of distance_bias and buckets. At most 2^29. */
  /* Bias by distance (T5, ALiBi, Swin): bias[head, clamp(key - query, -max_distance, max_distance) + max_distance] is
   * added, [heads, 2 * max_distance + 1]; with axes, [axes, heads, ..], one for each axis. -infinity hides the key. */
  const float* distance_bias;
  /* Scores by distance and content (Shaw et al., arXiv 1803.02155; DeBERTa, arXiv 2006.03654): of b = buckets[clamp(key
   * - query, -max_distance, max_distance) + max_distance], scale * (q . relative_keys[head, b] + k .
   * relative_queries[head, b]) is added, with axes for each axis. Either may be NULL. Not with rounds. */
  const float* relative_keys;    /* [axes, heads, bucket_count, d_k] */
  const float* relative_queries; /* [axes, heads, bucket_count, d_k] */
  const int32_t* buckets;        /* [2 * max_distance + 1], each below bucket_count */
  uint32_t bucket_count;         /* 0: no relative scores. At most 2^20. */

  uint32_t has_self_score; /* 1: a query's score with the key at its own position is self_score (Reformer: -1e5). */
  float self_score;

  fovea_attention_pairs_bias pair_bias;
} fovea_attention_score;

/* ---- How scores become weights ---- */

/* Softmax over the keys that a query sees, or a function of each score by itself, without normalisation. */
enum {
  FOVEA_WEIGHTING_SOFTMAX = 0,
  FOVEA_WEIGHTING_RELU = 1,
  FOVEA_WEIGHTING_GELU = 2,      /* By the error function. */
  FOVEA_WEIGHTING_GELU_TANH = 3, /* Its tanh approximation. */
  FOVEA_WEIGHTING_SILU = 4,
  FOVEA_WEIGHTING_SIGMOID = 6
};
/* Zero fields mean the default. Set struct_size to sizeof(fovea_attention_weighting). */
typedef struct fovea_attention_weighting {
  size_t struct_size;
  uint32_t kind; /* FOVEA_WEIGHTING_* */
  /* 1: with centers, the weights of keys j (after the softmax, which is not made again) are multiplied by
   * exp(-(j - p)^2 / (2 (D / 2)^2)), D = left = right. */
  uint32_t gaussian;
} fovea_attention_weighting;

/* ---- Where rows stand ---- */

enum {
  FOVEA_ORIGIN_ZERO = 0,   /* At 0. */
  FOVEA_ORIGIN_STARTS = 1, /* At starts[segment]. */
  FOVEA_ORIGIN_END = 2     /* So that the last query stands at the last key; at 0 where keys are fewer than queries. */
};
/* Zero fields mean the default: the i-th query and the i-th key of a segment stand at position i. Set struct_size to
 * sizeof(fovea_attention_positions). */
typedef struct fovea_attention_positions {
  size_t struct_size;

  /* Where the first query of a segment stands: the i-th one is at position start + i, for patterns, biases and
   * coordinates alike. A decoder that has seen n keys before its new queries starts at n. Other than FOVEA_ORIGIN_ZERO
   * not with rounds, nor with a query_stride of more than 1. */
  uint32_t origin;        /* FOVEA_ORIGIN_* */
  const uint32_t* starts; /* FOVEA_ORIGIN_STARTS: of each segment. */

  /* Where queries were made of several keys each, and first rows stand by themselves (Funnel-Transformer, arXiv
   * 2006.03236). For distances, not for windows, the query at position p > apart stands where the key at position apart
   * + (p - apart) * query_stride does. To and from the first `apart` rows of a segment, queries and keys, there are no
   * distances: neither distance_bias nor relative scores are added. */
  uint32_t query_stride; /* 0: 1. At most 2^20. More than 1 not with coordinates. */
  uint32_t apart;        /* Not with rounds. */

  /* Distances are not between positions but between the numbers that this table has for them, row `segment %
   * coordinate_sets` of [coordinate_sets, coordinate_positions]: two axes of an image in one number (Swin, arXiv
   * 2103.14030), hidden borders. No position may be coordinate_positions or more. With axes it has several such rows,
   * [coordinate_sets, axes, coordinate_positions]. A position then has a coordinate along each axis, and what is added
   * by distance is added for each, from a table of its own: rows and columns of an image (SAM, arXiv 2304.02643),
   * places on a page (LayoutLMv3, arXiv 2204.08387; a set for each segment). */
  const int32_t* coordinates;
  uint32_t coordinate_sets; /* 0: 1. */
  uint32_t coordinate_positions;
  uint32_t axes; /* 0: 1. At most 16. */
} fovea_attention_positions;

/* ---- What is kept ---- */

/* The weights or scores, if wanted: those of query row r and head h start at values[(r * heads + h) * stride].
 * Dense (keys NULL): by the key's position in its segment, up to the segment's length; keys that the pattern hides have
 * the weight 0 or the score -infinity. The stride is at least the longest segment. Sparse: `keys` has the rows of k
 * beside the values, ascending, none hidden and none with a weight of 0; counts[r * heads + h] is their number. The
 * stride is at least the most keys that a query can see, each as often as it counts, which is what FOVEA_E_CAPACITY
 * says in `expected`. Query rows and rows of k count through all segments, however they lie. The outputs are the same
 * with and without. Set struct_size to sizeof(fovea_attention_kept). */
typedef struct fovea_attention_kept {
  size_t struct_size;
  uint32_t what; /* FOVEA_KEEP_* */
  uint32_t stride;
  float* values;    /* [query rows, heads, stride] */
  uint32_t* keys;   /* The same; NULL: dense. */
  uint32_t* counts; /* [query rows, heads]; with keys. */
} fovea_attention_kept;

/* ---- The call ---- */

enum {
  FOVEA_PAIRING_SEGMENTS = 0, /* Queries of segment i see the keys of segment i. */
  FOVEA_PAIRING_ROWS = 1      /* Query row i sees the keys of segment i: pooling by attention. */
};

/* Zero fields mean the default; set struct_size to sizeof(fovea_attention_options). */
typedef struct fovea_attention_options {
  size_t struct_size;
  uint32_t heads;    /* Of queries and outputs. 0: 1. At most 4096. */
  uint32_t kv_heads; /* Of keys and values; divides heads: head h uses h / (heads / kv_heads). 0: heads. */
  uint32_t d_k;      /* Elements of a query and a key; 1 to 2^24. */
  uint32_t d_v;      /* Elements of a value and an output; at most 2^24. 0: d_k. */

  /* Segments: rows [offsets[i], offsets[i + 1]) of q (or of k and v); segment_count + 1 ascending numbers from 0 on,
   * the last at most the view's rows. Views with a segment_stride have each segment in its own place, so there only
   * lengths count: none may be more than the view's rows. Segments may be empty. Queries after the last segment have no
   * output. NULL: one segment of all rows, with a segment_count of 0 or 1. FOVEA_PAIRING_ROWS: the first segment_count
   * rows of q, one each; query_offsets must be NULL, and q and out have no segment_stride. */
  uint32_t pairing; /* FOVEA_PAIRING_* */
  uint32_t segment_count;
  const uint32_t* query_offsets;
  const uint32_t* key_offsets;

  const fovea_attention_pattern* pattern;     /* NULL: all keys. */
  const fovea_attention_score* score;         /* NULL: scaled dot products. */
  const fovea_attention_weighting* weighting; /* NULL: softmax. */
  const fovea_attention_positions* positions; /* NULL: the i-th row stands at i. */
  const fovea_attention_kept* kept;           /* NULL: only outputs. */

  uint32_t workers; /* 0: 1. At most 64. */
  /* Query rows that a worker takes at a time. 0: 256. At most 2^20. Scratch grows with them up to 256.
   * With rounds a worker takes a head of all rows (of a share of them where workers are more than heads), chunk by
   * chunk in the order of each round, and time is linear in the rows. With one round tile_rows then only bound scratch.
   * With several, what a row has is kept until the last of them, for tile_rows rows of a segment at a time (0: 16384):
   * up to 4 * d_v + 176 bytes each (with products 2 * d_k more), d_v and d_k rounded up to a multiple of 16 and 32. For
   * every further tile_rows rows of a segment all its chunks are packed anew, so to stay linear give its length. */
  uint32_t tile_rows;
  fovea_runner runner; /* NULL: workers are called one after the other. */
  void* runner_context;
} fovea_attention_options;

/* The exact bytes of scratch that runs with these options need: they succeed, one byte less fails. They depend on
 * heads, kv_heads, d_k, d_v, the kind of pattern, bucket_count, products, workers, tile_rows and, where something is
 * kept, its stride; not on rows, lengths or the machine. What a run checks of the options themselves is checked here
 * too: FOVEA_E_NULL, FOVEA_E_STRUCT_SIZE, FOVEA_E_OPTION, FOVEA_E_ID (an entry of a table is out of range; index: its
 * index). */
FOVEA_API fovea_status fovea_attention_scratch_size(const fovea_attention_options* options, uint64_t* bytes,
                                                    fovea_error* error);

/* Pairs of a query and a key whose score would be made in one segment of `queries` rows and `keys` keys, of all heads
 * together: what the time of a run follows. Counted as fovea_session_get_step_pairs does; global keys of the pattern
 * are those of the segment, so they are counted exactly, and a mask of pairs hides none. Of the options, offsets and
 * segment_count are not read; of `starts` the first one is. Time follows the queries. */
FOVEA_API fovea_status fovea_attention_pairs(const fovea_attention_options* options, uint32_t queries, uint32_t keys,
                                             uint64_t* pairs, fovea_error* error);

/* Attends. q has [rows, heads, d_k], k [rows, kv_heads, d_k], v [rows, kv_heads, d_v], k and v of the same type and as
 * many rows. `scratch` has an alignment of 64; its content does not matter and is undefined afterwards.
 *
 * Besides the statuses of fovea_attention_scratch_size (error.tensor: 0 q, 1 k, 2 v, 3 out where a view is meant):
 *   FOVEA_E_TOO_SMALL    scratch has fewer than `expected` bytes
 *   FOVEA_E_MISALIGNED   scratch, or a pointer or stride, does not have the alignment `expected`
 *   FOVEA_E_ROWS         a view has too few rows, or too many
 *   FOVEA_E_SEGMENTS     offsets do not start at 0, descend or pass the rows (index: which); queries and keys disagree
 *   FOVEA_E_LENGTH       a segment is longer than its table of coordinates or its row of pair_bias (index: which)
 *   FOVEA_E_CAPACITY     the stride of what is kept is less than `expected`
 *   FOVEA_E_ID           a global key, an order or a rank is out of place (index: its index)
 *   FOVEA_E_RUNNER       the runner does not do what fovea/runner.h asks; rows of out may have been written
 * After any other failure nothing has been written. */
FOVEA_API fovea_status fovea_attention_run(const fovea_attention_options* options, const fovea_attention_rows* q,
                                           const fovea_attention_rows* k, const fovea_attention_rows* v,
                                           const fovea_attention_out* out, void* scratch, uint64_t scratch_size,
                                           fovea_error* error);

#ifdef __cplusplus
}
#endif

#endif /* FOVEA_ATTENTION_H_ */
