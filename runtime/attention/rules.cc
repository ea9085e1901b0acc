#include "runtime/attention/rules.h"

namespace fovea {
namespace {

// ---- Properties of a spec ----

bool Blocked(const AttentionSpec& s) { return s.pattern.block > 1; }
bool Dilated(const AttentionSpec& s) { return s.pattern.dilation > 1; }
bool WindowsByHead(const AttentionSpec& s) { return s.pattern.head_windows != nullptr; }
bool Bounded(const AttentionSpec& s) {
  return s.pattern.has_window && s.pattern.left != kUnbounded && s.pattern.right != kUnbounded;
}
bool AnyWindow(const AttentionSpec& s) {
  return !s.pattern.has_window || s.pattern.left != kUnbounded || s.pattern.right != kUnbounded || Dilated(s) ||
         Blocked(s) || WindowsByHead(s);
}
bool Global(const AttentionSpec& s) {
  return s.pattern.global_first != 0 || s.pattern.global_last != 0 || s.pattern.global_keys;
}
bool Layout(const AttentionSpec& s) { return s.pattern.layout != nullptr; }
bool FullIfShort(const AttentionSpec& s) { return s.pattern.full_up_to != 0; }
bool TopK(const AttentionSpec& s) { return s.pattern.top_k != 0; }
bool Causal(const AttentionSpec& s) { return s.pattern.causal; }
bool Clustered(const AttentionSpec& s) { return s.pattern.rounds != 0; }
bool Chunks(const AttentionSpec& s) {
  return s.pattern.chunk != 0 || s.pattern.chunks_before != 0 || s.pattern.chunks_after != 0 ||
         s.pattern.chunk_multiple > 1;
}
bool ChunkLength(const AttentionSpec& s) { return s.pattern.chunk != 0; }
bool Centered(const AttentionSpec& s) { return s.pattern.centers != Centers::kNone; }
bool SplitBlocks(const AttentionSpec& s) {
  return s.pattern.global_first % s.pattern.block != 0 || s.pattern.global_last % s.pattern.block != 0;
}
bool Dot(const AttentionSpec& s) { return s.score.kind == Score::kDot; }
bool Additive(const AttentionSpec& s) { return s.score.kind == Score::kAdditive; }
bool AdditiveVectors(const AttentionSpec& s) { return s.score.additive != nullptr; }
bool ShortProducts(const AttentionSpec& s) { return s.score.products != Products::kF32; }
bool Relative(const AttentionSpec& s) { return s.score.relative.bucket_count != 0; }
bool Slopes(const AttentionSpec& s) { return s.score.slopes != nullptr; }
bool Gaussian(const AttentionSpec& s) { return s.weighting.gaussian; }
bool EqualSides(const AttentionSpec& s) { return s.pattern.left == s.pattern.right && s.pattern.left != 0; }
bool Coordinates(const AttentionSpec& s) { return s.positions.HasCoordinates(); }
bool CoordinateTable(const AttentionSpec& s) { return s.positions.coordinates != nullptr; }
bool RowCoordinates(const AttentionSpec& s) { return s.positions.row_coordinates; }
bool Axes(const AttentionSpec& s) { return s.positions.axes > 1; }
bool QueryStride(const AttentionSpec& s) { return s.positions.query_stride > 1; }
bool Apart(const AttentionSpec& s) { return s.positions.apart != 0; }
bool Offset(const AttentionSpec& s) { return s.positions.origin != Origin::kZero; }
bool Summaries(const AttentionSpec& s) { return s.summaries.group != 0; }
bool SelfScored(const AttentionSpec& s) { return s.score.has_self_score; }
bool Paired(const AttentionSpec& s) { return s.pairing == Pairing::kPaired; }

// ---- Rules ----

using Has = bool (*)(const AttentionSpec&);
enum class Then { kNot, kNeeds };
struct Rule {
  Has first;
  Then then;
  Has second;
  const char* text;
};

constexpr Rule kRules[] = {
    {Blocked, Then::kNot, Dilated, "windows in blocks are neither dilated nor by head"},
    {Blocked, Then::kNot, WindowsByHead, "windows in blocks are neither dilated nor by head"},
    {Global, Then::kNot, SplitBlocks, "global rows must be whole blocks"},
    {Layout, Then::kNot, Dilated, "a layout goes with plain windows only"},
    {Layout, Then::kNot, WindowsByHead, "a layout goes with plain windows only"},
    {Layout, Then::kNot, TopK, "a layout goes without top_k"},
    {Chunks, Then::kNeeds, Clustered, "chunks need rounds"},
    {Clustered, Then::kNeeds, ChunkLength, "a clustered pattern needs chunks"},
    {Clustered, Then::kNeeds, Paired, "clustered queries and keys must be the same segments"},
    {Clustered, Then::kNot, AnyWindow, "a clustered pattern goes with causal only"},
    {Clustered, Then::kNot, Global, "a clustered pattern goes with causal only"},
    {Clustered, Then::kNot, Layout, "a clustered pattern goes with causal only"},
    {Clustered, Then::kNot, FullIfShort, "a clustered pattern goes with causal only"},
    {Clustered, Then::kNot, TopK, "a clustered pattern goes without top_k"},
    {Clustered, Then::kNot, Relative, "a clustered pattern goes without relative scores"},
    {Clustered, Then::kNot, Apart, "a clustered pattern has no rows apart"},
    {Clustered, Then::kNot, Offset, "a clustered pattern goes without an offset of queries"},
    {Centered, Then::kNeeds, Bounded, "centers go with a bounded window and nothing else of a pattern"},
    {Centered, Then::kNot, WindowsByHead, "centers go with a bounded window and nothing else of a pattern"},
    {Centered, Then::kNot, Dilated, "centers go with a bounded window and nothing else of a pattern"},
    {Centered, Then::kNot, Blocked, "centers go with a bounded window and nothing else of a pattern"},
    {Centered, Then::kNot, Global, "centers go with a bounded window and nothing else of a pattern"},
    {Centered, Then::kNot, Layout, "centers go with a bounded window and nothing else of a pattern"},
    {Centered, Then::kNot, Causal, "centers go with a bounded window and nothing else of a pattern"},
    {Centered, Then::kNot, FullIfShort, "centers go with a bounded window and nothing else of a pattern"},
    {Centered, Then::kNot, TopK, "centers go with a bounded window and nothing else of a pattern"},
    {Centered, Then::kNot, Clustered, "centers go with a bounded window and nothing else of a pattern"},
    {Gaussian, Then::kNeeds, Centered, "a Gaussian needs centers"},
    {Gaussian, Then::kNeeds, EqualSides, "a Gaussian needs a window of equal sides, at least 1"},
    {Additive, Then::kNeeds, AdditiveVectors, "additive scores, and only they, need their vectors"},
    {AdditiveVectors, Then::kNeeds, Additive, "additive scores, and only they, need their vectors"},
    {ShortProducts, Then::kNeeds, Dot, "other scores than dot products are f32"},
    {QueryStride, Then::kNot, Coordinates, "query_stride goes without coordinates"},
    {QueryStride, Then::kNot, Offset, "query_stride goes without an offset of queries"},
    {Axes, Then::kNeeds, Coordinates, "axes need coordinates"},
    {Axes, Then::kNot, Slopes, "slopes are along one axis"},
    {RowCoordinates, Then::kNot, CoordinateTable, "coordinates are of positions or of rows"},
    {RowCoordinates, Then::kNeeds, Paired, "coordinates of rows are those of queries and keys alike"},
    {RowCoordinates, Then::kNot, Offset, "coordinates of rows are those of queries and keys alike"},
    {Summaries, Then::kNeeds, Paired, "summaries go with the queries of the segments that they stand for"},
    {Summaries, Then::kNot, Causal, "summaries stand for keys before and after a query"},
    {Summaries, Then::kNot, Offset, "summaries stand for keys before and after a query"},
    {Summaries, Then::kNot, TopK, "summaries go without top_k"},
    {Summaries, Then::kNot, Clustered, "summaries go without clusters"},
    {Summaries, Then::kNot, Layout, "summaries go without a layout"},
    {Summaries, Then::kNot, Centered, "summaries go without centers"},
    {Summaries, Then::kNot, Relative, "summaries have no relative scores"},
    {Summaries, Then::kNot, Slopes, "summaries have no slopes"},
    {Summaries, Then::kNot, SelfScored, "summaries go without a score of the own key"},
    {Summaries, Then::kNot, Coordinates, "summaries have no coordinates"},
    {Summaries, Then::kNot, Apart, "summaries have no rows apart"},
    {Summaries, Then::kNot, QueryStride, "summaries go without query_stride"},
};

}  // namespace

const char* BrokenRule(const AttentionSpec& spec) {
  for (const Rule& rule : kRules) {
    if (rule.first(spec) && rule.second(spec) != (rule.then == Then::kNeeds)) return rule.text;
  }
  return nullptr;
}

}  // namespace fovea
