// The end of a decoder: scores of the next token, and metadata for generation.
#include "tools/convert/arch/decoder.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <vector>

#include "tools/base/fail.h"
#include "tools/base/utf8_path.h"
#include "tools/convert/arch/generation_report.h"

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

  // A token; of a list, whose tokens the original forces alike, the lowest, which it then takes.
  void SetForced(const char* entry, const char* key) {
    std::vector<int64_t> tokens = TokensOf(view_(key));
    if (tokens.empty()) return;
    Set(entry, std::to_string(*std::min_element(tokens.begin(), tokens.end())));
  }

  // Tokens that never follow. `suppress_tokens` has a list, `bad_words_ids` a list of lists, in which a text's end
  // counts for nothing.
  void SetSuppressed() {
    const std::vector<int64_t> stops = TokensOf(view_("eos_token_id"));
    std::string tokens, sequences;
    AddTokens(view_("suppress_tokens"), &tokens);
    const JsonView words = view_("bad_words_ids");
    for (size_t i = 0; !words.IsNull() && i < words.List().size(); ++i) {
      std::string word;
      AddTokens(words.At(i), &word);
      if (word.empty()) Fail("{}[{}]: the word has no tokens", words.name(), i);
      const bool single = words.At(i).List().size() == 1;
      if (single && std::count(stops.begin(), stops.end(), TokensOf(words.At(i))[0]) != 0) continue;
      std::string& list = single ? tokens : sequences;
      if (!list.empty()) list += &list == &tokens ? " " : ",";
      list += word;
    }
    Set("suppress_ids", tokens);
    Set("bad_words", sequences);
  }

  // How the model's authors search. A text of an encoder-decoder has its start token, and one that continues a prompt
  // the prompt: lengths of new tokens take precedence over lengths of texts.
  void SetSearch(bool translates) {
    if (translates) {
      SetNumber("max_tokens", "max_length", 1);
      SetNumber("min_tokens", "min_length");
    } else {
      if (view_("max_length").json() != kLibraryLength) SetNumber("max_length", "max_length");
      SetNumber("min_length", "min_length");
    }
    SetNumber("max_tokens", "max_new_tokens");
    const JsonView least = view_("min_new_tokens");
    // The token that ends a text counts among min_tokens, and not here.
    if (!least.IsNull() && least.Number({0, INT32_MAX - 1}) > 0) {
      Set("min_tokens", std::to_string(least.Number({0, INT32_MAX - 1}) + 1));
    }
    SetNumber("no_repeat_ngram", "no_repeat_ngram_size");
    SetNumber("no_repeat_source_ngram", "encoder_no_repeat_ngram_size");
    const JsonView repeated = view_("repetition_penalty");
    if (!repeated.IsNull()) SetIf("repetition_penalty", fmt::format("{}", repeated.Real({1e-6, 1e6})), "1");
    const JsonView beams = view_("num_beams"), penalty = view_("length_penalty"), stop = view_("early_stopping");
    if (!beams.IsNull()) SetIf("beams", std::to_string(beams.Number({1, 256})), "1");
    if (!penalty.IsNull()) SetIf("length_penalty", fmt::format("{}", penalty.Real()), "1");
    if (stop.json().is_string()) {
      Set("early_stopping", stop.Text());
    } else if (!stop.IsNull()) {
      SetIf("early_stopping", stop.Flag() ? "true" : "false", "false");
    }
    SetStopStrings();
  }

  void SetPrefix() { Set("prefix", view_("prefix").Text("")); }

 private:
  // GenerationConfig's own length, which old files wrote as the default.
  static constexpr int kLibraryLength = 20;

  // A string or a list of them, as a JSON list.
  void SetStopStrings() {
    const JsonView strings = view_("stop_strings");
    Json list = Json::array();
    const auto add = [&](const JsonView& string) {
      if (!string.Text().empty()) list.push_back(string.Text());
    };
    if (strings.json().is_array()) {
      for (size_t i = 0; i < strings.List().size(); ++i) add(strings.At(i));
    } else if (!strings.IsNull()) {
      add(strings);
    }
    if (!list.empty()) Set("stop_strings", list.dump());
  }

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
  static std::vector<int64_t> TokensOf(const JsonView& tokens) {
    std::vector<int64_t> list;
    if (tokens.json().is_array()) {
      for (size_t i = 0; i < tokens.List().size(); ++i) list.push_back(tokens.At(i).Number({0, INT32_MAX}));
    } else if (!tokens.IsNull()) {
      list.push_back(tokens.Number({0, INT32_MAX}));
    }
    return list;
  }
  static void AddTokens(const JsonView& tokens, std::string* list) {
    for (const int64_t token : TokensOf(tokens)) *list += fmt::format("{}{}", list->empty() ? "" : " ", token);
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
  const std::string path = (Utf8Path(checkpoint.directory) / "generation_config.json").string();
  if (!fs::exists(Utf8Path(path))) return;
  json_ = ReadJson(path);
  if (!json_.is_object()) Fail("{}: not a JSON object", path);
  own_.emplace(json_, path);
  of_model_ = own_->Get("_from_model_config") == true;
}

JsonView GenerationConfig::OfModel(const std::string& key) const {
  // Both are read, so that neither is reported as unknown.
  const JsonView whole = config_.View(key), part = config_.View("decoder");
  return whole.IsNull() && part.json().is_object() ? part[key.c_str()] : whole;
}

JsonView GenerationConfig::View(const std::string& key) const {
  const JsonView other = OfModel(key);
  if (!own_) return other;
  return own_->Get(key).is_null() && (of_model_ || !IsGenerationRule(key)) ? other : own_->View(key);
}

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
  settings.SetForced("last_id", "forced_eos_token_id");
  settings.SetSearch(translates);
  if (!checkpoint.directory.empty()) {
    const bool speech = translates && checkpoint.config.Get("model_type") == "whisper";
    ReportGeneration(config, translates, speech, description);
    ReportTasks(config, translates, description);
  }
  if (!translates) return;  // texts are gone on with in the caller's way
  settings.SetForced("first_id", "forced_bos_token_id");
  const JsonView tasks = config.View("task_specific_params");
  if (tasks.IsNull()) return;
  for (const auto& [name, parameters] : tasks.Object().items()) {
    const JsonView task = tasks[name.c_str()];
    Settings own([&](const char* key) { return task[key]; }, name, description);
    own.SetPrefix();
    own.SetSearch(true);
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
