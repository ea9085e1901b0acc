// A checked blob with everything that is computed once per model: derived tables and packed weights. Immutable after
// PackModel.
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
  uint32_t* id_limits;            // [values], exclusive upper bound of ids; 0: the value has no ids
  uint32_t* max_segment_rows;     // [spaces], limit of position tables; 0xffffffff: none
  uint64_t packed_bytes;          // in memory that the model owns
  const uint8_t* packed_section;  // in the blob, if one fits this machine; else null
  bool lacks_weights;             // the blob has some weights only as packed for other machines or another backend
  Tokenizer tokenizer;
  bool has_text;

  const Op& Operation(const ProgramRecord& program, uint32_t i) const { return *ops[program.first_operation + i]; }
};

// Checks that all records except operations refer only to existing things. No memory; linear in the records. In a build
// without operations (runtime/base/profile.h) there are no records but the metadata.
Status CheckRecords(const Blob& blob, Reporter& reporter);

// For each space of a checked table, a bit mask of the selected spaces that it is, or is derived from. Operations must
// select the rows of these before the space's rows are known. 0: they are known when a run begins.
void FindSelections(const Blob& blob, uint64_t* selections);

// Checks a blob and places its model in `arena`, in one pass over the operations. With a counting arena, or one that
// runs out, only the size and `lacks_weights` are meaningful afterwards. Linear layers that `backend` does not support
// use HighwayGemm().
Status PlaceModel(const Blob& blob, const GemmBackend& backend, Arena& arena, Reporter& reporter, Model* model);
// Packs the weights of a placed model, or checks the layout of the weights that the blob has packed.
Status PackModel(Model& model, Reporter& reporter);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_MODEL_MODEL_H_
