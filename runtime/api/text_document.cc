// Splits documents into sentences and encodes them.
#include "runtime/api/handles.h"
#include "runtime/api/text_calls.h"
#include "runtime/model/find.h"
#include "runtime/text/sentences.h"
#include "runtime/text/utf8.h"

namespace fovea {
namespace {

// The most sentences of a document; UINT32_MAX: unlimited.
uint32_t MostSentences(const Model& model) {
  const Blob& blob = model.blob;
  for (uint32_t p = 0; p < blob.programs.count; ++p) {
    const ProgramRecord& program = blob.programs[p];
    const uint32_t value = FindValue(model, program, "input_ids");
    if (value == kBlobNone) continue;
    const uint32_t sentences = blob.spaces[blob.values[program.first_value + value].space].parent;
    if (sentences != kBlobNone && blob.spaces[sentences].parent != kBlobNone) return model.max_segment_rows[sentences];
  }
  return UINT32_MAX;
}

// The rest of the caller's arrays, after `used` entries.
text::TokenArrays After(const fovea_text_tokens& tokens, uint64_t used, uint64_t origin) {
  text::TokenArrays arrays;
  arrays.origin = static_cast<uint32_t>(origin);
  if (used >= tokens.capacity) return arrays;
  if (tokens.ids != nullptr) arrays.ids = tokens.ids + used;
  if (tokens.types != nullptr) arrays.types = tokens.types + used;
  if (tokens.special != nullptr) arrays.special = tokens.special + used;
  if (tokens.ranges != nullptr) arrays.ranges = tokens.ranges + 2 * used;
  arrays.capacity = tokens.capacity - used;
  return arrays;
}

struct DocumentOptions {
  text::EncodeOptions encode;
  bool wrapped = false;
  uint64_t max_sentences = 0;
};

Status CheckCall(const fovea_model* model, text::TextInput text, const fovea_text_encode_options* from,
                 const void* scratch, uint64_t scratch_size, const fovea_text_tokens* tokens,
                 const fovea_text_sentences* sentences, Reporter& reporter, DocumentOptions* options,
                 const Tokenizer** tokenizer) {
  FOVEA_TRY(FindTokenizer(model, reporter, tokenizer));
  if ((text.size != 0 && text.bytes == nullptr) || (scratch == nullptr && scratch_size != 0)) {
    return reporter.Fail(FOVEA_E_NULL, "the text or the scratch is NULL");
  }
  FOVEA_TRY(CheckTokens(tokens, reporter));
  FOVEA_TRY(CheckStructs(sentences, 1, "sentences is NULL", "struct_size of the sentences is wrong", reporter));
  if (sentences->lengths == nullptr && sentences->capacity != 0) {
    return reporter.Fail(FOVEA_E_NULL, "the array of sentence lengths is NULL");
  }
  fovea_text_encode_options given;
  FOVEA_TRY(ReadStruct(from, &given, reporter));
  if (given.stride != 0 || given.window != 0) {
    return reporter.Fail(FOVEA_E_OPTION, "stride and window must be 0 for documents");
  }
  constexpr uint32_t kFlags = FOVEA_TEXT_PLAIN | FOVEA_TEXT_CUT_LEFT | FOVEA_TEXT_UNLIMITED | FOVEA_TEXT_WRAPPED;
  FOVEA_TRY(ReadEncodeOptions(**tokenizer, given, kFlags, reporter, &options->encode));
  options->wrapped = (given.flags & FOVEA_TEXT_WRAPPED) != 0;
  options->max_sentences = given.max_sentences != 0 ? given.max_sentences : MostSentences(model->model);
  if (text.size >= uint64_t{1} << 31) {
    return reporter.Fail(FOVEA_E_LENGTH, "the document is too long", (uint64_t{1} << 31) - 1, text.size);
  }
  const uint64_t invalid = text::FirstInvalidByte(text.bytes, text.size);
  if (invalid != text.size) return reporter.Fail(FOVEA_E_UTF8, "the text is not valid UTF-8", 0, 0, invalid);
  return kOk;
}

Status EncodeDocument(const fovea_model* model, text::TextInput text, const fovea_text_encode_options* from,
                      void* scratch, uint64_t scratch_size, fovea_text_tokens* tokens, fovea_text_sentences* sentences,
                      Reporter& reporter) {
  const Tokenizer* tokenizer = nullptr;
  DocumentOptions options;
  FOVEA_TRY(CheckCall(model, text, from, scratch, scratch_size, tokens, sentences, reporter, &options, &tokenizer));
  uint64_t count = 0, found = 0, dropped = 0, uncut = 0;
  text::SentenceRange range;
  while (text::NextSentence(text.bytes, text.size, range.end, options.wrapped, &range)) {
    if (found == options.max_sentences) {
      ++dropped;
      continue;
    }
    text::TokenArrays arrays = After(*tokens, count, range.begin);
    text::EncodeResult result;
    fovea_error error;  // too many tokens are reported after counting all of them
    Reporter inner(&error);
    const Status status = text::Encode(*tokenizer, {text.bytes + range.begin, range.end - range.begin}, nullptr,
                                       options.encode, scratch, scratch_size, inner, &arrays, &result);
    if (!status.ok() && status.code != FOVEA_E_CAPACITY) {
      return reporter.Fail(status.code, error.text, error.expected, error.found, error.index);
    }
    if (result.tokens[0] == 0) continue;
    if (found < sentences->capacity) {
      sentences->lengths[found] = static_cast<uint32_t>(arrays.count);
      if (sentences->ranges != nullptr) {
        sentences->ranges[2 * found] = static_cast<uint32_t>(range.begin);
        sentences->ranges[2 * found + 1] = static_cast<uint32_t>(range.end);
      }
    }
    ++found;
    count += arrays.count;
    uncut += result.tokens[0];
  }
  tokens->count = count;
  tokens->windows = 1;
  tokens->text_tokens[0] = uncut;
  tokens->text_tokens[1] = 0;
  sentences->count = found;
  sentences->dropped = dropped;
  if (count > tokens->capacity) {
    return reporter.Fail(FOVEA_E_CAPACITY, "the arrays are too small for the document's tokens", count,
                         tokens->capacity);
  }
  if (found > sentences->capacity) {
    return reporter.Fail(FOVEA_E_CAPACITY, "the arrays are too small for the document's sentences", found,
                         sentences->capacity);
  }
  return kOk;
}

}  // namespace
}  // namespace fovea

extern "C" {

uint32_t fovea_text_sentence(const char* text, uint64_t size, uint32_t flags, uint64_t* begin, uint64_t* end) {
  if (text == nullptr || begin == nullptr || end == nullptr) return 0;
  fovea::text::SentenceRange range;
  const bool wrapped = (flags & FOVEA_TEXT_WRAPPED) != 0;
  if (!fovea::text::NextSentence(reinterpret_cast<const uint8_t*>(text), size, *end, wrapped, &range)) return 0;
  *begin = range.begin;
  *end = range.end;
  return 1;
}

fovea_status fovea_text_encode_document(const fovea_model* model, const char* text, uint64_t size,
                                        const fovea_text_encode_options* options, void* scratch, uint64_t scratch_size,
                                        fovea_text_tokens* tokens, fovea_text_sentences* sentences,
                                        fovea_error* error) {
  fovea::Reporter reporter(error);
  return fovea::EncodeDocument(model, {reinterpret_cast<const uint8_t*>(text), size}, options, scratch, scratch_size,
                               tokens, sentences, reporter)
      .code;
}

}  // extern "C"
