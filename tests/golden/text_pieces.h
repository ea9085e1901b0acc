// One text read in pieces, which must give the bits of the whole.
#ifndef FOVEA_TESTS_GOLDEN_TEXT_PIECES_H_
#define FOVEA_TESTS_GOLDEN_TEXT_PIECES_H_

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tools/model/session.h"

namespace fovea::test {

inline constexpr uint32_t kTextTokens = 40;

// Scores of the next token after each run of `piece` tokens, by the number of tokens before it. `ids`: the decoder's
// input of tokens.
inline std::map<uint32_t, std::vector<float>> ScoresByPieces(const tools::Model& model, tools::Session& decode,
                                                             const std::string& ids, uint32_t piece) {
  const uint32_t program = decode.request().program;
  const uint32_t input = *model.FindValue(program, ids), output = *model.FindValue(program, "next_logits");
  std::map<uint32_t, std::vector<float>> scores;
  for (uint32_t at = 0; at < kTextTokens; at += piece) {
    std::vector<int32_t> fresh;
    for (uint32_t i = at; i < std::min(at + piece, kTextTokens); ++i)
      fresh.push_back(static_cast<int32_t>(i * 13 % 60));
    decode.SetSegments(model.Value(program, input).space, {static_cast<uint32_t>(fresh.size())});
    decode.SetInput(input, fresh);
    decode.Run();
    scores[at + static_cast<uint32_t>(fresh.size())] = decode.Output(output).values;
  }
  return scores;
}

}  // namespace fovea::test

#endif  // FOVEA_TESTS_GOLDEN_TEXT_PIECES_H_
