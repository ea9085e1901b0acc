// The blob format, version 1: the records of a blob, byte for byte. README.md in this folder is the specification in
// prose; enumerations are in numbers.h. The blob writer in tools/ includes this file. Little-endian; all offsets and
// sizes are in bytes.
#ifndef FOVEA_RUNTIME_BLOB_FORMAT_H_
#define FOVEA_RUNTIME_BLOB_FORMAT_H_

#include <stdint.h>

#include "runtime/base/profile.h"
#include "runtime/blob/record_numbers.h"

namespace fovea {

inline constexpr uint8_t kBlobMagic[8] = {'F', 'O', 'V', 'E', 'A', 'B', 'L', 'B'};
inline constexpr uint32_t kBlobVersion = 1;
inline constexpr uint32_t kBlobAlignment = 64;     // for the blob in memory and for each section in it
inline constexpr uint32_t kBlobNone = 0xffffffff;  // marks an absent index or string

// Limits of the format: they bound the time of validation, and 32-bit arithmetic on counts cannot overflow. A profile
// can lower those read with LimitOf, which makes tables on the stack and in sessions smaller.
inline constexpr uint32_t kMaxSections = 64;
inline constexpr uint32_t kMaxRecords = 1u << 20;                  // per kind
inline constexpr uint32_t kMaxOperations = 1u << 14;               // in all programs; planning is quadratic in it
inline constexpr uint32_t kMaxLinears = LimitOf("linears", 4096);  // distinct pairs of weight and bias
inline constexpr uint32_t kMaxSpaces = LimitOf("spaces", 64);
inline constexpr uint32_t kMaxSpaceDepth = 8;
inline constexpr uint32_t kMaxPrograms = 64;
inline constexpr uint32_t kMaxInputs = LimitOf("inputs", 32);  // per operation
inline constexpr uint32_t kMaxTensors = 32;                    // per operation
inline constexpr uint32_t kMaxCarried = 256;                   // values per program
inline constexpr uint32_t kMaxAttributes = 32;
inline constexpr uint32_t kMaxWidth = 1u << 24;
inline constexpr uint32_t kMaxTransform = 1u << 14;  // size of a discrete Fourier transform

struct BlobHeader {
  uint8_t magic[8];
  uint32_t version;
  uint32_t section_count;
  uint64_t size;      // whole blob
  uint64_t checksum;  // XXH64, seed 0, over the bytes after the header
  uint8_t reserved[32];
};
static_assert(sizeof(BlobHeader) == 64, "");

// The section table follows the header. Sections do not overlap; each kind but kPacked occurs at most once.
struct SectionRecord {
  SectionKind kind;
  uint32_t reserved;
  uint64_t offset;
  uint64_t size;
  uint64_t layout;  // kPacked: identifies the byte layout of a backend on one kind of machine; else 0
};
static_assert(sizeof(SectionRecord) == 32, "");

struct MetadataRecord {
  uint32_t key;    // string
  uint32_t value;  // string
};

constexpr bool SpaceHasSource(SpaceKind kind) {
  return kind == SpaceKind::kExtended || kind == SpaceKind::kSelected || kind == SpaceKind::kStrided ||
         kind == SpaceKind::kCached;
}
struct SpaceRecord {
  uint32_t name;    // string
  uint32_t parent;  // space, earlier in the table, or kBlobNone: then all rows are one segment
  SpaceKind kind;
  uint32_t source;  // if SpaceHasSource(kind): a space with the same parent, or (selected) a child of the space that
                    // the parent was selected from; earlier in the table; else kBlobNone
  uint32_t extra;   // see SpaceKind; 0 for kInput
  uint16_t first;   // kStrided: rows at the front of a segment that are not merged; else 0
  uint16_t last;    // kStrided: rows at the end of a segment that are left out; else 0

  // The space from whose segments or rows this space's segments are derived.
  uint32_t Follows() const { return kind == SpaceKind::kInput ? kBlobNone : SpaceHasSource(kind) ? source : parent; }
};
static_assert(sizeof(SpaceRecord) == 24, "");

struct TensorRecord {
  uint32_t name;  // string
  uint32_t type;  // DType
  uint32_t rows;  // vectors have one row
  uint32_t width;
  // Offset in the weights section, multiple of 64; RowBytes(type, width) * rows bytes. kBlobAbsent: only packed
  // sections hold this weight of linear layers.
  uint64_t data;
  uint64_t scales;  // offset in the weights section, multiple of 64; ScaleBytes bytes; 0 if it has none
};
static_assert(sizeof(TensorRecord) == 32, "");
inline constexpr uint64_t kBlobAbsent = ~uint64_t{0};

// Programs partition the values and operations in order: each begins where the previous one ends.
struct ProgramRecord {
  uint32_t name;  // string
  uint32_t first_value, value_count;
  uint32_t first_operation, operation_count;
  uint32_t reserved;
};

constexpr bool IsInput(ValueRole role) { return role == ValueRole::kInput || role == ValueRole::kCarried; }
struct ValueRecord {
  uint32_t name;  // string; a look-up by name finds the first
  uint32_t space;
  uint32_t width;
  uint32_t type;  // DType: f32; i32: ids (inputs) and row indices (made by `select`); f16, bf16, int8: made by `cast`
  ValueRole role;
  // Depends on the role. kCarried: the output of the same program, space, width and type that carries this value, and
  // no other value. kInput of int8: the number of equal parts of a row, each with a scale. Else 0.
  uint32_t detail;
};

// Values are numbered in the order of computation: the inputs, then the output of each operation in turn. So operation
// i of a program with n inputs writes value n + i and reads only values before it.
struct OperationRecord {
  uint32_t code;           // OpCode
  uint32_t name;           // string, or kBlobNone; names the operation for taps and tables
  uint32_t output;         // value of the same program
  uint32_t first_operand;  // in the operands section: input values (of the same program), then tensors (or kBlobNone)
  uint32_t input_count;
  uint32_t tensor_count;
  uint32_t first_attribute;
  uint32_t attribute_count;
};
static_assert(sizeof(OperationRecord) == 32, "");

struct AttributeRecord {
  uint32_t key;   // Attribute
  uint32_t bits;  // a number, or the bits of an f32
};

// A packed section starts with one record per linear layer, in the order of the model's linear layers.
struct PackedRecord {
  uint64_t offset;  // in the section, multiple of 64; size 0: not packed
  uint64_t size;
};

}  // namespace fovea

#endif  // FOVEA_RUNTIME_BLOB_FORMAT_H_
