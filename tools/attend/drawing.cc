// Drawings of rectangles, lines and text, as SVG.
#include "tools/attend/drawing.h"

#include <fmt/format.h>
#include <math.h>
#include <utf8proc.h>

#include <algorithm>
#include <utility>

#include "tools/attend/pixels.h"
#include "tools/attend/record_json.h"
#include "tools/base/markup.h"

namespace fovea::tools {
namespace {

constexpr double kMargin = 12;

std::string Hex(Color color) { return fmt::format("#{:02x}{:02x}{:02x}", color.red, color.green, color.blue); }

std::string TitleOf(const std::string& title) {
  return title.empty() ? "/>" : fmt::format("><title>{}</title></", Markup(title));
}

}  // namespace

// Points of the scale in Oklab: from yellow over green to blue.
Color ScaleColor(double value, bool dark) {
  struct Point {
    double a, b;
  };
  static constexpr Point kPoints[] = {{-0.002, 0.006},  {-0.030, 0.062},  {-0.068, 0.052},  {-0.082, 0.004},
                                      {-0.066, -0.050}, {-0.034, -0.098}, {-0.006, -0.128}, {0.018, -0.124}};
  constexpr int kLast = 7;
  const double share = std::clamp(value, 0.0, 1.0), at = share * kLast;
  const int left = std::min(static_cast<int>(at), kLast - 1);
  const auto point = [=](int i) { return !dark ? kPoints[i] : i == 0 ? Point{0, -0.012} : kPoints[kLast + 1 - i]; };
  const Point from = point(left), to = point(left + 1);
  const double part = at - left, a = from.a + (to.a - from.a) * part, b = from.b + (to.b - from.b) * part;
  const double lightness = dark ? 0.25 + 0.68 * share : 0.985 - 0.665 * share;
  const auto cube = [](double x) { return x * x * x; };
  const double l = cube(lightness + 0.3963377774 * a + 0.2158037573 * b);
  const double m = cube(lightness - 0.1055613458 * a - 0.0638541728 * b);
  const double s = cube(lightness - 0.0894841775 * a - 1.2914855480 * b);
  const auto gamma = [](double linear) {
    const double x = std::clamp(linear, 0.0, 1.0);
    return static_cast<uint8_t>(floor(255 * (x <= 0.0031308 ? 12.92 * x : 1.055 * pow(x, 1 / 2.4) - 0.055) + 0.5));
  };
  return {gamma(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
          gamma(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
          gamma(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

// Black or white, whichever has the greater contrast: at least 4.5 on each color.
Color Theme::InkOn(Color color) const {
  const auto linear = [](uint8_t level) {
    const double x = level / 255.0;
    return x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4);
  };
  const double light = 0.2126 * linear(color.red) + 0.7152 * linear(color.green) + 0.0722 * linear(color.blue);
  return light > 0.179 ? Color{0, 0, 0} : Color{255, 255, 255};
}

double Drawing::TextWidth(const std::string& text) {
  const std::string printable = Printable(text);
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(printable.data());
  double width = 0;
  for (size_t i = 0; i < printable.size();) {
    utf8proc_int32_t character = 0;
    const auto left = static_cast<utf8proc_ssize_t>(printable.size() - i);
    const utf8proc_ssize_t size = utf8proc_iterate(bytes + i, left, &character);
    width += kColumn * ColumnsOf(size > 0 ? character : -1);
    i += size > 0 ? static_cast<size_t>(size) : 1;
  }
  return width;
}

void Drawing::Add(Item item) {
  double right = item.x + item.width, bottom = item.y + item.height;
  if (item.kind == Kind::kLine) right = std::max(item.x, item.width), bottom = std::max(item.y, item.height);
  if (item.kind == Kind::kText) {
    const double length = TextWidth(item.text);
    const double after = item.anchor == Anchor::kStart ? length : item.anchor == Anchor::kMiddle ? length / 2 : 0;
    right = item.x + (item.turned ? 3 : after);
    bottom = item.y + 4;
  }
  width_ = std::max(width_, right + kMargin);
  height_ = std::max(height_, bottom + kMargin);
  items_.push_back(std::move(item));
}

void Drawing::Rectangle(double x, double y, double width, double height, Color color, const std::string& title) {
  Shade(x, y, width, height, color, 1, title);
}
void Drawing::Shade(double x, double y, double width, double height, Color color, double strength,
                    const std::string& title) {
  Add({Kind::kRectangle, x, y, width, height, 0, strength, color, title, Anchor::kStart, false});
}
void Drawing::Line(double x1, double y1, double x2, double y2, double width, Color color, double strength,
                   const std::string& title) {
  Add({Kind::kLine, x1, y1, x2, y2, width, strength, color, title, Anchor::kStart, false});
}
void Drawing::Text(double x, double y, const std::string& text, Anchor anchor, bool turned) {
  Add({Kind::kText, x, y, 0, 0, 0, 1, theme_.ink(), text, anchor, turned});
}
void Drawing::TextIn(double x, double y, const std::string& text, Color color, Anchor anchor) {
  Add({Kind::kText, x, y, 0, 0, 0, 1, color, text, anchor, false});
}
void Drawing::Image(double x, double y, double width, double height, const std::string& png) {
  Add({Kind::kImage, x, y, width, height, 0, 1, {}, png, Anchor::kStart, false});
}

std::string Drawing::Svg() const {
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"ui-monospace, Menlo, Consolas, monospace\" font-size=\"11\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"{2}\"/>\n",
      width_, height_, Hex(theme_.page()));
  for (const Item& item : items_) {
    const std::string opacity = item.strength < 1 ? fmt::format(" opacity=\"{:.4f}\"", item.strength) : "";
    switch (item.kind) {
      case Kind::kRectangle:
        svg += fmt::format("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\"{}{}", item.x,
                           item.y, item.width, item.height, Hex(item.color), opacity, TitleOf(item.text));
        if (!item.text.empty()) svg += "rect>";
        break;
      case Kind::kLine:
        svg += fmt::format(
            "<line x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\" stroke=\"{}\" stroke-width=\"{:.2f}\"{}{}",
            item.x, item.y, item.width, item.height, Hex(item.color), item.thickness, opacity, TitleOf(item.text));
        if (!item.text.empty()) svg += "line>";
        break;
      case Kind::kText: {
        const char* anchor = item.anchor == Anchor::kStart ? "start" : item.anchor == Anchor::kEnd ? "end" : "middle";
        const std::string turn =
            item.turned ? fmt::format(" transform=\"rotate(-90 {:.2f} {:.2f})\"", item.x, item.y) : "";
        svg += fmt::format(
            "<text x=\"{:.2f}\" y=\"{:.2f}\" fill=\"{}\" text-anchor=\"{}\"{} xml:space=\"preserve\">{}</text>", item.x,
            item.y, Hex(item.color), anchor, turn, Markup(item.text));
        break;
      }
      case Kind::kImage:
        svg += fmt::format(
            "<image x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" preserveAspectRatio=\"none\" "
            "href=\"data:image/png;base64,{}\"/>",
            item.x, item.y, item.width, item.height, Base64(item.text.data(), item.text.size()));
        break;
    }
    svg += "\n";
  }
  return svg + "</svg>\n";
}

std::string Drawing::Png(const Fonts& fonts, uint64_t* boxes) const {
  constexpr double kScale = 2;
  Pixels pixels(width_ * kScale, height_ * kScale, theme_.page());
  for (const Item& item : items_) {
    const double x = item.x * kScale, y = item.y * kScale, width = item.width * kScale, height = item.height * kScale;
    switch (item.kind) {
      case Kind::kRectangle:
        pixels.Fill(x, y, x + width, y + height, item.color, item.strength);
        break;
      case Kind::kLine:
        pixels.Stroke(x, y, width, height, item.thickness * kScale, item.color, item.strength);
        break;
      case Kind::kText: {
        const double length = TextWidth(item.text) * kScale;
        const double back = item.anchor == Anchor::kStart ? 0 : item.anchor == Anchor::kEnd ? length : length / 2;
        *boxes += item.turned ? pixels.Write(x, y + back, Printable(item.text), kScale, item.color, true, fonts)
                              : pixels.Write(x - back, y, Printable(item.text), kScale, item.color, false, fonts);
        break;
      }
      case Kind::kImage:
        pixels.Place(x, y, width, height, item.text);
        break;
    }
  }
  return pixels.Png();
}

}  // namespace fovea::tools
