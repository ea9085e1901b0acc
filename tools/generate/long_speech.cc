#include "tools/generate/long_speech.h"

#include <algorithm>

#include "tools/generate/compression.h"
#include "tools/generate/word_times.h"

namespace fovea::tools {
namespace {

// A text generated at a higher temperature is not used as prompt of the next window.
constexpr float kToldUpTo = 0.5f;

struct Attempt {
  HeardWindow heard;
  float temperature = 0;
  double compression_ratio = 0;
};

// Clamps times: the model can generate times in the silence after the end of a sound.
void KeepWithin(double seconds, SpokenSegment* segment) {
  segment->begin = std::min(segment->begin, seconds), segment->end = std::min(segment->end, seconds);
  for (TimedWord& word : segment->words) {
    word.begin = std::min(word.begin, seconds), word.end = std::min(word.end, seconds);
  }
}

double LastTime(const std::vector<SpokenSegment>& segments) {
  double last = 0;
  for (const SpokenSegment& segment : segments) {
    last = std::max({last, segment.begin, segment.end});
    for (const TimedWord& word : segment.words) last = std::max({last, word.begin, word.end});
  }
  return last;
}

// The seconds of the sound, if they are fewer than `most`; else at least `most`.
double SecondsUpTo(double most, SoundReader* sound) {
  return static_cast<double>(sound->CountUpTo(static_cast<uint64_t>(most * sound->rate()) + 1)) / sound->rate();
}

class LongListener {
 public:
  LongListener(std::vector<SoundReader>* sounds, const LongSpeechOptions& options, WindowListener* listener)
      : options_(options), listener_(*listener) {
    for (size_t i = 0; i < sounds->size(); ++i) sources_.push_back({(*sounds)[i], i, 0, options.initial});
  }

  std::vector<LongSpeech> Run() {
    while (HearNext()) {
      const std::vector<Attempt> attempts = WriteUntilGood();
      if (attempts.empty()) break;
      for (size_t i = 0; i < attempts.size(); ++i) {
        Take(attempts[i], i, heard_[i]);
        if (options_.reached) options_.reached(heard_[i]->number, Reached(*heard_[i]));
      }
    }
    std::vector<LongSpeech> all;
    for (Source& source : sources_) {
      source.made.finished = WindowOf(source).length == 0;
      source.made.reached = Reached(source);
      all.push_back(std::move(source.made));
    }
    return all;
  }

 private:
  struct Source {
    SoundReader& sound;
    size_t number;
    uint64_t at = 0;  // next sample
    std::vector<int32_t> previous = {};
    LongSpeech made = {};
    double last_end = 0;  // end of the last word, in seconds
  };

  // The next window; empty at the end. A rest of less than 10 ms is ignored.
  SpeechWindow WindowOf(const Source& source) const {
    const uint64_t rate = source.sound.rate(), least = (rate + 99) / 100;
    const uint64_t all = source.sound.CountUpTo(source.at + std::max(options_.window, least));
    const uint64_t left = all - std::min(all, source.at);
    if (left == 0 || (source.at > 0 && left < least)) return {source.at, 0};
    return {source.at, std::min(options_.window, left)};
  }

  static double Reached(const Source& source) {
    return static_cast<double>(source.sound.CountUpTo(source.at)) / source.sound.rate();
  }

  // Encodes the next windows. False if all sounds are done.
  bool HearNext() {
    heard_.clear();
    std::vector<SoundWindow> windows;
    for (Source& source : sources_) {
      const SpeechWindow window = WindowOf(source);
      if (window.length == 0) continue;
      windows.push_back({&source.sound, source.number, window});
      heard_.push_back(&source);
    }
    if (!windows.empty()) listener_.Hear(windows);
    return !windows.empty();
  }

  bool IsGood(const Attempt& attempt) const {
    const bool unsure = options_.log_probability && attempt.heard.log_probability < *options_.log_probability;
    if (unsure && options_.no_speech && attempt.heard.no_speech > *options_.no_speech) return true;
    return !unsure && !(options_.compression_ratio && attempt.compression_ratio > *options_.compression_ratio);
  }

  // For each window the first text that passes the thresholds, or else the last one tried.
  std::vector<Attempt> WriteUntilGood() {
    std::vector<Attempt> attempts(heard_.size());
    std::vector<WindowTask> tasks(heard_.size());
    for (size_t i = 0; i < tasks.size(); ++i) tasks[i].previous = heard_[i]->previous;
    for (const float temperature : options_.temperatures) {
      std::vector<HeardWindow> written = listener_.Write(tasks, temperature);
      if (written.empty()) return {};
      bool good = true;
      for (size_t i = 0; i < tasks.size(); ++i) {
        if (!tasks[i].wanted) continue;
        attempts[i] = {std::move(written[i]), temperature, 0};
        if (!attempts[i].heard.text.empty()) attempts[i].compression_ratio = CompressionRatio(attempts[i].heard.text);
        tasks[i].wanted = !IsGood(attempts[i]);
        good = good && !tasks[i].wanted;
      }
      if (good) break;
    }
    return attempts;
  }

  bool IsSilence(const HeardWindow& heard) const {
    if (!options_.no_speech || heard.no_speech <= *options_.no_speech) return false;
    return !(options_.log_probability && heard.log_probability > *options_.log_probability);
  }

  void Take(const Attempt& attempt, size_t number, Source* source) {
    const HeardWindow& heard = attempt.heard;
    const SpeechWindow window = WindowOf(*source);
    source->at = window.begin + window.length;
    if (IsSilence(heard)) return;
    const CutText cut = CutAtTimes(heard.tokens, options_.times, options_.step, window);
    source->at = cut.next;
    std::vector<SpokenSegment> segments;
    const double rate = source->sound.rate();
    for (const SpeechSegment& segment : cut.segments) {
      SpokenSegment spoken;
      spoken.begin = static_cast<double>(segment.begin) / rate, spoken.end = static_cast<double>(segment.end) / rate;
      spoken.text = listener_.TextOf(segment.tokens);
      spoken.tokens = segment.tokens;
      spoken.temperature = attempt.temperature;
      spoken.log_probability = heard.log_probability, spoken.compression_ratio = attempt.compression_ratio;
      spoken.no_speech = heard.no_speech;
      segments.push_back(std::move(spoken));
    }
    if (options_.words) AddWords(window, cut, heard, number, source, &segments);
    const double all = SecondsUpTo(LastTime(segments), &source->sound);
    for (SpokenSegment& segment : segments) {
      const bool empty = segment.text.find_first_not_of(" \t\n") == std::string::npos;
      if (empty || segment.begin == segment.end) continue;
      source->previous.insert(source->previous.end(), segment.tokens.begin(), segment.tokens.end());
      KeepWithin(all, &segment);
      if (options_.found) options_.found(source->number, segment);
      source->made.segments.push_back(std::move(segment));
    }
    if (!options_.previous || attempt.temperature > kToldUpTo) source->previous.clear();
  }

  // Adds words to segments. If the text continues in the next window, that window begins after the last word.
  void AddWords(const SpeechWindow& window, const CutText& cut, const HeardWindow& heard, size_t number, Source* source,
                std::vector<SpokenSegment>* segments) {
    std::vector<int32_t> tokens;
    std::vector<size_t> counts;
    std::vector<double> probabilities;
    size_t at = 0;
    for (const SpokenSegment& segment : *segments) {
      const size_t before = tokens.size();
      for (const int32_t token : segment.tokens) {
        if (options_.times.IsText(token)) {
          tokens.push_back(token);
          probabilities.push_back(at < heard.probabilities.size() ? heard.probabilities[at] : 0);
        }
        ++at;
      }
      counts.push_back(tokens.size() - before);
    }
    if (tokens.empty()) return;
    std::vector<TimedWord> words = listener_.Words(number, tokens);
    at = 0;
    for (TimedWord& word : words) {
      for (size_t i = 0; i < word.tokens.size(); ++i) word.probability += probabilities[at++];
      word.probability /= static_cast<double>(word.tokens.size());
    }
    const double median = ShortenWords(&words);
    MergePunctuation(&words);
    const double rate = source->sound.rate(), offset = static_cast<double>(window.begin) / rate;
    for (TimedWord& word : words) word.begin += offset, word.end += offset;
    ShareWords(words, counts, median, &source->last_end, segments);
    double end = segments->back().end;
    for (const SpokenSegment& segment : *segments) {
      if (!segment.words.empty()) end = segment.words.back().end;
    }
    if (cut.ends_early || end <= offset) return;
    source->at = std::max(window.begin + options_.step, static_cast<uint64_t>(end * rate + 0.5));
  }

  const LongSpeechOptions& options_;
  WindowListener& listener_;
  std::vector<Source> sources_;
  std::vector<Source*> heard_;  // sources of the current windows
};

}  // namespace

std::vector<LongSpeech> ListenToAll(std::vector<SoundReader>* sounds, const LongSpeechOptions& options,
                                    WindowListener* listener) {
  return LongListener(sounds, options, listener).Run();
}

}  // namespace fovea::tools
