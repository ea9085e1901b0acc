#include "runtime/attention/check.h"

#include <math.h>

#include <algorithm>

#include "runtime/attention/features.h"
#include "runtime/attention/rules.h"
#include "runtime/attention/tap.h"
#include "runtime/base/checked.h"

namespace fovea {
namespace {

// Tables that the checks read to the end have a separate bound: a blob may name one table in every operation.
constexpr uint32_t kMostHeads = 4096, kMostWidth = 1u << 24;
constexpr uint32_t kMostDilation = 4096, kMostColumns = 4096, kMostBuckets = 1u << 20, kMostDistance = 1u << 29;
constexpr uint64_t kMostComparisons = 1u << 18;  // of block numbers in a layout

// Whether an array of this many 4-byte entries fits in the address space.
bool Fits(CheckedSize entries) { return (entries * CheckedSize(4)).ok(); }

class SpecCheck {
 public:
  SpecCheck(const AttentionSpec& spec, bool shapes_only, fovea_status code, Reporter& reporter)
      : spec_(spec), pattern_(spec.pattern), shapes_only_(shapes_only), code_(code), reporter_(reporter) {}

  Status Run() const {
    FOVEA_TRY(Shape());
    FOVEA_TRY(Fields());
    if constexpr (kAttendsPlainly) return Scores();
    if (const char* broken = BrokenRule(spec_)) return Fail(broken, 0, 0);
    FOVEA_TRY(HeadWindows());
    FOVEA_TRY(Layout());
    FOVEA_TRY(Scores());
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
    if (spec_.d_k == 0 || spec_.d_v == 0) return Fail("d_k and d_v must be at least 1", 1, 0);
    FOVEA_TRY(AtMost(spec_.heads, kMostHeads, "too many heads"));
    return AtMost(std::max(spec_.d_k, spec_.d_v), kMostWidth, "vectors are too wide");
  }

  Status Fields() const {
#define FOVEA_NUMBER(part, field, Name, least, most)                                            \
  if (uint64_t{spec_.part.field} + 1 <= (least)) return Fail(#field " is too small", least, 0); \
  FOVEA_TRY(AtMost(spec_.part.field, most, #field " is too large"));
#define FOVEA_REAL(part, field, Name) \
  if (!isfinite(spec_.part.field)) return Fail(#field " must be finite", 0, 0);
#define FOVEA_FLAG(part, field, Name)
#define FOVEA_CHOICE(part, field, Name, Enum) \
  if (!IsMember(spec_.part.field))            \
    return Fail("unknown " #field " of " #part, 0, static_cast<uint32_t>(spec_.part.field));
#include "runtime/blob/attention_fields.inc"
#undef FOVEA_NUMBER
#undef FOVEA_REAL
#undef FOVEA_FLAG
#undef FOVEA_CHOICE
    return kOk;
  }

  Status HeadWindows() const {
    if (shapes_only_) return kOk;
    for (uint32_t head = 0; pattern_.head_windows != nullptr && head < spec_.heads; ++head) {
      const int32_t dilation = pattern_.head_windows[3 * size_t{head} + 2];
      if (dilation >= 1 && dilation <= static_cast<int32_t>(kMostDilation)) continue;
      return reporter_.Fail(FOVEA_E_ID, "a head's dilation is out of range", kMostDilation,
                            static_cast<uint32_t>(dilation), head);
    }
    return kOk;
  }

  Status Layout() const {
    if (!kAttendsLayout || pattern_.layout == nullptr) return kOk;
    if (pattern_.layout_heads != 1 && pattern_.layout_heads != spec_.heads) {
      return Fail("layout_heads must be 1 or the number of heads", spec_.heads, pattern_.layout_heads);
    }
    FOVEA_TRY(AtMost(pattern_.layout_columns, kMostColumns, "layout is too wide"));
    if (!Fits(CheckedSize(pattern_.layout_heads) * pattern_.layout_rows * pattern_.layout_columns)) {
      return Fail("layout is too large", SIZE_MAX, pattern_.layout_rows);
    }
    // A block named n times multiplies its softmax weights by n; other weightings do not support that.
    if (spec_.weighting.kind == Activation::kNone && !spec_.score.has_self_score) return kOk;
    const size_t columns = pattern_.layout_columns;
    if (columns < 2 || shapes_only_) return kOk;
    const uint64_t comparisons = uint64_t{pattern_.layout_heads} * pattern_.layout_rows * columns;
    if (comparisons > kMostComparisons / columns) {
      return Fail("layout is too large for a weighting other than softmax, or a self score", kMostComparisons / columns,
                  comparisons);
    }
    for (size_t row = 0; row < size_t{pattern_.layout_heads} * pattern_.layout_rows; ++row) {
      const int32_t* names = pattern_.layout + row * columns;
      for (size_t i = 0; i < columns; ++i) {
        if (names[i] < 0 || std::find(names, names + i, names[i]) == names + i) continue;
        return reporter_.Fail(FOVEA_E_ID,
                              "a row of the layout names a block twice, which requires a softmax without self score", 1,
                              2, row * columns + i);
      }
    }
    return kOk;
  }

  Status Scores() const {
    const ScorePart& score = spec_.score;
    if (!Weighs(spec_.weighting.kind)) {
      return Fail("this activation cannot be a weighting of scores", 0, static_cast<uint32_t>(spec_.weighting.kind));
    }
    if (!isfinite(score.scale)) return Fail("scale must be finite", 0, 0);
    if (spec_.weighting.sinks != nullptr &&
        (spec_.weighting.kind != Activation::kNone || pattern_.top_k > 0 || pattern_.rounds > 0)) {
      return Fail("sinks require a softmax, and cannot be combined with top_k or clusters", 0, 0);
    }
    if (score.cap < 0.0f) return Fail("cap must not be negative", 0, 0);
    if (score.products == Products::kI8 || score.products == Products::kI16)
      FOVEA_TRY(AtMost(spec_.d_k, kMostI8Depth, "vectors are too wide for int8 or int16"));
    FOVEA_TRY(
        AtMost(std::max(score.max_distance, spec_.summaries.max_distance), kMostDistance, "max_distance is too large"));
    const PositionsPart& positions = spec_.positions;
    const uint64_t reach = std::max(score.max_distance, spec_.summaries.max_distance);
    if (!Fits(CheckedSize(positions.axes) * spec_.heads * (2 * reach + 1))) {
      return Fail("the tables of distance_bias are too large", SIZE_MAX, score.max_distance);
    }
    if (!kAttendsCoordinates || positions.coordinates == nullptr) return kOk;
    if (positions.coordinate_sets == 0 ||
        !Fits(CheckedSize(positions.coordinate_sets) * positions.axes * positions.coordinate_positions)) {
      return Fail("the table of coordinates is too large", SIZE_MAX, positions.coordinate_positions);
    }
    return kOk;
  }

  Status Relative() const {
    const RelativeScores& relative = spec_.score.relative;
    const bool given = relative.keys != nullptr || relative.queries != nullptr;
    if constexpr (!kAttendsRelative) return kOk;
    const bool none = relative.bucket_count == 0 && relative.buckets == nullptr && !given;
    if (none) return kOk;
    if (relative.bucket_count == 0 || relative.buckets == nullptr || !given) {
      return Fail("relative scores require tables, buckets and bucket_count", 1, relative.bucket_count);
    }
    FOVEA_TRY(AtMost(relative.bucket_count, kMostBuckets, "too many buckets"));
    if (!Fits(CheckedSize(spec_.positions.axes) * spec_.heads * relative.bucket_count * spec_.d_k)) {
      return Fail("relative scores are too large", SIZE_MAX, relative.bucket_count);
    }
    for (uint32_t i = 0; i <= 2 * spec_.score.max_distance && !shapes_only_; ++i) {
      const auto bucket = static_cast<uint32_t>(relative.buckets[i]);
      if (bucket < relative.bucket_count) continue;
      return reporter_.Fail(FOVEA_E_ID, "a bucket is not below bucket_count", relative.bucket_count, bucket, i);
    }
    return kOk;
  }

  const AttentionSpec& spec_;
  const Pattern& pattern_;
  const bool shapes_only_;
  const fovea_status code_;
  Reporter& reporter_;
};

Status CheckSegments(const Segments& segments, uint32_t rows, Reporter& reporter) {
  if (segments.offsets[0] != 0) {
    return reporter.Fail(FOVEA_E_SEGMENTS, "offsets of segments must start at 0", 0, segments.offsets[0]);
  }
  for (uint32_t i = 0; i < segments.count; ++i) {
    const uint32_t begin = segments.offsets[i], end = segments.offsets[i + 1];
    if (end < begin) return reporter.Fail(FOVEA_E_SEGMENTS, "offsets of segments must not descend", begin, end, i + 1);
    if (end > rows) return reporter.Fail(FOVEA_E_SEGMENTS, "a segment ends after the last row", rows, end, i + 1);
  }
  return kOk;
}

// Global keys must be inside their segment and ascending.
Status CheckGlobalKeys(const AttentionCall& call, Reporter& reporter) {
  for (uint32_t s = 0; s < call.key_segments.count; ++s) {
    uint32_t least = call.key_segments.offsets[s];
    for (uint32_t i = call.global_keys.segments.offsets[s]; i < call.global_keys.segments.offsets[s + 1]; ++i) {
      if (call.global_keys.rows[i] < least || call.global_keys.rows[i] >= call.key_segments.offsets[s + 1]) {
        return reporter.Fail(FOVEA_E_ID, "global keys must be in their segment, in ascending order", least,
                             call.global_keys.rows[i], i);
      }
      least = call.global_keys.rows[i] + 1;
    }
  }
  return kOk;
}

// The queries of each segment must be the rows of its keys.
Status CheckSameRows(const AttentionCall& call, Reporter& reporter) {
  for (uint32_t s = 0; s <= call.key_segments.count; ++s) {
    const uint32_t query = call.query_segments.offsets[s], key = call.key_segments.offsets[s];
    if (query == key) continue;
    return reporter.Fail(FOVEA_E_SEGMENTS, "segments of queries and keys must be the same rows", key, query, s);
  }
  return kOk;
}

// Each order must be a permutation of its segment, and the rank its inverse.
Status CheckClusters(const AttentionCall& call, Reporter& reporter) {
  const size_t columns = size_t{call.spec->heads} * call.spec->pattern.rounds, stride = call.clusters.stride;
  for (uint32_t s = 0; s < call.key_segments.count; ++s) {
    const uint32_t first = call.key_segments.offsets[s], rows = call.key_segments.offsets[s + 1] - first;
    if (rows <= call.spec->pattern.chunk || call.clusters.order == nullptr) continue;
    for (uint32_t row = 0; row < rows; ++row) {
      for (size_t column = 0; column < columns; ++column) {
        const size_t at = (size_t{first} + row) * stride + column;
        const auto place = static_cast<uint32_t>(call.clusters.rank[at]);
        if (place >= rows)
          return reporter.Fail(FOVEA_E_ID, "a rank is not below the length of its segment", rows, place, at);
        const auto back = static_cast<uint32_t>(call.clusters.order[(size_t{first} + place) * stride + column]);
        if (back != first + row) {
          return reporter.Fail(FOVEA_E_ID, "order must name the row of each rank", first + row, back, at);
        }
      }
    }
  }
  return kOk;
}

// Checks lengths of segments against the tables that have an entry for each position.
Status CheckLengths(const AttentionCall& call, Reporter& reporter) {
  const AttentionSpec& spec = *call.spec;
  for (uint32_t s = 0; s < call.key_segments.count; ++s) {
    const uint32_t keys = call.key_segments.length(s);
    const uint32_t queries = spec.pairing == Pairing::kPaired ? call.query_segments.length(s) : 1;
    const uint64_t end = std::max<uint64_t>(uint64_t{call.StartOf(s, queries, keys)} + queries, keys);
    if (end > INT32_MAX) return reporter.Fail(FOVEA_E_LENGTH, "a position is too large", INT32_MAX, end, s);
    if (spec.positions.coordinates != nullptr && end > spec.positions.coordinate_positions) {
      return reporter.Fail(FOVEA_E_LENGTH, "a segment is longer than its coordinates",
                           spec.positions.coordinate_positions, end, s);
    }
    if (call.pair_bias.data != nullptr && keys > call.pair_bias.keys) {
      return reporter.Fail(FOVEA_E_LENGTH, "a segment is longer than a row of pair_bias", call.pair_bias.keys, keys, s);
    }
    if (call.weights == nullptr) continue;
    uint64_t most = keys;
    if (call.weights->sparse()) {
      const uint32_t global_keys = spec.pattern.global_keys ? call.global_keys.segments.length(s) : 0;
      most = MostVisibleKeys(spec.pattern, {spec.heads, keys, global_keys, true});
    }
    if (most > call.weights->stride) {
      return reporter.Fail(FOVEA_E_CAPACITY, "a row of the attention map is too short for the keys that a query sees",
                           most, call.weights->stride, s);
    }
  }
  return kOk;
}

}  // namespace

bool Weighs(Activation activation) { return activation <= Activation::kSigmoid && activation != Activation::kTanh; }

Status CheckAttentionSpec(const AttentionSpec& spec, bool shapes_only, fovea_status code, Reporter& reporter) {
  return SpecCheck(spec, shapes_only, code, reporter).Run();
}

Status CheckAttentionCall(const AttentionCall& call, const AttentionRows& rows, Reporter& reporter) {
  FOVEA_TRY(CheckSegments(call.key_segments, rows.keys, reporter));
  if (call.spec->pairing == Pairing::kPaired) {
    if (call.query_segments.count != call.key_segments.count) {
      return reporter.Fail(FOVEA_E_SEGMENTS, "queries and keys must have the same number of segments",
                           call.key_segments.count, call.query_segments.count);
    }
    FOVEA_TRY(CheckSegments(call.query_segments, rows.queries, reporter));
  } else if (call.key_segments.count > rows.queries) {
    return reporter.Fail(FOVEA_E_ROWS, "each key segment requires a query row", call.key_segments.count, rows.queries);
  }
  if (call.spec->pattern.global_keys) {
    FOVEA_TRY(CheckSegments(call.global_keys.segments, rows.global_keys, reporter));
    FOVEA_TRY(CheckGlobalKeys(call, reporter));
  }
  if (call.spec->pattern.rounds > 0 || call.spec->summaries.group > 0 || call.spec->positions.row_coordinates) {
    FOVEA_TRY(CheckSameRows(call, reporter));
  }
  if (call.spec->summaries.group > 0) FOVEA_TRY(CheckSegments(call.summaries.segments, rows.summaries, reporter));
  if (call.spec->pattern.rounds > 0) FOVEA_TRY(CheckClusters(call, reporter));
  return CheckLengths(call, reporter);
}

}  // namespace fovea
