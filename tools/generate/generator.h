// A generator over sessions of a model, and the session of a decoder that keeps texts.
#ifndef FOVEA_TOOLS_GENERATE_GENERATOR_H_
#define FOVEA_TOOLS_GENERATE_GENERATOR_H_

#include <string>
#include <vector>

#include "tools/common/session.h"
#include "tools/generate/generation.h"

namespace fovea::tools {

std::string MetadataOr(const Model& model, const std::string& key, const std::string& absent);

// An error about an entry of the metadata names its key and value.
void CheckGenerate(fovea_status status, const Model& model, fovea_error error);

class Generator {
 public:
  // `encode`: null where the decoder has no encoder.
  Generator(const Model& model, const Session* encode, const Session& decode, const GenerationRequest& request);
  // Again, from the beginning.
  void Start();
  // What texts begin with, one after the other: both stay as they are until the first step.
  void SetPrompts(const std::vector<int32_t>& tokens, const std::vector<uint32_t>& lengths);
  fovea_generated Next();

 private:
  Memory memory_;
  fovea_generator* generator_ = nullptr;
};

// A session that keeps texts with prompts of so many tokens, as long as they get.
SessionRequest ContinueRequest(const Model& model, const std::vector<uint32_t>& prompts,
                               const GenerationRequest& request);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_GENERATOR_H_
