#include "tools/generate/model_listener.h"

#include <math.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "tools/base/json.h"
#include "tools/generate/alignment_heads.h"
#include "tools/generate/decoder_session.h"
#include "tools/generate/defaults.h"
#include "tools/generate/sound_chunks.h"
#include "tools/model/interrupt.h"

namespace fovea::tools {
namespace {

std::optional<uint64_t> Number(const Model& model, const std::string& key, WholeRange range) {
  const char* const text = model.Metadata(key);
  if (text == nullptr) return std::nullopt;
  return static_cast<uint64_t>(WholeNumberIn(text, MetadataName(model, key), range));
}

uint32_t TokenCount(const Model& model) {
  const uint32_t program = DecodeProgram(model);
  const auto scores = model.FindValue(program, MetadataOr(model, "generate.scores", ""));
  return scores ? model.Value(program, *scores).width : 0;
}

}  // namespace

std::optional<TimeFormat> FindTimeFormat(const Model& model, const SoundInput& input) {
  const std::vector<int32_t> none = MetadataTokens(model, "transcribe.no_timestamps");
  const std::vector<int32_t> stops = DefaultsOf(model).stop_ids;
  const auto step = Number(model, "transcribe.samples_per_time", {1, UINT32_MAX});
  const std::string input_name = model.Value(EncoderProgram(model), input.value).name;
  const auto window = Number(model, fmt::format("clip_length.{}", input_name), {1, UINT32_MAX});
  if (none.size() != 1 || stops.empty() || !step || !window) return std::nullopt;
  TimeFormat format;
  format.tokens.none = none[0], format.tokens.first = none[0] + 1, format.tokens.stop = stops[0];
  if (TokenCount(model) <= static_cast<uint32_t>(format.tokens.first)) return std::nullopt;
  format.step = *step, format.window = *window;
  // One second in Whisper's configuration.
  const auto latest = Number(model, "transcribe.latest_first_time", {0, INT32_MAX});
  format.tokens.latest_first = static_cast<uint32_t>(latest.value_or((input.rate + *step / 2) / *step));
  // It precedes the no-timestamps token, as in the original library.
  if (none[0] > 0 && none[0] - 1 != stops[0]) format.no_speech = none[0] - 1;
  return format;
}

ModelListener::ModelListener(const Model& model, const SoundInput& input, const TimeFormat& format,
                             const SpeechTask& task, const GenerationRequest& request)
    : model_(model), input_(input), format_(format), task_(task), request_(request), prompts_(model, task, true) {
  if (MelWindows::Fits(model)) mels_.emplace(model, format.window, request.workers);
}

Session ModelListener::EncodeWindows(const std::vector<SoundWindow>& windows) {
  if (mels_) return mels_->Encode(windows);
  std::vector<Sound> alone;
  for (const SoundWindow& window : windows) {
    alone.push_back(window.sound->Part(window.part.begin, window.part.length));
  }
  return Encode(model_, BatchFromSounds(model_, input_, EncoderProgram(model_), alone), request_.workers);
}

void ModelListener::Hear(const std::vector<SoundWindow>& windows) {
  encode_.reset();  // frees its memory before the next session is created
  encode_.emplace(EncodeWindows(windows));
  sounds_.clear();
  lengths_.clear();
  no_speech_.clear();
  for (const SoundWindow& window : windows) {
    sounds_.push_back(window.number);
    lengths_.push_back(window.part.length);
  }
  const auto lacks = [&](size_t sound) { return languages_.count(sound) == 0; };
  if (!prompts_.needs_language() || std::none_of(sounds_.begin(), sounds_.end(), lacks)) return;
  const std::vector<std::string> found = prompts_.FindLanguages(*encode_, windows.size(), request_);
  for (size_t i = 0; i < found.size(); ++i) languages_.emplace(sounds_[i], found[i]);
}

const std::string& ModelListener::LanguageOf(size_t sound) const {
  static const std::string kNone;
  const auto found = languages_.find(sound);
  return found == languages_.end() ? kNone : found->second;
}

std::vector<double> ModelListener::NoSpeech(const std::vector<WindowTask>& tasks) const {
  std::vector<double> probabilities(tasks.size());
  if (!format_.no_speech) return probabilities;
  std::vector<std::vector<int32_t>> prompts;
  for (const WindowTask& task : tasks) prompts.push_back(prompts_.Before(task.previous));
  const std::vector<std::vector<float>> scores = ScoresAfter(model_, *encode_, prompts, request_);
  for (size_t i = 0; i < scores.size(); ++i) {
    const auto tokens = static_cast<uint32_t>(scores[i].size());
    if (tokens == 0) continue;  // interrupted
    const std::vector<uint32_t> all((tokens + 31) / 32, ~0u);
    const float score = scores[i][static_cast<size_t>(*format_.no_speech)];
    probabilities[i] = exp(score - LogSum(scores[i].data(), all.data(), 0, tokens));
  }
  return probabilities;
}

GenerationRequest ModelListener::RequestAt(float temperature) const {
  GenerationRequest request = request_;
  const uint64_t half = Number(model_, "max_positions", {4, INT32_MAX}).value_or(2 * kUsualMaxTokens) / 2;
  if (request.max_tokens == 0 || request.max_tokens > half) request.max_tokens = static_cast<uint32_t>(half);
  request.sampling.temperature = temperature;
  if (temperature > 0) request.beams.reset();
  request.number = texts_;
  return request;
}

std::vector<HeardWindow> ModelListener::Write(const std::vector<WindowTask>& tasks, float temperature) {
  if (Interrupt::Happened()) return {};
  if (no_speech_.empty()) no_speech_ = NoSpeech(tasks);
  std::vector<std::vector<int32_t>> prompts;
  for (size_t i = 0; i < tasks.size(); ++i) {
    // A text that is not wanted is ended at once.
    std::vector<int32_t> prompt;
    if (tasks[i].wanted) prompt = prompts_.Prompt(LanguageOf(sounds_[i]), tasks[i].previous);
    prompts.push_back(prompt.empty() ? prompts_.Before({}) : std::move(prompt));
  }
  std::vector<double> sums(tasks.size());
  std::vector<std::vector<double>> logs(tasks.size());
  GenerationRequest request = RequestAt(temperature);
  request.allow_scored = [&](const ScoredText& text, uint32_t tokens, uint32_t* bits) {
    if (!tasks[text.text].wanted) return AllowOnly(format_.tokens.stop, tokens, bits);
    ApplyTimeRules(format_.tokens, text.made, text.count, text.scores, tokens, bits);
    sums[text.text] = LogSum(text.scores, bits, 0, tokens);
  };
  request.after_step = [&](const Session&, const fovea_generated& step) {
    for (uint32_t i = 0; i < step.texts; ++i) {
      if (step.tokens[i] >= 0) logs[i].push_back(step.scores[i] - sums[i]);
    }
  };
  const std::vector<Generation> made = Generate(model_, *encode_, prompts, request);
  if (Interrupt::Happened()) return {};
  texts_ += made.size();
  std::vector<HeardWindow> heard(made.size());
  for (size_t i = 0; i < made.size(); ++i) {
    HeardWindow& window = heard[i];
    window.tokens = made[i].tokens;
    if (!window.tokens.empty() && window.tokens.back() == format_.tokens.stop) window.tokens.pop_back();
    window.text = TextOf(window.tokens);
    double sum = std::accumulate(logs[i].begin(), logs[i].end(), 0.0);
    if (request.beams && !made[i].hypotheses.empty()) sum = made[i].hypotheses[0].sum;
    window.log_probability = sum / static_cast<double>(window.tokens.size() + 1);
    for (const double log : logs[i]) window.probabilities.push_back(exp(log));
    window.no_speech = no_speech_[i];
  }
  return heard;
}

std::string ModelListener::TextOf(const std::vector<int32_t>& tokens) const {
  std::vector<int32_t> words;
  std::copy_if(tokens.begin(), tokens.end(), std::back_inserter(words),
               [&](int32_t token) { return format_.tokens.IsText(token); });
  return tools::TextOf(model_, words);
}

std::vector<TimedWord> ModelListener::Words(size_t window, const std::vector<int32_t>& tokens) {
  const AlignmentHeads heads(model_);
  std::vector<std::vector<int32_t>> prompts(sounds_.size(), prompts_.Before({}));
  const std::string& language = task_.language.empty() ? LanguageOf(sounds_[window]) : task_.language;
  std::vector<int32_t> prompt = prompts_.Prompt(LanguageOf(sounds_[window]), {});
  if (prompt.empty()) prompt = prompts_.Before({});
  const size_t from = prompt.size();  // the first generated token comes after the prompt
  prompt.push_back(format_.tokens.none);
  prompt.insert(prompt.end(), tokens.begin(), tokens.end());
  prompt.push_back(format_.tokens.stop);
  const size_t rows = prompt.size();
  prompts[window] = std::move(prompt);
  size_t first = 0;
  for (size_t i = 0; i < window; ++i) first += prompts[i].size();

  GenerationRequest request;
  request.workers = request_.workers, request.cache_type = request_.cache_type;
  request.max_tokens = 1;
  request.stops = false;
  request.taps = heads.taps();
  HeadWeights weights;
  const auto frames = static_cast<size_t>(std::max<uint64_t>(1, lengths_[window] / format_.step));
  request.after_step = [&](const Session& decode, const fovea_generated&) {
    weights = heads.Weights(decode, first, rows, frames);
  };
  Generate(model_, *encode_, prompts, request);
  if (weights.values.empty()) return {};  // interrupted
  const auto width = static_cast<size_t>(Number(model_, "transcribe.median_width", {1, 1001}).value_or(7));
  const std::vector<size_t> begins = FirstFrames(std::move(weights), width, from, rows - 1);

  static const std::set<std::string> kWithoutSpaces = {"zh", "ja", "th", "lo", "my", "yue"};
  std::vector<TimedWord> words =
      SplitWords(tokens, kWithoutSpaces.count(language) == 0,
                 [&](const std::vector<int32_t>& part) { return tools::TextOf(model_, part); });
  const double seconds = static_cast<double>(format_.step) / input_.rate;
  size_t at = 0;
  for (TimedWord& word : words) {
    word.begin = static_cast<double>(begins[at]) * seconds;
    at += word.tokens.size();
    word.end = static_cast<double>(begins[at]) * seconds;
  }
  return words;
}

}  // namespace fovea::tools
