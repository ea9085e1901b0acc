// Attention problems through the C interface: the same data in views of several layouts, with canaries in the gaps.
#ifndef FOVEA_TESTS_ATTENTION_API_PROBLEM_H_
#define FOVEA_TESTS_ATTENTION_API_PROBLEM_H_

#include "fovea/attention.h"
#include "tests/attention/attention_problem.h"
#include "tests/support/model_builder.h"

namespace fovea {

enum class Layout { kDense, kGaps, kHeadsFirst };
inline constexpr uint8_t kGap = 0xa5;

// Rows of vectors in one of the layouts.
class Strided {
 public:
  Strided(Layout layout, uint32_t rows, uint32_t heads, size_t vector, size_t element)
      : rows_(rows), heads_(heads), vector_(vector), dense_(layout == Layout::kDense) {
    head_ = layout == Layout::kGaps ? vector + 3 * element : vector;
    row_ = heads * head_ + (layout == Layout::kGaps ? 5 * element : 0);
    if (layout == Layout::kHeadsFirst) {
      row_ = vector + element;
      head_ = rows * row_ + element;
    }
    // From the first byte to the last one, not a byte more.
    size_ = rows == 0 ? 0 : (rows - 1) * row_ + (heads - 1) * head_ + vector;
    bytes_ = test::AlignedBytes(size_);
    memset(bytes_.data(), kGap, size_);
  }
  uint8_t* data() { return bytes_.data(); }
  size_t row_stride() const { return dense_ ? 0 : row_; }
  size_t head_stride() const { return dense_ ? 0 : head_; }

  void Fill(const void* from) {
    ForVectors([&](uint8_t* to, size_t i) { memcpy(to, static_cast<const uint8_t*>(from) + i * vector_, vector_); });
  }
  std::vector<float> Floats() {
    std::vector<float> values(size_t{rows_} * heads_ * vector_ / sizeof(float));
    ForVectors(
        [&](uint8_t* at, size_t i) { memcpy(reinterpret_cast<uint8_t*>(values.data()) + i * vector_, at, vector_); });
    return values;
  }
  // Nothing between the vectors was written.
  bool GapsAreWhole() {
    std::vector<bool> taken(size_);
    ForVectors([&](uint8_t* at, size_t) {
      for (size_t b = 0; b < vector_; ++b) taken[at + b - bytes_.data()] = true;
    });
    for (size_t b = 0; b < size_; ++b) {
      if (!taken[b] && bytes_.data()[b] != kGap) return false;
    }
    return true;
  }

 private:
  template <typename F>
  void ForVectors(const F& f) {
    for (uint32_t row = 0; row < rows_; ++row) {
      for (uint32_t head = 0; head < heads_; ++head) {
        f(bytes_.data() + row * row_ + head * head_, size_t{row} * heads_ + head);
      }
    }
  }
  uint32_t rows_, heads_;
  size_t vector_, row_ = 0, head_ = 0, size_ = 0;
  bool dense_;
  test::AlignedBytes bytes_;
};

// The arguments of fovea_attention_run for a problem.
struct Arguments {
  Arguments(const Problem& problem, Layout layout)
      : call(problem.Call()),
        spec(*call.spec),
        key_rows(call.key_segments.offsets[call.key_segments.count]),
        q_rows(layout, problem.rows(), spec.heads, spec.d_k * sizeof(float), sizeof(float)),
        k_rows(layout, key_rows, spec.kv_heads, spec.d_k * Element(), Element()),
        v_rows(layout, key_rows, spec.kv_heads, spec.d_v * Element(), Element()),
        k_scales(layout, key_rows, spec.kv_heads, sizeof(float), sizeof(float)),
        v_scales(Layout::kDense, key_rows, spec.kv_heads, sizeof(float), sizeof(float)),
        out_rows(layout, problem.rows(), spec.heads, spec.d_v * sizeof(float), sizeof(float)),
        summary_rows(spec.summaries.group == 0 ? 0 : call.summaries.segments.offsets[call.summaries.segments.count]),
        summary_k_rows(layout, summary_rows, spec.kv_heads, spec.d_k * Element(), Element()),
        summary_v_rows(layout, summary_rows, spec.kv_heads, spec.d_v * Element(), Element()) {
    q_rows.Fill(call.q.data);
    k_rows.Fill(call.k.data);
    v_rows.Fill(call.v.data);
    const auto type = static_cast<uint32_t>(call.key_type);
    q = {q_rows.data(), problem.rows(), FOVEA_TYPE_F32, q_rows.row_stride(), q_rows.head_stride(), 0, nullptr, 0, 0, 0};
    k = {k_rows.data(), key_rows, type, k_rows.row_stride(), k_rows.head_stride(), 0, nullptr, 0, 0, 0};
    v = {v_rows.data(), key_rows, type, v_rows.row_stride(), v_rows.head_stride(), 0, nullptr, 0, 0, 0};
    if (call.key_type == DType::kI8) {
      k_scales.Fill(call.k_scales.data);
      v_scales.Fill(call.v_scales.data);
      k.scales = reinterpret_cast<float*>(k_scales.data());
      k.scale_row_stride = k_scales.row_stride();
      k.scale_head_stride = k_scales.head_stride();
      v.scales = reinterpret_cast<float*>(v_scales.data());
    }
    out = {reinterpret_cast<float*>(out_rows.data()), problem.rows(), out_rows.row_stride(), out_rows.head_stride(), 0};
    SetOptions();
    SetSummaries();
    SetPattern();
    Point();
  }
  Arguments(const Arguments&) = delete;

  // The options' parts are these.
  void Point() {
    options.pattern = &pattern;
    options.score = &score;
    options.weighting = &weighting;
    options.positions = &positions;
    options.kept = &kept;
  }
  uint64_t Needed() const {
    uint64_t bytes = 0;
    fovea_error error = {};
    EXPECT_EQ(fovea_attention_scratch_size(&options, &bytes, &error), FOVEA_OK) << error.text;
    return bytes;
  }
  fovea_status Run(void* scratch, uint64_t size, fovea_error* error) {
    return fovea_attention_run(&options, &q, &k, &v, &out, scratch, size, error);
  }
  std::vector<float> Output() {
    const test::AlignedBytes scratch(Needed());
    memset(scratch.data(), 0xff, scratch.size());
    fovea_error error = {};
    EXPECT_EQ(Run(scratch.data(), scratch.size(), &error), FOVEA_OK) << error.text << " " << error.found;
    return out_rows.Floats();
  }

  AttentionCall call;
  AttentionSpec spec;
  uint32_t key_rows;
  Strided q_rows, k_rows, v_rows, k_scales, v_scales, out_rows;
  uint32_t summary_rows;
  Strided summary_k_rows, summary_v_rows;
  fovea_attention_options options = {};
  fovea_attention_pattern pattern = {};
  fovea_attention_score score = {};
  fovea_attention_weighting weighting = {};
  fovea_attention_positions positions = {};
  fovea_attention_kept kept = {};
  fovea_attention_summaries summaries = {};
  fovea_attention_rows q, k, v, summary_k = {}, summary_v = {};
  fovea_attention_out out;

 private:
  size_t Element() const { return RowBytes(call.key_type, 1); }
  void SetOptions() {
    options.struct_size = sizeof(options);
    options.heads = spec.heads;
    options.kv_heads = spec.kv_heads;
    options.d_k = spec.d_k;
    options.d_v = spec.d_v;
    score.kind = static_cast<uint32_t>(spec.score.kind);
    score.products = static_cast<uint32_t>(spec.score.products);
    weighting.kind = static_cast<uint32_t>(spec.weighting.kind);
    score.scale = spec.score.scale;
    score.cap = spec.score.cap;
    score.struct_size = sizeof(score);
    weighting.struct_size = sizeof(weighting);
    positions.struct_size = sizeof(positions);
    kept.struct_size = sizeof(kept);
    options.pairing = static_cast<uint32_t>(spec.pairing);
    options.segment_count = call.key_segments.count;
    options.query_offsets = spec.pairing == Pairing::kPaired ? call.query_segments.offsets : nullptr;
    options.key_offsets = call.key_segments.offsets;
    score.additive = spec.score.additive;
    score.distance_bias = spec.score.distance_bias;
    score.max_distance = spec.score.max_distance;
    score.relative_keys = static_cast<const float*>(spec.score.relative.keys);
    score.relative_queries = static_cast<const float*>(spec.score.relative.queries);
    score.buckets = spec.score.relative.buckets;
    score.bucket_count = spec.score.relative.bucket_count;
    positions.coordinates = spec.positions.coordinates;
    positions.coordinate_sets = spec.positions.coordinate_sets;
    positions.coordinate_positions = spec.positions.coordinate_positions;
    positions.axes = spec.positions.axes;
    positions.query_stride = spec.positions.query_stride;
    positions.apart = spec.positions.apart;
    positions.origin = static_cast<uint32_t>(spec.positions.origin);
    positions.starts = call.starts;
    score.key_bias = static_cast<const float*>(call.key_bias.data);
    score.key_bias_heads = call.key_bias.head_stride != 0 ? spec.heads : 1;
    score.slopes = spec.score.slopes;
    weighting.sinks = spec.weighting.sinks;
    positions.row_coordinates = spec.positions.row_coordinates ? call.row_coordinates : nullptr;
    score.has_self_score = spec.score.has_self_score ? 1 : 0;
    score.self_score = spec.score.self_score;
    pattern.center_values = spec.pattern.centers == Centers::kNone ? nullptr : call.centers.values;
    pattern.center_stride = spec.pattern.centers == Centers::kNone ? 0 : call.centers.stride;
    pattern.centers = static_cast<uint32_t>(spec.pattern.centers);
    weighting.gaussian = spec.weighting.gaussian ? 1 : 0;
  }
  void SetSummaries() {
    if (spec.summaries.group == 0) return;
    const auto set = [&](Strided& rows, const HeadRows& from, fovea_attention_rows* to) {
      rows.Fill(from.data);
      to->data = rows.data();
      to->rows = summary_rows;
      to->type = static_cast<uint32_t>(call.key_type);
      to->row_stride = rows.row_stride();
      to->head_stride = rows.head_stride();
    };
    set(summary_k_rows, call.summaries.k, &summary_k);
    set(summary_v_rows, call.summaries.v, &summary_v);
    summaries.struct_size = sizeof(summaries);
    summaries.group = spec.summaries.group;
    summaries.k = &summary_k;
    summaries.v = &summary_v;
    summaries.offsets = call.summaries.segments.offsets;
    summaries.bias = spec.summaries.bias;
    summaries.max_distance = spec.summaries.max_distance;
    options.summaries = &summaries;
  }
  void SetPattern() {
    const Pattern& p = spec.pattern;
    pattern.struct_size = sizeof(pattern);
    const bool sides = p.left != kUnbounded || p.right != kUnbounded || p.head_windows != nullptr;
    pattern.window = !p.has_window ? FOVEA_WINDOW_NONE : sides ? FOVEA_WINDOW_SIDES : FOVEA_WINDOW_FULL;
    if (pattern.window == FOVEA_WINDOW_SIDES) {
      pattern.left = p.left;
      pattern.right = p.right;
      pattern.head_windows = p.head_windows;
    }
    pattern.dilation = p.dilation;
    pattern.block = p.block;
    pattern.causal = p.causal ? 1 : 0;
    pattern.global_first = p.global_first;
    pattern.global_last = p.global_last;
    if (p.global_keys) {
      pattern.global_keys = call.global_keys.rows;
      pattern.global_key_count = call.global_keys.segments.offsets[call.global_keys.segments.count];
      pattern.global_key_offsets = call.global_keys.segments.offsets;
    }
    pattern.full_up_to = p.full_up_to;
    pattern.layout = p.layout;
    pattern.layout_heads = p.layout_heads;
    pattern.layout_rows = p.layout_rows;
    pattern.layout_columns = p.layout_columns;
    pattern.top_k = p.top_k;
    pattern.rounds = p.rounds;
    pattern.chunk = p.chunk;
    pattern.chunks_before = p.chunks_before;
    pattern.chunks_after = p.chunks_after;
    pattern.chunk_multiple = p.chunk_multiple;
    if (p.rounds > 0) {
      pattern.order = call.clusters.order;
      pattern.rank = call.clusters.rank;
    }
  }
};

}  // namespace fovea

#endif  // FOVEA_TESTS_ATTENTION_API_PROBLEM_H_
