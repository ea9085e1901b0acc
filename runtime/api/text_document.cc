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

// The arguments of fovea_text_encode_document.
struct DocumentCall {
  const fovea_model* model;
  text::TextInput text;
  const fovea_text_encode_options* options;
  void* scratch;
  uint64_t scratch_size;
  fovea_text_tokens* tokens;
  fovea_text_sentences* sentences;
};

struct DocumentOptions {
  const Tokenizer* tokenizer = nullptr;
  text::EncodeOptions encode;
  bool wrapped = false;
  uint64_t max_sentences = 0;
};

Status CheckArrays(const DocumentCall& call, Reporter& reporter) {
  if ((call.text.size != 0 && call.text.bytes == nullptr) || (call.scratch == nullptr && call.scratch_size != 0)) {
    return reporter.Fail(FOVEA_E_NULL, "the text or the scratch is NULL");
  }
  FOVEA_TRY(CheckTokens(call.tokens, reporter));
  FOVEA_TRY(CheckStructs(call.sentences, 1, "sentences is NULL", "struct_size of the sentences is wrong", reporter));
  if (call.sentences->lengths != nullptr || call.sentences->capacity == 0) return kOk;
  return reporter.Fail(FOVEA_E_NULL, "the array of sentence lengths is NULL");
}

Status CheckCall(const DocumentCall& call, Reporter& reporter, DocumentOptions* options) {
  FOVEA_TRY(FindTokenizer(call.model, reporter, &options->tokenizer));
  FOVEA_TRY(CheckArrays(call, reporter));
  fovea_text_encode_options given;
  FOVEA_TRY(ReadStruct(call.options, &given, reporter));
  if (given.stride != 0 || given.window != 0) {
    return reporter.Fail(FOVEA_E_OPTION, "stride and window must be 0 for documents");
  }
  constexpr uint32_t kFlags =
      FOVEA_TEXT_PLAIN | FOVEA_TEXT_CUT_LEFT | FOVEA_TEXT_UNLIMITED | FOVEA_TEXT_WRAPPED | FOVEA_TEXT_LITERAL;
  FOVEA_TRY(ReadEncodeOptions(*options->tokenizer, given, kFlags, reporter, &options->encode));
  options->wrapped = (given.flags & FOVEA_TEXT_WRAPPED) != 0;
  options->max_sentences = given.max_sentences != 0 ? given.max_sentences : MostSentences(call.model->model);
  const text::TextInput& text = call.text;
  if (text.size >= uint64_t{1} << 31) {
    return reporter.Fail(FOVEA_E_LENGTH, "the document is too long", (uint64_t{1} << 31) - 1, text.size);
  }
  const uint64_t invalid = text::FirstInvalidByte(text.bytes, text.size);
  if (invalid != text.size) return reporter.Fail(FOVEA_E_UTF8, "the text is not valid UTF-8", 0, 0, invalid);
  return kOk;
}

// Counts of a document, also of what the caller's arrays cannot hold.
struct DocumentCounts {
  uint64_t tokens = 0, uncut_tokens = 0;  // in all sentences; before truncation, without special tokens
  uint64_t sentences = 0, dropped = 0;
  uint64_t spelled = 0;  // special tokens that the document spells
};

// Encodes a sentence behind the tokens before it. A sentence without tokens counts as none.
Status EncodeSentence(const DocumentCall& call, const DocumentOptions& options, const text::SentenceRange& range,
                      DocumentCounts* counts, Reporter& reporter) {
  text::TokenArrays arrays = After(*call.tokens, counts->tokens, range.begin);
  text::EncodeResult result;
  fovea_error error;  // too many tokens are reported after counting all of them
  Reporter inner(&error);
  const text::TextInput text = {call.text.bytes + range.begin, range.end - range.begin};
  const text::EncodeRequest request = {*options.tokenizer, {text, {}},   1,
                                       options.encode,     call.scratch, call.scratch_size};
  const Status status = text::Encode(request, inner, &arrays, &result);
  if (!status.ok() && status.code != FOVEA_E_CAPACITY) {
    return reporter.Fail(status.code, error.text, error.expected, error.found, error.index);
  }
  if (result.tokens[0] == 0) return kOk;
  fovea_text_sentences& sentences = *call.sentences;
  if (counts->sentences < sentences.capacity) {
    sentences.lengths[counts->sentences] = static_cast<uint32_t>(arrays.count);
    if (sentences.ranges != nullptr) {
      sentences.ranges[2 * counts->sentences] = static_cast<uint32_t>(range.begin);
      sentences.ranges[2 * counts->sentences + 1] = static_cast<uint32_t>(range.end);
    }
  }
  ++counts->sentences;
  counts->tokens += arrays.count;
  counts->uncut_tokens += result.tokens[0];
  counts->spelled += arrays.spelled;
  return kOk;
}

// Fills the caller's counts and checks that the arrays were large enough.
Status WriteCounts(const DocumentCounts& counts, fovea_text_tokens* tokens, fovea_text_sentences* sentences,
                   Reporter& reporter) {
  tokens->count = counts.tokens;
  tokens->windows = 1;
  tokens->text_tokens[0] = counts.uncut_tokens;
  tokens->text_tokens[1] = 0;
  SetSpelled(counts.spelled, tokens);
  sentences->count = counts.sentences;
  sentences->dropped = counts.dropped;
  if (counts.tokens > tokens->capacity) {
    return reporter.Fail(FOVEA_E_CAPACITY, "the arrays are too small for the document's tokens", counts.tokens,
                         tokens->capacity);
  }
  if (counts.sentences > sentences->capacity) {
    return reporter.Fail(FOVEA_E_CAPACITY, "the arrays are too small for the document's sentences", counts.sentences,
                         sentences->capacity);
  }
  return kOk;
}

Status EncodeDocument(const DocumentCall& call, Reporter& reporter) {
  DocumentOptions options;
  FOVEA_TRY(CheckCall(call, reporter, &options));
  DocumentCounts counts;
  text::SentenceRange range;
  while (text::NextSentence(call.text.bytes, call.text.size, range.end, options.wrapped, &range)) {
    if (counts.sentences == options.max_sentences) {
      ++counts.dropped;
    } else {
      FOVEA_TRY(EncodeSentence(call, options, range, &counts, reporter));
    }
  }
  return WriteCounts(counts, call.tokens, call.sentences, reporter);
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
  return fovea::EncodeDocument(
             {model, {reinterpret_cast<const uint8_t*>(text), size}, options, scratch, scratch_size, tokens, sentences},
             reporter)
      .code;
}

}  // extern "C"
