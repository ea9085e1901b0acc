// Sound files in clips, consecutive ones or such that overlap, of models whose texts have no times.
#ifndef FOVEA_TOOLS_TRANSCRIBE_CLIPS_H_
#define FOVEA_TOOLS_TRANSCRIBE_CLIPS_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/generate/sound_chunks.h"
#include "tools/generate/transcription.h"
#include "tools/transcribe/transcript.h"

namespace fovea::tools {

struct ClipOptions {
  SpeechTask task;
  bool previous = false;    // clips are told what was written of those before, one by one
  uint32_t batch_size = 8;  // clips at a time
  // Of files longer than `chunk` seconds, or than the model takes: clips overlap by `strides` on both sides, or left
  // and right; none: a sixth of a clip. 0: as long as the model takes.
  double chunk = 30;
  std::vector<double> strides = {};
  bool bounded = true;  // by MostTokens of each clip; false: by the request alone
};

// Clips in, transcripts out, a batch at a time.
class ClipTranscription {
 public:
  // `done` gets one file after the other, in the order in which they were added; `found` their languages before, where
  // these were found.
  ClipTranscription(const Model& model, const ClipOptions& options, const GenerationRequest& request,
                    std::function<void(const Transcript&)> done,
                    std::function<void(const std::string& name, const std::string& language)> found);

  void AddFile(const std::string& path, const SoundInput& input);
  // What remains of a batch of sounds.
  void EndBatch(const SoundInput& input);
  // A batch of features, a text for each clip.
  void AddFeatures(const std::string& path);

 private:
  // A sound file, or a clip of features.
  struct Source {
    std::string name;
    double seconds = 0;  // 0: nobody knows
    size_t clips = 0;
    bool overlaps = false;  // the clips do
    std::vector<std::string> notes = {};
    std::string language = "";  // one that was found
    std::vector<Generation> made = {};
  };

  void Transcribe(const Batch& batch);
  // A source has the language of its first clip.
  void FindLanguages(const Session& encode);
  // Of the clips of this batch, where a model's texts are bounded by the length of the sound.
  std::vector<std::optional<size_t>> MostTokensOfClips() const;
  GenerationRequest RequestFor(const std::vector<std::optional<size_t>>& most) const;
  ChunkLengths LengthsOf(uint32_t rate, uint64_t longest) const;
  // What was written of a clip, without the token that ended it.
  std::vector<int32_t> TokensOf(const Generation& clip) const;
  // What was written so far, without the tokens that ended its parts.
  std::vector<int32_t> TokensOf(const Source& source) const;
  Transcript TranscriptOf(const Source& source) const;

  const Model& model_;
  const ClipOptions options_;
  const GenerationRequest request_;
  const std::function<void(const Transcript&)> done_;
  const std::function<void(const std::string& name, const std::string& language)> found_;
  const SpeechPrompts prompts_;
  const std::vector<int32_t> stop_ids_;
  const size_t batch_size_;
  std::vector<Source> sources_;
  size_t written_ = 0;          // of the sources
  std::vector<Sound> clips_;    // of the next batch
  std::vector<size_t> owners_;  // the source of each
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_TRANSCRIBE_CLIPS_H_
