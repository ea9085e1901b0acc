// Perplexity of a decoder.
#ifndef FOVEA_TESTS_GOLDEN_PERPLEXITY_H_
#define FOVEA_TESTS_GOLDEN_PERPLEXITY_H_

#include <cmath>
#include <vector>

#include "tests/golden/golden_support.h"

namespace fovea::test {

struct ScoredText {
  std::vector<int32_t> ids;
  size_t given = 1;  // tokens at its front that count for nothing
};

// Perplexity over all tokens outside the prompt, by program `score`.
inline double Perplexity(const tools::Model& model, const std::vector<ScoredText>& texts) {
  tools::SessionRequest request;
  request.program = model.FindProgram("score");
  const uint32_t input = *model.FindValue(request.program, "input_ids");
  const uint32_t tokens = model.Value(request.program, input).space;
  std::vector<uint32_t> lengths;
  std::vector<int32_t> ids;
  for (const ScoredText& text : texts) {
    lengths.push_back(static_cast<uint32_t>(text.ids.size() - 1));
    ids.insert(ids.end(), text.ids.begin(), text.ids.end() - 1);
  }
  request.limits = {{model.Space(tokens).parent, static_cast<uint32_t>(lengths.size()), 0},
                    {tokens, static_cast<uint32_t>(ids.size()), *std::max_element(lengths.begin(), lengths.end())}};
  tools::Session session(model, request);
  session.SetSegments(tokens, lengths);
  session.SetInput(input, ids);
  session.Run();
  const tools::Matrix logits = session.Output(*model.FindValue(request.program, "logits"));
  double nats = 0;
  size_t count = 0, first = 0;
  for (const ScoredText& text : texts) {
    for (size_t i = text.given; i < text.ids.size(); ++i, ++count) {
      const float* row = logits.Row(static_cast<uint32_t>(first + i - 1));
      double sum = 0;
      for (uint32_t w = 0; w < logits.width; ++w) sum += std::exp(static_cast<double>(row[w]) - row[text.ids[i]]);
      nats += std::log(sum);
    }
    first += text.ids.size() - 1;
  }
  return std::exp(nats / static_cast<double>(count));
}

}  // namespace fovea::test

#endif  // FOVEA_TESTS_GOLDEN_PERPLEXITY_H_
