#include "runtime/model/layers.h"

#include <string.h>

#include "runtime/blob/attributes.h"

namespace fovea {
namespace {

// The layers of an operation partition the rows of its weight. Operations with several layers all do it in the same
// way, so the number of the part distinguishes layers of equal tensors: 0 all rows, 1 the first rows and 2 the last.
uint32_t Part(uint32_t i, uint32_t layer_count) { return layer_count == 1 ? 0 : i + 1; }

struct Key {
  uint32_t weight, bias, part, count;

  bool operator<(const Key& other) const {
    if (weight != other.weight) return weight < other.weight;
    if (bias != other.bias) return bias < other.bias;
    return part != other.part ? part < other.part : count < other.count;
  }
};

Key KeyOf(const Blob& blob, uint32_t use) {
  const OpView view{&blob, &blob.operations[use >> 2], nullptr};
  return {view.TensorIndex(0), view.TensorIndex(1), use & 3, view.U32(Attribute::kExperts, 1)};
}

}  // namespace

bool LayerTable::Number(uint32_t operation, uint32_t i, uint32_t layer_count, Op* const* ops, uint32_t* number) {
  const auto use = static_cast<Use>(operation << 2 | Part(i, layer_count));
  const Key key = KeyOf(blob_, use);
  uint32_t low = 0, high = count_;  // the first use that does not precede this one
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (KeyOf(blob_, uses_[middle]) < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low < count_ && !(key < KeyOf(blob_, uses_[low]))) {
    const uint32_t first = uses_[low] >> 2, part = uses_[low] & 3;
    *number = ops == nullptr || ops[first] == nullptr ? 0 : ops[first]->layers[part == 2 ? 1 : 0].number;
    return true;
  }
  if (count_ == kMaxLinears) return false;
  memmove(uses_ + low + 1, uses_ + low, (count_ - low) * sizeof(Use));
  uses_[low] = use;
  *number = count_++;
  return true;
}

}  // namespace fovea
