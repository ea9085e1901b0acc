// Shared by the calls that encode texts; implemented in text.cc.
#ifndef FOVEA_RUNTIME_API_TEXT_CALLS_H_
#define FOVEA_RUNTIME_API_TEXT_CALLS_H_

#include <stddef.h>

#include "fovea/text.h"
#include "runtime/base/status.h"
#include "runtime/base/structs.h"
#include "runtime/text/encoder.h"

namespace fovea {

// Structs of callers who know no `spelled` are also taken.
inline constexpr size_t kLeastTokens = offsetof(fovea_text_tokens, spelled);

Status FindTokenizer(const fovea_model* model, Reporter& reporter, const Tokenizer** tokenizer);
void SetSpelled(uint64_t spelled, fovea_text_tokens* tokens);
Status CheckTokens(const fovea_text_tokens* tokens, Reporter& reporter);
// Checks that the ranges of `count` tokens from `first` on are within a text of `size` bytes.
Status CheckRanges(const fovea_text_tokens& tokens, uint64_t first, uint64_t count, uint64_t size, Reporter& reporter);
// Checks that their ids, which are not null, are the tokenizer's.
Status CheckIds(const Tokenizer& tokenizer, const fovea_text_tokens& tokens, uint64_t first, uint64_t count,
                Reporter& reporter);
// `flags`: the flags that the call accepts.
Status ReadEncodeOptions(const Tokenizer& tokenizer, const fovea_text_encode_options& given, uint32_t flags,
                         Reporter& reporter, text::EncodeOptions* options);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_API_TEXT_CALLS_H_
