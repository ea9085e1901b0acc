// What a blob's metadata says about generation beside what the library reads: how the model's authors search.
#ifndef FOVEA_TOOLS_GENERATE_DEFAULTS_H_
#define FOVEA_TOOLS_GENERATE_DEFAULTS_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fovea/generate.h"
#include "tools/common/model.h"

namespace fovea::tools {

std::string MetadataOr(const Model& model, const std::string& key, const std::string& absent);
// How messages name an entry.
std::string MetadataName(const Model& model, const std::string& key);
// What follows `beginning` in the keys that have it, and their values.
std::vector<std::pair<std::string, std::string>> MetadataAfter(const Model& model, const std::string& beginning);
// Tokens with spaces between them; none where the key is absent.
std::vector<int32_t> MetadataTokens(const Model& model, const std::string& key);
// The same of several sequences with commas between them.
std::vector<std::vector<int32_t>> MetadataSequences(const Model& model, const std::string& key);

struct GenerationDefaults {
  std::vector<int32_t> stop_ids;
  std::optional<int32_t> start;
  std::optional<int32_t> first, last;  // the first token after the start, and that of a text of max_tokens, if forced
  uint32_t max_tokens = 0;             // 0: any number
  uint32_t min_tokens = 0, no_repeat_ngram = 0, no_repeat_source_ngram = 0;
  std::vector<std::vector<int32_t>> bad_words;  // tokens of each
  std::optional<fovea_beams> beams;
};

// Fails with key and value where an entry is not as include/fovea/generate.h says. `task`: one that the model was
// taught; empty: none in particular.
GenerationDefaults DefaultsOf(const Model& model, const std::string& task = "");

// Fails with the names of all tasks if the model has none of this name.
void CheckTask(const Model& model, const std::string& task);
// What stands in front of each source of a task.
std::string TaskPrefix(const Model& model, const std::string& task);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_DEFAULTS_H_
