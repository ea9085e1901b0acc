// Scratch of one encode call, in the caller's memory. One function computes its size and places it.
#ifndef FOVEA_RUNTIME_TEXT_SCRATCH_H_
#define FOVEA_RUNTIME_TEXT_SCRATCH_H_

#include <stdint.h>

#include "runtime/base/arena.h"
#include "runtime/text/buffer.h"
#include "runtime/text/tokenizer.h"

namespace fovea::text {

inline constexpr uint32_t kPairEntries = 7;

struct Scratch {
  Buffer buffers[2];
  double* best = nullptr;     // kUnigram: ring of path scores, max_piece_bytes + 1
  uint16_t* back = nullptr;   // kUnigram: bytes of the best path's last piece up to each byte
  uint32_t* pairs = nullptr;  // kBpe: kPairEntries per byte

  // For texts of up to `length` bytes. The arena counts the bytes; false if that overflows.
  static bool Place(const Tokenizer& tokenizer, uint64_t length, Arena* arena, Scratch* out);
};

}  // namespace fovea::text

#endif  // FOVEA_RUNTIME_TEXT_SCRATCH_H_
