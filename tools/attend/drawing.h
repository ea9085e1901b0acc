// Drawings of rectangles, lines and text, as SVG or PNG.
#ifndef FOVEA_TOOLS_ATTEND_DRAWING_H_
#define FOVEA_TOOLS_ATTEND_DRAWING_H_

#include <stdint.h>

#include <string>
#include <vector>

#include "tools/attend/fonts.h"

namespace fovea::tools {

struct Color {
  uint8_t red = 0, green = 0, blue = 0;
};

// Color for a number from 0 to 1, on the scale of the page (page/colour.mjs): the larger the number, the greater the
// contrast to the page.
Color ScaleColor(double value, bool dark);

// Colors of the page (page/page.css).
struct Theme {
  bool dark = false;
  Color page() const { return dark ? Color{20, 23, 27} : Color{251, 251, 250}; }
  Color ink() const { return dark ? Color{230, 232, 235} : Color{27, 31, 36}; }
  Color faint() const { return dark ? Color{54, 60, 68} : Color{216, 220, 224}; }
  // Readable color for text on a background of the scale.
  Color InkOn(Color color) const;
};

enum class Anchor { kStart, kMiddle, kEnd };

class Drawing {
 public:
  explicit Drawing(Theme theme) : theme_(theme) {}

  const Theme& theme() const { return theme_; }
  // `title`: tooltip.
  void Rectangle(double x, double y, double width, double height, Color color, const std::string& title = "");
  // `strength`: opacity, 0 to 1.
  void Shade(double x, double y, double width, double height, Color color, double strength, const std::string& title);
  void Line(double x1, double y1, double x2, double y2, double width, Color color, double strength,
            const std::string& title = "");
  // y: the base line. `turned`: rotated by 90 degrees counterclockwise.
  void Text(double x, double y, const std::string& text, Anchor anchor = Anchor::kStart, bool turned = false);
  void TextIn(double x, double y, const std::string& text, Color color, Anchor anchor = Anchor::kStart);
  // `png`: the bytes of a PNG file.
  void Image(double x, double y, double width, double height, const std::string& png);

  std::string Svg() const;
  // 2 pixels per unit. `boxes`: the number of characters that no font has, which are drawn as boxes.
  std::string Png(const Fonts& fonts, uint64_t* boxes) const;

  // Width of a text: characters are one or two columns wide.
  static double TextWidth(const std::string& text);
  static constexpr double kTextHeight = 12;

 private:
  enum class Kind { kRectangle, kLine, kText, kImage };
  struct Item {
    Kind kind;
    double x, y, width, height;  // for a line: start and end point
    double thickness, strength;
    Color color;
    std::string text;  // tooltip, text, or an image's file
    Anchor anchor;
    bool turned;
  };
  void Add(Item item);

  Theme theme_;
  double width_ = 0, height_ = 0;
  std::vector<Item> items_;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_ATTEND_DRAWING_H_
