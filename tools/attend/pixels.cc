// A raster image to draw on.
#include "tools/attend/pixels.h"

#include <math.h>
#include <string.h>
#include <utf8proc.h>

#include <algorithm>
#include <vector>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb/stb_easy_font.h>
#pragma GCC diagnostic pop

#include "tools/base/fail.h"
#include "tools/image/resize.h"

namespace fovea::tools {
namespace {

constexpr double kMostPixels = 134217728;
constexpr double kFontSize = 13;  // height of a line of a font whose characters are kColumn wide

// The letter to draw for a character; 0: a box.
char LetterOf(utf8proc_int32_t character) {
  if (character < 128) return static_cast<char>(character);
  utf8proc_int32_t parts[8];
  int last = 0;
  const auto count = utf8proc_decompose_char(
      character, parts, 8, static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT), &last);
  return count > 0 && parts[0] > 32 && parts[0] < 127 ? static_cast<char>(parts[0]) : '\0';
}

}  // namespace

int ColumnsOf(int32_t character) { return character < 0 ? 1 : std::clamp(utf8proc_charwidth(character), 0, 2); }

Pixels::Pixels(double width, double height, Color page) {
  if (!(width * height <= kMostPixels)) {
    Fail("an image of {:.0f} x {:.0f} pixels is too large; choose fewer rows, or write SVG", width, height);
  }
  picture_.width = static_cast<uint32_t>(std::max(1.0, ceil(width)));
  picture_.height = static_cast<uint32_t>(std::max(1.0, ceil(height)));
  picture_.pixels.resize(size_t{3} * picture_.width * picture_.height);
  for (size_t i = 0; i < picture_.pixels.size(); i += 3) {
    picture_.pixels[i] = page.red, picture_.pixels[i + 1] = page.green, picture_.pixels[i + 2] = page.blue;
  }
}

void Pixels::Mix(int64_t x, int64_t y, Color color, double part) {
  if (x < 0 || y < 0 || x >= picture_.width || y >= picture_.height || part <= 0) return;
  uint8_t* pixel = &picture_.pixels[3 * (static_cast<size_t>(y) * picture_.width + static_cast<size_t>(x))];
  const uint8_t parts[3] = {color.red, color.green, color.blue};
  for (int i = 0; i < 3; ++i)
    pixel[i] = static_cast<uint8_t>(pixel[i] + (parts[i] - pixel[i]) * std::min(1.0, part) + 0.5);
}

void Pixels::Fill(double left, double top, double right, double bottom, Color color, double strength) {
  right = std::min(right, static_cast<double>(picture_.width) + 1),
  bottom = std::min(bottom, static_cast<double>(picture_.height) + 1);
  for (auto y = static_cast<int64_t>(floor(top)); static_cast<double>(y) < bottom; ++y) {
    const auto row = static_cast<double>(y);
    const double down = std::min(row + 1, bottom) - std::max(row, top);
    for (auto x = static_cast<int64_t>(floor(left)); static_cast<double>(x) < right; ++x) {
      const auto column = static_cast<double>(x);
      Mix(x, y, color, strength * down * (std::min(column + 1, right) - std::max(column, left)));
    }
  }
}

void Pixels::Stroke(double x1, double y1, double x2, double y2, double thickness, Color color, double strength) {
  const double half = thickness / 2, length = hypot(x2 - x1, y2 - y1);
  const double top = std::max(0.0, std::min(y1, y2) - half - 1);
  const double bottom = std::min(static_cast<double>(picture_.height), std::max(y1, y2) + half + 1);
  const double left = std::max(0.0, std::min(x1, x2) - half - 1);
  const double right = std::min(static_cast<double>(picture_.width), std::max(x1, x2) + half + 1);
  for (auto y = static_cast<int64_t>(top); static_cast<double>(y) < bottom; ++y) {
    for (auto x = static_cast<int64_t>(left); static_cast<double>(x) < right; ++x) {
      const double px = static_cast<double>(x) + 0.5 - x1, py = static_cast<double>(y) + 0.5 - y1;
      const double along =
          length == 0 ? 0 : std::clamp((px * (x2 - x1) + py * (y2 - y1)) / (length * length), 0.0, 1.0);
      const double distance = hypot(px - along * (x2 - x1), py - along * (y2 - y1));
      Mix(x, y, color, strength * std::clamp(half + 0.5 - distance, 0.0, 1.0));
    }
  }
}

void Pixels::Place(const Glyph& glyph, double x, double y, Color color, bool turned) {
  const auto at_x = static_cast<int64_t>(lround(x)), at_y = static_cast<int64_t>(lround(y));
  for (int row = 0; row < glyph.height; ++row) {
    for (int column = 0; column < glyph.width; ++column) {
      const size_t index = static_cast<size_t>(row) * static_cast<size_t>(glyph.width) + static_cast<size_t>(column);
      const double part = glyph.coverage[index] / 255.0;
      const int64_t right = glyph.left + column, down = glyph.top + row;
      turned ? Mix(at_x + down, at_y - right, color, part) : Mix(at_x + right, at_y + down, color, part);
    }
  }
}

uint64_t Pixels::Write(double x, double y, const std::string& text, double scale, Color color, bool turned,
                       const Fonts& fonts) {
  const double baseline = 8;  // base line of the font
  // Fills a rectangle of a letter, in units of the font from the start of the text.
  const auto fill = [&](double left, double top, double right, double bottom) {
    left *= scale, right *= scale, top = (top - baseline) * scale, bottom = (bottom - baseline) * scale;
    if (turned) {
      Fill(x + top, y - right, x + bottom, y - left, color, 1);
    } else {
      Fill(x + left, y + top, x + right, y + bottom, color, 1);
    }
  };
  double at = 0;
  uint64_t boxes = 0;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  int columns = 1;
  for (size_t i = 0; i < text.size(); at += kColumn * columns) {
    utf8proc_int32_t character = 0;
    const utf8proc_ssize_t size =
        utf8proc_iterate(bytes + i, static_cast<utf8proc_ssize_t>(text.size() - i), &character);
    i += size > 0 ? static_cast<size_t>(size) : 1;
    columns = ColumnsOf(size > 0 ? character : -1);
    if (character == ' ') continue;
    const auto glyph = size > 0 ? fonts.Find(static_cast<uint32_t>(character), kFontSize * scale,
                                             kColumn * scale * std::max(1, columns))
                                : std::nullopt;
    if (glyph) {
      turned ? Place(*glyph, x, y - at * scale, color, true) : Place(*glyph, x + at * scale, y, color, false);
      continue;
    }
    const char letter = size > 0 && fonts.empty() ? LetterOf(character) : '\0';
    if (letter == '\0') {
      ++boxes;
      fill(at + 1, 2, at + 6, 3), fill(at + 1, 8, at + 6, 9), fill(at + 1, 3, at + 2, 8), fill(at + 5, 3, at + 6, 8);
      continue;
    }
    struct Vertex {
      float x, y, z;
      uint8_t color[4];
    };
    char one[2] = {letter, '\0'};
    std::vector<Vertex> vertices(4 * 64);
    const int quads =
        stb_easy_font_print(0, 0, one, nullptr, vertices.data(), static_cast<int>(vertices.size() * sizeof(Vertex)));
    for (int quad = 0; quad < quads; ++quad) {
      const Vertex &first = vertices[4 * static_cast<size_t>(quad)],
                   &third = vertices[4 * static_cast<size_t>(quad) + 2];
      fill(at + double{first.x}, double{first.y}, at + double{third.x}, double{third.y});
    }
  }
  return boxes;
}

void Pixels::Place(double x, double y, double width, double height, const std::string& png) {
  Picture placed;
  try {
    placed = ParsePicture(reinterpret_cast<const uint8_t*>(png.data()), png.size());
  } catch (const Failure&) {
    return;
  }
  placed = Resize(placed, static_cast<uint32_t>(std::max(1.0, height)), static_cast<uint32_t>(std::max(1.0, width)),
                  Filter::kBilinear);
  for (uint32_t row = 0; row < placed.height; ++row) {
    for (uint32_t column = 0; column < placed.width; ++column) {
      const uint8_t* pixel = &placed.pixels[3 * (size_t{row} * placed.width + column)];
      Mix(static_cast<int64_t>(x) + column, static_cast<int64_t>(y) + row, {pixel[0], pixel[1], pixel[2]}, 1);
    }
  }
}

}  // namespace fovea::tools
