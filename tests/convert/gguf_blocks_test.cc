// Blocks of GGUF's element types: packed here from numbers and scales as the format describes, their values are those
// numbers times those scales.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <random>

#include "tests/convert/graph_support.h"
#include "tests/support/gguf_writer.h"
#include "tools/base/half.h"
#include "tools/base/mapped_file.h"
#include "tools/gguf/gguf.h"

namespace fovea::test {
namespace {

using tools::RefusalOf;

struct Block {
  std::string bytes;
  std::vector<double> values;
};

// The format computes in f32: every product and difference is rounded.
double Single(double value) { return static_cast<double>(static_cast<float>(value)); }

class Packer {
 public:
  int Up(int bound) { return static_cast<int>(random_() % static_cast<uint32_t>(bound)); }

  // A scale that f16 represents, of any sign; appended if `to` is not null.
  double Scale(std::string* to) {
    const double value = (Up(2) == 0 ? 1 : -1) * std::ldexp(1024 + Up(1024), Up(20) - 24);
    if (to != nullptr) *to += Raw(tools::ToHalf(static_cast<float>(value)));
    return value;
  }

  // Two groups of 16 numbers: low nibbles, high nibbles.
  static std::string Nibbles(const std::vector<int>& numbers) {
    std::string bytes;
    for (size_t i = 0; i < 16; ++i) bytes += static_cast<char>((numbers[i] & 15) | (numbers[i + 16] & 15) << 4);
    return bytes;
  }

  std::vector<int> Numbers(size_t count, int bound) {
    std::vector<int> numbers;
    for (size_t i = 0; i < count; ++i) numbers.push_back(Up(bound));
    return numbers;
  }

 private:
  std::mt19937 random_{7};
};

Block Q4_1(Packer& p) {
  Block b;
  const double scale = p.Scale(&b.bytes), offset = p.Scale(&b.bytes);
  const std::vector<int> numbers = p.Numbers(32, 16);
  b.bytes += Packer::Nibbles(numbers);
  for (const int number : numbers) b.values.push_back(Single(Single(number * scale) + offset));
  return b;
}

std::string FifthBits(const std::vector<int>& numbers) {
  uint32_t bits = 0;
  for (size_t i = 0; i < 32; ++i) bits += static_cast<uint32_t>(numbers[i] / 16) << i;
  return Raw(bits);
}

Block Q5_0(Packer& p) {
  Block b;
  const double scale = p.Scale(&b.bytes);
  const std::vector<int> numbers = p.Numbers(32, 32);
  b.bytes += FifthBits(numbers) + Packer::Nibbles(numbers);
  for (const int number : numbers) b.values.push_back(Single((number - 16) * scale));
  return b;
}

Block Q5_1(Packer& p) {
  Block b;
  const double scale = p.Scale(&b.bytes), offset = p.Scale(&b.bytes);
  const std::vector<int> numbers = p.Numbers(32, 32);
  b.bytes += FifthBits(numbers) + Packer::Nibbles(numbers);
  for (const int number : numbers) b.values.push_back(Single(Single(number * scale) + offset));
  return b;
}

Block Q8_1(Packer& p) {
  Block b;
  const double scale = p.Scale(&b.bytes);
  p.Scale(&b.bytes);  // the sum
  for (const int number : p.Numbers(32, 256)) {
    b.bytes += static_cast<char>(number - 128);
    b.values.push_back(Single((number - 128) * scale));
  }
  return b;
}

Block Q8_K(Packer& p) {
  Block b;
  const double scale = p.Scale(nullptr);
  b.bytes = Raw(static_cast<float>(scale));
  for (const int number : p.Numbers(256, 256)) {
    b.bytes += static_cast<char>(number - 128);
    b.values.push_back(Single((number - 128) * scale));
  }
  b.bytes += std::string(32, 'x');  // sums
  return b;
}

// 256 numbers of two bits: for each half, numbers i, i + 32, i + 64 and i + 96 share byte i.
std::string Pairs(const std::vector<int>& numbers) {
  std::string bytes;
  for (size_t half = 0; half < 256; half += 128) {
    for (size_t i = 0; i < 32; ++i) {
      int byte = 0;
      for (size_t part = 4; part-- > 0;) byte = byte * 4 + numbers[half + part * 32 + i];
      bytes += static_cast<char>(byte);
    }
  }
  return bytes;
}

Block Q2_K(Packer& p) {
  Block b;
  const std::vector<int> scales = p.Numbers(16, 16), offsets = p.Numbers(16, 16), numbers = p.Numbers(256, 4);
  for (size_t i = 0; i < 16; ++i) b.bytes += static_cast<char>(scales[i] + 16 * offsets[i]);
  b.bytes += Pairs(numbers);
  const double scale = p.Scale(&b.bytes), offset = p.Scale(&b.bytes);
  for (size_t i = 0; i < 256; ++i) {
    b.values.push_back(Single(Single(Single(scale * scales[i / 16]) * numbers[i]) - Single(offset * offsets[i / 16])));
  }
  return b;
}

Block Q3_K(Packer& p) {
  Block b;
  const std::vector<int> scales = p.Numbers(16, 64), numbers = p.Numbers(256, 8);
  std::string mask(32, '\0'), packed(12, '\0');
  std::vector<int> low;
  for (size_t i = 0; i < 256; ++i) {
    low.push_back(numbers[i] % 4);
    if (numbers[i] >= 4) mask[i % 32] = static_cast<char>(mask[i % 32] | 1 << (i / 32));
  }
  for (size_t i = 0; i < 16; ++i) {
    packed[i % 8] = static_cast<char>(packed[i % 8] | (scales[i] % 16) << (i < 8 ? 0 : 4));
    packed[8 + i % 4] = static_cast<char>(packed[8 + i % 4] | scales[i] / 16 << (2 * (i / 4)));
  }
  b.bytes = mask + Pairs(low) + packed;
  const double scale = p.Scale(&b.bytes);
  for (size_t i = 0; i < 256; ++i) {
    b.values.push_back(Single(Single(scale * (scales[i / 16] - 32)) * (numbers[i] - 4)));
  }
  return b;
}

Block Q5_K(Packer& p) {
  Block b;
  const double scale = p.Scale(&b.bytes), offset = p.Scale(&b.bytes);
  const std::vector<int> scales = p.Numbers(8, 64), offsets = p.Numbers(8, 64), numbers = p.Numbers(256, 32);
  std::string packed(12, '\0'), high(32, '\0'), low;
  for (size_t i = 0; i < 4; ++i) {
    packed[i] = static_cast<char>(scales[i] | scales[i + 4] / 16 << 6);
    packed[i + 4] = static_cast<char>(offsets[i] | offsets[i + 4] / 16 << 6);
    packed[i + 8] = static_cast<char>(scales[i + 4] % 16 | offsets[i + 4] % 16 << 4);
  }
  for (size_t i = 0; i < 256; ++i) high[i % 32] = static_cast<char>(high[i % 32] | numbers[i] / 16 << (i / 32));
  for (size_t at = 0; at < 256; at += 64) {
    for (size_t i = at; i < at + 32; ++i) low += static_cast<char>(numbers[i] % 16 | numbers[i + 32] % 16 << 4);
  }
  b.bytes += packed + high + low;
  for (size_t i = 0; i < 256; ++i) {
    b.values.push_back(Single(Single(Single(scale * scales[i / 32]) * numbers[i]) - Single(offset * offsets[i / 32])));
  }
  return b;
}

// The published tables.
constexpr double kNonLinear[] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
constexpr double kE2m1[] = {0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0};

Block IQ4_NL(Packer& p) {
  Block b;
  const double scale = p.Scale(&b.bytes);
  const std::vector<int> numbers = p.Numbers(32, 16);
  b.bytes += Packer::Nibbles(numbers);
  for (const int number : numbers) b.values.push_back(Single(scale * kNonLinear[number]));
  return b;
}

Block IQ4_XS(Packer& p) {
  Block b;
  const double scale = p.Scale(&b.bytes);
  const std::vector<int> scales = p.Numbers(8, 64);
  uint16_t high = 0;
  uint32_t low = 0;
  for (size_t i = 0; i < 8; ++i) {
    high = static_cast<uint16_t>(high | scales[i] / 16 << (2 * i));
    low |= static_cast<uint32_t>(scales[i] % 16) << (4 * i);
  }
  b.bytes += Raw(high) + Raw(low);
  for (size_t group = 0; group < 8; ++group) {
    const std::vector<int> numbers = p.Numbers(32, 16);
    b.bytes += Packer::Nibbles(numbers);
    for (const int number : numbers) {
      b.values.push_back(Single(Single(scale * (scales[group] - 32)) * kNonLinear[number]));
    }
  }
  return b;
}

Block Mxfp4(Packer& p) {
  Block b;
  const int exponent = p.Up(253);  // no product exceeds f32
  const std::vector<int> numbers = p.Numbers(32, 16);
  b.bytes = static_cast<char>(exponent) + Packer::Nibbles(numbers);
  for (const int number : numbers) {
    b.values.push_back((number < 8 ? 1 : -1) * kE2m1[number % 8] * std::ldexp(1.0, exponent - 127));
  }
  return b;
}

// Ternary digits, the first the most significant, as a fraction of 243 in 256 parts, rounded up.
char Fraction(const std::vector<int>& digits) {
  int number = 0;
  for (size_t i = 0; i < 5; ++i) number = number * 3 + (i < digits.size() ? digits[i] : 0);
  return static_cast<char>((number * 256 + 242) / 243);
}

Block TQ1_0(Packer& p) {
  Block b;
  const std::vector<int> numbers = p.Numbers(256, 3);
  const auto pack = [&](size_t from, size_t bytes, size_t digits) {
    for (size_t i = 0; i < bytes; ++i) {
      std::vector<int> its;
      for (size_t digit = 0; digit < digits; ++digit) its.push_back(numbers[from + digit * bytes + i]);
      b.bytes += Fraction(its);
    }
  };
  pack(0, 32, 5);
  pack(160, 16, 5);
  pack(240, 4, 4);
  const double scale = p.Scale(&b.bytes);
  for (const int number : numbers) b.values.push_back(Single((number - 1) * scale));
  return b;
}

Block TQ2_0(Packer& p) {
  Block b;
  const std::vector<int> numbers = p.Numbers(256, 3);
  b.bytes = Pairs(numbers);
  const double scale = p.Scale(&b.bytes);
  for (const int number : numbers) b.values.push_back(Single((number - 1) * scale));
  return b;
}

Block F64(Packer& p) {
  const double value = p.Scale(nullptr) * (1 + 1e-12);
  return {Raw(value), {Single(value)}};
}

tools::GgufContent Parse(const std::string& file) {
  return tools::ParseGguf(reinterpret_cast<const uint8_t*>(file.data()), file.size(), "file");
}

struct Type {
  uint32_t number;
  const char* name;
  size_t elements, bytes;
  Block (*pack)(Packer&);
};

class GgufBlocks : public testing::TestWithParam<Type> {};

TEST_P(GgufBlocks, AreNumbersTimesScales) {
  constexpr size_t kBlocks = 300;
  Packer packer;
  std::string bytes;
  std::vector<double> expected;
  for (size_t i = 0; i < kBlocks; ++i) {
    const Block block = GetParam().pack(packer);
    ASSERT_EQ(block.bytes.size(), GetParam().bytes);
    ASSERT_EQ(block.values.size(), GetParam().elements);
    bytes += block.bytes;
    expected.insert(expected.end(), block.values.begin(), block.values.end());
  }
  GgufWriter writer;
  writer.Add({"t", {3, kBlocks / 3 * GetParam().elements}, GetParam().number, bytes});
  const std::string file = writer.Bytes();
  const tools::GgufContent content = Parse(file);
  EXPECT_EQ(tools::GgufTypeName(content.tensors.at("t").type), std::string(GetParam().name));
  const std::vector<float> found = ToFloats(content.tensors.at("t"));
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) ASSERT_EQ(static_cast<double>(found[i]), expected[i]) << i;
}

INSTANTIATE_TEST_SUITE_P(All, GgufBlocks,
                         testing::Values(Type{3, "Q4_1", 32, 20, Q4_1}, Type{6, "Q5_0", 32, 22, Q5_0},
                                         Type{7, "Q5_1", 32, 24, Q5_1}, Type{9, "Q8_1", 32, 36, Q8_1},
                                         Type{10, "Q2_K", 256, 84, Q2_K}, Type{11, "Q3_K", 256, 110, Q3_K},
                                         Type{13, "Q5_K", 256, 176, Q5_K}, Type{15, "Q8_K", 256, 292, Q8_K},
                                         Type{20, "IQ4_NL", 32, 18, IQ4_NL}, Type{23, "IQ4_XS", 256, 136, IQ4_XS},
                                         Type{28, "F64", 1, 8, F64}, Type{34, "TQ1_0", 256, 54, TQ1_0},
                                         Type{35, "TQ2_0", 256, 66, TQ2_0}, Type{39, "MXFP4", 32, 17, Mxfp4}),
                         [](const auto& param) { return std::string(param.param.name); });

TEST(GgufBlockTypes, UnsupportedOnesAreRefusedByNameWithTheWayOut) {
  for (const auto& [number, name] : {std::pair{16u, "IQ2_XXS"}, {19u, "IQ1_S"}, {26u, "I32"}, {33u, "Q4_0_8_8"}}) {
    GgufWriter writer;
    writer.Add({"t", {256}, number, ""});
    EXPECT_EQ(
        RefusalOf([&] { Parse(writer.Bytes()); }),
        fmt::format("file: tensor t: elements of type {} are not supported; use another file of the model, such as "
                    "Q4_K_M or Q8_0",
                    name));
  }
}

// ---- models in several files ----

class GgufParts : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "gguf_parts_" + std::to_string(getpid());
    std::filesystem::create_directories(folder_);
    for (uint32_t i = 0; i < 3; ++i) Write(i, Part(i));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static GgufWriter Part(uint32_t i, uint32_t count = 3) {
    GgufWriter writer;
    writer.Set("split.no", 2, Raw(static_cast<uint16_t>(i)));
    writer.Set("split.count", 2, Raw(static_cast<uint16_t>(count)));
    writer.Set("split.tensors.count", 5, Raw<int32_t>(3));
    if (i == 0) writer.Text("general.architecture", "llama");
    const float value = static_cast<float>(i) + 0.5f;
    writer.Add({"t" + std::to_string(i), {1}, 0, Raw(value)});
    return writer;
  }
  std::string Path(uint32_t i) const { return fmt::format("{}/m-{:05}-of-00003.gguf", folder_, i + 1); }
  void Write(uint32_t i, const GgufWriter& writer) const {
    const std::string bytes = writer.Bytes();
    tools::WriteFile(Path(i), bytes.data(), bytes.size());
  }
  std::string Refusal(uint32_t given = 0) const {
    return RefusalOf([&] { tools::GgufReader reader(Path(given)); });
  }

  std::string folder_;
};

TEST_F(GgufParts, AnyOfThemGivesTheWholeModel) {
  for (uint32_t given = 0; given < 3; ++given) {
    const tools::GgufReader reader(Path(given));
    EXPECT_EQ(reader.path(), Path(0));
    EXPECT_EQ(reader.paths(), (std::vector<std::string>{Path(0), Path(1), Path(2)}));
    EXPECT_EQ(reader.metadata()["general.architecture"], "llama");
    ASSERT_EQ(reader.tensors().size(), 3u);
    for (uint32_t i = 0; i < 3; ++i) {
      const tools::GgufTensor& tensor = reader.tensors().at("t" + std::to_string(i));
      EXPECT_EQ(ToFloats(tensor), std::vector<float>{static_cast<float>(i) + 0.5f});
      reader.Forget(tensor);
      EXPECT_EQ(ToFloats(tensor), std::vector<float>{static_cast<float>(i) + 0.5f});
    }
  }
}

TEST_F(GgufParts, WhatIsMissingOrWrongIsNamed) {
  std::filesystem::remove(Path(1));
  EXPECT_EQ(Refusal(), Path(1) + ": is missing: the model is split into 3 files, which must be in one folder");
  EXPECT_EQ(Refusal(2), Refusal());
  Write(1, Part(2));
  EXPECT_EQ(Refusal(), Path(1) + ": split.no and split.count: this is file 3 of 3, but it is named 2 of 3");
  Write(1, Part(1, 4));
  EXPECT_EQ(Refusal(), Path(1) + ": split.no and split.count: this is file 2 of 4, but it is named 2 of 3");
  GgufWriter twice = Part(1);
  twice.entries[0].name = "t0";
  Write(1, twice);
  EXPECT_EQ(Refusal(), Path(1) + ": tensor t0 is in an earlier file of the model too");
  GgufWriter more = Part(1);
  more.Add({"more", {1}, 0, "abcd"});
  Write(1, more);
  EXPECT_EQ(Refusal(), Path(0) + ": split.tensors.count: the files have 4 tensors, not 3");
  Write(1, Part(1));
  const std::string other = folder_ + "/other.gguf", bytes = Part(1).Bytes();
  tools::WriteFile(other, bytes.data(), bytes.size());
  EXPECT_EQ(RefusalOf([&] { tools::GgufReader reader(other); }),
            other +
                ": split.count: this is file 2 of 3, whose name must end in -00002-of-00003.gguf, so that the other "
                "files can be found");
  // Counts that no model has.
  GgufWriter odd = Part(0);
  odd.Set("split.count", 4, Raw(UINT32_MAX));
  Write(0, odd);
  EXPECT_NE(Refusal().find("split.count must be a whole number"), std::string::npos) << Refusal();
  odd = Part(0);
  odd.Set("split.no", 4, Raw<uint32_t>(3));
  Write(0, odd);
  EXPECT_NE(Refusal().find("split.no must be a whole number"), std::string::npos) << Refusal();
}

}  // namespace
}  // namespace fovea::test
