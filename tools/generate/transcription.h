// What a model that writes down speech is told before a text: its language, the task, what was said before.
#ifndef FOVEA_TOOLS_GENERATE_TRANSCRIPTION_H_
#define FOVEA_TOOLS_GENERATE_TRANSCRIPTION_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/common/sound.h"
#include "tools/generate/generation.h"

namespace fovea::tools {

// As metadata transcribe.language.<code> and transcribe.task.<name> call them; empty: as is usual for the model.
struct SpeechTask {
  std::string language, task;
};

// The scores of all tokens after each prompt, as the decoder writes them; none of texts that were interrupted.
std::vector<std::vector<float>> ScoresAfter(const Model& model, const Session& encode,
                                            const std::vector<std::vector<int32_t>>& prompts,
                                            const GenerationRequest& request);

class SpeechPrompts {
 public:
  // Fails where the model has no such language or task. `times`: it is not told to write none.
  SpeechPrompts(const Model& model, const SpeechTask& task, bool times = false);

  // Whether a text needs a language that nobody has given. The model can find it.
  bool needs_language() const { return needs_language_; }
  // The languages of clips that are encoded: which of their tokens the decoder likes best as the first one.
  std::vector<std::string> FindLanguages(const Session& encode, size_t clips, const GenerationRequest& request) const;

  // Fails where the model cannot be told what was said before.
  void CheckPrevious() const;
  // What a text begins with up to the start token, the end of what was said before.
  std::vector<int32_t> Before(const std::vector<int32_t>& previous) const;
  // What a text begins with; empty: nothing but the start token. `language` counts where one is needed. Of the tokens
  // `previous` that were written of the sound before, the model gets the last ones, in half of its positions.
  std::vector<int32_t> Prompt(const std::string& language, const std::vector<int32_t>& previous) const;

 private:
  const Model& model_;
  bool needs_language_ = false;
  std::vector<std::pair<std::string, int32_t>> languages_;
  std::vector<int32_t> language_, rest_;  // tokens of a language that is given, and those after it
};

// Only this token may follow: clears the bits of the others.
void AllowOnly(int32_t token, uint32_t tokens, uint32_t* bits);

// The most tokens of a text about `seconds` of sound, by metadata transcribe.tokens_per_second; nothing where there is
// no such bound.
std::optional<size_t> MostTokens(const Model& model, double seconds);

// The samples of the longest clip that the input takes, as metadata clip_length.<input> says or its space.
uint64_t LongestClip(const Model& model, const SoundInput& input);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_TRANSCRIPTION_H_
