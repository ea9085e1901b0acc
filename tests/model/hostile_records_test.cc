// Blobs whose header, sections or records contradict the format: each field with values that it must not have.
#include "runtime/blob/attributes.h"
#include "runtime/blob/checksum.h"
#include "runtime/blob/names.h"
#include "tests/model/patch.h"

namespace fovea::test {
namespace {

constexpr uint32_t Number(DType type) { return static_cast<uint32_t>(type); }

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
  // Section kinds that are required; the rest is optional.
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
  r.value("ids").space = 77;
  EXPECT_EQ(BlobUser::Try(r.bytes(), false).status, FOVEA_E_RECORD);
  r.header().checksum = Xxh64(r.bytes().data() + 64, r.bytes().size() - 64);
  EXPECT_EQ(BlobUser::Try(r.bytes(), false).status, FOVEA_E_RECORD);
  Patch s;
  s.header().checksum ^= 1;
  EXPECT_EQ(BlobUser::Try(s.bytes(), false).status, FOVEA_E_CHECKSUM);
}

TEST(Hostile, Records) {
  const fovea_status record = FOVEA_E_RECORD, shape = FOVEA_E_SHAPE, op = FOVEA_E_OP;
  ExpectStatuses({
      {"space without name", record, [](Patch& p) { p.space("documents").name = kBlobNone; }},
      {"space is its parent", record, [](Patch& p) { p.space("sentences").parent = SpaceIndex("sentences"); }},
      {"parent comes later", record, [](Patch& p) { p.space("sentences").parent = SpaceIndex("tokens"); }},
      {"no such parent", record, [](Patch& p) { p.space("sentences").parent = 0x80000000; }},
      {"kind of space", op, [](Patch& p) { p.space("tokens").kind = static_cast<SpaceKind>(kSpaceKindCount); }},
      {"source is itself", record, [](Patch& p) { p.space("longer").source = SpaceIndex("longer"); }},
      {"source is none", record, [](Patch& p) { p.space("longer").source = kBlobNone; }},
      {"source of another parent", record, [](Patch& p) { p.space("longer").source = SpaceIndex("sentences"); }},
      {"no extra rows", record, [](Patch& p) { p.space("longer").extra = 0; }},
      {"all extra rows", record, [](Patch& p) { p.space("longer").extra = 0xffffffff; }},
      {"extra rows that prepend lacks", shape, [](Patch& p) { p.space("longer").extra = 1000; }},
      {"fixed segments of a root", record, [](Patch& p) { p.space("pixels").parent = kBlobNone; }},
      {"fixed segments of no rows", record, [](Patch& p) { p.space("pixels").extra = 0; }},
      {"fixed segments of too many rows", record, [](Patch& p) { p.space("pixels").extra = kMaxRecords + 1; }},
      {"fixed segments that a table does not fit", shape, [](Patch& p) { p.space("patches").extra = 3; }},
      {"fixed segments shorter than their table", shape, [](Patch& p) { p.space("pixels").extra = 3; }},
      {"nested segments that a table does not fit", shape, [](Patch& p) { p.space("cells").extra = 4; }},
      {"nested segments of too many rows", shape, [](Patch& p) { p.space("cells").extra = kMaxRecords; }},
      {"nested segments in a root", shape, [](Patch& p) { p.space("cells").parent = SpaceIndex("documents"); }},
      {"nested segments that are any number", shape, [](Patch& p) { p.space("cells").kind = SpaceKind::kInput; }},
      {"strides of one row", record, [](Patch& p) { p.space("half").extra = 1; }},
      {"strides of too many rows", record, [](Patch& p) { p.space("half").extra = kMaxRecords + 1; }},
      {"strides of itself", record, [](Patch& p) { p.space("half").source = SpaceIndex("half"); }},
      {"strides of a later space", record, [](Patch& p) { p.space("half").source = SpaceIndex("chosen"); }},
      {"strides of nothing", record, [](Patch& p) { p.space("half").source = kBlobNone; }},
      {"strides of another parent", record, [](Patch& p) { p.space("half").source = SpaceIndex("sentences"); }},
      {"extended, with rows at the front", record, [](Patch& p) { p.space("longer").first = 1; }},
      {"input, with rows at the end", record, [](Patch& p) { p.space("tokens").last = 1; }},
      {"strides of another number of first rows", FOVEA_OK, [](Patch& p) { p.space("half").first = 0xffff; }},
      {"strides of another number of last rows", FOVEA_OK, [](Patch& p) { p.space("half").last = 0xffff; }},
      {"selected from itself", record, [](Patch& p) { p.space("chosen").source = SpaceIndex("chosen"); }},
      {"selected from nothing", record, [](Patch& p) { p.space("chosen").source = kBlobNone; }},
      {"selected from another parent", record, [](Patch& p) { p.space("chosen").source = SpaceIndex("documents"); }},
      {"children of what is no selection", record,
       [](Patch& p) { p.space("of_best").parent = SpaceIndex("sentences"); }},
      {"children of another selection", record, [](Patch& p) { p.space("of_best").parent = SpaceIndex("chosen"); }},
      {"children elsewhere", shape, [](Patch& p) { p.space("of_best").source = SpaceIndex("others"); }},
      {"children's parents", record, [](Patch& p) { p.space("of_best").source = SpaceIndex("sentences"); }},
      {"some of the children", record, [](Patch& p) { p.space("of_best").extra = 1; }},
      {"children that the caller counts", record, [](Patch& p) { p.space("of_best").kind = SpaceKind::kInput; }},
      {"children that are not chosen yet", record, [](Patch& p) { p.output("fill").space = SpaceIndex("of_best"); }},
      {"what follows from them", record, [](Patch& p) { p.output("fill").space = SpaceIndex("longest"); }},
      {"input among the children", shape, [](Patch& p) { p.value("other").space = SpaceIndex("longest"); }},
      {"expand that makes floats", shape, [](Patch& p) { p.output("expand").type = Number(DType::kF32); }},
      {"expand of ids", shape, [](Patch& p) { p.input("expand", 0) = ValueIndex("ids"); }},
      {"queries of another parent", shape, [](Patch& p) { p.input("lexical", 1) = ValueIndex("ids"); }},
      {"k1 below zero", shape,
       [](Patch& p) {
         AttributeRecord& b = p.attribute("lexical", 0);
         b = {static_cast<uint32_t>(Attribute::kK1), 0xbf800000};
       }},
      {"selected from another space", shape, [](Patch& p) { p.space("chosen").source = SpaceIndex("others"); }},
      {"too many selected", record, [](Patch& p) { p.space("chosen").extra = kMaxRecords + 1; }},
      {"indices that are floats", shape, [](Patch& p) { p.indices(Patch::kArranged).type = Number(DType::kF32); }},
      {"floats that are indices", shape, [](Patch& p) { p.tensor("position", 0).type = Number(DType::kI32); }},
      {"bucket below 0", FOVEA_E_ID, [](Patch& p) { p.index_data(Patch::kBuckets)[4] = -1; }},
      {"bucket of no row", FOVEA_E_ID, [](Patch& p) { p.index_data(Patch::kBuckets)[0] = 3; }},
      {"index below -1", shape, [](Patch& p) { p.index_data(Patch::kArranged)[7] = -2; }},
      {"index of no row", shape, [](Patch& p) { p.index_data(Patch::kArranged)[7] = 4; }},
      {"large index", shape, [](Patch& p) { p.index_data(Patch::kArranged)[0] = INT32_MAX; }},
      {"least index", shape, [](Patch& p) { p.index_data(Patch::kArrangedAgain)[3] = INT32_MIN; }},
      {"more indices than a segment has rows", shape, [](Patch& p) { p.indices(Patch::kArranged).rows = 3; }},
      {"wider rows of indices", shape, [](Patch& p) { p.indices(Patch::kArranged).width = 8; }},
      {"overlapping tables", record,
       [](Patch& p) { p.indices(Patch::kArrangedAgain).data = p.indices(Patch::kArranged).data; }},
      {"selection that makes floats", shape, [](Patch& p) { p.output("select").type = Number(DType::kF32); }},
      {"gather that makes ids", shape, [](Patch& p) { p.output("gather").type = Number(DType::kI32); }},
      {"selection elsewhere", shape, [](Patch& p) { p.output("select").space = SpaceIndex("tokens"); }},
      {"wide selection", shape, [](Patch& p) { p.output("select").width = 2; }},
      {"nothing selects", record,
       [](Patch& p) {
         p.output("select").type = Number(DType::kF32);
         p.operation("select").attribute_count = 0;
         p.operation("select").code = OperationCode("scale");
       }},
      {"input among what is selected", shape, [](Patch& p) { p.value("other").space = SpaceIndex("chosen"); }},
      {"gather by ids of the caller", shape, [](Patch& p) { p.input("gather", 1) = ValueIndex("ids"); }},
      {"merge by ids of the caller", shape, [](Patch& p) { p.input("merge", 2) = ValueIndex("ids"); }},
      {"tensor without name", record, [](Patch& p) { p.tensor("embed", 0).name = 0x7fffffff; }},
      {"type of tensor", op, [](Patch& p) { p.tensor("embed", 0).type = Number(DType::kBf16); }},
      {"empty tensor", shape, [](Patch& p) { p.tensor("embed", 0).rows = 0; }},
      {"tensor of no width", shape, [](Patch& p) { p.tensor("embed", 0).width = 0; }},
      {"too wide", shape, [](Patch& p) { p.tensor("embed", 0).width = kMaxWidth + 1; }},
      {"too many rows", shape, [](Patch& p) { p.tensor("embed", 0).rows = 0x80000000; }},
      {"more rows than weights", record, [](Patch& p) { p.tensor("embed", 0).rows = 0x7fffffff; }},
      {"largest tensor", record,
       [](Patch& p) { p.tensor("position", 0).rows = 0x7fffffff, p.tensor("position", 0).width = kMaxWidth; }},
      {"misaligned rows", record, [](Patch& p) { p.tensor("embed", 0).data += 4; }},
      {"rows outside", record, [](Patch& p) { p.tensor("embed", 0).data = ~uint64_t{63}; }},
      {"rows just outside", record,
       [](Patch& p) { p.tensor("embed", 0).data = p.section(SectionKind::kWeights).size / 64 * 64; }},
      {"misaligned scales", record, [](Patch& p) { p.tensor("embed", 0).scales += 2; }},
      {"scales outside", record, [](Patch& p) { p.tensor("embed", 0).scales = ~uint64_t{63}; }},
      {"metadata", record, [](Patch& p) { p.records<MetadataRecord>(SectionKind::kMetadata)[1].value = 0xfffffffe; }},
      {"program without name", record, [](Patch& p) { p.second().name = kBlobNone; }},
      {"gap between programs", record, [](Patch& p) { p.second().first_operation += 1; }},
      {"overlapping programs", record, [](Patch& p) { p.second().first_value -= 1; }},
      {"too many values", record, [](Patch& p) { p.second().value_count = 0xffffffff; }},
      {"too many operations", record, [](Patch& p) { p.second().operation_count = 0xffffffff; }},
      {"values of no program", record, [](Patch& p) { p.second().value_count = 0, p.second().operation_count = 0; }},
      {"value without name", record, [](Patch& p) { p.value("ids").name = kBlobNone; }},
      {"space of a value", record,
       [](Patch& p) { p.output("embed").space = static_cast<uint32_t>(Everything().spaces.size()); }},
      {"no width", shape, [](Patch& p) { p.output("embed").width = 0; }},
      {"huge width", shape, [](Patch& p) { p.output("embed").width = kMaxWidth + 1; }},
      {"type of a value", shape, [](Patch& p) { p.output("embed").type = Number(DType::kF16); }},
      {"cast to f32", shape, [](Patch& p) { p.output("cast").type = Number(DType::kF32); }},
      {"cast to another type", shape, [](Patch& p) { p.output("cast").type = Number(DType::kF16); }},
      {"cast to int4", shape, [](Patch& p) { p.output("cast").type = Number(DType::kI4); }},
      {"computed ids", shape, [](Patch& p) { p.output("embed").type = Number(DType::kI32); }},
      {"role", record, [](Patch& p) { p.output("embed").role = static_cast<ValueRole>(4); }},
      {"an input of int8 without scales", shape, [](Patch& p) { p.second("x").type = Number(DType::kI8); }},
      {"an input of int8 with unequal parts", shape,
       [](Patch& p) { p.second("x").type = Number(DType::kI8), p.second("x").detail = p.second("x").width + 1; }},
      {"scales of floats", shape, [](Patch& p) { p.second("x").detail = 1; }},
      {"f16 that is carried", shape, [](Patch& p) { p.second("sum").type = Number(DType::kF16); }},
      {"carried by what does not exist", record, [](Patch& p) { p.second("sum").detail = 0xffffffff; }},
      {"carried by a value after the last", record, [](Patch& p) { p.second("sum").detail = p.second().value_count; }},
      {"carried by itself", record, [](Patch& p) { p.second("sum").detail = Patch::IndexInSecond("sum"); }},
      {"carried by an input", record, [](Patch& p) { p.second("sum").detail = Patch::IndexInSecond("x"); }},
      {"carried by what is no output", record, [](Patch& p) { p.second("sum").detail = Patch::IndexInSecond("y"); }},
      {"two carried by one", shape,
       [](Patch& p) {
         p.second("x").role = ValueRole::kCarried, p.second("x").detail = Patch::IndexInSecond("next sum");
       }},
      {"two like it carried by one", record,
       [](Patch& p) { p.second("x") = p.second("sum"), p.second("x").role = ValueRole::kCarried; }},
      {"carried by another width", shape, [](Patch& p) { p.second("sum").width = 8; }},
      {"carried by another type", shape, [](Patch& p) { p.second("sum").type = Number(DType::kI32); }},
      {"carried by another space", shape, [](Patch& p) { p.second("sum").space = SpaceIndex("sentences"); }},
      {"output that would be carried", record, [](Patch& p) { p.second("next sum").role = ValueRole::kCarried; }},
      {"late input", record, [](Patch& p) { p.output("position").role = ValueRole::kInput; }},
      {"input that is none", record, [](Patch& p) { p.value("other").role = ValueRole::kInternal; }},
      {"operation", op, [](Patch& p) { p.operation("embed").code = 0; }},
      {"operation", op, [](Patch& p) { p.operation("embed").code = 200; }},
      {"name of an operation", record, [](Patch& p) { p.operation("embed").name = 0xfffffffe; }},
      {"output", record, [](Patch& p) { p.operation("position").output = ValueIndex("pixel"); }},
      {"output elsewhere", record, [](Patch& p) { p.operation("position").output = 0xffffffff; }},
      {"no inputs", record, [](Patch& p) { p.operation("embed").input_count = 0; }},
      {"many inputs", record, [](Patch& p) { p.operation("embed").input_count = 0xffffffff; }},
      {"many tensors", record, [](Patch& p) { p.operation("embed").tensor_count = 9; }},
      {"operands", record, [](Patch& p) { p.operation("embed").first_operand = 0xffffffff; }},
      {"operands at the end", record,
       [](Patch& p) {
         p.operation("embed").first_operand = static_cast<uint32_t>(p.section(SectionKind::kOperands).size / 4) - 3;
       }},
      {"reads itself", record, [](Patch& p) { p.input("position", 0) = p.operation("position").output; }},
      {"reads what comes later", record, [](Patch& p) { p.input("position", 0) = 0xffffffff; }},
      {"no such tensor", record, [](Patch& p) { p.tensor_operand("position", 0) = 1000; }},
      {"tensor of another type", shape,
       [](Patch& p) { p.tensor_operand("position", 0) = p.tensor_operand("embed", 0); }},
      {"attributes", record, [](Patch& p) { p.operation("embed").first_attribute = 0xffffffff; }},
      {"many attributes", record, [](Patch& p) { p.operation("embed").attribute_count = 33; }},
      {"very many attributes", record, [](Patch& p) { p.operation("embed").attribute_count = 0xffffffff; }},
      {"attribute", op, [](Patch& p) { p.attribute("embed", 0).key = 5; }},
      {"attribute 32", op, [](Patch& p) { p.attribute("embed", 0).key = 32 + 6; }},
      {"attribute 64", op, [](Patch& p) { p.attribute("embed", 0).key = 64 + 6; }},
      {"last attribute", op, [](Patch& p) { p.attribute("embed", 0).key = 0xffffffff; }},
      {"attribute is infinite", record, [](Patch& p) { p.attribute("embed", 0).bits = 0x7f800000; }},
      {"attribute is NaN", record, [](Patch& p) { p.attribute("embed", 0).bits = 0xffc00001; }},
  });
}

}  // namespace
}  // namespace fovea::test
