// Checks generation metadata against the programs.
#include "tools/convert/generation_rules.h"

#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "runtime/blob/numbers.h"
#include "runtime/blob/op_codes.h"
#include "tools/base/affixes.h"
#include "tools/base/fail.h"
#include "tools/base/json.h"

namespace fovea::tools {
namespace {

constexpr char kPrefix[] = "generate.", kLink[] = "link.", kTask[] = "task.";

class Generation {
 public:
  explicit Generation(const BlobContent& content) : content_(content) {
    for (const auto& [key, value] : content.metadata) {
      if (StartsWith(key, kPrefix)) entries_[key.substr(sizeof(kPrefix) - 1)] = value;
    }
  }

  void Check() {
    if (entries_.empty()) return;
    const BlobProgram* encoder = Program("encode");
    const BlobProgram* decoder = Program("decode");
    if (decoder == nullptr) Refuse(*entries_.begin(), "the model has no program decode");
    for (const auto& entry : entries_) CheckEntry(entry, encoder, *decoder);
  }

 private:
  using Entry = std::pair<const std::string, std::string>;

  template <typename... Args>
  [[noreturn]] static void Refuse(const Entry& entry, fmt::format_string<Args...> why, Args&&... args) {
    Fail("metadata {}{} = \"{}\": {}", kPrefix, entry.first, entry.second,
         fmt::format(why, std::forward<Args>(args)...));
  }

  // The program that the key names, or without such a key the one of this name; nullptr if there is none.
  const BlobProgram* Program(const std::string& key) const {
    if (const auto number = GenerationProgram(content_, key)) return &content_.programs[*number];
    const auto named = entries_.find(key);
    if (named != entries_.end()) Refuse(*named, "no program has this name");
    return nullptr;
  }

  // Checks entries for the search of the model's authors; false if `key` is not one of them.
  static bool CheckSearch(const Entry& entry, const std::string& key) {
    const std::string name = fmt::format("metadata {}{}", kPrefix, entry.first), &value = entry.second;
    if (key == "beams") {
      WholeNumberIn(value, name, {1, 256});
    } else if (key == "length_penalty" || key == "repetition_penalty") {
      CheckReal(entry);
    } else if (key == "early_stopping") {
      if (value != "true" && value != "false" && value != "never") Refuse(entry, "must be true, false or never");
    } else if (key == "stop_strings") {
      const Json strings = Json::parse(value, nullptr, false);
      const auto is_text = [](const Json& one) {
        return one.is_string() && !one.get_ref<const std::string&>().empty();
      };
      if (!strings.is_array() || !std::all_of(strings.begin(), strings.end(), is_text)) {
        Refuse(entry, "must be a JSON list of strings that are not empty");
      }
    } else if (key == "max_tokens" || key == "most" || key == "min_tokens" || key == "max_length" ||
               key == "min_length" || key == "no_repeat_ngram" || key == "no_repeat_source_ngram") {
      WholeNumberIn(value, name, {0, INT32_MAX});
    } else {
      return false;
    }
    return true;
  }

  // task.NAME.KEY
  static void CheckOfTask(const Entry& entry) {
    const size_t dot = entry.first.rfind('.');
    if (dot < sizeof(kTask)) Refuse(entry, "the task has no name");
    const std::string key = entry.first.substr(dot + 1);
    if (key != "prefix" && !CheckSearch(entry, key)) Refuse(entry, "unknown key");
  }

  void CheckEntry(const Entry& entry, const BlobProgram* encoder, const BlobProgram& decoder) const {
    const std::string& value = entry.second;
    if (StartsWith(entry.first, kTask)) return CheckOfTask(entry);
    const std::string& key = entry.first;
    if (CheckSearch(entry, key)) return;
    if (key == "encode" || key == "decode" || key == "separator") return;
    if (key == "token") {
      const BlobValue& token = Value(entry, decoder, value);
      if (token.role != ValueRole::kInput || token.type != DType::kI32) Refuse(entry, "it is not an input of ids");
    } else if (key == "scores") {
      CheckScores(entry, decoder);
    } else if (key == "start") {
      CheckTokens(entry, INT32_MAX);
      if (value.find(' ') != std::string::npos) Refuse(entry, "must be a single token");
    } else if (key == "stop_ids" || key == "end" || key == "suppress_ids" || key == "begin_suppress_ids" ||
               key == "first_id" || key == "last_id") {
      // Older blobs have "end" for "stop_ids" and "most" for "max_tokens".
      CheckTokens(entry, HighestToken(decoder));
      if (key.size() > 3 && key.compare(key.size() - 3, 3, "_id") == 0 && value.find(' ') != std::string::npos) {
        Refuse(entry, "must be a single token");
      }
    } else if (key == "bad_words") {
      CheckSequences(entry, HighestToken(decoder));
    } else if (key == "alignment") {
      CheckAlignment(entry, decoder);
    } else if (StartsWith(key, kLink)) {
      CheckLink(entry, encoder, decoder);
    } else {
      Refuse(entry, "unknown key");
    }
  }

  static const BlobValue& Value(const Entry& entry, const BlobProgram& program, const std::string& name) {
    for (const BlobValue& value : program.values) {
      if (value.name == name) return value;
    }
    Refuse(entry, "program {} has no value {}", program.name, name);
  }

  void CheckScores(const Entry& entry, const BlobProgram& decoder) const {
    const BlobValue& scores = Value(entry, decoder, entry.second);
    if (scores.role != ValueRole::kOutput || scores.type != DType::kF32)
      Refuse(entry, "it is not an output of numbers");
    const auto token = entries_.find("token");
    if (token == entries_.end()) return;
    const BlobValue& input = Value(*token, decoder, token->second);
    // With a KV cache a run can read any number of new tokens.
    const auto keeps = [&](const BlobSpace& s) { return s.kind == SpaceKind::kCached && s.source == input.space; };
    const bool kept = content_.spaces[input.space].parent == scores.space &&
                      std::any_of(content_.spaces.begin(), content_.spaces.end(), keeps);
    if (input.type == DType::kI32 && input.space != scores.space && !kept)
      Refuse(entry, "its rows differ from the rows of {}", input.name);
  }

  uint32_t HighestToken(const BlobProgram& decoder) const {
    const auto scores = entries_.find("scores");
    return scores == entries_.end() ? uint32_t{INT32_MAX} : Value(*scores, decoder, scores->second).width - 1;
  }

  // Several sequences separated by commas.
  static void CheckSequences(const Entry& entry, uint32_t highest) {
    std::istringstream parts(entry.second);
    for (std::string part; std::getline(parts, part, ',');) {
      if (part.find_first_not_of(' ') == std::string::npos) Refuse(entry, "a sequence has no tokens");
      CheckTokens({entry.first, part}, highest);
    }
  }

  // Numbers separated by spaces.
  static void CheckTokens(const Entry& entry, uint32_t highest) {
    const std::string name = fmt::format("metadata {}{}: a token", kPrefix, entry.first);
    if (entry.second.empty()) WholeNumberIn("", name, {0, highest});
    std::istringstream words(entry.second);
    for (std::string word; words >> word;) WholeNumberIn(word, name, {0, highest});
  }

  static void CheckReal(const Entry& entry) {
    char* end = nullptr;
    const float number = strtof(entry.second.c_str(), &end);
    if (entry.second.empty() || *end != '\0' || !std::isfinite(number)) Refuse(entry, "it is not a number");
  }

  static void CheckAlignment(const Entry& entry, const BlobProgram& decoder) {
    for (const BlobOperation& operation : decoder.operations) {
      const std::string& name = operation.name.empty() ? decoder.values[operation.output].name : operation.name;
      if (operation.code == static_cast<uint32_t>(OpCode::kAttention) && name == entry.second) return;
    }
    Refuse(entry, "program {} has no attention operation of this name", decoder.name);
  }

  void CheckLink(const Entry& entry, const BlobProgram* encoder, const BlobProgram& decoder) const {
    if (encoder == nullptr) Refuse(entry, "the model has no program encode");
    const BlobValue& input = Value(entry, decoder, entry.first.substr(sizeof(kLink) - 1));
    const BlobValue& output = Value(entry, *encoder, entry.second);
    if (input.role != ValueRole::kInput && input.role != ValueRole::kCarried) {
      Refuse(entry, "{} is not an input of program {}", input.name, decoder.name);
    }
    if (output.role != ValueRole::kOutput) Refuse(entry, "it is not an output of program {}", encoder->name);
    if (input.width != output.width || input.type != output.type) {
      Refuse(entry, "{} has another width or type", input.name);
    }
  }

  const BlobContent& content_;
  std::map<std::string, std::string> entries_;  // without "generate."
};

}  // namespace

const std::string* GenerationEntry(const BlobContent& content, const std::string& key) {
  for (const auto& [entry, value] : content.metadata) {
    if (entry == kPrefix + key) return &value;
  }
  return nullptr;
}

std::optional<size_t> GenerationProgram(const BlobContent& content, const std::string& key) {
  const std::string* const named = GenerationEntry(content, key);
  for (size_t i = 0; i < content.programs.size(); ++i) {
    if (content.programs[i].name == (named == nullptr ? key : *named)) return i;
  }
  return std::nullopt;
}

void CheckGeneration(const BlobContent& content) { Generation(content).Check(); }

}  // namespace fovea::tools
