// The end of a decoder: scores of the next token, and metadata for generation.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_DECODER_H_
#define FOVEA_TOOLS_CONVERT_ARCH_DECODER_H_

#include <optional>
#include <string>

#include "tools/convert/arch/program_builder.h"

namespace fovea::tools {

// A decoder is several programs of the same layers. "score" reads whole texts and makes `logits` of every token.
// "decode" continues texts whose keys and values are cached, and makes `next_logits` of the last new token of each
// text; "verify", for speculative decoding, makes them of all new tokens.
void FinishScoring(const std::string& last, const Heads& heads, ProgramBuilder& builder);
void FinishDecoder(const std::string& last, const Heads& heads, ProgramBuilder& builder);
void FinishVerifying(const std::string& last, const Heads& heads, ProgramBuilder& builder);

// Settings of generation, by the file that the original library reads: generation_config.json alone, if there is one,
// except for tokens and for files that were made of config.json (`_from_model_config`); else config.json (older models
// have all of them there), else the decoder's part of config.json.
class GenerationConfig {
 public:
  explicit GenerationConfig(const Checkpoint& checkpoint);
  JsonView View(const std::string& key) const;
  // The same of config.json alone.
  JsonView OfModel(const std::string& key) const;
  // generation_config.json; null: there is none.
  const Json& own() const { return json_; }

 private:
  const Config& config_;
  std::optional<Config> own_;
  Json json_;
  bool of_model_ = true;  // config.json has what generation_config.json lacks
};

// Writes metadata for generation: the task, inputs and outputs of a step, special tokens, and the settings of search
// that the model's authors chose, by generation_config.json or else config.json.
void DescribeGeneration(const Checkpoint& checkpoint, Description& description);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_DECODER_H_
