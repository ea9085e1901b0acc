// Settings of sentence-transformers directories that are no modules: limits of texts, prompts, similarity.
#ifndef FOVEA_TOOLS_CONVERT_PUBLISHED_SENTENCE_SETTINGS_H_
#define FOVEA_TOOLS_CONVERT_PUBLISHED_SENTENCE_SETTINGS_H_

#include <string>

#include "tools/convert/description.h"

namespace fovea::tools {

// sentence_bert_config.json of a Transformer module.
struct TransformerSettings {
  std::string file;           // empty: there is none
  std::string task;           // transformer_task: "feature-extraction", "fill-mask", ...; empty: not stated
  std::string output;         // module_output_name: "token_embeddings", "sentence_embedding"; empty: not stated
  std::string method_output;  // output of the model that becomes it; empty: not stated
  uint32_t max_length = 0;    // 0: not stated
  bool lower_case = false;
};

TransformerSettings ReadTransformerSettings(const std::string& directory);

// Sets the tokenizer by the settings, which precede the tokenizer's files, and reports which limit is followed.
void ApplyLimits(const std::string& directory, const TransformerSettings& settings, Description& description);

// config_sentence_transformers.json.
struct SentenceSettings {
  std::string model_type;  // "SentenceTransformer", "SparseEncoder", "CrossEncoder", "ColBERT", ...; empty: not stated
};

// Also stores prompts (metadata prompt.<name>, default_prompt) and the similarity (metadata similarity).
SentenceSettings ReadSentenceSettings(const std::string& directory, Description& description);
// The class of the model alone.
std::string SentenceModelType(const std::string& directory);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_PUBLISHED_SENTENCE_SETTINGS_H_
