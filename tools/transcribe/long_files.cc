#include "tools/transcribe/long_files.h"

#include "tools/model/interrupt.h"

namespace fovea::tools {
namespace {

OrderedJson JsonOf(const SpokenSegment& segment, bool words) {
  OrderedJson entry = {{"begin", segment.begin},
                       {"end", segment.end},
                       {"text", LineOf(segment.text)},
                       {"tokens", segment.tokens},
                       {"temperature", segment.temperature},
                       {"log_probability", segment.log_probability},
                       {"compression_ratio", segment.compression_ratio},
                       {"no_speech_probability", segment.no_speech}};
  if (!words) return entry;
  OrderedJson list = OrderedJson::array();
  for (const TimedWord& word : segment.words) {
    list.push_back({{"text", word.text}, {"tokens", word.tokens}, {"begin", word.begin}, {"end", word.end}});
    if (word.probability != 0) list.back()["probability"] = word.probability;
  }
  entry["words"] = list;
  return entry;
}

// The segment, or each of its words.
std::vector<TimedLine> LinesOf(const SpokenSegment& segment, bool words) {
  std::vector<TimedLine> lines;
  if (!words) lines.push_back({segment.begin, segment.end, segment.text});
  for (const TimedWord& word : segment.words) lines.push_back({word.begin, word.end, word.text});
  return lines;
}

}  // namespace

LongFiles::LongFiles(const Model& model, const TimeFormat& format, const SpeechTask& task,
                     const GenerationRequest& request, const LongSpeechOptions& options, size_t batch_size,
                     std::function<void(const Transcript&)> done,
                     std::function<void(const std::string&, const std::string&)> found,
                     std::function<void(const std::string&, const TimedLine&)> line)
    : model_(model),
      format_(format),
      task_(task),
      request_(request),
      options_(options),
      batch_size_(batch_size),
      done_(std::move(done)),
      found_(std::move(found)),
      line_(std::move(line)) {
  options_.times = format.tokens, options_.step = format.step, options_.window = format.window;
  const SpeechPrompts prompts(model, task, true);  // reports invalid tasks before any file is read
  if (options_.previous || !options_.initial.empty()) prompts.CheckPrevious();
}

void LongFiles::AddFile(const std::string& path, const SoundInput& input) {
  names_.push_back(path);
  sounds_.emplace_back(path, input.rate);
  if (sounds_.size() == batch_size_) EndBatch(input);
}

void LongFiles::EndBatch(const SoundInput& input) {
  if (sounds_.empty() || Interrupt::Happened()) return;
  ModelListener listener(model_, input, format_, task_, request_);
  options_.found = nullptr;
  if (line_ && sounds_.size() == 1) {
    options_.found = [&](size_t, const SpokenSegment& segment) {
      for (const TimedLine& line : LinesOf(segment, options_.words)) line_(names_[0], line);
    };
  }
  listener.OnScan(Summing(scanned_));
  options_.reached = Summing(reached_);
  const std::vector<LongSpeech> all = ListenToAll(&sounds_, options_, &listener);
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i].finished && all[i].segments.empty()) continue;
    const std::string& language = listener.LanguageOf(i);
    if (!language.empty()) found_(names_[i], language);
    Transcript made =
        TranscriptOf(names_[i], sounds_[i].ExpectedSeconds(), language.empty() ? task_.language : language, all[i]);
    made.notes = sounds_[i].notes();
    if (!all[i].finished) {
      made.notes.push_back(fmt::format("interrupted: the first {:.2f} s are transcribed", all[i].reached));
    }
    done_(made);
  }
  names_.clear();
  sounds_.clear();
}

std::function<void(size_t, double)> LongFiles::Summing(const Reached& to) {
  if (!to) return nullptr;
  std::string names = names_.front();
  if (names_.size() > 1) names += fmt::format(" and {} more", names_.size() - 1);
  return [this, to, names, seconds = std::vector<double>(names_.size())](size_t sound, double reached) mutable {
    seconds[sound] = reached;
    double sum = 0, all = 0;
    for (size_t i = 0; i < seconds.size(); ++i) sum += seconds[i], all += sounds_[i].ExpectedSeconds();
    to(names, sum, all);
  };
}

Transcript LongFiles::TranscriptOf(const std::string& name, double seconds, const std::string& language,
                                   const LongSpeech& speech) const {
  Transcript transcript;
  transcript.name = name;
  OrderedJson segments = OrderedJson::array();
  for (const SpokenSegment& segment : speech.segments) {
    transcript.text += segment.text;
    segments.push_back(JsonOf(segment, options_.words));
    for (TimedLine& line : LinesOf(segment, options_.words)) transcript.lines.push_back(std::move(line));
  }
  transcript.text = LineOf(transcript.text);
  OrderedJson& entry = transcript.json = {{"input", name}, {"seconds", seconds}};
  if (!language.empty()) entry["language"] = language;
  entry["text"] = transcript.text;
  entry["segments"] = segments;
  return transcript;
}

}  // namespace fovea::tools
