// An attention operation in a program, with what keys receive in it, and the same call described to the reference, on
// random data.
#ifndef FOVEA_TESTS_OPS_ATTENTION_TRIAL_H_
#define FOVEA_TESTS_OPS_ATTENTION_TRIAL_H_

#include <list>

#include "runtime/blob/attributes.h"
#include "tests/ops/op_fixture.h"
#include "tests/support/reference_attention.h"

namespace fovea::test {

// Tensors of the operation.
enum AttentionTensor : uint32_t {
  kDistanceBias,
  kCoordinates,
  kHeadWindows,
  kBlocks,
  kAdditive,
  kRelativeKeys,
  kRelativeQueries,
  kBuckets,
  kAttentionTensors,
};

enum class Sides { kSelf, kCross, kFixed };  // one space, two, one whose segments all have kFixedRows rows
inline constexpr uint32_t kFixedRows = 6;

class Trial {
 public:
  explicit Trial(Sides sides, uint32_t heads = 4, uint32_t kv_heads = 2, uint32_t d_k = 6, uint32_t d_v = 5)
      : sides_(sides), tensors_(kAttentionTensors, kBlobNone) {
    spec = {};
    spec.heads = heads;
    spec.kv_heads = kv_heads;
    spec.d_k = d_k;
    spec.d_v = d_v;
    spec.score.scale = static_cast<float>(1 / std::sqrt(double{1} * d_k));
    Set(Attribute::kHeads, heads);
    Set(Attribute::kKvHeads, kv_heads);
    texts_ = b_.Space("texts");
    keys_ = sides == Sides::kFixed ? b_.FixedSpace("keys", texts_, kFixedRows) : b_.Space("keys", texts_);
    queries_ = sides == Sides::kCross ? b_.Space("queries", texts_) : keys_;
    inputs_ = {b_.Input("q", queries_, heads * d_k), b_.Input("k", keys_, kv_heads * d_k),
               b_.Input("v", keys_, kv_heads * d_v)};
  }

  AttentionSpec spec;   // for the reference; the program gets the same as attributes and tensors
  bool halves = false;  // weights and values are f16, as bounded in tests/attention/attention_problem.h

  void Set(Attribute key, double value) { attributes_.emplace_back(key, value); }
  void Window(uint32_t left, uint32_t right) {
    Set(Attribute::kPattern, 1);
    if (left != kUnbounded) Set(Attribute::kLeft, left);
    if (right != kUnbounded) Set(Attribute::kRight, right);
    spec.pattern.left = left;
    spec.pattern.right = right;
  }
  void Count(Attribute key, uint32_t* of_spec, uint32_t value) {
    Set(key, value);
    *of_spec = value;
  }
  const float* Floats(AttentionTensor i, uint32_t rows, uint32_t width, DType type = DType::kF32) {
    tensors_[i] = b_.Tensor(rows, width, b_.RandomFloats(size_t{rows} * width), type);
    floats_.push_back(b_.TensorValues(tensors_[i]));
    return floats_.back().data();
  }
  const int32_t* Integers(AttentionTensor i, uint32_t rows, const std::vector<int32_t>& values) {
    integers_.push_back(values);
    tensors_[i] =
        b_.Tensor(rows, static_cast<uint32_t>(values.size()) / rows, {values.begin(), values.end()}, DType::kI32);
    return integers_.back().data();
  }
  void DistanceBias(uint32_t reach) {
    spec.score.distance_bias = Floats(kDistanceBias, spec.positions.axes * spec.heads, 2 * reach + 1);
    spec.score.max_distance = reach;
  }

  // Inputs after q, k and v, in the order in which the operation takes them.
  void KeyBias(bool by_head) {
    Set(Attribute::kKeyBias, 1);
    bias_width_ = by_head ? spec.heads : 1;
    inputs_.push_back(b_.Input("key_bias", keys_, bias_width_));
  }
  void CenteredWindow(Centers centers, uint32_t reach, bool gaussian) {
    Window(reach, reach);
    Set(Attribute::kCenters, static_cast<uint32_t>(centers));
    Set(Attribute::kGaussian, gaussian ? 1 : 0);
    spec.pattern.centers = centers;
    spec.weighting.gaussian = gaussian;
    centers_ = b_.Input("centers", queries_, 1);
    inputs_.push_back(centers_);
  }
  // Wider than the longest segment of keys.
  void PairBias(bool by_head) {
    pair_heads_ = by_head ? spec.heads : 1;
    Set(Attribute::kPairBias, pair_heads_);
    pair_bias_ = b_.Input("pair_bias", queries_, pair_heads_ * kPairKeys);
    inputs_.push_back(pair_bias_);
  }
  void RowCoordinates(uint32_t axes) {
    Count(Attribute::kAxes, &spec.positions.axes, axes);
    Set(Attribute::kRowCoordinates, 1);
    spec.positions.row_coordinates = true;
    row_coordinates_ = b_.Input("coordinates", keys_, axes);
    inputs_.push_back(row_coordinates_);
  }
  void Align(Origin origin) {
    Set(Attribute::kOrigin, static_cast<uint32_t>(origin));
    spec.positions.origin = origin;
  }
  void Listed() {
    Set(Attribute::kGlobalKeys, 1);
    spec.pattern.global_keys = true;
    marks_ = b_.Input("marks", keys_, 1, DType::kI32);
    has_marks_ = true;
  }
  void Clustered(uint32_t rounds, uint32_t chunk, uint32_t before, uint32_t after, uint32_t multiple) {
    if (rounds > 0) Set(Attribute::kRounds, rounds);
    spec.pattern.rounds = std::max(rounds, 1u);
    sorted_ = rounds > 0;
    Count(Attribute::kChunk, &spec.pattern.chunk, chunk);
    Count(Attribute::kChunksBefore, &spec.pattern.chunks_before, before);
    Count(Attribute::kChunksAfter, &spec.pattern.chunks_after, after);
    if (multiple > 1) Count(Attribute::kChunkMultiple, &spec.pattern.chunk_multiple, multiple);
  }

  // Output in every tiling, and weights, against the reference.
  void Check(const std::string& what) {
    SCOPED_TRACE(what);
    uint32_t rows_selected = kBlobNone, sorting = kBlobNone;
    if (has_marks_) {
      const uint32_t chosen = b_.SelectedSpace("chosen", keys_);
      rows_selected = b_.Op("select", {marks_}, {}, chosen, 1);
      inputs_.push_back(rows_selected);
    }
    if (sorted_) {
      const uint32_t columns = spec.heads * spec.pattern.rounds;
      const uint32_t hash =
          b_.Op("hash", {inputs_[0]}, {b_.RandomTensor(2 * columns, spec.d_k)}, keys_, columns,
                {{Attribute::kHeads, spec.heads}, {Attribute::kRounds, spec.pattern.rounds}, {Attribute::kBuckets, 4}});
      sorting = b_.Op("sort", {hash}, {}, keys_, 2 * columns);
      b_.SetOutput(sorting);
      inputs_.push_back(sorting);
    }
    const auto step = static_cast<uint32_t>(b_.content().programs[0].operations.size());
    const uint32_t y = b_.Op("attention", inputs_, tensors_, queries_, spec.heads * spec.d_v, attributes_, "attention");
    const uint32_t received = b_.Op("received", inputs_, tensors_, keys_, spec.heads, attributes_);
    const Lengths key_lengths[] = {{2, 0, 9, 0, 25, 1, 3}, {4, 40}, {7}, {0}};
    const Lengths query_lengths[] = {{0, 3, 4, 0, 1, 17, 0}, {33, 2}, {12}, {5}};
    for (size_t i = 0; i < std::size(key_lengths); ++i) {
      Lengths keys = key_lengths[i];
      if (sides_ == Sides::kFixed) keys.assign(keys.size(), kFixedRows);
      CheckLengths(step, y, received, sorting, sides_ == Sides::kCross ? query_lengths[i] : keys, keys);
    }
  }

 private:
  static std::vector<uint32_t> Offsets(const Lengths& lengths) {
    std::vector<uint32_t> offsets(lengths.size() + 1, 0);
    std::partial_sum(lengths.begin(), lengths.end(), offsets.begin() + 1);
    return offsets;
  }

  void CheckLengths(uint32_t step, uint32_t y, uint32_t received, uint32_t sorting, const Lengths& queries,
                    const Lengths& keys) {
    const uint32_t rows = Total(queries), key_rows = Total(keys);
    Feed feed;
    if (sides_ == Sides::kFixed) {
      feed.segments = {{texts_, {static_cast<uint32_t>(keys.size())}}};
    } else {
      feed.segments = {{keys_, keys}};
      if (sides_ == Sides::kCross) feed.segments.push_back({queries_, queries});
    }
    const std::vector<float> q = b_.RandomFloats(size_t{rows} * spec.heads * spec.d_k);
    const std::vector<float> k = b_.RandomFloats(size_t{key_rows} * spec.kv_heads * spec.d_k);
    const std::vector<float> v = b_.RandomFloats(size_t{key_rows} * spec.kv_heads * spec.d_v);
    const std::vector<float> bias = b_.RandomFloats(size_t{key_rows} * bias_width_);
    feed.floats = {{inputs_[0], q}, {inputs_[1], k}, {inputs_[2], v}};
    if (bias_width_ > 0) feed.floats.push_back({inputs_[3], bias});

    AttentionCall call = {};
    call.spec = &spec;
    const std::vector<uint32_t> query_offsets = Offsets(queries), key_offsets = Offsets(keys);
    const auto count = static_cast<uint32_t>(keys.size());
    call.query_segments = {query_offsets.data(), count};
    call.key_segments = {key_offsets.data(), count};
    call.q = DenseHeads<const void>(q.data(), spec.heads, spec.d_k);
    call.k = DenseHeads<const void>(k.data(), spec.kv_heads, spec.d_k);
    call.v = DenseHeads<const void>(v.data(), spec.kv_heads, spec.d_v);
    if (bias_width_ > 0) {
      call.key_bias = {bias.data(), bias_width_ * sizeof(float), bias_width_ > 1 ? sizeof(float) : 0, 0};
    }
    std::vector<float> centers = b_.RandomFloats(rows, 9.0f);
    if (spec.pattern.centers != Centers::kNone) {
      for (float& center : centers) center /= spec.pattern.centers == Centers::kFractions ? 15.0f : 1.0f;
      feed.floats.push_back({centers_, centers});
      call.centers = {centers.data(), sizeof(float)};
    }
    std::vector<float> pairs = b_.RandomFloats(size_t{rows} * pair_heads_ * kPairKeys, 2.0f);
    if (pair_heads_ > 0) {
      for (size_t i = 3; i < pairs.size(); i += 7) pairs[i] = -INFINITY;
      feed.floats.push_back({pair_bias_, pairs});
      const size_t row = size_t{pair_heads_} * kPairKeys * sizeof(float);
      const size_t head = pair_heads_ > 1 ? kPairKeys * sizeof(float) : 0;
      call.pair_bias = {pairs.data(), false, kPairKeys, row, head, PairBias::kByRow};
    }
    const std::vector<float> coordinates = b_.RandomFloats(size_t{key_rows} * spec.positions.axes, 9.0f);
    if (spec.positions.row_coordinates) {
      feed.floats.push_back({row_coordinates_, coordinates});
      call.row_coordinates = coordinates.data();
    }
    std::vector<uint32_t> listed, listed_offsets = {0};
    if (has_marks_) {
      std::vector<int32_t> marks(key_rows);
      for (size_t segment = 0; segment < keys.size(); ++segment) {
        for (uint32_t row = key_offsets[segment]; row < key_offsets[segment + 1]; ++row) {
          marks[row] = row % 5 == 1 ? 1 : 0;
          if (marks[row] != 0) listed.push_back(row);
        }
        listed_offsets.push_back(static_cast<uint32_t>(listed.size()));
      }
      feed.ids = {{marks_, marks}};
      call.global_keys.rows = listed.data();
      call.global_keys.segments = {listed_offsets.data(), count};
    }
    const std::vector<float> found = RunTiled(b_, feed, y), sums = RunTiled(b_, feed, received);

    const TestModel model(b_.Blob());
    const std::vector<fovea_limit> limits = LimitsOf(b_, feed);
    fovea_session_options options = Options(limits, 2, 3);
    fovea_tap tap = Sized<fovea_tap>();
    tap.step = step;
    options.taps = &tap;
    options.tap_count = 1;
    TestSession session(model, options);
    for (const auto& [space, lengths] : feed.segments) session.SetSegments(space, lengths);
    for (const auto& [input, values] : feed.floats) session.SetInput(input, values);
    for (const auto& [input, values] : feed.ids) session.SetInput(input, values);
    session.Run();
    EXPECT_EQ(session.Output(y), found) << "with weights kept";
    std::vector<int32_t> order;
    if (sorting != kBlobNone) {
      order = session.Indices(sorting);
      const size_t columns = size_t{spec.heads} * spec.pattern.rounds;
      call.clusters = {order.data(), order.data() + columns, 2 * columns};
    }
    fovea_attention_map weights = Sized<fovea_attention_map>();
    fovea_error error = {};
    ASSERT_EQ(fovea_session_get_attention_map(session.session, 0, &weights, &error), FOVEA_OK);

    const ReferenceAttention expected = RunReferenceAttention(call, rows, weights.stride);
    const double of_weight = halves ? 0x1p-11 : 3e-6;
    ExpectClose(found, expected.out, halves ? 0x1p-9 : 3e-6, 1e-7);
    double largest = 1;
    for (const double w : expected.weights) largest = std::max(largest, std::fabs(w));
    std::vector<double> expected_sums(size_t{key_rows} * spec.heads);
    size_t at = 0;
    for (size_t segment = 0; segment < queries.size(); ++segment) {
      for (uint32_t i = 0; i < queries[segment] * spec.heads; ++i, at += weights.stride) {
        for (uint32_t key = 0; key < keys[segment]; ++key) {  // beyond these nothing is promised
          ASSERT_NEAR(weights.data[at + key], expected.weights[at + key], of_weight * largest) << "segment " << segment;
          expected_sums[size_t{key_offsets[segment] + key} * spec.heads + i % spec.heads] += expected.weights[at + key];
        }
      }
    }
    ExpectClose(sums, expected_sums, halves ? 0x1p-10 : 4e-6, 1e-7, "received");
  }

  const Sides sides_;
  ModelBuilder b_;
  uint32_t texts_, keys_, queries_;
  Attributes attributes_;
  std::vector<uint32_t> tensors_, inputs_;
  std::list<std::vector<float>> floats_;
  std::list<std::vector<int32_t>> integers_;
  static constexpr uint32_t kPairKeys = 43;
  uint32_t bias_width_ = 0, marks_ = 0, centers_ = 0, pair_bias_ = 0, pair_heads_ = 0, row_coordinates_ = 0;
  bool has_marks_ = false, sorted_ = false;
};

}  // namespace fovea::test

#endif  // FOVEA_TESTS_OPS_ATTENTION_TRIAL_H_
