#include "tools/text/text_run.h"

#include <utility>

#include "tools/base/fail.h"
#include "tools/text/text_inputs.h"

namespace fovea::tools {

namespace {

void RunTokens(const Model& model, uint32_t program, const TextRunOptions& options, TextRun& run) {
  const Batch batch = BatchFromTokens(model, program, run.tokens);
  SessionRequest request;
  request.program = program;
  request.workers = options.workers;
  request.taps = options.taps;
  run.session = std::make_unique<Session>(SessionFor(model, batch, request));
  run.session->Run();
}

}  // namespace

TextRun RunPairs(const Model& model, const Tokenizer& tokenizer, uint32_t program, const std::vector<TextPair>& pairs,
                 const TextRunOptions& options, PairCut cut) {
  if (pairs.empty()) Fail("no text given");
  TextRun run;
  for (const TextPair& pair : pairs) {
    run.texts.push_back(pair.first);
    run.tokens.push_back(EncodePairFor(model, tokenizer, program, pair.first, pair.second, options.max_length, cut));
  }
  RunTokens(model, program, options, run);
  return run;
}

TextRun RunTexts(const Model& model, const Tokenizer& tokenizer, uint32_t program, std::vector<std::string> texts,
                 const TextRunOptions& options) {
  if (texts.empty()) Fail("no text given");
  TextRun run;
  run.texts = std::move(texts);
  for (const std::string& text : run.texts) {
    run.tokens.push_back(EncodeFor(model, tokenizer, program, text, options.max_length, options.wrapped));
  }
  RunTokens(model, program, options, run);
  return run;
}

}  // namespace fovea::tools
