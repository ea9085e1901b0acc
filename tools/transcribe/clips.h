// Transcribes sound files in clips, consecutive or overlapping, with models without timestamps.
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
  bool previous = false;    // prompt clips with the text of the previous clips; runs them one by one
  uint32_t batch_size = 8;  // clips at a time
  // Files longer than `chunk` seconds or the model's maximum are split into clips that overlap by `strides` on both
  // sides, or left and right; empty: a sixth of a clip. chunk = 0: the model's maximum.
  double chunk = 30;
  std::vector<double> strides = {};
  bool bounded = true;  // limit the tokens of each clip by MostTokens
};

// Collects clips and runs them in batches.
class ClipTranscription {
 public:
  // `done` receives files in the order in which they were added; `found` receives detected languages before.
  ClipTranscription(const Model& model, const ClipOptions& options, const GenerationRequest& request,
                    std::function<void(const Transcript&)> done,
                    std::function<void(const std::string& name, const std::string& language)> found);

  void AddFile(const std::string& path, const SoundInput& input);
  // Runs the remaining sounds as a last batch.
  void EndBatch(const SoundInput& input);
  // `found` receives the text of each clip of the first file that is not done, if clips do not overlap.
  void OnFound(std::function<void(const std::string& name, const std::string& text)> found) {
    found_text_ = std::move(found);
  }
  // `reached` receives the seconds of a file that are done, and of all; 0: unknown.
  void OnReached(std::function<void(const std::string& name, double seconds, double all)> reached) {
    reached_ = std::move(reached);
  }
  // Adds a batch of features, with a text for each clip.
  void AddFeatures(const std::string& path);

 private:
  // A sound file, or a clip of features.
  struct Source {
    std::string name;
    double seconds = 0;     // 0: unknown
    bool overlaps = false;  // whether the clips overlap
    std::vector<std::string> notes = {};
    size_t clips = 0;           // added so far
    bool complete = false;      // all clips were added
    double reached = 0;         // seconds that were transcribed
    size_t passed = 0;          // clips whose text was passed to found_text_
    std::string language = "";  // the detected language
    std::vector<Generation> made = {};
  };

  void Transcribe(const Batch& batch);
  // Passes texts of clips to found_text_.
  void PassText(Source* source);
  // Passes complete files to done_.
  void Finish();
  // Completes all files with what was transcribed.
  void GiveUp();
  // Detects the language of each source in its first clip.
  void FindLanguages(const Session& encode);
  // Token limits of the clips of this batch, if the model limits tokens by the length of sound.
  std::vector<std::optional<size_t>> MostTokensOfClips() const;
  GenerationRequest RequestFor(const std::vector<std::optional<size_t>>& most) const;
  ChunkLengths LengthsOf(uint32_t rate, uint64_t longest) const;
  // Generated tokens of a clip, without the end-of-text token.
  std::vector<int32_t> TokensOf(const Generation& clip) const;
  // Generated tokens so far, without end-of-text tokens.
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
  std::function<void(const std::string&, const std::string&)> found_text_;
  std::function<void(const std::string&, double, double)> reached_;
  std::vector<Source> sources_;
  size_t written_ = 0;          // number of sources passed to done_
  std::vector<Sound> clips_;    // clips of the next batch
  std::vector<size_t> owners_;  // source of each clip
  std::vector<double> ends_;    // end of each clip in its file, in seconds
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_TRANSCRIBE_CLIPS_H_
