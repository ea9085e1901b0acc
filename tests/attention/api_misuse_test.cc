// Every wrong argument of fovea_attention_run is refused with its own status, and nothing is written.
#include <limits>

#include "tests/attention/api_problem.h"

namespace fovea {
namespace {

// A valid call with three segments; each test breaks one thing.
class AttentionMisuse : public ::testing::Test {
 protected:
  AttentionMisuse() : problem_(Ragged()), a_(problem_, Layout::kGaps) { Reset(); }

  static Case Ragged() {
    Case c;
    c.queries = {5, 0, 40};
    c.spec.heads = 4;
    c.spec.kv_heads = 2;
    return c;
  }
  void Reset() {
    options_ = a_.options;
    pattern_ = a_.pattern;
    score_ = a_.score;
    weighting_ = a_.weighting;
    positions_ = a_.positions;
    kept_ = a_.kept;
    q_ = a_.q, k_ = a_.k, v_ = a_.v;
    out_ = a_.out;
    options_.pattern = &pattern_;
    options_.score = &score_;
    options_.weighting = &weighting_;
    options_.positions = &positions_;
    options_.kept = &kept_;
    memset(a_.out_rows.data(), kGap, 64);
  }

  // Runs with plenty of scratch, then restores the valid call.
  void Expect(fovea_status expected, const char* text, uint64_t index = 0) {
    const test::AlignedBytes scratch(1 << 22);
    fovea_error error = {};
    EXPECT_EQ(fovea_attention_run(&options_, &q_, &k_, &v_, &out_, scratch.data(), scratch.size(), &error), expected)
        << text << ": " << (error.text == nullptr ? "" : error.text);
    if (expected != FOVEA_OK) {
      EXPECT_EQ(error.status, expected);
      ASSERT_NE(error.text, nullptr);
      EXPECT_NE(std::string(error.text).find(text), std::string::npos) << error.text;
      EXPECT_EQ(error.index, index) << text;
      for (int b = 0; b < 64; ++b) ASSERT_EQ(a_.out_rows.data()[b], kGap) << text;
    }
    Reset();
  }
  void ExpectOption(const char* text) {
    uint64_t bytes = 0;
    fovea_error error = {};
    EXPECT_EQ(fovea_attention_scratch_size(&options_, &bytes, &error), FOVEA_E_OPTION) << text;
    EXPECT_EQ(bytes, 0u);
    Expect(FOVEA_E_OPTION, text);
  }

  Problem problem_;
  Arguments a_;
  fovea_attention_options options_;
  fovea_attention_pattern pattern_;
  fovea_attention_score score_;
  fovea_attention_weighting weighting_;
  fovea_attention_positions positions_;
  fovea_attention_kept kept_;
  fovea_attention_rows q_, k_, v_;
  fovea_attention_out out_;
};

TEST_F(AttentionMisuse, NothingWrong) { Expect(FOVEA_OK, ""); }

TEST_F(AttentionMisuse, NullArguments) {
  const test::AlignedBytes scratch(1 << 20);
  uint64_t bytes = 0;
  EXPECT_EQ(fovea_attention_scratch_size(nullptr, &bytes, nullptr), FOVEA_E_NULL);
  EXPECT_EQ(fovea_attention_scratch_size(&options_, nullptr, nullptr), FOVEA_E_NULL);
  const auto run = [&](const fovea_attention_options* o, const fovea_attention_rows* q, const fovea_attention_rows* k,
                       const fovea_attention_rows* v, const fovea_attention_out* out,
                       void* memory) { return fovea_attention_run(o, q, k, v, out, memory, scratch.size(), nullptr); };
  EXPECT_EQ(run(&options_, &q_, &k_, &v_, &out_, scratch.data()), FOVEA_OK);
  EXPECT_EQ(run(nullptr, &q_, &k_, &v_, &out_, scratch.data()), FOVEA_E_NULL);
  EXPECT_EQ(run(&options_, nullptr, &k_, &v_, &out_, scratch.data()), FOVEA_E_NULL);
  EXPECT_EQ(run(&options_, &q_, nullptr, &v_, &out_, scratch.data()), FOVEA_E_NULL);
  EXPECT_EQ(run(&options_, &q_, &k_, nullptr, &out_, scratch.data()), FOVEA_E_NULL);
  EXPECT_EQ(run(&options_, &q_, &k_, &v_, nullptr, scratch.data()), FOVEA_E_NULL);
  EXPECT_EQ(run(&options_, &q_, &k_, &v_, &out_, nullptr), FOVEA_E_NULL);
  EXPECT_EQ(run(&options_, &q_, &k_, &v_, &out_, scratch.data() + 32), FOVEA_E_MISALIGNED);
  Reset();
  for (fovea_attention_rows* view : {&q_, &k_, &v_}) {
    view->data = nullptr;
    Expect(FOVEA_E_NULL, "data of a view");
  }
  out_.data = nullptr;
  Expect(FOVEA_E_NULL, "data of a view");
  k_.type = v_.type = FOVEA_TYPE_I8;
  Expect(FOVEA_E_NULL, "data of a view");  // scales
}

TEST_F(AttentionMisuse, StructSizes) {
  options_.struct_size = 0;
  Expect(FOVEA_E_STRUCT_SIZE, "struct_size");
  pattern_.struct_size = 0;
  Expect(FOVEA_E_STRUCT_SIZE, "struct_size");
  struct {
    fovea_attention_options now;
    uint64_t later;
  } newer = {options_, 0};
  newer.now.struct_size = sizeof(newer);
  uint64_t bytes = 0;
  EXPECT_EQ(fovea_attention_scratch_size(&newer.now, &bytes, nullptr), FOVEA_OK);
  newer.later = 1;
  EXPECT_EQ(fovea_attention_scratch_size(&newer.now, &bytes, nullptr), FOVEA_E_STRUCT_SIZE);
  // An older program sets only the first fields.
  options_.struct_size = offsetof(fovea_attention_options, pairing);
  EXPECT_EQ(fovea_attention_scratch_size(&options_, &bytes, nullptr), FOVEA_OK);
}

TEST_F(AttentionMisuse, Shapes) {
  options_.kv_heads = 3;
  ExpectOption("divide");
  options_.d_k = 0;
  ExpectOption("at least 1");
  options_.heads = options_.kv_heads = 70000;
  ExpectOption("too many heads");
  options_.d_v = (1u << 24) + 1;
  ExpectOption("too wide");
  score_.kind = 3;
  ExpectOption("unknown kind of score");
  for (const uint32_t weighting : {5u, 7u, 8u, 9u, 10u}) {
    weighting_.kind = weighting;
    ExpectOption("cannot be a weighting");
  }
  for (const uint32_t weighting : {11u, 4000000000u}) {
    weighting_.kind = weighting;
    ExpectOption("unknown kind of weighting");
  }
  score_.kind = FOVEA_SCORE_ADDITIVE;
  ExpectOption("additive");
  const float vectors[4 * 8] = {};
  score_.additive = vectors;
  ExpectOption("additive");
  for (const float bad : {-1.0f, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    score_.cap = bad;
    ExpectOption("cap");
  }
  score_.scale = std::numeric_limits<float>::quiet_NaN();
  ExpectOption("scale");
  options_.pairing = 2;
  ExpectOption("pairing");
  score_.has_self_score = 2;
  ExpectOption("self_score");
  options_.workers = 65;
  ExpectOption("workers");
  options_.tile_rows = (1u << 20) + 1;
  ExpectOption("tile_rows");
}

TEST_F(AttentionMisuse, Patterns) {
  pattern_.window = 3;
  ExpectOption("unknown kind");
  pattern_.left = 4;
  ExpectOption("FOVEA_WINDOW_SIDES");
  pattern_.dilation = 4097;
  ExpectOption("dilation");
  pattern_.block = (1u << 20) + 1;
  ExpectOption("block");
  pattern_.block = 8;
  pattern_.dilation = 2;
  ExpectOption("neither dilated");
  pattern_.block = 8;
  pattern_.global_first = 4;
  ExpectOption("whole blocks");
  pattern_.block = 8;
  pattern_.global_last = 9;
  ExpectOption("whole blocks");
  pattern_.causal = 2;
  ExpectOption("causal must be 0 or 1");
  pattern_.top_k = (1u << 20) + 1;
  ExpectOption("top_k");
  pattern_.global_key_count = 1;
  Expect(FOVEA_E_NULL, "global_keys is NULL");
  pattern_.layout_rows = 1;
  Expect(FOVEA_E_NULL, "layout is NULL");
  const int32_t names[8] = {0, 0};
  pattern_.layout = names;
  pattern_.layout_heads = 3;
  ExpectOption("layout_heads must be 1");
  pattern_.layout = names;
  pattern_.layout_columns = 5000;
  ExpectOption("too wide");
  pattern_.layout = names;
  pattern_.layout_rows = pattern_.layout_columns = 2;
  pattern_.top_k = 3;
  ExpectOption("combined with top_k");
  pattern_.layout = names;
  pattern_.layout_rows = pattern_.layout_columns = 2;
  weighting_.kind = FOVEA_WEIGHTING_RELU;
  Expect(FOVEA_E_ID, "names a block twice", 1);
  for (const uint32_t columns : {0u, 1u}) {  // nothing can be named twice, however many rows there are
    pattern_.layout = names;
    pattern_.layout_rows = 0xffffffff / (columns + 1);
    pattern_.layout_columns = columns;
    weighting_.kind = FOVEA_WEIGHTING_RELU;
    uint64_t bytes = 0;
    const bool fits = columns == 0 || sizeof(size_t) > 4;  // that many names fit in memory
    EXPECT_EQ(fovea_attention_scratch_size(&options_, &bytes, nullptr), fits ? FOVEA_OK : FOVEA_E_OPTION);
    Reset();
  }
  int32_t windows[12] = {1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1};
  pattern_.window = FOVEA_WINDOW_SIDES;
  pattern_.head_windows = windows;
  Expect(FOVEA_E_ID, "dilation", 2);
}

TEST_F(AttentionMisuse, Segments) {
  uint32_t offsets[4] = {0, 5, 5, 45};
  const auto expect = [&](fovea_status status, const char* text, uint64_t index, const uint32_t(&changed)[4]) {
    for (const bool queries : {false, true}) {
      memcpy(offsets, changed, sizeof(offsets));
      (queries ? options_.query_offsets : options_.key_offsets) = offsets;
      Expect(status, text, index);
    }
  };
  expect(FOVEA_OK, "", 0, {0, 5, 5, 45});
  expect(FOVEA_E_SEGMENTS, "start at 0", 0, {1, 5, 5, 45});
  expect(FOVEA_E_SEGMENTS, "not descend", 2, {0, 5, 4, 45});
  expect(FOVEA_E_SEGMENTS, "after the last row", 3, {0, 5, 5, 46});
  expect(FOVEA_E_SEGMENTS, "after the last row", 1, {0, 0xffffffff, 0xffffffff, 45});
  options_.key_offsets = nullptr;
  Expect(FOVEA_E_NULL, "offsets");
  options_.query_offsets = nullptr;
  Expect(FOVEA_E_NULL, "offsets");
  options_.segment_count = 0x80000000;
  Expect(FOVEA_E_SEGMENTS, "too many");
  options_.segment_count = 0;
  Expect(FOVEA_OK, "");
  options_.segment_count = 0;
  options_.query_offsets = nullptr;
  Expect(FOVEA_E_SEGMENTS, "same number of segments");
  options_.pairing = FOVEA_PAIRING_ROWS;
  Expect(FOVEA_E_OPTION, "query_offsets must be NULL");
  options_.pairing = FOVEA_PAIRING_ROWS;
  options_.query_offsets = nullptr;
  q_.rows = 2;
  Expect(FOVEA_E_ROWS, "query row");
}

TEST_F(AttentionMisuse, Views) {
  q_.rows = 44;
  Expect(FOVEA_E_SEGMENTS, "after the last row", 3);
  k_.rows = v_.rows = 44;
  Expect(FOVEA_E_SEGMENTS, "after the last row", 3);
  v_.rows = 46;
  Expect(FOVEA_E_ROWS, "differ");
  out_.rows = 44;
  Expect(FOVEA_E_ROWS, "too few");
  k_.rows = v_.rows = 0x80000000;
  Expect(FOVEA_E_ROWS, "too many");
  q_.type = FOVEA_TYPE_F16;
  Expect(FOVEA_E_OPTION, "type");
  k_.type = FOVEA_TYPE_BF16;
  Expect(FOVEA_E_OPTION, "differ in type");
  k_.type = FOVEA_TYPE_I32;
  Expect(FOVEA_E_OPTION, "type");
  for (fovea_attention_rows* view : {&q_, &k_, &v_}) {
    view->data = static_cast<const uint8_t*>(view->data) + 2;
    Expect(FOVEA_E_MISALIGNED, "aligned");
    view->row_stride = 1001;
    Expect(FOVEA_E_MISALIGNED, "aligned");
    view->head_stride = 1002;
    Expect(FOVEA_E_MISALIGNED, "aligned");
    view->row_stride = SIZE_MAX / 4 * 4;
    Expect(FOVEA_E_OPTION, "address space");
    view->head_stride = SIZE_MAX / 4 * 4;
    Expect(FOVEA_E_OPTION, "address space");
  }
  out_.data = reinterpret_cast<float*>(reinterpret_cast<uint8_t*>(out_.data) + 1);
  Expect(FOVEA_E_MISALIGNED, "aligned");
  out_.head_stride = 28;
  Expect(FOVEA_E_OPTION, "overlap");
  out_.head_stride = 32;
  out_.row_stride = 64;
  Expect(FOVEA_E_OPTION, "overlap");
}

TEST_F(AttentionMisuse, Listed) {
  uint32_t rows[3] = {2, 5, 44}, offsets[4] = {0, 1, 1, 3};
  const auto expect = [&](fovea_status status, const char* text, uint64_t index) {
    pattern_.window = FOVEA_WINDOW_NONE;
    pattern_.global_keys = rows;
    pattern_.global_key_count = 3;
    pattern_.global_key_offsets = offsets;
    Expect(status, text, index);
  };
  expect(FOVEA_OK, "", 0);
  rows[2] = 45;
  expect(FOVEA_E_ID, "global keys", 2);
  rows[2] = 5;
  expect(FOVEA_E_ID, "global keys", 2);
  rows[1] = 4;
  expect(FOVEA_E_ID, "global keys", 1);
  rows[1] = 5, rows[2] = 6, rows[0] = 5;
  expect(FOVEA_E_ID, "global keys", 0);
  rows[0] = 0;
  offsets[3] = 4;
  expect(FOVEA_E_SEGMENTS, "after the last row", 3);
  offsets[3] = 0;
  expect(FOVEA_E_SEGMENTS, "not descend", 3);
  offsets[3] = 3;
  offsets[0] = 1;
  expect(FOVEA_E_SEGMENTS, "start at 0", 0);
  pattern_.global_keys = rows;
  pattern_.global_key_count = 3;
  Expect(FOVEA_E_NULL, "offsets");
}

TEST_F(AttentionMisuse, ScoreTables) {
  const float floats[1000] = {};
  int32_t buckets[9] = {0, 1, 2, 3, 4, 3, 2, 1, 0};
  const auto expect = [&](fovea_status status, const char* text, uint64_t index) {
    score_.relative_keys = floats;
    score_.buckets = buckets;
    score_.max_distance = 4;
    score_.bucket_count = 5;
    Expect(status, text, index);
  };
  expect(FOVEA_OK, "", 0);
  for (const int32_t bad : {5, -1, std::numeric_limits<int32_t>::min()}) {
    buckets[7] = bad;
    expect(FOVEA_E_ID, "bucket", 7);
  }
  score_.relative_keys = floats;
  ExpectOption("require tables, buckets and bucket_count");
  score_.buckets = buckets;
  score_.bucket_count = 3;
  ExpectOption("require tables, buckets and bucket_count");
  score_.max_distance = (1u << 29) + 1;
  ExpectOption("max_distance");
  score_.relative_keys = floats;
  score_.buckets = buckets;
  score_.bucket_count = (1u << 20) + 1;
  ExpectOption("too many buckets");
  positions_.query_stride = (1u << 20) + 1;
  ExpectOption("query_stride");
  const int32_t coordinates[60] = {};
  positions_.coordinates = coordinates;
  positions_.coordinate_positions = 39;
  Expect(FOVEA_E_LENGTH, "coordinates", 2);
  positions_.coordinates = coordinates;
  positions_.coordinate_positions = 60;
  positions_.query_stride = 2;
  ExpectOption("query_stride cannot be combined with coordinates");
  score_.key_bias = floats;
  score_.key_bias_heads = 2;  // must be 1 or the 4 heads
  Expect(FOVEA_E_OPTION, "key_bias");
  score_.key_bias = floats;
  score_.key_bias_row_stride = 6;
  Expect(FOVEA_E_MISALIGNED, "aligned");
}

TEST_F(AttentionMisuse, Weights) {
  std::vector<float> weights(45 * 4 * 40);
  uint32_t number = 0;
  kept_.values = weights.data();
  kept_.stride = 39;
  {
    const test::AlignedBytes scratch(1 << 20);
    fovea_error error = {};
    EXPECT_EQ(fovea_attention_run(&options_, &q_, &k_, &v_, &out_, scratch.data(), 1 << 20, &error), FOVEA_E_CAPACITY);
    EXPECT_EQ(error.expected, 40u);
    EXPECT_EQ(error.index, 2u);
  }
  kept_.stride = 40;
  Expect(FOVEA_OK, "");
  kept_.keys = &number;
  Expect(FOVEA_E_NULL, "sparse");
  kept_.values = weights.data();
  kept_.counts = &number;
  Expect(FOVEA_E_NULL, "sparse");
}

TEST(AttentionMisuseProducts, WhatGoesWithThem) {
  Case c;
  c.queries = {5};
  const Problem problem(c);
  Arguments a(problem, Layout::kGaps);
  const float vector[4096] = {};
  const auto scratch = [&](uint32_t products, uint32_t kind, uint32_t d_k) {
    fovea_attention_score score = a.score;
    score.products = products;
    score.kind = kind;
    score.additive = kind == FOVEA_SCORE_ADDITIVE ? vector : nullptr;
    fovea_attention_options options = a.options;
    options.heads = options.kv_heads = 1;
    options.d_k = d_k;
    options.score = &score;
    uint64_t bytes = 0;
    fovea_error error = {};
    return fovea_attention_scratch_size(&options, &bytes, &error);
  };
  for (const uint32_t products : {FOVEA_PRODUCTS_BF16, FOVEA_PRODUCTS_I8, FOVEA_PRODUCTS_I16}) {
    EXPECT_EQ(scratch(products, FOVEA_SCORE_DOT, 8), FOVEA_OK);
    EXPECT_EQ(scratch(products, FOVEA_SCORE_DISTANCE, 8), FOVEA_E_OPTION);
    EXPECT_EQ(scratch(products, FOVEA_SCORE_ADDITIVE, 8), FOVEA_E_OPTION);
  }
  EXPECT_EQ(scratch(4, FOVEA_SCORE_DOT, 8), FOVEA_E_OPTION);
  EXPECT_EQ(scratch(UINT32_MAX, FOVEA_SCORE_DOT, 8), FOVEA_E_OPTION);
  EXPECT_EQ(scratch(FOVEA_PRODUCTS_I8, FOVEA_SCORE_DOT, 65536), FOVEA_OK);
  EXPECT_EQ(scratch(FOVEA_PRODUCTS_I8, FOVEA_SCORE_DOT, 65537), FOVEA_E_OPTION);
  EXPECT_EQ(scratch(FOVEA_PRODUCTS_I16, FOVEA_SCORE_DOT, 65536), FOVEA_OK);
  EXPECT_EQ(scratch(FOVEA_PRODUCTS_I16, FOVEA_SCORE_DOT, 65537), FOVEA_E_OPTION);
  EXPECT_EQ(scratch(FOVEA_PRODUCTS_BF16, FOVEA_SCORE_DOT, 65537), FOVEA_OK);
}

TEST(AttentionMisuseCenters, WhatGoesWithThem) {
  Case c;
  c.queries = {5, 0, 40};
  c.spec.pattern = WindowOf(3, 3);
  c.spec.pattern.centers = Centers::kPositions;
  c.spec.weighting.gaussian = true;
  const Problem problem(c);
  Arguments a(problem, Layout::kGaps);
  fovea_error error = {};
  uint64_t bytes = 0;
  EXPECT_EQ(fovea_attention_scratch_size(&a.options, &bytes, &error), FOVEA_OK) << error.text;
  const int32_t windows[] = {1, 1, 1, 1, 1, 1}, blocks[] = {0};
  const auto refused = [&](const auto& spoil, fovea_status status = FOVEA_E_OPTION) {
    const fovea_attention_options options = a.options;
    const fovea_attention_pattern pattern = a.pattern;
    const fovea_attention_weighting weighting = a.weighting;
    spoil();
    EXPECT_EQ(fovea_attention_scratch_size(&a.options, &bytes, &error), status);
    a.options = options;
    a.pattern = pattern;
    a.weighting = weighting;
  };
  refused([&] { a.pattern.centers = 3; });
  refused([&] { a.pattern.centers = 0; }, FOVEA_E_NULL);
  refused([&] { a.pattern.center_values = nullptr; }, FOVEA_E_NULL);
  refused([&] { a.weighting.gaussian = 2; });
  refused([&] { a.pattern.center_values = nullptr, a.pattern.centers = 0; });  // a Gaussian around nothing
  refused([&] { a.pattern.left = 2; });
  refused([&] { a.pattern.left = a.pattern.right = 0; });
  refused([&] { a.pattern.right = FOVEA_UNBOUNDED; });
  refused([&] { a.pattern.head_windows = windows; });
  refused([&] { a.pattern.dilation = 2; });
  refused([&] { a.pattern.block = 2; });
  refused([&] { a.pattern.global_first = 1; });
  refused([&] { a.pattern.causal = 1; });
  refused([&] { a.pattern.full_up_to = 1; });
  refused([&] { a.pattern.top_k = 1; });
  refused([&] { a.pattern.layout = blocks, a.pattern.layout_rows = a.pattern.layout_columns = 1; });
  refused([&] { a.pattern.window = FOVEA_WINDOW_FULL, a.pattern.left = a.pattern.right = 0; });
  const test::AlignedBytes scratch(1 << 20);
  a.pattern.center_stride = 3;
  EXPECT_EQ(a.Run(scratch.data(), scratch.size(), &error), FOVEA_E_MISALIGNED);
}

TEST(AttentionMisuseClusters, OrdersAndRanks) {
  Case c;
  c.queries = {4, 20, 3};
  c.spec.pattern.rounds = 2;
  c.spec.pattern.chunk = 8;
  c.spec.heads = 1;
  c.spec.kv_heads = 1;
  const Problem problem(c);
  Arguments a(problem, Layout::kDense);
  const test::AlignedBytes scratch(a.Needed());
  std::vector<int32_t> order(a.pattern.order, a.pattern.order + 54), rank(a.pattern.rank, a.pattern.rank + 54);
  a.pattern.order = order.data();
  a.pattern.rank = rank.data();
  fovea_error error = {};
  const auto run = [&] { return a.Run(scratch.data(), scratch.size(), &error); };
  EXPECT_EQ(run(), FOVEA_OK);
  for (std::vector<int32_t>* table : {&order, &rank}) {
    for (size_t at : {8u, 9u, 30u, 47u}) {  // segment with several chunks
      const int32_t right = (*table)[at];
      for (const int32_t wrong : {-1, 20, 24, 3, right + 1, std::numeric_limits<int32_t>::min()}) {
        if (wrong == right) continue;
        (*table)[at] = wrong;
        EXPECT_EQ(run(), FOVEA_E_ID) << at << " " << wrong;
      }
      (*table)[at] = right;
    }
  }
  order[0] = 99;  // its segment is one chunk, so the order is not read
  EXPECT_EQ(run(), FOVEA_OK);
  a.pattern.cluster_stride = 1;
  EXPECT_EQ(run(), FOVEA_E_OPTION);
  a.pattern.cluster_stride = 0;
  a.pattern.rank = nullptr;
  EXPECT_EQ(run(), FOVEA_E_NULL);
  a.pattern.rank = rank.data();
  for (uint32_t* number : {&a.pattern.window, &a.pattern.global_first, &a.pattern.global_last, &a.pattern.full_up_to,
                           &a.pattern.block, &a.pattern.dilation, &a.pattern.top_k}) {
    const uint32_t right = *number;
    *number = 2;
    EXPECT_EQ(run(), FOVEA_E_OPTION);
    *number = right;
  }
  for (uint32_t* number : {&a.pattern.rounds, &a.pattern.chunks_before, &a.pattern.chunks_after}) {
    const uint32_t right = *number;
    *number = 65;
    EXPECT_EQ(run(), FOVEA_E_OPTION);
    *number = right;
  }
  a.pattern.chunk = 0;
  EXPECT_EQ(run(), FOVEA_E_OPTION);
  a.pattern.chunk = 8;
  const uint32_t offsets[] = {0, 4, 20, 23};
  a.options.query_offsets = offsets;
  EXPECT_EQ(run(), FOVEA_E_SEGMENTS);
  a.options.query_offsets = nullptr;
  a.options.pairing = FOVEA_PAIRING_ROWS;
  EXPECT_EQ(run(), FOVEA_E_OPTION);
}

TEST(AttentionApiMisuse, SummariesSinksAndSlopes) {
  Case c;
  c.queries = {9, 20, 3};
  c.summary_group = 4;
  c.summary_reach = 2;
  c.slopes = false;
  const Problem problem(c);
  Arguments a(problem, Layout::kDense);
  const test::AlignedBytes scratch(a.Needed());
  fovea_error error = {};
  const auto expect = [&](fovea_status code, const char* text) {
    EXPECT_EQ(a.Run(scratch.data(), scratch.size(), &error), code) << error.text;
    EXPECT_NE(std::string(error.text).find(text), std::string::npos) << error.text;
  };
  // Changes a field, expects the error, and restores it.
  const auto with = [&](auto* field, auto wrong, fovea_status code, const char* text) {
    const auto right = *field;
    *field = wrong;
    expect(code, text);
    *field = right;
  };
  EXPECT_EQ(a.Run(scratch.data(), scratch.size(), &error), FOVEA_OK) << error.text;
  const float floats[64] = {};
  with(&a.summaries.group, 0u, FOVEA_E_OPTION, "group");
  with(&a.summaries.k, nullptr, FOVEA_E_NULL, "summaries");
  with(&a.summaries.max_distance, (1u << 29) + 1, FOVEA_E_OPTION, "max_distance");
  with(&a.summary_k.type, uint32_t{FOVEA_TYPE_F16}, FOVEA_E_OPTION, "type of k");
  with(&a.summary_v.segment_stride, size_t{64}, FOVEA_E_OPTION, "segment_stride");
  with(&a.summary_v.rows, 1u, FOVEA_E_ROWS, "differ in rows");
  with(&a.summaries.offsets, nullptr, FOVEA_E_NULL, "offsets");
  const uint32_t far[] = {0, 2, 7, 90}, falling[] = {0, 5, 2, 3};
  with(&a.summaries.offsets, &far[0], FOVEA_E_SEGMENTS, "after the last row");
  with(&a.summaries.offsets, &falling[0], FOVEA_E_SEGMENTS, "not descend");
  with(&a.score.key_bias, &floats[0], FOVEA_E_OPTION, "key_bias");
  with(&a.score.slopes, &floats[0], FOVEA_E_OPTION, "slopes");
  with(&a.pattern.top_k, 2u, FOVEA_E_OPTION, "top_k");
  with(&a.positions.row_coordinates, &floats[0], FOVEA_E_OPTION, "coordinates");
  const uint32_t fewer[] = {0, 8, 20, 23};
  with(&a.options.query_offsets, &fewer[0], FOVEA_E_SEGMENTS, "same rows");
  a.options.summaries = nullptr;
  with(&a.weighting.sinks, &floats[0], FOVEA_OK, "");
  a.weighting.sinks = floats;
  with(&a.pattern.top_k, 2u, FOVEA_E_OPTION, "sinks");
  with(&a.weighting.kind, uint32_t{FOVEA_WEIGHTING_RELU}, FOVEA_E_OPTION, "sinks");
  a.positions.row_coordinates = reinterpret_cast<const float*>(reinterpret_cast<const char*>(floats) + 2);
  expect(FOVEA_E_MISALIGNED, "row_coordinates");
  a.positions.row_coordinates = floats;
  with(&a.options.query_offsets, &fewer[0], FOVEA_E_SEGMENTS, "same rows");
  const int32_t table[64] = {};
  with(&a.positions.coordinates, &table[0], FOVEA_E_OPTION, "coordinates");
}

}  // namespace
}  // namespace fovea
