// Sizes of scratch. A tokenizer without normalizer needs no buffer, one with a single step needs one.
#include "runtime/text/scratch.h"

#include "runtime/text/normalizer.h"

namespace fovea::text {
namespace {

uint32_t BufferCount(const Tokenizer& tokenizer) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < tokenizer.normalizer.size; ++i) {
    if (static_cast<StepKind>(tokenizer.normalizer[i].kind) != StepKind::kStrip) ++count;
  }
  if (count > 2) count = 2;
  for (uint32_t i = 0; i < tokenizer.pre_tokenizer.size; ++i) {
    const StepKind kind = static_cast<StepKind>(tokenizer.pre_tokenizer[i].kind);
    const bool prefix = kind == StepKind::kByteLevel && (tokenizer.pre_tokenizer[i].flags & kByteLevelPrefixSpace) != 0;
    if ((kind == StepKind::kMetaspace || prefix) && count < 2) ++count;
  }
  return count;
}

}  // namespace

bool Scratch::Place(const Tokenizer& tokenizer, uint64_t length, Arena* arena, Scratch* out) {
  const CheckedSize capacity = CheckedSize(length) * CheckedSize(tokenizer.header.expansion) + CheckedSize(kMaxPrefix);
  if (!capacity.ok() || capacity.value() > INT32_MAX) return false;
  *out = Scratch();
  const uint32_t count = BufferCount(tokenizer);
  for (uint32_t i = 0; i < count; ++i) {
    out->buffers[i].origin = static_cast<uint32_t*>(arena->TakeBytes(capacity * CheckedSize(sizeof(uint32_t))));
    out->buffers[i].bytes = static_cast<uint8_t*>(arena->TakeBytes(capacity));
    out->buffers[i].capacity = static_cast<uint32_t>(capacity.value());
  }
  if (kHasUnigram && static_cast<ModelKind>(tokenizer.header.model) == ModelKind::kUnigram) {
    out->best = static_cast<double*>(arena->TakeBytes((CheckedSize(tokenizer.header.max_piece_bytes) + CheckedSize(5)) *
                                                      CheckedSize(sizeof(double))));
    out->back = static_cast<uint16_t*>(arena->TakeBytes((capacity + CheckedSize(1)) * CheckedSize(sizeof(uint16_t))));
  }
  if (kHasBpe && static_cast<ModelKind>(tokenizer.header.model) == ModelKind::kBpe) {
    out->pairs = static_cast<uint32_t*>(arena->TakeBytes(capacity * CheckedSize(kPairEntries * sizeof(uint32_t))));
  }
  return true;
}

}  // namespace fovea::text
