// A damaged or malicious blob gives an error or a harmless model: every byte changed, every length, every field at its
// extremes. Sanitizers see what the memory of exact sizes in BlobUser is for.
#include <time.h>

#include <random>
#include <tuple>

#include "runtime/blob/attributes.h"
#include "runtime/blob/checksum.h"
#include "runtime/blob/names.h"
#include "runtime/gemm/gemm.h"
#include "tests/model/patch.h"
#include "tests/model/use_blob.h"
#include "tests/support/every_operation.h"
#include "tests/support/fewer_cases.h"

namespace fovea::test {
namespace {

// Fewer cases: each ninth byte or word is changed, which in some record is each field, as records hold 8 to 64.
uint64_t Stride() { return FewerCases() ? 9 : 1; }

// End of the header, section table and records: all bytes but weights and long tables.
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
    b.SetOutput(b.Op("scale", {b.Input("x", space, 1)}, {}, space, 1));
    EXPECT_EQ(status_of(b.content()), depth <= kMaxSpaceDepth ? FOVEA_OK : FOVEA_E_TOO_COMPLEX);
  }
  // Spaces of rows that a run selects: the caller does not set the spaces derived from them, and some operation must
  // select their rows.
  for (const SpaceKind kind :
       {SpaceKind::kInput, SpaceKind::kExtended, SpaceKind::kFixed, SpaceKind::kSelected, SpaceKind::kStrided}) {
    ModelBuilder b;
    const uint32_t root = b.Space("root"), rows = b.Space("rows", root), chosen = b.SelectedSpace("chosen", rows);
    const bool child = !SpaceHasSource(kind);
    b.content().spaces.push_back({"from", child ? chosen : root, kind, child ? kBlobNone : chosen, 2});
    b.SetOutput(b.Op("scale", {b.Input("x", rows, 1)}, {}, rows, 1));
    EXPECT_EQ(status_of(b.content()), kind == SpaceKind::kInput ? FOVEA_E_RECORD : FOVEA_OK)
        << static_cast<uint32_t>(kind);
    b.Op("fill", {}, {b.RandomTensor(1, 1)}, chosen + 1, 1);
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
    // The section moves to the end; the sections after it are dropped or kept before it, unchanged.
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
    x = b.Op("scale", {x}, {}, rows, kMaxWidth);
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
  for (uint32_t i = 0; i < kMaxOperations; ++i) b.Op("linear", {x}, {weights[i % kMaxLinears]}, rows, 1);
  // Sections that fit up to the last layer, whose record is too large.
  const PackedRecord record = {RoundUp(kMaxLinears * sizeof(PackedRecord), 64),
                               backend.packed_bytes({DType::kF32, 1, 1})};
  tools::BlobPacked packed = {backend.packed_layout(), std::vector<uint8_t>(record.offset + record.size)};
  for (uint32_t i = 0; i < kMaxLinears; ++i) {
    const PackedRecord of_layer = {record.offset, record.size + (i + 1 == kMaxLinears ? kBlobAlignment : 0)};
    memcpy(packed.bytes.data() + i * sizeof(of_layer), &of_layer, sizeof(of_layer));
  }
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
  EXPECT_EQ(info.uses_packed, 0u);
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
      made.push_back(b.Op("concat", inputs, {}, rows, kMaxInputs));
      made.back() = b.Op("slice", {made.back()}, {}, rows, 1, {{Attribute::kWidth, 1}});
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

// A packed section that claims to fit this machine is trusted in its numbers alone, not in its table.
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
