// Runs attention for one tile: declarations shared by engine.cc, pattern_clustered.cc and layout.cc.
#ifndef FOVEA_RUNTIME_ATTENTION_ENGINE_H_
#define FOVEA_RUNTIME_ATTENTION_ENGINE_H_

#include "runtime/attention/tap.h"
#include "runtime/attention/terms.h"

namespace fovea {

// Whether rows of different heads cannot share a chunk.
bool SplitsHeads(const AttentionSpec&);

// Sets the sums of the first `rows` rows to 0; the tile then has this many rows.
void ClearRows(AttentionTile* tile, uint32_t rows);

// One call of RunAttention.
class AttentionEngine {
 public:
  AttentionEngine(const Kernels& kernels, const AttentionCall& call, const AttentionLayout& layout);
  void Run(const Piece& piece);

 private:
  Products ProductsFor(uint32_t keys) const;
  void UseProducts(Products products);
  bool UseSpareRoom();
  void RunHeads(const Piece& piece, uint32_t first_head, uint32_t heads);
  void RunQueries(const Piece& piece, const QueryTile& queries, uint32_t first_head, uint32_t heads);
  bool MustRepeat();
  void SetUpRow(const Piece& piece, uint32_t position, uint32_t head, uint32_t index);
  void Begin(const Piece& piece, uint32_t rows);
  void RunKeys(QueryTile queries);
  void RunSummaries(uint32_t first_head, uint32_t turn, uint32_t heads);
  void RunRange(const KeyRange& range);
  bool SetVisible(const KeyRange& range, uint32_t from, uint32_t to) const;
  void StartBlock(uint32_t from, uint32_t to, AttentionTile* tile);
  void TakeBlock(uint32_t from, uint32_t to);
  void Finish(const Piece& piece);

  // pattern_clustered.cc
  void RunClustered(const Piece& piece);
  void RunRound(const Piece& piece, uint32_t first, uint32_t count, uint32_t round);
  void RunOnly(const Piece& piece, uint32_t chunk, uint32_t rows);
  void RunPart(const Piece& piece, uint32_t first, uint32_t round, uint32_t chunk, uint32_t rows);
  void RunChunk(const Piece& piece, uint32_t round, uint32_t chunk, AttentionTile tile);
  uint32_t KeyAt(const Piece& piece, uint32_t round, uint32_t place) const;

  template <typename T>
  T* Scratch(ScratchPart part) const {
    return terms_.context.Scratch<T>(part);
  }

  const AttentionKernels& attention_;
  const AttentionCall& call_;
  const AttentionSpec& spec_;
  const AttentionLayout& layout_;
  Terms terms_;
  const uint32_t group_;
  TapWriter taps_;
  AttentionTile tile_{};
  KeySource source_{};      // for the current head and segment
  uint32_t head_ = 0;       // the current first query head
  uint32_t capacity_;       // most rows of a chunk
  bool has_terms_ = false;  // whether a term of the call applies to every block
};

}  // namespace fovea

#endif  // FOVEA_RUNTIME_ATTENTION_ENGINE_H_
