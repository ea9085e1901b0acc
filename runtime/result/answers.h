// Answers to a question as spans of a context, by the rules of transformers' QuestionAnsweringPipeline.
#ifndef FOVEA_RUNTIME_RESULT_ANSWERS_H_
#define FOVEA_RUNTIME_RESULT_ANSWERS_H_

#include "fovea/result.h"
#include "runtime/base/profile.h"
#include "runtime/base/structs.h"
#include "runtime/text/tokenizer.h"

namespace fovea {

inline constexpr bool kHasAnswers = Includes("part", "answers");  // windows of pairs, spans that answer a question

// Copies a window of a pair (fovea_result_get_window). The arrays of the pair that `out` has are not null.
Status CutWindow(const fovea_text_tokens& pair, uint32_t max_length, uint32_t stride, uint64_t window,
                 Reporter& reporter, fovea_text_tokens* out);

// A question with a context in windows. `scores`: [tokens of all windows, 2]; ids and ranges of the context's tokens
// have been checked.
struct Asked {
  const Tokenizer& tokenizer;
  Structs<fovea_text_tokens> windows;
  uint32_t window_count;
  const float* scores;
  const char* context;
  uint64_t size;
};

// As fovea_result_get_answers; `answers`: [window_count * top + 1], of which it returns how many are results.
uint64_t FindAnswers(const Asked& asked, const fovea_answer_options& options, fovea_answer* answers);

// Whether two parts of a text without a space between them belong to one word of GPT-2's pre-tokenizer: letters, digits
// and other characters form separate words. `at`: the byte at which the second part begins, after the first byte.
bool IsInsideWord(const char* text, uint64_t size, uint64_t at);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_RESULT_ANSWERS_H_
