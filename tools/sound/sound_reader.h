// Reads parts of an audio file of any length at a given rate, with bounded memory.
#ifndef FOVEA_TOOLS_SOUND_SOUND_READER_H_
#define FOVEA_TOOLS_SOUND_SOUND_READER_H_

#include <stdint.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/base/input_file.h"
#include "tools/sound/resample.h"
#include "tools/sound/sample_source.h"
#include "tools/sound/sound.h"

namespace fovea::tools {

// Parts should be asked for in order: samples far before the latest ones are decoded again from the beginning.
class SoundReader {
 public:
  // Opens a RIFF WAVE file, or one of another kind if libsndfile is installed. "-" is standard input. Fails with the
  // file and the fault, also for a file without samples. `rate`: samples per second; 0: the file's.
  SoundReader(const std::string& path, uint32_t rate);
  // A sound in memory.
  explicit SoundReader(Sound sound);
  SoundReader(SoundReader&&) = default;
  ~SoundReader();

  uint32_t rate() const { return rate_; }
  // Assumptions about the file and missing parts; some are found while it is read.
  const std::vector<std::string>& notes() const { return notes_; }

  // At most `length` samples from `begin` on; fewer where the sound ends.
  Sound Part(uint64_t begin, uint64_t length);
  // The number of samples, or `most` if it is less; reads that far.
  uint64_t CountUpTo(uint64_t most);
  // Reads to the end.
  uint64_t Count() { return CountUpTo(UINT64_MAX); }
  double Seconds() { return static_cast<double>(Count()) / rate_; }
  // As far as the file states it or it has been read; 0: unknown.
  double ExpectedSeconds() const;

 private:
  void Open();
  // Reads until samples before `end` are in memory, or the sound has ended.
  void ReadUpTo(uint64_t end);
  // Drops samples from memory that are long before `begin`.
  void Drop(uint64_t begin);
  void DropFirst(uint64_t count);

  std::string path_;
  std::unique_ptr<InputFile> file_;
  std::unique_ptr<SampleSource> source_;  // null: all is in memory
  std::optional<Resampler> resampler_;
  uint32_t rate_ = 0;
  uint64_t first_ = 0;  // number of the first sample in memory
  uint64_t kept_ = 0;   // samples to keep before the latest part
  std::vector<float> samples_, block_;
  bool ended_ = false;             // all has been read
  std::optional<uint64_t> count_;  // known once it has been read
  std::vector<std::string> notes_;
};

// All of a file at its own rate.
Sound ReadSoundFile(const std::string& path);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_SOUND_SOUND_READER_H_
