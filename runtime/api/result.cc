// Implements fovea/result.h.
#include "fovea/result.h"

#include <math.h>

#include "runtime/api/handles.h"
#include "runtime/api/text_calls.h"
#include "runtime/model/find.h"
#include "runtime/result/describe.h"
#include "runtime/result/pool.h"
#include "runtime/result/rank.h"
#include "runtime/result/read.h"
#include "runtime/result/spans.h"
#include "runtime/result/words.h"

namespace fovea {
namespace {

Status ReadInfo(const fovea_session* session, const fovea_result_info* given, fovea_result_info* info,
                Reporter& reporter) {
  if (!IsLive(session)) return reporter.Fail(FOVEA_E_HANDLE, "invalid session handle");
  if (given == nullptr) return reporter.Fail(FOVEA_E_NULL, "info is NULL");
  return ReadStruct(given, info, reporter);
}

Status GetInfo(const fovea_model* model, uint32_t program, const char* output, fovea_result_info* out,
               Reporter& reporter) {
  if (!IsLive(model)) return reporter.Fail(FOVEA_E_HANDLE, "invalid model handle");
  if (out == nullptr) return reporter.Fail(FOVEA_E_NULL, "info is NULL");
  FOVEA_TRY(CheckStructSize(*out, reporter));
  fovea_result_info info{};
  FOVEA_TRY(DescribeResult(model->model, program, output, reporter, &info));
  return WriteStruct(info, out);
}

Status Read(const fovea_session* session, const fovea_result_info* given, uint32_t first, uint32_t count, float* out,
            uint64_t capacity, Reporter& reporter) {
  fovea_result_info info;
  FOVEA_TRY(ReadInfo(session, given, &info, reporter));
  if (out == nullptr && capacity != 0) return reporter.Fail(FOVEA_E_NULL, "out is NULL");
  return ReadResults(*session->session, info, first, count, out, capacity, reporter);
}

Status GetSpans(const fovea_model* model, const float* scores, uint32_t labels, const fovea_text_tokens* tokens,
                const char* text, uint64_t size, uint32_t aggregation, fovea_span* spans, uint64_t capacity,
                uint64_t* count, Reporter& reporter) {
  const Tokenizer* tokenizer = nullptr;
  FOVEA_TRY(FindTokenizer(model, reporter, &tokenizer));
  FOVEA_TRY(CheckTokens(tokens, reporter));
  if (count == nullptr || (spans == nullptr && capacity != 0)) {
    return reporter.Fail(FOVEA_E_NULL, "spans or count is NULL");
  }
  *count = 0;
  if (tokens->count != 0 && (scores == nullptr || tokens->ids == nullptr || (text == nullptr && size != 0))) {
    return reporter.Fail(FOVEA_E_NULL, "scores, text or the ids of the tokens are NULL");
  }
  if (aggregation > FOVEA_AGGREGATION_MAX) return reporter.Fail(FOVEA_E_OPTION, "the aggregation does not exist");
  if (labels == 0) return reporter.Fail(FOVEA_E_OPTION, "there are no labels");
  FOVEA_TRY(CheckRanges(*tokens, 0, tokens->count, size, reporter));
  FOVEA_TRY(CheckIds(*tokenizer, *tokens, 0, tokens->count, reporter));
  *count = MergeTags({model->model.blob, *tokenizer, *tokens, text, scores, labels}, aggregation, spans, capacity);
  if (*count <= capacity) return kOk;
  return reporter.Fail(FOVEA_E_CAPACITY, "the array of spans is too small", *count, capacity);
}

Status GetTap(const fovea_model* model, uint32_t program, uint32_t space, fovea_tap* out, Reporter& reporter) {
  if (!IsLive(model)) return reporter.Fail(FOVEA_E_HANDLE, "invalid model handle");
  if (out == nullptr) return reporter.Fail(FOVEA_E_NULL, "tap is NULL");
  FOVEA_TRY(CheckStructSize(*out, reporter));
  fovea_tap tap{};
  FOVEA_TRY(FindExplainingTap(model->model, program, space, reporter, &tap));
  return WriteStruct(tap, out);
}

Status GetWeights(const fovea_session* session, uint32_t tap, uint32_t space, float* weights, uint64_t capacity,
                  fovea_error* error, Reporter& reporter) {
  fovea_attention_map map = FOVEA_ATTENTION_MAP_INIT;
  FOVEA_TRY(fovea_session_get_attention_map(session, tap, &map, error));
  const Session& s = *session->session;
  const uint32_t spaces = s.model->blob.spaces.count;
  if (space >= spaces || !s.spaces[space].used) {
    return reporter.Fail(FOVEA_E_INDEX, "the space does not exist in the program", spaces, space);
  }
  const uint32_t rows = s.space_rows[space].rows;
  if (weights == nullptr && rows != 0) return reporter.Fail(FOVEA_E_NULL, "weights is NULL");
  if (capacity < rows) return reporter.Fail(FOVEA_E_CAPACITY, "the array of weights is too small", rows, capacity);
  return ReadWeights(s, map, space, reporter, weights);
}

Status GetWords(const char* text, uint64_t size, const fovea_text_tokens* tokens, uint64_t first, uint64_t count,
                const float* weights, fovea_word* words, uint64_t capacity, uint64_t* word_count, Reporter& reporter) {
  FOVEA_TRY(CheckTokens(tokens, reporter));
  if (word_count == nullptr || (words == nullptr && capacity != 0)) {
    return reporter.Fail(FOVEA_E_NULL, "words or word_count is NULL");
  }
  *word_count = 0;
  if ((text == nullptr && size != 0) || (weights == nullptr && count != 0)) {
    return reporter.Fail(FOVEA_E_NULL, "text or weights is NULL");
  }
  FOVEA_TRY(CheckRanges(*tokens, first, count, size, reporter));
  *word_count = MergeWords(text, size, *tokens, first, count, weights, words, capacity);
  if (*word_count <= capacity) return kOk;
  return reporter.Fail(FOVEA_E_CAPACITY, "the array of words is too small", *word_count, capacity);
}

}  // namespace
}  // namespace fovea

using namespace fovea;  // NOLINT: this file is the border

extern "C" {

fovea_status fovea_result_get_info(const fovea_model* model, uint32_t program, const char* output,
                                   fovea_result_info* info, fovea_error* error) {
  Reporter reporter(error);
  return GetInfo(model, program, output, info, reporter).code;
}

fovea_status fovea_result_get_count(const fovea_session* session, const fovea_result_info* info, uint32_t* count,
                                    fovea_error* error) {
  Reporter reporter(error);
  fovea_result_info read;
  const Status status = ReadInfo(session, info, &read, reporter);
  if (!status.ok()) return status.code;
  if (count == nullptr) return reporter.Fail(FOVEA_E_NULL, "count is NULL").code;
  return CountResults(*session->session, read, reporter, count).code;
}

fovea_status fovea_result_read(const fovea_session* session, const fovea_result_info* info, uint32_t first,
                               uint32_t count, float* out, uint64_t capacity, fovea_error* error) {
  Reporter reporter(error);
  return Read(session, info, first, count, out, capacity, reporter).code;
}

fovea_status fovea_result_activate(uint32_t activation, float* scores, uint32_t count) {
  if (scores == nullptr && count != 0) return FOVEA_E_NULL;
  if (activation > FOVEA_ACTIVATION_LOG1P_TWICE) return FOVEA_E_OPTION;
  Activate(activation, scores, count);
  return FOVEA_OK;
}

fovea_status fovea_result_pool(uint32_t pooling, uint32_t activation, const float* rows, uint64_t count, uint32_t width,
                               float* out) {
  if ((rows == nullptr && count != 0 && width != 0) || (out == nullptr && width != 0)) return FOVEA_E_NULL;
  if (pooling == FOVEA_POOLING_NONE || !CanPool(pooling, activation)) return FOVEA_E_OPTION;
  PoolRows(pooling, activation, {reinterpret_cast<const uint8_t*>(rows), width * sizeof(float), count}, width, out);
  return FOVEA_OK;
}

uint32_t fovea_result_rank(const float* scores, uint32_t count, uint32_t top, uint32_t* indices) {
  return scores == nullptr || indices == nullptr ? 0 : Rank(scores, count, top, indices);
}

double fovea_result_similarity(uint32_t measure, const float* a, uint32_t a_rows, const float* b, uint32_t b_rows,
                               uint32_t width) {
  if (a == nullptr || b == nullptr) return static_cast<double>(NAN);
  return Similarity(measure, {a, a_rows}, {b, b_rows}, width);
}

fovea_status fovea_result_get_spans(const fovea_model* model, const float* scores, uint32_t labels,
                                    const fovea_text_tokens* tokens, const char* text, uint64_t size,
                                    uint32_t aggregation, fovea_span* spans, uint64_t capacity, uint64_t* count,
                                    fovea_error* error) {
  Reporter reporter(error);
  return GetSpans(model, scores, labels, tokens, text, size, aggregation, spans, capacity, count, reporter).code;
}

fovea_status fovea_result_get_explaining_tap(const fovea_model* model, uint32_t program, uint32_t space, fovea_tap* tap,
                                             fovea_error* error) {
  Reporter reporter(error);
  return GetTap(model, program, space, tap, reporter).code;
}

fovea_status fovea_result_read_weights(const fovea_session* session, uint32_t tap, uint32_t space, float* weights,
                                       uint64_t capacity, fovea_error* error) {
  Reporter reporter(error);
  return GetWeights(session, tap, space, weights, capacity, error, reporter).code;
}

fovea_status fovea_result_get_words(const char* text, uint64_t size, const fovea_text_tokens* tokens, uint64_t first,
                                    uint64_t count, const float* weights, fovea_word* words, uint64_t capacity,
                                    uint64_t* word_count, fovea_error* error) {
  Reporter reporter(error);
  return GetWords(text, size, tokens, first, count, weights, words, capacity, word_count, reporter).code;
}

}  // extern "C"
