// A picture that is drawn on, pixel by pixel.
#ifndef FOVEA_TOOLS_ATTEND_PIXELS_H_
#define FOVEA_TOOLS_ATTEND_PIXELS_H_

#include <string>

#include "tools/attend/drawing.h"
#include "tools/image/png.h"

namespace fovea::tools {

class Pixels {
 public:
  // Fails where that is more than 2^27 pixels.
  Pixels(double width, double height, Color page);

  // Pixels that are covered in part are mixed.
  void Fill(double left, double top, double right, double bottom, Color color, double strength);
  void Stroke(double x1, double y1, double x2, double y2, double thickness, Color color, double strength);
  // y: the base line. Letters of ASCII; others without their accents, or as a box. `turned`: upwards.
  void Write(double x, double y, const std::string& text, double scale, Color color, bool turned);
  // The bytes of a PNG file; nothing where it cannot be read.
  void Place(double x, double y, double width, double height, const std::string& png);

  std::string Png() const { return PngOf(picture_); }

 private:
  void Mix(int64_t x, int64_t y, Color color, double part);

  Picture picture_;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_ATTEND_PIXELS_H_
