// Sounds of any length through a model that hears a window at a time and writes times: what it has not finished in one
// window it hears again at the beginning of the next (Radford et al., arXiv 2212.04356, section 4.5).
#ifndef FOVEA_TOOLS_GENERATE_LONG_SPEECH_H_
#define FOVEA_TOOLS_GENERATE_LONG_SPEECH_H_

#include <optional>
#include <string>
#include <vector>

#include "tools/generate/speech_segments.h"
#include "tools/generate/spoken.h"
#include "tools/sound/sound.h"

namespace fovea::tools {

// What was made of a window.
struct HeardWindow {
  std::vector<int32_t> tokens;             // without one that ends texts
  std::string text;                        // without times
  double log_probability = 0;              // of a token, the mean, the end included
  double no_speech = 0;                    // the probability that nobody speaks; 0 where the model does not say
  std::vector<double> probabilities = {};  // of each token; none where nobody knows
};

struct WindowTask {
  std::vector<int32_t> previous;  // what was written before, for the model to go on with
  bool wanted = true;             // false: the result is not looked at
};

// A window of one of several sounds.
struct SoundWindow {
  const Sound* sound = nullptr;
  size_t number = 0;  // of the sound
  SpeechWindow part = {};
};

class WindowListener {
 public:
  virtual ~WindowListener() = default;
  // Hears a window of each of several sounds. These are asked about until the next call.
  virtual void Hear(const std::vector<SoundWindow>& windows) = 0;
  // Writes their texts at a temperature. Nothing if it was interrupted.
  virtual std::vector<HeardWindow> Write(const std::vector<WindowTask>& tasks, float temperature) = 0;
  // The text of tokens, without times.
  virtual std::string TextOf(const std::vector<int32_t>& tokens) const = 0;
  // When the words were said that `tokens` make of window `window`, from its beginning on.
  virtual std::vector<TimedWord> Words(size_t window, const std::vector<int32_t>& tokens) = 0;
};

struct LongSpeechOptions {
  TimeTokens times;
  uint64_t step = 0, window = 0;  // samples: from one time to the next, of a window
  // Tried in this order until a text is good enough.
  std::vector<float> temperatures = {0.0f, 0.2f, 0.4f, 0.6f, 0.8f, 1.0f};
  std::optional<double> compression_ratio = 2.4;  // a text that is more regular is not
  std::optional<double> log_probability = -1;     // nor one of which the model is less sure,
  std::optional<double> no_speech = 0.6;          // unless it is surer that nobody speaks: then nothing is said
  bool previous = true;                           // each window is told what was written before it
  bool words = false;                             // when each word was said
};

struct LongSpeech {
  std::vector<SpokenSegment> segments;
  bool finished = false;  // false: interrupted
};

// Of all sounds, a window of each at a time.
std::vector<LongSpeech> ListenToAll(const std::vector<Sound>& sounds, const LongSpeechOptions& options,
                                    WindowListener* listener);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_LONG_SPEECH_H_
