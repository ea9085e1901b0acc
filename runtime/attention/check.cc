#include "runtime/attention/check.h"

#include <algorithm>

#include "runtime/attention/tap.h"
#include "runtime/base/checked.h"

namespace fovea {
namespace {

// What is read to the end when it is checked has a bound of its own: a blob may name one table in every operation.
constexpr uint32_t kMostHeads = 4096, kMostWidth = 1u << 24;
constexpr uint32_t kMostDilation = 4096, kMostBlock = 1u << 20, kMostColumns = 4096, kMostRounds = 64, kMostChunks = 64,
                   kMostMultiple = 1u << 20;
constexpr uint32_t kMostTopK = 1u << 20, kMostBuckets = 1u << 20, kMostReach = 1u << 29;
constexpr uint32_t kMostQueryStride = 1u << 20;
constexpr uint64_t kMostComparisons = 1u << 18;  // of names in a table of blocks

// A product of sizes that an array of 4-byte entries must have.
bool Fits(CheckedSize entries) { return (entries * CheckedSize(4)).ok(); }

class SpecCheck {
 public:
  SpecCheck(const AttentionSpec& spec, fovea_status code, Reporter& reporter)
      : spec_(spec), pattern_(spec.pattern), code_(code), reporter_(reporter) {}

  Status Run() const {
    FOVEA_TRY(Shape());
    FOVEA_TRY(Windows());
    FOVEA_TRY(Blocks());
    FOVEA_TRY(Clusters());
    FOVEA_TRY(Scores());
    FOVEA_TRY(Middles());
    return Relative();
  }

 private:
  Status Fail(const char* text, uint64_t expected, uint64_t found) const {
    return reporter_.Fail(code_, text, expected, found);
  }
  Status AtMost(uint32_t value, uint32_t most, const char* text) const {
    return value <= most ? kOk : Fail(text, most, value);
  }

  Status Shape() const {
    if (spec_.heads == 0 || spec_.kv_heads == 0 || spec_.heads % spec_.kv_heads != 0) {
      return Fail("kv_heads must divide heads", spec_.heads, spec_.kv_heads);
    }
    if (spec_.d_k == 0 || spec_.d_v == 0) return Fail("vectors have no elements", 1, 0);
    FOVEA_TRY(AtMost(spec_.heads, kMostHeads, "too many heads"));
    return AtMost(std::max(spec_.d_k, spec_.d_v), kMostWidth, "vectors are too wide");
  }

  Status Windows() const {
    const uint32_t block = pattern_.block;
    if (pattern_.dilation == 0 || block == 0) return Fail("dilation and block are at least 1", 1, 0);
    FOVEA_TRY(AtMost(pattern_.dilation, kMostDilation, "dilation is too large"));
    FOVEA_TRY(AtMost(block, kMostBlock, "block is too large"));
    FOVEA_TRY(AtMost(pattern_.top_k, kMostTopK, "top_k is too large"));
    if (block > 1 && (pattern_.dilation > 1 || pattern_.head_windows != nullptr)) {
      return Fail("windows in blocks are neither dilated nor by head", 1, block);
    }
    if (pattern_.first % block != 0) return Fail("edges must be whole blocks", block, pattern_.first);
    if (pattern_.last % block != 0) return Fail("edges must be whole blocks", block, pattern_.last);
    for (uint32_t head = 0; pattern_.head_windows != nullptr && head < spec_.heads; ++head) {
      const int32_t dilation = pattern_.head_windows[3 * size_t{head} + 2];
      if (dilation >= 1 && dilation <= static_cast<int32_t>(kMostDilation)) continue;
      return reporter_.Fail(FOVEA_E_ID, "a head's dilation is out of range", kMostDilation,
                            static_cast<uint32_t>(dilation), head);
    }
    return kOk;
  }

  Status Blocks() const {
    if (pattern_.blocks == nullptr) return kOk;
    if (pattern_.blocks_heads != 1 && pattern_.blocks_heads != spec_.heads) {
      return Fail("tables of blocks are one for all heads or one for each", spec_.heads, pattern_.blocks_heads);
    }
    FOVEA_TRY(AtMost(pattern_.block_columns, kMostColumns, "table of blocks is too wide"));
    if (!Fits(CheckedSize(pattern_.blocks_heads) * pattern_.block_rows * pattern_.block_columns)) {
      return Fail("table of blocks is too large", SIZE_MAX, pattern_.block_rows);
    }
    if (pattern_.dilation > 1 || pattern_.head_windows != nullptr) {
      return Fail("a table of blocks goes with plain windows only", 1, pattern_.dilation);
    }
    if (pattern_.top_k > 0) return Fail("a table of blocks goes without top_k", 0, pattern_.top_k);
    // How often a block is named is a factor of softmax weights; other weights have no place for it.
    if (spec_.weighting == Activation::kNone && !spec_.has_self_score) return kOk;
    const size_t columns = pattern_.block_columns;
    if (columns < 2) return kOk;
    const uint64_t comparisons = uint64_t{pattern_.blocks_heads} * pattern_.block_rows * columns;
    if (comparisons > kMostComparisons / columns) {
      return Fail("table of blocks is too large where weights are no plain softmax", kMostComparisons / columns,
                  comparisons);
    }
    for (size_t row = 0; row < size_t{pattern_.blocks_heads} * pattern_.block_rows; ++row) {
      const int32_t* names = pattern_.blocks + row * columns;
      for (size_t i = 0; i < columns; ++i) {
        if (names[i] < 0 || std::find(names, names + i, names[i]) == names + i) continue;
        return reporter_.Fail(FOVEA_E_ID, "a block is named twice where weights are no plain softmax", 1, 2,
                              row * columns + i);
      }
    }
    return kOk;
  }

  Status Clusters() const {
    FOVEA_TRY(AtMost(pattern_.rounds, kMostRounds, "too many rounds"));
    FOVEA_TRY(AtMost(pattern_.chunks_before, kMostChunks, "too many chunks before"));
    FOVEA_TRY(AtMost(pattern_.chunks_after, kMostChunks, "too many chunks after"));
    FOVEA_TRY(AtMost(pattern_.chunk_multiple, kMostMultiple, "too many chunks in a multiple"));
    if (pattern_.rounds == 0) return kOk;
    if (pattern_.chunk_multiple == 0) return Fail("a round has a multiple of at least one chunk", 1, 0);
    if (pattern_.chunk == 0) return Fail("a clustered pattern needs chunks", 1, 0);
    if (pattern_.top_k != 0) return Fail("a clustered pattern goes without top_k", 0, pattern_.top_k);
    return spec_.relative.bucket_count == 0 ? kOk : Fail("a clustered pattern goes without relative scores", 0, 1);
  }

  Status Scores() const {
    const auto score = static_cast<uint32_t>(spec_.score), weighting = static_cast<uint32_t>(spec_.weighting);
    if (score >= kScoreCount) return Fail("unknown score", kScoreCount - 1, score);
    if (weighting >= kActivationCount || spec_.weighting == Activation::kTanh ||
        spec_.weighting == Activation::kLogSigmoid) {
      return Fail("unknown weighting", kActivationCount - 1, weighting);
    }
    const auto products = static_cast<uint32_t>(spec_.products);
    if (products >= kProductsCount) return Fail("unknown type of products", kProductsCount - 1, products);
    if (spec_.products != Products::kF32 && spec_.score != Score::kDot) {
      return Fail("other scores than dot products are f32", 0, products);
    }
    if (spec_.products == Products::kI8) FOVEA_TRY(AtMost(spec_.d_k, kMostI8Depth, "vectors are too wide for int8"));
    if (!(spec_.cap >= 0.0f)) return Fail("cap must not be negative", 0, 0);
    if ((spec_.score == Score::kAdditive) != (spec_.additive != nullptr)) {
      return Fail("additive scores, and only they, need their vectors", 0, 0);
    }
    FOVEA_TRY(AtMost(spec_.distance_reach, kMostReach, "reach of distances is too large"));
    if (!Fits(CheckedSize(spec_.heads) * (2 * uint64_t{spec_.distance_reach} + 1))) {
      return Fail("bias by distance is too large", SIZE_MAX, spec_.distance_reach);
    }
    if (spec_.query_stride == 0) return Fail("query_stride is at least 1", 1, 0);
    FOVEA_TRY(AtMost(spec_.query_stride, kMostQueryStride, "query_stride is too large"));
    if (spec_.apart > 0 && pattern_.rounds > 0) {
      return Fail("a clustered pattern has no rows apart", 0, spec_.apart);
    }
    if (spec_.coordinates == nullptr) return kOk;
    if (spec_.query_stride > 1) return Fail("query_stride goes without coordinates", 1, spec_.query_stride);
    if (spec_.coordinate_sets == 0 || !Fits(CheckedSize(spec_.coordinate_sets) * spec_.coordinate_positions)) {
      return Fail("table of coordinates has a wrong size", 1, spec_.coordinate_sets);
    }
    return kOk;
  }

  // Of windows.
  Status Middles() const {
    if (spec_.centers > Centers::kFractions) {
      return Fail("unknown kind of centers", static_cast<uint32_t>(Centers::kFractions),
                  static_cast<uint32_t>(spec_.centers));
    }
    if (spec_.centers == Centers::kNone) return spec_.gaussian ? Fail("a Gaussian needs centers", 1, 0) : kOk;
    const bool window = pattern_.has_window && pattern_.left != kUnbounded && pattern_.right != kUnbounded &&
                        pattern_.head_windows == nullptr && pattern_.dilation == 1 && pattern_.block == 1;
    const bool alone = pattern_.first == 0 && pattern_.last == 0 && !pattern_.listed && pattern_.blocks == nullptr &&
                       !pattern_.causal && pattern_.full_up_to == 0 && pattern_.top_k == 0 && pattern_.rounds == 0;
    if (!window || !alone) return Fail("centers go with a bounded window and nothing else of a pattern", 1, 0);
    if (spec_.gaussian && (pattern_.left != pattern_.right || pattern_.left == 0)) {
      return Fail("a Gaussian needs a window of equal sides, at least 1", pattern_.left, pattern_.right);
    }
    return kOk;
  }

  Status Relative() const {
    const RelativeScores& relative = spec_.relative;
    const bool given = relative.keys != nullptr || relative.queries != nullptr;
    const bool none = relative.bucket_count == 0 && relative.buckets == nullptr && !given;
    if (none) return kOk;
    if (relative.bucket_count == 0 || relative.buckets == nullptr || !given) {
      return Fail("relative scores, buckets and their count need each other", 1, relative.bucket_count);
    }
    FOVEA_TRY(AtMost(relative.bucket_count, kMostBuckets, "too many buckets"));
    if (!Fits(CheckedSize(spec_.heads) * relative.bucket_count * spec_.d_k)) {
      return Fail("relative scores are too large", SIZE_MAX, relative.bucket_count);
    }
    for (uint32_t i = 0; i <= 2 * spec_.distance_reach; ++i) {
      const auto bucket = static_cast<uint32_t>(relative.buckets[i]);
      if (bucket < relative.bucket_count) continue;
      return reporter_.Fail(FOVEA_E_ID, "a bucket is outside its table", relative.bucket_count, bucket, i);
    }
    return kOk;
  }

  const AttentionSpec& spec_;
  const Pattern& pattern_;
  const fovea_status code_;
  Reporter& reporter_;
};

Status CheckSegments(const Segments& segments, uint32_t rows, Reporter& reporter) {
  if (segments.offsets[0] != 0) {
    return reporter.Fail(FOVEA_E_SEGMENTS, "offsets of segments start at 0", 0, segments.offsets[0]);
  }
  for (uint32_t i = 0; i < segments.count; ++i) {
    const uint32_t begin = segments.offsets[i], end = segments.offsets[i + 1];
    if (end < begin) return reporter.Fail(FOVEA_E_SEGMENTS, "offsets of segments descend", begin, end, i + 1);
    if (end > rows) return reporter.Fail(FOVEA_E_SEGMENTS, "a segment passes the rows", rows, end, i + 1);
  }
  return kOk;
}

// In their segment and ascending.
Status CheckListed(const AttentionCall& call, Reporter& reporter) {
  for (uint32_t s = 0; s < call.key_segments.count; ++s) {
    uint32_t least = call.key_segments.offsets[s];
    for (uint32_t i = call.listed_segments.offsets[s]; i < call.listed_segments.offsets[s + 1]; ++i) {
      if (call.listed[i] < least || call.listed[i] >= call.key_segments.offsets[s + 1]) {
        return reporter.Fail(FOVEA_E_ID, "listed rows must ascend in their segment", least, call.listed[i], i);
      }
      least = call.listed[i] + 1;
    }
  }
  return kOk;
}

// Every order is a permutation of its segment and the rank its inverse.
Status CheckClusters(const AttentionCall& call, Reporter& reporter) {
  const size_t columns = size_t{call.spec->heads} * call.spec->pattern.rounds, stride = call.clusters.stride;
  for (uint32_t s = 0; s < call.key_segments.count; ++s) {
    const uint32_t first = call.key_segments.offsets[s], rows = call.key_segments.offsets[s + 1] - first;
    if (call.query_segments.offsets[s] != first || call.query_segments.offsets[s + 1] != first + rows) {
      return reporter.Fail(FOVEA_E_SEGMENTS, "clustered queries and keys must be the same segments", first,
                           call.query_segments.offsets[s], s);
    }
    if (rows <= call.spec->pattern.chunk) continue;
    for (uint32_t row = 0; row < rows; ++row) {
      for (size_t column = 0; column < columns; ++column) {
        const size_t at = (size_t{first} + row) * stride + column;
        const auto place = static_cast<uint32_t>(call.clusters.rank[at]);
        if (place >= rows) return reporter.Fail(FOVEA_E_ID, "a rank is outside its segment", rows, place, at);
        const auto back = static_cast<uint32_t>(call.clusters.order[(size_t{first} + place) * stride + column]);
        if (back != first + row) {
          return reporter.Fail(FOVEA_E_ID, "order does not name the row of this rank", first + row, back, at);
        }
      }
    }
  }
  return kOk;
}

// Lengths of segments against what is given for each of their positions.
Status CheckLengths(const AttentionCall& call, Reporter& reporter) {
  const AttentionSpec& spec = *call.spec;
  for (uint32_t s = 0; s < call.key_segments.count; ++s) {
    const uint32_t keys = call.key_segments.offsets[s + 1] - call.key_segments.offsets[s];
    if (spec.coordinates != nullptr) {
      uint32_t queries = 1;
      if (spec.pairing == Pairing::kPaired) {
        queries = call.query_segments.offsets[s + 1] - call.query_segments.offsets[s];
      }
      if (std::max(queries, keys) > spec.coordinate_positions) {
        return reporter.Fail(FOVEA_E_LENGTH, "a segment is longer than its coordinates", spec.coordinate_positions,
                             std::max(queries, keys), s);
      }
    }
    if (call.weights == nullptr) continue;
    uint64_t most = keys;
    if (call.weights->sparse()) {
      uint32_t listed = 0;
      if (spec.pattern.listed) listed = call.listed_segments.offsets[s + 1] - call.listed_segments.offsets[s];
      most = MostVisibleKeys(spec.pattern, spec.heads, keys, listed);
    }
    if (most > call.weights->stride) {
      return reporter.Fail(FOVEA_E_CAPACITY, "a row of weights is too short", most, call.weights->stride, s);
    }
  }
  return kOk;
}

}  // namespace

Status CheckAttentionSpec(const AttentionSpec& spec, fovea_status code, Reporter& reporter) {
  return SpecCheck(spec, code, reporter).Run();
}

Status CheckAttentionCall(const AttentionCall& call, const AttentionRows& rows, Reporter& reporter) {
  FOVEA_TRY(CheckSegments(call.key_segments, rows.keys, reporter));
  if (call.spec->pairing == Pairing::kPaired) {
    if (call.query_segments.count != call.key_segments.count) {
      return reporter.Fail(FOVEA_E_SEGMENTS, "segments of queries and keys disagree", call.key_segments.count,
                           call.query_segments.count);
    }
    FOVEA_TRY(CheckSegments(call.query_segments, rows.queries, reporter));
  } else if (call.key_segments.count > rows.queries) {
    return reporter.Fail(FOVEA_E_ROWS, "each segment of keys needs its query row", call.key_segments.count,
                         rows.queries);
  }
  if (call.spec->pattern.listed) {
    FOVEA_TRY(CheckSegments(call.listed_segments, rows.listed, reporter));
    FOVEA_TRY(CheckListed(call, reporter));
  }
  if (call.spec->pattern.rounds > 0) FOVEA_TRY(CheckClusters(call, reporter));
  return CheckLengths(call, reporter);
}

}  // namespace fovea
