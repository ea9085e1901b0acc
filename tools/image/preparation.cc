// Prepares images as the model's image processor does.
#include "tools/image/preparation.h"

#include <math.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <sstream>

#include "tools/base/fail.h"
#include "tools/base/json.h"

namespace fovea::tools {
namespace {

constexpr uint32_t kMost = 1u << 14;         // most pixels of a side
constexpr uint32_t kMostResized = 1u << 16;  // before the rest is cut off

const std::pair<const char*, std::optional<Filter>> kFilters[] = {
    {"nearest", std::nullopt},     {"box", Filter::kBox},         {"bilinear", Filter::kBilinear},
    {"hamming", Filter::kHamming}, {"bicubic", Filter::kBicubic}, {"lanczos", Filter::kLanczos},
};

// Fits to a height and a width.
constexpr std::pair<const char*, Preparation::Fit> kFitsOfBoth[] = {{"stretch", Preparation::Fit::kStretch},
                                                                    {"cover", Preparation::Fit::kCover},
                                                                    {"contain", Preparation::Fit::kContain}};

std::string Words(Extent extent) { return fmt::format("{} {}", extent.height, extent.width); }

// Parses the words of one value.
class Reader {
 public:
  Reader(const std::string& key, const char* value) : key_(key), value_(value), words_(value_) {}

  std::string Word() {
    std::string word;
    if (!(words_ >> word)) Refuse();
    return word;
  }
  uint32_t Side() { return static_cast<uint32_t>(WholeNumberIn(Word(), "metadata " + key_, {1, kMost})); }
  Extent Both() {
    const uint32_t height = Side();
    return {height, Side()};
  }
  double Real() {
    std::istringstream text(Word());
    double number = 0;
    text >> number;
    if (text.fail() || !text.eof() || !std::isfinite(number)) Refuse();
    return number;
  }
  bool AtEnd() { return (words_ >> std::ws).eof(); }
  void End() {
    if (!AtEnd()) Refuse();
  }
  [[noreturn]] void Refuse() { Fail("metadata {}: '{}' is invalid", key_, value_); }

 private:
  std::string key_, value_;
  std::istringstream words_;
};

void ReadFit(Reader& reader, Preparation& made) {
  const std::string kind = reader.Word();
  const auto whole = [&](const auto& fit) { return kind == fit.first; };
  const auto both = std::find_if(std::begin(kFitsOfBoth), std::end(kFitsOfBoth), whole);
  if (both != std::end(kFitsOfBoth)) {
    made.fit = both->second;
    made.size = reader.Both();
  } else if (kind == "shortest" || kind == "longest") {
    made.fit = kind == "longest" ? Preparation::Fit::kLongest : Preparation::Fit::kShortest;
    const uint32_t side = reader.Side();
    made.size = {side, side};
    if (kind == "shortest" && !reader.AtEnd()) {
      if (reader.Word() != "most") reader.Refuse();
      made.most = reader.Side();
    }
  } else {
    reader.Refuse();
  }
}

std::vector<float> ReadChannels(Reader& reader) {
  std::vector<float> numbers;
  while (!reader.AtEnd()) numbers.push_back(static_cast<float>(reader.Real()));
  if (numbers.size() != 1 && numbers.size() != 3) reader.Refuse();
  return numbers;
}

std::string Joined(const std::vector<float>& numbers) { return fmt::format("{}", fmt::join(numbers, " ")); }

uint32_t Scaled(uint32_t side, uint32_t wanted, uint32_t made) {
  return static_cast<uint32_t>(std::max<uint64_t>(1, (uint64_t{side} * wanted + made / 2) / made));
}

// The size to resize an image to.
Extent Resized(const Preparation& p, Extent picture, Extent wanted) {
  const Extent own = p.Made();
  const uint64_t h = picture.height, w = picture.width;
  const Extent size = {Scaled(p.size.height, wanted.height, own.height), Scaled(p.size.width, wanted.width, own.width)};
  if (p.fit == Preparation::Fit::kNone) return picture;
  if (p.fit == Preparation::Fit::kStretch) return size;
  if (p.fit == Preparation::Fit::kLongest) {
    const double scale = std::min(static_cast<double>(size.height) / static_cast<double>(h),
                                  static_cast<double>(size.width) / static_cast<double>(w));
    const auto side = [&](uint64_t of) { return static_cast<uint32_t>(static_cast<double>(of) * scale + 0.5); };
    return {std::max(side(h), 1u), std::max(side(w), 1u)};
  }
  if (p.fit == Preparation::Fit::kCover || p.fit == Preparation::Fit::kContain) {
    const double by_height = static_cast<double>(h) / size.height, by_width = static_cast<double>(w) / size.width;
    const bool contain = p.fit == Preparation::Fit::kContain;
    const double ratio = contain ? std::max(by_height, by_width) : std::min(by_height, by_width);
    // As Python rounds: halves to even numbers.
    const auto side = [&](uint64_t of) { return std::max(1.0, std::nearbyint(static_cast<double>(of) / ratio)); };
    if (std::max(side(h), side(w)) > kMostResized) Fail("resizing {} x {} pixels exceeds the size limit", h, w);
    return {static_cast<uint32_t>(side(h)), static_cast<uint32_t>(side(w))};
  }
  // The limiting side gets the requested length; the other side follows.
  const bool by_height = h * size.width <= w * size.height;
  uint64_t first = by_height ? size.height : size.width;
  uint64_t other = by_height ? size.height * w / h : size.width * h / w;
  const uint64_t most = p.most == 0 ? UINT64_MAX : Scaled(p.most, std::max(wanted.height, wanted.width), own.height);
  if (other > most) {
    first = most * first / other;
    other = most;
  }
  if (std::max(first, other) > kMostResized) Fail("resizing {} x {} pixels exceeds the size limit", h, w);
  const Extent made = {static_cast<uint32_t>(by_height ? first : other),
                       static_cast<uint32_t>(by_height ? other : first)};
  return {std::max(made.height, 1u), std::max(made.width, 1u)};
}

// Channels [first, first + count) of a picture.
Planes ToPlanes(const Picture& picture, double factor, uint32_t first, uint32_t count) {
  Planes planes = {picture.width, picture.height, count, {}};
  const size_t size = size_t{picture.width} * picture.height;
  planes.values.resize(size * count);
  for (uint32_t c = 0; c < count; ++c) {
    for (size_t i = 0; i < size; ++i) {
      planes.values[c * size + i] = static_cast<float>(picture.pixels[i * picture.channels + first + c] * factor);
    }
  }
  return planes;
}

Planes ToPlanes(const Picture& picture, double factor) { return ToPlanes(picture, factor, 0, picture.channels); }

// Channel by channel, so that one channel of a large picture is in memory as floats.
Planes ResizedPlanes(const Picture& picture, double factor, Extent to, std::optional<Filter> filter) {
  Planes planes = {to.width, to.height, picture.channels, {}};
  for (uint32_t c = 0; c < picture.channels; ++c) {
    const Planes one = Resize(ToPlanes(picture, factor, c, 1), to.height, to.width, filter);
    planes.values.insert(planes.values.end(), one.values.begin(), one.values.end());
  }
  return planes;
}

// Centre crop, or padding with `fill`, a number per channel, around the image. An odd pixel is cut at the lower right
// and added at the upper left. `even`: half of what is cut is rounded to an even number, and an odd pixel is added at
// the lower right, as in torchvision.
template <typename Fill>
Planes Crop(const Planes& planes, Extent to, bool even, const Fill& fill) {
  const auto shift = [even](uint32_t from, uint32_t size) {
    const int64_t rest = static_cast<int64_t>(from) - size;
    if (rest >= 0) return rest / 2 + (even && rest % 4 == 3 ? 1 : 0);
    return even ? -(-rest / 2) : -((-rest + 1) / 2);
  };
  const int64_t top = shift(planes.height, to.height), left = shift(planes.width, to.width);
  Planes out = {to.width, to.height, planes.channels,
                std::vector<float>(size_t{to.width} * to.height * planes.channels)};
  float* value = out.values.data();
  for (uint32_t c = 0; c < planes.channels; ++c) {
    const float around = fill(c);
    for (int64_t y = top; y < top + to.height; ++y) {
      for (int64_t x = left; x < left + to.width; ++x, ++value) {
        *value = around;
        if (y < 0 || x < 0 || y >= planes.height || x >= planes.width) continue;
        *value =
            planes.values[(size_t{c} * planes.height + static_cast<size_t>(y)) * planes.width + static_cast<size_t>(x)];
      }
    }
  }
  return out;
}

Planes Pad(const Planes& planes, Extent to) {
  Planes out = {to.width, to.height, planes.channels,
                std::vector<float>(size_t{to.width} * to.height * planes.channels)};
  for (uint32_t row = 0; row < planes.channels * planes.height; ++row) {
    const size_t at = size_t{row / planes.height} * to.height + row % planes.height;
    std::copy_n(&planes.values[size_t{row} * planes.width], planes.width, &out.values[at * to.width]);
  }
  return out;
}

void Normalize(const Preparation& p, Planes& planes) {
  if (p.mean.empty() && p.deviation.empty()) return;
  const size_t size = size_t{planes.width} * planes.height;
  for (size_t i = 0; i < planes.values.size(); ++i) {
    planes.values[i] = (planes.values[i] - p.Mean(i / size)) / p.Deviation(i / size);
  }
}

}  // namespace

Extent Preparation::Made() const {
  if (!pad.none()) return pad;
  return crop.none() ? size : crop;
}

std::vector<std::pair<std::string, std::string>> ToMetadata(const Preparation& p) {
  std::vector<std::pair<std::string, std::string>> metadata;
  const auto add = [&](const char* key, const std::string& value) { metadata.emplace_back(key, value); };
  for (const auto& [name, fit] : kFitsOfBoth) {
    if (p.fit == fit) add("image.resize", fmt::format("{} {}", name, Words(p.size)));
  }
  if (p.fit == Preparation::Fit::kLongest) add("image.resize", fmt::format("longest {}", p.size.height));
  if (p.fit == Preparation::Fit::kShortest) {
    add("image.resize",
        fmt::format("shortest {}{}", p.size.height, p.most == 0 ? "" : fmt::format(" most {}", p.most)));
  }
  if (p.fit != Preparation::Fit::kNone) {
    for (const auto& [name, filter] : kFilters) {
      if (filter == p.filter) add("image.filter", name);
    }
    if (p.exact) add("image.rounding", "none");
  }
  if (!p.crop.none()) add("image.crop", Words(p.crop) + (p.even_crop ? " even" : ""));
  if (!p.fill.empty()) add("image.fill", Joined(p.fill));
  if (!p.pad.none()) add("image.pad", Words(p.pad));
  add("image.factor", fmt::format("{}", p.factor));
  if (!p.mean.empty()) add("image.mean", Joined(p.mean));
  if (!p.deviation.empty()) add("image.deviation", Joined(p.deviation));
  if (p.blue_first) add("image.channels", "bgr");
  return metadata;
}

std::optional<Preparation> FromMetadata(const std::function<const char*(const std::string&)>& value) {
  Preparation made;
  bool found = false;
  const auto read = [&](const std::string& key, const std::function<void(Reader&)>& take) {
    const char* text = value(key);
    if (text == nullptr) return;
    found = true;
    Reader reader(key, text);
    take(reader);
    reader.End();
  };
  read("image.resize", [&](Reader& r) { ReadFit(r, made); });
  read("image.filter", [&](Reader& r) {
    const std::string name = r.Word();
    const auto same = [&](const auto& filter) { return name == filter.first; };
    const auto filter = std::find_if(std::begin(kFilters), std::end(kFilters), same);
    if (filter == std::end(kFilters)) r.Refuse();
    made.filter = filter->second;
  });
  read("image.rounding", [&](Reader& r) {
    if (r.Word() != "none") r.Refuse();
    made.exact = true;
  });
  read("image.crop", [&](Reader& r) {
    made.crop = r.Both();
    if (r.AtEnd()) return;
    if (r.Word() != "even") r.Refuse();
    made.even_crop = true;
  });
  read("image.fill", [&](Reader& r) { made.fill = ReadChannels(r); });
  read("image.pad", [&](Reader& r) { made.pad = r.Both(); });
  read("image.factor", [&](Reader& r) { made.factor = r.Real(); });
  read("image.mean", [&](Reader& r) { made.mean = ReadChannels(r); });
  read("image.deviation", [&](Reader& r) {
    made.deviation = ReadChannels(r);
    if (std::count(made.deviation.begin(), made.deviation.end(), 0.0f) != 0) r.Refuse();
  });
  read("image.channels", [&](Reader& r) {
    if (r.Word() != "bgr") r.Refuse();
    made.blue_first = true;
  });
  return found ? std::optional<Preparation>(made) : std::nullopt;
}

std::vector<float> Prepare(const Preparation& preparation, const Picture& picture, uint32_t channels, Extent wanted) {
  if (channels != 1 && channels != 3) Fail("the model needs {} channels, but images have 1 or 3", channels);
  Preparation p = preparation;
  if (p.fit == Preparation::Fit::kNone && p.Made().none()) p.size = wanted;
  if (std::max({p.mean.size(), p.deviation.size(), p.fill.size()}) > channels)
    Fail("more means than the {} channels", channels);
  const Picture grey = channels == 1 ? Grey(picture) : Picture();
  const Picture& coloured = channels == 1 ? grey : picture;
  const Extent size = Resized(p, {coloured.height, coloured.width}, wanted);
  const bool same = size.height == coloured.height && size.width == coloured.width;
  Planes planes;
  if (p.exact && !same) {
    planes = ResizedPlanes(coloured, p.factor, size, p.filter);
  } else {
    planes = ToPlanes(same ? coloured : Resize(coloured, size.height, size.width, p.filter), p.factor);
  }
  const auto fill = [&p](size_t channel) { return static_cast<float>(p.Fill(channel) * p.factor); };
  const bool pads = p.fit == Preparation::Fit::kLongest || !p.pad.none();
  const Extent cut = !p.crop.none() && pads ? p.crop : wanted;
  const bool fits = planes.height == wanted.height && planes.width == wanted.width;
  if (!fits && p.fit == Preparation::Fit::kNone && p.crop.none() && !pads) {
    Fail("the image has {} x {} pixels, but the model needs {} x {} and does not resize; resize the file",
         picture.height, picture.width, wanted.height, wanted.width);
  }
  if (!p.crop.none() || !pads) planes = Crop(planes, cut, p.even_crop, fill);
  Normalize(p, planes);
  if (pads) {
    if (planes.height > wanted.height || planes.width > wanted.width) planes = Crop(planes, wanted, false, fill);
    planes = Pad(planes, wanted);
  }
  if (p.blue_first && channels == 3) {
    const auto plane = static_cast<ptrdiff_t>(size_t{wanted.height} * wanted.width);
    std::swap_ranges(planes.values.begin(), planes.values.begin() + plane, planes.values.begin() + 2 * plane);
  }
  return std::move(planes.values);
}

size_t NearestSize(const std::vector<Extent>& sizes, Extent picture) {
  const auto ratio = [](double a, double b) { return fabs(log(a) - log(b)); };
  const auto distance = [&](const Extent& size) {
    const double shape = ratio(double(size.height) / size.width, double(picture.height) / picture.width);
    const double area = ratio(double(size.height) * size.width, double(picture.height) * picture.width);
    return std::make_pair(std::round(shape * 1e9), area);  // aspect ratios equal up to rounding compare as equal
  };
  size_t best = 0;
  for (size_t i = 1; i < sizes.size(); ++i) {
    if (distance(sizes[i]) < distance(sizes[best])) best = i;
  }
  return best;
}

}  // namespace fovea::tools
