// Texts of overlapping parts are joined to the text that they were cut from.
#include "tools/generate/overlap.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace fovea::tools {
namespace {

using Ids = std::vector<int32_t>;

TEST(Overlap, PartsOfATextAreThatText) {
  std::mt19937 random(2);
  for (int trial = 0; trial < 500; ++trial) {
    Ids text(40 + random() % 60);
    for (int32_t& token : text) token = static_cast<int32_t>(random() % 1000);
    std::vector<Ids> parts;
    const size_t length = 14 + random() % 10, overlap = 4 + random() % 4;
    for (size_t at = 0; at < text.size(); at += length - overlap) {
      parts.emplace_back(text.begin() + at, text.begin() + std::min(text.size(), at + length));
      if (at + length >= text.size()) break;
    }
    EXPECT_EQ(JoinOverlapping(parts), text);
    // Words at the ends are cut off, so the model writes something else there.
    for (size_t i = 0; i < parts.size(); ++i) {
      if (i > 0) parts[i].front() = 2000 + trial;
      if (i + 1 < parts.size()) parts[i].back() = 3000 + trial;
    }
    if (parts.back().size() > overlap) {
      EXPECT_EQ(JoinOverlapping(parts), text);
    }
  }
}

TEST(Overlap, WhatSharesNothingFollows) {
  EXPECT_EQ(JoinOverlapping({{1, 2, 3}, {4, 5}, {6}}), (Ids{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(JoinOverlapping({{1, 2, 3}, {3, 4}}), (Ids{1, 2, 3, 3, 4})) << "one token is too little";
  EXPECT_EQ(JoinOverlapping({{1, 2, 3}, {2, 3, 4}}), (Ids{1, 2, 3, 4}));
  EXPECT_EQ(JoinOverlapping({}), Ids());
  EXPECT_EQ(JoinOverlapping({{}, {1, 2}, {}, {1, 2}, {}}), (Ids{1, 2, 1, 2}));
  EXPECT_EQ(JoinOverlapping({{7, 8}, {7, 8}}), (Ids{7, 8}));
  // The right part's tokens before the beginning of the left part are dropped.
  EXPECT_EQ(JoinOverlapping({{5, 6, 7}, {1, 2, 5, 6, 7, 8}}), (Ids{5, 6, 7, 8}));
}

}  // namespace
}  // namespace fovea::tools
