// Answers to a question as spans of a context, found by the library.
#ifndef FOVEA_TOOLS_PREDICTION_ANSWERS_H_
#define FOVEA_TOOLS_PREDICTION_ANSWERS_H_

#include <stdint.h>

#include <string>
#include <vector>

#include "fovea/result.h"
#include "tools/model/model.h"
#include "tools/text/tokenizer.h"

namespace fovea::tools {

// A window of a pair (SplitSecond), and its tokens' scores, [tokens, 2]: an answer starts there, ends there.
struct AnswerWindow {
  Tokens tokens;
  std::vector<float> scores;
};

// The best answers of all windows, the best first (fovea_result_get_answers).
std::vector<fovea_answer> FindAnswers(const Model& model, const std::string& context,
                                      const std::vector<AnswerWindow>& windows, const fovea_answer_options& options);

// Code points before byte `at`.
uint32_t CharactersBefore(const std::string& text, uint32_t at);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_PREDICTION_ANSWERS_H_
