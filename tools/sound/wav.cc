// Sound files: RIFF WAVE.
#include "tools/sound/wav.h"

#include <math.h>
#include <string.h>

#include <algorithm>

#include "tools/base/fail.h"
#include "tools/base/mapped_file.h"

namespace fovea::tools {
namespace {

enum : uint32_t { kPcm = 1, kFloat = 3, kExtensible = 0xfffe };
constexpr uint32_t kUnknownSize = 0xffffffff;  // of what was written as it came
constexpr uint32_t kMaxRate = 1000000, kMaxChannels = 256;

uint32_t Number(const uint8_t* at, int bytes) {
  uint32_t number = 0;
  for (int i = bytes; i-- > 0;) number = number << 8 | at[i];
  return number;
}

struct Format {
  uint32_t kind = 0, channels = 0, rate = 0, bits = 0;
  uint32_t bytes() const { return bits / 8; }
};

Format ReadFormat(const uint8_t* chunk, uint64_t size) {
  if (size < 16) Fail("the format chunk has {} bytes", size);
  Format format = {Number(chunk, 2), Number(chunk + 2, 2), Number(chunk + 4, 4), Number(chunk + 14, 2)};
  if (format.kind == kExtensible && size >= 40) format.kind = Number(chunk + 24, 2);
  const bool pcm =
      format.kind == kPcm && (format.bits == 8 || format.bits == 16 || format.bits == 24 || format.bits == 32);
  if (!pcm && !(format.kind == kFloat && (format.bits == 32 || format.bits == 64))) {
    Fail("samples of format {} with {} bits are not read; PCM of 8, 16, 24 or 32 bits is, and floats", format.kind,
         format.bits);
  }
  if (format.channels == 0 || format.channels > kMaxChannels) Fail("{} channels", format.channels);
  if (format.rate == 0 || format.rate > kMaxRate) Fail("{} samples in a second", format.rate);
  return format;
}

double Sample(const Format& format, const uint8_t* at) {
  if (format.kind == kFloat) {
    float narrow;
    double wide;
    memcpy(&narrow, at, sizeof(narrow));
    if (format.bits == 32) return narrow;
    memcpy(&wide, at, sizeof(wide));
    return wide;
  }
  if (format.bits == 8) return (at[0] - 128) / 128.0;
  // To the upper bits of 32, where the sign is.
  const uint32_t upper = Number(at, static_cast<int>(format.bytes())) << (32 - format.bits);
  return static_cast<int32_t>(upper) / 2147483648.0;
}

Sound ReadSamples(const Format& format, const uint8_t* data, uint64_t size) {
  const uint64_t frame = uint64_t{format.channels} * format.bytes();
  Sound sound;
  sound.rate = format.rate;
  sound.samples.reserve(size / frame);
  for (uint64_t at = 0; at + frame <= size; at += frame) {
    double sum = 0;
    for (uint32_t c = 0; c < format.channels; ++c) sum += Sample(format, data + at + c * uint64_t{format.bytes()});
    const auto sample = static_cast<float>(sum / format.channels);
    if (!std::isfinite(sample)) Fail("sample {} is no number", sound.samples.size());
    sound.samples.push_back(sample);
  }
  return sound;
}

constexpr double kPi = 3.14159265358979323846;
constexpr double kCrossings = 32, kBeta = 9;

// Of the first kind, order zero.
double Bessel(double x) {
  double sum = 1, term = 1;
  for (int i = 1; term > sum * 1e-17; ++i) {
    term *= x / (2 * i) * (x / (2 * i));
    sum += term;
  }
  return sum;
}

// A sinc under Kaiser's window, x in crossings.
double LowPass(double x) {
  if (fabs(x) >= kCrossings) return 0;
  const double place = x / kCrossings, sinc = x == 0 ? 1 : sin(kPi * x) / (kPi * x);
  return sinc * Bessel(kBeta * sqrt(1 - place * place)) / Bessel(kBeta);
}

uint32_t Gcd(uint32_t a, uint32_t b) { return b == 0 ? a : Gcd(b, a % b); }

}  // namespace

Sound ParseWav(const uint8_t* data, uint64_t size) {
  if (size < 12 || memcmp(data, "RIFF", 4) != 0 || memcmp(data + 8, "WAVE", 4) != 0) Fail("it is no RIFF WAVE file");
  Format format;
  for (uint64_t at = 12; at + 8 <= size;) {
    const uint8_t* chunk = data + at;
    uint64_t bytes = Number(chunk + 4, 4);
    const uint64_t left = size - at - 8;
    const bool samples = memcmp(chunk, "data", 4) == 0;
    if (samples && bytes == kUnknownSize) bytes = left;
    if (bytes > left) Fail("it ends within a chunk: {} bytes of {}", left, bytes);
    if (memcmp(chunk, "fmt ", 4) == 0) format = ReadFormat(chunk + 8, bytes);
    if (samples && format.rate == 0) Fail("samples come before their format");
    if (samples) return ReadSamples(format, chunk + 8, bytes);
    at += 8 + bytes + bytes % 2;
  }
  Fail("it has no samples");
}

Sound ReadWav(const std::string& path) {
  const MappedFile file(path);
  try {
    return ParseWav(file.data(), file.size());
  } catch (const Failure& failure) {
    Fail("{}: {}", path, failure.what());
  }
}

Sound Resample(const Sound& sound, uint32_t rate) {
  if (rate == 0 || rate > kMaxRate) Fail("{} samples in a second", rate);
  if (rate == sound.rate) return sound;
  // Sample i lies at i * down / up; a table for each of its places between two samples.
  const uint32_t common = Gcd(rate, sound.rate), up = rate / common, down = sound.rate / common;
  const double cutoff = std::min(1.0, static_cast<double>(up) / down);
  const auto half = static_cast<int64_t>(ceil(kCrossings / cutoff));
  const auto taps = static_cast<size_t>(2 * half + 1);
  std::vector<std::vector<float>> tables(up);
  const uint64_t count = (sound.samples.size() * up + down - 1) / down;
  Sound result;
  result.rate = rate;
  result.samples.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    const auto place = static_cast<int64_t>(i * down / up);
    const uint64_t phase = i * down % up;
    std::vector<float>& table = tables[phase];
    for (size_t k = table.size(); k < taps; ++k) {
      const double distance = static_cast<double>(phase) / up + static_cast<double>(half) - static_cast<double>(k);
      table.push_back(static_cast<float>(cutoff * LowPass(distance * cutoff)));
    }
    double sum = 0;
    for (size_t k = 0; k < taps; ++k) {
      const int64_t from = place - half + static_cast<int64_t>(k);
      if (from < 0 || from >= static_cast<int64_t>(sound.samples.size())) continue;
      sum += static_cast<double>(table[k]) * sound.samples[static_cast<size_t>(from)];
    }
    result.samples.push_back(static_cast<float>(sum));
  }
  return result;
}

}  // namespace fovea::tools
