// Reads RIFF WAVE files; RF64 and BW64 (EBU Tech 3306, ITU-R BS.2088) for sizes of 64 bits.
#include "tools/sound/wav.h"

#include <fmt/format.h>
#include <string.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "tools/base/fail.h"
#include "tools/sound/container.h"
#include "tools/sound/sample_format.h"

namespace fovea::tools {
namespace {

constexpr uint64_t kChunkHead = 8, kFileHead = 12;
constexpr uint64_t kIn64Bits = 0xffffffff;  // as a size: the size is in "ds64"
// Programs that write to pipes give a size close to the maximum: sox 0x7ffff000, arecord 0x7fffffff or 0x80000000,
// ffmpeg 0xffffffff.
constexpr uint64_t kLeastUnknown = 0x7ffff000;

bool Begins(const uint8_t* at, const char* with) { return memcmp(at, with, strlen(with)) == 0; }

// Samples of one data chunk. Chunks can differ in the position of the bits.
struct Piece {
  const uint8_t* begin;
  uint64_t bytes;
  SampleFormat format;
};

struct WavParts {
  std::vector<Piece> pieces;
  std::vector<std::string> notes;
};

class Reader {
 public:
  Reader(const uint8_t* data, uint64_t size, const ForgetBytes& forget) : data_(data), size_(size), forget_(forget) {}

  WavParts Read() {
    CheckKind();
    for (uint64_t at = kFileHead; at + kChunkHead <= size_;) at = ReadChunk(at);
    if (pieces_.empty()) Fail("it has no samples");
    if (pieces_.size() > 1) Note(fmt::format("its {} data chunks are read as one sound", pieces_.size()));
    for (Piece& piece : pieces_) Examine(&piece);
    return {std::move(pieces_), std::move(notes_)};
  }

 private:
  void CheckKind() {
    if (size_ == 0) Fail("the file is empty");
    const Container container = ContainerOf(data_, size_);
    if (container.reader != Container::Reader::kWav) {
      Fail("it is {}not a RIFF WAVE file",
           container.name == nullptr ? std::string() : fmt::format("{}, ", container.name));
    }
    large_ = !Begins(data_, "RIFF");
  }

  void Note(std::string note) { notes_.push_back(std::move(note)); }

  // Returns the position of the next chunk.
  uint64_t ReadChunk(uint64_t at) {
    const uint8_t *const head = data_ + at, *const content = head + kChunkHead;
    const uint64_t left = size_ - at - kChunkHead;
    uint64_t bytes = SizeOf(head);
    if (Begins(head, "data")) {
      if (!format_) Fail("its samples come before their format");
      bytes = SamplesIn(content, bytes, left);
      pieces_.push_back({content, bytes, *format_});
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

  // Finds the position of the bits, in parts of a mapped file that are forgotten after use.
  void Examine(Piece* piece) {
    const std::string found = FindBits(piece->begin, piece->bytes, forget_, &piece->format);
    if (!found.empty()) Note(found);
  }

  const uint8_t* const data_;
  const uint64_t size_;
  const ForgetBytes& forget_;
  bool large_ = false;
  std::optional<SampleFormat> format_;
  std::map<std::string, uint64_t> sizes_;  // chunk sizes in "ds64"
  std::vector<Piece> pieces_;
  std::vector<std::string> notes_;
};

class WavSource : public SampleSource {
 public:
  WavSource(WavParts parts, ForgetBytes forget) : pieces_(std::move(parts.pieces)), forget_(std::move(forget)) {
    notes_ = std::move(parts.notes);
    for (const Piece& piece : pieces_) length_ += piece.bytes / piece.format.frame();
  }

  uint32_t rate() const override { return pieces_.front().format.rate; }
  uint64_t length() const override { return length_; }

  void Read(uint64_t count, std::vector<float>* samples) override {
    while (count > 0 && piece_ < pieces_.size()) {
      const Piece& piece = pieces_[piece_];
      const uint64_t frame = piece.format.frame(), frames = std::min(count, piece.bytes / frame - at_);
      const uint8_t* const from = piece.begin + at_ * frame;
      const size_t before = samples->size();
      samples->resize(before + frames);
      float* const to = samples->data() + before;
      DecodeFrames(piece.format, from, frames, to);
      for (uint64_t i = 0; i < frames; ++i) {
        if (!std::isfinite(to[i])) Fail("sample {} is not finite", read_ + i);
      }
      if (forget_) forget_(from, frames * frame);
      count -= frames, at_ += frames, read_ += frames;
      if (at_ == piece.bytes / frame) ++piece_, at_ = 0;
    }
  }

 private:
  const std::vector<Piece> pieces_;
  const ForgetBytes forget_;
  uint64_t length_ = 0;
  size_t piece_ = 0;
  uint64_t at_ = 0, read_ = 0;  // samples, of the piece and of all
};

}  // namespace

std::unique_ptr<SampleSource> OpenWav(const uint8_t* data, uint64_t size, const ForgetBytes& forget) {
  return std::make_unique<WavSource>(Reader(data, size, forget).Read(), forget);
}

Sound ParseWav(const uint8_t* data, uint64_t size) {
  const std::unique_ptr<SampleSource> source = OpenWav(data, size, nullptr);
  Sound sound = {source->rate(), {}, source->notes()};
  source->Read(source->length(), &sound.samples);
  return sound;
}

}  // namespace fovea::tools
