// Speculation: tokens that another decoder guesses are read by the decoder in one run, and those that it would have
// chosen are kept.
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
  Generator* draft = nullptr;  // reads prompts as any generator does; null: there is no speculation
  uint32_t tokens = 0;         // that are guessed, at most

  // [max texts] each.
  int32_t* guesses = nullptr;  // [.., tokens + 1] a text's last token, then what is guessed
  uint32_t* guess_counts = nullptr;
  int32_t* unread = nullptr;  // [.., 2] of the text's tokens what the draft has not read
  uint32_t* unread_counts = nullptr;
  uint32_t* draft_rows = nullptr;  // that the draft has of the text between rounds

  // Tokens that are chosen and not given yet, as a step gives them: [.., tokens + 1] each.
  int32_t* made = nullptr;
  float* scores = nullptr;
  float* logprobs = nullptr;
  int32_t* top_tokens = nullptr;  // [.., tokens + 1, top_logprobs]
  float* top_logprobs = nullptr;
  uint32_t* made_counts = nullptr;
  uint32_t* given = nullptr;  // of them
  bool* ends = nullptr;       // the last of them ends the text
};

// What `g` needs besides; the rest of it is placed.
Status PlaceSpeculation(const fovea_generate_options& options, uint32_t max_texts, Session* draft, Arena& arena,
                        Reporter& reporter, Generator* g);
// Begins with as many texts, or their prompts.
Status BeginSpeculation(Generator& g, Reporter& reporter);
// A step: a round for texts of which no token is left to give, then one token of each text.
Status StepSpeculation(Generator& g, Reporter& reporter);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_GENERATE_SPECULATE_H_
