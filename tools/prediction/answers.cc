// Answers to a question as spans of a context.
#include "tools/prediction/answers.h"

#include <list>

#include "tools/model/library_error.h"
#include "tools/text/token_arrays.h"

namespace fovea::tools {

std::vector<fovea_answer> FindAnswers(const Model& model, const std::string& context,
                                      const std::vector<AnswerWindow>& windows, const fovea_answer_options& options) {
  std::list<TokenArrays> arrays;
  std::vector<fovea_text_tokens> tokens;
  std::vector<float> scores;
  for (const AnswerWindow& window : windows) {
    tokens.push_back(*arrays.emplace_back(window.tokens).get());
    scores.insert(scores.end(), window.scores.begin(), window.scores.end());
  }
  std::vector<fovea_answer> answers;
  uint64_t count = 0;
  fovea_error error = {};
  const auto find = [&] {
    return fovea_result_get_answers(model.get(), tokens.data(), static_cast<uint32_t>(tokens.size()), scores.data(),
                                    context.data(), context.size(), &options, answers.data(), answers.size(), &count,
                                    &error);
  };
  fovea_status status = find();
  if (status == FOVEA_E_CAPACITY) {
    answers.resize(error.expected);
    status = find();
  }
  Check(status, error, model.name());
  answers.resize(count);
  return answers;
}

uint32_t CharactersBefore(const std::string& text, uint32_t at) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < at && i < text.size(); ++i) count += (static_cast<uint8_t>(text[i]) & 0xc0) == 0x80 ? 0 : 1;
  return count;
}

}  // namespace fovea::tools
