// Outlines of characters from fonts that are installed on the machine.
#include "tools/attend/fonts.h"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <map>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#define STB_TRUETYPE_IMPLEMENTATION
#define STBTT_STATIC
#include <stb/stb_truetype.h>
#pragma GCC diagnostic pop

#include "tools/base/fail.h"
#include "tools/base/mapped_file.h"
#include "tools/base/utf8_path.h"

namespace fovea::tools {
namespace {

namespace fs = std::filesystem;

// Fonts of one width first, then fonts with more scripts, such as Chinese and Devanagari.
constexpr const char* kNames[] = {"DejaVuSansMono.ttf",
                                  "LiberationMono-Regular.ttf",
                                  "NotoSansMono-Regular.ttf",
                                  "Menlo.ttc",
                                  "consola.ttf",
                                  "NotoSansCJK-Regular.ttc",
                                  "NotoSansCJKjp-Regular.otf",
                                  "wqy-microhei.ttc",
                                  "wqy-zenhei.ttc",
                                  "DroidSansFallbackFull.ttf",
                                  "DroidSansFallback.ttf",
                                  "unifont.otf",
                                  "unifont.ttf",
                                  "PingFang.ttc",
                                  "Hiragino Sans GB.ttc",
                                  "AppleSDGothicNeo.ttc",
                                  "msgothic.ttc",
                                  "msyh.ttc",
                                  "malgun.ttf",
                                  "DejaVuSans.ttf",
                                  "NotoSans-Regular.ttf",
                                  "NotoSansArabic-Regular.ttf",
                                  "NotoSansHebrew-Regular.ttf",
                                  "NotoSansDevanagari-Regular.ttf",
                                  "NotoSansThai-Regular.ttf"};
constexpr size_t kMostFiles = 20000;  // in the folders of fonts

std::vector<std::string> Folders() {
  std::vector<std::string> folders = {"/usr/share/fonts", "/usr/local/share/fonts", "/System/Library/Fonts",
                                      "/Library/Fonts", "C:\\Windows\\Fonts"};
  if (const char* home = getenv("HOME")) {
    folders.push_back(std::string(home) + "/.fonts");
    folders.push_back(std::string(home) + "/.local/share/fonts");
  }
  return folders;
}

}  // namespace

struct Fonts::Font {
  std::string bytes;
  stbtt_fontinfo info;

  bool Read(const std::string& path) {
    const MappedFile file(path);
    bytes.assign(reinterpret_cast<const char*>(file.data()), file.size());
    const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
    const int at = bytes.size() < 12 ? -1 : stbtt_GetFontOffsetForIndex(data, 0);
    return at >= 0 && stbtt_InitFont(&info, data, at) != 0;
  }
};

Fonts::Fonts() {
  std::map<std::string, std::string> found;
  size_t files = 0;
  for (const std::string& folder : Folders()) {
    std::error_code error;
    for (fs::recursive_directory_iterator at(Utf8Path(folder), fs::directory_options::skip_permission_denied, error),
         end;
         !error && at != end && files < kMostFiles; at.increment(error), ++files) {
      found.emplace(at->path().filename().string(), at->path().string());
    }
  }
  for (const char* name : kNames) {
    const auto path = found.find(name);
    if (path == found.end()) continue;
    auto font = std::make_unique<Font>();
    try {
      if (font->Read(path->second)) fonts_.push_back(std::move(font));
    } catch (const Failure&) {
      continue;  // a font that cannot be read is as if it were not installed
    }
  }
}

Fonts::~Fonts() = default;

std::optional<Glyph> Fonts::Find(uint32_t character, double size, double cell) const {
  for (const auto& font : fonts_) {
    const int index = stbtt_FindGlyphIndex(&font->info, static_cast<int>(character));
    if (index == 0) continue;
    const float scale = stbtt_ScaleForPixelHeight(&font->info, static_cast<float>(size));
    int advance = 0, bearing = 0;
    stbtt_GetGlyphHMetrics(&font->info, index, &advance, &bearing);
    const double wide = static_cast<double>(advance) * static_cast<double>(scale);
    const float narrow = wide > cell ? scale * static_cast<float>(cell / wide) : scale;
    int left = 0, top = 0, right = 0, bottom = 0;
    stbtt_GetGlyphBitmapBox(&font->info, index, narrow, scale, &left, &top, &right, &bottom);
    Glyph glyph = {left, top, std::max(0, right - left), std::max(0, bottom - top), {}};
    if (wide < cell) glyph.left += static_cast<int>((cell - wide) / 2);
    glyph.coverage.resize(static_cast<size_t>(glyph.width) * static_cast<size_t>(glyph.height));
    if (!glyph.coverage.empty()) {
      stbtt_MakeGlyphBitmap(&font->info, glyph.coverage.data(), glyph.width, glyph.height, glyph.width, narrow, scale,
                            index);
    }
    return glyph;
  }
  return std::nullopt;
}

}  // namespace fovea::tools
