// Prompts of speech recognition models: language, task and previous text.
#ifndef FOVEA_TOOLS_GENERATE_TRANSCRIPTION_H_
#define FOVEA_TOOLS_GENERATE_TRANSCRIPTION_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/generate/generation.h"
#include "tools/media/sound_inputs.h"

namespace fovea::tools {

// Names as in metadata transcribe.language.<code> and transcribe.task.<name>; empty: the model's default.
struct SpeechTask {
  std::string language, task;
};

// Runs the decoder on each prompt; returns the scores of all next tokens, or nothing for interrupted texts.
std::vector<std::vector<float>> ScoresAfter(const Model& model, const Session& encode,
                                            const std::vector<std::vector<int32_t>>& prompts,
                                            const GenerationRequest& request);

class SpeechPrompts {
 public:
  // Fails if the model has no such language or task. `times`: with timestamps.
  SpeechPrompts(const Model& model, const SpeechTask& task, bool times = false);

  // Whether the prompt needs a language that was not given and has to be detected.
  bool needs_language() const { return needs_language_; }
  // Detects the languages of encoded clips: the language token with the highest score as first token.
  std::vector<std::string> FindLanguages(const Session& encode, size_t clips, const GenerationRequest& request) const;

  // Fails if the model does not support previous text.
  void CheckPrevious() const;
  // The part of a prompt before the start token: the end of the previous text.
  std::vector<int32_t> Before(const std::vector<int32_t>& previous) const;
  // The prompt; empty: only the start token. `language` is used if one is needed. Of the previous tokens the last ones
  // are used, at most half of the model's positions.
  std::vector<int32_t> Prompt(const std::string& language, const std::vector<int32_t>& previous) const;

 private:
  const Model& model_;
  bool needs_language_ = false;
  std::vector<std::pair<std::string, int32_t>> languages_;
  std::vector<int32_t> language_, rest_;  // tokens of a given language, and those after it
};

// Masks all tokens but this one.
void AllowOnly(int32_t token, uint32_t tokens, uint32_t* bits);

// The most tokens for `seconds` of sound, by metadata transcribe.tokens_per_second; nothing if there is no limit.
std::optional<size_t> MostTokens(const Model& model, double seconds);

// The samples of the longest clip: metadata clip_length.<input>, or the limit of the input's space.
uint64_t LongestClip(const Model& model, const SoundInput& input);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_TRANSCRIPTION_H_
