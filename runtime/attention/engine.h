// Runs attention for one tile: declarations shared by engine.cc, pattern_clustered.cc and layout.cc.
#ifndef FOVEA_RUNTIME_ATTENTION_ENGINE_H_
#define FOVEA_RUNTIME_ATTENTION_ENGINE_H_

#include "runtime/attention/attention.h"
#include "runtime/attention/tap.h"

namespace fovea {

// Queries [first, first + count) of one segment against that segment's keys.
struct Piece {
  uint32_t first, count;  // positions
  uint32_t row;           // row of the first query in the query space
  uint32_t start;         // position of the segment's first query
  uint32_t keys;          // length of the key segment
  uint32_t key_row;       // row of the segment's first key in the key space
  uint32_t segment;
};

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
  void RunHeads(const Piece& piece, uint32_t first_head, uint32_t heads);
  void RunQueries(const Piece& piece, const QueryTile& queries, uint32_t first_head, uint32_t heads);
  bool MustRepeat();
  void SetUpRow(const Piece& piece, uint32_t position, uint32_t head, uint32_t index);
  void SetUpPairBias(const Piece& piece, uint32_t space_row, size_t place, uint32_t head, AttentionRow* row);
  void Begin(uint32_t rows);
  // Coordinates of the row at this position of the current segment.
  void CoordinatesAt(uint32_t position, size_t step, int32_t* to) const;
  // Coordinates of keys [from, to) of a tile's current block.
  void PlaceBlock(const AttentionTile& tile, uint32_t from, uint32_t to) const;
  void SetUpRelative(uint32_t head, uint32_t keys);
  void MultiplyBuckets(uint32_t rows, const void* tables, DType type, uint32_t head, uint32_t begin, uint32_t end,
                       float* y) const;
  void BucketRange(int64_t first, int64_t last, uint32_t* begin, uint32_t* end) const;
  void RunKeys(QueryTile queries);
  void SetUpSummaries(const Piece& piece, uint32_t kv_head);
  void RunSummaries(uint32_t first_head, uint32_t turn, uint32_t heads);
  void RunRange(const KeyRange& range);
  bool SetVisible(const KeyRange& range, uint32_t from, uint32_t to) const;
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
    return layout_.Find<T>(call_.scratch, part);
  }

  const Kernels& kernels_;
  const AttentionKernels& attention_;
  const AttentionCall& call_;
  const AttentionSpec& spec_;
  const AttentionLayout& layout_;
  const uint32_t group_;
  TapWriter taps_;
  AttentionTile tile_{};
  KeySource source_{};  // for the current head and segment
  KeySource summaries_{};
  uint32_t summary_count_ = 0, summary_distance_ = 0;
  uint32_t head_ = 0;  // the current first query head
  // For the current segment; null if not used.
  const int32_t* coordinates_ = nullptr;    // [axes, positions]
  const float* row_coordinates_ = nullptr;  // [positions, axes]
};

}  // namespace fovea

#endif  // FOVEA_RUNTIME_ATTENTION_ENGINE_H_
