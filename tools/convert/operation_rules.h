// Checks the operands and results of operations before a blob is written (the runtime checks again).
#ifndef FOVEA_TOOLS_CONVERT_OPERATION_RULES_H_
#define FOVEA_TOOLS_CONVERT_OPERATION_RULES_H_

#include <string>
#include <vector>

#include "tools/blob/blob.h"
#include "tools/convert/description.h"

namespace fovea::tools {

// An operation with its names resolved.
struct OperationCall {
  const Operation* operation;
  const std::vector<BlobSpace>* spaces;
  std::vector<BlobValue> inputs;
  std::vector<bool> ids;                   // whether an i32 input holds ids: of the program, or gathered from them
  std::vector<const BlobTensor*> tensors;  // shapes only; nullptr if absent
};

// Tensors that can be stored in any type; all remaining ones are f32, or as OperationResult::halves specifies.
enum class Matrices {
  kNone,
  kTables,   // all: embedding tables
  kWeights,  // the first: weights of linear layers
};

struct OperationResult {
  uint32_t code = 0;
  uint32_t space = 0;
  uint32_t width = 0;
  DType type = DType::kF32;
  bool ids = false;  // if i32
  std::vector<AttributeRecord> attributes;
  Matrices matrices = Matrices::kNone;
  uint32_t halves = 0;   // bit per tensor that may be f16
  uint32_t decides = 0;  // bit per input that decides which rows or experts are computed
};

// Fails with the fault. The rules of operations are in rules/.
OperationResult CheckOperation(const OperationCall& call);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_OPERATION_RULES_H_
