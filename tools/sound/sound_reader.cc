#include "tools/sound/sound_reader.h"

#include <algorithm>
#include <utility>

#include "tools/base/fail.h"
#include "tools/sound/container.h"
#include "tools/sound/sample_format.h"
#include "tools/sound/sndfile.h"
#include "tools/sound/wav.h"

namespace fovea::tools {
namespace {

// Samples in memory before the latest part: 16 MiB.
constexpr uint64_t kLeastKept = 1 << 22;
constexpr uint64_t kBlock = 1 << 16;  // samples that are read at a time

// Rarer kinds of samples (ADPCM, GSM) are read by libsndfile, where it is installed.
std::unique_ptr<SampleSource> OpenRareWav(const InputFile& file, const ForgetBytes& forget,
                                          const UnsupportedSamples& fault) {
  if (!WhyNoSndfile().empty()) throw fault;
  try {
    return OpenBySndfile(file.data(), file.size(), forget);
  } catch (const Failure&) {
    throw fault;  // in the words of the reader of WAV files
  }
}

std::unique_ptr<SampleSource> OpenSource(const std::string& path, const InputFile& file) {
  const uint8_t* const data = file.data();
  const Container container = ContainerOf(data, file.size());
  const ForgetBytes forget = [&file](const uint8_t* begin, uint64_t size) { file.Forget(begin, size); };
  if (container.reader == Container::Reader::kWav || container.name == nullptr) {
    try {
      return OpenWav(data, file.size(), forget);
    } catch (const UnsupportedSamples& fault) {
      return OpenRareWav(file, forget, fault);
    }
  }
  std::string why;
  if (container.reader == Container::Reader::kLibrary) {
    why = WhyNoSndfile();
    if (why.empty()) return OpenBySndfile(data, file.size(), forget);
    why = "; " + why;
  }
  const std::string from = path == "-" ? "FILE" : path;
  Fail("it is {}, not a RIFF WAVE file{}; convert it: ffmpeg -i {} -ac 1 sound.wav", container.name, why, from);
}

}  // namespace

SoundReader::SoundReader(const std::string& path, uint32_t rate)
    : path_(path), file_(std::make_unique<InputFile>(path)), rate_(rate), kept_(kLeastKept) {
  try {
    Open();
    notes_ = source_->notes();
  } catch (const Failure& failure) {
    Fail("{}: {}", path, failure.what());
  }
  if (CountUpTo(1) == 0) Fail("{}: has no samples", path);
}

SoundReader::SoundReader(Sound sound)
    : rate_(sound.rate),
      samples_(std::move(sound.samples)),
      ended_(true),
      count_(samples_.size()),
      notes_(std::move(sound.notes)) {}

SoundReader::~SoundReader() = default;

void SoundReader::Open() {
  source_ = OpenSource(path_, *file_);
  if (rate_ == 0) rate_ = source_->rate();
  resampler_.reset();
  if (source_->rate() != rate_) resampler_.emplace(source_->rate(), rate_);
  samples_.clear();
  first_ = 0, ended_ = false;
}

void SoundReader::ReadUpTo(uint64_t end) {
  try {
    while (!ended_ && first_ + samples_.size() < end) {
      block_.clear();
      source_->Read(kBlock, &block_);
      ended_ = block_.empty();
      if (!resampler_) {
        samples_.insert(samples_.end(), block_.begin(), block_.end());
      } else if (ended_) {
        resampler_->End(&samples_);
      } else {
        resampler_->Add(block_, &samples_);
      }
      if (end == UINT64_MAX && !ended_) Drop(first_ + samples_.size());
    }
  } catch (const Failure& failure) {
    Fail("{}: {}", path_, failure.what());
  }
  if (!ended_) return;
  if (!count_ && source_ != nullptr) notes_ = source_->notes();
  count_ = first_ + samples_.size();
}

void SoundReader::Drop(uint64_t begin) {
  // At once for many samples, since the rest is moved.
  const uint64_t wanted = begin - std::min(begin, kept_);
  if (source_ != nullptr && wanted > first_ + kept_) DropFirst(std::min<uint64_t>(wanted - first_, samples_.size()));
}

void SoundReader::DropFirst(uint64_t count) {
  samples_.erase(samples_.begin(), samples_.begin() + static_cast<ptrdiff_t>(count));
  first_ += count;
}

uint64_t SoundReader::CountUpTo(uint64_t most) {
  if (!count_) ReadUpTo(most);
  return std::min(most, count_.value_or(most));
}

Sound SoundReader::Part(uint64_t begin, uint64_t length) {
  if (begin < first_) Open();
  kept_ = source_ == nullptr ? 0 : std::max(kept_, 2 * std::min(length, UINT64_MAX / 4));
  Drop(begin);
  ReadUpTo(begin + std::min(length, UINT64_MAX - 1 - begin));
  const uint64_t from = begin - first_, all = samples_.size(), size = from < all ? std::min(length, all - from) : 0;
  const auto first = samples_.begin() + static_cast<ptrdiff_t>(std::min(from, all));
  return {rate_, {first, first + static_cast<ptrdiff_t>(size)}};
}

double SoundReader::ExpectedSeconds() const {
  if (count_) return static_cast<double>(*count_) / rate_;
  return static_cast<double>(source_->length()) / source_->rate();
}

Sound ReadSoundFile(const std::string& path) {
  SoundReader reader(path, 0);
  Sound sound = reader.Part(0, UINT64_MAX);
  sound.notes = reader.notes();
  return sound;
}

}  // namespace fovea::tools
