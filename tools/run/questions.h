// Answers to a question about a text of any length.
#ifndef FOVEA_TOOLS_RUN_QUESTIONS_H_
#define FOVEA_TOOLS_RUN_QUESTIONS_H_

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "tools/base/print.h"
#include "tools/prediction/answers.h"
#include "tools/text/tokenizer.h"

namespace fovea::tools {

struct QuestionOptions {
  fovea_answer_options answers = FOVEA_ANSWER_OPTIONS_INIT;
  std::string program;
  uint32_t workers = 1;
  uint32_t max_length = 0;         // tokens of question and context; 0: 384, or the model's maximum if that is less
  std::optional<uint32_t> stride;  // tokens that neighbouring windows share; absent: 128, or half of max_length
};

// Parts of the second text of an untruncated pair, each with the first text, of at most `limit` tokens in all;
// neighbours share `shared` tokens of the second text. Fails if the first text leaves no more room than that.
std::vector<Tokens> SplitSecond(const Tokens& pair, uint32_t limit, uint32_t shared);

// {"question", "context", "tokens", "windows", "answers"}: each answer with "text", "score", and its place in the
// context: "begin", "end" in bytes, "begin_character", "end_character" in code points. No answer is an empty text.
OrderedJson AnswerQuestion(const Model& model, const Tokenizer& tokenizer, const std::string& question,
                           const std::string& context, const QuestionOptions& options);

void PrintAnswers(std::ostream& out, const OrderedJson& entry);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_RUN_QUESTIONS_H_
