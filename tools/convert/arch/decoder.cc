// What a decoder has after its last layer.
#include "tools/convert/arch/decoder.h"

#include <filesystem>

#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

namespace fs = std::filesystem;

// What it says, as metadata.
class Settings {
 public:
  Settings(const Checkpoint& checkpoint, Description& description) : config_(checkpoint), description_(description) {}

  // A token or a list of them; false if there is none.
  bool SetTokens(const char* entry, const char* key) {
    std::string tokens;
    AddTokens(config_.View(key), &tokens);
    return Set(entry, tokens);
  }

  // Tokens that never follow. `suppress_tokens` has a list, `bad_words_ids` a list of lists, in which a text's end counts
  // for nothing.
  void SetSuppressed() {
    std::string tokens, sequences, stop;
    AddTokens(config_.View("eos_token_id"), &stop);
    AddTokens(config_.View("suppress_tokens"), &tokens);
    const JsonView words = config_.View("bad_words_ids");
    for (size_t i = 0; !words.IsNull() && i < words.List().size(); ++i) {
      std::string word;
      AddTokens(words.At(i), &word);
      if (word.empty()) Fail("{}[{}]: a word without tokens", words.name(), i);
      if (word == stop) continue;
      std::string& list = words.At(i).List().size() == 1 ? tokens : sequences;
      if (!list.empty()) list += &list == &tokens ? " " : ",";
      list += word;
    }
    Set("generate.suppress_ids", tokens);
    Set("generate.bad_words", sequences);
  }

  // A whole number less `begins`, which is not 0 then.
  void SetNumber(const char* entry, const char* key, uint32_t begins = 0) {
    const uint32_t number = config_.View(key).Number({0, INT32_MAX}, 0);
    if (number > begins) Set(entry, std::to_string(number - begins));
  }

  void SetSearch() {
    if (config_.View("num_beams").Number({1, 256}, 1) == 1) return;
    SetNumber("generate.beams", "num_beams");
    const double penalty = config_.View("length_penalty").Real({}, 1.0);
    if (penalty != 1) Set("generate.length_penalty", fmt::format("{}", penalty));
    const JsonView stop = config_.View("early_stopping");
    if (stop.json().is_string()) {
      Set("generate.early_stopping", stop.Text());
    } else if (stop.Flag(false)) {
      Set("generate.early_stopping", "true");
    }
  }

 private:
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
    if (!value.empty()) description_.SetMetadata(entry, value);
    return !value.empty();
  }

  const GenerationConfig config_;
  Description& description_;
};

}  // namespace

GenerationConfig::GenerationConfig(const Checkpoint& checkpoint) : config_(checkpoint.config) {
  const std::string path = (fs::path(checkpoint.directory) / "generation_config.json").string();
  if (fs::exists(path)) own_.emplace(path);
}

JsonView GenerationConfig::View(const std::string& key) const {
  // All are read, so that none reports it as unknown.
  const JsonView whole = config_.View(key), part = config_.View("decoder");
  if (own_ && !own_->Get(key).is_null()) return own_->View(key);
  return whole.IsNull() && part.json().is_object() ? part[key.c_str()] : whole;
}

void DescribeGeneration(const Checkpoint& checkpoint, Description& description) {
  const bool translates = checkpoint.task == Task::kSequenceToSequence;
  description.SetMetadata("task", translates ? "seq2seq-lm" : "causal-lm");
  description.SetMetadata("generate.token", translates ? "decoder_input_ids" : "input_ids");
  description.SetMetadata("generate.scores", "next_logits");
  Settings settings(checkpoint, description);
  settings.SetTokens("generate.stop_ids", "eos_token_id");
  if (!translates || !settings.SetTokens("generate.start", "decoder_start_token_id")) {
    settings.SetTokens("generate.start", "bos_token_id");
  }
  settings.SetSuppressed();
  settings.SetTokens("generate.begin_suppress_ids", "begin_suppress_tokens");
  if (!translates) return;  // texts are gone on with in the caller's way
  settings.SetTokens("generate.first_id", "forced_bos_token_id");
  settings.SetTokens("generate.last_id", "forced_eos_token_id");
  settings.SetNumber("generate.max_tokens", "max_length", 1);  // it counts the start token
  settings.SetNumber("generate.max_tokens", "max_new_tokens");
  settings.SetNumber("generate.min_tokens", "min_length");
  settings.SetNumber("generate.no_repeat_ngram", "no_repeat_ngram_size");
  settings.SetNumber("generate.no_repeat_source_ngram", "encoder_no_repeat_ngram_size");
  settings.SetSearch();
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
