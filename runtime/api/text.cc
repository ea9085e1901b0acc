// Implements fovea/text.h: checks arguments, calls runtime/text, fills results.
#include "fovea/text.h"

#include <string.h>

#include "runtime/api/handles.h"
#include "runtime/api/text_calls.h"
#include "runtime/base/status.h"
#include "runtime/model/find.h"
#include "runtime/text/decoder.h"
#include "runtime/text/encoder.h"
#include "runtime/text/tokenizer.h"

namespace fovea {

Status FindTokenizer(const fovea_model* model, Reporter& reporter, const Tokenizer** tokenizer) {
  if (!IsLive(model)) return reporter.Fail(FOVEA_E_HANDLE, "invalid model handle");
  *tokenizer = TokenizerOf(model);
  return *tokenizer != nullptr ? kOk : reporter.Fail(FOVEA_E_SECTION, "the blob has no tokenizer");
}

Status CheckTokens(const fovea_text_tokens* tokens, Reporter& reporter) {
  if (tokens == nullptr) return reporter.Fail(FOVEA_E_NULL, "tokens is NULL");
  return CheckStructSize(*tokens, reporter, kLeastTokens);
}

void SetSpelled(uint64_t spelled, fovea_text_tokens* tokens) {
  if (tokens->struct_size >= sizeof(*tokens)) tokens->spelled = spelled;
}

Status CheckRanges(const fovea_text_tokens& tokens, uint64_t first, uint64_t count, uint64_t size, Reporter& reporter) {
  if (tokens.count > tokens.capacity || first > tokens.count || count > tokens.count - first) {
    return reporter.Fail(FOVEA_E_INDEX, "there are not as many tokens", tokens.count, first + count);
  }
  if (count != 0 && (tokens.special == nullptr || tokens.ranges == nullptr)) {
    return reporter.Fail(FOVEA_E_NULL, "special or ranges of the tokens are NULL");
  }
  for (uint64_t i = first; i < first + count; ++i) {
    const uint32_t begin = tokens.ranges[2 * i], end = tokens.ranges[2 * i + 1];
    if (begin > end || end > size) {
      return reporter.Fail(FOVEA_E_INDEX, "the range of a token is outside of the text", size, end, i);
    }
  }
  return kOk;
}

Status CheckIds(const Tokenizer& tokenizer, const fovea_text_tokens& tokens, uint64_t first, uint64_t count,
                Reporter& reporter) {
  for (uint64_t i = first; i < first + count; ++i) {
    const auto id = static_cast<uint32_t>(tokens.ids[i]);
    if (id >= tokenizer.size()) return reporter.Fail(FOVEA_E_ID, "a token id is out of range", tokenizer.size(), id, i);
  }
  return kOk;
}

Status ReadEncodeOptions(const Tokenizer& tokenizer, const fovea_text_encode_options& o, uint32_t flags,
                         Reporter& reporter, text::EncodeOptions* options) {
  if ((o.flags & ~flags) != 0 || o.truncation > FOVEA_TEXT_ONLY_SECOND ||
      ((o.flags & FOVEA_TEXT_UNLIMITED) != 0 && o.max_length != 0)) {
    return reporter.Fail(FOVEA_E_OPTION, "an encoding option is out of range");
  }
  options->special_tokens = (o.flags & FOVEA_TEXT_PLAIN) == 0;
  options->literal = (o.flags & FOVEA_TEXT_LITERAL) != 0;
  options->from_left = (o.flags & FOVEA_TEXT_CUT_LEFT) != 0 || (tokenizer.header.model_flags & text::kCutLeft) != 0;
  options->truncation = static_cast<text::Truncation>(o.truncation);
  options->stride = o.stride;
  options->window = o.window;
  const uint32_t limit = o.max_length != 0 ? o.max_length : tokenizer.header.max_length;
  if (limit != 0 && (o.flags & FOVEA_TEXT_UNLIMITED) == 0) options->max_length = limit;
  return kOk;
}

namespace {

uint32_t SpecialTokens(const text::Table<text::TemplateItem>& items, uint32_t texts) {
  return items.size == 0 ? 0 : items.size - texts;
}

int32_t OptionalId(uint32_t id) { return id == text::kNoId ? -1 : static_cast<int32_t>(id); }

Status GetInfo(const fovea_model* model, fovea_text_info* info, Reporter& reporter) {
  const Tokenizer* t = nullptr;
  FOVEA_TRY(FindTokenizer(model, reporter, &t));
  if (info == nullptr) return reporter.Fail(FOVEA_E_NULL, "info is NULL");
  FOVEA_TRY(CheckStructSize(*info, reporter));
  fovea_text_info filled = {};
  filled.kind = t->header.model;
  filled.vocabulary = t->header.vocabulary;
  filled.max_length = t->header.max_length;
  filled.single_special = SpecialTokens(t->single, 1);
  filled.pair_special = SpecialTokens(t->pair, 2);
  filled.unknown_id = OptionalId(t->header.unknown_id);
  filled.pad_id = OptionalId(t->header.pad_id);
  filled.mask_id = OptionalId(t->mask_id);
  return WriteStruct(filled, info);
}

Status ScratchSize(const fovea_model* model, uint64_t length, uint64_t* needed, Reporter& reporter) {
  const Tokenizer* t = nullptr;
  FOVEA_TRY(FindTokenizer(model, reporter, &t));
  if (needed == nullptr) return reporter.Fail(FOVEA_E_NULL, "needed is NULL");
  *needed = text::ScratchSize(*t, length);
  return *needed != UINT64_MAX ? kOk : reporter.Fail(FOVEA_E_LENGTH, "the text is too long to encode");
}

Status Encode(const fovea_model* model, text::TextInput first, text::TextInput second, bool pair,
              const fovea_text_encode_options* from, void* scratch, uint64_t scratch_size, fovea_text_tokens* tokens,
              Reporter& reporter) {
  const Tokenizer* t = nullptr;
  FOVEA_TRY(FindTokenizer(model, reporter, &t));
  if ((first.size != 0 && first.bytes == nullptr) || (scratch == nullptr && scratch_size != 0)) {
    return reporter.Fail(FOVEA_E_NULL, "the text or the scratch is NULL");
  }
  FOVEA_TRY(CheckTokens(tokens, reporter));
  fovea_text_encode_options given;
  FOVEA_TRY(ReadStruct(from, &given, reporter));
  if (given.max_sentences != 0) return reporter.Fail(FOVEA_E_OPTION, "max_sentences is only for documents");
  text::EncodeOptions options;
  constexpr uint32_t kFlags = FOVEA_TEXT_PLAIN | FOVEA_TEXT_CUT_LEFT | FOVEA_TEXT_UNLIMITED | FOVEA_TEXT_LITERAL;
  FOVEA_TRY(ReadEncodeOptions(*t, given, kFlags, reporter, &options));
  text::TokenArrays arrays{tokens->ids, tokens->types, tokens->special, tokens->ranges, tokens->capacity};
  text::EncodeResult result;
  const text::EncodeRequest request = {
      *t, {first, pair ? second : text::TextInput()}, pair ? 2u : 1u, options, scratch, scratch_size};
  const Status status = text::Encode(request, reporter, &arrays, &result);
  tokens->count = arrays.count;
  tokens->windows = result.windows;
  tokens->text_tokens[0] = result.tokens[0];
  tokens->text_tokens[1] = result.tokens[1];
  SetSpelled(arrays.spelled, tokens);
  return status;
}

Status Decode(const fovea_model* model, const int32_t* ids, uint64_t count, uint32_t flags, char* output,
              uint64_t capacity, uint64_t* written, Reporter& reporter) {
  const Tokenizer* t = nullptr;
  FOVEA_TRY(FindTokenizer(model, reporter, &t));
  if ((ids == nullptr && count != 0) || (output == nullptr && capacity != 0) || written == nullptr) {
    return reporter.Fail(FOVEA_E_NULL, "ids, output or written is NULL");
  }
  if ((flags & ~uint32_t{FOVEA_TEXT_KEEP_SPECIAL | FOVEA_TEXT_CLEAN_UP}) != 0) {
    return reporter.Fail(FOVEA_E_OPTION, "unknown decoding flag");
  }
  text::DecodeOptions options;
  options.skip_special = (flags & FOVEA_TEXT_KEEP_SPECIAL) == 0;
  options.clean_up = (flags & FOVEA_TEXT_CLEAN_UP) != 0;
  return text::Decode(*t, ids, count, options, reporter, reinterpret_cast<uint8_t*>(output), capacity, written);
}

Status DecodeNext(const fovea_model* model, fovea_text_stream* stream, const int32_t* ids, uint64_t count, bool last,
                  char* output, uint64_t capacity, uint64_t* written, Reporter& reporter) {
  const Tokenizer* t = nullptr;
  FOVEA_TRY(FindTokenizer(model, reporter, &t));
  if (stream == nullptr || (ids == nullptr && count != 0) || (output == nullptr && capacity != 0) ||
      written == nullptr) {
    return reporter.Fail(FOVEA_E_NULL, "the stream, ids, output or written is NULL");
  }
  FOVEA_TRY(CheckStructSize(*stream, reporter, sizeof(*stream)));
  if ((stream->flags & ~uint32_t{FOVEA_TEXT_KEEP_SPECIAL}) != 0) {
    return reporter.Fail(FOVEA_E_OPTION, "unknown decoding flag");
  }
  text::DecodeState state;
  static_assert(sizeof(state) <= sizeof(stream->state), "the stream must have room for the state");
  memcpy(&state, stream->state, sizeof(state));
  const bool skip_special = (stream->flags & FOVEA_TEXT_KEEP_SPECIAL) == 0;
  FOVEA_TRY(text::DecodeNext(*t, ids, count, skip_special, last, &state, reporter, reinterpret_cast<uint8_t*>(output),
                             capacity, written));
  memcpy(stream->state, &state, sizeof(state));
  return kOk;
}

Status Token(const fovea_model* model, int32_t id, const char** piece, uint32_t* size, uint32_t* special,
             Reporter& reporter) {
  const Tokenizer* t = nullptr;
  FOVEA_TRY(FindTokenizer(model, reporter, &t));
  if (piece == nullptr || size == nullptr) return reporter.Fail(FOVEA_E_NULL, "piece or size is NULL");
  if (id < 0 || static_cast<uint32_t>(id) >= t->size()) {
    return reporter.Fail(FOVEA_E_ID, "an id is not in the vocabulary", t->size(),
                         static_cast<uint64_t>(static_cast<int64_t>(id)));
  }
  const text::Bytes bytes = t->Piece(static_cast<uint32_t>(id));
  *piece = reinterpret_cast<const char*>(bytes.data);
  *size = bytes.size;
  if (special != nullptr) *special = (t->token_flags[static_cast<uint32_t>(id)] & text::kTokenSpecial) != 0 ? 1 : 0;
  return kOk;
}

Status FindPiece(const fovea_model* model, const char* piece, uint32_t size, int32_t* id, Reporter& reporter) {
  const Tokenizer* t = nullptr;
  FOVEA_TRY(FindTokenizer(model, reporter, &t));
  if (piece == nullptr || id == nullptr) return reporter.Fail(FOVEA_E_NULL, "piece or id is NULL");
  for (uint32_t i = 0; i < t->size(); ++i) {
    const text::Bytes bytes = t->Piece(i);
    if (bytes.size != size || (size != 0 && memcmp(bytes.data, piece, size) != 0)) continue;
    *id = static_cast<int32_t>(i);
    return kOk;
  }
  return reporter.Fail(FOVEA_E_NAME, "the piece is not in the vocabulary");
}

Status Prompt(const fovea_model* model, const char* name, const char** prompt, const char** chosen,
              Reporter& reporter) {
  if (!IsLive(model)) return reporter.Fail(FOVEA_E_HANDLE, "invalid model handle");
  if (prompt == nullptr) return reporter.Fail(FOVEA_E_NULL, "prompt is NULL");
  const Blob& blob = model->model.blob;
  const char* wanted = name != nullptr ? name : FindMetadata(blob, "default_prompt");
  *prompt = "";
  if (chosen != nullptr) *chosen = "";
  if (wanted == nullptr || (name == nullptr && *wanted == '\0')) return kOk;
  const char* found = FindMetadata(blob, "prompt.", wanted);
  if (found == nullptr) return reporter.Fail(FOVEA_E_NAME, "the model has no prompt of this name");
  *prompt = found;
  if (chosen != nullptr) *chosen = wanted;
  return kOk;
}

}  // namespace
}  // namespace fovea

extern "C" {

fovea_status fovea_text_get_info(const fovea_model* model, fovea_text_info* info, fovea_error* error) {
  fovea::Reporter reporter(error);
  return fovea::GetInfo(model, info, reporter).code;
}

fovea_status fovea_text_scratch_size(const fovea_model* model, uint64_t length, uint64_t* needed, fovea_error* error) {
  fovea::Reporter reporter(error);
  return fovea::ScratchSize(model, length, needed, reporter).code;
}

fovea_status fovea_text_encode(const fovea_model* model, const char* text, uint64_t size, const char* second,
                               uint64_t second_size, const fovea_text_encode_options* options, void* scratch,
                               uint64_t scratch_size, fovea_text_tokens* tokens, fovea_error* error) {
  fovea::Reporter reporter(error);
  return fovea::Encode(model, {reinterpret_cast<const uint8_t*>(text), size},
                       {reinterpret_cast<const uint8_t*>(second), second_size}, second != nullptr, options, scratch,
                       scratch_size, tokens, reporter)
      .code;
}

fovea_status fovea_text_decode(const fovea_model* model, const int32_t* ids, uint64_t count, uint32_t flags,
                               char* output, uint64_t capacity, uint64_t* written, fovea_error* error) {
  fovea::Reporter reporter(error);
  return fovea::Decode(model, ids, count, flags, output, capacity, written, reporter).code;
}

fovea_status fovea_text_decode_next(const fovea_model* model, fovea_text_stream* stream, const int32_t* ids,
                                    uint64_t count, char* output, uint64_t capacity, uint64_t* written,
                                    fovea_error* error) {
  fovea::Reporter reporter(error);
  return fovea::DecodeNext(model, stream, ids, count, false, output, capacity, written, reporter).code;
}

fovea_status fovea_text_decode_end(const fovea_model* model, fovea_text_stream* stream, char* output, uint64_t capacity,
                                   uint64_t* written, fovea_error* error) {
  fovea::Reporter reporter(error);
  return fovea::DecodeNext(model, stream, nullptr, 0, true, output, capacity, written, reporter).code;
}

fovea_status fovea_text_get_prompt(const fovea_model* model, const char* name, const char** prompt, const char** chosen,
                                   fovea_error* error) {
  fovea::Reporter reporter(error);
  return fovea::Prompt(model, name, prompt, chosen, reporter).code;
}

fovea_status fovea_text_get_token(const fovea_model* model, int32_t id, const char** piece, uint32_t* size,
                                  uint32_t* special, fovea_error* error) {
  fovea::Reporter reporter(error);
  return fovea::Token(model, id, piece, size, special, reporter).code;
}

fovea_status fovea_text_find_token(const fovea_model* model, const char* piece, uint32_t size, int32_t* id,
                                   fovea_error* error) {
  fovea::Reporter reporter(error);
  return fovea::FindPiece(model, piece, size, id, reporter).code;
}

}  // extern "C"
