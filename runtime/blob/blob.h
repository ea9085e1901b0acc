// A blob whose sections are known to be inside it: typed arrays of records, read in place.
#ifndef FOVEA_RUNTIME_BLOB_BLOB_H_
#define FOVEA_RUNTIME_BLOB_BLOB_H_

#include <stdint.h>

#include "runtime/base/dtype.h"
#include "runtime/base/status.h"
#include "runtime/blob/format.h"

namespace fovea {

template <typename T>
struct Records {
  const T* data = nullptr;
  uint32_t count = 0;
  const T& operator[](uint32_t i) const { return data[i]; }
};

struct ByteRange {
  const uint8_t* data = nullptr;
  uint64_t size = 0;
};

struct Blob {
  ByteRange bytes;
  Records<SectionRecord> sections;
  Records<MetadataRecord> metadata;
  Records<SpaceRecord> spaces;
  Records<TensorRecord> tensors;
  Records<ProgramRecord> programs;
  Records<ValueRecord> values;
  Records<OperationRecord> operations;
  Records<uint32_t> operands;
  Records<AttributeRecord> attributes;
  ByteRange strings;
  ByteRange text;  // empty if the blob has none
  ByteRange weights;

  // `offset` must have been checked with HasString.
  const char* String(uint32_t offset) const {
    return offset == kBlobNone ? "" : reinterpret_cast<const char*>(strings.data) + offset;
  }
  bool HasString(uint32_t offset) const { return offset < strings.size; }
  ByteRange Section(uint32_t i) const { return {bytes.data + sections[i].offset, sections[i].size}; }

  // Whether only packed sections hold a tensor.
  bool IsAbsent(uint32_t tensor) const { return tensors[tensor].data == kBlobAbsent; }
  // Null if it is absent.
  const void* TensorRows(uint32_t tensor) const {
    return IsAbsent(tensor) ? nullptr : weights.data + tensors[tensor].data;
  }
  // Also null if the type has none.
  const void* TensorScales(uint32_t tensor) const {
    const TensorRecord& t = tensors[tensor];
    return IsAbsent(tensor) || ScaleBytes(DType(t.type), 1, 1) == 0 ? nullptr : weights.data + t.scales;
  }
};

// Bytes from one row of a program's input to the next.
inline uint32_t InputRowBytes(const ValueRecord& input) {
  return static_cast<uint32_t>(ValueRowBytes(DType(input.type), input.width, input.detail));
}

// Checks header, section table and (unless skipped) checksum; runtime/model checks the records.
Status OpenBlob(const void* bytes, uint64_t size, bool skip_checksum, Reporter& reporter, Blob* blob);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_BLOB_BLOB_H_
