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
    {Blocked, Then::kNot, Dilated, "windows in blocks can be neither dilated nor different by head"},
    {Blocked, Then::kNot, WindowsByHead, "windows in blocks can be neither dilated nor different by head"},
    {Global, Then::kNot, SplitBlocks, "global rows must be whole blocks of the window"},
    {Layout, Then::kNot, Dilated, "a layout cannot be combined with dilated windows or windows by head"},
    {Layout, Then::kNot, WindowsByHead, "a layout cannot be combined with dilated windows or windows by head"},
    {Layout, Then::kNot, TopK, "a layout cannot be combined with top_k"},
    {Chunks, Then::kNeeds, Clustered, "chunks require rounds"},
    {Clustered, Then::kNeeds, ChunkLength, "a clustered pattern requires chunks"},
    {Clustered, Then::kNeeds, Paired, "clustered queries and keys must be the same segments"},
    {Clustered, Then::kNot, AnyWindow, "a clustered pattern can be combined with no other pattern than causal"},
    {Clustered, Then::kNot, Global, "a clustered pattern can be combined with no other pattern than causal"},
    {Clustered, Then::kNot, Layout, "a clustered pattern can be combined with no other pattern than causal"},
    {Clustered, Then::kNot, FullIfShort, "a clustered pattern can be combined with no other pattern than causal"},
    {Clustered, Then::kNot, TopK, "a clustered pattern cannot be combined with top_k"},
    {Clustered, Then::kNot, Relative, "a clustered pattern cannot be combined with relative scores"},
    {Clustered, Then::kNot, Apart, "a clustered pattern cannot be combined with apart"},
    {Clustered, Then::kNot, Offset, "a clustered pattern requires queries that begin at position 0"},
    {Centered, Then::kNeeds, Bounded, "centers require a bounded window and no other pattern"},
    {Centered, Then::kNot, WindowsByHead, "centers require a bounded window and no other pattern"},
    {Centered, Then::kNot, Dilated, "centers require a bounded window and no other pattern"},
    {Centered, Then::kNot, Blocked, "centers require a bounded window and no other pattern"},
    {Centered, Then::kNot, Global, "centers require a bounded window and no other pattern"},
    {Centered, Then::kNot, Layout, "centers require a bounded window and no other pattern"},
    {Centered, Then::kNot, Causal, "centers require a bounded window and no other pattern"},
    {Centered, Then::kNot, FullIfShort, "centers require a bounded window and no other pattern"},
    {Centered, Then::kNot, TopK, "centers require a bounded window and no other pattern"},
    {Centered, Then::kNot, Clustered, "centers require a bounded window and no other pattern"},
    {Gaussian, Then::kNeeds, Centered, "gaussian requires centers"},
    {Gaussian, Then::kNeeds, EqualSides, "gaussian requires a window with equal sides of at least 1"},
    {Additive, Then::kNeeds, AdditiveVectors, "additive scores require their vectors, other scores must have none"},
    {AdditiveVectors, Then::kNeeds, Additive, "additive scores require their vectors, other scores must have none"},
    {ShortProducts, Then::kNeeds, Dot, "products other than f32 require dot-product scores"},
    {QueryStride, Then::kNot, Coordinates, "query_stride cannot be combined with coordinates"},
    {QueryStride, Then::kNot, Offset, "query_stride requires queries that begin at position 0"},
    {Axes, Then::kNeeds, Coordinates, "several axes require coordinates"},
    {Axes, Then::kNot, Slopes, "slopes cannot be combined with several axes"},
    {RowCoordinates, Then::kNot, CoordinateTable,
     "coordinates of positions cannot be combined with coordinates of rows"},
    {RowCoordinates, Then::kNeeds, Paired, "coordinates of rows require queries and keys that are the same rows"},
    {RowCoordinates, Then::kNot, Offset, "coordinates of rows require queries and keys that are the same rows"},
    {Summaries, Then::kNeeds, Paired, "summaries require queries of the segments that they summarize"},
    {Summaries, Then::kNot, Causal, "summaries cannot be causal, and require queries that begin at position 0"},
    {Summaries, Then::kNot, Offset, "summaries cannot be causal, and require queries that begin at position 0"},
    {Summaries, Then::kNot, TopK, "summaries cannot be combined with top_k"},
    {Summaries, Then::kNot, Clustered, "summaries cannot be combined with clusters"},
    {Summaries, Then::kNot, Layout, "summaries cannot be combined with a layout"},
    {Summaries, Then::kNot, Centered, "summaries cannot be combined with centers"},
    {Summaries, Then::kNot, Relative, "summaries cannot be combined with relative scores"},
    {Summaries, Then::kNot, Slopes, "summaries cannot be combined with slopes"},
    {Summaries, Then::kNot, SelfScored, "summaries cannot be combined with self_score"},
    {Summaries, Then::kNot, Coordinates, "summaries cannot be combined with coordinates"},
    {Summaries, Then::kNot, Apart, "summaries cannot be combined with apart"},
    {Summaries, Then::kNot, QueryStride, "summaries cannot be combined with query_stride"},
};

}  // namespace

const char* BrokenRule(const AttentionSpec& spec) {
  for (const Rule& rule : kRules) {
    if (rule.first(spec) && rule.second(spec) != (rule.then == Then::kNeeds)) return rule.text;
  }
  return nullptr;
}

}  // namespace fovea
