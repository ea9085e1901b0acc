// Speculative decoding: a draft model proposes tokens, the decoder reads them in one run, and the tokens that it would
// have chosen itself are accepted.
#ifndef FOVEA_RUNTIME_GENERATE_SPECULATE_H_
#define FOVEA_RUNTIME_GENERATE_SPECULATE_H_

#include "fovea/generate.h"
#include "runtime/base/arena.h"
#include "runtime/base/status.h"

namespace fovea {

struct Generator;
struct Session;

inline constexpr uint32_t kMaxDraftTokens = 64;

struct Speculation {
  Generator* draft = nullptr;  // also reads the prompts; null: no speculation
  uint32_t tokens = 0;         // draft tokens per round, at most

  // [max texts] each.
  int32_t* guesses = nullptr;  // [..., tokens + 1] a text's last token, then the draft tokens
  uint32_t* guess_counts = nullptr;
  int32_t* unread = nullptr;  // [..., 2] tokens of the text that the draft has not read
  uint32_t* unread_counts = nullptr;
  uint32_t* draft_rows = nullptr;  // the draft's rows of the text between rounds

  // Tokens that are chosen but not yet returned by a step: [..., tokens + 1] each.
  int32_t* made = nullptr;
  float* scores = nullptr;
  float* logprobs = nullptr;
  int32_t* top_tokens = nullptr;  // [..., tokens + 1, top_logprobs]
  float* top_logprobs = nullptr;
  uint32_t* made_counts = nullptr;
  uint32_t* given = nullptr;  // number of them already returned
  fovea_end* ends = nullptr;  // whether and why the last of them ends the text
};

// Places the additional memory of `g`, which is otherwise placed.
Status PlaceSpeculation(const fovea_generate_options& options, uint32_t max_texts, Session* draft, Arena& arena,
                        Reporter& reporter, Generator* g);
// Begins with empty texts, or with their prompts.
Status BeginSpeculation(Generator& g, Reporter& reporter);
// A step: a round for texts whose chosen tokens are all returned, then one token of each text.
Status StepSpeculation(Generator& g, Reporter& reporter);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_GENERATE_SPECULATE_H_
