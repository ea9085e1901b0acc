// Terms of single pairs and the layout of rows: bias and mask of pairs, stored scores, query starts, and views with a
// slot for each segment.
#include "tests/attention/api_problem.h"
#include "tests/support/distance.h"

namespace fovea {
namespace {

double Worst(const std::vector<float>& found, const std::vector<double>& expected) {
  double worst = 0.0;
  for (size_t i = 0; i < found.size(); ++i) worst = std::max(worst, test::Distance(found[i], expected[i]));
  return worst;
}

Case Ragged() {
  Case c;
  c.spec = SpecOf(4, 2, 24, 8, 0.3f);
  c.queries = {30, 0, 3, 1};
  c.keys = {70, 5, 3, 40};
  return c;
}

// Bias and mask with an entry for every pair, with every way to share entries between heads; entries that mask a key
// hide it.
TEST(AttentionPairs, BiasAndMask) {
  const Case base = Ragged();
  std::mt19937 random(3);
  std::vector<float> bias(34 * 4 * 70);
  std::vector<uint8_t> mask(bias.size());
  for (size_t i = 0; i < bias.size(); ++i) {
    mask[i] = random() % 3 == 0 ? 0 : static_cast<uint8_t>(random() % 255 + 1);
    bias[i] = random() % 5 == 0 ? -INFINITY : static_cast<float>(random() % 1000) * 0.004f - 2.0f;
  }
  for (const Pattern& pattern : SomePatterns()) {
    if (pattern.rounds > 0) continue;
    for (const bool is_mask : {false, true}) {
      for (const bool by_head : {false, true}) {
        for (const bool by_row : {false, true}) {
          Case c = base;
          c.spec.pattern = pattern;
          const Problem problem(c);
          Arguments a(problem, Layout::kDense);
          const size_t element = is_mask ? 1 : sizeof(float);
          fovea_attention_pairs_bias& pairs = a.score.pair_bias;
          pairs.data = is_mask ? static_cast<const void*>(mask.data()) : bias.data();
          pairs.type = is_mask ? FOVEA_TYPE_U8 : FOVEA_TYPE_F32;
          pairs.keys = 70;
          pairs.row_stride = 4 * 70 * element;
          pairs.head_stride = by_head ? 70 * element : 0;
          pairs.segment_stride = by_row ? FOVEA_BY_ROW : 0;
          AttentionCall call = problem.Call();
          call.pair_bias = {pairs.data, is_mask, 70, pairs.row_stride, pairs.head_stride, pairs.segment_stride};
          const ReferenceAttention expected = RunReferenceAttention(call, problem.rows(), problem.stride());
          EXPECT_LE(Worst(a.Output(), expected.out), 1e-5);
          a.options.workers = 3;
          a.options.tile_rows = 5;
          EXPECT_LE(Worst(a.Output(), expected.out), 1e-5);
        }
      }
    }
  }
}

TEST(AttentionPairs, ShortRowsOfBiasAreRefused) {
  const Problem problem(Ragged());
  Arguments a(problem, Layout::kDense);
  std::vector<float> bias(34 * 69);
  a.score.pair_bias = {bias.data(), FOVEA_TYPE_F32, 69, 69 * sizeof(float), 0, FOVEA_BY_ROW};
  const test::AlignedBytes scratch(a.Needed());
  fovea_error error = {};
  EXPECT_EQ(a.Run(scratch.data(), scratch.size(), &error), FOVEA_E_LENGTH);
  EXPECT_EQ(error.expected, 69u);
  EXPECT_EQ(error.found, 70u);
  EXPECT_EQ(error.byte, 0u);
  a.score.pair_bias.type = FOVEA_TYPE_I32;
  EXPECT_EQ(a.Run(scratch.data(), scratch.size(), &error), FOVEA_E_OPTION);
}

TEST(AttentionPairs, ScoresAreKept) {
  for (const Pattern& pattern : SomePatterns()) {
    for (const Activation weighting : {Activation::kNone, Activation::kSigmoid}) {
      Case c;
      c.spec = SpecOf(4, 2, 24, 8, 0.3f);
      c.queries = {70, 0, 3};
      c.spec.pattern = pattern;
      c.spec.weighting.kind = weighting;
      c.spec.score.cap = 3.0f;
      const Problem problem(c);
      const ReferenceAttention expected = RunReferenceAttention(problem.Call(), problem.rows(), problem.stride());
      Arguments a(problem, Layout::kDense);
      const std::vector<float> out = a.Output();
      std::vector<float> scores(size_t{problem.rows()} * 4 * 70, 0.0f);
      a.kept.what = FOVEA_KEEP_SCORES;
      a.kept.values = scores.data();
      a.kept.stride = 70;
      EXPECT_TRUE(SameBits(a.Output(), out));
      for (size_t row = 0; row < problem.rows(); ++row) {
        const uint32_t keys = row < 70 ? 70 : 3;
        for (size_t i = row * 4 * 70; i < (row + 1) * 4 * 70; ++i) {
          if (i % 70 >= keys) continue;
          if (expected.scores[i] == -INFINITY) {
            EXPECT_EQ(scores[i], -INFINITY) << row;
          } else {
            EXPECT_NEAR(scores[i], expected.scores[i], 1e-5) << row;
          }
        }
      }
    }
  }
}

// Causal attention of only the last queries of a text equals their rows in a run over the whole text.
TEST(AttentionPositions, QueriesMayStartAnywhere) {
  for (const uint32_t origin : {FOVEA_ORIGIN_STARTS, FOVEA_ORIGIN_END}) {
    for (const bool windowed : {false, true}) {
      Case c = Ragged();
      if (windowed) {
        c.spec.pattern = WindowOf(20, 0);
      } else {
        c.spec.pattern.causal = true;
      }
      c.spec.score.max_distance = 9;
      const Problem problem(c);
      Arguments a(problem, Layout::kDense);
      const uint32_t ends[] = {40, 5, 0, 39}, starts[] = {7, 0, 2, 30};
      AttentionCall call = problem.Call();
      AttentionSpec spec = *call.spec;
      spec.positions.origin = Origin(origin);
      call.spec = &spec;
      call.starts = origin == FOVEA_ORIGIN_END ? ends : starts;
      a.positions.origin = origin;
      a.positions.starts = origin == FOVEA_ORIGIN_END ? nullptr : starts;
      const ReferenceAttention expected = RunReferenceAttention(call, problem.rows(), problem.stride());
      const std::vector<float> out = a.Output();
      EXPECT_LE(Worst(out, expected.out), 1e-5);
      a.options.workers = 4;
      a.options.tile_rows = 3;
      EXPECT_TRUE(SameBits(a.Output(), out));
    }
  }
  const Problem problem(Ragged());
  Arguments a(problem, Layout::kDense);
  const uint32_t far[] = {0, 0, 0, INT32_MAX};
  a.positions.origin = FOVEA_ORIGIN_STARTS;
  a.positions.starts = far;
  const test::AlignedBytes scratch(a.Needed());
  fovea_error error = {};
  EXPECT_EQ(a.Run(scratch.data(), scratch.size(), &error), FOVEA_E_LENGTH);
  a.positions.starts = nullptr;
  EXPECT_EQ(a.Run(scratch.data(), scratch.size(), &error), FOVEA_E_NULL);
}

// [batch, heads, time, d], padded to the longest, in one call.
TEST(AttentionPositions, SegmentsInPlacesOfTheirOwn) {
  for (const DType type : {DType::kF32, DType::kI8}) {
    Case c = Ragged();
    c.key_type = type;
    c.spec.pattern = WindowOf(9, 9);
    c.key_bias = true;
    const Problem problem(c);
    Arguments a(problem, Layout::kDense);
    const std::vector<float> expected = a.Output();
    const uint32_t times = 70, segments = 4;
    const auto pad = [&](const fovea_attention_rows& from, const uint32_t* offsets, uint32_t heads, size_t vector,
                         const void* data, std::vector<uint8_t>* to) {
      to->assign(size_t{segments} * heads * times * vector, 0);
      for (uint32_t s = 0; s < segments; ++s) {
        for (uint32_t row = offsets[s]; row < offsets[s + 1]; ++row) {
          for (uint32_t h = 0; h < heads; ++h) {
            memcpy(to->data() + ((size_t{s} * heads + h) * times + row - offsets[s]) * vector,
                   static_cast<const uint8_t*>(data) + (size_t{row} * heads + h) * vector, vector);
          }
        }
      }
      fovea_attention_rows view = from;
      view.data = to->data();
      view.rows = times;
      view.row_stride = vector;
      view.head_stride = times * vector;
      view.segment_stride = heads * times * vector;
      return view;
    };
    std::vector<uint8_t> q, k, v, k_scales, v_scales;
    const size_t element = RowBytes(type, 1);
    a.q = pad(a.q, a.options.query_offsets, 4, 24 * sizeof(float), a.q.data, &q);
    const fovea_attention_rows keys = a.k, values = a.v;
    a.k = pad(keys, a.options.key_offsets, 2, 24 * element, keys.data, &k);
    a.v = pad(values, a.options.key_offsets, 2, 8 * element, values.data, &v);
    if (type == DType::kI8) {
      const auto scales = [&](const fovea_attention_rows& from, std::vector<uint8_t>* to, fovea_attention_rows* view) {
        const fovea_attention_rows padded = pad(from, a.options.key_offsets, 2, sizeof(float), from.scales, to);
        view->scales = static_cast<const float*>(padded.data);
        view->scale_row_stride = padded.row_stride;
        view->scale_head_stride = padded.head_stride;
        view->scale_segment_stride = padded.segment_stride;
      };
      scales(keys, &k_scales, &a.k);
      scales(values, &v_scales, &a.v);
    }
    std::vector<float> out(size_t{segments} * 4 * times * 8, kCanary);
    a.out = {out.data(), times, 8 * sizeof(float), times * 8 * sizeof(float), 4 * times * 8 * sizeof(float)};
    a.options.workers = 2;
    a.options.tile_rows = 4;
    const test::AlignedBytes scratch(a.Needed());
    fovea_error error = {};
    ASSERT_EQ(a.Run(scratch.data(), scratch.size(), &error), FOVEA_OK) << error.text;
    size_t written = 0;
    for (uint32_t s = 0; s < segments; ++s) {
      for (uint32_t row = a.options.query_offsets[s]; row < a.options.query_offsets[s + 1]; ++row) {
        for (uint32_t h = 0; h < 4; ++h) {
          const float* found = &out[((size_t{s} * 4 + h) * times + row - a.options.query_offsets[s]) * 8];
          EXPECT_EQ(memcmp(found, &expected[(size_t{row} * 4 + h) * 8], 8 * sizeof(float)), 0) << s << " " << row;
          written += 8;
        }
      }
    }
    EXPECT_EQ(static_cast<size_t>(std::count(out.begin(), out.end(), kCanary)), out.size() - written);
    a.k.rows = a.v.rows = 69;
    EXPECT_EQ(a.Run(scratch.data(), scratch.size(), &error), FOVEA_E_SEGMENTS);
    a.k.rows = a.v.rows = 70;
    a.out.segment_stride = 3 * times * 8 * sizeof(float);
    EXPECT_EQ(a.Run(scratch.data(), scratch.size(), &error), FOVEA_E_OPTION);
  }
}

}  // namespace
}  // namespace fovea
