// Reads audio files: RIFF WAVE; RF64 and BW64 (EBU Tech 3306, ITU-R BS.2088) for sizes of 64 bits.
#include "tools/sound/wav.h"

#include <fmt/format.h>
#include <string.h>

#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "tools/base/fail.h"
#include "tools/base/input_file.h"
#include "tools/sound/sample_format.h"

namespace fovea::tools {
namespace {

constexpr uint64_t kChunkHead = 8, kFileHead = 12;
constexpr uint64_t kIn64Bits = 0xffffffff;  // as a size: the size is in "ds64"
// Programs that write to pipes give a size close to the maximum: sox 0x7ffff000, arecord 0x7fffffff or 0x80000000,
// ffmpeg 0xffffffff.
constexpr uint64_t kLeastUnknown = 0x7ffff000;

bool Begins(const uint8_t* at, const char* with) { return memcmp(at, with, strlen(with)) == 0; }

// The kind of a file that is not WAVE, by its first 12 bytes.
const char* OtherKind(const uint8_t* data) {
  if (Begins(data, "RIFX")) return "RIFX, big-endian RIFF WAVE";
  if (Begins(data, "RIFF")) return "RIFF, but not of WAVE";
  if (Begins(data, "riff")) return "Wave64";
  if (Begins(data, "fLaC")) return "FLAC";
  if (Begins(data, "OggS")) return "Ogg";
  if (Begins(data, "FORM")) return "AIFF";
  if (Begins(data, ".snd")) return "AU";
  if (Begins(data, "caff")) return "CAF";
  if (Begins(data + 4, "ftyp")) return "MP4 or M4A";
  if (Begins(data, "\x1a\x45\xdf\xa3")) return "Matroska or WebM";
  if (Begins(data, "ID3") || (data[0] == 0xff && (data[1] & 0xe0) == 0xe0)) return "MP3 or AAC";
  return nullptr;
}

class Reader {
 public:
  Reader(const uint8_t* data, uint64_t size) : data_(data), size_(size) {}

  Sound Read() {
    CheckKind();
    for (uint64_t at = kFileHead; at + kChunkHead <= size_;) at = ReadChunk(at);
    if (pieces_.empty()) Fail("it has no samples");
    if (pieces_.size() > 1) Note(fmt::format("its {} data chunks are read as one sound", pieces_.size()));
    for (const auto& [samples, bytes] : pieces_) Append(samples, bytes);
    return std::move(sound_);
  }

 private:
  void CheckKind() {
    if (size_ == 0) Fail("the file is empty");
    const char* const other = size_ < kFileHead ? nullptr : OtherKind(data_);
    large_ = size_ >= kFileHead && (Begins(data_, "RF64") || Begins(data_, "BW64"));
    if (size_ >= kFileHead && (large_ || Begins(data_, "RIFF")) && Begins(data_ + 8, "WAVE")) return;
    if (other != nullptr) Fail("it is {}, not a RIFF WAVE file; convert it, with sox or ffmpeg for example", other);
    Fail("it is not a RIFF WAVE file");
  }

  void Note(std::string note) { sound_.notes.push_back(std::move(note)); }

  // Returns the position of the next chunk.
  uint64_t ReadChunk(uint64_t at) {
    const uint8_t *const head = data_ + at, *const content = head + kChunkHead;
    const uint64_t left = size_ - at - kChunkHead;
    uint64_t bytes = SizeOf(head);
    if (Begins(head, "data")) {
      if (!format_) Fail("its samples come before their format");
      bytes = SamplesIn(content, bytes, left);
      pieces_.emplace_back(content, bytes);
    } else if (bytes > left) {
      if (pieces_.empty()) Fail("it ends within chunk {}: {} bytes of {}", Id(head), left, bytes);
      Note(fmt::format("its last {} bytes are not a chunk and are ignored", kChunkHead + left));
      return size_;
    } else if (Begins(head, "fmt ") && pieces_.empty()) {
      format_ = ReadSampleFormat(content, bytes);
    } else if (Begins(head, "ds64")) {
      ReadSizes(content, bytes);
    } else if (Begins(head, "LIST") && bytes >= 4 && Begins(content, "wavl")) {
      Fail("its samples are in a wavl list, which is not supported; convert it");
    }
    const uint64_t next = at + kChunkHead + bytes;
    return next + (bytes % 2 == 1 && !IsPlain(next) ? 1 : 0);
  }

  static std::string Id(const uint8_t* at) { return {reinterpret_cast<const char*>(at), 4}; }

  uint64_t SizeOf(const uint8_t* head) const {
    const uint64_t bytes = LittleEndian(head + 4, 4);
    if (!large_ || bytes != kIn64Bits) return bytes;
    const auto found = sizes_.find(Id(head));
    return found == sizes_.end() ? bytes : found->second;
  }

  // Chunk "ds64": sizes of the file and of the samples, their number, and a table for other chunks.
  void ReadSizes(const uint8_t* content, uint64_t bytes) {
    constexpr uint64_t kEntries = 28, kEntry = 12;
    if (bytes < kEntries - 4) Fail("chunk ds64 has {} bytes, at least {} are needed", bytes, kEntries - 4);
    sizes_["data"] = LittleEndian(content + 8, 8);
    for (uint64_t at = kEntries; at + kEntry <= bytes; at += kEntry) {
      sizes_.emplace(Id(content + at), LittleEndian(content + at + 4, 8));
    }
  }

  // Some writers omit the padding byte after a chunk of odd size.
  bool IsPlain(uint64_t at) const {
    if (at + kChunkHead > size_) return false;
    return Begins(data_ + at, "data") || Begins(data_ + at, "fmt ") || Begins(data_ + at, "LIST") ||
           Begins(data_ + at, "fact");
  }

  // Whether only whole chunks follow.
  bool AreChunks(const uint8_t* from, uint64_t left) const {
    while (left >= kChunkHead) {
      for (int i = 0; i < 4; ++i) {
        if (from[i] < ' ' || from[i] > '~') return false;
      }
      const uint64_t bytes = LittleEndian(from + 4, 4), whole = kChunkHead + bytes + bytes % 2;
      if (bytes > left - kChunkHead) return false;
      if (whole >= left) return true;
      from += whole, left -= whole;
    }
    return left == 0;
  }

  // Size of the samples, given the stated `bytes` and the `left` bytes that follow.
  uint64_t SamplesIn(const uint8_t* content, uint64_t bytes, uint64_t left) {
    if (bytes == 0 && !AreChunks(content, left)) {
      Note("the size of its samples is 0, as after an interrupted recording; everything that follows is read");
      return left;
    }
    const uint64_t frame = format_->frame(), rest = bytes % frame;
    if (bytes <= left) {
      if (rest != 0) Note(fmt::format("its last {} bytes are not a whole sample and are ignored", rest));
      return bytes;
    }
    if (bytes < kLeastUnknown || sizes_.count("data") != 0) {
      const auto seconds = [&](uint64_t of) {
        return static_cast<double>(of / frame) / static_cast<double>(format_->rate);
      };
      Note(fmt::format("the file is truncated: {:.2f} of {:.2f} s are present", seconds(left), seconds(bytes)));
    }
    return left;
  }

  void Append(const uint8_t* samples, uint64_t bytes) {
    SampleFormat format = *format_;
    const std::string found = FindBits(samples, bytes, &format);
    if (!found.empty()) Note(found);
    const uint64_t frame = format.frame();
    sound_.rate = format.rate;
    sound_.samples.reserve(sound_.samples.size() + bytes / frame);
    for (uint64_t at = 0; at + frame <= bytes; at += frame) {
      double sum = 0;
      for (uint64_t c = 0; c < format.channels; ++c) sum += SampleAt(format, samples + at + c * format.bytes);
      const auto sample = static_cast<float>(sum / format.channels);
      if (!std::isfinite(sample)) Fail("sample {} is not finite", sound_.samples.size());
      sound_.samples.push_back(sample);
    }
  }

  const uint8_t* const data_;
  const uint64_t size_;
  bool large_ = false;
  std::optional<SampleFormat> format_;
  std::map<std::string, uint64_t> sizes_;                    // chunk sizes in "ds64"
  std::vector<std::pair<const uint8_t*, uint64_t>> pieces_;  // byte ranges of samples
  Sound sound_;
};

}  // namespace

Sound ParseWav(const uint8_t* data, uint64_t size) { return Reader(data, size).Read(); }

Sound ReadWav(const std::string& path) {
  const InputFile file(path);
  try {
    Sound sound = ParseWav(file.data(), file.size());
    if (sound.samples.empty()) Fail("has no samples");
    return sound;
  } catch (const Failure& failure) {
    Fail("{}: {}", path, failure.what());
  }
}

}  // namespace fovea::tools
