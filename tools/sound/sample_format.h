// How a WAVE file stores its samples, and one of them as a number.
#ifndef FOVEA_TOOLS_SOUND_SAMPLE_FORMAT_H_
#define FOVEA_TOOLS_SOUND_SAMPLE_FORMAT_H_

#include <stdint.h>

#include <string>

namespace fovea::tools {

constexpr uint32_t kMaxSampleRate = 1000000;

struct SampleFormat {
  enum class Coding {
    kUnsigned,  // one byte, 128 is zero
    kUpper,     // two's complement in the upper bits of its bytes
    kLower,     // in the lower bits, the sign repeated above
    kFloat,
    kALaw,
    kMuLaw
  };
  Coding coding = Coding::kUpper;
  uint32_t channels = 0, rate = 0;
  uint32_t bits = 0, bytes = 0;  // bits that count, and the bytes that hold them
  bool extensible = false;       // states where the bits are

  uint64_t frame() const { return uint64_t{channels} * bytes; }
};

// Of the "fmt " chunk. Fails with the name of what is not read.
SampleFormat ReadSampleFormat(const uint8_t* chunk, uint64_t size);

// Where the bits of samples are that have fewer than their bytes: in the upper ones as the standard says, unless all of
// these samples show that they are in the lower ones. Returns a note if it had to look; fails if neither can be.
std::string FindBits(const uint8_t* samples, uint64_t size, SampleFormat* format);

// From -1 to 1, floats as they are.
double SampleAt(const SampleFormat& format, const uint8_t* at);

// Little-endian, at most eight bytes.
uint64_t LittleEndian(const uint8_t* at, uint32_t bytes);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_SOUND_SAMPLE_FORMAT_H_
