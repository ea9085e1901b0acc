// Safetensors files: written and read back, and malformed headers.
#include "tools/safetensors/safetensors.h"

#include <gtest/gtest.h>
#include <string.h>

#include <cmath>
#include <filesystem>

#include "tools/base/fail.h"
#include "tools/base/half.h"

namespace fovea::tools {
namespace {

std::string File(const std::string& header, size_t data) {
  const uint64_t size = header.size();
  return std::string(reinterpret_cast<const char*>(&size), 8) + header + std::string(data, '\1');
}

StoredTensors Parse(const std::string& file) {
  return ParseSafetensors(reinterpret_cast<const uint8_t*>(file.data()), file.size(), "file");
}

std::string Refusal(const std::string& file) {
  try {
    Parse(file);
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "";
}

TEST(Safetensors, ReadsWhatItWrote) {
  const std::vector<float> floats = {1.5f, -2, 3, 0, 1e-30f, 7};
  const std::vector<int64_t> integers = {-1, 1ll << 40};
  const uint16_t halves[] = {0x3c00, 0xc000}, brains[] = {0x3f80, 0xc000};
  const int8_t bytes[] = {-1, 2, 3};
  SafetensorsWriter writer;
  writer.AddFloats("f", {2, 3}, floats.data());
  writer.Add("odd", ElementType::kI8, {3}, bytes);
  writer.AddIntegers("i", {2}, integers.data());
  writer.Add("half", ElementType::kF16, {2, 1}, halves);
  writer.Add("brain", ElementType::kBF16, {2}, brains);
  writer.AddFloats("scalar", {}, floats.data());
  writer.AddFloats("empty", {0, 4}, nullptr);
  const std::string file = writer.Bytes();
  const StoredTensors tensors = Parse(file);
  ASSERT_EQ(tensors.size(), 7u);
  EXPECT_EQ(ToFloats(tensors.at("f")), floats);
  EXPECT_EQ(tensors.at("f").shape, (std::vector<uint64_t>{2, 3}));
  EXPECT_EQ(ToIntegers(tensors.at("i")), integers);
  EXPECT_EQ(ToIntegers(tensors.at("odd")), (std::vector<int64_t>{-1, 2, 3}));
  EXPECT_EQ(ToFloats(tensors.at("half")), (std::vector<float>{1, -2}));
  EXPECT_EQ(ToFloats(tensors.at("brain")), (std::vector<float>{1, -2}));
  EXPECT_EQ(ToFloats(tensors.at("scalar")), std::vector<float>{1.5f});
  EXPECT_TRUE(ToFloats(tensors.at("empty")).empty());
  EXPECT_THROW(ToIntegers(tensors.at("f")), Failure);
  EXPECT_THROW(SafetensorsWriter(writer).AddFloats("f", {1}, floats.data()), Failure) << "twice";
}

TEST(Safetensors, RefusesHeadersThatLie) {
  const struct {
    const char* header;
    size_t data;
    const char* reason;
  } cases[] = {
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 7, "outside"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", 8, "outside"},
      {R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", 8, "does not take"},
      {R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0, "does not take"},
      {R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", 8, "shape"},
      {R"({"a":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}})", 8, "shape"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,18446744073709551616]}})", 8, "data_offsets"},
      {R"({"a":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2],"data_offsets":[0,8]}})", 8, "dimensions"},
      {R"({"a":{"dtype":"C64","shape":[1],"data_offsets":[0,8]}})", 8, "C64"},
      {R"({"a":{"dtype":"F32","shape":[2]}})", 8, "needs"},
      {R"({"a":7})", 8, "needs"},
      {R"([])", 8, "object"},
      {R"({"a":)", 8, "JSON"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":[3,7]}})",
       8, "overlap"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"a":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})",
       8, "twice"},
  };
  for (const auto& c : cases) {
    EXPECT_NE(Refusal(File(c.header, c.data)).find(c.reason), std::string::npos)
        << c.header << ": " << Refusal(File(c.header, c.data));
  }
  EXPECT_NE(Refusal("short"), "");
  std::string file = File("{}", 0);
  file[7] = '\x7f';
  EXPECT_NE(Refusal(file), "");
  // Every truncation of a good file is refused.
  const std::vector<float> floats = {1, 2};
  SafetensorsWriter writer;
  writer.AddFloats("a", {2}, floats.data());
  const std::string good = writer.Bytes();
  for (size_t size = 0; size < good.size(); ++size) EXPECT_NE(Refusal(good.substr(0, size)), "") << size;
}

TEST(Safetensors, ShardedFiles) {
  const std::filesystem::path directory = std::filesystem::path(testing::TempDir()) / "shards";
  std::filesystem::create_directories(directory);
  const float one = 1, two = 2;
  SafetensorsWriter first, second;
  first.AddFloats("a", {1}, &one);
  second.AddFloats("b", {1}, &two);
  first.Write(directory / "1.safetensors");
  second.Write(directory / "2.safetensors");
  const auto index = [&](const std::string& text) {
    WriteFile(directory / "model.safetensors.index.json", text.data(), text.size());
    return SafetensorsReader(directory / "model.safetensors.index.json");
  };
  const SafetensorsReader both = index(R"({"weight_map":{"a":"1.safetensors","b":"2.safetensors"}})");
  EXPECT_EQ(ToFloats(both.Get("b")), std::vector<float>{2});
  EXPECT_EQ(both.Find("c"), nullptr);
  EXPECT_THROW(both.Get("c"), Failure);
  EXPECT_THROW(index(R"({"weight_map":{"a":"../1.safetensors"}})"), Failure);
  EXPECT_THROW(index(R"({"weight_map":{"a":"3.safetensors"}})"), Failure);
  EXPECT_THROW(index(R"({"weights":{}})"), Failure);
  std::filesystem::remove_all(directory);
}

TEST(Half, RoundsToNearestEven) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = FromHalf(half);
    if (std::isnan(value)) continue;
    EXPECT_EQ(ToHalf(value), half);
    // Just above and below the middle to the next one.
    const float next = FromHalf(static_cast<uint16_t>(half + 1));
    if ((half & 0x7fff) >= 0x7bff || std::isinf(next)) continue;
    const float middle = (value + next) / 2;
    EXPECT_EQ(ToHalf(middle), half % 2 == 0 ? half : half + 1);
    EXPECT_EQ(ToHalf(std::nextafterf(middle, next)), half + 1);
    EXPECT_EQ(ToHalf(std::nextafterf(middle, value)), half);
  }
  EXPECT_EQ(ToHalf(65520), 0x7c00);
  EXPECT_EQ(ToBf16(FromBf16(0x3f81) + 1e-9f), 0x3f81);
}

}  // namespace
}  // namespace fovea::tools
