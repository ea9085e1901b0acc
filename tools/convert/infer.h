// Infers what each operation of a description makes by the runtime's own rules (runtime/ops/record.h): a blob that is
// written passes the same checks when it is opened.
#ifndef FOVEA_TOOLS_CONVERT_INFER_H_
#define FOVEA_TOOLS_CONVERT_INFER_H_

#include <string>
#include <vector>

#include "runtime/blob/format.h"
#include "tools/blob/blob.h"

namespace fovea::tools {

// The records of one program as far as it has been described.
class Inference {
 public:
  // Reads the spaces and tensors of `content`, which may grow, and the values and operations of `program`.
  Inference(const BlobContent& content, const BlobProgram& program) : content_(content), program_(program) {}

  // Space, width and type of the result of `operation`, the program's next one. Its space is the one named, or else the
  // only one that fits; a space made of the first input's by strides is chosen only if it is named or no other fits.
  // Optional inputs that attributes announce, as they did before inputs had numbers, get their numbers. Fails with the
  // fault that the runtime reports.
  BlobValue Infer(BlobOperation& operation, const std::string& space);

 private:
  struct Trial;
  void Follow();
  static void Number(BlobOperation& operation);
  Trial Try(const BlobOperation& operation, uint32_t space);
  std::string Shapes(const BlobOperation& operation) const;

  const BlobContent& content_;
  const BlobProgram& program_;
  std::vector<SpaceRecord> spaces_;
  std::vector<TensorRecord> tensors_;
  std::vector<ValueRecord> values_;
  std::vector<OperationRecord> operations_;
  std::vector<uint32_t> operands_;
  std::vector<AttributeRecord> attributes_;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_INFER_H_
