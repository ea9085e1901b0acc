// Every score, weighting, bias and key type against the reference, alone and with patterns.
#include "tests/attention/attention_problem.h"
#include "tests/support/fewer_cases.h"

namespace fovea {
namespace {

// With every pattern, one head layout and grouped heads.
void CheckPatterns(Case c) {
  c.queries = FewerCases() ? std::vector<uint32_t>{21, 0, 3, 1, 17} : std::vector<uint32_t>{70, 0, 3, 1, 65};
  for (const Pattern& pattern : SomePatterns()) {
    SCOPED_TRACE(testing::Message() << "left " << pattern.left << " top_k " << pattern.top_k << " rounds "
                                    << pattern.rounds);
    if (pattern.rounds > 0 && c.buckets > 0) continue;  // do not go together
    c.spec.pattern = pattern;
    c.spec.heads = c.spec.kv_heads = 2;
    Check(c);
    c.spec.heads = 4;
    Check(c);
  }
}

TEST(Score, Distance) {
  for (float width : {0.5f, 0.05f}) {
    Case c;
    c.spec.score.kind = Score::kDistance;
    c.spec.score.scale = width;
    CheckPatterns(c);
    c.spec.d_k = 1;  // Nadaraya-Watson on a line
    c.magnitude = 5.0f;
    c.tolerance = 2e-5;  // scores up to 50
    CheckPatterns(c);
  }
}

TEST(Score, Additive) {
  for (uint32_t d_k : {1u, 8u, 21u}) {
    Case c;
    c.spec.score.kind = Score::kAdditive;
    c.spec.score.scale = 1.0f;
    c.spec.d_k = d_k;
    c.tolerance = 8e-6;  // tanh is within 4e-7, d_k times
    CheckPatterns(c);
  }
}

TEST(Score, SoftCap) {
  for (float cap : {0.7f, 30.0f}) {
    for (Score score : {Score::kDot, Score::kDistance, Score::kAdditive}) {
      Case c;
      c.spec.score.kind = score;
      c.spec.score.cap = cap;
      c.spec.score.scale = cap / 10;  // saturated scores would be equal
      c.spec.score.max_distance = 9;
      c.tolerance = 2e-5;  // scores reach 30, tanh is within 4e-7
      CheckPatterns(c);
    }
  }
}

TEST(Score, OtherWeightings) {
  for (Activation weighting :
       {Activation::kRelu, Activation::kGelu, Activation::kGeluTanh, Activation::kSigmoid, Activation::kSilu}) {
    SCOPED_TRACE(static_cast<int>(weighting));
    Case c;
    c.spec.weighting.kind = weighting;
    c.tolerance = 3e-5;  // sums of up to 70 weights of magnitude 1
    CheckPatterns(c);
    c.spec.score.max_distance = 5;
    c.spec.score.cap = 2.0f;
    CheckPatterns(c);
  }
}

TEST(Score, BiasOfKeys) {
  for (bool by_head : {false, true}) {
    Case c;
    c.key_bias = true;
    c.key_bias_by_head = by_head;
    CheckPatterns(c);
  }
  Case parent;
  parent.key_bias = true;
  parent.spec.pairing = Pairing::kParent;
  parent.queries = {0};
  parent.keys = {5, 0, 70, 1};
  Check(parent);
}

TEST(Score, RelativeScores) {
  for (uint32_t buckets : {1u, 9u, 200u}) {
    for (uint32_t reach : {3u, 100u}) {
      Case c;
      c.buckets = buckets;
      c.spec.score.max_distance = reach;
      c.distance_bias = reach == 3;
      c.spec.d_k = 12;
      c.tolerance = 8e-6;
      CheckPatterns(c);
      c.spec.d_k = 7;
      c.half_keys = c.half_queries = true;
      CheckPatterns(c);
      c.half_keys = false;
      Check(c);
    }
  }
}

// Only the buckets that the rows and keys need are computed.
TEST(Score, RelativeScoresInOrderOfDistances) {
  for (uint32_t buckets : {3u, 47u, 501u}) {
    for (uint32_t reach : {40u, 250u, 400u}) {
      if (FewerCases() && reach != (buckets == 3 ? 40u : buckets == 47 ? 250u : 400u)) continue;
      Case c;
      c.queries = {7, 300, 0, 130};
      c.buckets = buckets;
      c.ordered_buckets = true;
      c.spec.score.max_distance = reach;
      c.distance_bias = false;
      c.tolerance = 8e-6;
      Check(c);
      c.half_keys = true;
      Check(c);
      if (reach != 250) continue;
      c.key_bias = true;
      Check(c);
      c.queries = {90, 2, 40};
      c.keys = {10, 0, 200};
      Check(c);
      c.spec.pairing = Pairing::kParent;
      c.queries = {0};
      c.keys = {5, 0, 300, 1};
      Check(c);
    }
  }
}

TEST(Score, CoordinatesInPlaceOfPositions) {
  // Windows of 3 x 4 on an image, of two kinds; row 5 * y + x: a distance encodes both axes in one number. In the
  // second kind the left and right halves are out of each other's reach: the bias hides these pairs.
  std::vector<int32_t> coordinates;
  for (int kind = 0; kind < 2; ++kind) {
    for (int y = 0; y < 3; ++y) {
      for (int x = 0; x < 4; ++x) coordinates.push_back(7 * y + x + (kind == 1 && x >= 2 ? 1000 : 0));
    }
  }
  constexpr uint32_t kReach = 2 * 7 + 3 + 1;
  std::vector<float> bias(2 * (2 * kReach + 1));
  std::mt19937 random(3);
  for (float& b : bias) b = static_cast<float>(random() % 1000) * 1e-3f;
  for (size_t head = 0; head < 2; ++head) {
    bias[head * (2 * kReach + 1)] = bias[(head + 1) * (2 * kReach + 1) - 1] = -INFINITY;
  }
  Case c;
  c.queries = {12, 12, 12, 12, 12};
  c.distance_bias = false;
  c.spec.score.distance_bias = bias.data();
  c.spec.score.max_distance = kReach;
  c.spec.positions.coordinates = coordinates.data();
  c.spec.positions.coordinate_sets = 2;
  c.spec.positions.coordinate_positions = 12;
  Check(c);
}

// Windows of 3 x 4 and of 4 x 3: a distance along each axis has its own bias and its own part of a query and a key.
TEST(Score, CoordinatesAlongSeveralAxes) {
  for (const uint32_t axes : {1u, 2u, 3u}) {
    std::vector<int32_t> coordinates;
    for (int kind = 0; kind < 2; ++kind) {
      for (uint32_t axis = 0; axis < axes; ++axis) {
        for (int i = 0; i < 12; ++i) {
          const int across = kind == 0 ? 4 : 3;
          coordinates.push_back(axis == 0 ? i / across : axis == 1 ? i % across : i * i - 40);
        }
      }
    }
    for (const bool biased : {true, false}) {
      for (const uint32_t buckets : {0u, 5u}) {
        for (const uint32_t reach : {2u, 60u}) {
          Case c;
          c.queries = {12, 12, 9, 12, 0, 12};
          c.distance_bias = biased;
          c.buckets = buckets;
          c.half_keys = axes == 2;
          c.spec.score.max_distance = reach;
          c.spec.positions.coordinates = coordinates.data();
          c.spec.positions.coordinate_sets = 2;
          c.spec.positions.coordinate_positions = 12;
          c.spec.positions.axes = axes;
          c.tolerance = 8e-6;
          Check(c);
        }
      }
    }
  }
  // Extreme coordinates: distances do not overflow.
  const int32_t ends[] = {INT32_MIN, INT32_MAX, 0, -1, INT32_MAX - 2, INT32_MIN + 1, 5, 6};
  std::vector<int32_t> coordinates;
  for (int i = 0; i < 40; ++i) coordinates.push_back(ends[i % 8]);
  Case c;
  c.queries = {20, 20, 3};
  c.buckets = 4;
  c.spec.score.max_distance = 3;
  c.spec.positions.coordinates = coordinates.data();
  c.spec.positions.coordinate_sets = 1;
  c.spec.positions.coordinate_positions = 20;
  c.spec.positions.axes = 2;
  c.tolerance = 8e-6;
  Check(c);
}

// The same where a run brings the coordinates of its rows, in every pattern: rounded, bounded, of any number of rows.
TEST(Score, CoordinatesOfRows) {
  for (const uint32_t axes : {1u, 2u, 3u}) {
    for (const uint32_t buckets : {0u, 7u}) {
      Case c;
      c.spec.score.max_distance = 12;
      c.spec.positions.row_coordinates = true;
      c.spec.positions.axes = axes;
      c.buckets = buckets;
      c.tolerance = 2e-5;
      CheckPatterns(c);
      c.key_bias = true;                            // by single keys then
      if (buckets > 0) c.spec.positions.apart = 2;  // cannot be combined with clusters
      CheckPatterns(c);
    }
  }
  Case c;
  c.queries = FewerCases() ? std::vector<uint32_t>{90, 0, 65} : std::vector<uint32_t>{300, 1, 0, 17, 65};
  c.spec.score.max_distance = 300;
  c.spec.positions.row_coordinates = true;
  c.spec.positions.axes = 3;
  c.tolerance = 2e-5;
  Check(c);
  c.buckets = 33;
  c.ordered_buckets = true;
  Check(c);
}

// Rows of long segments on both sides of every border of blocks and chunks.
TEST(Score, QueriesOfSeveralKeysAndRowsApart) {
  for (const uint32_t apart : {0u, 1u, 17u, 300u}) {
    for (const uint32_t stride : {1u, 2u, 7u}) {
      Case c;
      c.queries = FewerCases() ? std::vector<uint32_t>{40, 1, 0, 17} : std::vector<uint32_t>{150, 1, 2, 0, 301, 65};
      c.keys = FewerCases() ? std::vector<uint32_t>{79, 1, 4, 33} : std::vector<uint32_t>{299, 1, 2, 5, 310, 64};
      c.spec.positions.apart = apart;
      c.spec.positions.query_stride = stride;
      c.spec.score.max_distance = 260;
      Check(c);
      c.buckets = 47;
      c.ordered_buckets = true;
      c.distance_bias = false;
      c.tolerance = 8e-6;
      Check(c);
      c.distance_bias = true;
      c.spec.score.max_distance = 9;
      c.keys.clear();  // as many as queries, which these patterns bring
      CheckPatterns(c);
    }
  }
}

TEST(Score, SelfScore) {
  for (float self : {-1e5f, 0.0f, 3.0f}) {
    Case c;
    c.spec.score.has_self_score = true;
    c.spec.score.self_score = self;
    CheckPatterns(c);
  }
  Case alone;  // nothing but itself
  alone.spec.score.has_self_score = true;
  alone.spec.score.self_score = -1e5f;
  alone.spec.pattern = WindowOf(0, 0);
  alone.queries = {9};
  Check(alone);
}

TEST(Score, DTypes) {
  for (DType type : {DType::kF16, DType::kBf16, DType::kI8}) {
    for (uint32_t d : {3u, 8u, 16u, 37u}) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(type) << " " << d);
      Case c;
      c.key_type = type;
      c.spec.d_k = d;
      c.spec.d_v = d + 1;
      CheckPatterns(c);
    }
    Case relative;
    relative.key_type = type;
    relative.buckets = 5;
    relative.spec.score.max_distance = 4;
    relative.tolerance = 8e-6;
    CheckPatterns(relative);
  }
}

}  // namespace
}  // namespace fovea
