// What an error says was needed and found, and of which step, value or tensor: the numbers that a caller acts upon.
#include <functional>
#include <string>

#include "runtime/blob/checksum.h"
#include "tests/support/model_builder.h"

namespace fovea::test {
namespace {

using Content = tools::BlobContent;

// x, y = linear(x) and z = x + y; spaces of every kind but selected ones; a second program carries a sum.
Content Good() {
  ModelBuilder b;
  const uint32_t root = b.Space("root"), rows = b.Space("rows", root);
  b.FixedSpace("fixed", root, 4);
  b.ExtendedSpace("extended", rows, 2);
  b.StridedSpace("strided", rows, 2, 1, 1);
  const uint32_t x = b.Input("x", rows, 8);
  const uint32_t y = b.Op("linear", {x}, {b.RandomTensor(8, 8), b.RandomTensor(1, 8)}, rows, 8);
  b.SetOutput(b.Op("add", {x, y}, {}, rows, 8));
  b.NextProgram("sums");
  const uint32_t more = b.Input("more", rows, 8), sum = b.Input("sum", rows, 8);
  b.Carry(sum, b.Op("add", {more, sum}, {}, rows, 8));
  return b.content();
}

fovea_error Verify(const AlignedBytes& blob, uint64_t size) {
  fovea_error error = {};
  EXPECT_EQ(fovea_blob_verify(blob.data(), size, &error), error.status);
  return error;
}
fovea_error Verify(const Content& content) {
  const AlignedBytes blob(tools::WriteBlob(content));
  return Verify(blob, blob.size());
}

struct Wanted {
  fovea_status status;
  uint64_t expected, found;
  uint32_t step = FOVEA_NOWHERE, tensor = FOVEA_NOWHERE;
};
struct Spoil {
  const char* what;
  Wanted wanted;
  std::function<void(Content&)> change;
};

void ExpectNumbers(const std::vector<Spoil>& all) {
  for (const Spoil& spoil : all) {
    Content content = Good();
    spoil.change(content);
    const fovea_error error = Verify(content);
    const std::string what = std::string(spoil.what) + ": " + (error.text == nullptr ? "accepted" : error.text);
    EXPECT_EQ(error.status, spoil.wanted.status) << what;
    EXPECT_EQ(error.expected, spoil.wanted.expected) << what;
    EXPECT_EQ(error.found, spoil.wanted.found) << what;
    EXPECT_EQ(error.step, spoil.wanted.step) << what;
    EXPECT_EQ(error.tensor, spoil.wanted.tensor) << what;
    EXPECT_EQ(error.section, FOVEA_NOWHERE) << what;
  }
}

constexpr uint32_t kLostString = 1u << 30;
constexpr fovea_status kRecord = FOVEA_E_RECORD, kShape = FOVEA_E_SHAPE, kOp = FOVEA_E_OP;

TEST(ErrorNumbers, Spaces) {
  ASSERT_EQ(Verify(Good()).status, FOVEA_OK);
  ExpectNumbers({
      {"its own parent", {kRecord, 1, 1}, [](Content& c) { c.spaces[1].parent = 1; }},
      {"a later parent", {kRecord, 1, 4}, [](Content& c) { c.spaces[1].parent = 4; }},
      {"kind", {kOp, 5, 6}, [](Content& c) { c.spaces[3].kind = static_cast<SpaceKind>(6); }},
      {"its own source", {kRecord, 3, 3}, [](Content& c) { c.spaces[3].source = 3; }},
      {"a later source", {kRecord, 3, 4}, [](Content& c) { c.spaces[3].source = 4; }},
      {"a source elsewhere", {kRecord, 3, 0}, [](Content& c) { c.spaces[3].source = 0; }},
      {"fixed at no rows", {kRecord, kMaxRecords, 0}, [](Content& c) { c.spaces[2].extra = 0; }},
      {"fixed at many rows",
       {kRecord, kMaxRecords, kMaxRecords + 1},
       [](Content& c) { c.spaces[2].extra = kMaxRecords + 1; }},
      {"extended by nothing", {kRecord, kMaxRecords, 0}, [](Content& c) { c.spaces[3].extra = 0; }},
      {"strides of one row", {kRecord, kMaxRecords, 1}, [](Content& c) { c.spaces[4].extra = 1; }},
      {"first rows of another kind", {kRecord, 0, 3}, [](Content& c) { c.spaces[3].first = 3; }},
      {"last rows of another kind", {kRecord, 0, 2}, [](Content& c) { c.spaces[3].last = 2; }},
  });
  for (const uint32_t depth : {kMaxSpaceDepth, kMaxSpaceDepth + 1}) {
    Content c = Good();
    uint32_t parent = 1;  // at depth 2
    for (uint32_t i = 2; i < depth; ++i, parent = static_cast<uint32_t>(c.spaces.size() - 1)) {
      c.spaces.push_back({"deeper", parent});
    }
    const fovea_error error = Verify(c);
    EXPECT_EQ(error.status, depth == kMaxSpaceDepth ? FOVEA_OK : FOVEA_E_TOO_COMPLEX);
    EXPECT_EQ(error.expected, depth == kMaxSpaceDepth ? 0 : kMaxSpaceDepth);
    EXPECT_EQ(error.found, depth == kMaxSpaceDepth ? 0 : depth);
  }
}

TEST(ErrorNumbers, Values) {
  const auto value = [](Content& c, size_t program, size_t i) -> tools::BlobValue& {
    return c.programs[program].values[i];
  };
  const uint32_t none = FOVEA_NOWHERE;
  ExpectNumbers({
      {"space", {kRecord, 5, 5, none, 0}, [&](Content& c) { value(c, 0, 0).space = 5; }},
      {"no width", {kShape, kMaxWidth, 0, none, 1}, [&](Content& c) { value(c, 0, 1).width = 0; }},
      {"large width",
       {kShape, kMaxWidth, kMaxWidth + 1, none, 2},
       [&](Content& c) { value(c, 0, 2).width = kMaxWidth + 1; }},
      {"role", {kRecord, 3, 4, none, 1}, [&](Content& c) { value(c, 0, 1).role = static_cast<ValueRole>(4); }},
      {"late input", {kRecord, 1, 2, none, 2}, [&](Content& c) { value(c, 0, 2).role = ValueRole::kInput; }},
      {"carried as a cast's type", {kShape, 0, 1, none, 1}, [&](Content& c) { value(c, 1, 1).type = DType::kF16; }},
      {"carried by none", {kRecord, 3, 3, none, 1}, [&](Content& c) { value(c, 1, 1).carried_by = 3; }},
      {"carried by an input", {kRecord, 3, 0, none, 1}, [&](Content& c) { value(c, 1, 1).carried_by = 0; }},
      {"carried by another width", {kShape, 4, 8, none, 1}, [&](Content& c) { value(c, 1, 1).width = 4; }},
      {"carried twice",
       {kRecord, 0, 2, none, 1},
       [&](Content& c) {
         value(c, 1, 0).role = ValueRole::kCarried;
         value(c, 1, 0).carried_by = 2;
       }},
      {"more operations than values",
       {kRecord, 2, 1},
       [&](Content& c) { c.programs[0].operations.pop_back(), c.programs[0].values[2].role = ValueRole::kOutput; }},
  });
}

TEST(ErrorNumbers, Operations) {
  const auto op = [](Content& c, size_t i) -> tools::BlobOperation& { return c.programs[0].operations[i]; };
  ExpectNumbers({
      {"output", {kRecord, 1, 2, 0}, [&](Content& c) { op(c, 0).output = 2; }},
      {"output of another program", {kRecord, 3, 3, 0}, [&](Content& c) { op(c, 0).output = 3; }},
      {"reads itself", {kRecord, 1, 1, 0}, [&](Content& c) { op(c, 0).inputs = {1}; }},
      {"reads a later value", {kRecord, 2, 2, 1}, [&](Content& c) { op(c, 1).inputs[1] = 2; }},
      {"no inputs", {kRecord, 2, 0, 1}, [&](Content& c) { op(c, 1).inputs = {}; }},
      {"three inputs",
       {kRecord, 2, 3, 1},
       [&](Content& c) {
         op(c, 1).inputs = {0, 1, 0};
       }},
      {"no tensors", {kRecord, 1, 0, 0}, [&](Content& c) { op(c, 0).tensors = {}; }},
      {"three tensors",
       {kRecord, 2, 3, 0},
       [&](Content& c) {
         op(c, 0).tensors = {0, 1, 1};
       }},
      {"type", {kShape, 0, 4, 1}, [&](Content& c) { c.programs[0].values[2].type = DType::kI32; }},
  });
}

TEST(ErrorNumbers, Header) {
  Content content = Good();
  content.metadata.emplace_back("key", "value");
  const AlignedBytes good(tools::WriteBlob(content));
  const uint64_t size = good.size();
  const auto expect = [](const fovea_error& error, fovea_status status, uint64_t expected, uint64_t found) {
    EXPECT_EQ(error.status, status) << error.text;
    EXPECT_EQ(error.expected, expected) << error.text;
    EXPECT_EQ(error.found, found) << error.text;
  };
  expect(Verify(good, 63), FOVEA_E_TRUNCATED, 64, 63);
  expect(Verify(good, size - 1), FOVEA_E_TRUNCATED, size, size - 1);
  const auto with = [&](const std::function<void(BlobHeader&)>& change) {
    AlignedBytes bad(size);
    memcpy(bad.data(), good.data(), size);
    change(*reinterpret_cast<BlobHeader*>(bad.data()));
    return Verify(bad, size);
  };
  const uint64_t checksum = reinterpret_cast<const BlobHeader*>(good.data())->checksum;
  expect(with([](BlobHeader& h) { h.version = kBlobVersion + 1; }), FOVEA_E_VERSION, kBlobVersion, kBlobVersion + 1);
  expect(with([](BlobHeader& h) { h.section_count = kMaxSections + 1; }), FOVEA_E_TOO_COMPLEX, kMaxSections,
         kMaxSections + 1);
  expect(with([](BlobHeader& h) { h.checksum ^= 1; }), FOVEA_E_CHECKSUM, checksum ^ 1, checksum);
  // A record of a section that refers to a string after the last one.
  const auto lost = [&](SectionKind kind, uint64_t byte) {
    AlignedBytes bad(size);
    memcpy(bad.data(), good.data(), size);
    auto& header = *reinterpret_cast<BlobHeader*>(bad.data());
    const auto* sections = reinterpret_cast<const SectionRecord*>(bad.data() + sizeof(BlobHeader));
    uint64_t strings = 0;
    for (uint32_t i = 0; i < header.section_count; ++i) {
      if (sections[i].kind == SectionKind::kStrings) strings = sections[i].size;
      if (sections[i].kind == kind) memcpy(bad.data() + sections[i].offset + byte, &kLostString, sizeof(kLostString));
    }
    header.checksum = Xxh64(bad.data() + sizeof(BlobHeader), size - sizeof(BlobHeader));
    expect(Verify(bad, size), FOVEA_E_RECORD, strings, kLostString);
  };
  lost(SectionKind::kMetadata, offsetof(MetadataRecord, key));
  lost(SectionKind::kMetadata, offsetof(MetadataRecord, value));
  lost(SectionKind::kSpaces, offsetof(SpaceRecord, name));
  AlignedBytes moved(size + 64);
  memcpy(moved.data() + 8, good.data(), size);
  fovea_error error = {};
  EXPECT_EQ(fovea_blob_verify(moved.data() + 8, size, &error), FOVEA_E_MISALIGNED);
  expect(error, FOVEA_E_MISALIGNED, 64, 8);
}

}  // namespace
}  // namespace fovea::test
