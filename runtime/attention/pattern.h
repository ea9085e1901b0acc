// A pattern defines which keys a query may see, as a short list of key ranges for a tile of queries, not as a matrix.
#ifndef FOVEA_RUNTIME_ATTENTION_PATTERN_H_
#define FOVEA_RUNTIME_ATTENTION_PATTERN_H_

#include <stddef.h>
#include <stdint.h>

#include "runtime/base/checked.h"
#include "runtime/blob/numbers.h"
#include "runtime/kernels/attention_features.h"

namespace fovea {

inline constexpr uint32_t kUnbounded = 0xffffffffu;

// A window of one head.
struct Window {
  uint32_t left, right;  // rows on either side
  uint32_t dilation;     // every dilation-th of them
};

// The keys that a query at position p of its segment sees: the union of the members that are set here. A window with
// global rows, global keys and a layout is the pattern of BigBird or Longformer; a window alone is a sliding window.
struct Pattern {
  bool causal = false;  // applies to all members: no key after the query

  // Window. With a block of 1: keys p - left .. p + right whose distance from p is a multiple of `dilation`. With
  // larger blocks left and right are counted from the first and last row of the block that contains p: 0 and 0 is
  // attention inside a block, `block` and `block` adds both neighbours. Causal attention is left unbounded, right 0.
  bool has_window = true;
  uint32_t left = kUnbounded, right = kUnbounded;
  uint32_t dilation = 1;
  uint32_t block = 1;
  const int32_t* head_windows = nullptr;  // [heads, 3]: left, right (-1: unbounded) and dilation in place of the above

  uint32_t full_up_to = 0;  // segments of up to this many keys: full attention
  uint32_t top_k = 0;       // the number of keys to keep, by highest score; 0: all

  // Global rows: all queries see the first and last rows of a segment (whole blocks), and these see all keys.
  uint32_t global_first = 0, global_last = 0;

  // Global keys: rows that are chosen during the run (AttentionCall::global_keys) and that all queries see.
  bool global_keys = false;

  // Block-sparse layout: query block b of head h also sees the key blocks named in row b - global_first / block of the
  // head's part of [heads or 1, layout_rows, layout_columns]. A key counts as often as its block is named, and again
  // where the window also has it. Negative numbers and blocks past the end name nothing.
  const int32_t* layout = nullptr;
  uint32_t layout_heads = 0, layout_rows = 0, layout_columns = 0;

  // Clustered: keys are sorted by bucket (AttentionCall::clusters) and cut into chunks; a query sees its chunk and the
  // neighbouring chunks, in each of `rounds` sortings. The chunks of all rounds form one circle: the first and last
  // chunk of a round have neighbours in the adjacent rounds. The number of chunks of a round is rounded up to a
  // multiple of `chunk_multiple`, by chunks without keys. 0: not clustered; segments of at most one chunk see all keys.
  uint32_t rounds = 0, chunk = 0, chunks_before = 0, chunks_after = 0;
  uint32_t chunk_multiple = 1;

  uint64_t ChunksOfRound(uint32_t keys) const { return RoundUp(DivideUp(keys, chunk), chunk_multiple); }
  // The i-th of the chunks that chunk `own` in a circle of `all` chunks sees, counted from the farthest one before it.
  // A chunk a whole circle or more away is `own`.
  uint64_t SeenChunk(uint64_t own, uint64_t i, uint64_t all) const {
    if (i + all <= chunks_before || i >= chunks_before + all) return own;
    return (own + all + i - chunks_before) % all;
  }

  // Centered: the window is around a number given for each query (AttentionCall::centers).
  Centers centers = Centers::kNone;

  Window WindowOf(uint32_t head) const {
    if (head_windows == nullptr) return {left, right, dilation};
    const int32_t* w = head_windows + size_t{3} * head;
    const auto side = [](int32_t rows) { return rows < 0 ? kUnbounded : static_cast<uint32_t>(rows); };
    return {side(w[0]), side(w[1]), w[2] < 1 ? 1u : static_cast<uint32_t>(w[2])};
  }
  bool DiffersByHead() const { return head_windows != nullptr || layout_heads > 1; }
  // The first position of the global rows at the end of a segment of `keys` keys.
  uint64_t GlobalEnd(uint32_t keys) const {
    if (global_last == 0) return UINT64_MAX;
    const uint64_t rounded = RoundUp(keys, block);
    return rounded > global_last ? rounded - global_last : 0;
  }
  bool IsGlobal(uint32_t position, uint32_t keys) const {
    return position < global_first || position >= GlobalEnd(keys);
  }
};

// Keys [begin, end).
struct KeySpan {
  int64_t begin, end;
};
// Keys of the window around a center, in a segment of `keys` keys.
KeySpan SpanAround(const Pattern&, float center, uint32_t keys);

// Queries first, first + step, ... of one segment, for heads that share the pattern.
struct QueryTile {
  uint32_t first, count, step;  // positions in the query segment
  uint32_t keys;                // length of the key segment
  uint32_t head;
  bool sees_all;  // all keys within the causal bound
  // Global keys of the segment: row numbers, ascending, counted from row `key_row` of the key space.
  const uint32_t* global_keys;
  uint32_t global_key_count;
  uint32_t key_row;
  KeySpan seen;  // centered: from the first key that a row of the tile sees to the last

  uint32_t last() const { return first + (count - 1) * step; }
};

inline constexpr int64_t kNoBound = int64_t{1} << 40;

// Keys at positions first, first + stride, ... (`count` of them, all below QueryTile::keys). The query at position p
// sees the keys in [anchor + low, anchor + high], where anchor is p rounded down to a multiple of `unit`.
struct KeyRange {
  uint32_t first, count, stride;
  uint32_t unit;
  int64_t low, high;
  float bias;  // added to the scores
};

// Sizes from which a member computes how many keys it shows.
struct SegmentSize {
  uint32_t heads, keys, global_keys;
  bool global_row;  // also counts queries that are global rows
};

// How often a key counts if a member shows it.
enum class KeyCount {
  kOnce,
  kUnlessInWindow,  // once, regardless of other members
  kAgain,           // as often as it is shown
};

// One kind of keys of a pattern; functions are null where a build leaves it out. The list declares them as
// <Name>Range and <Name>Most.
struct PatternMember {
  // Sets the next range for the tile and returns true, or false past the last. *cursor is 0 at the start; its use is up
  // to the member. In every tile a query must get its keys in the same order and with the same first % stride. A range
  // may hold keys that only some of the tile's queries see.
  bool (*next)(const Pattern&, const QueryTile&, uint32_t* cursor, KeyRange*);
  // The most keys that it shows a query, counted with repetitions.
  uint64_t (*most)(const Pattern&, const SegmentSize&);
  KeyCount count;
};

#define FOVEA_PATTERN(Name, count)                                                 \
  bool Name##Range(const Pattern&, const QueryTile&, uint32_t* cursor, KeyRange*); \
  uint64_t Name##Most(const Pattern&, const SegmentSize&);
#include "runtime/attention/pattern_list.inc"
#undef FOVEA_PATTERN

// All ranges of a tile, member by member. Keys of the window are cut out of later members, so that each key counts once
// (except keys of a layout).
class KeyRanges {
 public:
  KeyRanges(const Pattern& pattern, const QueryTile& tile);
  bool Next(KeyRange* range);

 private:
  bool NextCut(KeyRange* range);

  const Pattern& pattern_;
  const QueryTile& tile_;
  const Window window_;
  uint32_t member_ = 0, cursor_ = 0;
  KeyRange whole_{};  // being cut
  uint32_t next_cut_ = 0, cuts_ = 0;
};

// The most keys that a query sees, counted with repetitions: the entries that a sparse row needs room for.
uint64_t MostVisibleKeys(const Pattern&, const SegmentSize&);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_ATTENTION_PATTERN_H_
