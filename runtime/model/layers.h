// The distinct linear layers of a model, in order of first use: found in one pass over its operations, with or without
// memory for the model itself.
#ifndef FOVEA_RUNTIME_MODEL_LAYERS_H_
#define FOVEA_RUNTIME_MODEL_LAYERS_H_

#include "runtime/model/model.h"

namespace fovea {

class LayerTable {
 public:
  explicit LayerTable(const Blob& blob) : blob_(blob) {}

  // The number of layer i of an operation of the blob, the next one if it is new. False: there are too many.
  // A found one has the number that its first use was given, if `ops` are there to tell; else any below count().
  bool Number(uint32_t operation, uint32_t i, uint32_t layer_count, Op* const* ops, uint32_t* number);
  uint32_t count() const { return count_; }

 private:
  // A use: which operation, and which of the parts that its layers are (see Part).
  using Use = uint16_t;
  static_assert(kMaxOperations <= (1u << 14), "an operation and a part make 16 bits");

  const Blob& blob_;
  uint32_t count_ = 0;
  Use uses_[kMaxLinears];  // the first use of each, ordered by tensors, part and count of experts
};

}  // namespace fovea

#endif  // FOVEA_RUNTIME_MODEL_LAYERS_H_
