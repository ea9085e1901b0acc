// Runs texts through a program in one call: tokens, session, run.
#ifndef FOVEA_TOOLS_TEXT_TEXT_RUN_H_
#define FOVEA_TOOLS_TEXT_TEXT_RUN_H_

#include <memory>
#include <string>
#include <vector>

#include "tools/model/session.h"
#include "tools/text/tokenizer.h"

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

struct TextPair {
  std::string first, second;
};

// Runs all pairs as one ragged batch; `texts` are the first ones.
TextRun RunPairs(const Model& model, const Tokenizer& tokenizer, uint32_t program, const std::vector<TextPair>& pairs,
                 const TextRunOptions& options, PairCut cut = PairCut::kLongest);

// Runs all texts as one ragged batch.
TextRun RunTexts(const Model& model, const Tokenizer& tokenizer, uint32_t program, std::vector<std::string> texts,
                 const TextRunOptions& options);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_TEXT_TEXT_RUN_H_
