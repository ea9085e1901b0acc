// Workers take tiles of rows, or segments, from a shared counter until none is left.
#ifndef FOVEA_RUNTIME_PARALLEL_TILES_H_
#define FOVEA_RUNTIME_PARALLEL_TILES_H_

#include <stdint.h>

#include <atomic>

#include "runtime/base/checked.h"
#include "runtime/base/profile.h"

namespace fovea {

inline constexpr uint32_t kMaxWorkers = LimitOf("workers", 64);
inline constexpr uint32_t kMaxTileRows = 1024;
// Tiles are cut at multiples of this many rows, so that GEMM kernels see full row blocks.
inline constexpr uint32_t kRowBlock = 16;

class Tiles {
 public:
  // Sets tiles of `most` rows, smaller if some workers would otherwise get none, cut at multiples of `block`. Call it
  // before the workers start.
  void Reset(uint32_t rows, uint32_t workers, uint32_t most, uint32_t block = kRowBlock) {
    const uint64_t share = RoundUp(DivideUp(rows, workers), block);
    rows_ = rows;
    tile_ = share < most ? static_cast<uint32_t>(share) : most;
    next_.store(0, std::memory_order_relaxed);
  }
  uint32_t count() const { return rows_ == 0 ? 0 : static_cast<uint32_t>(DivideUp(rows_, tile_)); }
  // Takes the next tile [*begin, *end); false if none is left.
  bool Take(uint32_t* begin, uint32_t* end) {
    const uint64_t at = uint64_t{next_.fetch_add(1, std::memory_order_relaxed)} * tile_;
    if (at >= rows_) return false;
    *begin = static_cast<uint32_t>(at);
    *end = rows_ - *begin < tile_ ? rows_ : *begin + tile_;
    return true;
  }

 private:
  uint32_t rows_ = 0, tile_ = 0;
  std::atomic<uint32_t> next_{0};  // in tiles
};

// Work on several independent heads: a tile is one head with all its rows, or with a share of its rows where there are
// more workers than heads.
class HeadTiles {
 public:
  HeadTiles(uint32_t heads, uint32_t workers)
      : heads_(heads), shares_(static_cast<uint32_t>(DivideUp(workers, heads))) {}
  uint32_t count() const { return heads_ * shares_; }
  uint32_t Head(uint32_t tile) const { return tile % heads_; }
  uint32_t RowBegin(uint32_t tile, uint32_t rows) const { return Share(tile / heads_, rows); }
  uint32_t RowEnd(uint32_t tile, uint32_t rows) const { return Share(tile / heads_ + 1, rows); }
  uint32_t MostRows(uint32_t rows) const { return static_cast<uint32_t>(DivideUp(rows, shares_)); }

 private:
  uint32_t Share(uint32_t i, uint32_t rows) const { return static_cast<uint32_t>(uint64_t{rows} * i / shares_); }

  uint32_t heads_, shares_;
};

}  // namespace fovea

#endif  // FOVEA_RUNTIME_PARALLEL_TILES_H_
