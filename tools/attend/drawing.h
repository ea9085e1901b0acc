// Pictures made of rectangles, lines and text, as SVG or as PNG.
#ifndef FOVEA_TOOLS_ATTEND_DRAWING_H_
#define FOVEA_TOOLS_ATTEND_DRAWING_H_

#include <stdint.h>

#include <string>
#include <vector>

namespace fovea::tools {

struct Color {
  uint8_t red = 0, green = 0, blue = 0;
};

// Of a number from 0 to 1: as even to the eye as it can be, for all eyes, the further from the page's color the larger
// the number.
Color ScaleColor(double value, bool dark);

// Colors of a page.
struct Theme {
  bool dark = false;
  Color page() const { return dark ? Color{18, 18, 20} : Color{255, 255, 255}; }
  Color ink() const { return dark ? Color{226, 226, 230} : Color{28, 28, 32}; }
  Color faint() const { return dark ? Color{70, 70, 76} : Color{205, 205, 212}; }
  // Text that stands on a color of the scale.
  Color InkOn(Color color) const;
};

enum class Anchor { kStart, kMiddle, kEnd };

class Drawing {
 public:
  explicit Drawing(Theme theme) : theme_(theme) {}

  const Theme& theme() const { return theme_; }
  // `title` says what something shows, where a pointer rests on it.
  void Rectangle(double x, double y, double width, double height, Color color, const std::string& title = "");
  // `strength`: 0 cannot be seen, 1 hides what is behind it.
  void Shade(double x, double y, double width, double height, Color color, double strength, const std::string& title);
  void Line(double x1, double y1, double x2, double y2, double width, Color color, double strength,
            const std::string& title = "");
  // y: the base line. `turned`: upwards, a quarter to the left.
  void Text(double x, double y, const std::string& text, Anchor anchor = Anchor::kStart, bool turned = false);
  void TextIn(double x, double y, const std::string& text, Color color, Anchor anchor = Anchor::kStart);
  // The bytes of a PNG file.
  void Image(double x, double y, double width, double height, const std::string& png);

  std::string Svg() const;
  // Twice as many pixels as units.
  std::string Png() const;

  // About how wide a text is.
  static double TextWidth(const std::string& text);
  static constexpr double kTextHeight = 12;

 private:
  enum class Kind { kRectangle, kLine, kText, kImage };
  struct Item {
    Kind kind;
    double x, y, width, height;  // a line: from, to
    double thickness, strength;
    Color color;
    std::string text;  // a title, what is written, or an image's file
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
