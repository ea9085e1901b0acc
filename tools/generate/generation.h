// Generates texts with a blob's decoder, after its encoder if it has one.
#ifndef FOVEA_TOOLS_GENERATE_GENERATION_H_
#define FOVEA_TOOLS_GENERATE_GENERATION_H_

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fovea/generate.h"
#include "tools/base/sized.h"
#include "tools/generate/text_stream.h"
#include "tools/generate/token_rules.h"
#include "tools/model/batch.h"
#include "tools/text/tokenizer.h"

namespace fovea::tools {

// An unfinished sequence for which the decoder has just computed the scores of the next token.
struct ScoredText {
  size_t text;  // index in the batch
  const int32_t* made;
  size_t count;  // number of generated tokens
  const float* scores;
};

struct GenerationRequest {
  uint32_t workers = 1;
  // Decoders with a KV cache: most tokens of a text with its prompt. 0: as many as needed, if the number of tokens is
  // limited, or else 2048; never more than the model was trained for. cache_type: type of the cache, see
  // SessionRequest.
  uint32_t context = 0;
  bool keep_end = false;  // truncate prompts that do not fit at the beginning; else refuse them
  std::optional<uint32_t> cache_type;
  uint32_t max_tokens = 0;  // per text; 0: the model's default
  uint32_t max_length = 0;  // tokens of a decoder's text with its prompt, at most the context; 0: no limit
  bool alignments = false;  // attention map of the decoder (metadata "generate.alignment", or its first)
  fovea_sampling sampling = Sized<fovea_sampling>();
  bool stops = true;               // end at the model's end-of-text tokens
  std::vector<int32_t> ends = {};  // additional end-of-text tokens
  std::vector<std::string> stop_strings = {};
  TokenRules rules = {};

  std::optional<fovea_beams> beams = {};
  uint32_t hypotheses = 1;  // number to return for each text

  std::optional<int32_t> start = {}, first = {};  // override the model's start token and forced first token
  std::vector<int32_t> prefix = {};               // tokens after the start token or prompt; not in the result
  std::vector<std::vector<int32_t>> forced = {};  // per text, tokens to generate first; empty: none

  std::optional<std::string> separator = {};  // see TextStream
  bool continues = false;                     // texts continue their prompts: keep the first space of the continuation

  const Model* draft = nullptr;  // draft model of speculative decoding
  uint32_t draft_tokens = 3;     // with the token before them 4 rows, the tile of kernels for few rows

  std::vector<fovea_tap> taps = {};  // for the session of a decoder with an encoder
  std::function<void(const Session& decode, const fovea_generated& step)> after_step =
      nullptr;  // not called in a beam search

  // Masks tokens by their scores: clears the bits of tokens that must not follow, as fovea_allow_scored.
  std::function<void(const ScoredText& text, uint32_t tokens, uint32_t* bits)> allow_scored = nullptr;

  uint64_t number = 0;  // number of the first text, which selects its random numbers
  std::function<void(size_t text, const std::string& part)> show =
      nullptr;  // receives a text as it is generated, except in a beam search
};

struct Hypothesis {
  std::vector<int32_t> tokens;
  std::string text;
  float score = 0, sum = 0;  // sum of log-probabilities; score: divided by the length penalty
};

struct Generation {
  std::vector<int32_t> input, tokens;  // with padding and the end-of-text token
  std::vector<float> scores;           // per token
  std::vector<float> logprobs;         // per token, if the sampling requests them
  std::vector<std::vector<std::pair<int32_t, float>>>
      top;                                    // per step, the likeliest tokens with their log-probabilities
  std::string text;                           // prefix and tokens, without the end-of-text token
  std::vector<std::vector<float>> alignment;  // [tokens][input], the mean of all heads
  bool full = false;                          // ended neither by a token nor by max_tokens: the context was full
  std::vector<Hypothesis> hypotheses;         // best first; `tokens` is the first
};

// Whether the model generates text and has no encoder, so that its decoder continues prompts (decoder-only).
bool ContinuesTexts(const Model& model);

// The encoder's program for token ids. Fails if there is none.
uint32_t SourceProgram(const Model& model);

// The program whose outputs the decoder reads.
uint32_t EncoderProgram(const Model& model);

// Generates for all inputs in one batch: texts for the encoder, or prompts of a decoder-only model. If texts have a
// fixed length they are padded. After an interrupt the result is what was generated so far.
std::vector<Generation> Generate(const Model& model, const std::vector<std::vector<int32_t>>& inputs,
                                 const GenerationRequest& request);

// Runs the encoder on a batch of audio samples, features or ids; returns the session.
Session Encode(const Model& model, const Batch& source, uint32_t workers);

// Generates from an encoder's outputs, which can be used several times. Prompts begin with the start token and are not
// in the result; if all prompts are empty, texts begin with the start token and request.prefix.
std::vector<Generation> Generate(const Model& model, const Session& encode,
                                 const std::vector<std::vector<int32_t>>& prompts, const GenerationRequest& request);

class Generator;
// Runs a started generator until its texts have ended or an interrupt.
void WriteTexts(const Model& model, const GenerationRequest& request, const Session& decode, Generator& generator,
                std::vector<Generation>& generations);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_GENERATION_H_
