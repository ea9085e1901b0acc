// The loop around a decode session: tokens in, scores out, the best token of each text chosen.
#ifndef FOVEA_RUNTIME_GENERATE_GENERATE_H_
#define FOVEA_RUNTIME_GENERATE_GENERATE_H_

#include "fovea/generate.h"
#include "runtime/generate/sampling.h"
#include "runtime/session/session.h"

namespace fovea {

// A decoder's input and the encoder's output that it reads.
struct GenerateLink {
  uint32_t input, output;
};

struct Generator {
  Session* decode = nullptr;
  const Session* encode = nullptr;
  uint32_t token = 0, scores = 0;  // values of the decoder
  int32_t start = 0;
  int32_t* stop_ids = nullptr;
  uint32_t stop_id_count = 0;
  uint32_t max_tokens = 0;  // of a text; 0: any number
  GenerateLink* links = nullptr;
  uint32_t link_count = 0;

  // The texts in work: [max texts] each.
  uint32_t texts = 0, left = 0, steps = 0;
  bool started = false;
  int32_t* last = nullptr;    // what the next step feeds
  int32_t* tokens = nullptr;  // what the last step gave
  float* best = nullptr;      // their scores
  uint8_t* ended = nullptr;
  uint64_t* sequences = nullptr;

  // Of a decoder that keeps texts: what they begin with, in the caller's memory, and how much of it was taken in.
  const int32_t* prompts = nullptr;
  const uint32_t* prompt_lengths = nullptr;
  bool keeps = false;           // texts go on: they are not emptied first
  uint32_t* taken = nullptr;    // [max texts]
  uint32_t* lengths = nullptr;  // [max texts] of the run at hand

  Sampler sampler;
  uint32_t* seen = nullptr;     // [max texts, TokenWords], where tokens are penalized
  uint32_t* allowed = nullptr;  // [max texts, TokenWords], where the caller says which are
  float* logprobs = nullptr;
  int32_t* top_tokens = nullptr;  // [max texts, top_logprobs]
  float* top_logprobs = nullptr;

  uint32_t space() const { return decode->value(scores).space; }
  uint32_t token_space() const { return decode->value(token).space; }
  bool keeps_texts() const { return token_space() != space(); }
  uint32_t token_count() const { return decode->value(scores).width; }
};

// Sizing and placing are this one function. With a counting arena only checks and sizes are meaningful.
Status PlaceGenerator(const fovea_generate_options& options, Session* decode, const Session* encode, Arena& arena,
                      Reporter& reporter, Generator* generator);
Status StartGenerator(Generator& generator, Reporter& reporter);
Status NumberTexts(Generator& generator, const uint64_t* numbers, uint32_t count, Reporter& reporter);
// feed.cc
Status TakePrompts(Generator& generator, const int32_t* tokens, const uint32_t* lengths, uint32_t count, bool keep,
                   Reporter& reporter);
// Runs the decoder on what each text goes on with: prompts, all in all but for the last run in as many as it takes.
Status Feed(Generator& generator, Reporter& reporter);
// No text has a token yet.
void BeginTexts(Generator& generator, uint32_t texts);
// Notes that the text has the token, where tokens are penalized.
void MarkSeen(Generator& generator, uint32_t text, int32_t token);

// `forced`: [texts], -1: choose; or null.
Status StepGenerator(Generator& generator, const int32_t* forced, Reporter& reporter);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_GENERATE_GENERATE_H_
