// Sample formats of WAVE files, and decoding of a sample.
#ifndef FOVEA_TOOLS_SOUND_SAMPLE_FORMAT_H_
#define FOVEA_TOOLS_SOUND_SAMPLE_FORMAT_H_

#include <stdint.h>

#include <string>

#include "tools/base/fail.h"
#include "tools/sound/sample_source.h"

namespace fovea::tools {

constexpr uint32_t kMaxSampleRate = 1000000;

struct SampleFormat {
  enum class Coding {
    kUnsigned,  // one byte with offset 128
    kUpper,     // two's complement in the upper bits of its bytes
    kLower,     // in the lower bits, sign-extended
    kFloat,
    kALaw,
    kMuLaw
  };
  Coding coding = Coding::kUpper;
  uint32_t channels = 0, rate = 0;
  uint32_t bits = 0, bytes = 0;  // significant bits, and bytes per sample
  bool extensible = false;       // specifies the position of the bits

  uint64_t frame() const { return uint64_t{channels} * bytes; }
};

// Samples of a WAV file that are well described, but not read here.
struct UnsupportedSamples : Failure {
  using Failure::Failure;
};

// Parses the "fmt " chunk. Throws UnsupportedSamples with the name of an unsupported format.
SampleFormat ReadSampleFormat(const uint8_t* chunk, uint64_t size);

// Determines the position of samples that have fewer bits than their bytes: the upper bits, by the standard, unless all
// samples show that they are the lower bits. Returns a note if it examined them; fails if neither is possible.
// `forget` (may be null) receives what was examined.
std::string FindBits(const uint8_t* samples, uint64_t size, const ForgetBytes& forget, SampleFormat* format);

// The mean of the channels, in [-1, 1]; floats unchanged.
void DecodeFrames(const SampleFormat& format, const uint8_t* from, uint64_t frames, float* to);

// Little-endian, at most eight bytes.
uint64_t LittleEndian(const uint8_t* at, uint32_t bytes);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_SOUND_SAMPLE_FORMAT_H_
