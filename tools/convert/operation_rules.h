// What every operation takes and makes, as the converter checks it before it writes a blob (the runtime checks again).
#ifndef FOVEA_TOOLS_CONVERT_OPERATION_RULES_H_
#define FOVEA_TOOLS_CONVERT_OPERATION_RULES_H_

#include <string>
#include <vector>

#include "tools/blob/blob.h"
#include "tools/convert/description.h"

namespace fovea::tools {

// An operation whose names have been looked up.
struct OperationCall {
  const Operation* operation;
  const std::vector<BlobSpace>* spaces;
  std::vector<BlobValue> inputs;
  std::vector<bool> ids;  // whether an input that is i32 holds ids: the program's, or gathered from there
  std::vector<const BlobTensor*> tensors;  // shapes only; nullptr where absent
};

// Tensors that may be stored as anything; others are f32, or what OperationResult::halves says.
enum class Matrices {
  kNone,
  kTables,   // all: tables of embeddings
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
  uint32_t decides = 0;  // bit per input that decides what is computed
};

// Fails with what does not fit. The rule of an operation is in rules/.
OperationResult CheckOperation(const OperationCall& call);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_OPERATION_RULES_H_
