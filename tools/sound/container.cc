#include "tools/sound/container.h"

#include <string.h>

namespace fovea::tools {

Container ContainerOf(const uint8_t* data, uint64_t size) {
  using Reader = Container::Reader;
  constexpr uint64_t kHead = 12;
  if (size < kHead) return {nullptr, Reader::kNone};
  const auto begins = [&](uint64_t at, const char* with) { return memcmp(data + at, with, strlen(with)) == 0; };
  const bool wave = begins(8, "WAVE");
  if (wave && (begins(0, "RIFF") || begins(0, "RF64") || begins(0, "BW64"))) return {"RIFF WAVE", Reader::kWav};
  if (begins(0, "RIFX")) return {"RIFX, big-endian RIFF WAVE", Reader::kLibrary};
  if (begins(0, "RIFF")) return {"RIFF, but not of WAVE", Reader::kNone};
  if (begins(0, "riff")) return {"Wave64", Reader::kLibrary};
  if (begins(0, "fLaC")) return {"FLAC", Reader::kLibrary};
  if (begins(0, "OggS")) return {"Ogg", Reader::kLibrary};
  if (begins(0, "FORM")) return {"AIFF", Reader::kLibrary};
  if (begins(0, ".snd")) return {"AU", Reader::kLibrary};
  if (begins(0, "caff")) return {"CAF", Reader::kLibrary};
  if (begins(4, "ftyp")) return {"MP4 or M4A", Reader::kNone};
  if (begins(0, "\x1a\x45\xdf\xa3")) return {"Matroska or WebM", Reader::kNone};
  // Frames of MPEG audio have two bits of a layer; 0 is AAC.
  const bool frame = data[0] == 0xff && (data[1] & 0xe0) == 0xe0;
  if (frame && (data[1] & 6) == 0) return {"AAC", Reader::kNone};
  if (begins(0, "ID3") || frame) return {"MP3", Reader::kLibrary};
  return {nullptr, Reader::kNone};
}

}  // namespace fovea::tools
