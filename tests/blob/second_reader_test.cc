// The writer's bytes as the specification describes them, read by a reader that shares no code with the library.
#include "tests/support/second_reader.h"

#include <gtest/gtest.h>
#include <string.h>

#include "runtime/blob/checksum.h"
#include "tests/support/by_name.h"
#include "tests/support/random_floats.h"
#include "tools/base/fail.h"
#include "tools/blob/blob.h"
#include "tools/convert/quantize.h"

namespace fovea::test {
namespace {

tools::BlobTensor MakeTensor(const std::string& name, DType type, uint32_t rows, uint32_t width, uint32_t seed) {
  tools::BlobTensor tensor;
  tensor.name = name;
  tensor.type = type;
  tensor.rows = rows;
  tensor.width = width;
  tools::EncodeTensor(RandomFloats(size_t{rows} * width, 1, seed), tensor);
  return tensor;
}

tools::BlobContent MakeContent() {
  tools::BlobContent content;
  content.metadata = {{"task", "embedding"}, {"name", "text"}};
  content.spaces = {{"texts"},
                    {"tokens", 0},
                    {"rows", 0, SpaceKind::kExtended, 1, 3},
                    {"half", 0, SpaceKind::kStrided, 1, 2, 300, 7}};
  content.tensors = {MakeTensor("table", DType::kI8, 11, 7, 1), MakeTensor("half", DType::kF16, 3, 5, 2),
                     MakeTensor("nibbles", DType::kI4, 4, 64, 3), MakeTensor("bias", DType::kF32, 1, 7, 4)};
  tools::BlobProgram program;
  program.name = "encode";
  program.values = {
      {"ids", 1, 1, DType::kI32, ValueRole::kInput}, {"x", 1, 7}, {"y", 0, 7, DType::kF32, ValueRole::kOutput}};
  program.operations = {{1, "", 1, {0}, {0}, {{6, 0x40000000}}}, {10, "text", 2, {1}, {kBlobNone, 3}, {}}};
  content.programs = {program, program};
  content.programs[1].name = "again";
  content.text = {1, 2, 3};
  content.packed = {{77, {9, 9}}, {78, {}}};
  return content;
}

TEST(SecondReader, ReadsWhatTheWriterWrote) {
  const tools::BlobContent content = MakeContent();
  const std::vector<uint8_t> bytes = tools::WriteBlob(content);
  const ReadBlob blob = SecondReader(bytes);
  EXPECT_EQ(blob.version, 1u);
  EXPECT_EQ(blob.size, bytes.size());
  EXPECT_EQ(bytes.size() % 64, 0u);
  EXPECT_EQ(blob.checksum, Xxh64(bytes.data() + 64, bytes.size() - 64));
  EXPECT_EQ(blob.metadata, (std::map<std::string, std::string>{{"task", "embedding"}, {"name", "text"}}));

  ASSERT_EQ(blob.spaces.size(), 4u);
  EXPECT_EQ(ByName(blob.spaces, "texts").parent, kAbsent);
  EXPECT_EQ(ByName(blob.spaces, "tokens").parent, IndexOf(content.spaces, "texts"));
  const ReadSpace &rows = ByName(blob.spaces, "rows"), &half = ByName(blob.spaces, "half");
  EXPECT_EQ(rows.kind, 1u);
  EXPECT_EQ(rows.source, IndexOf(content.spaces, "tokens"));
  EXPECT_EQ(rows.extra, 3u);
  EXPECT_EQ(rows.first + rows.last, 0u);
  EXPECT_EQ(half.first, 300u);
  EXPECT_EQ(half.last, 7u);

  ASSERT_EQ(blob.tensors.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(blob.tensors[i].name, content.tensors[i].name);
    EXPECT_EQ(blob.tensors[i].values, tools::DecodeTensor(content.tensors[i])) << content.tensors[i].name;
  }

  ASSERT_EQ(blob.programs.size(), 2u);
  for (const ReadProgram& program : blob.programs) {
    ASSERT_EQ(program.values.size(), 3u);
    EXPECT_EQ(ByName(program.values, "ids").type, 4u);
    EXPECT_EQ(ByName(program.values, "y").role, 2u);
    ASSERT_EQ(program.operations.size(), 2u);
    const ReadOperation &embed = OperationFor(program, "x"), &pool = OperationFor(program, "y");
    EXPECT_EQ(embed.attributes, (std::map<uint32_t, uint32_t>{{6, 0x40000000}}));
    EXPECT_EQ(embed.name, "");
    EXPECT_EQ(pool.name, "text");
    EXPECT_EQ(pool.tensors, (std::vector<uint32_t>{kAbsent, IndexOf(content.tensors, "bias")}));
  }
  EXPECT_EQ(blob.text, content.text);
  ASSERT_EQ(blob.sections.size(), 13u);
  EXPECT_EQ(blob.sections[11].layout, 77u);
  EXPECT_EQ(blob.sections[12].size, 0u);
}

TEST(SecondReader, EqualTensorsAreStoredOnce) {
  tools::BlobContent content = MakeContent();
  const size_t once = tools::WriteBlob(content).size();
  const uint32_t nibbles = IndexOf(content.tensors, "nibbles"), copy = static_cast<uint32_t>(content.tensors.size());
  content.tensors.push_back(content.tensors[nibbles]);
  OperationFor(ByName(content.programs, "again"), "y").tensors = {copy};
  const std::vector<uint8_t> bytes = tools::WriteBlob(content);
  EXPECT_EQ(bytes.size(), once);
  const ReadBlob blob = SecondReader(bytes);
  EXPECT_EQ(blob.tensors.size(), 4u);
  EXPECT_EQ(OperationFor(ByName(blob.programs, "again"), "y").tensors, std::vector<uint32_t>{nibbles});
}

TEST(SecondReader, EqualBytesOfAnotherShapeAreAnotherTensor) {
  tools::BlobContent content = MakeContent();
  content.tensors.push_back(ByName(content.tensors, "bias"));
  content.tensors.back().name = "column";
  content.tensors.back().rows = 7;
  content.tensors.back().width = 1;
  const ReadBlob blob = SecondReader(tools::WriteBlob(content));
  ASSERT_EQ(blob.tensors.size(), 5u);
  EXPECT_EQ(ByName(blob.tensors, "column").data, ByName(blob.tensors, "bias").data);
  EXPECT_EQ(ByName(blob.tensors, "column").rows, 7u);
}

TEST(SecondReader, LimitsOfTheFormatAreKept) {
  tools::BlobContent content = MakeContent();
  content.spaces.resize(65, {"more"});
  EXPECT_THROW(tools::WriteBlob(content), tools::Failure);
  content = MakeContent();
  OperationFor(ByName(content.programs, "encode"), "x").inputs.assign(kMaxInputs + 1, 0);
  EXPECT_THROW(tools::WriteBlob(content), tools::Failure);
  content = MakeContent();
  ByName(content.tensors, "table").data.pop_back();
  EXPECT_THROW(tools::WriteBlob(content), tools::Failure);
  content = MakeContent();
  content.metadata.emplace_back("zero", std::string("a\0b", 3));
  EXPECT_THROW(tools::WriteBlob(content), tools::Failure);
}

TEST(Checksum, GivesThePublishedValues) {
  EXPECT_EQ(Xxh64("", 0), 0xef46db3751d8e999u);
  EXPECT_EQ(Xxh64("abc", 3), 0x44bc2cf5ad770999u);
}

}  // namespace
}  // namespace fovea::test
