// The float types of eight bits and unsigned integers of safetensors files.
#include <gtest/gtest.h>

#include <cmath>

#include "tools/base/fail.h"
#include "tools/base/half.h"
#include "tools/safetensors/safetensors.h"

namespace fovea::tools {
namespace {

std::vector<float> AsFloats(ElementType type, const std::vector<uint8_t>& bytes) {
  SafetensorsWriter writer;
  writer.Add("t", type, {bytes.size()}, bytes.data());
  const std::string file = writer.Bytes();
  return ToFloats(ParseSafetensors(reinterpret_cast<const uint8_t*>(file.data()), file.size(), "file").at("t"));
}

// From the formats' tables: one, the largest, the smallest normal and subnormal numbers.
TEST(FloatsOfEightBits, HaveTheValuesOfTheirTables) {
  EXPECT_EQ(AsFloats(ElementType::kF8E4M3, {0x00, 0x38, 0xb8, 0x7e, 0xfe, 0x08, 0x01, 0x07, 0x39, 0x3f}),
            (std::vector<float>{0, 1, -1, 448, -448, 0x1p-6f, 0x1p-9f, 0.875f * 0x1p-6f, 1.125f, 1.875f}));
  EXPECT_EQ(AsFloats(ElementType::kF8E5M2, {0x00, 0x3c, 0xbc, 0x7b, 0x04, 0x01, 0x3d, 0x7c}),
            (std::vector<float>{0, 1, -1, 57344, 0x1p-14f, 0x1p-16f, 1.25f, INFINITY}));
  EXPECT_EQ(AsFloats(ElementType::kF8E8M0, {127, 128, 126, 0, 254}),
            (std::vector<float>{1, 2, 0.5f, 0x1p-127f, 0x1p127f}));
  for (const auto& [type, bits] :
       {std::pair{ElementType::kF8E4M3, 0x7f}, {ElementType::kF8E5M2, 0xfd}, {ElementType::kF8E8M0, 0xff}}) {
    EXPECT_TRUE(std::isnan(AsFloats(type, {static_cast<uint8_t>(bits)})[0]));
  }
}

// Every number of five exponent bits is the upper half of an f16.
TEST(FloatsOfEightBits, FiveExponentBitsAreAHalfOfAHalf) {
  for (int bits = 0; bits < 256; ++bits) {
    const float found = AsFloats(ElementType::kF8E5M2, {static_cast<uint8_t>(bits)})[0];
    const float expected = FromHalf(static_cast<uint16_t>(bits << 8));
    EXPECT_TRUE(found == expected || (std::isnan(found) && std::isnan(expected))) << bits;
  }
}

TEST(FloatsOfEightBits, UnsignedIntegersAreNotNegative) {
  EXPECT_EQ(AsFloats(ElementType::kU8, {255}), std::vector<float>{255});
  const uint32_t words[] = {0xffffffff, 7};
  const uint16_t shorts[] = {0xffff, 7};
  SafetensorsWriter writer;
  writer.Add("words", ElementType::kU32, {2}, words);
  writer.Add("shorts", ElementType::kU16, {2}, shorts);
  writer.Add("real", ElementType::kF8E4M3, {2}, words);
  const std::string file = writer.Bytes();
  const StoredTensors tensors = ParseSafetensors(reinterpret_cast<const uint8_t*>(file.data()), file.size(), "file");
  EXPECT_EQ(ToIntegers(tensors.at("words")), (std::vector<int64_t>{0xffffffffll, 7}));
  EXPECT_EQ(ToIntegers(tensors.at("shorts")), (std::vector<int64_t>{0xffff, 7}));
  EXPECT_THROW(ToIntegers(tensors.at("real")), Failure);
}

}  // namespace
}  // namespace fovea::tools
