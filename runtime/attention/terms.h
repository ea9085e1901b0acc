// Terms of attention: what a call adds to the products of queries and keys, each a class with the same functions and a
// file term_<name>.cc. The engine owns one of each (Terms) and calls their functions at the points named in Term; the
// kernels then apply them to the scores (runtime/kernels/attention_terms.h).
#ifndef FOVEA_RUNTIME_ATTENTION_TERMS_H_
#define FOVEA_RUNTIME_ATTENTION_TERMS_H_

#include "runtime/attention/attention.h"
#include "runtime/attention/piece.h"

namespace fovea {

// Read by all terms of a call.
struct TermContext {
  const Kernels& kernels;
  const AttentionCall& call;
  const AttentionSpec& spec;
  const AttentionLayout& layout;

  template <typename T>
  T* Scratch(ScratchPart part) const {
    return layout.Find<T>(call.scratch, part);
  }
};

// Functions that a term has no use for do nothing. They are called only if the call has the term (`Has`) and the build
// includes it (`kBuilt`).
class Term {
 public:
  explicit Term(const TermContext& context) : context_(context) {}

  static constexpr bool kIsScore = true;  // whether kernels apply it to scores

  // Once: parameters of all tiles.
  void Start(AttentionTile*) {}
  // For each piece and each of its key/value heads, whose first query head is `head`.
  void StartHead(const Piece&, uint32_t /*head*/, AttentionTile*) {}
  // For each row of a chunk.
  void StartRow(const RowPlace&, AttentionRow*) {}
  // Once all rows of a chunk are started, before the first block.
  void StartChunk(uint32_t /*head*/, uint32_t /*keys*/, AttentionTile*) {}
  // For keys [from, to) of each block, before it is processed.
  void StartBlock(uint32_t /*head*/, const KeySource&, uint32_t /*from*/, uint32_t /*to*/, AttentionTile*) {}

 protected:
  const TermContext& context_;
};

// Positions, or coordinates, between which other terms measure distances; a call without these terms has none.
class DistanceTerm : public Term {
 public:
  using Term::Term;
  static constexpr bool kBuilt = kAttendsDistanceBias || kAttendsSlopes || kAttendsRelative || kAttendsSummaries;
  static constexpr bool kIsScore = false;
  bool Has() const {
    const ScorePart& score = context_.spec.score;
    return score.distance_bias != nullptr || score.slopes != nullptr || score.relative.bucket_count != 0 ||
           context_.spec.summaries.group != 0;
  }
  void Start(AttentionTile* tile);
  void StartHead(const Piece& piece, uint32_t head, AttentionTile* tile);
  void StartRow(const RowPlace& place, AttentionRow* row);
  void StartBlock(uint32_t, const KeySource&, uint32_t from, uint32_t to, AttentionTile* tile) {
    if (kAttendsCoordinates && context_.spec.positions.HasCoordinates()) PlaceKeys(from, to, tile);
  }

 private:
  // Sets the coordinates of keys [from, to) of the current block.
  void PlaceKeys(uint32_t from, uint32_t to, AttentionTile* tile) const;
  // Coordinates of the row at this position of the current segment.
  void CoordinatesAt(uint32_t position, size_t step, int32_t* to) const;

  // For the current segment; null if not used.
  const int32_t* coordinates_ = nullptr;    // [axes, positions]
  const float* row_coordinates_ = nullptr;  // [positions, axes]
};

// Bias by distance, from a table for each axis and head.
class DistanceBiasTerm : public Term {
 public:
  using Term::Term;
  static constexpr bool kBuilt = kAttendsDistanceBias;
  bool Has() const { return context_.spec.score.distance_bias != nullptr; }
  void Start(AttentionTile* tile);
  void StartRow(const RowPlace& place, AttentionRow* row);
};

// Bias that is linear in the distance, with a slope for each head.
class SlopeTerm : public Term {
 public:
  using Term::Term;
  static constexpr bool kBuilt = kAttendsSlopes;
  bool Has() const { return context_.spec.score.slopes != nullptr; }
  void StartRow(const RowPlace& place, AttentionRow* row);
};

// Bias of each key.
class KeyBiasTerm : public Term {
 public:
  using Term::Term;
  static constexpr bool kBuilt = kAttendsKeyBias;
  bool Has() const { return context_.call.key_bias.data != nullptr; }
  bool DiffersByHead() const { return Has() && context_.call.key_bias.head_stride != 0; }
  void StartHead(const Piece& piece, uint32_t head, AttentionTile* tile);
};

// Scores by distance and content: products with tables of vectors by bucket of the distance.
class RelativeTerm : public Term {
 public:
  using Term::Term;
  static constexpr bool kBuilt = kAttendsRelative;
  bool Has() const { return context_.spec.score.relative.bucket_count != 0; }
  void Start(AttentionTile* tile);
  void StartChunk(uint32_t head, uint32_t keys, AttentionTile* tile);
  void StartBlock(uint32_t head, const KeySource& source, uint32_t from, uint32_t to, AttentionTile* tile);

 private:
  void Multiply(uint32_t rows, const void* tables, DType type, uint32_t head, uint32_t begin, uint32_t end,
                float* y) const;
  void BucketRange(const AttentionTile& tile, int64_t first, int64_t last, uint32_t* begin, uint32_t* end) const;
};

// Bias or mask of each pair of a query and a key.
class PairBiasTerm : public Term {
 public:
  using Term::Term;
  static constexpr bool kBuilt = kAttendsPairBias;
  bool Has() const { return context_.call.pair_bias.data != nullptr; }
  void Start(AttentionTile* tile) { tile->terms.pair_mask = context_.call.pair_bias.mask; }
  void StartRow(const RowPlace& place, AttentionRow* row);
};

// A constant score of a query with the key at its own position.
class SelfScoreTerm : public Term {
 public:
  using Term::Term;
  static constexpr bool kBuilt = kAttendsSelfScore;
  bool Has() const { return context_.spec.score.has_self_score; }
  void Start(AttentionTile* tile) {
    tile->terms.has_self_score = true;
    tile->terms.self_score = context_.spec.score.self_score;
  }
};

// A score of each head that belongs to no key and takes part in the softmax.
class SinkTerm : public Term {
 public:
  using Term::Term;
  static constexpr bool kBuilt = true, kIsScore = false;
  bool Has() const { return context_.spec.weighting.sinks != nullptr; }
  void Start(AttentionTile* tile) { tile->terms.has_sinks = true; }
  void StartRow(const RowPlace& place, AttentionRow* row);
  void StartChunk(uint32_t head, uint32_t keys, AttentionTile* tile);
};

// Further keys, one for each group of keys, which all queries see.
class SummaryTerm : public Term {
 public:
  using Term::Term;
  static constexpr bool kBuilt = kAttendsSummaries;
  bool Has() const { return context_.spec.summaries.group != 0; }
  void StartHead(const Piece& piece, uint32_t head, AttentionTile* tile);

  // Number of summary keys in the current segment.
  uint32_t count() const { return count_; }
  // Exchanges the keys of a tile whose row i belongs to head first_head + (turn + i) % heads with the summaries, and
  // back.
  void Enter(uint32_t first_head, uint32_t turn, uint32_t heads, KeySource* source, AttentionTile* tile);
  void Leave(KeySource* source, AttentionTile* tile);

 private:
  KeySource source_{};
  uint32_t count_ = 0;
};

// All terms of a call.
struct Terms {
  TermContext context;

#define FOVEA_ATTENTION_TERM(member, Name) Name##Term member{context};
#include "runtime/attention/term_list.inc"
#undef FOVEA_ATTENTION_TERM

  // f(term) for each term of the call.
  template <class F>
  void ForEach(const F f) {
#define FOVEA_ATTENTION_TERM(member, Name) \
  if (Name##Term::kBuilt && member.Has()) f(member);
#include "runtime/attention/term_list.inc"
#undef FOVEA_ATTENTION_TERM
  }
};

}  // namespace fovea

#endif  // FOVEA_RUNTIME_ATTENTION_TERMS_H_
