#include "tools/generate/transcription.h"

#include <math.h>
#include <stdlib.h>

#include <algorithm>

#include "tools/base/fail.h"
#include "tools/base/json.h"
#include "tools/generate/defaults.h"
#include "tools/text/speech_languages.h"

namespace fovea::tools {
namespace {

const char kPrevious[] = "transcribe.previous";

using Named = std::vector<std::pair<std::string, int32_t>>;

// Tokens by name: the part of the key after `beginning`.
Named NamedTokens(const Model& model, const std::string& beginning) {
  Named named;
  for (const auto& [name, value] : MetadataAfter(model, beginning)) {
    const std::vector<int32_t> tokens = MetadataTokens(model, beginning + name);
    if (tokens.size() != 1) Fail("{} is {}", MetadataName(model, beginning + name), value);
    named.emplace_back(name, tokens[0]);
  }
  return named;
}

// `code`: the name that the table has if it does not have this one; may be empty.
int32_t TokenOf(const Model& model, const char* kind, const Named& named, const std::string& name,
                const std::string& code = "") {
  std::string names;
  for (const auto& [one, token] : named) {
    if (one == name || (!code.empty() && one == code)) return token;
    names += (names.empty() ? "" : ", ") + one;
  }
  Fail("{}: has no {} '{}'; available: {}", model.name(), kind, name, names.empty() ? "none" : names);
}

void Append(const std::vector<int32_t>& more, std::vector<int32_t>* tokens) {
  tokens->insert(tokens->end(), more.begin(), more.end());
}

}  // namespace

std::vector<std::vector<float>> ScoresAfter(const Model& model, const Session& encode,
                                            const std::vector<std::vector<int32_t>>& prompts,
                                            const GenerationRequest& given) {
  GenerationRequest request;
  request.workers = given.workers;
  request.cache_type = given.cache_type;
  request.max_tokens = 1;
  request.stops = false;
  std::vector<std::vector<float>> all(prompts.size());
  request.allow_scored = [&](const ScoredText& text, uint32_t tokens, const uint32_t*) {
    all[text.text].assign(text.scores, text.scores + tokens);
  };
  Generate(model, encode, prompts, request);
  return all;
}

SpeechPrompts::SpeechPrompts(const Model& model, const SpeechTask& given, bool times)
    : model_(model), languages_(NamedTokens(model, "transcribe.language.")) {
  SpeechTask task = given;
  if (task.language.empty()) task.language = MetadataOr(model, "transcribe.default_language", "");
  if (task.task.empty()) task.task = MetadataOr(model, "transcribe.default_task", "");
  const bool told = !task.language.empty() || !task.task.empty();
  if (!told) rest_ = MetadataTokens(model, "transcribe.prompt");
  if (rest_.empty()) {
    needs_language_ = task.language.empty() && !languages_.empty();
    if (!task.language.empty())
      language_ = {TokenOf(model, "language", languages_, task.language, LanguageCodeOf(task.language))};
    const Named tasks = NamedTokens(model, "transcribe.task.");
    const std::string name = task.task.empty() ? "transcribe" : task.task;
    // A model without tasks transcribes.
    if (!tasks.empty() || name != "transcribe") rest_ = {TokenOf(model, "task", tasks, name)};
  }
  const std::vector<int32_t> plain = MetadataTokens(model, "transcribe.no_timestamps");
  const bool is_plain = !plain.empty() && !rest_.empty() && rest_.back() == plain.back();
  if (times && is_plain) rest_.pop_back();
  if (!times && !is_plain) Append(plain, &rest_);
}

std::vector<std::string> SpeechPrompts::FindLanguages(const Session& encode, size_t clips,
                                                      const GenerationRequest& request) const {
  std::vector<std::string> found;
  const std::vector<std::vector<int32_t>> prompts(clips, Before({}));
  for (const std::vector<float>& scores : ScoresAfter(model_, encode, prompts, request)) {
    if (scores.empty()) return {};  // interrupted
    const std::string* best = nullptr;
    float highest = -HUGE_VALF;
    for (const auto& [name, token] : languages_) {
      if (static_cast<size_t>(token) >= scores.size() || !(scores[static_cast<size_t>(token)] > highest)) continue;
      best = &name, highest = scores[static_cast<size_t>(token)];
    }
    if (best == nullptr) Fail("{}: no language was detected; give --language", model_.name());
    found.push_back(*best);
  }
  return found;
}

void SpeechPrompts::CheckPrevious() const {
  if (MetadataTokens(model_, kPrevious).empty())
    Fail("{}: does not support previous text; leave out --condition-on-previous and --initial-prompt", model_.name());
}

std::vector<int32_t> SpeechPrompts::Before(const std::vector<int32_t>& previous) const {
  std::vector<int32_t> prompt;
  if (!previous.empty()) {
    const std::string positions = MetadataOr(model_, "max_positions", "");
    const auto most = WholeNumberIn(positions, MetadataName(model_, "max_positions"), {4, INT32_MAX}) / 2 - 1;
    const auto count = std::min(static_cast<ptrdiff_t>(most), static_cast<ptrdiff_t>(previous.size()));
    prompt = MetadataTokens(model_, kPrevious);
    prompt.insert(prompt.end(), previous.end() - count, previous.end());
  }
  const std::optional<int32_t> start = DefaultsOf(model_).start;
  if (start) prompt.push_back(*start);
  return prompt;
}

std::vector<int32_t> SpeechPrompts::Prompt(const std::string& language, const std::vector<int32_t>& previous) const {
  std::vector<int32_t> told = language_;
  if (needs_language_) told = {TokenOf(model_, "language", languages_, language)};
  Append(rest_, &told);
  if (told.empty() && previous.empty()) return {};
  std::vector<int32_t> prompt = Before(previous);
  Append(told, &prompt);
  return prompt;
}

void AllowOnly(int32_t token, uint32_t tokens, uint32_t* bits) {
  std::fill_n(bits, (tokens + 31) / 32, 0);
  bits[token / 32] |= 1u << (token % 32);
}

std::optional<size_t> MostTokens(const Model& model, double seconds) {
  const char* const rate = model.Metadata("transcribe.tokens_per_second");
  if (rate == nullptr) return std::nullopt;
  const double most = strtod(rate, nullptr) * seconds;
  if (!(most >= 0)) Fail("{} is {}", MetadataName(model, "transcribe.tokens_per_second"), rate);
  return static_cast<size_t>(std::min(std::max(most, 1.0), 1e9));
}

uint64_t LongestClip(const Model& model, const SoundInput& input) {
  const fovea_value_info info = model.Value(EncoderProgram(model), input.value);
  const uint64_t longest = model.Space(info.space).max_segment_rows;
  const std::string key = fmt::format("clip_length.{}", info.name);
  const char* const length = model.Metadata(key);
  if (length == nullptr) return longest;
  return std::min<uint64_t>(longest, WholeNumberIn(length, MetadataName(model, key), {1, UINT32_MAX}));
}

}  // namespace fovea::tools
