// Answers to a question as spans of a context, by the rules of transformers' QuestionAnsweringPipeline.
#ifndef FOVEA_TOOLS_PREDICTION_ANSWERS_H_
#define FOVEA_TOOLS_PREDICTION_ANSWERS_H_

#include <stdint.h>

#include <string>
#include <vector>

namespace fovea::tools {

struct AnswerToken {
  bool in_context;
  uint32_t begin, end;  // bytes of the context
  bool continues;       // the word of the token before
};

// A question with the context or a part of it, and each token's scores: the answer starts here, ends here.
struct AnswerWindow {
  std::vector<AnswerToken> tokens;
  bool first_is_special;  // its scores mean that there is no answer
  std::vector<double> starts, ends;
};

struct AnswerRules {
  uint32_t top = 1;
  uint32_t longest = 15;    // tokens of an answer
  bool allow_none = false;  // "no answer" counts as an answer
};

struct Answer {
  double score;         // probability of the start times that of the end
  uint32_t begin, end;  // bytes of the context; equal: there is no answer
};

// The best answers of all windows, the best first. An answer consists of whole words. Equal texts, regardless of ASCII
// case, are one answer, with the sum of their scores. Spans of score 0 are left out, unlike in the original.
std::vector<Answer> FindAnswers(const std::string& context, const std::vector<AnswerWindow>& windows,
                                const AnswerRules& rules);

// Whether two neighbouring parts of a text without a space between them belong to one word of GPT-2's pre-tokenizer:
// letters, digits and other characters form separate words. `at`: the byte at which the second part begins.
bool IsInsideWord(const std::string& text, size_t at);

// Code points before byte `at`.
uint32_t CharactersBefore(const std::string& text, uint32_t at);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_PREDICTION_ANSWERS_H_
