// Texts through a program in one call: tokens, session, run.
#ifndef FOVEA_TOOLS_COMMON_ENGINE_H_
#define FOVEA_TOOLS_COMMON_ENGINE_H_

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tools/common/text.h"

namespace fovea::tools {

struct TextRun {
  std::vector<std::string> texts;
  std::vector<Tokens> tokens;
  std::unique_ptr<Session> session;  // has run
};

// All texts as one ragged batch, each cut to `max_length` tokens (0: what the model takes).
inline TextRun RunTexts(const Model& model, const Tokenizer& tokenizer, uint32_t program, std::vector<std::string> texts,
                        uint32_t workers, uint32_t max_length = 0) {
  if (texts.empty()) Fail("no text is given");
  TextRun run;
  run.texts = std::move(texts);
  const uint32_t most = MaxTokens(model, program);
  const uint32_t limit = max_length == 0 ? most : std::min(most, max_length);
  for (const std::string& text : run.texts) {
    run.tokens.push_back(tokenizer.Encode(text, limit == UINT32_MAX ? 0 : limit));
  }
  const Batch batch = BatchFromTokens(model, program, run.tokens);
  SessionRequest request;
  request.program = program;
  request.workers = workers;
  request.limits = ExactLimits(model, batch);
  run.session = std::make_unique<Session>(model, request);
  Bind(batch, run.session.get());
  run.session->Run();
  return run;
}

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_COMMON_ENGINE_H_
