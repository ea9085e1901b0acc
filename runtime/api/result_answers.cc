// Answers to questions of fovea/result.h.
#include "runtime/api/handles.h"
#include "runtime/api/text_calls.h"
#include "runtime/result/answers.h"
#include "runtime/result/tokens.h"

namespace fovea {
namespace {

using Windows = Structs<fovea_text_tokens>;

Status RefuseBuild(Reporter& reporter) {
  return reporter.Fail(FOVEA_E_BUILD, "this build's profile lacks part answers");
}

Status CheckPair(const fovea_text_tokens* pair, Reporter& reporter) {
  FOVEA_TRY(CheckTokens(pair, reporter));
  if (pair->count > pair->capacity) {
    return reporter.Fail(FOVEA_E_INDEX, "there are not as many tokens", pair->capacity, pair->count);
  }
  if (pair->special != nullptr || pair->count == 0) return kOk;
  return reporter.Fail(FOVEA_E_NULL, "special of the pair is NULL");
}

Status GetSecond(const fovea_text_tokens* pair, uint64_t* first, uint64_t* count, Reporter& reporter) {
  FOVEA_TRY(CheckPair(pair, reporter));
  if (first == nullptr || count == nullptr) return reporter.Fail(FOVEA_E_NULL, "first or count is NULL");
  const TokenRange second = SecondOf(*pair);
  *first = second.begin;
  *count = second.size();
  return kOk;
}

Status GetWindow(const fovea_text_tokens* pair, uint32_t max_length, uint32_t stride, uint64_t window,
                 fovea_text_tokens* out, Reporter& reporter) {
  if (!kHasAnswers) return RefuseBuild(reporter);
  FOVEA_TRY(CheckPair(pair, reporter));
  FOVEA_TRY(CheckTokens(out, reporter));
  const bool missing = (out->ids != nullptr && pair->ids == nullptr) ||
                       (out->types != nullptr && pair->types == nullptr) ||
                       (out->ranges != nullptr && pair->ranges == nullptr);
  if (missing && pair->count != 0) {
    return reporter.Fail(FOVEA_E_NULL, "the window has ids, types or ranges, which the pair has not");
  }
  return CutWindow(*pair, max_length, stride, window, reporter, out);
}

Status CheckWindow(const Tokenizer& tokenizer, const fovea_text_tokens& window, uint64_t size, Reporter& reporter) {
  FOVEA_TRY(CheckPair(&window, reporter));
  if (window.count != 0 && (window.ids == nullptr || window.ranges == nullptr)) {
    return reporter.Fail(FOVEA_E_NULL, "ids or ranges of a window are NULL");
  }
  const TokenRange context = SecondOf(window);
  FOVEA_TRY(CheckRanges(window, context.begin, context.size(), size, reporter));
  return CheckIds(tokenizer, window, context.begin, context.size(), reporter);
}

Status GetAnswers(const fovea_model* model, const fovea_text_tokens* windows, uint32_t window_count,
                  const float* scores, const char* context, uint64_t size, const fovea_answer_options* given,
                  fovea_answer* answers, uint64_t capacity, uint64_t* count, Reporter& reporter) {
  if (!kHasAnswers) return RefuseBuild(reporter);
  const Tokenizer* tokenizer = nullptr;
  FOVEA_TRY(FindTokenizer(model, reporter, &tokenizer));
  if (count == nullptr || (answers == nullptr && capacity != 0)) {
    return reporter.Fail(FOVEA_E_NULL, "answers or count is NULL");
  }
  *count = 0;
  if ((scores == nullptr && window_count != 0) || (context == nullptr && size != 0)) {
    return reporter.Fail(FOVEA_E_NULL, "scores or context is NULL");
  }
  fovea_answer_options options;
  FOVEA_TRY(ReadStruct(given, &options, reporter));
  FOVEA_TRY(CheckStructs(windows, window_count, "windows is NULL", "struct_size of the windows is wrong", reporter,
                         kLeastTokens));
  for (uint32_t i = 0; i < window_count; ++i) {
    FOVEA_TRY(CheckWindow(*tokenizer, Windows{windows}[i], size, reporter));
  }
  const uint64_t needed = uint64_t{window_count} * (options.top == 0 ? 1 : options.top) + 1;
  if (capacity < needed) return reporter.Fail(FOVEA_E_CAPACITY, "the array of answers is too small", needed, capacity);
  *count = FindAnswers({*tokenizer, {windows}, window_count, scores, context, size}, options, answers);
  return kOk;
}

}  // namespace
}  // namespace fovea

extern "C" {

fovea_status fovea_result_get_second(const fovea_text_tokens* pair, uint64_t* first, uint64_t* count,
                                     fovea_error* error) {
  fovea::Reporter reporter(error);
  return fovea::GetSecond(pair, first, count, reporter).code;
}

fovea_status fovea_result_get_window(const fovea_text_tokens* pair, uint32_t max_length, uint32_t stride,
                                     uint64_t window, fovea_text_tokens* out, fovea_error* error) {
  fovea::Reporter reporter(error);
  return fovea::GetWindow(pair, max_length, stride, window, out, reporter).code;
}

fovea_status fovea_result_get_answers(const fovea_model* model, const fovea_text_tokens* windows, uint32_t window_count,
                                      const float* scores, const char* context, uint64_t size,
                                      const fovea_answer_options* options, fovea_answer* answers, uint64_t capacity,
                                      uint64_t* count, fovea_error* error) {
  fovea::Reporter reporter(error);
  return fovea::GetAnswers(model, windows, window_count, scores, context, size, options, answers, capacity, count,
                           reporter)
      .code;
}

}  // extern "C"
