// Runs texts through a program in one call: tokens, session, run.
#ifndef FOVEA_TOOLS_TEXT_TEXT_RUN_H_
#define FOVEA_TOOLS_TEXT_TEXT_RUN_H_

#include <memory>
#include <string>
#include <vector>

#include "tools/text/text.h"

namespace fovea::tools {

struct TextRun {
  std::vector<std::string> texts;
  std::vector<Tokens> tokens;
  std::unique_ptr<Session> session;  // has run
};

struct TextRunOptions {
  uint32_t workers = 1;
  uint32_t max_length = 0;  // tokens of a text or sentence; 0: the model's maximum
  bool wrapped = false;     // lines of documents are wrapped, so a line end does not end a sentence
  std::vector<fovea_tap> taps = {};
};

// Runs all texts as one ragged batch.
inline TextRun RunTexts(const Model& model, const Tokenizer& tokenizer, uint32_t program,
                        std::vector<std::string> texts, const TextRunOptions& options) {
  if (texts.empty()) Fail("no text given");
  TextRun run;
  run.texts = std::move(texts);
  for (const std::string& text : run.texts) {
    run.tokens.push_back(EncodeFor(model, tokenizer, program, text, options.max_length, options.wrapped));
  }
  const Batch batch = BatchFromTokens(model, program, run.tokens);
  SessionRequest request;
  request.program = program;
  request.workers = options.workers;
  request.taps = options.taps;
  run.session = std::make_unique<Session>(SessionFor(model, batch, request));
  run.session->Run();
  return run;
}

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_TEXT_TEXT_RUN_H_
