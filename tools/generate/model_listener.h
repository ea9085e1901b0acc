// Listener for long_speech.h: an encoder-decoder model that generates timestamps.
#ifndef FOVEA_TOOLS_GENERATE_MODEL_LISTENER_H_
#define FOVEA_TOOLS_GENERATE_MODEL_LISTENER_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/generate/long_speech.h"
#include "tools/generate/mel_windows.h"
#include "tools/generate/transcription.h"

namespace fovea::tools {

// Timestamp tokens of a model; nothing if its metadata does not define them.
struct TimeFormat {
  TimeTokens tokens;
  uint64_t step = 0, window = 0;     // samples
  std::optional<int32_t> no_speech;  // the no-speech token
};
std::optional<TimeFormat> FindTimeFormat(const Model& model, const SoundInput& input);

class ModelListener : public WindowListener {
 public:
  // `request`: the search for temperature 0.
  ModelListener(const Model& model, const SoundInput& input, const TimeFormat& format, const SpeechTask& task,
                const GenerationRequest& request);

  // `scanned` receives the seconds of a sound that were read to find its loudest part.
  void OnScan(const std::function<void(size_t sound, double seconds)>& scanned) {
    if (mels_) mels_->OnScan(scanned);
  }

  void Hear(const std::vector<SoundWindow>& windows) override;
  std::vector<HeardWindow> Write(const std::vector<WindowTask>& tasks, float temperature) override;
  std::string TextOf(const std::vector<int32_t>& tokens) const override;
  std::vector<TimedWord> Words(size_t window, const std::vector<int32_t>& tokens) override;

  // The language detected in the first window of a sound; empty if it was given or there is none.
  const std::string& LanguageOf(size_t sound) const;

 private:
  // Runs the encoder on windows; returns the session.
  Session EncodeWindows(const std::vector<SoundWindow>& windows);
  // The no-speech probability of each window, from the scores after the start token.
  std::vector<double> NoSpeech(const std::vector<WindowTask>& tasks) const;
  GenerationRequest RequestAt(float temperature) const;

  const Model& model_;
  const SoundInput input_;
  const TimeFormat format_;
  const SpeechTask task_;
  const GenerationRequest request_;
  const SpeechPrompts prompts_;
  std::optional<MelWindows> mels_;  // none: features are computed for each window alone
  std::optional<Session> encode_;
  std::vector<size_t> sounds_;     // indices of the sounds of the current windows
  std::vector<uint64_t> lengths_;  // lengths of the current windows, in samples
  std::vector<double> no_speech_;  // no-speech probabilities of the current windows, if computed
  std::map<size_t, std::string> languages_;
  uint64_t texts_ = 0;  // number of texts generated so far
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_MODEL_LISTENER_H_
