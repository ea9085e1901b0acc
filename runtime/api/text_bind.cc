// Binds encoded texts and documents as inputs of a session.
#include "runtime/api/handles.h"
#include "runtime/api/text_calls.h"
#include "runtime/model/find.h"

namespace fovea {
namespace {

using Texts = Structs<fovea_text_tokens>;
using Sentences = Structs<fovea_text_sentences>;

Status CheckTexts(const fovea_text_tokens* tokens, uint32_t count, Reporter& reporter) {
  FOVEA_TRY(
      CheckStructs(tokens, count, "tokens is NULL", "struct_size of the tokens is wrong", reporter, kLeastTokens));
  for (uint32_t i = 0; i < count; ++i) {
    const fovea_text_tokens& text = Texts{tokens}[i];
    if (text.count > text.capacity) {
      return reporter.Fail(FOVEA_E_CAPACITY, "a text has more tokens than its arrays hold", text.count, text.capacity,
                           i);
    }
    if (text.ids == nullptr && text.count != 0)
      return reporter.Fail(FOVEA_E_NULL, "the ids of a text are NULL", 0, 0, i);
  }
  return kOk;
}

Status CheckSentences(const fovea_text_tokens* tokens, const fovea_text_sentences* sentences, uint32_t count,
                      Reporter& reporter, uint64_t* total) {
  FOVEA_TRY(CheckStructs(sentences, count, "sentences is NULL", "struct_size of the sentences is wrong", reporter));
  *total = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const fovea_text_sentences& list = Sentences{sentences}[i];
    if (list.count > list.capacity) {
      return reporter.Fail(FOVEA_E_CAPACITY, "a document has more sentences than its arrays hold", list.count,
                           list.capacity, i);
    }
    if (list.lengths == nullptr && list.count != 0) {
      return reporter.Fail(FOVEA_E_NULL, "the sentence lengths of a document are NULL", 0, 0, i);
    }
    uint64_t rows = 0;
    for (uint64_t k = 0; k < list.count; ++k) rows += list.lengths[k];
    if (rows != Texts{tokens}[i].count) {
      return reporter.Fail(FOVEA_E_SEGMENTS, "the sentence lengths of a document must add up to its tokens",
                           Texts{tokens}[i].count, rows, i);
    }
    *total += list.count;
  }
  return *total <= INT32_MAX ? kOk : reporter.Fail(FOVEA_E_ROWS, "too many sentences", INT32_MAX, *total);
}

// The inputs that tokens are written to.
struct Target {
  uint32_t ids, types, space;
};

// The input of this name that holds ids, or kBlobNone.
uint32_t FindIds(const Session& session, const char* name) {
  const uint32_t value = FindValue(*session.model, session.program(), name);
  if (value == kBlobNone || !IsInput(session.value(value).role) || session.links[value].linked) return kBlobNone;
  return session.value(value).type == static_cast<uint32_t>(DType::kI32) ? value : kBlobNone;
}

Status FindTarget(const Session& session, Reporter& reporter, Target* target) {
  *target = {FindIds(session, "input_ids"), FindIds(session, "token_type_ids"), 0};
  if (target->ids == kBlobNone) return reporter.Fail(FOVEA_E_NAME, "the program has no input input_ids");
  target->space = session.value(target->ids).space;
  if (target->types != kBlobNone && session.value(target->types).space != target->space) {
    return reporter.Fail(FOVEA_E_NAME, "token_type_ids and input_ids must be in the same space");
  }
  return kOk;
}

void Write(Session& session, const Target& target, Texts texts, uint32_t count) {
  int32_t* id = reinterpret_cast<int32_t*>(session.values[target.ids]);
  int32_t* type = target.types == kBlobNone ? nullptr : reinterpret_cast<int32_t*>(session.values[target.types]);
  for (uint32_t i = 0; i < count; ++i) {
    const fovea_text_tokens& text = texts[i];
    const size_t bytes = static_cast<size_t>(text.count) * sizeof(int32_t);
    if (bytes == 0) continue;
    memcpy(id, text.ids, bytes);
    id += text.count;
    if (type == nullptr) continue;
    if (text.types == nullptr) memset(type, 0, bytes);
    if (text.types != nullptr) memcpy(type, text.types, bytes);
    type += text.count;
  }
}

Status Bind(Session& session, const fovea_text_tokens* tokens, uint32_t count, Reporter& reporter) {
  FOVEA_TRY(CheckTexts(tokens, count, reporter));
  Target target;
  FOVEA_TRY(FindTarget(session, reporter, &target));
  const Texts texts{tokens};
  const auto at = [](const void* from, uint32_t i) { return (*static_cast<const Texts*>(from))[i].count; };
  FOVEA_TRY(SetSegments(session, target.space, {at, &texts, count}, reporter));
  Write(session, target, texts, count);
  return kOk;
}

// Iterates over the sentences of all documents, in ascending order.
struct Walk {
  static uint64_t At(const void* from, uint32_t i) {
    const Walk& walk = *static_cast<const Walk*>(from);
    if (i < walk.first) walk.document = walk.first = 0;
    while (i - walk.first >= walk.sentences[walk.document].count) {
      walk.first += static_cast<uint32_t>(walk.sentences[walk.document++].count);
    }
    return walk.sentences[walk.document].lengths[i - walk.first];
  }
  Sentences sentences;
  mutable uint32_t document = 0, first = 0;  // current document, and its first sentence
};

Status BindDocuments(Session& session, const fovea_text_tokens* tokens, const fovea_text_sentences* sentences,
                     uint32_t count, Reporter& reporter) {
  FOVEA_TRY(CheckTexts(tokens, count, reporter));
  uint64_t total = 0;
  FOVEA_TRY(CheckSentences(tokens, sentences, count, reporter, &total));
  Target target;
  FOVEA_TRY(FindTarget(session, reporter, &target));
  const Blob& blob = session.model->blob;
  const uint32_t parent = blob.spaces[target.space].parent;
  if (parent == kBlobNone || blob.spaces[parent].parent == kBlobNone) {
    return reporter.Fail(FOVEA_E_NAME, "the space of input_ids needs two levels above it: sentences and documents");
  }
  const Walk walk{{sentences}};
  const SegmentLengths lengths{Walk::At, &walk, static_cast<uint32_t>(total)};
  const auto at = [](const void* from, uint32_t i) { return (*static_cast<const Sentences*>(from))[i].count; };
  FOVEA_TRY(CheckSegments(session, target.space, lengths, reporter));
  FOVEA_TRY(SetSegments(session, parent, {at, &walk.sentences, count}, reporter));
  FOVEA_TRY(SetSegments(session, target.space, lengths, reporter));
  Write(session, target, {tokens}, count);
  return kOk;
}

}  // namespace
}  // namespace fovea

extern "C" {

fovea_status fovea_text_bind(fovea_session* session, const fovea_text_tokens* tokens, uint32_t count,
                             fovea_error* error) {
  fovea::Reporter reporter(error);
  if (!fovea::IsLive(session)) return reporter.Fail(FOVEA_E_HANDLE, "invalid session handle").code;
  return fovea::Bind(*session->session, tokens, count, reporter).code;
}

fovea_status fovea_text_bind_documents(fovea_session* session, const fovea_text_tokens* tokens,
                                       const fovea_text_sentences* sentences, uint32_t count, fovea_error* error) {
  fovea::Reporter reporter(error);
  if (!fovea::IsLive(session)) return reporter.Fail(FOVEA_E_HANDLE, "invalid session handle").code;
  return fovea::BindDocuments(*session->session, tokens, sentences, count, reporter).code;
}

}  // extern "C"
