// The generation loop around a decode session: feeds tokens, reads scores (logits), chooses the next token of each
// text.
#ifndef FOVEA_RUNTIME_GENERATE_GENERATE_H_
#define FOVEA_RUNTIME_GENERATE_GENERATE_H_

#include "fovea/generate.h"
#include "runtime/generate/beams.h"
#include "runtime/generate/feed.h"
#include "runtime/generate/sampling.h"
#include "runtime/generate/settings.h"
#include "runtime/generate/speculate.h"
#include "runtime/session/session.h"

namespace fovea {

// The current texts: [max texts] each. Text i has rows i * width to i * width + width - 1 of their space.
struct Progress {
  uint32_t texts = 0, left = 0, steps = 0;
  bool started = false;
  int32_t* last = nullptr;    // [max rows] tokens for the next step to feed
  int32_t* tokens = nullptr;  // tokens chosen in the last step
  float* best = nullptr;      // their scores
  uint8_t* ended = nullptr;
  uint8_t* ends = nullptr;  // why: fovea_end
  uint64_t* sequences = nullptr;
};

struct Generator {
  Session* decode = nullptr;
  const Session* encode = nullptr;
  GenerateSettings settings;
  uint32_t width = 1;  // rows per text: its beams
  Progress progress;
  Prompts prompts;
  Sampler sampler;
  TokenSets token_sets;
  Logprobs logprobs;
  Beams beams;
  Speculation speculation;

  uint32_t token_space() const { return decode->value(settings.token).space; }
  bool keeps_texts() const { return decode->cache.source == token_space(); }
  // The space of the texts.
  uint32_t space() const { return keeps_texts() ? decode->model->blob.spaces[token_space()].parent : token_space(); }
  uint32_t token_count() const { return decode->value(settings.scores).width; }
  uint32_t rows() const { return progress.texts * width; }
  bool has_beams() const { return kHasBeams && beams.options().width != 0; }
  bool has_draft() const { return kHasDrafts && speculation.draft != nullptr; }
  const uint32_t* Usual(uint32_t step) const {
    uint32_t* const usual = token_sets.usual;
    return usual == nullptr ? nullptr : usual + (step == 0 ? 0 : TokenWords(token_count()));
  }
  uint32_t* BitsOf(uint32_t* all, uint32_t row) const { return all + size_t{row} * TokenWords(token_count()); }
};

inline constexpr int32_t kNoToken = -1;

// Computes sizes and places the generator in one function. With a counting arena only checks and sizes are meaningful.
Status PlaceGenerator(const fovea_generate_options& options, Session* decode, const Session* encode, Session* draft,
                      Arena& arena, Reporter& reporter, Generator* generator);
Status StartGenerator(Generator& generator, Reporter& reporter);
Status NumberTexts(Generator& generator, const uint64_t* numbers, uint32_t count, Reporter& reporter);
// The scores that the last run computed for the token after a row of the texts' space.
const float* ScoresOf(const Generator& generator, uint32_t row);
bool IsStop(const Generator& generator, int32_t token);
// Asks the caller, with the row's scores, which of the tokens allowed so far may follow.
void AskScored(const Generator& generator, uint32_t row, const float* scores);
// The sampler's input for a row of the texts' space in a step.
Sampler::Text KnownOf(const Generator& generator, uint32_t row, const float* scores, uint32_t step);
// Chooses the token of a text that has not ended, and records the token and its log-probabilities for a step.
void TakeToken(Generator& generator, uint32_t text, const float* scores, int32_t forced, uint32_t step);
void TakeNone(Generator& generator, uint32_t text);
// Whether the session has no room for another token of the text.
bool IsFull(const Generator& generator, uint32_t text);
// Why a text ends with this token, its token number `step` + 1; FOVEA_END_NOT if it continues.
fovea_end EndOf(const Generator& generator, int32_t token, uint32_t step, bool is_full);
void EndText(Generator& generator, uint32_t text, fovea_end end);

// Begins texts without tokens.
void BeginTexts(Generator& generator, uint32_t texts);
// Marks the token as seen in all beams of the text, if there are penalties.
void MarkSeen(Generator& generator, uint32_t text, int32_t token);

// `forced`: [texts], -1: choose; or null.
Status StepGenerator(Generator& generator, const int32_t* forced, Reporter& reporter);

// search.cc
// Advances the beams of all texts by the scores of the last run.
Status StepBeams(Generator& generator, const int32_t* forced, Reporter& reporter);
Status ReadHypothesis(const Generator& generator, uint32_t text, uint32_t rank, fovea_hypothesis* hypothesis,
                      Reporter& reporter);
Status ReadBeam(const Generator& generator, uint32_t row, fovea_hypothesis* hypothesis, Reporter& reporter);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_GENERATE_GENERATE_H_
