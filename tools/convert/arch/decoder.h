// What a decoder has after its last layer: scores of the next token, and what generation has to know.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_DECODER_H_
#define FOVEA_TOOLS_CONVERT_ARCH_DECODER_H_

#include <optional>
#include <string>

#include "tools/convert/arch/program_builder.h"

namespace fovea::tools {

// A decoder is programs of the same layers. "score" reads whole texts and makes `logits` of every token. "decode" goes
// on with texts that it keeps, and makes `next_logits`, those of the last new token of each, and no others; "verify",
// which reads what another decoder guessed, makes them of all new tokens.
void FinishScoring(const std::string& last, const Heads& heads, ProgramBuilder& builder);
void FinishDecoder(const std::string& last, const Heads& heads, ProgramBuilder& builder);
void FinishVerifying(const std::string& last, const Heads& heads, ProgramBuilder& builder);

// What generation is told: generation_config.json where it says it, else config.json (older models have all of it
// there), else the decoder's part of that.
class GenerationConfig {
 public:
  explicit GenerationConfig(const Checkpoint& checkpoint);
  JsonView View(const std::string& key) const;

 private:
  const Config& config_;
  std::optional<Config> own_;
};

// The task, and what generation reads: what is fed and read, which tokens mean what, and how the model's authors
// search, from generation_config.json or else config.json.
void DescribeGeneration(const Checkpoint& checkpoint, Description& description);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_DECODER_H_
