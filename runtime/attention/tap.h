// Attention maps that a call keeps: the wanted rows and heads, dense or sparse, for each head or reduced over heads, or
// only the sum that each key receives from all rows. The kernel writes weights to a staged row of the worker, and they
// are delivered when they are final; a chunk of rows ends when all its staged rows are in use.
#ifndef FOVEA_RUNTIME_ATTENTION_TAP_H_
#define FOVEA_RUNTIME_ATTENTION_TAP_H_

#include <stddef.h>
#include <stdint.h>

#include "runtime/kernels/attention.h"
#include "runtime/kernels/elementwise.h"

namespace fovea {

enum class Reduce : uint32_t { kNone = 0, kMean = 1, kMax = 2 };

inline constexpr uint32_t kMostStagedRows = 32;

// A loop, since the compiler's built-in may call a library.
constexpr uint32_t CountBits(uint64_t bits) {
  uint32_t count = 0;
  for (; bits != 0; bits &= bits - 1) ++count;
  return count;
}

struct WeightSink {
  bool scores;  // keeps scores before the weighting instead of weights
  // Tapped row t is query row rows[t] (ascending), or t where rows is null: then all rows are tapped.
  const uint32_t* rows;
  uint32_t row_count;
  uint64_t head_mask;  // bit h: head h is wanted; 0: all are
  uint32_t heads;      // number of wanted heads
  Reduce reduce;       // over the wanted heads
  // Dense (keys is null): the weight of tapped row t, slot s and the key at position p is
  // values[(t * slots + s) * stride + p].
  // Slots are the wanted heads, or one if they are reduced. Keys that the pattern hides have the weight 0 and the score
  // -infinity, up to the segment's length.
  float* values;
  uint32_t stride;
  // Sparse: tapped row t and slot s have counts[t * slots + s] entries, from index
  // slots * starts[t] + s * (starts[t + 1] - starts[t]) on:
  // keys (rows of the key space, ascending) and values, without weights of 0 and scores of -infinity.
  uint32_t* keys;
  uint32_t* counts;
  const uint64_t* starts;  // [row_count + 1]; null: rows and slots are `stride` entries apart, as if dense
  // Instead of maps (values and rows are null): the sum of the weights that each key receives. The sum of row r of the
  // key space and head h is added to received[(h - first_head) * stride + r]. Dense if staged_keys is null.
  float* received;
  uint32_t first_head;
  // For one worker: [staged_rows, staged_entries], at least one row. staged_entries: length of the longest key segment,
  // or for sparse rows the most entries before repeated keys are merged (MostVisibleKeys).
  float* staged_values;
  uint32_t* staged_keys;  // sparse
  uint32_t staged_rows, staged_entries;

  bool sparse() const { return received != nullptr ? staged_keys != nullptr : keys != nullptr; }
  uint32_t slots() const { return reduce == Reduce::kNone ? heads : 1; }
  bool Wants(uint32_t head) const { return head_mask == 0 || ((head_mask >> head) & 1) != 0; }
  // The number of wanted heads before this one.
  uint32_t Ordinal(uint32_t head) const {
    return head_mask == 0 ? head : CountBits(head_mask & ((uint64_t{1} << head) - 1));
  }
  size_t FirstEntry(uint32_t row, uint32_t slot) const {
    if (starts == nullptr) return (size_t{row} * slots() + slot) * stride;
    return static_cast<size_t>(slots() * starts[row] + slot * (starts[row + 1] - starts[row]));
  }
};

// The staged rows of the current chunk.
class TapWriter {
 public:
  TapWriter(const WeightSink* sink, const ElementwiseKernels& kernels) : sink_(sink), kernels_(kernels) {}
  void Clear() { count_ = 0; }
  bool Full() const { return sink_ != nullptr && count_ == sink_->staged_rows; }
  // Assigns a staged row to the chunk's row `index` if it is wanted; `nothing` is the value of keys that are not seen.
  void SetUp(uint32_t query_row, uint32_t head, uint32_t index, uint32_t keys, float nothing, AttentionRow* row) {
    if (sink_ != nullptr && sink_->Wants(head)) Stage(query_row, head, index, keys, nothing, row);
  }
  // Delivers the weights of the chunk, which are final. Heads of a query must come in ascending order.
  void Deliver(const AttentionTile& tile, uint32_t keys, uint32_t first_key);

 private:
  struct Staged {
    uint32_t index, row, ordinal;
  };
  void Stage(uint32_t query_row, uint32_t head, uint32_t index, uint32_t keys, float nothing, AttentionRow* row);
  void AddReceived(const Staged& staged, const AttentionRow& row, uint32_t keys, uint32_t first_key) const;
  void DeliverDense(const Staged& staged, const float* values, uint32_t keys) const;
  void DeliverSparse(const Staged& staged, uint32_t* keys, float* values, uint32_t count, uint32_t first_key) const;

  const WeightSink* sink_;
  const ElementwiseKernels& kernels_;
  Staged staged_[kMostStagedRows];
  uint32_t count_ = 0;
};

}  // namespace fovea

#endif  // FOVEA_RUNTIME_ATTENTION_TAP_H_
