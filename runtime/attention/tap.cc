#include "runtime/attention/tap.h"

#include <algorithm>

#include "runtime/base/sort_by_key.h"
#include "runtime/kernels/kernels.h"

namespace fovea {
namespace {

// The entries of one sparse row.
struct Entries {
  uint32_t* keys;
  float* values;
  uint32_t count;

  void Set(uint32_t at, uint32_t key, float value) { keys[at] = key, values[at] = value; }
};

// Adds up neighbouring entries of the same key and removes zeros. For scores, keeps the first entry of each key.
void MergeRepeats(bool scores, Entries* e) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < e->count;) {
    const uint32_t key = e->keys[i];
    float value = e->values[i++];
    for (; i < e->count && e->keys[i] == key; ++i) value = scores ? value : value + e->values[i];
    if (scores || value != 0.0f) e->Set(kept++, key, value);
  }
  e->count = kept;
}

float Combine(Reduce reduce, float a, float b) { return reduce == Reduce::kMax ? std::max(a, b) : a + b; }

// Merges the entries of one more head into the entries of the heads before it, in place, from the back. A key that is
// missing on one side has the weight 0 there.
void Join(Reduce reduce, const Entries& head, Entries* row) {
  uint32_t both = 0;
  for (uint32_t i = 0, k = 0; i < head.count && k < row->count;) {
    const uint32_t a = head.keys[i], b = row->keys[k];
    i += a <= b ? 1 : 0;
    k += b <= a ? 1 : 0;
    both += a == b ? 1 : 0;
  }
  uint32_t i = head.count, k = row->count, at = row->count + head.count - both;
  row->count = at;
  while (at-- > 0) {
    const bool from_head = i > 0 && (k == 0 || head.keys[i - 1] >= row->keys[k - 1]);
    const bool from_row = k > 0 && (i == 0 || row->keys[k - 1] >= head.keys[i - 1]);
    const uint32_t key = from_head ? head.keys[i - 1] : row->keys[k - 1];
    const float before = from_row ? row->values[--k] : 0.0f;
    row->Set(at, key, Combine(reduce, before, from_head ? head.values[--i] : 0.0f));
  }
}

}  // namespace

void TapWriter::Stage(uint32_t query_row, uint32_t head, uint32_t index, uint32_t keys, float nothing,
                      AttentionRow* row) {
  uint32_t tapped = query_row;
  if (sink_->rows != nullptr) {
    const uint32_t* end = sink_->rows + sink_->row_count;
    const uint32_t* found = std::lower_bound(sink_->rows, end, query_row);
    if (found == end || *found != query_row) return;
    tapped = static_cast<uint32_t>(found - sink_->rows);
  }
  const size_t first = size_t{count_} * sink_->staged_entries;
  row->weights = sink_->staged_values + first;
  if (sink_->sparse()) {
    row->weight_keys = sink_->staged_keys + first;
  } else {
    std::fill_n(row->weights, keys, nothing);
  }
  staged_[count_++] = {index, tapped, sink_->Ordinal(head)};
}

void TapWriter::Deliver(const AttentionTile& tile, uint32_t keys, uint32_t first_key) {
  for (uint32_t i = 0; i < count_; ++i) {
    const AttentionRow& row = tile.rows[staged_[i].index];
    if (sink_->received != nullptr) {
      AddReceived(staged_[i], row, keys, first_key);
    } else if (sink_->sparse()) {
      DeliverSparse(staged_[i], row.weight_keys, row.weights, row.weight_count, first_key);
    } else {
      DeliverDense(staged_[i], row.weights, keys);
    }
  }
}

void TapWriter::AddReceived(const Staged& staged, const AttentionRow& row, uint32_t keys, uint32_t first_key) const {
  float* const to = sink_->received + size_t{staged.ordinal - sink_->first_head} * sink_->stride + first_key;
  if (!sink_->sparse()) return kernels_.add(to, row.weights, keys, to);
  for (uint32_t i = 0; i < row.weight_count; ++i) to[row.weight_keys[i]] += row.weights[i];
}

void TapWriter::DeliverDense(const Staged& staged, const float* values, uint32_t keys) const {
  const bool reduces = sink_->reduce != Reduce::kNone;
  const size_t line = size_t{staged.row} * sink_->slots() + (reduces ? 0 : staged.ordinal);
  float* to = sink_->values + line * sink_->stride;
  if (!reduces || staged.ordinal == 0) {
    std::copy_n(values, keys, to);
  } else {
    for (uint32_t k = 0; k < keys; ++k) to[k] = Combine(sink_->reduce, to[k], values[k]);
  }
  if (sink_->reduce != Reduce::kMean || staged.ordinal + 1 < sink_->heads) return;
  for (uint32_t k = 0; k < keys; ++k) to[k] /= static_cast<float>(sink_->heads);
}

void TapWriter::DeliverSparse(const Staged& staged, uint32_t* keys, float* values, uint32_t count,
                              uint32_t first_key) const {
  Entries head = {keys, values, count};
  for (uint32_t i = 0; i < count; ++i) keys[i] += first_key;
  SortByKey(head.keys, head.values, head.count);
  MergeRepeats(sink_->scores, &head);
  const bool reduces = sink_->reduce != Reduce::kNone;
  const uint32_t slot = reduces ? 0 : staged.ordinal;
  const size_t first = sink_->FirstEntry(staged.row, slot);
  uint32_t* to_count = sink_->counts + size_t{staged.row} * sink_->slots() + slot;
  Entries to = {sink_->keys + first, sink_->values + first, *to_count};
  if (reduces && staged.ordinal > 0) {
    Join(sink_->reduce, head, &to);
  } else {
    std::copy_n(head.keys, head.count, to.keys);
    std::copy_n(head.values, head.count, to.values);
    to.count = head.count;
  }
  if (reduces && staged.ordinal + 1 == sink_->heads) {
    for (uint32_t i = 0; i < to.count && sink_->reduce == Reduce::kMean; ++i) {
      to.values[i] /= static_cast<float>(sink_->heads);
    }
    MergeRepeats(false, &to);  // a maximum or mean may be 0
  }
  *to_count = to.count;
}

}  // namespace fovea
