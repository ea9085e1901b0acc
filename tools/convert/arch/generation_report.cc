// The original: transformers/generation/configuration_utils.py (GenerationConfig), and which of its settings
// GenerationMixin.generate applies when.
#include "tools/convert/arch/generation_report.h"

#include <algorithm>
#include <iterator>

#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

enum class Role {
  kFollowed,  // metadata "generate.*"
  kNamed,     // not applied
  kSampling,  // changes texts only where tokens are sampled, which is the caller's choice here
  kEqual,     // how the original computes the same texts, or what it returns beside them
};

struct Rule {
  const char* key;
  Role role;
  double usual;  // the number with which it changes nothing; false is 0
};
constexpr Rule kRules[] = {
    {"max_length", Role::kFollowed, 20},
    {"max_new_tokens", Role::kFollowed, 0},
    {"min_length", Role::kFollowed, 0},
    {"min_new_tokens", Role::kFollowed, 0},
    {"stop_strings", Role::kFollowed, 0},
    {"num_beams", Role::kFollowed, 1},
    {"length_penalty", Role::kFollowed, 1},
    {"early_stopping", Role::kFollowed, 0},
    {"repetition_penalty", Role::kFollowed, 1},
    {"no_repeat_ngram_size", Role::kFollowed, 0},
    {"encoder_no_repeat_ngram_size", Role::kFollowed, 0},
    {"bad_words_ids", Role::kFollowed, 0},
    {"suppress_tokens", Role::kFollowed, 0},
    {"begin_suppress_tokens", Role::kFollowed, 0},
    {"encoder_repetition_penalty", Role::kNamed, 1},
    {"num_beam_groups", Role::kNamed, 1},
    {"diversity_penalty", Role::kNamed, 0},
    {"penalty_alpha", Role::kNamed, 0},
    {"guidance_scale", Role::kNamed, 1},
    {"num_return_sequences", Role::kNamed, 1},
    {"sequence_bias", Role::kNamed, 0},
    {"exponential_decay_length_penalty", Role::kNamed, 0},
    {"watermarking_config", Role::kNamed, 0},
    {"force_words_ids", Role::kNamed, 0},
    {"constraints", Role::kNamed, 0},
    {"dola_layers", Role::kNamed, 0},
    {"max_time", Role::kNamed, 0},
    {"renormalize_logits", Role::kNamed, 0},
    {"token_healing", Role::kNamed, 0},
    {"custom_generate", Role::kNamed, 0},
    {"do_sample", Role::kSampling, 0},
    {"temperature", Role::kSampling, 1},
    {"top_k", Role::kSampling, 50},
    {"top_p", Role::kSampling, 1},
    {"min_p", Role::kSampling, 0},
    {"top_h", Role::kSampling, 0},
    {"typical_p", Role::kSampling, 1},
    {"epsilon_cutoff", Role::kSampling, 0},
    {"eta_cutoff", Role::kSampling, 0},
    {"use_cache", Role::kEqual, 1},
    {"cache_implementation", Role::kEqual, 0},
    {"cache_config", Role::kEqual, 0},
    {"max_cache_len", Role::kEqual, 0},
    {"return_legacy_cache", Role::kEqual, 0},
    {"prefill_chunk_size", Role::kEqual, 0},
    {"low_memory", Role::kEqual, 0},
    {"compile_config", Role::kEqual, 0},
    {"disable_compile", Role::kEqual, 0},
    {"remove_invalid_values", Role::kEqual, 0},
    {"output_attentions", Role::kEqual, 0},
    {"output_hidden_states", Role::kEqual, 0},
    {"output_scores", Role::kEqual, 0},
    {"output_logits", Role::kEqual, 0},
    {"return_dict_in_generate", Role::kEqual, 0},
    // Speculative decoding: the same texts, sooner.
    {"is_assistant", Role::kEqual, 0},
    {"num_assistant_tokens", Role::kEqual, 20},
    {"num_assistant_tokens_schedule", Role::kEqual, 0},
    {"assistant_confidence_threshold", Role::kEqual, 0.4},
    {"assistant_early_exit", Role::kEqual, 0},
    {"assistant_lookbehind", Role::kEqual, 10},
    {"target_lookbehind", Role::kEqual, 10},
    {"prompt_lookup_num_tokens", Role::kEqual, 0},
    {"max_matching_ngram_size", Role::kEqual, 0},
    {"use_mtp", Role::kEqual, 0},
};

// Tokens, and provenance of the file.
constexpr const char* kOtherKeys[] = {"bos_token_id",         "eos_token_id",          "pad_token_id",
                                      "forced_bos_token_id",  "forced_eos_token_id",   "decoder_start_token_id",
                                      "transformers_version", "_from_model_config",    "_commit_hash",
                                      "task_specific_params", "_original_object_hash", "generation_kwargs",
                                      "forced_decoder_ids"};

// Whisper's own keys: read by transcription.cc, or about what is returned.
constexpr const char* kSpeechKeys[] = {"alignment_heads",
                                       "is_multilingual",
                                       "lang_to_id",
                                       "language",
                                       "max_initial_timestamp_index",
                                       "median_filter_width",
                                       "no_timestamps_token_id",
                                       "num_frames",
                                       "num_segment_frames",
                                       "prev_bos_token_id",
                                       "prev_sot_token_id",
                                       "return_segments",
                                       "return_timestamps",
                                       "return_token_timestamps",
                                       "task",
                                       "task_to_id",
                                       "time_precision",
                                       "time_precision_features"};
// The same; `fovea transcribe` has options for them.
constexpr const char* kSpeechChoices[] = {"compression_ratio_threshold", "logprob_threshold", "no_speech_threshold",
                                          "condition_on_prev_tokens", "prompt_condition_type"};

template <typename Keys>
bool Among(const Keys& keys, const std::string& key) {
  return std::any_of(std::begin(keys), std::end(keys), [&](const char* one) { return key == one; });
}

const Rule* RuleOf(const std::string& key) {
  const auto found = std::find_if(std::begin(kRules), std::end(kRules), [&](const Rule& r) { return key == r.key; });
  return found == std::end(kRules) ? nullptr : found;
}

bool IsUsual(const Json& value, double usual) {
  if (value.is_null() || ((value.is_array() || value.is_object()) && value.empty())) return true;
  if (value.is_boolean()) return (value.get<bool>() ? 1 : 0) == usual;
  return value.is_number() && value.get<double>() == usual;
}

class Names {
 public:
  void Add(const std::string& key, const Json& value) { Add(fmt::format("{} {}", key, Shown(value))); }
  void Add(const std::string& name) { text_ += (text_.empty() ? "" : ", ") + name; }
  bool empty() const { return text_.empty(); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class Report {
 public:
  Report(const GenerationConfig& config, bool translates, bool speech, Description& description)
      : config_(config), translates_(translates), speech_(speech), description_(description) {}

  void Settings() {
    samples_ = IsTrue("do_sample");
    for (const Rule& rule : kRules) {
      const Json& value = config_.View(rule.key).json();
      if (!IsUsual(value, rule.usual)) Sort(rule, value);
    }
    const Json& first = config_.View("forced_bos_token_id").json();
    if (!translates_ && !first.is_null()) named_.Add("forced_bos_token_id", first);
    const Json& forced = config_.View("forced_decoder_ids").json();
    if (!speech_ && !forced.is_null()) named_.Add("forced_decoder_ids", forced);
    if (translates_ && !first.is_null() && !config_.View("begin_suppress_tokens").json().empty()) {
      named_.Add("begin_suppress_tokens after the forced first token");
    }
    if (speech_) {
      for (const char* key : kSpeechChoices) {
        const Json& value = config_.View(key).json();
        if (!value.is_null()) named_.Add(key, value);
      }
    }
    Say();
  }

  void Limit() {
    if (description_.metadata_index.count("transcribe.tokens_per_second") != 0) return;
    const bool limited = !IsUsual(config_.View("max_length").json(), 20) ||
                         !IsUsual(config_.View("max_new_tokens").json(), 0) ||
                         (translates_ && !config_.View("max_length").IsNull());
    if (limited) return;
    Find(Topic::kGeneration,
         "no limit of tokens is set: a text ends with an end token or where the context is full, and the original's "
         "after 20 tokens with the prompt unless its caller sets one");
  }

  // Keys of generation_config.json that no version of the original has.
  void Unknown() {
    const Json& own = config_.own();
    if (!own.is_object()) return;
    Names unknown;
    for (const auto& item : own.items()) {
      const std::string& key = item.key();
      const bool known = RuleOf(key) != nullptr || Among(kOtherKeys, key) ||
                         (speech_ && (Among(kSpeechKeys, key) || Among(kSpeechChoices, key)));
      if (!known && !item.value().is_null()) unknown.Add(key);
    }
    if (!unknown.empty()) Find(Topic::kNotUsed, "generation_config.json: unknown keys: " + unknown.text());
  }

  // Rules of config.json that generation_config.json overrules.
  void Overruled() {
    if (!config_.own().is_object()) return;
    Names overruled;
    for (const Rule& rule : kRules) {
      const Json& other = config_.OfModel(rule.key).json();
      if (rule.role == Role::kEqual || IsUsual(other, rule.usual)) continue;
      if (config_.View(rule.key).json() != other) overruled.Add(rule.key, other);
    }
    if (!overruled.empty()) {
      Find(Topic::kFiles,
           fmt::format("config.json: {}; followed is generation_config.json, which differs", overruled.text()));
    }
    const Json& end = config_.own().value("eos_token_id", Json());
    if (end.is_null() && !config_.View("eos_token_id").IsNull()) {
      Find(Topic::kGeneration,
           fmt::format("texts end with token {}, by config.json: generation_config.json has no eos_token_id, and the "
                       "original's texts would not end",
                       Shown(config_.View("eos_token_id").json())));
    }
  }

 private:
  bool IsTrue(const char* key) const { return config_.View(key).json() == true; }
  void Find(Topic topic, std::string text) { description_.findings.push_back({topic, std::move(text)}); }

  bool Beams() const {
    const Json& beams = config_.View("num_beams").json();
    return beams.is_number() && beams.get<double>() > 1;
  }

  void Sort(const Rule& rule, const Json& value) {
    const std::string key = rule.key;
    const bool of_groups = key == "diversity_penalty" && IsUsual(config_.View("num_beam_groups").json(), 1);
    const bool of_beams = key == "length_penalty" || key == "early_stopping" || key == "renormalize_logits";
    const bool quantized = key == "cache_implementation" && value == "quantized";
    if (quantized || (rule.role == Role::kNamed && !of_groups && !(of_beams && !Beams())))
      return named_.Add(key, value);
    if (rule.role == Role::kSampling && samples_) return sampled_.Add(key, value);
    const bool followed = rule.role == Role::kFollowed && !(of_beams && !Beams());
    (followed ? followed_ : equal_).Add(key, value);
  }

  // Options that sample as the original does: top_k is 50 where no file sets it.
  std::string Options() const {
    const auto number = [&](const char* key, double usual) {
      const Json& value = config_.View(key).json();
      return value.is_number() ? value.get<double>() : usual;
    };
    std::string options = fmt::format("--temperature {}", number("temperature", 1));
    const double k = number("top_k", 50), p = number("top_p", 1), least = number("min_p", 0);
    if (k > 0) options += fmt::format(" --top-k {}", k);
    if (p < 1) options += fmt::format(" --top-p {}", p);
    if (least > 0) options += fmt::format(" --min-p {}", least);
    return options;
  }

  void Say() {
    const std::string file = config_.own().is_object() ? "generation_config.json" : "config.json";
    if (!followed_.empty()) Find(Topic::kGeneration, fmt::format("{}: followed: {}", file, followed_.text()));
    if (!equal_.empty()) Find(Topic::kNoEffect, fmt::format("{}: {}", file, equal_.text()));
    if (!named_.empty()) {
      description_.warnings.push_back(
          fmt::format("{}: generation settings of the model's authors are not applied: {}", file, named_.text()));
    }
    if (!sampled_.empty()) {
      description_.warnings.push_back(
          fmt::format("{}: the model's authors sample ({}), and fovea takes the best token; fovea generate {} samples",
                      file, sampled_.text(), Options()));
    }
  }

  const GenerationConfig& config_;
  const bool translates_, speech_;
  Description& description_;
  bool samples_ = false;
  Names followed_, named_, sampled_, equal_;
};

}  // namespace

bool IsGenerationRule(const std::string& key) { return RuleOf(key) != nullptr; }

void ReportGeneration(const GenerationConfig& config, bool translates, bool speech, Description& description) {
  Report report(config, translates, speech, description);
  report.Settings();
  report.Limit();
  report.Overruled();
  report.Unknown();
}

void ReportTasks(const GenerationConfig& config, bool translates, Description& description) {
  const JsonView prefix = config.View("prefix"), tasks = config.View("task_specific_params");
  if (prefix.json().is_string() && !prefix.json().get<std::string>().empty()) {
    description.findings.push_back(
        {Topic::kPrompts,
         fmt::format("config.json: prefix {}, which pipelines of the original put before each text, is "
                     "left to the caller{}",
                     Shown(prefix.json()), translates ? ": --source-prefix" : "")});
  }
  if (tasks.IsNull()) return;
  Names names;
  for (const auto& item : tasks.Object().items()) names.Add(item.key());
  if (names.empty()) return;
  description.findings.push_back(
      {Topic::kGeneration,
       translates
           ? fmt::format("settings and prefixes of tasks: {}; fovea translate --task NAME applies them, as "
                         "pipelines of the original do",
                         names.text())
           : fmt::format("settings of tasks ({}), which pipelines of the original apply, are left to the caller: "
                         "{}",
                         names.text(), Shown(tasks.json()))});
}

}  // namespace fovea::tools
