// Wraps the library's generator for sessions of a model.
#ifndef FOVEA_TOOLS_GENERATE_GENERATOR_H_
#define FOVEA_TOOLS_GENERATE_GENERATOR_H_

#include <memory>
#include <optional>
#include <vector>

#include "tools/generate/defaults.h"
#include "tools/generate/generation.h"
#include "tools/model/session.h"

namespace fovea::tools {

// As Check; if the fault is in a metadata entry, the message has its key and value.
void CheckGenerate(fovea_status status, const Model& model, fovea_error error);

struct GeneratorSessions {
  const Session* decode = nullptr;
  const Session* encode = nullptr;  // null for a decoder-only model
  const Session* draft = nullptr;   // null without speculative decoding
};

// The most tokens to generate; 0: no limit.
uint32_t MaxTokens(const Model& model, const GenerationRequest& request);

// End-of-text tokens of the model and of the request.
std::vector<int32_t> StopIds(const Model& model, const GenerationRequest& request);

// Memory of a generator, in bytes.
uint64_t GeneratorBytes(const Model& model, const GeneratorSessions& sessions, const GenerationRequest& request);

class Generator {
 public:
  // A generator for at most `texts` texts.
  Generator(const Model& model, const GeneratorSessions& sessions, const GenerationRequest& request, size_t texts);
  ~Generator();
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;
  // Restarts from the beginning.
  void Start();
  // Sets the prompts, concatenated; both must stay unchanged until the first step. `keep`: continue after the rows that
  // are in the KV cache.
  void SetPrompts(const std::vector<int32_t>& tokens, const std::vector<uint32_t>& lengths, bool keep = false);
  // Sets the encoder's input of a text, for rules that refer to it.
  void SetSource(size_t text, const std::vector<int32_t>& tokens);
  // Sets the numbers of the texts, which select their random numbers; by default from 0 on.
  void SetNumbers(const std::vector<uint64_t>& numbers);
  // One step; nothing if it was interrupted.
  std::optional<fovea_generated> Next();
  // A finished hypothesis of a beam search; nothing if there are fewer.
  std::optional<fovea_hypothesis> Found(uint32_t text, uint32_t rank) const;
  // The best live beam.
  fovea_hypothesis InTheMaking(uint32_t text) const;

 private:
  static void Allow(void* generator, uint32_t row, uint32_t step, uint32_t tokens, uint32_t* words);
  static void AllowScored(void* generator, uint32_t row, uint32_t step, uint32_t tokens, const float* scores,
                          uint32_t* words);
  std::vector<int32_t> TextOf(uint32_t row) const;
  // The forced next tokens.
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
  std::vector<std::vector<int32_t>> texts_;    // prompts and generated tokens, if rules need them
  std::vector<std::vector<int32_t>> sources_;  // the encoder's inputs, if rules need them
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_GENERATOR_H_
