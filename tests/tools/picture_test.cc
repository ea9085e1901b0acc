// Pictures against what Pillow reads and computes: files of every kind, other sizes, and what image processors make of
// them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <numeric>
#include <random>

#include "tests/support/paths.h"
#include "tools/base/fail.h"
#include "tools/base/mapped_file.h"
#include "tools/image/preparation.h"

namespace fovea::tools {
namespace {

using test::InData;

Picture Read(const std::string& name) { return ReadPicture(InData("images/") + name); }

int LargestDifference(const Picture& a, const Picture& b) {
  if (a.width != b.width || a.height != b.height || a.pixels.size() != b.pixels.size()) return 256;
  int largest = 0;
  for (size_t i = 0; i < a.pixels.size(); ++i) largest = std::max(largest, std::abs(a.pixels[i] - b.pixels[i]));
  return largest;
}

// ---- Files ----

TEST(Pictures, PngOfEveryKind) {
  const Picture rgb = Read("rgb.png");
  EXPECT_EQ(rgb.width, 37u);
  EXPECT_EQ(rgb.height, 23u);
  EXPECT_EQ(rgb.pixels.size(), 37u * 23 * 3);
  EXPECT_EQ(LargestDifference(Read("alpha.png"), rgb), 0);
  EXPECT_EQ(LargestDifference(Read("palette.png"), Read("palette_as_rgb.png")), 0);
  EXPECT_EQ(LargestDifference(Read("palette4.png"), Read("palette4_as_rgb.png")), 0);
  EXPECT_EQ(LargestDifference(Read("bits.png"), Read("bits_as_rgb.png")), 0);
  const Picture grey = Read("grey.png"), made = Grey(rgb), deep = Read("grey16.png");
  ASSERT_EQ(grey.pixels.size(), made.pixels.size() * 3);
  for (size_t i = 0; i < grey.pixels.size(); ++i) ASSERT_EQ(grey.pixels[i], made.pixels[i / 3]) << i;
  for (uint32_t i = 0; i < 37 * 23; ++i) {
    ASSERT_EQ(deep.pixels[3 * i + 1], (i % 37 * 1801 + i / 37 * 977) % 65536 / 256) << i;
  }
}

// Decoders differ in how they round, so not all pixels are equal.
TEST(Pictures, JpegOfEveryKind) {
  for (const std::string name : {"baseline", "halved", "progressive", "grey", "cmyk"}) {
    EXPECT_LE(LargestDifference(Read(name + ".jpg"), Read(name + "_as_rgb.png")), 4) << name;
  }
}

TEST(Pictures, TurnedAsExifSays) {
  for (int i = 1; i <= 8; ++i) {
    const std::string name = fmt::format("orientation_{}", i);
    EXPECT_EQ(LargestDifference(Read(name + ".png"), Read(name + "_upright.png")), 0) << name;
  }
  const Picture turned = Read("orientation_6.jpg");
  EXPECT_EQ(turned.width, 23u);
  EXPECT_EQ(turned.height, 37u);
}

// A segment of Exif that has the orientation as a number of `bytes` bytes, in either order.
std::string Exif(uint32_t orientation, uint32_t bytes, bool big) {
  std::string tiff = big ? "MM" : "II";
  const auto put = [&](uint32_t number, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      tiff += static_cast<char>(number >> 8 * (big ? count - 1 - i : i) & 255);
    }
  };
  put(42, 2), put(8, 4), put(1, 2);
  put(0x0112, 2), put(bytes == 2 ? 3 : 4, 2), put(1, 4);
  put(orientation, bytes);
  if (bytes == 2) put(0, 2);
  put(0, 4);
  const size_t length = tiff.size() + 8;
  return std::string("\xff\xe1") + static_cast<char>(length >> 8) + static_cast<char>(length & 255) +
         std::string("Exif\0\0", 6) + tiff;
}

// As a short number or a long one; of two segments the first counts, as in Pillow.
TEST(Pictures, OrientationInEveryForm) {
  const std::string plain = ReadFile(InData("images/baseline.jpg"));
  const auto with = [&](const std::string& segments) {
    const std::string bytes = plain.substr(0, 2) + segments + plain.substr(2);
    return ParsePicture(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  };
  const Picture upright = with(""), turned = with(Exif(6, 2, false));
  EXPECT_NE(upright.pixels, turned.pixels);
  for (const uint32_t bytes : {2u, 4u}) {
    for (const bool big : {false, true}) {
      EXPECT_EQ(with(Exif(6, bytes, big)).pixels, turned.pixels) << bytes << big;
      EXPECT_EQ(with(Exif(1, bytes, big)).pixels, upright.pixels) << bytes << big;
      EXPECT_EQ(with(Exif(6, bytes, big) + Exif(1, 2, false)).pixels, turned.pixels) << bytes << big;
      EXPECT_EQ(with(Exif(1, 2, false) + Exif(6, bytes, big)).pixels, upright.pixels) << bytes << big;
    }
  }
}

// The first picture of an animation, as in Pillow.
TEST(Pictures, AnimatedPng) {
  const std::string plain = ReadFile(InData("images/rgb.png"));
  const auto chunk = [](std::string type, const std::string& content) {
    type += content;
    uint32_t crc = ~0u;
    for (const char c : type) {
      crc ^= static_cast<uint8_t>(c);
      for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (0xedb88320 & (0 - (crc & 1)));
    }
    std::string bytes;
    const auto put = [&](uint32_t number) {
      for (int i = 3; i >= 0; --i) bytes += static_cast<char>(number >> 8 * i & 255);
    };
    put(static_cast<uint32_t>(content.size()));
    bytes += type;
    put(~crc);
    return bytes;
  };
  const size_t head = 33, end = plain.size() - 12;
  const std::string animated = plain.substr(0, head) + chunk("acTL", std::string("\0\0\0\2\0\0\0\0", 8)) +
                               chunk("fcTL", std::string(26, '\0')) + plain.substr(head, end - head) +
                               chunk("fcTL", std::string(26, '\0')) + chunk("fdAT", "nothing that is read") +
                               plain.substr(end);
  EXPECT_EQ(ParsePicture(reinterpret_cast<const uint8_t*>(animated.data()), animated.size()).pixels,
            Read("rgb.png").pixels);
}

std::string Refusal(const std::string& bytes) {
  try {
    ParsePicture(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "";
}

TEST(Pictures, BrokenFilesFail) {
  EXPECT_NE(Refusal("").find("give PNG, JPEG, WebP, GIF or BMP"), std::string::npos);
  EXPECT_NE(Refusal("a text").find("not a PNG, JPEG, WebP, GIF or BMP file"), std::string::npos);
  const std::pair<const char*, const char*> kinds[] = {
      {"II*.....", "TIFF"}, {"....ftypavif", "AVIF"}, {"....ftypheic", "HEIC"}, {"....JXL ", "JPEG XL"}};
  for (const auto& [begin, kind] : kinds) {
    EXPECT_EQ(Refusal(begin).find(kind), 0u) << Refusal(begin);
    EXPECT_NE(Refusal(begin).find("convert it to PNG or JPEG"), std::string::npos) << Refusal(begin);
  }
  for (const char* name : {"rgb.png", "palette.png", "baseline.jpg", "progressive.jpg", "orientation_6.jpg"}) {
    const std::string whole = ReadFile(InData("images/") + name);
    EXPECT_EQ(Refusal(whole), "") << name;
    for (size_t length = 0; length < whole.size(); ++length) {
      // Exactly `length` bytes, so that the address sanitizer reports a read beyond them.
      EXPECT_NE(Refusal(std::string(whole.data(), length)), "") << name << " " << length;
    }
    // Any change ends in a failure or a picture.
    std::mt19937 random(7);
    for (int turn = 0; turn < 300; ++turn) {
      std::string changed = whole;
      for (int i = 0; i < 3; ++i) changed[random() % changed.size()] = static_cast<char>(random());
      Refusal(changed);
    }
  }
  // A Huffman table with more codes than there are symbols: its segment begins with 0xffc4 and a length.
  std::string jpeg = ReadFile(InData("images/baseline.jpg"));
  const size_t table = jpeg.find("\xff\xc4");
  ASSERT_NE(table, std::string::npos);
  jpeg[table + 5 + 15] = static_cast<char>(255);
  EXPECT_NE(Refusal(jpeg).find("Huffman table"), std::string::npos);
  std::string png = ReadFile(InData("images/rgb.png"));
  png[png.size() / 2] = static_cast<char>(png[png.size() / 2] + 1);
  EXPECT_NE(Refusal(png).find("checksum"), std::string::npos);
}

// ---- Sizes ----

const std::pair<const char*, std::optional<Filter>> kFilters[] = {
    {"nearest", std::nullopt},     {"box", Filter::kBox},         {"bilinear", Filter::kBilinear},
    {"hamming", Filter::kHamming}, {"bicubic", Filter::kBicubic}, {"lanczos", Filter::kLanczos},
};

TEST(Resizing, HasPillowsPixels) {
  const Picture rgb = Read("rgb.png");
  for (const auto& [name, filter] : kFilters) {
    for (const auto& [width, height] : {std::pair(16u, 16u), std::pair(60u, 17u), std::pair(37u, 41u)}) {
      const std::string file = fmt::format("rgb_{}_{}x{}.png", name, width, height);
      EXPECT_EQ(LargestDifference(Resize(rgb, height, width, filter), Read(file)), 0) << file;
    }
  }
}

// Pillow's documentation in double precision: a weighted mean of what the filter covers, first along rows, then
// columns.
double Weight(Filter filter, double x) {
  const double pi = std::acos(-1.0), a = std::fabs(x);
  const auto sinc = [&](double t) { return t == 0 ? 1 : std::sin(pi * t) / (pi * t); };
  switch (filter) {
    case Filter::kBox:
      return x > -0.5 && x <= 0.5 ? 1 : 0;
    case Filter::kBilinear:
      return a < 1 ? 1 - a : 0;
    case Filter::kHamming:
      return a < 1 ? sinc(a) * (0.54 + 0.46 * std::cos(pi * a)) : 0;
    case Filter::kBicubic:
      return a < 1 ? 1.5 * a * a * a - 2.5 * a * a + 1 : a < 2 ? -0.5 * a * a * a + 2.5 * a * a - 4 * a + 2 : 0;
    case Filter::kLanczos:
      return a < 3 ? sinc(a) * sinc(a / 3) : 0;
  }
  return 0;
}

TEST(Resizing, FloatsAreTheWeightedMean) {
  const Picture rgb = Read("rgb.png");
  Planes planes = {rgb.width, rgb.height, 3, {}};
  for (uint32_t c = 0; c < 3; ++c) {
    for (size_t i = c; i < rgb.pixels.size(); i += 3) planes.values.push_back(rgb.pixels[i]);
  }
  for (const auto& entry : kFilters) {
    const auto& name = entry.first;
    const auto& filter = entry.second;
    if (!filter) continue;
    for (const std::pair<uint32_t, uint32_t>& size : {std::pair(9u, 50u), std::pair(64u, 5u)}) {
      const uint32_t width = size.first, height = size.second;
      const Planes found = Resize(planes, height, width, filter);
      const auto mean = [&](uint32_t at, uint32_t from, uint32_t to, const auto& value) {
        const double scale = double(from) / to, stretch = std::max(scale, 1.0), center = (at + 0.5) * scale;
        double sum = 0, weights = 0;
        for (uint32_t i = 0; i < from; ++i) {
          const double weight = Weight(*filter, (i + 0.5 - center) / stretch);
          sum += weight * value(i);
          weights += weight;
        }
        return sum / weights;
      };
      for (uint32_t i = 0; i < 3 * width * height; ++i) {
        const uint32_t x = i % width, y = i / width % height, c = i / width / height;
        const double expected = mean(y, rgb.height, height, [&](uint32_t row) {
          return mean(x, rgb.width, width,
                      [&](uint32_t column) { return planes.values[(c * rgb.height + row) * rgb.width + column]; });
        });
        ASSERT_NEAR(found.values[i], expected, 1e-3) << name << " " << i;
      }
    }
  }
}

// ---- What processors make of them ----

float At(const std::vector<float>& values, Extent size, uint32_t c, uint32_t y, uint32_t x) {
  return values[(size_t{c} * size.height + y) * size.width + x];
}

TEST(Preparing, ShorterSideThenTheMiddle) {
  const Picture rgb = Read("rgb.png");  // 37 x 23
  Preparation p;
  p.fit = Preparation::Fit::kShortest;
  p.size = {16, 16};
  p.filter = Filter::kBicubic;
  p.crop = {14, 14};
  p.factor = 1.0 / 255;
  p.mean = {0.1f, 0.2f, 0.3f};
  p.deviation = {0.5f, 0.25f, 2};
  const Picture resized = Resize(rgb, 16, 16 * 37 / 23, Filter::kBicubic);
  const std::vector<float> found = Prepare(p, rgb, 3, {14, 14});
  for (uint32_t c = 0; c < 3; ++c) {
    for (uint32_t y = 0; y < 14; ++y) {
      for (uint32_t x = 0; x < 14; ++x) {
        const uint8_t byte = resized.pixels[((y + 1) * resized.width + x + (resized.width - 14) / 2) * 3 + c];
        ASSERT_NEAR(At(found, {14, 14}, c, y, x), (byte / 255.0 - p.mean[c]) / p.deviation[c], 1e-5);
      }
    }
  }
  // A program of another size: all sizes in proportion.
  EXPECT_EQ(Prepare(p, rgb, 3, {28, 42}).size(), 3u * 28 * 42);
}

TEST(Preparing, CutsAndFillsUpEvenly) {
  const Picture rgb = Read("rgb.png");
  Preparation p;
  p.crop = {26, 30};
  p.mean = {1};
  const std::vector<float> found = Prepare(p, rgb, 3, {26, 30});
  for (uint32_t y = 0; y < 26; ++y) {
    for (uint32_t x = 0; x < 30; ++x) {
      const bool inside = y >= 2 && y < 25;  // two rows above, one below
      const float byte = inside ? rgb.pixels[((y - 2) * 37 + x + 3) * 3 + 2] : 0;
      ASSERT_EQ(At(found, {26, 30}, 2, y, x), byte - 1);
    }
  }
  p.crop = {};
  EXPECT_THROW(Prepare(p, rgb, 3, {26, 30}), Failure);
  EXPECT_EQ(Prepare(p, rgb, 3, {23, 37}).size(), rgb.pixels.size());
}

TEST(Preparing, LongerSideThenZeros) {
  const Picture rgb = Read("rgb.png");
  Preparation p;
  p.fit = Preparation::Fit::kLongest;
  p.size = {16, 16};
  p.pad = {16, 16};
  p.mean = {-7};
  const std::vector<float> found = Prepare(p, rgb, 3, {16, 16});
  EXPECT_NE(At(found, {16, 16}, 0, 9, 15), 0);  // 23 * 16 / 37 is 9.9
  EXPECT_EQ(At(found, {16, 16}, 0, 10, 0), 0);
  p.blue_first = true;
  const std::vector<float> swapped = Prepare(p, rgb, 3, {16, 16});
  EXPECT_EQ(At(swapped, {16, 16}, 0, 3, 3), At(found, {16, 16}, 2, 3, 3));
  EXPECT_EQ(Prepare(p, rgb, 1, {16, 16}).size(), 256u);
  EXPECT_THROW(Prepare(p, rgb, 4, {16, 16}), Failure);
}

// Values of rgb.png (23 x 37) as Pillow makes them with the steps of timm and open_clip (ResizeKeepRatio,
// CenterCropOrPad).
TEST(Preparing, KeepsTheRatioAsTimmDoes) {
  struct Case {
    Preparation::Fit fit;
    Extent size, crop;
    std::vector<int> sums, first, middle;
  };
  constexpr auto kContain = Preparation::Fit::kContain, kCover = Preparation::Fit::kCover;
  const Case cases[] = {
      {kContain, {24, 19}, {24, 19}, {58367, 53884, 28724}, {124, 116, 104}, {80, 71, 16}},
      {kContain, {17, 40}, {17, 40}, {87975, 80795, 33062}, {124, 116, 104}, {60, 116, 24}},
      {kContain, {24, 34}, {21, 30}, {80176, 75715, 13796}, {166, 7, 12}, {74, 72, 25}},  // 21 x 30 / 0.875
      {kCover, {24, 19}, {24, 19}, {46291, 54703, 9293}, {219, 77, 16}, {80, 77, 14}},
      {kCover, {17, 40}, {17, 40}, {89671, 81982, 14753}, {124, 7, 13}, {75, 77, 24}}};
  const Picture rgb = Read("rgb.png");
  for (const Case& one : cases) {
    Preparation p;
    p.fit = one.fit;
    p.size = one.size;
    p.filter = one.fit == kContain ? Filter::kBicubic : Filter::kBilinear;
    p.crop = one.crop;
    p.even_crop = true;
    if (one.fit == kContain) p.fill = {124, 116, 104};
    const std::vector<float> found = Prepare(p, rgb, 3, one.crop);
    const uint32_t area = one.crop.height * one.crop.width;
    for (uint32_t c = 0; c < 3; ++c) {
      const auto plane = found.begin() + static_cast<ptrdiff_t>(c) * area;
      EXPECT_EQ(std::accumulate(plane, plane + area, 0.0f), one.sums[c]) << one.size.height << " " << c;
      EXPECT_EQ(At(found, one.crop, c, 0, 0), one.first[c]);
      EXPECT_EQ(At(found, one.crop, c, one.crop.height / 2, one.crop.width / 2), one.middle[c]);
    }
  }
}

TEST(Preparing, MetadataAndBack) {
  for (const bool many : {false, true}) {
    Preparation p;
    p.fit = many ? Preparation::Fit::kShortest : Preparation::Fit::kStretch;
    p.size = {30, many ? 30u : 40u};
    p.most = many ? 99 : 0;
    p.filter = many ? std::nullopt : std::optional<Filter>(Filter::kLanczos);
    p.exact = many;
    if (many) p.crop = {20, 22};
    if (many) p.pad = {24, 24};
    p.factor = 1.0 / 255;
    p.mean = {0.48145466f, 0.4578275f, 0.40821073f};
    p.blue_first = many;
    if (many) p.fill = {124, 116, 104};
    std::map<std::string, std::string> metadata;
    for (const auto& [key, value] : ToMetadata(p)) metadata[key] = value;
    const auto value = [&](const std::string& key) -> const char* {
      return metadata.count(key) == 0 ? nullptr : metadata[key].c_str();
    };
    const Preparation found = *FromMetadata(value);
    EXPECT_EQ(ToMetadata(found), ToMetadata(p));
    EXPECT_EQ(found.factor, p.factor);
    EXPECT_EQ(found.mean, p.mean);
    for (const char* bad :
         {"", "shortest", "stretch 0 4", "stretch 4", "wide 4", "shortest 4 least 8", "longest 99999"}) {
      metadata["image.resize"] = bad;
      EXPECT_THROW(FromMetadata(value), Failure) << bad;
    }
  }
  EXPECT_FALSE(FromMetadata([](const std::string&) { return nullptr; }).has_value());
  for (const char* fit : {"cover 30 40", "contain 30 40"}) {
    const auto value = [&](const std::string& key) { return key == "image.resize" ? fit : nullptr; };
    EXPECT_EQ(ToMetadata(*FromMetadata(value))[0].second, fit);
  }
}

TEST(Preparing, NearestShapeThenNearestArea) {
  const std::vector<Extent> sizes = {{224, 224}, {448, 448}, {224, 336}, {336, 224}};
  EXPECT_EQ(NearestSize(sizes, {300, 300}), 0u);
  EXPECT_EQ(NearestSize(sizes, {400, 410}), 1u);
  EXPECT_EQ(NearestSize(sizes, {600, 900}), 2u);
  EXPECT_EQ(NearestSize(sizes, {900, 500}), 3u);
}

}  // namespace
}  // namespace fovea::tools
