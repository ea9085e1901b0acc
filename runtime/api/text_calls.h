// What calls that encode texts have in common; text.cc.
#ifndef FOVEA_RUNTIME_API_TEXT_CALLS_H_
#define FOVEA_RUNTIME_API_TEXT_CALLS_H_

#include "fovea/text.h"
#include "runtime/base/status.h"
#include "runtime/text/encoder.h"

namespace fovea {

Status FindTokenizer(const fovea_model* model, Reporter& reporter, const Tokenizer** tokenizer);
Status CheckTokens(const fovea_text_tokens* tokens, Reporter& reporter);
// `flags`: those that the call knows.
Status ReadEncodeOptions(const Tokenizer& tokenizer, const fovea_text_encode_options& given, uint32_t flags,
                         Reporter& reporter, text::EncodeOptions* options);

// An array of the caller's structs, whose size is that of the caller's version.
template <typename T>
struct Structs {
  const T& operator[](uint32_t i) const {
    return *reinterpret_cast<const T*>(reinterpret_cast<const uint8_t*>(first) + i * first->struct_size);
  }
  const T* first;
};

// All have the size of the first, which is at least that of this version.
template <typename T>
Status CheckStructs(const T* first, uint32_t count, const char* null, const char* wrong, Reporter& reporter) {
  if (first == nullptr && count != 0) return reporter.Fail(FOVEA_E_NULL, null);
  for (uint32_t i = 0; i < count; ++i) {
    const size_t size = Structs<T>{first}[i].struct_size;
    if (size < sizeof(T) || size % alignof(T) != 0 || size != first->struct_size) {
      return reporter.Fail(FOVEA_E_STRUCT_SIZE, wrong, sizeof(T), size, i);
    }
  }
  return kOk;
}

}  // namespace fovea

#endif  // FOVEA_RUNTIME_API_TEXT_CALLS_H_
