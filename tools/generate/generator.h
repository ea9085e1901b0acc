// A generator over sessions of a model.
#ifndef FOVEA_TOOLS_GENERATE_GENERATOR_H_
#define FOVEA_TOOLS_GENERATE_GENERATOR_H_

#include <memory>
#include <optional>
#include <vector>

#include "tools/common/session.h"
#include "tools/generate/defaults.h"
#include "tools/generate/generation.h"

namespace fovea::tools {

// An error about an entry of the metadata names its key and value.
void CheckGenerate(fovea_status status, const Model& model, fovea_error error);

struct GeneratorSessions {
  const Session* decode = nullptr;
  const Session* encode = nullptr;  // null where the decoder has no encoder
  const Session* draft = nullptr;   // null where nothing guesses ahead
};

// The most tokens of a text; 0: any number.
uint32_t MaxTokens(const Model& model, const GenerationRequest& request);

// Tokens that end texts: the model's and the request's.
std::vector<int32_t> StopIds(const Model& model, const GenerationRequest& request);

// The memory that a generator takes.
uint64_t GeneratorBytes(const Model& model, const GeneratorSessions& sessions, const GenerationRequest& request);

class Generator {
 public:
  // Of at most `texts` texts.
  Generator(const Model& model, const GeneratorSessions& sessions, const GenerationRequest& request, size_t texts);
  ~Generator();
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;
  // Again, from the beginning.
  void Start();
  // What texts begin with, one after the other: both stay as they are until the first step. `keep`: what the session
  // has of them goes on.
  void SetPrompts(const std::vector<int32_t>& tokens, const std::vector<uint32_t>& lengths, bool keep = false);
  // What an encoder read for a text, for rules that look at it.
  void SetSource(size_t text, const std::vector<int32_t>& tokens);
  // The numbers of the texts, for random numbers; without this from 0 on.
  void SetNumbers(const std::vector<uint64_t>& numbers);
  // Nothing if it was interrupted.
  std::optional<fovea_generated> Next();
  // That of a text's beam search; nothing if fewer have been found.
  std::optional<fovea_hypothesis> Found(uint32_t text, uint32_t rank) const;
  // The best text in the making.
  fovea_hypothesis InTheMaking(uint32_t text) const;

 private:
  static void Allow(void* generator, uint32_t row, uint32_t step, uint32_t tokens, uint32_t* words);
  static void AllowScored(void* generator, uint32_t row, uint32_t step, uint32_t tokens, const float* scores,
                          uint32_t* words);
  std::vector<int32_t> TextOf(uint32_t row) const;
  // What texts must have as their next token.
  const int32_t* Forced();

  const GenerationRequest request_;
  const GenerationDefaults defaults_;
  const std::vector<int32_t> stop_ids_;
  const GeneratorSessions sessions_;
  Memory memory_;
  fovea_generator* generator_ = nullptr;
  uint32_t max_tokens_ = 0, steps_ = 0;
  bool prompted_ = false;
  std::vector<int32_t> forced_;
  std::vector<std::vector<int32_t>> texts_;    // where rules look at them: what is given, and what is made
  std::vector<std::vector<int32_t>> sources_;  // the same of what an encoder read
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_GENERATOR_H_
