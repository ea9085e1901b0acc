// Sample formats of WAVE files: Microsoft's WAVEFORMATEX and WAVEFORMATEXTENSIBLE, ITU-T G.711 for A-law and mu-law.
#include "tools/sound/sample_format.h"

#include <fmt/format.h>
#include <string.h>

#include <algorithm>
#include <optional>
#include <type_traits>

#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

using Coding = SampleFormat::Coding;

enum : uint32_t { kPcm = 1, kFloat = 3, kALaw = 6, kMuLaw = 7, kExtensible = 0xfffe };
constexpr uint32_t kMaxChannels = 256;
constexpr char kReadAre[] = "PCM of up to 32 bits, floats of 32 and 64, A-law and mu-law are";

std::string NameOf(uint32_t kind) {
  switch (kind) {
    case 0x0002:
      return "Microsoft's ADPCM";
    case 0x0011:
      return "IMA ADPCM";
    case 0x0031:
      return "GSM 6.10";
    case 0x0050:
      return "MPEG audio";
    case 0x0055:
      return "MP3";
    case 0x00ff:
      return "AAC";
    default:
      return fmt::format("format {}", kind);
  }
}

std::optional<Coding> CodingOf(uint32_t kind, const SampleFormat& format) {
  if (kind == kPcm && format.bits > 0 && format.bytes <= 4) {
    return format.bytes == 1 ? Coding::kUnsigned : Coding::kUpper;
  }
  if (kind == kFloat && (format.bits == 32 || format.bits == 64) && format.bits == format.bytes * 8) {
    return Coding::kFloat;
  }
  if (kind == kALaw && format.bits == 8 && format.bytes == 1) return Coding::kALaw;
  if (kind == kMuLaw && format.bits == 8 && format.bytes == 1) return Coding::kMuLaw;
  return std::nullopt;
}

double FloatAt(const uint8_t* at, uint32_t bytes) {
  float narrow;
  double wide;
  memcpy(&narrow, at, sizeof(narrow));
  if (bytes == sizeof(narrow)) return narrow;
  memcpy(&wide, at, sizeof(wide));
  return wide;
}

// Both have a sign bit, three bits of exponent and four of mantissa.
int32_t FromMuLaw(uint8_t code) {
  const uint8_t bits = static_cast<uint8_t>(~code);
  const int32_t size = ((((bits & 15) << 3) + 0x84) << (bits >> 4 & 7)) - 0x84;
  return (bits & 0x80) != 0 ? -size : size;
}

int32_t FromALaw(uint8_t code) {
  const uint8_t bits = code ^ 0x55;
  const int exponent = bits >> 4 & 7;
  int32_t size = ((bits & 15) << 4) + 8;
  if (exponent > 0) size = (size + 0x100) << (exponent - 1);
  return (bits & 0x80) != 0 ? size : -size;
}

}  // namespace

uint64_t LittleEndian(const uint8_t* at, uint32_t bytes) {
  uint64_t number = 0;
  for (uint32_t i = bytes; i-- > 0;) number = number << 8 | at[i];
  return number;
}

SampleFormat ReadSampleFormat(const uint8_t* chunk, uint64_t size) {
  if (size < 16) Fail("the format chunk has {} bytes, at least 16 are needed", size);
  const auto number = [&](uint64_t at, uint32_t bytes) {
    return static_cast<uint32_t>(LittleEndian(chunk + at, bytes));
  };
  SampleFormat format;
  uint32_t kind = number(0, 2);
  format.channels = number(2, 2), format.rate = number(4, 4), format.bits = number(14, 2);
  const uint32_t frame = number(12, 2), container = format.bits;
  if (format.channels == 0 || format.channels > kMaxChannels) Fail("{} channels are not supported", format.channels);
  if (format.rate == 0 || format.rate > kMaxSampleRate) Fail("a sampling rate of {} Hz is not supported", format.rate);
  if (kind == kExtensible && size >= 40) {
    kind = number(24, 2), format.extensible = true;
    const uint32_t valid = number(18, 2);
    if (valid > container) Fail("{} valid bits exceed samples of {} bits", valid, container);
    if (valid != 0 && kind == kPcm) format.bits = valid;
  }
  format.bytes = frame / format.channels;
  const bool known = kind == kPcm || kind == kFloat || kind == kALaw || kind == kMuLaw;
  if (known && (frame % format.channels != 0 || format.bytes * 8 < container)) {
    Fail("frames of {} bytes do not match {} channels of {} bits each", frame, format.channels, container);
  }
  const std::optional<Coding> coding = CodingOf(kind, format);
  if (!coding) {
    throw UnsupportedSamples(
        fmt::format("samples of {} with {} bits in {} bytes are not supported; {}: convert the file first",
                    NameOf(kind), format.bits, format.bytes, kReadAre));
  }
  format.coding = *coding;
  return format;
}

std::string FindBits(const uint8_t* samples, uint64_t size, const ForgetBytes& forget, SampleFormat* format) {
  const uint32_t all = format->bytes * 8;
  if (format->coding != Coding::kUpper || format->bits == all) return "";
  bool upper = true, lower = true;
  const uint64_t block = uint64_t{format->bytes} << 20;
  for (uint64_t from = 0; from < size && (upper || lower); from += block) {
    const uint64_t end = std::min(size, from + block);
    for (uint64_t at = from; at + format->bytes <= end && (upper || lower); at += format->bytes) {
      const auto word = static_cast<uint32_t>(LittleEndian(samples + at, format->bytes)) << (32 - all);
      const auto value = static_cast<int32_t>(word) >> (32 - all), sign = value >> (format->bits - 1);
      upper = upper && (value & ((1 << (all - format->bits)) - 1)) == 0;
      lower = lower && (sign == 0 || sign == -1);
    }
    if (forget) forget(samples + from, end - from);
  }
  if (upper || (format->extensible && !lower)) return "";
  if (!lower) {
    Fail(
        "samples of {} bits in {} bytes use more of their bits, so their position is unknown; convert the "
        "file to {} bits",
        format->bits, format->bytes, all);
  }
  format->coding = Coding::kLower;
  return fmt::format("samples of {} bits are read from the lower bits of their {} bytes, by their values", format->bits,
                     format->bytes);
}

namespace {

// Whole numbers of at most 32 bits, in the upper bits of a word, where the sign is.
int32_t WordAt(const uint8_t* at, uint32_t bytes, uint32_t shift) {
  return static_cast<int32_t>(static_cast<uint32_t>(LittleEndian(at, bytes)) << shift);
}

template <uint32_t kBytes>
double WholeAt(const uint8_t* at) {
  uint32_t word = 0;
  for (uint32_t i = 0; i < kBytes; ++i) word |= static_cast<uint32_t>(at[i]) << (32 - 8 * (kBytes - i));
  return static_cast<int32_t>(word) / 2147483648.0;
}

double SampleAt(const SampleFormat& format, const uint8_t* at) {
  if (format.coding == Coding::kFloat) return FloatAt(at, format.bytes);
  if (format.coding == Coding::kUnsigned) return (at[0] - 128) / 128.0;
  if (format.coding == Coding::kMuLaw) return FromMuLaw(at[0]) / 32768.0;
  if (format.coding == Coding::kALaw) return FromALaw(at[0]) / 32768.0;
  const uint32_t shift = 32 - (format.coding == Coding::kLower ? format.bits : format.bytes * 8);
  return WordAt(at, format.bytes, shift) / 2147483648.0;
}

// `sample`: of the bytes at a position. `channels`: one or two are compiled as constants.
template <typename Channels, typename Sample>
void DecodeChannels(Channels channels, uint32_t bytes, const uint8_t* from, uint64_t frames, const Sample& sample,
                    float* to) {
  for (uint64_t i = 0; i < frames; ++i) {
    double sum = 0;
    for (uint32_t c = 0; c < channels; ++c, from += bytes) sum += sample(from);
    to[i] = static_cast<float>(sum / channels);
  }
}

template <typename Sample>
void Decode(const SampleFormat& format, const uint8_t* from, uint64_t frames, const Sample& sample, float* to) {
  const uint32_t bytes = format.bytes;
  if (format.channels == 1) {
    DecodeChannels(std::integral_constant<uint32_t, 1>(), bytes, from, frames, sample, to);
  } else if (format.channels == 2) {
    DecodeChannels(std::integral_constant<uint32_t, 2>(), bytes, from, frames, sample, to);
  } else {
    DecodeChannels(format.channels, bytes, from, frames, sample, to);
  }
}

}  // namespace

void DecodeFrames(const SampleFormat& format, const uint8_t* from, uint64_t frames, float* to) {
  // Separate loops for the usual formats, without a choice for every sample.
  if (format.coding == Coding::kUpper && format.bytes == 2) {
    return Decode(
        format, from, frames, [](const uint8_t* at) { return WholeAt<2>(at); }, to);
  }
  if (format.coding == Coding::kUpper && format.bytes == 3) {
    return Decode(
        format, from, frames, [](const uint8_t* at) { return WholeAt<3>(at); }, to);
  }
  if (format.coding == Coding::kFloat && format.bytes == 4) {
    return Decode(
        format, from, frames, [](const uint8_t* at) { return FloatAt(at, 4); }, to);
  }
  Decode(
      format, from, frames, [&](const uint8_t* at) { return SampleAt(format, at); }, to);
}

}  // namespace fovea::tools
