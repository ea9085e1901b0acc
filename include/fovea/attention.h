/* fovea/attention.h - attention as a plain function: queries, keys and values in, outputs out.
 *
 * For programs that have their own model code and want only the kernel (scaled dot-product attention and its
 * relatives). There is no blob, no session and no handle. The caller owns every array; a call uses them until it
 * returns and keeps nothing. It never allocates, and works in one block of scratch whose exact size a function returns:
 *
 *   fovea_attention_scratch_size -> memory of alignment 64 -> fovea_attention_run, any number of times
 *
 * For every query and head a run computes the score of each key that the pattern shows, turns the scores into attention
 * weights, and sums the values by these weights. No matrix of queries by keys exists at any time: time follows the keys
 * that the pattern keeps; scratch depends neither on lengths nor on the machine (online softmax: Rabe and Staats, arXiv
 * 2112.05682; Dao et al., FlashAttention, arXiv 2205.14135).
 *
 * An attention has four parts, each a separate struct: the pattern (which keys a query sees), the score (how a pair of
 * a query and a key is scored), the weighting (how scores become weights) and the positions (of queries and keys). Each
 * may be NULL, which is the usual case: all keys, scaled dot products, softmax, and each row at its place in its
 * segment. A segment is one sequence of a ragged batch. Plain attention of 8 heads of 64 over one sequence needs three
 * lines:
 *
 *   fovea_attention_options options = FOVEA_ATTENTION_OPTIONS_INIT;
 *   options.heads = 8;
 *   options.d_k = 64;
 *
 * Grouped-query attention (GQA) and multi-query attention (MQA, one key head) are a kv_heads below heads.
 *
 * Threads: any; calls are independent if their scratch and outputs are. Results have the same bits for any number of
 * workers and any tile_rows, and a query's result does not depend on the rest of its batch. Everything that could lead
 * outside the caller's arrays (offsets, global keys, buckets, orders, sizes, strides) is checked before the first of
 * them is used; the lengths of the arrays themselves cannot be checked.
 *
 * Keys and values may have any value, NaN and infinity included. A key changes only the outputs of the queries that see
 * it; a value whose weight is exactly 0 changes nothing.
 */
#ifndef FOVEA_ATTENTION_H_
#define FOVEA_ATTENTION_H_

#include "fovea/runner.h"
#include "fovea/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Rows ---- */

/* Rows of vectors, one vector per head. Strides are in bytes. Segments (the sequences of a batch) are stored in one of
 * two ways:
 *
 *   segment_stride 0: the rows of all segments follow each other (packed, ragged). The vector of row r and head h
 * starts
 *     at (char*)data + r * row_stride + h * head_stride.
 *   else: each segment has a separate place. The vector of the i-th row of segment s starts at
 *     (char*)data + s * segment_stride + i * row_stride + h * head_stride, and `rows` counts one segment's place.
 *
 * Elements of a vector are next to each other. A head_stride of 0 means the bytes of a vector, a row_stride of 0 the
 * bytes of all heads: [rows, heads, d] without gaps. The layout [batch, heads, time, d] is row_stride = d * element,
 * head_stride = time * row_stride, segment_stride = heads * head_stride, rows = time, with query_offsets and
 * key_offsets that give the lengths in use. With one head its stride is not read. */
typedef struct fovea_attention_rows {
  const void* data; /* Aligned to an element, as are the strides. May be NULL if there are no rows. */
  uint32_t rows;    /* At most 2^31 - 1. */
  uint32_t type;    /* fovea_type: FOVEA_TYPE_F32; keys and values also F16, BF16 or I8. */
  size_t row_stride;
  size_t head_stride;
  size_t segment_stride;
  /* FOVEA_TYPE_I8 only: an element is integer * scale of its vector. Strides as above, for one f32 per vector. */
  const float* scales;
  size_t scale_row_stride;
  size_t scale_head_stride;
  size_t scale_segment_stride;
} fovea_attention_rows;

/* Place of the outputs: f32 vectors of d_v for each query row and query head. They must not overlap each other, nor
 * anything that is read. */
typedef struct fovea_attention_out {
  float* data;       /* The first vector. */
  uint32_t rows;     /* At least as many as there are queries (in the longest segment); further rows are not written. */
  size_t row_stride; /* Bytes from a row to the next; 0 as in fovea_attention_rows. */
  size_t head_stride;    /* Bytes from a head to the next. */
  size_t segment_stride; /* Bytes from a segment to the next; 0: the rows of all segments follow each other. */
} fovea_attention_out;

/* ---- Which keys ---- */

/* Positions count from 0 in each segment, for queries and keys alike. The query at position p sees the union of the
 * keys that the fields below ask for; in the pictures q marks it, x the keys that it sees besides the one at its
 * position:
 *
 *   left 2, right 1            dilation 2, left 4, right 4   block 3, left 0, right 0     block 3, left 3, right 0
 *     . . x x q x . . .          x . x . q . x . x             . . . x q x . . .            x x x x q x . . .
 *   global first 1, last 2     global keys 1 and 6           layout {0, 2} of block 3     causal: cuts all of them
 *     x . . . q . . x x          . x . . q . x . .             x x x . q . x x x            x x x x q . . . .
 *
 * (Global rows, global keys and the layout include q itself only if they name it.) A key inside the window counts once,
 * even if another field names it; blocks of the layout and rounds of clusters count again, as their models require. A
 * query that sees no key gets zeros.
 *
 * Zero fields mean the default; all zero is full attention. */
#define FOVEA_UNBOUNDED 0xffffffffu
typedef enum fovea_window {
  FOVEA_WINDOW_FULL = 0,  /* All keys (with a dilation: every dilation-th). left and right must be 0. */
  FOVEA_WINDOW_SIDES = 1, /* Sliding window: keys p - left .. p + right, both ends included. */
  FOVEA_WINDOW_NONE = 2   /* Only the keys that the fields below the window add. */
} fovea_window;
typedef enum fovea_centers {
  FOVEA_CENTERS_NONE = 0,      /* A window is around the query's position. */
  FOVEA_CENTERS_POSITIONS = 1, /* Around center_values[query row]: any number, in keys from the segment's first. */
  FOVEA_CENTERS_FRACTIONS = 2  /* The same times the number of keys of the segment. */
} fovea_centers;               /* Center of a window. */
typedef struct fovea_attention_pattern {
  size_t struct_size;

  uint32_t causal; /* 1: no key at a position after p, whichever field names it. */

  /* Window: Longformer (arXiv 2004.05150), Mistral, ModernBERT. With a dilation, only its keys at a multiple of
   * `dilation` from p. With a block of more than 1, left and right count from the first and last row of p's block: 0
   * and 0 is attention inside a block, `block` and `block` includes the neighbours. */
  uint32_t window;      /* fovea_window */
  uint32_t left, right; /* Rows; FOVEA_UNBOUNDED: all. */
  uint32_t dilation;    /* 0: 1. At most 4096. */
  uint32_t block;       /* 0: 1. At most 2^20; more than 1 excludes dilation and head_windows. */
  /* [heads, 3]: left, right (-1: all) and dilation of each query head, instead of the fields above; with
   * FOVEA_WINDOW_SIDES. */
  const int32_t* head_windows;

  uint32_t full_up_to; /* Segments of up to this many keys: full attention (within `causal`). */

  /* Only the top_k keys with the highest scores among the keys that all other fields show; of equal scores the lower
   * position. 0: all. At most 2^20. */
  uint32_t top_k;

  /* Global rows: the first and last rows of a segment see all keys and are seen by all (BigBird, arXiv 2007.14062;
   * attention sinks, arXiv 2309.17453). In whole blocks; the last ones then count back from the end of the last block,
   * full or not. */
  uint32_t global_first, global_last;

  /* Global keys: rows of k, in ascending order, that all queries of their segment see (global tokens of Longformer).
   * Segment s has global_keys[global_key_offsets[s]] .. global_keys[global_key_offsets[s + 1] - 1]; the offsets may be
   * NULL where there is one segment. Rows count through all segments, in either way of storage. */
  uint32_t global_key_count;
  const uint32_t* global_keys;
  const uint32_t* global_key_offsets;

  /* Block-sparse layout (random blocks of BigBird, and similar): queries of block b also see the key blocks that row
   * b - global_first / block of [layout_heads, layout_rows, layout_columns] names. A key counts as often as its block
   * is named, and once more if the window has it. Negative numbers and blocks past the end name nothing. Excludes
   * dilation, head_windows and top_k. No row may name a block twice if the weighting is not softmax or a self score is
   * given (FOVEA_E_ID, index: the entry); entries times columns are then at most 2^18. */
  const int32_t* layout;
  uint32_t layout_heads; /* 0 or 1: one layout for all query heads; else `heads`. */
  uint32_t layout_rows;
  uint32_t layout_columns; /* At most 4096. */

  /* Clustered attention (Reformer, arXiv 2001.04451; Routing Transformer, arXiv 2003.05997): the rows of each segment
   * are sorted by bucket in `rounds` ways. The sorted rows are cut into chunks, and a query sees its chunk, the
   * `chunks_before` chunks before and the `chunks_after` chunks after it. The chunks of all rounds, one round after the
   * other, form a circle (a chunk a whole circle away is the query's chunk itself); a key counts as often as it is
   * seen. With `chunk_multiple` a round ends with chunks without rows until their number is a multiple of it: Reformer
   * pads sequences so if its layers have chunks of several lengths. Segments of up to `chunk` rows: full attention.
   * Queries and keys must be the same segments. Only `causal` may be combined with it; all else above must be 0.
   * Both tables have a column for each head and round, head * rounds + round, and an entry for each row r of k, at
   * r * cluster_stride + column. In a segment whose first row is f: order[r] is the row of k at place r - f of the
   * sorted segment, rank[r] is the place of row r, so rank[order[f + i]] = i. Rows are sorted by bucket, and by row
   * number in a bucket. Both NULL with one round: rows are in their original order. */
  uint32_t rounds; /* 0: not clustered. At most 64. */
  uint32_t chunk;
  uint32_t chunks_before, chunks_after; /* At most 64 each. */
  uint32_t chunk_multiple;              /* 0: 1. At most 2^20. */
  const int32_t* order;
  const int32_t* rank;
  size_t cluster_stride; /* In entries; 0: heads * rounds. */

  /* Centered: local attention (Luong et al., arXiv 1508.04025). The window of a query is around a computed number p:
   * keys p - left .. p + right, fewer at the ends of the segment, none if p is NaN. Monotonic: p = the number of the
   * step; predictive: p = S * sigmoid(...), a fraction of the segment. Needs FOVEA_WINDOW_SIDES with two bounded sides,
   * and excludes all else of a pattern. */
  uint32_t centers;           /* fovea_centers */
  const float* center_values; /* One for each query row. */
  size_t center_stride;       /* In bytes; 0: without gaps. */
} fovea_attention_pattern;    /* Which keys a query sees. */
#define FOVEA_ATTENTION_PATTERN_INIT FOVEA_INIT(fovea_attention_pattern)

/* ---- How a pair is scored ---- */

typedef enum fovea_score {
  /* scale * sum_i q_i k_i (Luong et al., arXiv 1508.04025; Vaswani et al., arXiv 1706.03762) */
  FOVEA_SCORE_DOT = 0,
  /* -scale * sum_i (q_i - k_i)^2: with softmax the regression of Nadaraya and Watson by a Gaussian kernel */
  FOVEA_SCORE_DISTANCE = 1,
  /* scale * sum_i a_i tanh(q_i + k_i) (Bahdanau et al., arXiv 1409.0473; the caller computes its W q and U k) */
  FOVEA_SCORE_ADDITIVE = 2
} fovea_score; /* How a query and a key are scored. */
/* Type of the products, if the CPU has an instruction for it (x86 with AVX-512: int8 and int16 with VNNI, bf16 with
 * BF16; 64-bit Arm: int8 with dot products, bf16 with BF16); else f32. Queries are rounded to the type, and keys that
 * are not stored in it. Sums, softmax and outputs are f32; int8 on Arm with FP16 has weights and values in f16. */
typedef enum fovea_products {
  FOVEA_PRODUCTS_F32 = 0,
  FOVEA_PRODUCTS_BF16 = 1, /* Queries with keys, weights with values: an operand is off by up to 2^-9 of itself. */
  FOVEA_PRODUCTS_I8 = 2,   /* Queries with keys: a row is off by up to 1/254 of its largest element. d_k to 65536. */
  /* Queries with keys: a row is off by up to sqrt(d_k) * 2^-16.5 of its largest element (2^-14 at d_k = 32). Weights
   * with values: 2^-12 of the largest weight of a block of keys, and 2^-12 of the largest element of a value. f32 with
   * few keys (unless causal), for weightings other than a softmax, gaussian or not, and with top_k. d_k to 65536. */
  FOVEA_PRODUCTS_I16 = 3
} fovea_products;

/* A bias or a mask for each pair of a query and a key. It is the only input here that grows with queries times keys,
 * and is read in place: queries * keys elements for each head and segment with separate ones. Prefer a pattern that has
 * the same effect.
 * The entry of the i-th query of segment s, head h and the key at position j is the j-th element from
 * (char*)data + s * segment_stride + i * row_stride + h * head_stride on. A stride of 0 shares entries: head_stride 0
 * between all heads, segment_stride 0 between all segments, row_stride 0 between all queries. */
#define FOVEA_BY_ROW ((size_t)-1) /* segment_stride: rows of all segments follow each other, as the rows of q may. */
typedef struct fovea_attention_pairs_bias {
  const void* data; /* NULL: there is none. Aligned to an element, as are the strides. */
  uint32_t type; /* FOVEA_TYPE_F32: added to the score, -infinity hides. FOVEA_TYPE_U8: 0 hides, 1 to 255 do nothing. */
  uint32_t keys; /* Elements of a row; no segment may have more keys. */
  size_t row_stride, head_stride, segment_stride;
} fovea_attention_pairs_bias;

/* A score is computed in this order: the kind's sum times the scale; the cap; the bias by distance and the slope; then
 * key_bias, relative scores and pair_bias are added, none of which is capped; self_score replaces the result so far,
 * all biases included; a mask of pairs hides. Zero fields mean the default. */
typedef struct fovea_attention_score {
  size_t struct_size;
  uint32_t kind;         /* fovea_score */
  float scale;           /* 0: 1 / sqrt(d_k) for FOVEA_SCORE_DOT, else 1. */
  float cap;             /* Scores become cap * tanh(score / cap) (soft cap). 0: none. */
  uint32_t products;     /* fovea_products; other than f32 only with FOVEA_SCORE_DOT. */
  const float* additive; /* [heads, d_k] the vectors a; for FOVEA_SCORE_ADDITIVE, which requires them, only. */

  /* Added to the scores of a key: f32 for each row of k, and for each query head or for all together. Strides as in
   * fovea_attention_rows. -infinity hides the key. */
  const float* key_bias;
  size_t key_bias_row_stride;
  size_t key_bias_head_stride;
  size_t key_bias_segment_stride;
  uint32_t key_bias_heads; /* 0 or 1: the same for all; else `heads`. */

  uint32_t max_distance; /* Largest distance of distance_bias and buckets. At most 2^29. */
  /* Bias by distance (T5, ALiBi, Swin): bias[head, clamp(key - query, -max_distance, max_distance) + max_distance] is
   * added, [heads, 2 * max_distance + 1]; with axes, [axes, heads, ...], one for each axis. -infinity hides the key. */
  const float* distance_bias;
  /* Scores by distance and content (Shaw et al., arXiv 1803.02155; DeBERTa, arXiv 2006.03654): with
   * b = buckets[clamp(key - query, -max_distance, max_distance) + max_distance],
   * scale * (q . relative_keys[head, b] + k . relative_queries[head, b]) is added, with axes for each axis. Either may
   * be NULL. Not with rounds. */
  const float* relative_keys;    /* [axes, heads, bucket_count, d_k] */
  const float* relative_queries; /* [axes, heads, bucket_count, d_k] */
  const int32_t* buckets;        /* [2 * max_distance + 1], each below bucket_count */
  uint32_t bucket_count;         /* 0: no relative scores. At most 2^20. */

  uint32_t has_self_score; /* 1: a query's score with the key at its own position is self_score (Reformer: -1e5). */
  float self_score;

  fovea_attention_pairs_bias pair_bias;

  /* Linear bias (ALiBi, arXiv 2108.12409): slopes[head] * (key - query) is added at any distance, [heads]. Not with
   * several axes. */
  const float* slopes;
} fovea_attention_score;
#define FOVEA_ATTENTION_SCORE_INIT FOVEA_INIT(fovea_attention_score)

/* ---- How scores become weights ---- */

/* Softmax over the keys that a query sees, or a function of each score by itself, without normalisation. */
typedef enum fovea_weighting {
  FOVEA_WEIGHTING_SOFTMAX = 0,
  FOVEA_WEIGHTING_RELU = 1,
  FOVEA_WEIGHTING_GELU = 2,      /* By the error function. */
  FOVEA_WEIGHTING_GELU_TANH = 3, /* Its tanh approximation. */
  FOVEA_WEIGHTING_SILU = 4,
  FOVEA_WEIGHTING_SIGMOID = 6
} fovea_weighting;
/* Zero fields mean the default. */
typedef struct fovea_attention_weighting {
  size_t struct_size;
  uint32_t kind; /* fovea_weighting */
  /* 1: with centers, the weights of keys j are multiplied by exp(-(j - p)^2 / (2 (D / 2)^2)), D = left = right. This
   * comes after the softmax, which is not repeated. */
  uint32_t gaussian;
  /* Attention sinks (arXiv 2309.17453): a score of each head that belongs to no key and takes part in the softmax, so
   * that weights sum to less than 1, [heads]. With FOVEA_WEIGHTING_SOFTMAX only; not with top_k or rounds. */
  const float* sinks;
} fovea_attention_weighting;
#define FOVEA_ATTENTION_WEIGHTING_INIT FOVEA_INIT(fovea_attention_weighting)

/* ---- Positions of rows ---- */

typedef enum fovea_origin {
  FOVEA_ORIGIN_ZERO = 0,   /* At 0. */
  FOVEA_ORIGIN_STARTS = 1, /* At starts[segment]. */
  FOVEA_ORIGIN_END = 2     /* So that the last query is at the last key's position; at 0 if there are fewer keys. */
} fovea_origin;            /* Position of the first query of a segment. */
/* Zero fields mean the default: the i-th query and the i-th key of a segment are at position i. */
typedef struct fovea_attention_positions {
  size_t struct_size;

  /* Position of a segment's first query: the i-th query is at start + i, for patterns, biases and coordinates alike. A
   * decoder with n rows in its KV cache starts at n. Other than FOVEA_ORIGIN_ZERO not with rounds, nor with a
   * query_stride of more than 1. */
  uint32_t origin;        /* fovea_origin */
  const uint32_t* starts; /* FOVEA_ORIGIN_STARTS: one for each segment. */

  /* For queries made of several keys each, with first rows apart (Funnel-Transformer, arXiv 2006.03236). For distances,
   * not for windows, the query at position p > apart has the place of the key at position
   * apart + (p - apart) * query_stride. To and from the first `apart` rows of a segment, queries and keys, there are no
   * distances: neither distance_bias nor relative scores are added. */
  uint32_t query_stride; /* 0: 1. At most 2^20. More than 1 not with coordinates. */
  uint32_t apart;        /* Not with rounds. */

  /* Distances are between coordinates instead of positions. Position i of a segment has the i-th number of row
   * `segment % coordinate_sets` of [coordinate_sets, coordinate_positions]: two axes of an image in one number (Swin,
   * arXiv 2103.14030), hidden borders. No position may be coordinate_positions or more. With axes, the table is
   * [coordinate_sets, axes, coordinate_positions]: a position has a coordinate along each axis, and the distance terms
   * are added for each axis from a separate table: rows and columns of an image (SAM, arXiv 2304.02643), places on a
   * page (LayoutLMv3, arXiv 2204.08387; a set for each segment). */
  const int32_t* coordinates;
  uint32_t coordinate_sets; /* 0: 1. */
  uint32_t coordinate_positions;
  uint32_t axes; /* 0: 1. At most 16. */

  /* Coordinates of rows instead of positions: `axes` numbers for each row of k, without gaps, through all segments.
   * Queries and keys must be the same rows. They are rounded to the nearest integer and clamped to 2^24; NaN counts as
   * 0. Not with `coordinates`, and only with FOVEA_ORIGIN_ZERO. */
  const float* row_coordinates;
} fovea_attention_positions;
#define FOVEA_ATTENTION_POSITIONS_INIT FOVEA_INIT(fovea_attention_positions)

/* ---- Summaries ---- */

/* Further keys, one for each `group` keys of a segment, which all its queries see, in the same softmax (transient
 * global attention of LongT5, arXiv 2112.07916): segment s has the rows [offsets[s], offsets[s + 1]) of k and v, of
 * which as many are used as it has whole groups of keys. Queries and keys must be the same rows. Not in an attention
 * map, and not with causal, top_k, a layout, rounds, centers, relative scores, slopes, key_bias, pair_bias, self_score,
 * coordinates, apart or query_stride. */
typedef struct fovea_attention_summaries {
  size_t struct_size;
  uint32_t group; /* At least 1. */
  /* [rows, kv_heads, d_k] and [rows, kv_heads, d_v] of the type of k and v, which is not FOVEA_TYPE_I8, without a
   * segment_stride. */
  const fovea_attention_rows* k;
  const fovea_attention_rows* v;
  const uint32_t* offsets; /* As key_offsets. NULL: one segment of all rows. */
  /* NULL, or a bias by the distance of summary i from the group that contains the query, in groups: [heads,
   * 2 * max_distance + 1], as distance_bias. */
  const float* bias;
  uint32_t max_distance; /* At most 2^29. */
} fovea_attention_summaries;
#define FOVEA_ATTENTION_SUMMARIES_INIT FOVEA_INIT(fovea_attention_summaries)

/* ---- Attention map ---- */

/* The attention map, if wanted. The numbers of query row r and head h start at values[(r * heads + h) * stride].
 *   Dense (keys NULL): indexed by the key's position in its segment, up to the segment's length; keys that the pattern
 *     hides have the weight 0 or the score -infinity. The stride is at least the longest segment.
 *   Sparse: `keys` has the rows of k that belong to the values, ascending, without hidden keys and keys with weight 0;
 *     counts[r * heads + h] is their number. The stride is at least the most keys that a query can see, each as often
 * as
 *     it counts; FOVEA_E_CAPACITY reports that number in `expected`.
 * Query rows and rows of k count through all segments, in either way of storage. Outputs are the same with and without
 * a map. */
typedef struct fovea_attention_kept {
  size_t struct_size;
  uint32_t what; /* fovea_keep */
  uint32_t stride;
  float* values;    /* [query rows, heads, stride] */
  uint32_t* keys;   /* The same; NULL: dense. */
  uint32_t* counts; /* [query rows, heads]; with keys. */
} fovea_attention_kept;
#define FOVEA_ATTENTION_KEPT_INIT FOVEA_INIT(fovea_attention_kept)

/* ---- The call ---- */

typedef enum fovea_pairing {
  FOVEA_PAIRING_SEGMENTS = 0, /* Queries of segment i see the keys of segment i. */
  FOVEA_PAIRING_ROWS = 1      /* Query row i sees the keys of segment i: attention pooling. */
} fovea_pairing;              /* Which keys belong to which queries. */

/* Zero fields mean the default. */
typedef struct fovea_attention_options {
  size_t struct_size;

  /* Shape. */
  uint32_t heads;    /* Heads of queries and outputs. 0: 1. At most 4096. */
  uint32_t kv_heads; /* Heads of keys and values (GQA); divides heads: head h uses h / (heads / kv_heads). 0: heads. */
  uint32_t d_k;      /* Elements of a query and a key; 1 to 2^24. */
  uint32_t d_v;      /* Elements of a value and an output; at most 2^24. 0: d_k. */

  /* Segments (sequences): rows [offsets[i], offsets[i + 1]) of q (or of k and v); segment_count + 1 ascending numbers
   * from 0 on, the last at most the view's rows. In a view with a segment_stride each segment has a separate place, so
   * there only lengths count: none may be more than the view's rows. Segments may be empty. Queries after the last
   * segment have no output. NULL: one segment of all rows, with a segment_count of 0 or 1. FOVEA_PAIRING_ROWS: the
   * first segment_count rows of q, one each; query_offsets must be NULL, and q and out have no segment_stride. */
  uint32_t pairing; /* fovea_pairing */
  uint32_t segment_count;
  const uint32_t* query_offsets;
  const uint32_t* key_offsets;

  /* The parts. */
  const fovea_attention_pattern* pattern;     /* NULL: all keys. */
  const fovea_attention_score* score;         /* NULL: scaled dot products. */
  const fovea_attention_weighting* weighting; /* NULL: softmax. */
  const fovea_attention_positions* positions; /* NULL: the i-th row is at i. */
  const fovea_attention_kept* kept;           /* NULL: only outputs. */

  /* Execution. */
  uint32_t workers; /* 0: 1. At most 64. */
  /* Query rows that a worker processes at a time. 0: 256. At most 2^20. Scratch grows with them up to 256.
   * With rounds a worker processes one head of all rows (of a share of them if there are more workers than heads),
   * chunk by chunk in the order of each round, and time is linear in the rows. With one round, tile_rows only bounds
   * scratch. With several, partial results are kept until the last round, for tile_rows rows of a segment at a time (0:
   * 16384): up to 4 * d_v + 176 bytes each (with products 2 * d_k more), d_v and d_k rounded up to a multiple of 16 and
   * 32. For every further tile_rows rows of a segment all its chunks are packed again, so to stay linear give its
   * length. */
  uint32_t tile_rows;
  fovea_runner runner; /* NULL: workers are called one after the other. */
  void* runner_context;

  const fovea_attention_summaries* summaries; /* NULL: there are none. */
} fovea_attention_options;
#define FOVEA_ATTENTION_OPTIONS_INIT FOVEA_INIT(fovea_attention_options)

/* Returns in *bytes the exact scratch that runs with these options need: that many bytes succeed, one byte less fails.
 * They depend on heads, kv_heads, d_k, d_v, the kind of pattern, bucket_count, products, workers, tile_rows and, with
 * an attention map, its stride; not on rows, lengths or the machine. Checks of the options alone are made here as in a
 * run. Statuses:
 *   FOVEA_E_NULL, FOVEA_E_STRUCT_SIZE, FOVEA_E_OPTION
 *   FOVEA_E_ID   an entry of a table is out of range (index: the entry) */
FOVEA_API fovea_status fovea_attention_scratch_size(const fovea_attention_options* options, uint64_t* bytes,
                                                    fovea_error* error);

/* Returns in *pairs how many pairs of a query and a key are scored in one segment of `queries` rows and `keys` keys, in
 * all heads together: the number that the time of a run follows. Counted as by fovea_session_get_step_pairs; the
 * pattern's global keys belong to the segment, so they are counted exactly, and a mask of pairs hides none. Offsets and
 * segment_count are not read, and only the first of `starts` is. Takes time that grows with the queries. Statuses: as
 * fovea_attention_scratch_size. */
FOVEA_API fovea_status fovea_attention_pairs(const fovea_attention_options* options, uint32_t queries, uint32_t keys,
                                             uint64_t* pairs, fovea_error* error);

/* Computes the outputs. q has [rows, heads, d_k], k [rows, kv_heads, d_k], v [rows, kv_heads, d_v]; k and v have the
 * same type and number of rows. `scratch` has an alignment of 64; its content does not matter and is undefined
 * afterwards. Statuses besides the statuses of fovea_attention_scratch_size (error.tensor: 0 q, 1 k, 2 v, 3 out, 4 k
 * and 5 v of the summaries, if a view is meant):
 *   FOVEA_E_TOO_SMALL    scratch has fewer than `expected` bytes
 *   FOVEA_E_MISALIGNED   scratch, or a pointer or stride, does not have the alignment `expected`
 *   FOVEA_E_ROWS         a view has too few rows, or too many
 *   FOVEA_E_SEGMENTS     offsets do not start at 0, descend or pass the rows (index: which); queries and keys disagree
 *   FOVEA_E_LENGTH       a segment is longer than its table of coordinates or its row of pair_bias (index: which)
 *   FOVEA_E_CAPACITY     the stride of the attention map is less than `expected` (index: the segment)
 *   FOVEA_E_ID           a global key, an order or a rank is out of place (index: its entry)
 *   FOVEA_E_RUNNER       the runner breaks the rules of fovea/runner.h; rows of out may have been written
 * After any other failure nothing has been written. */
FOVEA_API fovea_status fovea_attention_run(const fovea_attention_options* options, const fovea_attention_rows* q,
                                           const fovea_attention_rows* k, const fovea_attention_rows* v,
                                           const fovea_attention_out* out, void* scratch, uint64_t scratch_size,
                                           fovea_error* error);

#ifdef __cplusplus
}
#endif

#endif /* FOVEA_ATTENTION_H_ */
