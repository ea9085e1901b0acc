// Outlines of characters from fonts that are installed on the machine, for PNG views.
#ifndef FOVEA_TOOLS_ATTEND_FONTS_H_
#define FOVEA_TOOLS_ATTEND_FONTS_H_

#include <stdint.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fovea::tools {

// A character as coverage of pixels, 0 to 255; `left` and `top` are relative to the pen on the base line.
struct Glyph {
  int left = 0, top = 0, width = 0, height = 0;
  std::vector<uint8_t> coverage;
};

class Fonts {
 public:
  // Fonts of the machine, by the names of the usual files. Font files of the system are trusted.
  Fonts();
  ~Fonts();
  Fonts(const Fonts&) = delete;
  Fonts& operator=(const Fonts&) = delete;

  bool empty() const { return fonts_.empty(); }
  // `size`: pixels from one line to the next; `cell`: pixels of a column, to which wider characters are narrowed.
  std::optional<Glyph> Find(uint32_t character, double size, double cell) const;

 private:
  struct Font;
  std::vector<std::unique_ptr<Font>> fonts_;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_ATTEND_FONTS_H_
