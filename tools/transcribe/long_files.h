// Transcribes sound files of any length with a model that generates timestamps, several files at a time.
#ifndef FOVEA_TOOLS_TRANSCRIBE_LONG_FILES_H_
#define FOVEA_TOOLS_TRANSCRIBE_LONG_FILES_H_

#include <functional>
#include <string>
#include <vector>

#include "tools/generate/model_listener.h"
#include "tools/transcribe/transcript.h"

namespace fovea::tools {

class LongFiles {
 public:
  // `options`: settings other than the model's. `done` and `found` as for ClipTranscription. `line`: receives lines of
  // a file as they are found, before `done`, where one file is transcribed at a time; may be null.
  LongFiles(const Model& model, const TimeFormat& format, const SpeechTask& task, const GenerationRequest& request,
            const LongSpeechOptions& options, size_t batch_size, std::function<void(const Transcript&)> done,
            std::function<void(const std::string& name, const std::string& language)> found,
            std::function<void(const std::string& name, const TimedLine& line)> line);

  // `reached` receives the seconds of a batch of files that are done, and of all; 0: unknown. `scanned` does so before,
  // while their loudest parts are found.
  using Reached = std::function<void(const std::string& names, double seconds, double all)>;
  void OnReached(Reached scanned, Reached reached) { scanned_ = std::move(scanned), reached_ = std::move(reached); }

  void AddFile(const std::string& path, const SoundInput& input);
  void EndBatch(const SoundInput& input);

 private:
  // Passes the sum over the current files to a function.
  std::function<void(size_t, double)> Summing(const Reached& to);
  Transcript TranscriptOf(const std::string& name, double seconds, const std::string& language,
                          const LongSpeech& speech) const;

  const Model& model_;
  const TimeFormat format_;
  const SpeechTask task_;
  const GenerationRequest request_;
  LongSpeechOptions options_;
  const size_t batch_size_;
  const std::function<void(const Transcript&)> done_;
  const std::function<void(const std::string& name, const std::string& language)> found_;
  const std::function<void(const std::string& name, const TimedLine& line)> line_;
  Reached scanned_, reached_;
  std::vector<std::string> names_;
  std::vector<SoundReader> sounds_;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_TRANSCRIBE_LONG_FILES_H_
