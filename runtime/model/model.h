// A checked blob with what running it needs once: tables that follow from it, and packed weights. Immutable after
// OpenModel.
#ifndef FOVEA_RUNTIME_MODEL_MODEL_H_
#define FOVEA_RUNTIME_MODEL_MODEL_H_

#include <stdint.h>

#include "runtime/base/arena.h"
#include "runtime/blob/blob.h"
#include "runtime/gemm/gemm.h"
#include "runtime/kernels/kernels.h"
#include "runtime/ops/op.h"
#include "runtime/text/tokenizer.h"

namespace fovea {

// A linear layer: distinct rows of a pair of weight and bias tensor, nearly always all of them.
struct Linear {
  GemmWeights weights;
  const GemmBackend* backend;
  const void* packed;  // null: used in place
  uint32_t op;         // in Model::gemm_ops
};

// An operator that a worker needs: linear layers of one shape and backend share it.
struct GemmOp {
  GemmShape shape;
  const GemmBackend* backend;
};

struct Model {
  Blob blob;
  Kernels kernels;
  const GemmBackend* backend;  // preferred
  Linear* linears;
  uint32_t linear_count;
  GemmOp* gemm_ops;
  uint32_t gemm_op_count;
  uint32_t* layers_of_operation;  // [operations][kMaxLayers] of `linears`, kBlobNone where there is none
  uint32_t* id_limits;            // [values], exclusive upper bound of ids; 0 for others
  uint32_t* max_segment_rows;     // [spaces], what position tables allow; 0xffffffff: any
  uint64_t packed_bytes;          // in the model's own memory
  const uint8_t* packed_section;  // of the blob, where one fits this machine; else null
  Tokenizer tokenizer;
  bool has_text;

  // Layer i of an operation, counted in the blob; null if it has none.
  const Linear* Layer(uint32_t operation, uint32_t i) const {
    const uint32_t layer = layers_of_operation[uint64_t{operation} * kMaxLayers + i];
    return layer == kBlobNone ? nullptr : &linears[layer];
  }
  OpView Operation(const ProgramRecord& program, uint32_t i) const {
    return {&blob, &blob.operations[program.first_operation + i], blob.values.data + program.first_value};
  }
};

// Every record refers only to what exists and every operation's shapes fit. Uses no memory; linear in the records.
Status CheckModel(const Blob& blob, Reporter& reporter);

// For each space of a checked table a bit for each selected space that it is, or that it follows from, which an
// operation must have chosen before the space has rows. 0: its rows are known when a run begins.
void FindSelections(const Blob& blob, uint64_t* selections);

// Places a model in `arena` and packs its weights. With a counting arena only sizes are meaningful afterwards. `blob`
// has passed CheckModel. Linear layers that `backend` does not support go to HighwayGemm().
Status PlaceModel(const Blob& blob, const GemmBackend& backend, Arena& arena, Reporter& reporter, Model* model);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_MODEL_MODEL_H_
