// The blob format, version 1: the records that stand in a blob, byte for byte. README.md beside this file is the
// specification in prose. Shared with the blob writer in tools/. Little-endian; all offsets and sizes are in bytes.
#ifndef FOVEA_RUNTIME_BLOB_FORMAT_H_
#define FOVEA_RUNTIME_BLOB_FORMAT_H_

#include <stdint.h>

namespace fovea {

inline constexpr uint8_t kBlobMagic[8] = {'F', 'O', 'V', 'E', 'A', 'B', 'L', 'B'};
inline constexpr uint32_t kBlobVersion = 1;
inline constexpr uint32_t kBlobAlignment = 64;     // of the blob in memory and of each section in it
inline constexpr uint32_t kBlobNone = 0xffffffff;  // "no such thing" where an index or string may be absent

// Stated limits: a validator need not look further, and 32-bit arithmetic on counts cannot overflow.
inline constexpr uint32_t kMaxSections = 64;
inline constexpr uint32_t kMaxRecords = 1u << 20;     // of any one kind
inline constexpr uint32_t kMaxOperations = 1u << 14;  // of all programs; planning compares operations with each other
inline constexpr uint32_t kMaxLinears = 4096;         // distinct pairs of weight and bias
inline constexpr uint32_t kMaxSpaces = 64;
inline constexpr uint32_t kMaxSpaceDepth = 8;
inline constexpr uint32_t kMaxPrograms = 64;
inline constexpr uint32_t kMaxInputs = 8;     // of one operation
inline constexpr uint32_t kMaxTensors = 8;    // of one operation
inline constexpr uint32_t kMaxCarried = 256;  // values of one program
inline constexpr uint32_t kMaxAttributes = 32;
inline constexpr uint32_t kMaxWidth = 1u << 24;

struct BlobHeader {
  uint8_t magic[8];
  uint32_t version;
  uint32_t section_count;
  uint64_t size;      // of the whole blob
  uint64_t checksum;  // XXH64, seed 0, of the bytes after the header
  uint8_t reserved[32];
};
static_assert(sizeof(BlobHeader) == 64, "");

enum class SectionKind : uint32_t {
  kStrings = 1,     // UTF-8, each ends with a zero byte; referred to by offset
  kMetadata = 2,    // MetadataRecord
  kSpaces = 3,      // SpaceRecord
  kTensors = 4,     // TensorRecord
  kPrograms = 5,    // ProgramRecord
  kValues = 6,      // ValueRecord
  kOperations = 7,  // OperationRecord
  kOperands = 8,    // uint32_t
  kAttributes = 9,  // AttributeRecord
  kText = 10,       // runtime/text/README.md
  kWeights = 11,    // rows and scales of the tensors
  kPacked = 12,     // optional, one per target: weights as one backend wants them; see README.md
};

// The section table follows the header. Sections do not overlap; each kind but kPacked occurs at most once.
struct SectionRecord {
  SectionKind kind;
  uint32_t reserved;
  uint64_t offset;
  uint64_t size;
  uint64_t layout;  // kPacked: which backend, build and machine the bytes are for; else 0
};
static_assert(sizeof(SectionRecord) == 32, "");

struct MetadataRecord {
  uint32_t key;    // string
  uint32_t value;  // string
};

enum class SpaceKind : uint32_t {
  kInput = 0,     // the caller says its segment lengths (or its rows, if it has no parent)
  kExtended = 1,  // every segment of `source` with `extra` rows more, put in front
  kFixed = 2,     // every segment has exactly `extra` rows: follows from the parent's rows
  kSelected = 3,  // rows of `source` that an operation chooses during the run, at most `extra` (0: any) of a segment;
                  // where the parent is itself selected: all rows of `source` in the rows that it has
  kStrided = 4,   // every segment of `source` with every `extra` rows as one (runtime/blob/strides.h)
};
constexpr bool SpaceHasSource(SpaceKind kind) {
  return kind == SpaceKind::kExtended || kind == SpaceKind::kSelected || kind == SpaceKind::kStrided;
}
struct SpaceRecord {
  uint32_t name;    // string
  uint32_t parent;  // space, earlier in the table, or kBlobNone: then all rows are one segment
  SpaceKind kind;
  uint32_t source;  // if SpaceHasSource(kind): a space with the same parent, or (selected) a child of the space that
                    // the parent was selected from; earlier in the table; else kBlobNone
  uint32_t extra;   // see SpaceKind; 0 for kInput
  uint16_t first;   // kStrided: rows at the front of a segment that stay as they are; else 0
  uint16_t last;    // kStrided: rows at its end that are left out; else 0

  // The space whose segments or rows this one's segments follow from, known as soon as those are.
  uint32_t Follows() const { return kind == SpaceKind::kInput ? kBlobNone : SpaceHasSource(kind) ? source : parent; }
};
static_assert(sizeof(SpaceRecord) == 24, "");

struct TensorRecord {
  uint32_t name;  // string
  uint32_t type;  // DType
  uint32_t rows;  // vectors have one row
  uint32_t width;
  uint64_t data;    // offset in the weights section, multiple of 64; RowBytes(type, width) * rows bytes
  uint64_t scales;  // offset in the weights section, multiple of 64; ScaleBytes bytes; 0 if the type has none
};
static_assert(sizeof(TensorRecord) == 32, "");

// Programs, in order, share out the values and operations: each begins where the one before it ends.
struct ProgramRecord {
  uint32_t name;  // string
  uint32_t first_value, value_count;
  uint32_t first_operation, operation_count;
  uint32_t reserved;
};

enum class ValueRole : uint32_t { kInternal = 0, kInput = 1, kOutput = 2, kCarried = 3 };
// A carried value is an input that a run reads as the last run wrote an output.
constexpr bool IsInput(ValueRole role) { return role == ValueRole::kInput || role == ValueRole::kCarried; }
struct ValueRecord {
  uint32_t name;  // string; looking a name up finds the first
  uint32_t space;
  uint32_t width;
  uint32_t
      type;  // DType: f32; i32 for ids (inputs) and row indices (made by `select`); f16, bf16, int8: made by `cast`
  ValueRole role;
  uint32_t carried_by;  // kCarried: an output of the same program, space, width and type, of no other; else 0
};

// Values stand in the order in which they come into being: the inputs, then the output of each operation in turn. So
// operation i of a program with n inputs writes value n + i and reads only values before it.
struct OperationRecord {
  uint32_t code;           // runtime/ops/op_list.inc
  uint32_t name;           // string, or kBlobNone; names a step for taps and tables
  uint32_t output;         // value of the same program
  uint32_t first_operand;  // in the operands section: input values (of the same program), then tensors (or kBlobNone)
  uint32_t input_count;
  uint32_t tensor_count;
  uint32_t first_attribute;
  uint32_t attribute_count;
};
static_assert(sizeof(OperationRecord) == 32, "");

struct AttributeRecord {
  uint32_t key;   // runtime/blob/attribute_list.inc
  uint32_t bits;  // uint32_t, or the bits of an f32
};

// A packed section starts with one of these per packed linear layer, in the order of the model's linear layers.
struct PackedRecord {
  uint64_t offset;  // in the section, multiple of 64; with size 0: not packed
  uint64_t size;
};

// The numbers of keys, operations and pattern kinds are part of the format: they are never reused.
enum class AttributeType : uint32_t { kU32, kF32 };
enum class Attribute : uint32_t {
#define FOVEA_ATTRIBUTE(number, name, Name, type) k##Name = number,
#include "runtime/blob/attribute_list.inc"
#undef FOVEA_ATTRIBUTE
};

}  // namespace fovea

#endif  // FOVEA_RUNTIME_BLOB_FORMAT_H_
