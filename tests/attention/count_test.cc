// Counted keys against the reference, query by query.
#include "runtime/attention/count.h"

#include <gtest/gtest.h>

#include <random>

#include "fovea/attention.h"
#include "tests/support/combinations.h"
#include "tests/support/reference_attention.h"

namespace fovea {
namespace {

using test::Combinations;

constexpr uint32_t kHeads = 3;

AttentionSpec SpecOf(const Pattern& pattern) {
  AttentionSpec spec = {};
  spec.heads = kHeads;
  spec.pattern = pattern;
  return spec;
}

// A key that its block's name shows beside something else is scored twice.
uint64_t CountByReference(const Pattern& pattern, uint32_t queries, uint32_t keys, const std::vector<int64_t>& listed) {
  Pattern unnamed = pattern;
  unnamed.layout = nullptr;
  uint64_t count = 0;
  for (uint32_t head = 0; head < kHeads; ++head) {
    for (uint32_t query = 0; query < queries; ++query) {
      for (uint32_t key = 0; key < keys; ++key) {
        const int once = TimesSeen(unnamed, head, query, key, keys, listed);
        count += static_cast<uint64_t>(once + (TimesSeen(pattern, head, query, key, keys, listed) > once ? 1 : 0));
      }
    }
  }
  return count;
}

TEST(Count, IsTheReferences) {
  std::mt19937 random(11);
  const auto below = [&](uint32_t end) { return static_cast<uint32_t>(random() % end); };
  for (int trial = 0; trial < 3000; ++trial) {
    Pattern p;
    p.has_window = below(4) != 0;
    p.causal = below(3) == 0;
    p.top_k = below(5) == 0 ? 2 : 0;
    p.block = below(2) == 0 ? 1 : 1 + below(5);
    if (below(3) != 0) p.left = below(12);
    if (below(3) != 0) p.right = below(12);
    if (p.block == 1) p.dilation = 1 + below(4);
    int32_t windows[3 * kHeads];
    if (p.block == 1 && below(3) == 0) {
      for (uint32_t i = 0; i < 3 * kHeads; ++i) windows[i] = static_cast<int32_t>(below(8)) - (i % 3 == 2 ? -1 : 1);
      p.head_windows = windows;
      p.dilation = 1;
    }
    p.global_first = below(3) * p.block;
    p.global_last = below(3) * p.block;
    p.full_up_to = below(8);
    std::vector<int32_t> names(2 * 4 * kHeads);
    for (int32_t& name : names) name = static_cast<int32_t>(below(8)) - 2;
    if (p.dilation == 1 && p.head_windows == nullptr && below(2) == 0) {
      p.layout = names.data();
      p.layout_heads = below(2) == 0 ? 1 : kHeads;
      p.layout_rows = 4;
      p.layout_columns = 2;
    }
    const uint32_t keys = below(40), queries = below(2) == 0 ? keys : below(40), key_row = below(9);
    std::vector<uint32_t> rows;
    std::vector<int64_t> listed;
    for (uint32_t key = 0; key < keys; ++key) {
      if (below(4) != 0) continue;
      rows.push_back(key_row + key);
      listed.push_back(key);
    }
    p.global_keys = !rows.empty();
    SegmentRows segment = {queries, keys, rows.data(), static_cast<uint32_t>(rows.size()), key_row, 0};
    const uint64_t expected = CountByReference(p, queries, keys, listed);
    ASSERT_EQ(VisiblePairs(SpecOf(p), segment), expected) << "trial " << trial;
    // Where only the number of global keys is known, the count is an upper bound.
    segment.global_keys = nullptr;
    const uint64_t most = VisiblePairs(SpecOf(p), segment);
    ASSERT_GE(most, expected) << "trial " << trial;
    p.global_keys = false;
    ASSERT_LE(most, VisiblePairs(SpecOf(p), segment) + uint64_t{kHeads} * queries * rows.size()) << "trial " << trial;
  }
}

struct ChunkCase {
  uint32_t keys, rounds, before, after, multiple;
};

// The pairs that one head sees in chunks of four keys, counted chunk by chunk around the circle of all rounds.
uint64_t PairsInChunks(const ChunkCase& c) {
  if (c.keys <= 4) return uint64_t{c.keys} * c.keys;
  std::vector<uint32_t> circle;  // sizes of the chunks of all rounds
  for (uint32_t round = 0; round < c.rounds; ++round) {
    for (uint32_t first = 0; first < c.keys; first += 4) circle.push_back(std::min(4u, c.keys - first));
    while (circle.size() % c.multiple != 0) circle.push_back(0);
  }
  const auto size = static_cast<int64_t>(circle.size());
  uint64_t pairs = 0;
  for (int64_t own = 0; own < size; ++own) {
    for (int64_t far = -int64_t{c.before}; far <= int64_t{c.after}; ++far) {
      const int64_t seen = std::abs(far) >= size ? own : (own + far + size) % size;
      pairs += circle[static_cast<size_t>(own)] * circle[static_cast<size_t>(seen)];
    }
  }
  return pairs;
}

TEST(Count, Chunks) {
  const std::vector<uint32_t> keys = {0, 1, 4, 5, 7, 8, 9, 30}, rounds = {1, 3}, before = {0, 1, 2, 9};
  const std::vector<uint32_t> after = {0, 1, 5}, multiple = {1, 2, 5};
  for (const ChunkCase& c : Combinations<ChunkCase>(keys, rounds, before, after, multiple)) {
    Pattern p;
    p.rounds = c.rounds;
    p.chunk = 4;
    p.chunks_before = c.before;
    p.chunks_after = c.after;
    p.chunk_multiple = c.multiple;
    EXPECT_EQ(VisiblePairs(SpecOf(p), {c.keys, c.keys, nullptr, 0, 0, 0}), kHeads * PairsInChunks(c))
        << c.keys << " " << c.rounds << " " << c.before << " " << c.after << " " << c.multiple;
  }
}

// In time that does not follow the chunks.
TEST(Count, ManyChunks) {
  Pattern p;
  p.rounds = p.chunk = 1;
  p.chunks_before = p.chunks_after = 64;
  EXPECT_EQ(VisiblePairs(SpecOf(p), {INT32_MAX, INT32_MAX, nullptr, 0, 0, 0}), uint64_t{kHeads} * INT32_MAX * 129);
}

TEST(Count, Centers) {
  Pattern p;
  p.left = 3;
  p.right = 2;
  AttentionSpec spec = SpecOf(p);
  spec.pattern.centers = Centers::kPositions;
  EXPECT_EQ(VisiblePairs(spec, {5, 40, nullptr, 0, 0, 0}), kHeads * 5 * 6);
  EXPECT_EQ(VisiblePairs(spec, {5, 4, nullptr, 0, 0, 0}), kHeads * 5 * 4);
}

TEST(Count, OfTheInterface) {
  fovea_attention_pattern pattern = {};
  pattern.struct_size = sizeof(pattern);
  pattern.causal = 1;
  fovea_attention_options options = {};
  options.struct_size = sizeof(options);
  options.heads = kHeads;
  options.d_k = 4;
  options.pattern = &pattern;
  uint64_t pairs = 0;
  EXPECT_EQ(fovea_attention_pairs(&options, 5, 5, &pairs, nullptr), FOVEA_OK);
  EXPECT_EQ(pairs, kHeads * 15u);
  EXPECT_EQ(fovea_attention_pairs(&options, 0, 5, &pairs, nullptr), FOVEA_OK);
  EXPECT_EQ(pairs, 0u);
  EXPECT_EQ(fovea_attention_pairs(&options, 5, 5, nullptr, nullptr), FOVEA_E_NULL);
  EXPECT_EQ(fovea_attention_pairs(nullptr, 5, 5, &pairs, nullptr), FOVEA_E_NULL);
  EXPECT_EQ(fovea_attention_pairs(&options, 1u << 31, 5, &pairs, nullptr), FOVEA_E_ROWS);
  EXPECT_EQ(fovea_attention_pairs(&options, 5, 1u << 31, &pairs, nullptr), FOVEA_E_ROWS);
}

}  // namespace
}  // namespace fovea
