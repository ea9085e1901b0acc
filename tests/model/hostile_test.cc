// A damaged or malicious blob gives an error or a harmless model: every byte changed, every length, every field at its
// extremes. Sanitizers see what the memory of exact sizes in BlobUser is for.
#include <time.h>

#include <random>
#include <tuple>

#include "runtime/blob/attributes.h"
#include "runtime/blob/checksum.h"
#include "runtime/blob/names.h"
#include "runtime/blob/op_codes.h"
#include "runtime/gemm/gemm.h"
#include "tests/model/use_blob.h"
#include "tests/support/every_operation.h"
#include "tests/support/fewer_cases.h"

namespace fovea::test {
namespace {

using Bytes = std::vector<uint8_t>;

const Bytes& Good() {
  static const Bytes blob = tools::WriteBlob(EveryOperation());
  return blob;
}

// A copy of a blob whose records can be changed in place.
class Patch {
 public:
  explicit Patch(const Bytes& bytes = Good()) : bytes_(bytes) {}
  Bytes& bytes() { return bytes_; }
  BlobHeader& header() { return *reinterpret_cast<BlobHeader*>(bytes_.data()); }
  SectionRecord* table() { return reinterpret_cast<SectionRecord*>(bytes_.data() + sizeof(BlobHeader)); }
  SectionRecord& section(SectionKind kind) {
    for (uint32_t i = 0; i < header().section_count; ++i) {
      if (table()[i].kind == kind) return table()[i];
    }
    ADD_FAILURE() << "no such section";
    return table()[0];
  }
  template <typename T>
  T* records(SectionKind kind) {
    return reinterpret_cast<T*>(bytes_.data() + section(kind).offset);
  }
  SpaceRecord* spaces() { return records<SpaceRecord>(SectionKind::kSpaces); }
  TensorRecord* tensors() { return records<TensorRecord>(SectionKind::kTensors); }
  ProgramRecord* programs() { return records<ProgramRecord>(SectionKind::kPrograms); }
  // Values of the second program: x, sum (carried), y, next sum.
  ValueRecord* second() { return values() + programs()[1].first_value; }
  ValueRecord* values() { return records<ValueRecord>(SectionKind::kValues); }
  OperationRecord* operations() { return records<OperationRecord>(SectionKind::kOperations); }
  uint32_t* operands() { return records<uint32_t>(SectionKind::kOperands); }
  AttributeRecord* attributes() { return records<AttributeRecord>(SectionKind::kAttributes); }

 private:
  Bytes bytes_;
};

// Fewer cases: each ninth byte or word is changed, which in some record is each field, as records hold 8 to 64.
uint64_t Stride() { return FewerCases() ? 9 : 1; }

// Where the bytes lie that are neither weights nor long tables: header, section table and records.
uint64_t StructureEnd() {
  Patch p;
  return p.section(SectionKind::kText).offset;
}

TEST(Hostile, TheModelItselfRuns) {
  const Use use = BlobUser::Try(Good(), false);
  EXPECT_EQ(use.status, FOVEA_OK) << use.error.text;
  EXPECT_EQ(use.runs, 8u);  // two programs
}

TEST(Hostile, EveryTruncation) {
  for (uint64_t size = 0; size < Good().size(); ++size) {
    // Reading the header is all that happens; the bytes end where the memory does.
    if (size > StructureEnd() && size % 61 != 0 && size + 300 < Good().size()) continue;
    const Bytes bytes(Good().begin(), Good().begin() + static_cast<long>(size));
    const Use use = BlobUser::Try(bytes);
    ASSERT_EQ(use.status, FOVEA_E_TRUNCATED) << size;
    if (size < sizeof(BlobHeader)) continue;
    // The same when the header agrees with the size.
    Patch p(bytes);
    p.header().size = size;
    BlobUser::Try(p.bytes());
  }
}

TEST(Hostile, EveryByteChanged) {
  uint32_t refused = 0, ran = 0;
  for (uint64_t i = 0; i < Good().size(); i += Stride()) {
    if (i >= StructureEnd() && i % 97 != 0) continue;  // text has its own test; weights are only numbers
    for (const int flip : {0xff, 0x01, 0x80}) {
      Bytes bytes = Good();
      bytes[i] = static_cast<uint8_t>(bytes[i] ^ flip);
      const Use use = BlobUser::Try(bytes);
      refused += use.status != FOVEA_OK;
      ran += use.runs != 0;
      // With its checksum no change at all gets through.
      if (flip != 0x01) continue;
      fovea_error error = {};
      const AlignedBytes copy(bytes);
      if (i < offsetof(BlobHeader, reserved)) {
        ASSERT_NE(fovea_blob_verify(copy.data(), copy.size(), &error), FOVEA_OK) << "byte " << i;
      } else if (i >= sizeof(BlobHeader)) {
        ASSERT_EQ(fovea_blob_verify(copy.data(), copy.size(), &error), FOVEA_E_CHECKSUM) << "byte " << i;
      }
    }
  }
  EXPECT_GT(refused, 2000u / Stride());
  EXPECT_GT(ran, 500u / Stride());
}

TEST(Hostile, EveryFieldAtItsExtremes) {
  const uint32_t extremes[] = {0,         1,         2,          31,         32,         64,         0xffff,
                               0x1000000, 0x1000001, 0x7fffffff, 0x80000000, 0xffffffc0, 0xfffffffe, 0xffffffff};
  for (uint64_t i = 0; i < StructureEnd(); i += 4 * Stride()) {
    for (const uint32_t extreme : extremes) {
      Bytes bytes = Good();
      memcpy(bytes.data() + i, &extreme, 4);
      BlobUser::Try(bytes);
    }
    for (const int change : {-1, 1, 64}) {
      Bytes bytes = Good();
      uint32_t word;
      memcpy(&word, bytes.data() + i, 4);
      word += static_cast<uint32_t>(change);
      memcpy(bytes.data() + i, &word, 4);
      BlobUser::Try(bytes);
    }
    if (i % 8 != 0) continue;
    for (const uint64_t extreme : {uint64_t{1} << 32, uint64_t{1} << 63, ~uint64_t{0}, ~uint64_t{63}}) {
      Bytes bytes = Good();
      memcpy(bytes.data() + i, &extreme, 8);
      BlobUser::Try(bytes);
    }
  }
}

// Several fields at once, taken from each other: what a check of single fields would miss.
TEST(Hostile, RandomMixtures) {
  std::mt19937 random(1);
  const uint64_t words = StructureEnd() / 4;
  uint32_t ran = 0;
  for (int round = 0; round < static_cast<int>(4000 / Stride()); ++round) {
    Bytes bytes = Good();
    for (uint32_t change = 0; change < 1 + random() % 4; ++change) {
      // Past the section table, where a change is noticed soonest.
      const uint64_t to = 150 + random() % (words - 150), from = 150 + random() % (words - 150);
      memcpy(bytes.data() + to * 4, bytes.data() + from * 4, 4);
    }
    ran += BlobUser::Try(bytes).runs != 0;
  }
  EXPECT_GT(ran, 20u);
}

// The first operation with this code, what it makes, and table `i` of indices.
OperationRecord& Operation(Patch& p, OpCode code) {
  OperationRecord* operation = p.operations();
  while (operation->code != static_cast<uint32_t>(code)) ++operation;
  return *operation;
}
ValueRecord& Output(Patch& p, OpCode code) { return p.values()[Operation(p, code).output]; }
// Tables of integers: the buckets of attention, then those that arrange rows.
constexpr uint32_t kBuckets = 0, kArranged = 1, kArrangedToo = 2;
TensorRecord& Indices(Patch& p, uint32_t i) {
  TensorRecord* tensor = p.tensors();
  for (;; ++tensor) {
    if (tensor->type == static_cast<uint32_t>(DType::kI32) && i-- == 0) return *tensor;
  }
}
int32_t* IndicesOf(Patch& p, uint32_t i) {
  return reinterpret_cast<int32_t*>(p.records<uint8_t>(SectionKind::kWeights) + Indices(p, i).data);
}

struct Attack {
  const char* what;
  fovea_status status;
  std::function<void(Patch&)> change;
};

void ExpectStatuses(const std::vector<Attack>& attacks) {
  for (const Attack& attack : attacks) {
    Patch p;
    attack.change(p);
    const Use use = BlobUser::Try(p.bytes());
    EXPECT_EQ(use.status, attack.status) << attack.what << ": " << fovea_status_name(use.status) << ", "
                                         << (use.error.text == nullptr ? "" : use.error.text);
  }
}

TEST(Hostile, HeaderAndSections) {
  using K = SectionKind;
  ExpectStatuses({
      {"magic", FOVEA_E_MAGIC, [](Patch& p) { p.header().magic[7] = 'C'; }},
      {"version 0", FOVEA_E_VERSION, [](Patch& p) { p.header().version = 0; }},
      {"version 2", FOVEA_E_VERSION, [](Patch& p) { p.header().version = 2; }},
      {"checksum is not read", FOVEA_OK, [](Patch& p) { p.header().checksum ^= 1; }},
      {"larger than it is", FOVEA_E_TRUNCATED, [](Patch& p) { p.header().size += 1; }},
      {"larger than memory", FOVEA_E_TRUNCATED, [](Patch& p) { p.header().size = ~uint64_t{0}; }},
      {"no size", FOVEA_E_TRUNCATED, [](Patch& p) { p.header().size = 0; }},
      {"size of the header", FOVEA_E_TRUNCATED, [](Patch& p) { p.header().size = 64; }},
      {"too many sections", FOVEA_E_TOO_COMPLEX, [](Patch& p) { p.header().section_count = 65; }},
      {"very many sections", FOVEA_E_TOO_COMPLEX, [](Patch& p) { p.header().section_count = 0xffffffff; }},
      {"no sections", FOVEA_E_SECTION, [](Patch& p) { p.header().section_count = 0; }},
      {"trailing bytes are fine", FOVEA_OK, [](Patch& p) { p.bytes().resize(p.bytes().size() + 7); }},
      {"misaligned section", FOVEA_E_SECTION, [](Patch& p) { p.section(K::kValues).offset += 32; }},
      {"section in the header", FOVEA_E_SECTION, [](Patch& p) { p.table()[0].offset = 0; }},
      {"section in the table", FOVEA_E_SECTION, [](Patch& p) { p.table()[0].offset = 64; }},
      {"overlap", FOVEA_E_SECTION, [](Patch& p) { p.section(K::kSpaces).size += 64; }},
      {"same place", FOVEA_E_SECTION, [](Patch& p) { p.section(K::kValues).offset = p.section(K::kPrograms).offset; }},
      {"out of order", FOVEA_E_SECTION, [](Patch& p) { std::swap(p.table()[2], p.table()[3]); }},
      {"past the end", FOVEA_E_SECTION, [](Patch& p) { p.section(K::kWeights).size = p.bytes().size(); }},
      {"size overflows", FOVEA_E_SECTION, [](Patch& p) { p.section(K::kWeights).size = ~uint64_t{0} - 63; }},
      {"offset overflows", FOVEA_E_SECTION, [](Patch& p) { p.section(K::kWeights).offset = ~uint64_t{63}; }},
      {"twice", FOVEA_E_SECTION, [](Patch& p) { p.section(K::kMetadata).kind = K::kStrings; }},
      {"weights twice", FOVEA_E_SECTION, [](Patch& p) { p.section(K::kText).kind = K::kWeights; }},
      {"future kind", FOVEA_OK, [](Patch& p) { p.section(K::kMetadata).kind = static_cast<K>(4711); }},
      {"future kind", FOVEA_OK, [](Patch& p) { p.section(K::kText).kind = static_cast<K>(31); }},
      {"part of a record", FOVEA_E_SECTION, [](Patch& p) { p.section(K::kOperations).size -= 1; }},
      {"part of an operand", FOVEA_E_SECTION, [](Patch& p) { p.section(K::kOperands).size -= 2; }},
      {"empty strings", FOVEA_E_SECTION, [](Patch& p) { p.section(K::kStrings).size = 0; }},
      {"strings without an end", FOVEA_E_SECTION, [](Patch& p) { p.section(K::kStrings).size -= 1; }},
      {"text of no bytes", FOVEA_OK, [](Patch& p) { p.section(K::kText).size = 0; }},
      {"half a text", FOVEA_E_TEXT_DATA, [](Patch& p) { p.section(K::kText).size /= 2; }},
  });
  // Kinds that must be there, and those that need not.
  for (const K kind : {K::kStrings, K::kSpaces, K::kPrograms, K::kValues, K::kOperations, K::kOperands, K::kWeights}) {
    Patch p;
    p.section(kind).kind = static_cast<K>(99);
    EXPECT_EQ(BlobUser::Try(p.bytes()).status, FOVEA_E_SECTION) << NameOf(kind);
  }
  Patch p;
  p.section(K::kTensors).kind = static_cast<K>(99);
  EXPECT_EQ(BlobUser::Try(p.bytes()).status, FOVEA_E_RECORD);
  Patch q;
  q.section(K::kAttributes).kind = static_cast<K>(99);
  EXPECT_EQ(BlobUser::Try(q.bytes()).status, FOVEA_E_RECORD);
  // A right checksum does not make a wrong blob right; a wrong one counts only where it is read.
  Patch r;
  r.values()[0].space = 77;
  EXPECT_EQ(BlobUser::Try(r.bytes(), false).status, FOVEA_E_RECORD);
  r.header().checksum = Xxh64(r.bytes().data() + 64, r.bytes().size() - 64);
  EXPECT_EQ(BlobUser::Try(r.bytes(), false).status, FOVEA_E_RECORD);
  Patch s;
  s.header().checksum ^= 1;
  EXPECT_EQ(BlobUser::Try(s.bytes(), false).status, FOVEA_E_CHECKSUM);
}

TEST(Hostile, Records) {
  const fovea_status record = FOVEA_E_RECORD, shape = FOVEA_E_SHAPE, op = FOVEA_E_OP, complex = FOVEA_E_TOO_COMPLEX;
  ExpectStatuses({
      {"space without name", record, [](Patch& p) { p.spaces()[0].name = kBlobNone; }},
      {"space is its parent", record, [](Patch& p) { p.spaces()[1].parent = 1; }},
      {"parent comes later", record, [](Patch& p) { p.spaces()[1].parent = 2; }},
      {"no such parent", record, [](Patch& p) { p.spaces()[1].parent = 0x80000000; }},
      {"kind of space", op, [](Patch& p) { p.spaces()[2].kind = static_cast<SpaceKind>(kSpaceKindCount); }},
      {"source is itself", record, [](Patch& p) { p.spaces()[3].source = 3; }},
      {"source is none", record, [](Patch& p) { p.spaces()[3].source = kBlobNone; }},
      {"source of another parent", record, [](Patch& p) { p.spaces()[3].source = 1; }},
      {"no extra rows", record, [](Patch& p) { p.spaces()[3].extra = 0; }},
      {"all extra rows", record, [](Patch& p) { p.spaces()[3].extra = 0xffffffff; }},
      {"extra rows that prepend lacks", shape, [](Patch& p) { p.spaces()[3].extra = 1000; }},
      {"fixed segments of a root", record, [](Patch& p) { p.spaces()[5].parent = kBlobNone; }},
      {"fixed segments of no rows", record, [](Patch& p) { p.spaces()[5].extra = 0; }},
      {"fixed segments of too many rows", record, [](Patch& p) { p.spaces()[5].extra = kMaxRecords + 1; }},
      {"fixed segments that a table does not fit", shape, [](Patch& p) { p.spaces()[6].extra = 3; }},
      {"fixed segments shorter than a table says", shape, [](Patch& p) { p.spaces()[5].extra = 3; }},
      {"nested segments that a table does not fit", shape, [](Patch& p) { p.spaces()[9].extra = 4; }},
      {"nested segments of too many rows", shape, [](Patch& p) { p.spaces()[9].extra = kMaxRecords; }},
      {"nested segments in a root", shape, [](Patch& p) { p.spaces()[9].parent = 0; }},
      {"nested segments that are any number", shape, [](Patch& p) { p.spaces()[9].kind = SpaceKind::kInput; }},
      {"strides of one row", record, [](Patch& p) { p.spaces()[7].extra = 1; }},
      {"strides of too many rows", record, [](Patch& p) { p.spaces()[7].extra = kMaxRecords + 1; }},
      {"strides of itself", record, [](Patch& p) { p.spaces()[7].source = 7; }},
      {"strides of a later space", record, [](Patch& p) { p.spaces()[7].source = 8; }},
      {"strides of nothing", record, [](Patch& p) { p.spaces()[7].source = kBlobNone; }},
      {"strides of another parent", record, [](Patch& p) { p.spaces()[7].source = 1; }},
      {"extended, with rows at the front", record, [](Patch& p) { p.spaces()[3].first = 1; }},
      {"input, with rows at the end", record, [](Patch& p) { p.spaces()[2].last = 1; }},
      {"strides of another number of first rows", FOVEA_OK, [](Patch& p) { p.spaces()[7].first = 0xffff; }},
      {"strides of another number of last rows", FOVEA_OK, [](Patch& p) { p.spaces()[7].last = 0xffff; }},
      {"selected from itself", record, [](Patch& p) { p.spaces()[8].source = 8; }},
      {"selected from nothing", record, [](Patch& p) { p.spaces()[8].source = kBlobNone; }},
      {"selected from another parent", record, [](Patch& p) { p.spaces()[8].source = 0; }},
      {"children of what is no selection", record, [](Patch& p) { p.spaces()[12].parent = 1; }},
      {"children of another selection", record, [](Patch& p) { p.spaces()[12].parent = 8; }},
      {"children elsewhere", shape, [](Patch& p) { p.spaces()[12].source = 4; }},
      {"children's parents", record, [](Patch& p) { p.spaces()[12].source = 1; }},
      {"some of the children", record, [](Patch& p) { p.spaces()[12].extra = 1; }},
      {"children that the caller counts", record, [](Patch& p) { p.spaces()[12].kind = SpaceKind::kInput; }},
      {"children that are not chosen yet", record, [](Patch& p) { Output(p, OpCode::kFill).space = 12; }},
      {"what follows from them", record, [](Patch& p) { Output(p, OpCode::kFill).space = 13; }},
      {"input among the children", shape, [](Patch& p) { p.values()[2].space = 13; }},
      {"expand that makes floats", shape, [](Patch& p) { Output(p, OpCode::kExpand).type = 0; }},
      {"expand of ids", shape, [](Patch& p) { p.operands()[Operation(p, OpCode::kExpand).first_operand] = 0; }},
      {"queries of another parent", shape,
       [](Patch& p) { p.operands()[Operation(p, OpCode::kLexical).first_operand + 1] = 0; }},
      {"k1 below zero", shape,
       [](Patch& p) {
         AttributeRecord& b = p.attributes()[Operation(p, OpCode::kLexical).first_attribute];
         b = {static_cast<uint32_t>(Attribute::kK1), 0xbf800000};
       }},
      {"selected from another space", shape, [](Patch& p) { p.spaces()[8].source = 4; }},
      {"too many selected", record, [](Patch& p) { p.spaces()[8].extra = kMaxRecords + 1; }},
      {"indices that are floats", shape, [](Patch& p) { Indices(p, kArranged).type = 0; }},
      {"floats that are indices", shape, [](Patch& p) { p.tensors()[2].type = 4; }},
      {"bucket below 0", FOVEA_E_ID, [](Patch& p) { IndicesOf(p, kBuckets)[4] = -1; }},
      {"bucket of no row", FOVEA_E_ID, [](Patch& p) { IndicesOf(p, kBuckets)[0] = 3; }},
      {"index below -1", shape, [](Patch& p) { IndicesOf(p, kArranged)[7] = -2; }},
      {"index of no row", shape, [](Patch& p) { IndicesOf(p, kArranged)[7] = 4; }},
      {"large index", shape, [](Patch& p) { IndicesOf(p, kArranged)[0] = INT32_MAX; }},
      {"least index", shape, [](Patch& p) { IndicesOf(p, kArrangedToo)[3] = INT32_MIN; }},
      {"more indices than a segment has rows", shape, [](Patch& p) { Indices(p, kArranged).rows = 3; }},
      {"wider rows of indices", shape, [](Patch& p) { Indices(p, kArranged).width = 8; }},
      {"overlapping tables", record, [](Patch& p) { Indices(p, kArrangedToo).data = Indices(p, kArranged).data; }},
      {"selection that makes floats", shape, [](Patch& p) { Output(p, OpCode::kSelect).type = 0; }},
      {"gather that makes ids", shape, [](Patch& p) { Output(p, OpCode::kGather).type = 4; }},
      {"selection elsewhere", shape, [](Patch& p) { Output(p, OpCode::kSelect).space = 2; }},
      {"wide selection", shape, [](Patch& p) { Output(p, OpCode::kSelect).width = 2; }},
      {"nothing selects", record,
       [](Patch& p) {
         Output(p, OpCode::kSelect).type = 0;
         Operation(p, OpCode::kSelect).attribute_count = 0;
         Operation(p, OpCode::kSelect).code = 13;
       }},
      {"input among what is selected", shape, [](Patch& p) { p.values()[2].space = 8; }},
      {"gather by ids of the caller", shape,
       [](Patch& p) { p.operands()[Operation(p, OpCode::kGather).first_operand + 1] = 0; }},
      {"merge by ids of the caller", shape,
       [](Patch& p) { p.operands()[Operation(p, OpCode::kMerge).first_operand + 2] = 0; }},
      {"tensor without name", record, [](Patch& p) { p.tensors()[0].name = 0x7fffffff; }},
      {"type of tensor", op, [](Patch& p) { p.tensors()[0].type = 5; }},
      {"empty tensor", shape, [](Patch& p) { p.tensors()[0].rows = 0; }},
      {"tensor of no width", shape, [](Patch& p) { p.tensors()[0].width = 0; }},
      {"too wide", shape, [](Patch& p) { p.tensors()[0].width = kMaxWidth + 1; }},
      {"too many rows", shape, [](Patch& p) { p.tensors()[0].rows = 0x80000000; }},
      {"more rows than weights", record, [](Patch& p) { p.tensors()[0].rows = 0x7fffffff; }},
      {"largest tensor", record, [](Patch& p) { p.tensors()[2].rows = 0x7fffffff, p.tensors()[2].width = kMaxWidth; }},
      {"misaligned rows", record, [](Patch& p) { p.tensors()[0].data += 4; }},
      {"rows outside", record, [](Patch& p) { p.tensors()[0].data = ~uint64_t{63}; }},
      {"rows just outside", record,
       [](Patch& p) { p.tensors()[0].data = p.section(SectionKind::kWeights).size / 64 * 64; }},
      {"misaligned scales", record, [](Patch& p) { p.tensors()[0].scales += 2; }},
      {"scales outside", record, [](Patch& p) { p.tensors()[0].scales = ~uint64_t{63}; }},
      {"metadata", record, [](Patch& p) { p.records<MetadataRecord>(SectionKind::kMetadata)[1].value = 0xfffffffe; }},
      {"program without name", record, [](Patch& p) { p.programs()[1].name = kBlobNone; }},
      {"gap between programs", record, [](Patch& p) { p.programs()[1].first_operation += 1; }},
      {"overlapping programs", record, [](Patch& p) { p.programs()[1].first_value -= 1; }},
      {"too many values", record, [](Patch& p) { p.programs()[1].value_count = 0xffffffff; }},
      {"too many operations", record, [](Patch& p) { p.programs()[1].operation_count = 0xffffffff; }},
      {"values of no program", record,
       [](Patch& p) { p.programs()[1].value_count = 0, p.programs()[1].operation_count = 0; }},
      {"value without name", record, [](Patch& p) { p.values()[0].name = kBlobNone; }},
      {"space of a value", record, [](Patch& p) { p.values()[5].space = 14; }},
      {"no width", shape, [](Patch& p) { p.values()[5].width = 0; }},
      {"huge width", shape, [](Patch& p) { p.values()[5].width = kMaxWidth + 1; }},
      {"type of a value", shape, [](Patch& p) { p.values()[5].type = 1; }},
      {"cast to f32", shape, [](Patch& p) { Output(p, OpCode::kCast).type = 0; }},
      {"cast to another type", shape, [](Patch& p) { Output(p, OpCode::kCast).type = 1; }},
      {"cast to int4", shape, [](Patch& p) { Output(p, OpCode::kCast).type = 3; }},
      {"computed ids", shape, [](Patch& p) { p.values()[5].type = 4; }},
      {"role", record, [](Patch& p) { p.values()[5].role = static_cast<ValueRole>(4); }},
      {"an input of int8 without scales", shape, [](Patch& p) { p.second()[0].type = 2; }},
      {"an input of int8 with unequal parts", shape,
       [](Patch& p) { p.second()[0].type = 2, p.second()[0].detail = p.second()[0].width + 1; }},
      {"scales of floats", shape, [](Patch& p) { p.second()[0].detail = 1; }},
      {"f16 that is carried", shape, [](Patch& p) { p.second()[1].type = 1; }},
      {"carried by what does not exist", record, [](Patch& p) { p.second()[1].detail = 0xffffffff; }},
      {"carried by a value after the last", record, [](Patch& p) { p.second()[1].detail = 4; }},
      {"carried by itself", record, [](Patch& p) { p.second()[1].detail = 1; }},
      {"carried by an input", record, [](Patch& p) { p.second()[1].detail = 0; }},
      {"carried by what is no output", record, [](Patch& p) { p.second()[1].detail = 2; }},
      {"two carried by one", shape,
       [](Patch& p) { p.second()[0].role = ValueRole::kCarried, p.second()[0].detail = 3; }},
      {"two like it carried by one", record,
       [](Patch& p) { p.second()[0] = p.second()[1], p.second()[0].role = ValueRole::kCarried; }},
      {"carried by another width", shape, [](Patch& p) { p.second()[1].width = 8; }},
      {"carried by another type", shape, [](Patch& p) { p.second()[1].type = 4; }},
      {"carried by another space", shape, [](Patch& p) { p.second()[1].space = 1; }},
      {"output that would be carried", record, [](Patch& p) { p.second()[3].role = ValueRole::kCarried; }},
      {"late input", record, [](Patch& p) { p.values()[6].role = ValueRole::kInput; }},
      {"input that is none", record, [](Patch& p) { p.values()[2].role = ValueRole::kInternal; }},
      {"operation", op, [](Patch& p) { p.operations()[0].code = 0; }},
      {"operation", op, [](Patch& p) { p.operations()[0].code = 200; }},
      {"name of an operation", record, [](Patch& p) { p.operations()[0].name = 0xfffffffe; }},
      {"output", record, [](Patch& p) { p.operations()[1].output = 3; }},
      {"output elsewhere", record, [](Patch& p) { p.operations()[1].output = 0xffffffff; }},
      {"no inputs", record, [](Patch& p) { p.operations()[0].input_count = 0; }},
      {"many inputs", record, [](Patch& p) { p.operations()[0].input_count = 0xffffffff; }},
      {"many tensors", record, [](Patch& p) { p.operations()[0].tensor_count = 9; }},
      {"operands", record, [](Patch& p) { p.operations()[0].first_operand = 0xffffffff; }},
      {"operands at the end", record,
       [](Patch& p) {
         p.operations()[0].first_operand = static_cast<uint32_t>(p.section(SectionKind::kOperands).size / 4) - 3;
       }},
      {"reads itself", record, [](Patch& p) { p.operands()[p.operations()[1].first_operand] = 6; }},
      {"reads what comes later", record, [](Patch& p) { p.operands()[p.operations()[1].first_operand] = 0xffffffff; }},
      {"no such tensor", record, [](Patch& p) { p.operands()[p.operations()[1].first_operand + 1] = 1000; }},
      {"tensor of another type", shape, [](Patch& p) { p.operands()[p.operations()[1].first_operand + 1] = 0; }},
      {"attributes", record, [](Patch& p) { p.operations()[0].first_attribute = 0xffffffff; }},
      {"many attributes", record, [](Patch& p) { p.operations()[0].attribute_count = 33; }},
      {"very many attributes", record, [](Patch& p) { p.operations()[0].attribute_count = 0xffffffff; }},
      {"attribute", op, [](Patch& p) { p.attributes()[0].key = 5; }},
      {"attribute 32", op, [](Patch& p) { p.attributes()[0].key = 32 + 6; }},
      {"attribute 64", op, [](Patch& p) { p.attributes()[0].key = 64 + 6; }},
      {"last attribute", op, [](Patch& p) { p.attributes()[0].key = 0xffffffff; }},
      {"attribute is infinite", record, [](Patch& p) { p.attributes()[0].bits = 0x7f800000; }},
      {"attribute is NaN", record, [](Patch& p) { p.attributes()[0].bits = 0xffc00001; }},
  });
  (void)complex;
}

// Contents that are well formed and too much.
TEST(Hostile, Limits) {
  const auto status_of = [](const tools::BlobContent& content) {
    return BlobUser::Try(tools::WriteBlob(content)).status;
  };
  // Spaces that nest too deep.
  for (const uint32_t depth : {kMaxSpaceDepth, kMaxSpaceDepth + 1}) {
    ModelBuilder b;
    uint32_t space = b.Space("0");
    for (uint32_t i = 1; i < depth; ++i) space = b.Space(std::to_string(i), space);
    b.SetOutput(b.Op(OpCode::kScale, {b.Input("x", space, 1)}, {}, space, 1));
    EXPECT_EQ(status_of(b.content()), depth <= kMaxSpaceDepth ? FOVEA_OK : FOVEA_E_TOO_COMPLEX);
  }
  // Rows that a run selects: the caller says nothing about what follows from them, and somebody must select them.
  for (const SpaceKind kind :
       {SpaceKind::kInput, SpaceKind::kExtended, SpaceKind::kFixed, SpaceKind::kSelected, SpaceKind::kStrided}) {
    ModelBuilder b;
    const uint32_t root = b.Space("root"), rows = b.Space("rows", root), chosen = b.SelectedSpace("chosen", rows);
    const bool child = !SpaceHasSource(kind);
    b.content().spaces.push_back({"from", child ? chosen : root, kind, child ? kBlobNone : chosen, 2});
    b.SetOutput(b.Op(OpCode::kScale, {b.Input("x", rows, 1)}, {}, rows, 1));
    EXPECT_EQ(status_of(b.content()), kind == SpaceKind::kInput ? FOVEA_E_RECORD : FOVEA_OK)
        << static_cast<uint32_t>(kind);
    b.Op(OpCode::kFill, {}, {b.RandomTensor(1, 1)}, chosen + 1, 1);
    EXPECT_EQ(status_of(b.content()), FOVEA_E_RECORD) << static_cast<uint32_t>(kind);
  }
  // More records than the writer would write: sections of zeros.
  struct Case {
    SectionKind kind;
    uint64_t size;
    fovea_status status;
  };
  // Packed weights come last and may be absent, so they give way to a section; of another machine, any build has some.
  tools::BlobContent content = EveryOperation();
  content.packed = {{1, Bytes(64)}};
  const Bytes with_packed = tools::WriteBlob(content);
  for (const Case c : {Case{SectionKind::kSpaces, 65 * sizeof(SpaceRecord), FOVEA_E_TOO_COMPLEX},
                       {SectionKind::kPrograms, 65 * sizeof(ProgramRecord), FOVEA_E_TOO_COMPLEX},
                       {SectionKind::kPrograms, 0, FOVEA_E_TOO_COMPLEX},
                       {SectionKind::kOperations, (kMaxOperations + 1) * sizeof(OperationRecord), FOVEA_E_TOO_COMPLEX},
                       {SectionKind::kOperands, (uint64_t{kMaxRecords} + 1) * 4, FOVEA_E_TOO_COMPLEX},
                       {SectionKind::kMetadata, (uint64_t{kMaxRecords} + 1) * 8, FOVEA_E_TOO_COMPLEX}}) {
    Patch p(with_packed);
    // The section moves to the end, with the others after it dropped or kept before it as they were.
    SectionRecord moved = p.section(c.kind);
    const uint64_t end = RoundUp(p.bytes().size(), 64);
    p.section(c.kind).kind = static_cast<SectionKind>(98);
    moved.offset = end;
    moved.size = c.size;
    p.bytes().resize(end + RoundUp(c.size, 64));
    p.header().size = p.bytes().size();
    const uint32_t last = p.header().section_count - 1;
    ASSERT_EQ(p.table()[last].kind, SectionKind::kPacked);
    p.table()[last] = moved;
    const fovea_status status = BlobUser::Try(p.bytes()).status;
    EXPECT_EQ(status, c.status) << NameOf(c.kind) << " of " << c.size;
  }
  // Widths that together overflow every 32-bit size: refused, or sizes that are exact and large.
  ModelBuilder b;
  const uint32_t root = b.Space("root"), rows = b.Space("rows", root);
  uint32_t x = b.Input("x", rows, kMaxWidth);
  for (int i = 0; i < 40; ++i) {
    x = b.Op(OpCode::kScale, {x}, {}, rows, kMaxWidth);
    b.SetOutput(x);
  }
  const AlignedBytes blob = b.Blob();
  const TestModel model(b.Blob());
  const std::vector<fovea_limit> limits = {{root, INT32_MAX, 0}, {rows, INT32_MAX, 0}};
  const fovea_session_options options = Options(limits, 64, 1024);
  fovea_session_memory sizes = {};
  sizes.struct_size = sizeof(sizes);
  fovea_error error = {};
  const fovea_status status = fovea_session_size(model.model, &options, &sizes, &error);
  if (status == FOVEA_OK) {
    EXPECT_GE(sizes.scratch_size, uint64_t{41} * kMaxWidth * INT32_MAX * 4);
  } else {
    EXPECT_EQ(status, FOVEA_E_OPTION);  // where an address is 32 bits
  }
}

// As many operations, layers and packed sections as there may be: which layers are distinct is found without a walk
// over all operations before each.
TEST(Hostile, TimeOfTheMostLayers) {
  const GemmBackend& backend = XnnpackGemm() != nullptr ? *XnnpackGemm() : HighwayGemm();
  ModelBuilder b;
  const uint32_t root = b.Space("root"), rows = b.Space("rows", root);
  const uint32_t x = b.Input("x", rows, 1);
  std::vector<uint32_t> weights;
  for (uint32_t i = 0; i < kMaxLinears; ++i) weights.push_back(b.Tensor(1, 1, {static_cast<float>(i + 1)}));
  for (uint32_t i = 0; i < kMaxOperations; ++i) b.Op(OpCode::kLinear, {x}, {weights[i % kMaxLinears]}, rows, 1);
  // Sections that fit up to the last layer, which they lack.
  const PackedRecord record = {RoundUp(kMaxLinears * sizeof(PackedRecord), 64),
                               backend.packed_bytes({DType::kF32, 1, 1})};
  tools::BlobPacked packed = {backend.packed_layout(), std::vector<uint8_t>(record.offset + record.size)};
  for (uint32_t i = 0; i + 1 < kMaxLinears; ++i)
    memcpy(packed.bytes.data() + i * sizeof(record), &record, sizeof(record));
  b.content().packed.assign(40, packed);
  const AlignedBytes blob = b.Blob();
  const clock_t start = clock();
  uint64_t needed = 0;
  EXPECT_EQ(fovea_model_size(blob.data(), blob.size(), nullptr, &needed, nullptr), FOVEA_OK);
  EXPECT_LT(static_cast<double>(clock() - start) / CLOCKS_PER_SEC, 1.0);
  AlignedBytes memory(needed);
  fovea_model* model = nullptr;
  EXPECT_EQ(fovea_model_init(blob.data(), blob.size(), nullptr, memory.data(), needed, &model, nullptr), FOVEA_OK);
  fovea_model_info info = {};
  info.struct_size = sizeof(info);
  EXPECT_EQ(fovea_model_get_info(model, &info), FOVEA_OK);
  EXPECT_EQ(info.linear_count, kMaxLinears);
  EXPECT_EQ(info.uses_packed, record.size == 0 ? 1u : 0u);  // what packs nothing lacks nothing
}

// One phase of as many steps as there may be, each of which reads as many values as it may: what is kept of them is
// found in one walk.
TEST(Hostile, TimeOfTheLongestPhase) {
  for (const bool outputs : {false, true}) {
    ModelBuilder b;
    const uint32_t root = b.Space("root"), rows = b.Space("rows", root);
    std::vector<uint32_t> made = {b.Input("x", rows, 1)};
    for (uint32_t i = 0; i < kMaxOperations / 2; ++i) {
      std::vector<uint32_t> inputs;
      for (uint32_t k = 0; k < kMaxInputs; ++k) inputs.push_back(made[made.size() * k / kMaxInputs]);
      made.push_back(b.Op(OpCode::kConcat, inputs, {}, rows, kMaxInputs));
      made.back() = b.Op(OpCode::kSlice, {made.back()}, {}, rows, 1, {{Attribute::kWidth, 1}});
      if (outputs) b.SetOutput(made.back());
    }
    b.SetOutput(made.back());
    AlignedBytes blob = b.Blob();
    const clock_t start = clock();
    const TestModel model(std::move(blob));
    EXPECT_LT(static_cast<double>(clock() - start) / CLOCKS_PER_SEC, 2.0) << outputs;
  }
}

// An attacker's numbers: weights, scales and tables of NaN, infinity and extreme halves.
TEST(Hostile, NumbersInWeights) {
  for (const uint8_t fill : {0xff, 0x7f, 0x80, 0x00, 0x7c}) {
    Patch p;
    const SectionRecord& weights = p.section(SectionKind::kWeights);
    memset(p.bytes().data() + weights.offset, fill, weights.size);
    BlobUser::Try(p.bytes());
    Patch q;  // without packed weights that fit
    memset(q.bytes().data() + weights.offset, fill, weights.size);
    for (uint32_t i = 0; i < q.header().section_count; ++i) {
      if (q.table()[i].kind == SectionKind::kPacked) q.table()[i].layout ^= 2;
    }
    BlobUser::Try(q.bytes());
  }
}

// A packed section that says it fits this machine is trusted in its numbers alone, not in its table.
TEST(Hostile, PackedSection) {
  Patch good;
  bool packs = false;
  for (uint32_t i = 0; i < good.header().section_count; ++i) packs |= good.table()[i].kind == SectionKind::kPacked;
  if (!packs) GTEST_SKIP() << "this build packs nothing";
  const uint64_t records = good.section(SectionKind::kPacked).size;
  for (uint32_t record = 0; record < 6; ++record) {
    for (const uint64_t value : {uint64_t{0}, uint64_t{1}, uint64_t{63}, records, records - 64, ~uint64_t{0},
                                 ~uint64_t{63}, uint64_t{1} << 63}) {
      for (const bool size : {false, true}) {
        Patch p;
        PackedRecord& r = p.records<PackedRecord>(SectionKind::kPacked)[record];
        (size ? r.size : r.offset) = value;
        const Use use = BlobUser::Try(p.bytes());
        EXPECT_EQ(use.status, FOVEA_OK);
        EXPECT_EQ(use.runs, 8u);
      }
    }
  }
  for (const uint64_t size : {uint64_t{0}, uint64_t{1}, uint64_t{16}, uint64_t{17}, records / 2, records - 1}) {
    Patch p;
    p.section(SectionKind::kPacked).size = size;
    EXPECT_EQ(BlobUser::Try(p.bytes()).status, FOVEA_OK);
  }
  Patch p;
  memset(p.bytes().data() + p.section(SectionKind::kPacked).offset + 128, 0xff, 1024);
  EXPECT_EQ(BlobUser::Try(p.bytes()).status, FOVEA_OK);
}

}  // namespace
}  // namespace fovea::test
