// The content of a blob as records, and the writer that lays it out (specified in runtime/blob/README.md).
#ifndef FOVEA_TOOLS_BLOB_BLOB_H_
#define FOVEA_TOOLS_BLOB_BLOB_H_

#include <stdint.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/dtype.h"
#include "runtime/blob/format.h"
#include "tools/blob/output.h"

namespace fovea::tools {

struct BlobSpace {
  std::string name;
  uint32_t parent = kBlobNone;
  SpaceKind kind = SpaceKind::kInput;
  uint32_t source = kBlobNone;
  uint32_t extra = 0;
  uint16_t first = 0, last = 0;
};

// Whether the rows of a space are selected during a run, or derived from such a space.
inline bool IsSelected(const std::vector<BlobSpace>& spaces, uint32_t index) {
  if (index == kBlobNone) return false;
  const BlobSpace& space = spaces[index];
  return space.kind == SpaceKind::kSelected ||
         IsSelected(spaces, SpaceHasSource(space.kind) ? space.source : space.parent);
}

struct BlobTensor {
  std::string name;
  DType type = DType::kF32;
  uint32_t rows = 0;
  uint32_t width = 0;
  std::vector<uint8_t> data;    // RowBytes(type, width) * rows
  std::vector<uint8_t> scales;  // ScaleBytes(type, rows, width)
};

struct BlobValue {
  std::string name;
  uint32_t space = 0;
  uint32_t width = 0;
  DType type = DType::kF32;
  ValueRole role = ValueRole::kInternal;
  uint32_t carried_by = 0;  // kCarried
  uint32_t parts = 0;       // int8 inputs: parts of a row, each with a scale
};

struct BlobOperation {
  uint32_t code = 0;
  std::string name;  // may be empty
  uint32_t output = 0;
  std::vector<uint32_t> inputs, tensors;  // by their numbers in operand_list.inc, kBlobNone where absent
  std::vector<AttributeRecord> attributes;
};

// Calls f(input) for each input that is present; f may change it.
template <typename Operation, typename F>
void ForEachInput(Operation& operation, const F& f) {
  for (auto& input : operation.inputs) {
    if (input != kBlobNone) f(input);
  }
}

struct BlobProgram {
  std::string name;
  std::vector<BlobValue> values;
  std::vector<BlobOperation> operations;
};

struct BlobPacked {
  uint64_t layout = 0;
  std::vector<uint8_t> bytes;
};

struct BlobContent {
  std::vector<std::pair<std::string, std::string>> metadata;
  std::vector<BlobSpace> spaces;
  std::vector<BlobTensor> tensors;
  std::vector<BlobProgram> programs;
  std::vector<uint8_t> text;
  std::vector<BlobPacked> packed;
};

// Writes the whole blob. Equal strings and tensors with equal bytes are stored once. Fails if a limit of the format is
// exceeded.
std::vector<uint8_t> WriteBlob(const BlobContent& content);

// Fills in type, data and scales of tensor `index`, which has name, rows and width; called once for each, in order, so
// that only one tensor is in memory at a time.
using TensorSource = std::function<void(size_t index, BlobTensor& tensor)>;
// Returns for each of the content's tensors its index in the blob; equal tensors share one.
std::vector<uint32_t> WriteBlob(const BlobContent& content, const TensorSource& source, BlobOutput& output);

// Returns the blob with its packed sections replaced, and without the rows and scales of the tensors that are true in
// `left_out` (empty: none). It has been opened, so its sections and tensors are in bounds.
std::vector<uint8_t> ReplacePacked(const uint8_t* blob, const std::vector<BlobPacked>& packed,
                                   const std::vector<bool>& left_out = {});

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BLOB_BLOB_H_
