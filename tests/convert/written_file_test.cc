// Blobs that are written tensor by tensor have the bytes of blobs that are made in memory.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <math.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <filesystem>

#include "runtime/blob/checksum.h"
#include "tests/support/paths.h"
#include "tests/support/random_floats.h"
#include "tests/support/second_reader.h"
#include "tools/base/fail.h"
#include "tools/base/mapped_file.h"
#include "tools/convert/convert.h"
#include "tools/convert/description.h"

namespace fovea::tools {
namespace {

std::string InTemp(const std::string& name) {
  return testing::TempDir() + fmt::format("written_file_test_{}.", getpid()) + name;
}

std::vector<uint8_t> Content(const std::string& path) {
  const std::string bytes = ReadFile(path);
  std::filesystem::remove(path);
  return {bytes.begin(), bytes.end()};
}

TEST(WrittenFile, HasTheBytesOfMemory) {
  ConvertOptions options;
  options.input = test::InSource("tests/data/hf/bert");
  for (const DType type : {DType::kF32, DType::kF16, DType::kI8, DType::kI4}) {
    for (const bool calibrate : {true, false}) {
      for (const Comparison compare : {Comparison::kNone, Comparison::kQuick}) {
        options.weights = type;
        options.calibrate = calibrate;
        options.compare = compare;
        options.output = "";
        ConvertReport in_memory;
        const std::vector<uint8_t> expected = BuildBlob(Describe(options), options, in_memory);
        options.output = InTemp("bert");
        const ConvertReport written = Convert(options);
        EXPECT_EQ(Content(options.output), expected);
        EXPECT_EQ(written.blob_bytes, expected.size());
        EXPECT_EQ(written.weight_bytes, in_memory.weight_bytes);
        EXPECT_EQ(written.outputs.size(), in_memory.outputs.size());
        EXPECT_EQ(written.calibrated.empty(), !calibrate || type == DType::kF32 || type == DType::kF16);
        EXPECT_FALSE(std::filesystem::exists(options.output + ".part"));
      }
    }
  }
}

// More than is read at a time; tensors of the same bytes leave a shorter table, and all weights move down.
TEST(WrittenFile, OfSeveralParts) {
  BlobContent content;
  content.spaces = {{"rows"}};
  const std::vector<float> values = test::RandomFloats(301 * 1001, 1, 3);
  for (const uint32_t rows : {301u, 7u, 301u, 300u, 7u, 301u}) {
    BlobTensor tensor;
    tensor.name = "t" + std::to_string(content.tensors.size());
    tensor.rows = rows;
    tensor.width = 1001;
    EncodeTensor({values.begin(), values.begin() + rows * 1001}, tensor);
    content.tensors.push_back(tensor);
  }
  const std::vector<uint8_t> expected = WriteBlob(content);
  uint64_t checksum;
  memcpy(&checksum, expected.data() + offsetof(BlobHeader, checksum), sizeof(checksum));
  EXPECT_EQ(checksum, Xxh64(expected.data() + sizeof(BlobHeader), expected.size() - sizeof(BlobHeader)));
  BlobFile file(InTemp("parts"));
  WriteBlob(
      content, [&](size_t i, BlobTensor& tensor) { tensor = content.tensors[i]; }, file);
  file.Keep();
  EXPECT_EQ(Content(InTemp("parts")), expected);
  const test::ReadBlob read = test::SecondReader(expected);
  ASSERT_EQ(read.tensors.size(), 3u);
  for (const test::ReadTensor& tensor : read.tensors) {
    EXPECT_EQ(tensor.values, std::vector<float>(values.begin(), values.begin() + tensor.rows * 1001)) << tensor.name;
  }
}

TEST(WrittenFile, StaysAsItWasWhereConvertingFails) {
  const std::string path = InTemp("kept");
  WriteFile(path, "before", 6);
  BlobContent content;
  content.spaces = {{"rows"}};
  content.tensors.resize(2);
  for (BlobTensor& tensor : content.tensors) tensor.rows = tensor.width = 4;
  const auto fail_at_second = [](size_t index, BlobTensor& tensor) {
    EncodeTensor(std::vector<float>(16, index == 0 ? 1.0f : INFINITY), tensor);
  };
  EXPECT_THROW(
      {
        BlobFile file(path);
        WriteBlob(content, fail_at_second, file);
      },
      Failure);
  EXPECT_EQ(ReadFile(path), "before");
  EXPECT_FALSE(std::filesystem::exists(path + ".part"));
  std::filesystem::remove(path);
  EXPECT_THROW(BlobFile(InTemp("none/such")), Failure);
}

}  // namespace
}  // namespace fovea::tools
