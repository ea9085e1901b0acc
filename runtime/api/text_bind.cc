// Encoded texts as inputs of a session.
#include "fovea/text.h"
#include "runtime/api/find.h"
#include "runtime/api/handles.h"

namespace fovea {
namespace {

// The caller's array of structs, whose size is that of the caller's version.
struct Texts {
  const fovea_text_tokens& operator[](uint32_t i) const {
    return *reinterpret_cast<const fovea_text_tokens*>(reinterpret_cast<const uint8_t*>(first) +
                                                       i * first->struct_size);
  }
  const fovea_text_tokens* first;
};

Status CheckTexts(const fovea_text_tokens* tokens, uint32_t count, Reporter& reporter) {
  if (tokens == nullptr && count != 0) return reporter.Fail(FOVEA_E_NULL, "tokens is NULL");
  for (uint32_t i = 0; i < count; ++i) {
    const fovea_text_tokens& text = Texts{tokens}[i];
    const size_t size = text.struct_size;
    if (size < sizeof(fovea_text_tokens) || size % alignof(fovea_text_tokens) != 0 || size != tokens->struct_size) {
      return reporter.Fail(FOVEA_E_STRUCT_SIZE, "struct_size of the tokens is not right", sizeof(fovea_text_tokens),
                           size, i);
    }
    if (text.count > text.capacity) {
      return reporter.Fail(FOVEA_E_CAPACITY, "a text has more tokens than its arrays", text.count, text.capacity, i);
    }
    if (text.ids == nullptr && text.count != 0) return reporter.Fail(FOVEA_E_NULL, "a text has no ids", 0, 0, i);
  }
  return kOk;
}

// An input that holds ids, or kBlobNone.
uint32_t FindIds(const Session& session, const char* name) {
  const uint32_t value = FindValue(*session.model, session.program(), name);
  if (value == kBlobNone || !IsInput(session.value(value).role) || session.links[value].linked) return kBlobNone;
  return session.value(value).type == static_cast<uint32_t>(DType::kI32) ? value : kBlobNone;
}

Status Bind(Session& session, const fovea_text_tokens* tokens, uint32_t count, Reporter& reporter) {
  FOVEA_TRY(CheckTexts(tokens, count, reporter));
  const uint32_t ids = FindIds(session, "input_ids"), types = FindIds(session, "token_type_ids");
  if (ids == kBlobNone) return reporter.Fail(FOVEA_E_NAME, "the program has no input input_ids");
  const uint32_t space = session.value(ids).space;
  if (types != kBlobNone && session.value(types).space != space) {
    return reporter.Fail(FOVEA_E_NAME, "token_type_ids has another space than input_ids");
  }
  const Texts texts{tokens};
  const auto at = [](const void* from, uint32_t i) { return (*static_cast<const Texts*>(from))[i].count; };
  FOVEA_TRY(SetSegments(session, space, {at, &texts, count}, reporter));
  int32_t* id = reinterpret_cast<int32_t*>(session.values[ids]);
  int32_t* type = types == kBlobNone ? nullptr : reinterpret_cast<int32_t*>(session.values[types]);
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
  return kOk;
}

}  // namespace
}  // namespace fovea

extern "C" fovea_status fovea_text_bind(fovea_session* session, const fovea_text_tokens* tokens, uint32_t count,
                                        fovea_error* error) {
  fovea::Reporter reporter(error);
  if (!fovea::IsLive(session)) return reporter.Fail(FOVEA_E_HANDLE, "not a session").code;
  return fovea::Bind(*session->session, tokens, count, reporter).code;
}
