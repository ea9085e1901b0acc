// A checked blob with what running it needs once: tables that follow from it, and packed weights. Immutable after
// PlaceModel.
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
  Op** ops;                       // [operations of the blob], lowered
  uint32_t* id_limits;            // [values], exclusive upper bound of ids; 0 for others
  uint32_t* max_segment_rows;     // [spaces], what position tables allow; 0xffffffff: any
  uint64_t packed_bytes;          // in the model's own memory
  const uint8_t* packed_section;  // of the blob, where one fits this machine; else null
  Tokenizer tokenizer;
  bool has_text;

  const Op& Operation(const ProgramRecord& program, uint32_t i) const { return *ops[program.first_operation + i]; }
};

// Records other than operations refer only to what exists. Uses no memory; linear in the records.
Status CheckRecords(const Blob& blob, Reporter& reporter);

// For each space of a checked table a bit for each selected space that it is, or that it follows from, which an
// operation must have chosen before the space has rows. 0: its rows are known when a run begins.
void FindSelections(const Blob& blob, uint64_t* selections);

// Checks a blob and places its model in `arena`, in one pass over the operations. With a counting arena, or one that
// runs out, only the size is meaningful afterwards. Linear layers that `backend` does not support go to HighwayGemm().
Status PlaceModel(const Blob& blob, const GemmBackend& backend, Arena& arena, Reporter& reporter, Model* model);
// Packs the weights of a model that has been placed, or checks those that the blob has packed.
Status PackModel(Model& model, Reporter& reporter);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_MODEL_MODEL_H_
