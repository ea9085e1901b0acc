// GGUF files: the reader returns what a plain writer wrote, blocks of every type decode as the format defines, and
// malformed files are refused.
#include <gtest/gtest.h>
#include <string.h>

#include <cmath>
#include <random>

#include "tests/convert/graph_support.h"
#include "tests/support/gguf_writer.h"
#include "tools/base/half.h"
#include "tools/gguf/gguf.h"

namespace fovea::test {
namespace {

using tools::GgufContent;
using tools::RefusalOf;

GgufContent Parse(const std::string& file) {
  return tools::ParseGguf(reinterpret_cast<const uint8_t*>(file.data()), file.size(), "file");
}

std::string Refused(const std::string& file) {
  return RefusalOf([&] { Parse(file); });
}

std::string Floats(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), 4 * values.size()};
}

GgufWriter Small() {
  GgufWriter writer;
  writer.Number("a.number", 7);
  writer.Real("a.real", 0.5f);
  writer.Flag("a.flag", true);
  writer.Text("a.text", "words");
  writer.Texts("a.texts", {"", "two", std::string("\0\xff", 2)});
  writer.List<int32_t>("a.list", 5, {-1, 3});
  writer.Add({"one", {2, 3}, 0, Floats({1, 2, 3, 4, 5, 6})});
  writer.Add({"two", {3}, 1, std::string("\x00\x3c\x00\xc0\x00\x00", 6)});
  return writer;
}

TEST(Gguf, ReadsWhatWasWritten) {
  for (const uint32_t version : {2u, 3u}) {
    GgufWriter writer = Small();
    writer.version = version;
    writer.Set("b.u8", 0, Raw<uint8_t>(200));
    writer.Set("b.i8", 1, Raw<int8_t>(-5));
    writer.Set("b.u16", 2, Raw<uint16_t>(65535));
    writer.Set("b.i16", 3, Raw<int16_t>(-300));
    writer.Set("b.u64", 10, Raw<uint64_t>(1ull << 40));
    writer.Set("b.i64", 11, Raw<int64_t>(-(1ll << 40)));
    writer.Set("b.f64", 12, Raw(0.1));
    writer.Set("b.nested", 9,
               Raw<uint32_t>(9) + Raw<uint64_t>(2) + Raw<uint32_t>(0) + Raw<uint64_t>(1) + "\x05" + Raw<uint32_t>(8) +
                   Raw<uint64_t>(0));
    const std::string file = writer.Bytes();
    const GgufContent content = Parse(file);
    const tools::Json& metadata = content.metadata;
    EXPECT_EQ(metadata["a.number"], 7);
    EXPECT_EQ(metadata["a.real"], 0.5);
    EXPECT_EQ(metadata["a.flag"], true);
    EXPECT_EQ(metadata["a.text"], "words");
    EXPECT_EQ(metadata["a.texts"][2], std::string("\0\xff", 2));
    EXPECT_EQ(metadata["a.list"], tools::Json({-1, 3}));
    EXPECT_EQ(metadata["b.u8"], 200);
    EXPECT_EQ(metadata["b.i8"], -5);
    EXPECT_EQ(metadata["b.u16"], 65535);
    EXPECT_EQ(metadata["b.i16"], -300);
    EXPECT_EQ(metadata["b.u64"], 1ull << 40);
    EXPECT_EQ(metadata["b.i64"], -(1ll << 40));
    EXPECT_EQ(metadata["b.f64"], 0.1);
    EXPECT_EQ(metadata["b.nested"], tools::Json::parse("[[5], []]"));
    ASSERT_EQ(content.tensors.size(), 2u);
    EXPECT_EQ(content.tensors.at("one").shape, (std::vector<uint64_t>{2, 3}));
    EXPECT_EQ(ToFloats(content.tensors.at("one")), (std::vector<float>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(ToFloats(content.tensors.at("two")), (std::vector<float>{1, -2, 0}));
  }
}

TEST(Gguf, AlignsAsTheFileSays) {
  GgufWriter writer = Small();
  writer.alignment = 128;
  writer.Number("general.alignment", 128);
  const std::string file = writer.Bytes();
  EXPECT_EQ(ToFloats(Parse(file).tensors.at("two")), (std::vector<float>{1, -2, 0}));
  for (const uint32_t odd : {0u, 4u, 48u, 1u << 30}) {
    writer.Number("general.alignment", odd);
    EXPECT_NE(Refused(writer.Bytes()).find("file: general.alignment"), std::string::npos) << odd;
  }
}

// ---- values ----

// The definition of each type, written out in f64; scales are rounded to f32 where the format does.
double Half(const std::string& block, size_t at) {
  uint16_t bits;
  memcpy(&bits, block.data() + at, 2);
  const int sign = bits >> 15, exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return sign == 1 ? -magnitude : magnitude;
}

int Byte(const std::string& block, size_t at) { return static_cast<uint8_t>(block[at]); }
int Signed(const std::string& block, size_t at) { return static_cast<int8_t>(block[at]); }

std::vector<double> ValuesOf(uint32_t type, const std::string& b) {
  std::vector<double> values;
  const auto single = [](double value) { return static_cast<double>(static_cast<float>(value)); };
  if (type == 2) {
    for (size_t i = 0; i < 32; ++i) {
      const int byte = Byte(b, 2 + i % 16), number = i < 16 ? byte % 16 : byte / 16;
      values.push_back(single((number - 8) * Half(b, 0)));
    }
  } else if (type == 8) {
    for (size_t i = 0; i < 32; ++i) values.push_back(single(Signed(b, 2 + i) * Half(b, 0)));
  } else if (type == 12) {
    for (size_t i = 0; i < 256; ++i) {
      const size_t group = i / 32;
      int scale, offset;
      if (group < 4) {
        scale = Byte(b, 4 + group) % 64;
        offset = Byte(b, 8 + group) % 64;
      } else {
        scale = Byte(b, 8 + group) % 16 + 16 * (Byte(b, group) / 64);
        offset = Byte(b, 8 + group) / 16 + 16 * (Byte(b, 4 + group) / 64);
      }
      const int byte = Byte(b, 16 + i / 64 * 32 + i % 32), number = i % 64 < 32 ? byte % 16 : byte / 16;
      values.push_back(single(single(single(Half(b, 0) * scale) * number) - single(Half(b, 2) * offset)));
    }
  } else {
    for (size_t i = 0; i < 256; ++i) {
      const size_t half = i / 128, j = i % 128, column = j % 32;
      const int low = Byte(b, 64 * half + (j % 64 < 32 ? 0 : 32) + column);
      const int high = Byte(b, 128 + 32 * half + column) >> (j / 32 * 2) & 3;
      const int number = (j < 64 ? low % 16 : low / 16) + 16 * high - 32;
      values.push_back(single(single(Half(b, 208) * Signed(b, 192 + i / 16)) * number));
    }
  }
  return values;
}

TEST(Gguf, BlocksMeanWhatTheFormatDefines) {
  std::mt19937 random(3);
  const std::vector<std::pair<uint32_t, std::pair<size_t, size_t>>> types = {
      {2, {32, 18}}, {8, {32, 34}}, {12, {256, 144}}, {14, {256, 210}}};
  for (const auto& [type, size] : types) {
    constexpr size_t kBlocks = 300;
    GgufWriter writer;
    std::string bytes(kBlocks * size.second, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    // Scales are finite: f16 whose exponent is not all ones.
    for (size_t block = 0; block < kBlocks; ++block) {
      const std::vector<size_t> places =
          type == 12 ? std::vector<size_t>{1, 3} : std::vector<size_t>{type == 14 ? 209u : 1u};
      for (const size_t place : places) {
        char& high = bytes[block * size.second + place];
        if ((high & 0x7c) == 0x7c) high = static_cast<char>(high ^ 0x40);
      }
    }
    writer.Add({"t", {3, kBlocks / 3 * size.first}, type, bytes});
    const std::string file = writer.Bytes();
    const std::vector<float> found = ToFloats(Parse(file).tensors.at("t"));
    ASSERT_EQ(found.size(), kBlocks * size.first);
    for (size_t block = 0; block < kBlocks; ++block) {
      const std::vector<double> expected = ValuesOf(type, bytes.substr(block * size.second, size.second));
      for (size_t i = 0; i < size.first; ++i) {
        ASSERT_EQ(static_cast<double>(found[block * size.first + i]), expected[i]) << type << " " << block << " " << i;
      }
    }
  }
}

TEST(Gguf, BrainFloatsAreRead) {
  GgufWriter writer;
  const uint16_t values[] = {tools::ToBf16(1.5f), tools::ToBf16(-3e30f)};
  writer.Add({"t", {2}, 30, {reinterpret_cast<const char*>(values), 4}});
  const std::string file = writer.Bytes();
  EXPECT_EQ(ToFloats(Parse(file).tensors.at("t")), (std::vector<float>{1.5f, tools::FromBf16(values[1])}));
}

// ---- malformed files ----

TEST(Gguf, TruncatedAnywhereIsRefused) {
  const std::string whole = Small().Bytes();
  const size_t data = whole.size() - 32 + 6;  // padding follows
  for (size_t size = 0; size < data; ++size) {
    // Exactly as long as stated, so that the address sanitizer reports reads beyond it.
    const std::vector<char> part(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    const std::string refused =
        RefusalOf([&] { tools::ParseGguf(reinterpret_cast<const uint8_t*>(part.data()), part.size(), "file"); });
    ASSERT_EQ(refused.rfind("file: ", 0), 0u) << size << ": " << refused;
    ASSERT_EQ(refused.find('\n'), std::string::npos);
  }
  EXPECT_EQ(Refused(whole.substr(0, data)), "nothing was refused");
}

// Changes bytes anywhere in a file: it is read or refused, and nothing else happens.
TEST(Gguf, ChangedAnywhereIsReadOrRefused) {
  const std::string whole = Small().Bytes();
  std::mt19937 random(5);
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const int by : {0x01, 0x80, 0xff}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ by);
      const std::string refused = RefusalOf([&] {
        for (const auto& [name, tensor] : Parse(changed).tensors) ToFloats(tensor);
      });
      ASSERT_EQ(refused.find('\n'), std::string::npos);
    }
  }
}

void ExpectRefused(const GgufWriter& writer, const std::string& message) {
  EXPECT_EQ(Refused(writer.Bytes()), message);
}

TEST(Gguf, HeadersAreChecked) {
  EXPECT_EQ(Refused("GGML" + std::string(60, '\0')), "file: not a GGUF file");
  GgufWriter writer = Small();
  writer.version = 1;
  ExpectRefused(writer, "file: GGUF version 1 is not supported; supported are 2 and 3");
  writer.version = 0x03000000;
  ExpectRefused(writer, "file: its numbers are big-endian, which is not supported");
  // Counts too large for any file.
  EXPECT_EQ(Refused("GGUF" + Raw<uint32_t>(3) + Raw(UINT64_MAX) + Raw<uint64_t>(0)),
            "file: name of tensor 0: the file ends in it, after 24 bytes");
  EXPECT_EQ(Refused("GGUF" + Raw<uint32_t>(3) + Raw<uint64_t>(0) + Raw(UINT64_MAX)),
            "file: key 0 of the metadata: the file ends in it, after 24 bytes");
}

TEST(Gguf, MetadataIsChecked) {
  GgufWriter writer;
  writer.Set("k", 8, Raw(UINT64_MAX) + "x");
  EXPECT_NE(Refused(writer.Bytes()).find("file: k: a string of 18446744073709551615 bytes"), std::string::npos);
  writer.Set("k", 8, Raw<uint64_t>(1000) + "x");
  EXPECT_NE(Refused(writer.Bytes()).find("file: k: the file ends in it"), std::string::npos);
  writer.Set("k", 9, Raw<uint32_t>(4) + Raw<uint64_t>(UINT64_MAX / 4 + 2));
  EXPECT_NE(Refused(writer.Bytes()).find("file: k: 4611686018427387905 elements"), std::string::npos);
  std::string nested;
  for (int i = 0; i < 50; ++i) nested += Raw<uint32_t>(9) + Raw<uint64_t>(1);
  writer.Set("k", 9, nested);
  ExpectRefused(writer, "file: k: arrays nested more than 4 deep");
  writer.Set("k", 7, "\x02");
  ExpectRefused(writer, "file: k: 2 is neither true nor false");
  writer.Set("k", 13, "");
  ExpectRefused(writer, "file: k: unknown value type 13");
  EXPECT_NE(Refused("GGUF" + Raw<uint32_t>(3) + Raw<uint64_t>(0) + Raw<uint64_t>(2) + RawText("k") + Raw<uint32_t>(0) +
                    "a" + RawText("k") + Raw<uint32_t>(0) + "b")
                .find("file: k occurs twice"),
            std::string::npos);
  writer.Remove("k");
  writer.Set(std::string(70000, 'k'), 0, "a");
  EXPECT_NE(Refused(writer.Bytes()).find("a string of 70000 bytes, more than 65535"), std::string::npos);
}

TEST(Gguf, TensorsAreChecked) {
  const auto refused = [](const GgufEntry& entry) {
    GgufWriter writer;
    writer.Add(entry);
    return Refused(writer.Bytes());
  };
  EXPECT_EQ(refused({"t", {1, 1, 1, 1, 1}, 0, ""}), "file: tensor t: 5 dimensions, more than 4");
  EXPECT_EQ(refused({"t", {256}, 99, ""}), "file: tensor t: unknown element type 99");
  EXPECT_EQ(refused({"t", {40}, 2, std::string(36, 'a')}),
            "file: tensor t: rows of 40 elements are not whole blocks of Q4_0");
  EXPECT_EQ(refused({"t", {1ull << 40, 1ull << 40}, 0, ""}), "file: tensor t: is too large");
  EXPECT_EQ(refused({"t", {UINT64_MAX}, 0, ""}), "file: tensor t: is too large");
  EXPECT_EQ(refused({"t", {9}, 0, std::string(32, 'a')}),
            "file: tensor t: 36 bytes from 0 on are outside the 32 bytes of data");
  EXPECT_NE(refused({std::string(65, 't'), {1}, 0, "abcd"}).find("a string of 65 bytes, more than 64"),
            std::string::npos);
  GgufWriter twice;
  twice.Add({"t", {1}, 0, "abcd"});
  twice.Add({"t", {1}, 0, "abcd"});
  ExpectRefused(twice, "file: tensor t occurs twice");
  // Offsets that overlap, are not aligned, or are outside.
  const std::string whole = Small().Bytes();
  const size_t list = whole.rfind("two") + 3 + 4 + 8 + 4;
  const auto moved = [&](uint64_t offset) { return Refused(std::string(whole).replace(list, 8, Raw(offset))); };
  EXPECT_EQ(moved(32), "nothing was refused");
  EXPECT_EQ(moved(0), "file: tensors one and two overlap");
  EXPECT_EQ(moved(33), "file: tensor two: offset 33 is not a multiple of 32");
  EXPECT_EQ(moved(64), "file: tensor two: 6 bytes from 64 on are outside the 64 bytes of data");
  EXPECT_EQ(moved(UINT64_MAX - 31),
            "file: tensor two: 6 bytes from 18446744073709551584 on are outside the 64 bytes of data");
}

}  // namespace
}  // namespace fovea::test
