// Tokens that a blob's encoder and decoder make of texts.
#ifndef FOVEA_TOOLS_GENERATE_GENERATION_H_
#define FOVEA_TOOLS_GENERATE_GENERATION_H_

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fovea/generate.h"
#include "tools/base/sized.h"
#include "tools/common/batch.h"
#include "tools/common/text.h"
#include "tools/generate/text_stream.h"
#include "tools/generate/token_rules.h"

namespace fovea::tools {

// A text in the making, of which the decoder has just written the scores of the next token.
struct ScoredText {
  size_t text;  // of the batch
  const int32_t* made;
  size_t count;  // of the tokens made
  const float* scores;
};

struct GenerationRequest {
  uint32_t workers = 1;
  // Of a decoder that keeps texts: the most tokens of a text with its prompt; 0: as many as it needs, if there is a
  // limit of tokens, else 2048, and never more than the model was trained for. And how rows are kept, see
  // SessionRequest.
  uint32_t context = 0;
  bool keep_end = false;  // prompts that do not fit lose their beginning; else they are refused
  std::optional<uint32_t> cache_type;
  uint32_t max_tokens = 0;  // of a text; 0: as the model says
  bool alignments = false;  // of the decoder's attention (metadata "generate.alignment", else its first one)
  fovea_sampling sampling = Sized<fovea_sampling>();
  bool stops = true;               // at the tokens that the model says end a text
  std::vector<int32_t> ends = {};  // further tokens that do
  std::vector<std::string> stop_strings = {};
  TokenRules rules = {};

  std::optional<fovea_beams> beams = {};
  uint32_t hypotheses = 1;  // of each text that are told

  std::optional<int32_t> start = {}, first = {};  // in place of the model's start token and forced first one
  std::vector<int32_t> prefix = {};               // after the start token or the prompt, no part of what is written
  std::vector<std::vector<int32_t>> forced = {};  // of each text, the first tokens that are written; none: all chosen

  std::optional<std::string> separator = {};  // see TextStream
  bool continues = false;  // texts go on with their prompts: the first space of what is written is a part of them

  const Model* draft = nullptr;  // guesses ahead
  uint32_t draft_tokens = 3;     // with the one before them four rows, which kernels for few rows multiply at once

  std::vector<fovea_tap> taps = {};  // of the session of a decoder that goes with an encoder
  std::function<void(const Session& decode, const fovea_generated& step)> after_step =
      nullptr;  // unless there are beams

  // Clears the bits of tokens that may not follow by their scores, as fovea_allow_scored says.
  std::function<void(const ScoredText& text, uint32_t tokens, uint32_t* bits)> allow_scored = nullptr;

  uint64_t number = 0;  // of the first text, for random numbers
  std::function<void(size_t text, const std::string& part)> show =
      nullptr;  // a text as it comes, unless there are beams
};

struct Hypothesis {
  std::vector<int32_t> tokens;
  std::string text;
  float score = 0, sum = 0;  // of log-probabilities, the sum; and divided as the search does
};

struct Generation {
  std::vector<int32_t> input, tokens;                       // with padding and the token that ended the text
  std::vector<float> scores;                                // of each token
  std::vector<float> logprobs;                              // of each token, where the sampling asks for them
  std::vector<std::vector<std::pair<int32_t, float>>> top;  // of each step the likeliest tokens and theirs
  std::string text;                                         // of prefix and tokens, without that one
  std::vector<std::vector<float>> alignment;                // [tokens][input], the mean of all heads
  bool full = false;                                        // ended by neither a token nor max_tokens: no room was left
  std::vector<Hypothesis> hypotheses;                       // of a beam search, the best first, which `tokens` is
};

// Whether the model has no encoder: its decoder goes on with texts.
bool ContinuesTexts(const Model& model);

// The program that reads what is to be translated. Fails if there is none that takes ids.
uint32_t SourceProgram(const Model& model);

// The one whose results a decoder reads.
uint32_t EncoderProgram(const Model& model);

// All texts in one batch: what an encoder reads, or what the decoder goes on with. Where texts have a fixed length they
// are filled up with the tokenizer's padding token. What was made before an interrupt is the result then.
std::vector<Generation> Generate(const Model& model, const std::vector<std::vector<int32_t>>& inputs,
                                 const GenerationRequest& request);

// A session of the encoder that has run over a batch: samples of sound, features, ids.
Session Encode(const Model& model, const Batch& source, uint32_t workers);

// Of what an encoder made, which may be used several times. Each text begins with its prompt, the start token included,
// which is no part of the result; where all prompts are empty, with the start token and request.prefix.
std::vector<Generation> Generate(const Model& model, const Session& encode,
                                 const std::vector<std::vector<int32_t>>& prompts, const GenerationRequest& request);

class Generator;
// Steps of a generator that has been started, until its texts have ended or an interrupt.
void WriteTexts(const Model& model, const GenerationRequest& request, const Session& decode, Generator& generator,
                std::vector<Generation>& generations);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_GENERATION_H_
