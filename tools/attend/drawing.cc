// Drawings of rectangles, lines and text, as SVG.
#include "tools/attend/drawing.h"

#include <fmt/format.h>

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

// A polynomial of degree 6, fitted to viridis.
Color ScaleColor(double value, bool dark) {
  static constexpr double kFit[3][7] = {
      {0.2777273272, 0.1050930431, -0.3308618287, -4.6342304990, 6.2282699363, 4.7763849977, -5.4354558559},
      {0.0054073445, 1.4046135299, 0.2148475595, -5.7991009734, 14.1799333668, -13.7451453777, 4.6458526122},
      {0.3340998053, 1.3845901626, 0.0950951630, -19.3324409563, 56.6905526007, -65.3530326334, 26.3124352496}};
  const double clamped = std::clamp(value, 0.0, 1.0), t = dark ? clamped : 1 - clamped;
  uint8_t parts[3];
  for (int i = 0; i < 3; ++i) {
    double level = 0;
    for (int k = 6; k >= 0; --k) level = level * t + kFit[i][k];
    parts[i] = static_cast<uint8_t>(std::clamp(level, 0.0, 1.0) * 255 + 0.5);
  }
  return {parts[0], parts[1], parts[2]};
}

Color Theme::InkOn(Color color) const {
  const double light = 0.299 * color.red + 0.587 * color.green + 0.114 * color.blue;
  return light > 120 ? Color{16, 16, 18} : Color{245, 245, 248};
}

double Drawing::TextWidth(const std::string& text) {
  double width = 0;
  for (const char c : Printable(text)) width += (static_cast<uint8_t>(c) & 0xc0) != 0x80 ? 6.6 : 0;
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

std::string Drawing::Png() const {
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
        item.turned ? pixels.Write(x, y + back, Printable(item.text), kScale, item.color, true)
                    : pixels.Write(x - back, y, Printable(item.text), kScale, item.color, false);
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
