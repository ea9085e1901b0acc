// Metadata for transcription: the first tokens of a text, and the alignment with audio.
#include "tools/convert/arch/transcription.h"

#include "tools/base/fail.h"
#include "tools/convert/arch/decoder.h"
#include "tools/text/speech_languages.h"

namespace fovea::tools {
namespace {

constexpr WholeRange kTokens = {0, INT32_MAX};

std::string Token(const JsonView& token) { return std::to_string(token.Number(kTokens)); }

// "<|en|>" as "en".
std::string Bare(const std::string& name) {
  const bool marked = name.size() > 4 && name.rfind("<|", 0) == 0 && name.compare(name.size() - 2, 2, "|>") == 0;
  return marked ? name.substr(2, name.size() - 4) : name;
}

void SetNamed(const JsonView& tokens, const std::string& entry, Description& description) {
  if (tokens.IsNull()) return;
  for (const auto& item : tokens.Object().items()) {
    description.SetMetadata(entry + Bare(item.key()), Token({item.value(), tokens.name() + ": " + item.key()}));
  }
}

// Pairs of a place, from 1 on, and a token: nothing if the model generates one of the places (null).
std::string Forced(const JsonView& pairs) {
  std::string tokens;
  if (pairs.IsNull()) return tokens;
  for (size_t i = 0; i < pairs.List().size(); ++i) {
    const JsonView pair = pairs.At(i);
    if (pair.List().size() != 2) Fail("{} must be pairs of a position and a token", pairs.name());
    if (pair.At(0).Number({1, INT32_MAX}) != i + 1 || pair.At(1).IsNull()) return "";
    tokens += fmt::format("{}{}", tokens.empty() ? "" : " ", Token(pair.At(1)));
  }
  return tokens;
}

// Pairs of a layer and one of its heads, as "layer.head" with spaces between them.
std::string LayersHeads(const JsonView& pairs) {
  std::string heads;
  if (pairs.IsNull()) return heads;
  for (size_t i = 0; i < pairs.List().size(); ++i) {
    const JsonView pair = pairs.At(i);
    if (pair.List().size() != 2) Fail("{} must be pairs of a layer and a head", pairs.name());
    heads +=
        fmt::format("{}{}.{}", heads.empty() ? "" : " ", pair.At(0).Number({0, 65535}), pair.At(1).Number({0, 63}));
  }
  return heads;
}

// The name of the token in a table of generation_config.json; empty: it is not there.
std::string NameOf(const JsonView& tokens, const Json& token) {
  if (tokens.IsNull()) return "";
  for (const auto& item : tokens.Object().items()) {
    if (item.value() == token) return Bare(item.key());
  }
  return "";
}

// The language or task that forced_decoder_ids has a token of.
std::string ForcedName(const JsonView& pairs, const JsonView& tokens) {
  for (size_t i = 0; !pairs.IsNull() && i < pairs.List().size(); ++i) {
    const JsonView pair = pairs.At(i);
    const std::string name = pair.List().size() == 2 ? NameOf(tokens, pair.At(1).json()) : "";
    if (!name.empty()) return name;
  }
  return "";
}

// Language and task of a text, by the settings of generation_config.json.
class SpeechChoice {
 public:
  SpeechChoice(const GenerationConfig& config, Description& description) : config_(config), description_(description) {}

  void Describe() {
    const Json& several = config_.View("is_multilingual").json();
    if (several == false)
      return Find(
          "the model knows one language (is_multilingual false): --language and --task are "
          "not available");
    const JsonView languages = config_.View("lang_to_id"), tasks = config_.View("task_to_id");
    SetNamed(languages, "transcribe.language.", description_);
    SetNamed(tasks, "transcribe.task.", description_);
    const bool language = SetDefault("language", languages), task = SetDefault("task", tasks);
    // Forced tokens without a gap are transcribe.prompt as they are.
    const JsonView forced = config_.View("forced_decoder_ids");
    if (language || task || Forced(forced).empty()) {
      if (!language) SetForced("language", ForcedName(forced, languages));
      if (!task) SetForced("task", ForcedName(forced, tasks));
    }
    if (languages.IsNull()) {
      Find(
          "no table of languages (lang_to_id): --language is not available, none is detected, and a text begins as "
          "the model chooses or forced_decoder_ids specifies; the original refuses a language");
    } else if (several.is_null()) {
      Find("is_multilingual is not set: fovea detects the language, and the original only takes one that is given");
    }
    if (tasks.IsNull()) Find("no table of tasks (task_to_id): --task is not available");
  }

  void Times() {
    if (!config_.View("no_timestamps_token_id").IsNull()) return;
    Find(
        "no no_timestamps_token_id: texts have no times, and longer sounds are cut into clips, which may split a "
        "word; the original refuses both");
  }

 private:
  void Find(const char* text) { description_.findings.push_back({Topic::kGeneration, std::string("speech: ") + text}); }

  void SetForced(const char* key, const std::string& name) {
    if (name.empty()) return;
    description_.SetMetadata(std::string("transcribe.default_") + key, name);
    Find(key, name);
  }

  // False if no key sets it.
  bool SetDefault(const char* key, const JsonView& tokens) {
    // In config.json these keys are about something else.
    const JsonView file(config_.own(), "generation_config.json");
    if (!file.json().is_object() || file[key].IsNull()) return false;
    const JsonView value = file[key];
    std::string name = Bare(value.Text());
    const std::string beginning = std::string("transcribe.") + key + ".";
    const auto known = [&] { return description_.metadata_index.count(beginning + name) != 0; };
    // A language may have its English name.
    if (!known() && key == std::string("language")) name = LanguageCodeOf(name);
    if (!tokens.IsNull() && known()) {
      SetForced(key, name);
      return true;
    }
    description_.warnings.push_back(
        fmt::format("{} {} is not a name of the model's table and was ignored; fovea transcribe --{} sets it",
                    value.name(), Shown(value.json()), key));
    return false;
  }
  void Find(const char* key, const std::string& name) {
    description_.findings.push_back(
        {Topic::kGeneration, fmt::format("speech: {} {} unless --{} sets another", key, name, key)});
  }

  const GenerationConfig& config_;
  Description& description_;
};

}  // namespace

void DescribeTranscription(const Checkpoint& checkpoint, Description& description) {
  const GenerationConfig config(checkpoint);
  SpeechChoice choice(config, description);
  choice.Describe();
  choice.Times();
  const auto set = [&](const char* entry, const std::string& tokens) {
    if (!tokens.empty()) description.SetMetadata(entry, tokens);
  };
  const auto token = [&](const char* key) {
    const JsonView value = config.View(key);
    return value.IsNull() ? std::string() : Token(value);
  };
  set("transcribe.no_timestamps", token("no_timestamps_token_id"));
  set("transcribe.previous", token("prev_sot_token_id"));
  set("transcribe.prompt", Forced(config.View("forced_decoder_ids")));
  const JsonView latest = config.View("max_initial_timestamp_index");
  if (!latest.IsNull()) set("transcribe.latest_first_time", std::to_string(latest.Number(kTokens)));
  set("transcribe.alignment_heads", LayersHeads(config.View("alignment_heads")));
  const JsonView median = config.View("median_filter_width");
  if (!median.IsNull()) {
    const uint64_t width = median.Number({1, 1001});
    if (width % 2 == 0) Fail("{} must be an odd number", median.name());
    set("transcribe.median_width", std::to_string(width));
  }
}

}  // namespace fovea::tools
