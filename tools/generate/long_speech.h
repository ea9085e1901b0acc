// Transcribes sounds of any length window by window with a model that generates timestamps: a window begins where the
// text of the previous one was complete (Radford et al., arXiv 2212.04356, section 4.5).
#ifndef FOVEA_TOOLS_GENERATE_LONG_SPEECH_H_
#define FOVEA_TOOLS_GENERATE_LONG_SPEECH_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/generate/speech_segments.h"
#include "tools/generate/spoken.h"
#include "tools/sound/sound_reader.h"

namespace fovea::tools {

// The result for a window.
struct HeardWindow {
  std::vector<int32_t> tokens;             // without the end-of-text token
  std::string text;                        // without timestamps
  double log_probability = 0;              // mean over tokens, including the end
  double no_speech = 0;                    // no-speech probability; 0 if the model has none
  std::vector<double> probabilities = {};  // per token; empty if unknown
};

struct WindowTask {
  std::vector<int32_t> previous;  // text before the window, as prompt
  bool wanted = true;             // false: the result is ignored
};

// A window of one of several sounds.
struct SoundWindow {
  SoundReader* sound = nullptr;
  size_t number = 0;  // index of the sound
  SpeechWindow part = {};
};

class WindowListener {
 public:
  virtual ~WindowListener() = default;
  // Encodes a window of each of several sounds; the other functions refer to these windows until the next call.
  virtual void Hear(const std::vector<SoundWindow>& windows) = 0;
  // Decodes windows at a temperature. Empty if it was interrupted.
  virtual std::vector<HeardWindow> Write(const std::vector<WindowTask>& tasks, float temperature) = 0;
  // The text of tokens, without timestamps.
  virtual std::string TextOf(const std::vector<int32_t>& tokens) const = 0;
  // Word timestamps for `tokens`, generated for window `window`; relative to its beginning.
  virtual std::vector<TimedWord> Words(size_t window, const std::vector<int32_t>& tokens) = 0;
};

struct LongSpeechOptions {
  TimeTokens times;
  uint64_t step = 0, window = 0;  // samples: between two timestamps, of a window
  // Tried in this order until a text passes the thresholds.
  std::vector<float> temperatures = {0.0f, 0.2f, 0.4f, 0.6f, 0.8f, 1.0f};
  std::optional<double> compression_ratio = 2.4;  // rejected if above: the text repeats itself
  std::optional<double> log_probability = -1;     // rejected if the mean is below,
  std::optional<double> no_speech = 0.6;          // unless the no-speech probability is above this: then it is silence
  bool previous = true;                           // prompt each window with the text before it
  bool words = false;                             // compute word timestamps
  std::vector<int32_t> initial = {};              // prompt of the first window of each sound: names, spellings
  // Receives each segment as it is found, with the index of its sound.
  std::function<void(size_t sound, const SpokenSegment& segment)> found = nullptr;
  // Receives the seconds of a sound that are done, after each window.
  std::function<void(size_t sound, double seconds)> reached = nullptr;
};

struct LongSpeech {
  std::vector<SpokenSegment> segments;
  bool finished = false;  // false: interrupted
  double reached = 0;     // seconds that are done
};

// Transcribes all sounds in parallel, a window of each at a time.
std::vector<LongSpeech> ListenToAll(std::vector<SoundReader>* sounds, const LongSpeechOptions& options,
                                    WindowListener* listener);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_LONG_SPEECH_H_
