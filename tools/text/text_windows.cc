#include "tools/text/text_windows.h"

#include <algorithm>
#include <numeric>

#include "tools/model/growing_session.h"
#include "tools/model/interrupt.h"
#include "tools/text/text_inputs.h"

namespace fovea::tools {

std::vector<std::vector<size_t>> BatchesByLength(const std::vector<size_t>& tokens, const BatchLimits& limits) {
  std::vector<size_t> order(tokens.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return tokens[a] > tokens[b]; });
  std::vector<std::vector<size_t>> batches;
  size_t sum = 0;
  for (const size_t i : order) {
    sum += tokens[i];
    if (batches.empty() || batches.back().size() == limits.texts || sum > limits.tokens) {
      batches.emplace_back();
      sum = tokens[i];
    }
    batches.back().push_back(i);
  }
  return batches;
}

namespace {

// A window also holds the text of dropped tokens, and of tokens of many bytes: this many count as one token.
constexpr size_t kBytesOfToken = 16;

}  // namespace

uint64_t RunInWindows(const Model& model, const SessionRequest& request, const BatchLimits& given,
                      const WindowSteps& steps) {
  BatchLimits limits = given;
  // A program whose rows have no parent reads one text.
  if (model.Space(TokenSpace(model, request.program)).parent == FOVEA_NONE) limits.texts = 1;
  GrowingSession session(model, request);
  uint64_t done = 0;
  for (bool more = true; more && !Interrupt::Happened();) {
    std::vector<EncodedText> window;
    std::vector<size_t> tokens;
    size_t size = 0;
    while (window.size() < kBatchesOfWindow * given.texts && size < kBatchesOfWindow * limits.tokens) {
      std::optional<EncodedText> text = steps.next();
      more = text.has_value();
      if (!more) break;
      tokens.push_back(text->tokens.ids.size());
      size += std::max<uint64_t>(text->tokens.ids.size() + text->tokens.dropped, text->text.size() / kBytesOfToken);
      window.push_back(std::move(*text));
    }
    if (window.empty()) break;
    steps.begin(window.size());
    for (const std::vector<size_t>& which : BatchesByLength(tokens, limits)) {
      if (Interrupt::Happened()) return done;
      std::vector<std::string> texts;
      std::vector<Tokens> encoded;
      for (const size_t i : which) {
        texts.push_back(std::move(window[i].text));
        encoded.push_back(std::move(window[i].tokens));
      }
      Session& running = session.For(BatchFromTokens(model, request.program, encoded));
      running.Run();
      steps.read({running, which, std::move(texts), std::move(encoded)});
    }
    steps.end();
    done += window.size();
  }
  return done;
}

}  // namespace fovea::tools
