// The layout of one worker's scratch: computed once for a spec; a run adds the address of the scratch.
#ifndef FOVEA_RUNTIME_ATTENTION_LAYOUT_H_
#define FOVEA_RUNTIME_ATTENTION_LAYOUT_H_

#include <stddef.h>
#include <stdint.h>

namespace fovea {

struct AttentionSpec;

// The arrays of scratch; most of them are described in runtime/kernels/attention.h.
enum class ScratchPart : uint32_t {
  kPackedKeys,
  kPackedValues,
  kWidened,
  kScores,
  kQueryWords,
  kKeyWords,
  kKeyFactors,
  kLevels,  // [2, block] of values, products in int16
  kValueFactors,
  kSums,
  kSumOfValues,
  kRows,
  kRelative,     // [capacity, buckets]
  kKeyRelative,  // [block, buckets]
  kCopied,       // [max(capacity, block), d_k]
  kTopKeys,      // [capacity]
  kTopScores,    // [capacity, top_entries]
  kTopPositions,
  kPartSums,  // clustered in several rounds: the rows of a group in the current round
  kPartSumOfValues,
  kPartRows,
  kPositions,       // [group] clustered: positions of the rows of the current group
  kIndex,           // [block] clustered: positions of the keys of a block
  kCoordinates,     // [axes, block] of the keys of a block
  kRowCoordinates,  // [capacity, axes]
  kCount,
};

struct AttentionLayout {
  uint32_t capacity;                                      // rows of a chunk
  uint32_t block;                                         // keys of a block
  uint32_t group;                                         // clustered: rows of a chunk that are processed at once
  uint32_t top_entries;                                   // entries of a list of top keys
  uint64_t bytes;                                         // UINT64_MAX: more than the address space
  size_t at[static_cast<uint32_t>(ScratchPart::kCount)];  // bytes from the start

  template <typename T>
  T* Find(void* scratch, ScratchPart part) const {
    return reinterpret_cast<T*>(static_cast<uint8_t*>(scratch) + at[static_cast<uint32_t>(part)]);
  }
};

AttentionLayout LayOutAttention(const AttentionSpec&, uint32_t tile_rows);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_ATTENTION_LAYOUT_H_
