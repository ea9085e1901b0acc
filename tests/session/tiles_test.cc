// Tiles that workers draw one by one.
#include "runtime/parallel/tiles.h"

#include <gtest/gtest.h>

#include <vector>

namespace fovea::test {
namespace {

using Cuts = std::vector<uint32_t>;  // where tiles begin, and the end

Cuts Drawn(uint32_t rows, uint32_t workers, uint32_t most, uint32_t block) {
  Tiles tiles;
  tiles.Reset(rows, workers, most, block);
  Cuts cuts = {0};
  for (uint32_t begin, end; tiles.Take(&begin, &end);) {
    EXPECT_EQ(begin, cuts.back());
    EXPECT_LT(begin, end);
    cuts.push_back(end);
  }
  uint32_t begin, end;
  EXPECT_FALSE(tiles.Take(&begin, &end));
  return cuts;
}

TEST(Tiles, EveryWorkerGetsOne) {
  EXPECT_EQ(Drawn(3, 2, 128, 1), (Cuts{0, 2, 3}));
  EXPECT_EQ(Drawn(8, 2, 128, 1), (Cuts{0, 4, 8}));
  EXPECT_EQ(Drawn(1, 4, 128, 1), (Cuts{0, 1}));
  EXPECT_EQ(Drawn(300, 2, 128, 1), (Cuts{0, 128, 256, 300}));
  EXPECT_EQ(Drawn(40, 2, 128, kRowBlock), (Cuts{0, 32, 40}));
  EXPECT_EQ(Drawn(8, 2, 128, kRowBlock), (Cuts{0, 8}));
  EXPECT_EQ(Drawn(8, 2, 3, kRowBlock), (Cuts{0, 3, 6, 8}));
  EXPECT_EQ(Drawn(0, 2, 3, 1), (Cuts{0}));
}

}  // namespace
}  // namespace fovea::test
