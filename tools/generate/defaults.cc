#include "tools/generate/defaults.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tools/base/json.h"
#include "tools/base/sized.h"

namespace fovea::tools {
namespace {

const char kGenerate[] = "generate.", kTask[] = "generate.task.";

std::string TaskKey(const std::string& task, const std::string& what) { return kTask + task + "." + what; }

class Reader {
 public:
  Reader(const Model& model, const std::string& task) : model_(model), task_(task) {}

  uint32_t Number(const std::string& key, WholeRange range = {0, INT32_MAX}, uint32_t absent = 0) const {
    return MetadataNumber(model_, KeyFor(key), range, absent);
  }

  float Real(const std::string& key, double absent) const {
    return static_cast<float>(MetadataReal(model_, KeyFor(key), {}, absent));
  }

  std::vector<std::string> Strings(const std::string& key) const {
    const std::string text = MetadataOr(model_, KeyFor(key), "[]");
    const Json list = Json::parse(text, nullptr, false);
    std::vector<std::string> strings;
    if (!list.is_array()) Fail("{}: {} \"{}\" is not a list", model_.name(), key, text);
    for (const Json& string : list) strings.push_back(Text(string, MetadataName(model_, key)));
    return strings;
  }

  std::vector<int32_t> Tokens(const std::string& key) const { return MetadataTokens(model_, key); }

  std::optional<int32_t> Token(const std::string& key) const {
    const std::vector<int32_t> tokens = Tokens(key);
    return tokens.size() == 1 ? std::optional<int32_t>(tokens[0]) : std::nullopt;
  }

  std::optional<fovea_beams> Beams() const {
    fovea_beams beams = Sized<fovea_beams>();
    beams.width = Number("generate.beams", {1, 256}, 1);
    if (beams.width == 1) return std::nullopt;
    beams.length_penalty = Real("generate.length_penalty", 1);
    const std::string stop = MetadataOr(model_, KeyFor("generate.early_stopping"), "false");
    if (stop == "true") beams.stop = FOVEA_BEAMS_STOP_FIRST;
    if (stop == "never") beams.stop = FOVEA_BEAMS_STOP_NEVER;
    return beams;
  }

 private:
  // The task's entry takes precedence.
  std::string KeyFor(const std::string& key) const {
    const std::string of_task = TaskKey(task_, key.substr(strlen(kGenerate)));
    return model_.Metadata(of_task) == nullptr ? key : of_task;
  }

  const Model& model_;
  const std::string& task_;
};

std::vector<int32_t> TokensIn(const std::string& text, const std::string& name) {
  std::vector<int32_t> tokens;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    tokens.push_back(static_cast<int32_t>(WholeNumberIn(word, name, {0, INT32_MAX})));
  }
  return tokens;
}

}  // namespace

std::string MetadataOr(const Model& model, const std::string& key, const std::string& absent) {
  const char* value = model.Metadata(key);
  return value == nullptr ? absent : value;
}

std::string MetadataName(const Model& model, const std::string& key) {
  return fmt::format("{}: metadata {}", model.name(), key);
}

uint32_t MetadataNumber(const Model& model, const std::string& key, WholeRange range, std::optional<uint32_t> absent) {
  const std::string text = MetadataOr(model, key, "");
  if (text.empty() && absent) return *absent;
  return static_cast<uint32_t>(WholeNumberIn(text, MetadataName(model, key), range));
}

double MetadataReal(const Model& model, const std::string& key, RealRange range, std::optional<double> absent) {
  const std::string text = MetadataOr(model, key, "");
  if (text.empty() && absent) return *absent;
  char* end = nullptr;
  const double number = strtod(text.c_str(), &end);
  const bool whole = !text.empty() && *end == '\0' && isfinite(number);
  return RealNumber(whole ? Json(number) : Json(text), MetadataName(model, key), range);
}

std::vector<int32_t> MetadataTokens(const Model& model, const std::string& key) {
  return TokensIn(MetadataOr(model, key, ""), MetadataName(model, key));
}

std::vector<std::vector<int32_t>> MetadataSequences(const Model& model, const std::string& key) {
  std::vector<std::vector<int32_t>> sequences;
  std::istringstream parts(MetadataOr(model, key, ""));
  for (std::string part; std::getline(parts, part, ',');) {
    sequences.push_back(TokensIn(part, MetadataName(model, key)));
    if (sequences.back().empty()) Fail("{}: a sequence has no tokens", MetadataName(model, key));
  }
  return sequences;
}

std::vector<std::pair<std::string, std::string>> MetadataAfter(const Model& model, const std::string& beginning) {
  std::vector<std::pair<std::string, std::string>> entries;
  const char *key = nullptr, *value = nullptr;
  for (uint32_t i = 0; fovea_model_get_metadata(model.get(), i, &key, &value) == FOVEA_OK; ++i) {
    const std::string name = key;
    if (name.rfind(beginning, 0) == 0) entries.emplace_back(name.substr(beginning.size()), value);
  }
  return entries;
}

void CheckTask(const Model& model, const std::string& task) {
  std::set<std::string> names;
  for (const auto& [rest, value] : MetadataAfter(model, kTask)) names.insert(rest.substr(0, rest.rfind('.')));
  if (names.count(task) != 0) return;
  Fail("{}: has no task '{}'; its tasks: {}", model.name(), task,
       names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
}

std::string TaskPrefix(const Model& model, const std::string& task) {
  return MetadataOr(model, TaskKey(task, "prefix"), "");
}

GenerationDefaults DefaultsOf(const Model& model, const std::string& task) {
  const Reader reader(model, task);
  const bool old_stop = model.Metadata("generate.stop_ids") == nullptr;
  const bool old_most = model.Metadata("generate.max_tokens") == nullptr;
  GenerationDefaults defaults;
  defaults.stop_ids = reader.Tokens(old_stop ? "generate.end" : "generate.stop_ids");
  defaults.start = reader.Token("generate.start");
  defaults.first = reader.Token("generate.first_id");
  defaults.last = reader.Token("generate.last_id");
  defaults.max_tokens = reader.Number(old_most ? "generate.most" : "generate.max_tokens");
  defaults.max_length = reader.Number("generate.max_length");
  defaults.min_tokens = reader.Number("generate.min_tokens");
  defaults.min_length = reader.Number("generate.min_length");
  defaults.repetition_penalty = reader.Real("generate.repetition_penalty", 0);
  defaults.stop_strings = reader.Strings("generate.stop_strings");
  defaults.no_repeat_ngram = reader.Number("generate.no_repeat_ngram");
  defaults.no_repeat_source_ngram = reader.Number("generate.no_repeat_source_ngram");
  defaults.bad_words = MetadataSequences(model, "generate.bad_words");
  defaults.beams = reader.Beams();
  return defaults;
}

}  // namespace fovea::tools
