// Reads the JPEG files that stb_image does not decode by libjpeg, if the build found it.
#include "tools/base/fail.h"
#include "tools/image/formats.h"

#ifdef FOVEA_JPEG
#include <setjmp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
// In this order: each needs what is above it.
#include <jerror.h>
#include <jpeglib.h>
#endif

namespace fovea::tools {

#ifdef FOVEA_JPEG

namespace {

struct Errors {
  jpeg_error_mgr base;
  jmp_buf back;
  char message[JMSG_LENGTH_MAX];
};

[[noreturn]] void Stop(j_common_ptr decoder) {
  auto* errors = reinterpret_cast<Errors*>(decoder->err);
  errors->base.format_message(decoder, errors->message);
  longjmp(errors->back, 1);
}

// Damage that libjpeg only warns about stops here. The warning of arithmetic codes has a name in some versions only.
void Warn(j_common_ptr decoder, int level) {
  const jpeg_error_mgr& errors = *decoder->err;
  if (level >= 0 || errors.msg_code > errors.last_jpeg_message) return;
  const bool code = strstr(errors.jpeg_message_table[errors.msg_code], "arithmetic code") != nullptr;
  if (code || errors.msg_code == JWRN_HIT_MARKER || errors.msg_code == JWRN_JPEG_EOF) Stop(decoder);
}

// Reads the header, or with `pixels` all rows. It has no object with a destructor, since errors leave it by longjmp.
bool Decode(const uint8_t* data, unsigned long size, bool inks, Errors* errors, uint32_t* width, uint32_t* height,
            uint8_t* pixels) {
  jpeg_decompress_struct decoder = {};
  decoder.err = jpeg_std_error(&errors->base);
  errors->base.error_exit = Stop;
  errors->base.emit_message = Warn;
  if (setjmp(errors->back) != 0) {
    jpeg_destroy_decompress(&decoder);
    return false;
  }
  jpeg_create_decompress(&decoder);
  jpeg_mem_src(&decoder, data, size);
  jpeg_read_header(&decoder, TRUE);
  decoder.out_color_space = inks ? JCS_CMYK : JCS_RGB;
  if (pixels == nullptr) {
    jpeg_calc_output_dimensions(&decoder);
    *width = decoder.output_width;
    *height = decoder.output_height;
  } else {
    jpeg_start_decompress(&decoder);
    const size_t row = size_t{*width} * (inks ? 4 : 3);
    while (decoder.output_scanline < *height) {
      JSAMPROW at = pixels + row * decoder.output_scanline;
      jpeg_read_scanlines(&decoder, &at, 1);
    }
    jpeg_finish_decompress(&decoder);
  }
  jpeg_destroy_decompress(&decoder);
  return true;
}

}  // namespace

Picture ParseRareJpeg(const uint8_t* data, uint64_t size, uint32_t components) {
  const bool inks = components == 4;
  Errors errors;
  Picture picture;
  const auto read = [&](uint8_t* pixels) {
    if (!Decode(data, static_cast<unsigned long>(size), inks, &errors, &picture.width, &picture.height, pixels)) {
      Fail("broken: {}", errors.message);
    }
  };
  read(nullptr);
  CheckPixels(picture.height, picture.width);
  const uint64_t count = uint64_t{picture.width} * picture.height;
  picture.pixels.resize(count * (inks ? 4 : 3));
  read(picture.pixels.data());
  if (!inks) return picture;
  // Inks are stored inverted, as Adobe writes them and Pillow assumes.
  for (uint64_t i = 0; i < count; ++i) {
    const uint8_t* from = &picture.pixels[4 * i];
    const uint32_t black = from[3];
    uint8_t rgb[3];
    for (int c = 0; c < 3; ++c) {
      const uint32_t product = (255u - from[c]) * black + 128;
      rgb[c] = static_cast<uint8_t>(black - ((product + (product >> 8)) >> 8));
    }
    for (int c = 0; c < 3; ++c) picture.pixels[3 * i + static_cast<size_t>(c)] = rgb[c];
  }
  picture.pixels.resize(3 * count);
  return picture;
}

#else

Picture ParseRareJpeg(const uint8_t*, uint64_t, uint32_t components) {
  Fail(
      "{} needs libjpeg, which this fovea was built without; convert it to PNG ('convert in.jpg out.png'), or build "
      "with libjpeg-dev installed",
      components == 4 ? "a JPEG of four channels without Adobe's marker" : "an arithmetic-coded JPEG");
}

#endif

}  // namespace fovea::tools
