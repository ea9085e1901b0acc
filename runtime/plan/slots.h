// Slots: memory that several values occupy one after the other.
#ifndef FOVEA_RUNTIME_PLAN_SLOTS_H_
#define FOVEA_RUNTIME_PLAN_SLOTS_H_

#include <stdint.h>

namespace fovea {

// A free slot for rows of `bytes`: the shortest that is long enough, else the longest, which then grows; else `count`.
template <typename IsFree, typename BytesOf>
uint32_t BestFree(uint32_t count, uint32_t bytes, IsFree is_free, BytesOf bytes_of) {
  uint32_t best = count, best_bytes = 0;
  for (uint32_t s = 0; s < count; ++s) {
    if (!is_free(s)) continue;
    const uint32_t candidate = bytes_of(s);
    const bool fits = candidate >= bytes, best_fits = best_bytes >= bytes;
    if (best == count || (fits && (!best_fits || candidate < best_bytes)) ||
        (!fits && !best_fits && candidate > best_bytes)) {
      best = s;
      best_bytes = candidate;
    }
  }
  return best;
}

// Slots of rows that exist within one phase at a time: bytes per row, and the time when each slot becomes free, in the
// caller's unit of time. Each slot is as long as the longest row that it ever holds.
struct PhaseSlots {
  uint32_t* bytes;
  uint32_t* free_from;
  uint32_t count;

  void BeginPhase() {
    for (uint32_t s = 0; s < count; ++s) free_from[s] = 0;
  }
  uint32_t Take(uint32_t row_bytes, uint32_t now, uint32_t free_again) {
    const uint32_t slot = BestFree(
        count, row_bytes, [&](uint32_t s) { return free_from[s] <= now; }, [&](uint32_t s) { return bytes[s]; });
    if (slot == count) ++count;
    if (row_bytes > bytes[slot]) bytes[slot] = row_bytes;
    free_from[slot] = free_again;
    return slot;
  }
};

}  // namespace fovea

#endif  // FOVEA_RUNTIME_PLAN_SLOTS_H_
