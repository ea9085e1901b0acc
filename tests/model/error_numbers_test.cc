// Numbers in errors, which callers act upon: needed and found, and the index of the operation, value or tensor.
#include <functional>
#include <string>

#include "runtime/blob/checksum.h"
#include "tests/support/by_name.h"
#include "tests/support/model_builder.h"

namespace fovea::test {
namespace {

using Content = tools::BlobContent;

// x, y = linear(x) and z = x + y; spaces of every kind but selected ones; a second program carries a sum. Operations
// have the name of their output.
Content Good() {
  ModelBuilder b;
  const uint32_t root = b.Space("root"), rows = b.Space("rows", root);
  b.FixedSpace("fixed", root, 4);
  b.ExtendedSpace("extended", rows, 2);
  b.StridedSpace("strided", rows, 2, 1, 1);
  const uint32_t x = b.Input("x", rows, 8);
  const uint32_t y = b.Op("linear", {x}, {b.RandomTensor(8, 8), b.RandomTensor(1, 8)}, rows, 8, {}, "y");
  b.SetOutput(b.Op("add", {x, y}, {}, rows, 8, {}, "z"));
  b.NextProgram("sums");
  const uint32_t more = b.Input("more", rows, 8), sum = b.Input("sum", rows, 8);
  b.Carry(sum, b.Op("add", {more, sum}, {}, rows, 8, {}, "next"));
  return b.content();
}

// Handles: the indices that errors report.
uint32_t Space(const char* name) {
  static const Content good = Good();
  return IndexOf(good.spaces, name);
}
uint32_t Value(const char* program, const char* name) {
  static const Content good = Good();
  return IndexOf(ByName(good.programs, program).values, name);
}
uint32_t Operation(const char* name) {
  static const Content good = Good();
  return IndexOf(ByName(good.programs, "main").operations, name);
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
      {"its own parent",
       {kRecord, Space("rows"), Space("rows")},
       [](Content& c) { ByName(c.spaces, "rows").parent = Space("rows"); }},
      {"a later parent",
       {kRecord, Space("rows"), Space("strided")},
       [](Content& c) { ByName(c.spaces, "rows").parent = Space("strided"); }},
      {"kind", {kOp, 5, 6}, [](Content& c) { ByName(c.spaces, "extended").kind = static_cast<SpaceKind>(6); }},
      {"its own source",
       {kRecord, Space("extended"), Space("extended")},
       [](Content& c) { ByName(c.spaces, "extended").source = Space("extended"); }},
      {"a later source",
       {kRecord, Space("extended"), Space("strided")},
       [](Content& c) { ByName(c.spaces, "extended").source = Space("strided"); }},
      {"a source elsewhere",
       {kRecord, Space("extended"), Space("root")},
       [](Content& c) { ByName(c.spaces, "extended").source = Space("root"); }},
      {"fixed at no rows", {kRecord, kMaxRecords, 0}, [](Content& c) { ByName(c.spaces, "fixed").extra = 0; }},
      {"fixed at many rows",
       {kRecord, kMaxRecords, kMaxRecords + 1},
       [](Content& c) { ByName(c.spaces, "fixed").extra = kMaxRecords + 1; }},
      {"extended by nothing", {kRecord, kMaxRecords, 0}, [](Content& c) { ByName(c.spaces, "extended").extra = 0; }},
      {"strides of one row", {kRecord, kMaxRecords, 1}, [](Content& c) { ByName(c.spaces, "strided").extra = 1; }},
      {"first rows of another kind", {kRecord, 0, 3}, [](Content& c) { ByName(c.spaces, "extended").first = 3; }},
      {"last rows of another kind", {kRecord, 0, 2}, [](Content& c) { ByName(c.spaces, "extended").last = 2; }},
  });
  for (const uint32_t depth : {kMaxSpaceDepth, kMaxSpaceDepth + 1}) {
    Content c = Good();
    uint32_t parent = Space("rows");  // at depth 2
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
  const auto value = [](Content& c, const char* program, const char* name) -> tools::BlobValue& {
    return ByName(ByName(c.programs, program).values, name);
  };
  const auto count = [](const char* program) {
    static const Content good = Good();
    return static_cast<uint32_t>(ByName(good.programs, program).values.size());
  };
  const uint32_t spaces = static_cast<uint32_t>(Good().spaces.size());
  const uint32_t none = FOVEA_NOWHERE;
  ExpectNumbers({
      {"space",
       {kRecord, spaces, spaces, none, Value("main", "x")},
       [&](Content& c) { value(c, "main", "x").space = spaces; }},
      {"no width",
       {kShape, kMaxWidth, 0, none, Value("main", "y")},
       [&](Content& c) { value(c, "main", "y").width = 0; }},
      {"large width",
       {kShape, kMaxWidth, kMaxWidth + 1, none, Value("main", "z")},
       [&](Content& c) { value(c, "main", "z").width = kMaxWidth + 1; }},
      {"role",
       {kRecord, 3, 4, none, Value("main", "y")},
       [&](Content& c) { value(c, "main", "y").role = static_cast<ValueRole>(4); }},
      {"late input",
       {kRecord, 1, Value("main", "z"), none, Value("main", "z")},
       [&](Content& c) { value(c, "main", "z").role = ValueRole::kInput; }},
      {"carried as a cast's type",
       {kShape, 0, 1, none, Value("sums", "sum")},
       [&](Content& c) { value(c, "sums", "sum").type = DType::kF16; }},
      {"carried by none",
       {kRecord, count("sums"), count("sums"), none, Value("sums", "sum")},
       [&](Content& c) { value(c, "sums", "sum").carried_by = count("sums"); }},
      {"carried by an input",
       {kRecord, count("sums"), Value("sums", "more"), none, Value("sums", "sum")},
       [&](Content& c) { value(c, "sums", "sum").carried_by = Value("sums", "more"); }},
      {"carried by another width",
       {kShape, 4, 8, none, Value("sums", "sum")},
       [&](Content& c) { value(c, "sums", "sum").width = 4; }},
      {"carried twice",
       {kRecord, Value("sums", "more"), Value("sums", "next"), none, Value("sums", "sum")},
       [&](Content& c) {
         value(c, "sums", "more").role = ValueRole::kCarried;
         value(c, "sums", "more").carried_by = Value("sums", "next");
       }},
      {"more operations than values",
       {kRecord, 2, 1},
       [&](Content& c) {
         ByName(c.programs, "main").operations.pop_back(), value(c, "main", "z").role = ValueRole::kOutput;
       }},
  });
}

TEST(ErrorNumbers, Operations) {
  const auto op = [](Content& c, const char* name) -> tools::BlobOperation& {
    return ByName(ByName(c.programs, "main").operations, name);
  };
  const uint32_t linear = Operation("y"), add = Operation("z");
  const uint32_t x = Value("main", "x"), y = Value("main", "y"), z = Value("main", "z"), end = z + 1;
  ExpectNumbers({
      {"output", {kRecord, y, z, linear}, [&](Content& c) { op(c, "y").output = z; }},
      {"output of another program", {kRecord, end, end, linear}, [&](Content& c) { op(c, "y").output = end; }},
      {"reads itself", {kRecord, y, y, linear}, [&](Content& c) { op(c, "y").inputs = {y}; }},
      {"reads a later value",
       {kRecord, z, z, add},
       [&](Content& c) {
         op(c, "z").inputs = {x, z};
       }},
      {"no inputs", {kRecord, 2, 0, add}, [&](Content& c) { op(c, "z").inputs = {}; }},
      {"three inputs",
       {kRecord, 2, 3, add},
       [&](Content& c) {
         op(c, "z").inputs = {x, y, x};
       }},
      {"no tensors", {kRecord, 1, 0, linear}, [&](Content& c) { op(c, "y").tensors = {}; }},
      {"three tensors",
       {kRecord, 2, 3, linear},
       [&](Content& c) {
         const std::vector<uint32_t> both = op(c, "y").tensors;
         op(c, "y").tensors = {both[0], both[1], both[1]};
       }},
      {"type",
       {kShape, 0, 4, add},
       [&](Content& c) { ByName(ByName(c.programs, "main").values, "z").type = DType::kI32; }},
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
