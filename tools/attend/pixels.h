// A raster image to draw on.
#ifndef FOVEA_TOOLS_ATTEND_PIXELS_H_
#define FOVEA_TOOLS_ATTEND_PIXELS_H_

#include <string>

#include "tools/attend/drawing.h"
#include "tools/image/png.h"

namespace fovea::tools {

constexpr double kColumn = 6.6;  // width of a narrow character
// Columns of a character: 0 for a combining one, 2 for a wide one.
int ColumnsOf(int32_t character);

class Pixels {
 public:
  // Fails for more than 2^27 pixels.
  Pixels(double width, double height, Color page);

  // Antialiased at the edges.
  void Fill(double left, double top, double right, double bottom, Color color, double strength);
  void Stroke(double x1, double y1, double x2, double y2, double thickness, Color color, double strength);
  // y: the base line. `turned`: upwards. Returns the number of characters that no font has and boxes replace; without
  // fonts there are ASCII letters, and accents are dropped.
  uint64_t Write(double x, double y, const std::string& text, double scale, Color color, bool turned,
                 const Fonts& fonts);
  // `png`: the bytes of a PNG file; nothing is drawn if it cannot be decoded.
  void Place(double x, double y, double width, double height, const std::string& png);

  std::string Png() const { return PngOf(picture_); }

 private:
  // `x`, `y`: the pen.
  void Place(const Glyph& glyph, double x, double y, Color color, bool turned);
  void Mix(int64_t x, int64_t y, Color color, double part);

  Picture picture_;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_ATTEND_PIXELS_H_
