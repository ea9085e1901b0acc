// A model with an encoder and a decoder that writes times, hearing windows of sounds.
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

// Of a model whose texts can have times; nothing where metadata does not say what they are.
struct TimeFormat {
  TimeTokens tokens;
  uint64_t step = 0, window = 0;     // samples
  std::optional<int32_t> no_speech;  // the token that says so
};
std::optional<TimeFormat> FindTimeFormat(const Model& model, const SoundInput& input);

class ModelListener : public WindowListener {
 public:
  // `request` says how is searched without a temperature.
  ModelListener(const Model& model, const SoundInput& input, const TimeFormat& format, const SpeechTask& task,
                const GenerationRequest& request);

  void Hear(const std::vector<SoundWindow>& windows) override;
  std::vector<HeardWindow> Write(const std::vector<WindowTask>& tasks, float temperature) override;
  std::string TextOf(const std::vector<int32_t>& tokens) const override;
  std::vector<TimedWord> Words(size_t window, const std::vector<int32_t>& tokens) override;

  // Of a sound, that of its first window; empty where it was given or there is none.
  const std::string& LanguageOf(size_t sound) const;

 private:
  // A session of the encoder that has read them.
  Session EncodeWindows(const std::vector<SoundWindow>& windows);
  // What each window was found to say before any language and task: the probability that nobody speaks.
  std::vector<double> NoSpeech(const std::vector<WindowTask>& tasks) const;
  GenerationRequest RequestAt(float temperature) const;

  const Model& model_;
  const SoundInput input_;
  const TimeFormat format_;
  const SpeechTask task_;
  const GenerationRequest request_;
  const SpeechPrompts prompts_;
  std::optional<MelWindows> mels_;  // none: features of a window are made of that window alone
  std::optional<Session> encode_;
  std::vector<size_t> sounds_;     // of the windows that are heard
  std::vector<uint64_t> lengths_;  // of these windows, in samples
  std::vector<double> no_speech_;  // of these windows, once it is known
  std::map<size_t, std::string> languages_;
  uint64_t texts_ = 0;  // that were written so far
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_MODEL_LISTENER_H_
