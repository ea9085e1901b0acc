// Image files of the rarer kinds, against what Pillow reads, and damaged ones.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

#include "tests/support/paths.h"
#include "tools/base/fail.h"
#include "tools/base/mapped_file.h"
#include "tools/image/formats.h"
#include "tools/image/preparation.h"

namespace fovea::tools {
namespace {

using test::InData;

struct Kind {
  const char* file;
  const char* same;   // the same pixels, as Pillow reads the file
  int difference;     // at most, since decoders round differently
  const char* needs;  // a library that the build may lack
};
const Kind kKinds[] = {
    {"plain.gif", "palette_as_rgb.png", 0, ""},
    {"interlaced.gif", "palette_as_rgb.png", 0, ""},
    {"transparent.gif", "transparent_gif_as_rgb.png", 0, ""},
    {"part.gif", "part_gif_as_rgb.png", 0, ""},
    {"part_transparent.gif", "part_transparent_gif_as_rgb.png", 0, ""},
    {"colours.bmp", "rgb.png", 0, ""},
    {"grey.bmp", "grey.png", 0, ""},
    {"palette.bmp", "palette_as_rgb.png", 0, ""},
    {"bits.bmp", "bits_bmp_as_rgb.png", 0, ""},
    {"fifteen.bmp", "fifteen_bmp_as_rgb.png", 0, ""},
    {"sixteen.bmp", "sixteen_bmp_as_rgb.png", 0, ""},
    {"masks.bmp", "rgb.png", 0, ""},
    {"down.bmp", "rgb.png", 0, ""},
    {"runs8.bmp", "runs8_bmp_as_rgb.png", 0, ""},
    {"runs4.bmp", "runs8_bmp_as_rgb.png", 0, ""},
    {"lossy.webp", "lossy_webp_as_rgb.png", 0, "libwebp"},
    {"lossless.webp", "rgb.png", 0, "libwebp"},
    {"alpha.webp", "rgb.png", 0, "libwebp"},
    {"lossy_alpha.webp", "lossy_alpha_webp_as_rgb.png", 0, "libwebp"},
    {"moving.webp", "rgb.png", 0, "libwebp"},
    {"part.webp", "part_webp_as_rgb.png", 0, "libwebp"},
    {"turned.webp", "orientation_8_upright.png", 0, "libwebp"},
    {"arithmetic.jpg", "halved_as_rgb.png", 4, "libjpeg"},
    {"arithmetic_progressive.jpg", "halved_as_rgb.png", 4, "libjpeg"},
    {"unmarked.jpg", "cmyk_as_rgb.png", 4, "libjpeg"},
};

std::string Refusal(const std::string& bytes) {
  try {
    ParsePicture(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "";
}

// A build without the library names a converter.
bool Lacks(const Kind& kind, const std::string& refusal) {
  if (refusal.find("which this fovea was built without") == std::string::npos) return false;
  EXPECT_NE(refusal.find(kind.needs), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("'convert in."), std::string::npos) << refusal;
  return true;
}

TEST(PictureFormats, AsPillowReadsThem) {
  for (const Kind& kind : kKinds) {
    const std::string bytes = ReadFile(InData("images/") + kind.file);
    const std::string refusal = Refusal(bytes);
    if (*kind.needs != '\0' && Lacks(kind, refusal)) continue;
    ASSERT_EQ(refusal, "") << kind.file;
    const Picture found = ReadPicture(InData("images/") + kind.file), same = ReadPicture(InData("images/") + kind.same);
    ASSERT_EQ(found.width, same.width) << kind.file;
    ASSERT_EQ(found.height, same.height) << kind.file;
    ASSERT_EQ(found.pixels.size(), same.pixels.size()) << kind.file;
    for (size_t i = 0; i < found.pixels.size(); ++i) {
      ASSERT_LE(std::abs(found.pixels[i] - same.pixels[i]), kind.difference) << kind.file << " " << i;
    }
  }
}

// Whether a header has height or width there.
bool HasExtent(const std::string& file, size_t at) {
  const std::string format = file.substr(file.rfind('.'));
  return (format == ".bmp" && at >= 18 && at < 26) || (format == ".webp" && at >= 24 && at < 30);
}

// Files that end early fail (but for what follows the first image), and any change ends in a failure or a picture.
TEST(PictureFormats, DamagedFilesFail) {
  for (const Kind& kind : kKinds) {
    const std::string whole = ReadFile(InData("images/") + kind.file);
    if (Refusal(whole) != "") continue;
    const size_t step = 1 + whole.size() / 200;
    for (size_t length = 0; length < whole.size() / 2; length += step) {
      // Exactly `length` bytes, so that the address sanitizer reports a read beyond them.
      EXPECT_NE(Refusal(std::string(whole.data(), length)), "") << kind.file << " " << length;
    }
    for (size_t length = whole.size() / 2; length < whole.size(); length += step) {
      Refusal(std::string(whole.data(), length));
    }
    std::mt19937 random(7);
    for (int turn = 0; turn < 150; ++turn) {
      std::string changed = whole;
      for (int i = 0; i < 2; ++i) {
        // Mostly at the beginning, but not the extent: millions of pixels are slow.
        const size_t within = turn % 4 == 0 ? changed.size() : std::min<size_t>(changed.size(), 70);
        const size_t at = random() % within;
        if (!HasExtent(kind.file, at)) changed[at] = static_cast<char>(random());
      }
      EXPECT_EQ(Refusal(changed).find("std::"), std::string::npos) << kind.file;
    }
  }
}

std::string Gif(uint32_t width, uint32_t height, const std::string& rest) {
  const auto two = [](uint32_t n) { return std::string{static_cast<char>(n & 255), static_cast<char>(n >> 8)}; };
  return "GIF89a" + two(width) + two(height) + std::string("\xf0\0\0\0\0\0\xff\xff\xff", 9) + rest;
}

TEST(PictureFormats, FaultsAreNamed) {
  const std::string image = std::string("\x2c\0\0\0\0\2\0\1\0\0", 10);
  EXPECT_EQ(Refusal(Gif(2, 1, image + std::string("\2\2\x44\0\0;", 6))), "");
  EXPECT_EQ(Refusal(Gif(2, 1, ";")), "it contains no image");
  EXPECT_EQ(Refusal(Gif(2, 1, image + std::string("\2\1\x2c\0;", 5))), "the image has less data than pixels");
  EXPECT_EQ(Refusal(Gif(2, 1, image + std::string("\x0c\1\x2c\0;", 5))), "codes of 12 bits are invalid");
  EXPECT_EQ(Refusal(Gif(2, 1, image + std::string("\2\2\xc4\1\0;", 6))), "code 7 is invalid");
  EXPECT_EQ(Refusal(Gif(65535, 65535, image + std::string("\2\2\x44\0\0;", 6))),
            "65535 x 65535 pixels exceed the limit of 268435456; make the image smaller");
  std::string bmp = ReadFile(InData("images/colours.bmp"));
  bmp[14] = 41;
  EXPECT_EQ(Refusal(bmp), "a BMP header of 41 bytes is not supported; convert it to PNG");
  bmp[14] = 40;
  bmp[30] = 4;
  EXPECT_EQ(Refusal(bmp), "a BMP of 24 bits with compression 4 is not supported; convert it to PNG");
  bmp[30] = 0;
  bmp[25] = '\x7f';
  EXPECT_NE(Refusal(bmp).find("exceed the limit of 268435456"), std::string::npos) << Refusal(bmp);
  bmp[22] = bmp[23] = bmp[24] = bmp[25] = 0;
  EXPECT_EQ(Refusal(bmp), "it has no pixels: 0 x 37");
}

// ---- Orientation ----

Picture Parse(const std::string& bytes) {
  return ParsePicture(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

std::string PngWith(const std::string& type, const std::string& content) {
  const std::string plain = ReadFile(InData("images/rgb.png")), checked = type + content;
  uint32_t crc = ~0u;
  for (const char c : checked) {
    crc ^= static_cast<uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (0xedb88320 & (0 - (crc & 1)));
  }
  const auto four = [](uint32_t n) {
    std::string bytes;
    for (int i = 3; i >= 0; --i) bytes += static_cast<char>(n >> 8 * i & 255);
    return bytes;
  };
  return plain.substr(0, 33) + four(static_cast<uint32_t>(content.size())) + checked + four(~crc) + plain.substr(33);
}

// The places in a PNG where Pillow finds an orientation.
TEST(PictureFormats, OrientationInTextsOfPng) {
  const Picture turned = ReadPicture(InData("images/orientation_6_upright.png"));
  const Picture plain = ReadPicture(InData("images/rgb.png"));
  const std::string exif("II*\0\10\0\0\0\1\0\x12\1\3\0\1\0\0\0\6\0\0\0\0\0\0\0", 26);
  std::string digits;
  for (const char c : std::string("Exif\0\0", 6) + exif) {
    digits += fmt::format("{:02x}{}", static_cast<uint8_t>(c), digits.size() % 16 == 14 ? "\n" : "");
  }
  const std::string name("Raw profile type exif\0", 22), zero(1, '\0');
  EXPECT_EQ(Parse(PngWith("tEXt", name + "\nexif\n      32\n" + digits)).pixels, turned.pixels);
  const std::string xmp = "<x tiff:Orientation=\"6\"/>", key("XML:com.adobe.xmp\0", 18);
  EXPECT_EQ(Parse(PngWith("iTXt", key + std::string(4, '\0') + xmp)).pixels, turned.pixels);
  EXPECT_EQ(Parse(PngWith("iTXt", key + std::string(4, '\0') + "<tiff:Orientation>6</tiff:Orientation>")).pixels,
            turned.pixels);
  EXPECT_EQ(Parse(PngWith("iTXt", key + std::string(4, '\0') + "tiff:Orientation=\"9\"")).pixels, plain.pixels);
  EXPECT_EQ(Parse(PngWith("tEXt", "Comment" + zero + xmp)).pixels, plain.pixels);
  // Broken ones are ignored.
  for (const std::string& content :
       {name, name + "\n\n\n", name + "\n\n\n4", key, key + "\1", std::string("\0\0", 2)}) {
    EXPECT_EQ(Parse(PngWith("tEXt", content)).pixels, plain.pixels);
    EXPECT_EQ(Parse(PngWith("zTXt", content)).pixels, plain.pixels);
    EXPECT_EQ(Parse(PngWith("iTXt", content)).pixels, plain.pixels);
  }
}

TEST(PictureFormats, OrientationInXmpOfJpeg) {
  const std::string plain = ReadFile(InData("images/baseline.jpg"));
  const std::string text = std::string("http://ns.adobe.com/xap/1.0/\0", 29) + "<x tiff:Orientation=\"6\"/>";
  const std::string segment = std::string("\xff\xe1\0", 3) + static_cast<char>(text.size() + 2) + text;
  EXPECT_EQ(Parse(plain.substr(0, 2) + segment + plain.substr(2)).pixels,
            ReadPicture(InData("images/orientation_6.jpg")).pixels);
}

// Where odd pixels are cut: `int(round(rest / 2))` of torchvision rounds to even numbers; transformers' own functions
// round down. Padding has the odd pixel at the other end.
TEST(PictureFormats, CentreAsEachLibraryCutsIt) {
  const auto first = [](uint32_t from, uint32_t to, bool even) {
    Picture picture = {from, 1, 3, {}};
    for (uint32_t x = 0; x < from; ++x) picture.pixels.insert(picture.pixels.end(), 3, static_cast<uint8_t>(x + 1));
    Preparation p;
    p.crop = {1, to};
    p.even_crop = even;
    const std::vector<float> made = Prepare(p, picture, 3, {1, to});
    return std::vector<float>(made.begin(), made.begin() + 2);
  };
  using Row = std::vector<float>;
  EXPECT_EQ(first(5, 4, false), Row({1, 2}));
  EXPECT_EQ(first(5, 4, true), Row({1, 2}));
  EXPECT_EQ(first(7, 4, false), Row({2, 3}));
  EXPECT_EQ(first(7, 4, true), Row({3, 4}));
  EXPECT_EQ(first(9, 4, true), Row({3, 4}));
  EXPECT_EQ(first(3, 6, false), Row({0, 0}));
  EXPECT_EQ(first(3, 6, true), Row({0, 1}));
}

}  // namespace
}  // namespace fovea::tools
