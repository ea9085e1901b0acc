// The loop around a decode session: tokens in, scores out, the best token of each text chosen.
#ifndef FOVEA_RUNTIME_GENERATE_GENERATE_H_
#define FOVEA_RUNTIME_GENERATE_GENERATE_H_

#include "fovea/generate.h"
#include "runtime/generate/beams.h"
#include "runtime/generate/sampling.h"
#include "runtime/generate/speculate.h"
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
  bool sets_rows = false;  // the texts' space has a parent with a row for each text: how many rows these have

  // The texts in work: [max texts] each. Row i * width of their space and those after it are text i's.
  uint32_t texts = 0, left = 0, steps = 0;
  uint32_t width = 1;
  bool started = false;
  int32_t* last = nullptr;    // [max rows] what the next step feeds
  int32_t* tokens = nullptr;  // what the last step gave
  float* best = nullptr;      // their scores
  uint8_t* ended = nullptr;
  uint64_t* sequences = nullptr;

  // Of a decoder that keeps texts: what they begin with, in the caller's memory, and how much of it was taken in.
  const int32_t* prompts = nullptr;
  const uint32_t* prompt_lengths = nullptr;
  bool keeps = false;           // texts go on: they are not emptied first
  uint32_t* taken = nullptr;    // [max texts]
  uint32_t* lengths = nullptr;  // [max rows] of the run at hand

  Sampler sampler;
  Beams beams;
  Speculation speculation;
  uint32_t* seen = nullptr;         // [max rows, TokenWords], where tokens are penalized
  uint32_t* seen_before = nullptr;  // [width, TokenWords] of one text
  uint32_t* allowed = nullptr;      // [max rows, TokenWords], where the caller says which are
  bool suppresses = false;
  // [2, TokenWords], where tokens are suppressed: the others, of a text's first token and of later ones
  uint32_t* usual = nullptr;
  float* logprobs = nullptr;
  int32_t* top_tokens = nullptr;  // [max texts, top_logprobs]
  float* top_logprobs = nullptr;

  uint32_t token_space() const { return decode->value(token).space; }
  bool keeps_texts() const { return decode->cache.source == token_space(); }
  // Of the texts.
  uint32_t space() const { return keeps_texts() ? decode->model->blob.spaces[token_space()].parent : token_space(); }
  uint32_t token_count() const { return decode->value(scores).width; }
  uint32_t rows() const { return texts * width; }
  bool has_beams() const { return kHasBeams && beams.options().width != 0; }
  bool has_draft() const { return kHasDrafts && speculation.draft != nullptr; }
  const uint32_t* Usual(uint32_t step) const {
    return usual == nullptr ? nullptr : usual + (step == 0 ? 0 : TokenWords(token_count()));
  }
  uint32_t* BitsOf(uint32_t* all, uint32_t row) const { return all + size_t{row} * TokenWords(token_count()); }
};

inline constexpr int32_t kNoToken = -1;

// Sizing and placing are this one function. With a counting arena only checks and sizes are meaningful.
Status PlaceGenerator(const fovea_generate_options& options, Session* decode, const Session* encode, Session* draft,
                      Arena& arena, Reporter& reporter, Generator* generator);
Status StartGenerator(Generator& generator, Reporter& reporter);
Status NumberTexts(Generator& generator, const uint64_t* numbers, uint32_t count, Reporter& reporter);
// The scores of the last run for what follows in a row of the texts' space.
const float* ScoresOf(const Generator& generator, uint32_t row);
bool IsStop(const Generator& generator, int32_t token);
// Asks the caller which of the tokens that may follow so far do by the row's scores.
void AskScored(const Generator& generator, uint32_t row, const float* scores);
// What is known of a row of the texts' space in a step, for the sampler.
Sampler::Text KnownOf(const Generator& generator, uint32_t row, const float* scores, uint32_t step);
// The token of a text that has not ended, and what is told of it, as that of a step.
void TakeToken(Generator& generator, uint32_t text, const float* scores, int32_t forced, uint32_t step);
void TakeNone(Generator& generator, uint32_t text);
// Whether the session has no room for another token of the text.
bool IsFull(const Generator& generator, uint32_t text);

// search.cc
// A step of the beams of all texts, by the scores of the last run.
Status StepBeams(Generator& generator, const int32_t* forced, Reporter& reporter);
Status ReadHypothesis(const Generator& generator, uint32_t text, uint32_t rank, fovea_hypothesis* hypothesis,
                      Reporter& reporter);
Status ReadBeam(const Generator& generator, uint32_t row, fovea_hypothesis* hypothesis, Reporter& reporter);

// feed.cc
Status TakePrompts(Generator& generator, const int32_t* tokens, const uint32_t* lengths, uint32_t count, bool keep,
                   Reporter& reporter);
// Runs the decoder on what each text goes on with: prompts, all in all but for the last run in as many as it takes.
Status Feed(Generator& generator, Reporter& reporter);
// Runs the decoder on lengths[i] tokens of each text, which begin at tokens[i * stride].
Status ReadTokens(Generator& generator, const int32_t* tokens, uint32_t stride, Reporter& reporter);
// No text has a token yet.
void BeginTexts(Generator& generator, uint32_t texts);
// Notes that all beams of the text have the token, where tokens are penalized.
void MarkSeen(Generator& generator, uint32_t text, int32_t token);

// `forced`: [texts], -1: choose; or null.
Status StepGenerator(Generator& generator, const int32_t* forced, Reporter& reporter);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_GENERATE_GENERATE_H_
