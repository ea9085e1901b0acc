// Every pattern and their combinations against the reference: at lengths around tiles and blocks, ragged, with empty
// ranges, in every tiling.
#include "tests/attention/attention_problem.h"

namespace fovea {
namespace {

void CheckLengths(Case c) {
  c.spec.d_v = kWideValue;
  for (const std::vector<uint32_t>& lengths : {std::vector<uint32_t>{1}, {2, 0, 17}, {65, 3}, {0, 150, 1, 31}}) {
    if (FewerCases() && lengths.size() > 3) continue;
    SCOPED_TRACE(testing::PrintToString(lengths));
    c.queries = lengths;
    Check(c);
  }
}

TEST(Pattern, Dilated) {
  for (uint32_t dilation : {2u, 3u, 7u, 200u}) {
    for (const Pattern& window : {WindowOf(12, 12), WindowOf(8, 0), WindowOf(0, 5), Pattern{}, WindowOf(500, 3)}) {
      SCOPED_TRACE(testing::Message() << dilation << " " << window.left << " " << window.right);
      Case c;
      c.spec.pattern = window;
      c.spec.pattern.dilation = dilation;
      CheckLengths(c);
    }
  }
}

TEST(Pattern, WindowsByHead) {
  const int32_t windows[] = {4, 4, 1, -1, 0, 1, 30, 0, 5, 0, -1, 2};
  for (uint32_t kv_heads : {1u, 2u, 4u}) {
    Case c;
    c.spec.heads = 4;
    c.spec.kv_heads = kv_heads;
    c.spec.pattern.head_windows = windows;
    CheckLengths(c);
    c.spec.pattern.global_first = 2;
    c.spec.pattern.global_keys = true;
    c.listed = 0.1;
    CheckLengths(c);
  }
}

TEST(Pattern, Blocks) {
  for (uint32_t block : {2u, 8u, 64u, 100u}) {
    for (uint32_t neighbours : {0u, 1u}) {
      Case c;
      c.spec.pattern = WindowOf(neighbours * block, neighbours * block);
      c.spec.pattern.block = block;
      CheckLengths(c);
      c.spec.pattern.causal = true;
      CheckLengths(c);
      c.spec.pattern = WindowOf(block, 0);
      c.spec.pattern.block = block;
      CheckLengths(c);
    }
  }
}

TEST(Pattern, Edges) {
  for (const auto& [first, last] : {std::pair{1u, 0u}, {4u, 0u}, {0u, 3u}, {2u, 2u}, {70u, 70u}}) {
    for (uint32_t dilation : {1u, 3u}) {
      Case c;
      c.spec.pattern = WindowOf(5, 3);
      c.spec.pattern.dilation = dilation;
      c.spec.pattern.global_first = first;
      c.spec.pattern.global_last = last;
      CheckLengths(c);
      c.spec.pattern.causal = true;
      CheckLengths(c);
      c.spec.pattern.has_window = false;
      CheckLengths(c);
    }
  }
}

TEST(Pattern, ListedRows) {
  for (double share : {0.0, 0.1, 1.0}) {
    for (const Pattern& window : {WindowOf(6, 6), WindowOf(9, 0), WindowOf(kUnbounded, 0), Pattern{}}) {
      for (uint32_t dilation : {1u, 4u}) {
        Case c;
        c.spec.pattern = window;
        c.spec.pattern.dilation = dilation;
        c.spec.pattern.global_keys = true;
        c.listed = share;
        CheckLengths(c);
        c.spec.pattern.global_first = 3;
        c.spec.pattern.global_last = 2;
        c.spec.pattern.causal = true;
        CheckLengths(c);
      }
    }
  }
  Case only;
  only.spec.pattern.has_window = false;
  only.spec.pattern.global_keys = true;
  only.listed = 0.2;
  CheckLengths(only);
}

TEST(Pattern, NamedBlocks) {
  std::mt19937 random(5);
  for (uint32_t block : {1u, 4u, 16u}) {
    for (uint32_t heads : {1u, 4u}) {
      constexpr uint32_t kRows = 30, kColumns = 3;
      std::vector<int32_t> table(heads * kRows * kColumns);
      for (int32_t& name : table) name = static_cast<int32_t>(random() % 40) - 1;
      Case c;
      c.spec.heads = 4;
      c.spec.kv_heads = 2;
      Pattern& pattern = c.spec.pattern;
      pattern = WindowOf(block, block);
      pattern.block = block;
      pattern.layout = table.data();
      pattern.layout_heads = heads;
      pattern.layout_rows = kRows;
      pattern.layout_columns = kColumns;
      CheckLengths(c);
      pattern.global_first = pattern.global_last = block;
      CheckLengths(c);
      pattern.full_up_to = 40;
      CheckLengths(c);
      pattern.has_window = false;
      pattern.causal = true;
      CheckLengths(c);
      std::fill(table.begin(), table.end(), 0);  // block 0, three times more
      CheckLengths(c);
    }
  }
}

TEST(Pattern, TopK) {
  for (uint32_t keep : {1u, 2u, 5u, 64u, 1000u}) {
    for (const Pattern& window : {Pattern{}, WindowOf(kUnbounded, 0), WindowOf(20, 20)}) {
      Case c;
      c.spec.pattern = window;
      c.spec.pattern.top_k = keep;
      CheckLengths(c);
      c.spec.heads = 4;
      CheckLengths(c);
    }
  }
  Pattern unordered = WindowOf(40, 40);  // the last keys come first
  unordered.dilation = 2;
  unordered.global_first = 1;
  unordered.global_last = 3;
  for (const Pattern& pattern : {Pattern{}, unordered}) {
    for (const uint32_t keep : {1u, 7u, 30u}) {
      Case equal;  // all scores are equal: the first keys stay
      equal.spec.score.scale = 0.0f;
      equal.spec.pattern = pattern;
      equal.spec.pattern.top_k = keep;
      CheckLengths(equal);
      equal.spec.score.max_distance = 3;  // seven scores
      CheckLengths(equal);
    }
  }
}

// Neighbours of the first and last chunk wrap around; with two chunks the previous chunk is also the next one.
TEST(Pattern, ChunksAsTheyStand) {
  for (uint32_t chunk : {1u, 4u, 16u, 100u}) {
    for (const auto& [before, after] : {std::pair{1u, 0u}, {0u, 0u}, {1u, 1u}, {3u, 2u}}) {
      for (const uint32_t multiple : {1u, 3u}) {
        Case c;
        c.sorted = false;
        c.spec.pattern = ChunksOf(1, chunk, before, after, multiple);
        CheckLengths(c);
        c.spec.pattern.causal = true;
        CheckLengths(c);
      }
    }
  }
}

// With `multiple`, chunks without keys separate the rounds and precede the first one.
TEST(Pattern, Clustered) {
  for (uint32_t rounds : {1u, 2u, 4u}) {
    for (uint32_t chunk : {4u, 16u, 100u}) {
      for (const auto& [before, after, multiple] :
           {std::tuple{1u, 0u, 1u}, {0u, 0u, 1u}, {1u, 1u, 1u}, {2u, 0u, 1u}, {2u, 1u, 2u}, {1u, 1u, 5u}}) {
        Case c;
        c.spec.pattern = ChunksOf(rounds, chunk, before, after, multiple);
        CheckLengths(c);
        c.spec.pattern.causal = true;
        c.spec.score.has_self_score = true;
        c.spec.score.self_score = -1e5f;
        CheckLengths(c);
      }
    }
  }
}

TEST(Pattern, MostVisibleKeysIsEnough) {
  const int32_t table[] = {0, 0, 3, 1, 2, 9, 5, 5, 5};
  std::vector<Pattern> patterns = {Pattern{}, WindowOf(3, 4), WindowOf(0, 0)};
  for (size_t i = 0; i < 3; ++i) {
    Pattern p = patterns[i];
    p.dilation = 3;
    patterns.push_back(p);
    p = patterns[i];
    p.global_first = 8;
    p.global_last = 4;
    p.block = 4;
    patterns.push_back(p);
    p.global_first = p.global_last = 0;
    p.layout = table;
    p.layout_heads = 1;
    p.layout_rows = 3;
    p.layout_columns = 3;
    patterns.push_back(p);
    p.top_k = 5;
    patterns.push_back(p);
    p = patterns[i];
    p.global_keys = true;
    p.full_up_to = 6;
    patterns.push_back(p);
  }
  for (const Pattern& pattern : patterns) {
    for (uint32_t keys : {1u, 6u, 7u, 40u}) {
      const std::vector<int64_t> listed = {0, 5};
      uint32_t most = 0;
      for (uint32_t query = 0; query < keys; ++query) {
        uint32_t seen = 0;
        for (uint32_t key = 0; key < keys; ++key) seen += TimesSeen(pattern, 0, query, key, keys, listed) > 0 ? 1 : 0;
        most = std::max(most, pattern.top_k > 0 ? std::min(seen, pattern.top_k) : seen);
      }
      EXPECT_GE(MostVisibleKeys(pattern, {1, keys, 2, true}), most);
      EXPECT_LE(MostVisibleKeys(pattern, {1, keys, 2, true}), 2 * keys);
    }
  }
}

}  // namespace
}  // namespace fovea
