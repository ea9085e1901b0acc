// The end of a decoder: scores of the next token, and metadata for generation.
#include "tools/convert/arch/decoder.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>

#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

namespace fs = std::filesystem;

// Writes settings of generation as metadata, whose names begin with `at_`. Usual values are written for a task only,
// since the model's default may differ.
class Settings {
 public:
  using View = std::function<JsonView(const char* key)>;
  Settings(View view, const std::string& task, Description& description)
      : view_(std::move(view)),
        at_(task.empty() ? "generate." : fmt::format("generate.task.{}.", task)),
        all_(!task.empty()),
        description_(description) {}

  // A token or a list of them; false if there is none.
  bool SetTokens(const char* entry, const char* key) {
    std::string tokens;
    AddTokens(view_(key), &tokens);
    return Set(entry, tokens);
  }

  // Tokens that never follow. `suppress_tokens` has a list, `bad_words_ids` a list of lists, in which a text's end
  // counts for nothing.
  void SetSuppressed() {
    std::string tokens, sequences, stop;
    AddTokens(view_("eos_token_id"), &stop);
    AddTokens(view_("suppress_tokens"), &tokens);
    const JsonView words = view_("bad_words_ids");
    for (size_t i = 0; !words.IsNull() && i < words.List().size(); ++i) {
      std::string word;
      AddTokens(words.At(i), &word);
      if (word.empty()) Fail("{}[{}]: the word has no tokens", words.name(), i);
      if (word == stop) continue;
      std::string& list = words.At(i).List().size() == 1 ? tokens : sequences;
      if (!list.empty()) list += &list == &tokens ? " " : ",";
      list += word;
    }
    Set("suppress_ids", tokens);
    Set("bad_words", sequences);
  }

  // How the model's authors search.
  void SetSearch() {
    SetNumber("max_tokens", "max_length", 1);  // it counts the start token
    SetNumber("max_tokens", "max_new_tokens");
    SetNumber("min_tokens", "min_length");
    SetNumber("no_repeat_ngram", "no_repeat_ngram_size");
    SetNumber("no_repeat_source_ngram", "encoder_no_repeat_ngram_size");
    const JsonView beams = view_("num_beams"), penalty = view_("length_penalty"), stop = view_("early_stopping");
    if (!beams.IsNull()) SetIf("beams", std::to_string(beams.Number({1, 256})), "1");
    if (!penalty.IsNull()) SetIf("length_penalty", fmt::format("{}", penalty.Real()), "1");
    if (stop.json().is_string()) {
      Set("early_stopping", stop.Text());
    } else if (!stop.IsNull()) {
      SetIf("early_stopping", stop.Flag() ? "true" : "false", "false");
    }
  }

  void SetPrefix() { Set("prefix", view_("prefix").Text("")); }

 private:
  // A whole number less `begins`, or 0 where that is more.
  void SetNumber(const char* entry, const char* key, uint32_t begins = 0) {
    const JsonView view = view_(key);
    if (view.IsNull()) return;
    const uint32_t number = view.Number({0, INT32_MAX});
    SetIf(entry, std::to_string(number > begins ? number - begins : 0), "0");
  }
  void SetIf(const char* entry, const std::string& value, const char* usual) {
    if (all_ || value != usual) Set(entry, value);
  }
  static void AddTokens(const JsonView& tokens, std::string* list) {
    const auto add = [&](const JsonView& token) {
      const auto id = token.Number({0, INT32_MAX});
      *list += fmt::format("{}{}", list->empty() ? "" : " ", id);
    };
    if (tokens.json().is_array()) {
      for (size_t i = 0; i < tokens.List().size(); ++i) add(tokens.At(i));
    } else if (!tokens.IsNull()) {
      add(tokens);
    }
  }
  bool Set(const char* entry, const std::string& value) {
    if (!value.empty()) description_.SetMetadata(at_ + entry, value);
    return !value.empty();
  }

  const View view_;
  const std::string at_;
  const bool all_;
  Description& description_;
};

}  // namespace

GenerationConfig::GenerationConfig(const Checkpoint& checkpoint) : config_(checkpoint.config) {
  if (checkpoint.directory.empty()) return;
  const std::string path = (fs::path(checkpoint.directory) / "generation_config.json").string();
  if (fs::exists(path)) own_.emplace(path);
}

JsonView GenerationConfig::View(const std::string& key) const {
  // All are read, so that none reports it as unknown.
  const JsonView whole = config_.View(key), part = config_.View("decoder");
  if (own_ && !own_->Get(key).is_null()) return own_->View(key);
  return whole.IsNull() && part.json().is_object() ? part[key.c_str()] : whole;
}

namespace {

struct UsualValue {
  const char* key;
  double value;
};
// Settings that change generated texts, and the values with which they do not. Encoder-decoders also follow the second
// list, the settings of search.
constexpr UsualValue kNeverFollowed[] = {{"repetition_penalty", 1}, {"encoder_repetition_penalty", 1},
                                         {"diversity_penalty", 0},  {"num_beam_groups", 1},
                                         {"penalty_alpha", 0},      {"typical_p", 1},
                                         {"epsilon_cutoff", 0},     {"eta_cutoff", 0},
                                         {"guidance_scale", 1},     {"min_p", 0},
                                         {"min_new_tokens", 0}};
constexpr UsualValue kSearch[] = {
    {"max_new_tokens", 0}, {"min_length", 0},           {"num_beams", 1},
    {"length_penalty", 1}, {"no_repeat_ngram_size", 0}, {"encoder_no_repeat_ngram_size", 0}};

// Generation is greedy unless the caller asks for more.
void WarnOfSettings(const GenerationConfig& config, bool searches, Description& description) {
  std::string named;
  const auto name = [&](const char* key) {
    named += fmt::format("{}{} {}", named.empty() ? "" : ", ", key, Shown(config.View(key).json()));
  };
  const auto check = [&](const UsualValue& usual) {
    const Json& value = config.View(usual.key).json();
    if (value.is_number() && value.get<double>() != usual.value) name(usual.key);
  };
  for (const UsualValue& usual : kNeverFollowed) check(usual);
  if (!searches) std::for_each(std::begin(kSearch), std::end(kSearch), check);
  const Json& samples = config.View("do_sample").json();
  if (samples.is_boolean() && samples.get<bool>()) {
    for (const char* key : {"do_sample", "temperature", "top_k", "top_p"}) {
      if (!config.View(key).IsNull()) name(key);
    }
  }
  for (const char* key : {"sequence_bias", "exponential_decay_length_penalty", "stop_strings", "watermarking_config",
                          "prompt_lookup_num_tokens", "top_h"}) {
    if (!config.View(key).IsNull()) name(key);
  }
  if (named.empty()) return;
  description.warnings.push_back(fmt::format(
      "generation settings of the model's authors are not applied: {}; fovea generate has options for most of them",
      named));
}

}  // namespace

void DescribeGeneration(const Checkpoint& checkpoint, Description& description) {
  const bool translates = checkpoint.task == Task::kSequenceToSequence;
  description.SetMetadata("task", translates ? "seq2seq-lm" : "causal-lm");
  description.SetMetadata("generate.token", translates ? "decoder_input_ids" : "input_ids");
  description.SetMetadata("generate.scores", "next_logits");
  const GenerationConfig config(checkpoint);
  Settings settings([&](const char* key) { return config.View(key); }, "", description);
  settings.SetTokens("stop_ids", "eos_token_id");
  if (!translates || !settings.SetTokens("start", "decoder_start_token_id"))
    settings.SetTokens("start", "bos_token_id");
  settings.SetSuppressed();
  settings.SetTokens("begin_suppress_ids", "begin_suppress_tokens");
  WarnOfSettings(config, translates, description);
  if (!translates) return;  // texts are gone on with in the caller's way
  settings.SetTokens("first_id", "forced_bos_token_id");
  settings.SetTokens("last_id", "forced_eos_token_id");
  settings.SetSearch();
  const JsonView tasks = config.View("task_specific_params");
  if (tasks.IsNull()) return;
  for (const auto& [name, parameters] : tasks.Object().items()) {
    const JsonView task = tasks[name.c_str()];
    Settings own([&](const char* key) { return task[key]; }, name, description);
    own.SetPrefix();
    own.SetSearch();
  }
}

void FinishScoring(const std::string& last, const Heads& heads, ProgramBuilder& builder) {
  builder.Outputs({builder.Scores(last, heads)});
  builder.End();
}

void FinishDecoder(const std::string& last, const Heads& heads, ProgramBuilder& builder) {
  builder.Steps();
  builder.Op("pool", {last}, {}, "next_state", {{"kind", "last"}});
  builder.Outputs({builder.Scores("next_state", heads, "next_")});
  builder.End();
}

void FinishVerifying(const std::string& last, const Heads& heads, ProgramBuilder& builder) {
  builder.Steps();
  builder.Outputs({builder.Scores(last, heads, "next_")});
  builder.End();
}

}  // namespace fovea::tools
