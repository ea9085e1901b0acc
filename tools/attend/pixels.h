// A raster image to draw on.
#ifndef FOVEA_TOOLS_ATTEND_PIXELS_H_
#define FOVEA_TOOLS_ATTEND_PIXELS_H_

#include <string>

#include "tools/attend/drawing.h"
#include "tools/image/png.h"

namespace fovea::tools {

class Pixels {
 public:
  // Fails for more than 2^27 pixels.
  Pixels(double width, double height, Color page);

  // Antialiased at the edges.
  void Fill(double left, double top, double right, double bottom, Color color, double strength);
  void Stroke(double x1, double y1, double x2, double y2, double thickness, Color color, double strength);
  // y: the base line. ASCII letters; accents are dropped, other characters drawn as a box. `turned`: upwards.
  void Write(double x, double y, const std::string& text, double scale, Color color, bool turned);
  // `png`: the bytes of a PNG file; nothing is drawn if it cannot be decoded.
  void Place(double x, double y, double width, double height, const std::string& png);

  std::string Png() const { return PngOf(picture_); }

 private:
  void Mix(int64_t x, int64_t y, Color color, double part);

  Picture picture_;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_ATTEND_PIXELS_H_
