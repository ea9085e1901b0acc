// Numbers the distinct linear layers of a model in order of first use, in one pass over its operations, with or without
// memory for the model itself.
#ifndef FOVEA_RUNTIME_MODEL_LAYERS_H_
#define FOVEA_RUNTIME_MODEL_LAYERS_H_

#include "runtime/model/model.h"

namespace fovea {

class LayerTable {
 public:
  explicit LayerTable(const Blob& blob) : blob_(blob) {}

  // Finds the number of layer i of an operation, or gives it the next number if it is new. False: too many layers. A
  // layer seen before has its first use's number if `ops` has memory to look it up in; else any number below count().
  bool Number(uint32_t operation, uint32_t i, uint32_t layer_count, Op* const* ops, uint32_t* number);
  uint32_t count() const { return count_; }

 private:
  // A use: the operation and the part (see Part in layers.cc), packed into 16 bits.
  using Use = uint16_t;
  static_assert(kMaxOperations <= (1u << 14), "an operation and a part must fit 16 bits");

  const Blob& blob_;
  uint32_t count_ = 0;
  Use uses_[kMaxLinears];  // first uses, ordered by tensors, part and number of experts
};

}  // namespace fovea

#endif  // FOVEA_RUNTIME_MODEL_LAYERS_H_
