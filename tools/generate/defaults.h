// Defaults of generation from a blob's metadata that the library does not read: the search of the model's authors.
#ifndef FOVEA_TOOLS_GENERATE_DEFAULTS_H_
#define FOVEA_TOOLS_GENERATE_DEFAULTS_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fovea/generate.h"
#include "tools/base/json.h"
#include "tools/model/model.h"

namespace fovea::tools {

std::string MetadataOr(const Model& model, const std::string& key, const std::string& absent);
// Name of a metadata entry for messages.
std::string MetadataName(const Model& model, const std::string& key);
// Entries whose keys begin with `beginning`: the rest of the key, and the value.
std::vector<std::pair<std::string, std::string>> MetadataAfter(const Model& model, const std::string& beginning);
// A number of an entry; fails with the entry's name, and without `absent` if there is no such entry.
uint32_t MetadataNumber(const Model& model, const std::string& key, WholeRange range,
                        std::optional<uint32_t> absent = std::nullopt);
double MetadataReal(const Model& model, const std::string& key, RealRange range,
                    std::optional<double> absent = std::nullopt);
// Token ids separated by spaces; none if the key is absent.
std::vector<int32_t> MetadataTokens(const Model& model, const std::string& key);
// Several sequences of ids, separated by commas.
std::vector<std::vector<int32_t>> MetadataSequences(const Model& model, const std::string& key);

struct GenerationDefaults {
  std::vector<int32_t> stop_ids;
  std::optional<int32_t> start;
  std::optional<int32_t> first, last;  // forced tokens: after the start token, and at max_tokens
  uint32_t max_tokens = 0;             // 0: any number
  uint32_t max_length = 0;             // a text with its prompt, unless max_tokens is given; 0: any number
  uint32_t min_tokens = 0, no_repeat_ngram = 0, no_repeat_source_ngram = 0;
  uint32_t min_length = 0;  // a text with its prompt
  float repetition_penalty = 0;
  std::vector<std::string> stop_strings;
  std::vector<std::vector<int32_t>> bad_words;  // token sequences
  std::optional<fovea_beams> beams;
};

// Fails with key and value for an entry that violates include/fovea/generate.h. `task`: one that the model was trained
// for; empty: none.
GenerationDefaults DefaultsOf(const Model& model, const std::string& task = "");

// Fails with the names of all tasks if the model has no task of this name.
void CheckTask(const Model& model, const std::string& task);
// The prefix of each source for a task.
std::string TaskPrefix(const Model& model, const std::string& task);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_DEFAULTS_H_
