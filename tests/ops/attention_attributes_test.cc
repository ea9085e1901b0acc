// Attributes, tensors and further inputs of attention: programs against the reference.
#include "runtime/blob/attributes.h"
#include "runtime/kernels/kernels.h"
#include "tests/ops/attention_program.h"

namespace fovea::test {
namespace {

const Sides kBoth[] = {Sides::kSelf, Sides::kCross};

TEST(AttentionAttributes, Edges) {
  for (const Sides sides : kBoth) {
    for (const uint32_t block : {1u, 2u}) {
      for (const bool window : {true, false}) {
        Trial t(sides);
        Pattern& p = t.spec.pattern;
        if (window) {
          t.Window(2, 1);
        } else {
          t.Set(Attribute::kPattern, 2);
          p.has_window = false;
        }
        t.Count(Attribute::kBlock, &p.block, block);
        t.Count(Attribute::kGlobalFirst, &p.global_first, block);
        t.Count(Attribute::kGlobalLast, &p.global_last, 2 * block);
        t.Check("edges");
      }
    }
  }
}

TEST(AttentionAttributes, DilationAndBlocksOfWindows) {
  for (const Sides sides : kBoth) {
    for (const uint32_t dilation : {2u, 3u, 50u}) {
      Trial t(sides);
      t.Window(6, 7);
      t.Count(Attribute::kDilation, &t.spec.pattern.dilation, dilation);
      t.Check("dilation");
    }
    for (const auto& [left, right] : {std::pair{0u, 0u}, {4u, 4u}, {8u, 0u}, {kUnbounded, 0u}}) {
      Trial t(sides);
      t.Window(left, right);
      t.Count(Attribute::kBlock, &t.spec.pattern.block, 4);
      t.Check("block");
    }
  }
}

TEST(AttentionAttributes, WindowsAroundCenters) {
  for (const Sides sides : kBoth) {
    for (const Centers centers : {Centers::kPositions, Centers::kFractions}) {
      for (const bool gaussian : {false, true}) {
        Trial t(sides);
        t.CenteredWindow(centers, 3, gaussian);
        t.Check("centers");
      }
    }
  }
}

TEST(AttentionAttributes, WindowsByHead) {
  for (const Sides sides : kBoth) {
    Trial t(sides);
    t.Set(Attribute::kPattern, 1);
    t.spec.pattern.head_windows = t.Integers(kHeadWindows, 4, {2, 1, 1, -1, 0, 1, 6, 6, 3, 0, -1, 2});
    t.Check("windows by head");
  }
}

TEST(AttentionAttributes, NamedBlocks) {
  for (const Sides sides : kBoth) {
    for (const bool by_head : {false, true}) {
      for (const uint32_t first : {0u, 3u}) {
        Trial t(sides);
        Pattern& p = t.spec.pattern;
        t.Window(0, 0);
        t.Count(Attribute::kBlock, &p.block, 3);
        t.Count(Attribute::kGlobalFirst, &p.global_first, first);
        std::vector<int32_t> table;
        for (uint32_t i = 0; i < (by_head ? 4u : 1u) * 5 * 3; ++i)
          table.push_back(static_cast<int32_t>(i * 7 % 11) - 2);
        p.layout = t.Integers(kBlocks, by_head ? 20 : 5, table);
        p.layout_heads = by_head ? 4 : 1;
        p.layout_rows = 5;
        p.layout_columns = 3;
        if (by_head) t.Set(Attribute::kLayoutByHead, 1);
        t.Check("named blocks");
      }
    }
  }
}

TEST(AttentionAttributes, ListedRows) {
  for (const Sides sides : kBoth) {
    for (const bool window : {true, false}) {
      Trial t(sides);
      if (window) {
        t.Window(2, 2);
      } else {
        t.Set(Attribute::kPattern, 2);
        t.spec.pattern.has_window = false;
      }
      t.Listed();
      t.Check("listed");
    }
  }
}

TEST(AttentionAttributes, TopKeys) {
  for (const Sides sides : kBoth) {
    for (const uint32_t k : {1u, 3u, 30u}) {
      for (const bool window : {false, true}) {
        Trial t(sides);
        if (window) t.Window(4, 4);
        t.Count(Attribute::kTopK, &t.spec.pattern.top_k, k);
        t.Check("top_k");
      }
    }
  }
}

TEST(AttentionAttributes, CausalAndShortSegments) {
  for (const Sides sides : kBoth) {
    Trial causal(sides), edges(sides), shorts(sides), both(sides);
    causal.Set(Attribute::kCausal, 1);
    causal.spec.pattern.causal = true;
    causal.Check("causal");
    edges.Window(3, 3);
    edges.Set(Attribute::kCausal, 1);
    edges.spec.pattern.causal = true;
    edges.Count(Attribute::kGlobalFirst, &edges.spec.pattern.global_first, 2);
    edges.Check("causal window with edges");
    shorts.Window(1, 1);
    shorts.Count(Attribute::kFullUpTo, &shorts.spec.pattern.full_up_to, 7);
    shorts.Check("full up to 7");
    both.Window(1, 1);
    both.Count(Attribute::kFullUpTo, &both.spec.pattern.full_up_to, 9);
    both.Set(Attribute::kCausal, 1);
    both.spec.pattern.causal = true;
    both.Check("causal, full up to 9");
  }
}

TEST(AttentionAttributes, Scores) {
  for (const Sides sides : kBoth) {
    Trial distance(sides), additive(sides), scaled(sides);
    distance.Set(Attribute::kScore, 1);
    distance.spec.score.kind = Score::kDistance;
    distance.spec.score.scale = 1;
    distance.Check("distance");
    additive.Set(Attribute::kScore, 2);
    additive.spec.score.kind = Score::kAdditive;
    additive.spec.score.scale = 1;
    additive.spec.score.additive = additive.Floats(kAdditive, 4, 6);
    additive.Check("additive");
    scaled.Set(Attribute::kScore, 1);
    scaled.Set(Attribute::kScale, 0.25);
    scaled.spec.score.kind = Score::kDistance;
    scaled.spec.score.scale = 0.25f;
    scaled.Window(5, 0);
    scaled.Check("scaled distance in a window");
  }
}

TEST(AttentionAttributes, Products) {
  for (const Sides sides : kBoth) {
    Trial t(sides);
    t.Set(Attribute::kProducts, 2);
    t.Window(5, 1);
    if (GetKernels().attention.has[2]) t.spec.score.products = Products::kI8;  // else f32
    t.halves = GetKernels().attention.half_values;
    t.Check("int8");
    Trial longer(sides);
    longer.Set(Attribute::kProducts, 3);
    longer.Check("int16: f32 with fewer than 64 keys");
  }
}

TEST(AttentionAttributes, CapAndWeighting) {
  for (const Sides sides : kBoth) {
    Trial cap(sides);
    cap.Set(Attribute::kCap, 0.7);
    cap.spec.score.cap = 0.7f;
    cap.DistanceBias(3);
    cap.Check("cap");
    for (const Activation weighting :
         {Activation::kRelu, Activation::kGelu, Activation::kGeluTanh, Activation::kSilu, Activation::kSigmoid}) {
      Trial t(sides);
      t.Set(Attribute::kActivation, static_cast<uint32_t>(weighting));
      t.spec.weighting.kind = weighting;
      t.Window(8, 3);
      t.Check("weighting " + std::to_string(static_cast<uint32_t>(weighting)));
    }
  }
}

TEST(AttentionAttributes, BiasOfKeys) {
  for (const Sides sides : kBoth) {
    for (const bool by_head : {false, true}) {
      Trial t(sides), window(sides);
      t.KeyBias(by_head);
      t.Check("key_bias");
      window.KeyBias(by_head);
      window.Window(3, 2);
      window.Listed();
      window.Check("key_bias, window and listed rows");
    }
  }
}

TEST(AttentionAttributes, BiasOfPairs) {
  for (const Sides sides : {Sides::kSelf, Sides::kCross, Sides::kFixed}) {
    for (const bool by_head : {false, true}) {
      Trial t(sides), window(sides);
      t.PairBias(by_head);
      t.Check("pair_bias");
      window.KeyBias(by_head);
      window.PairBias(by_head);
      window.Window(3, 2);
      window.Count(Attribute::kGlobalFirst, &window.spec.pattern.global_first, 1);
      window.Check("pair_bias, key_bias and window");
    }
  }
}

TEST(AttentionAttributes, QueriesAlignedToTheEndOfKeys) {
  for (const Sides sides : kBoth) {
    Trial causal(sides), window(sides), bias(sides);
    causal.Align(Origin::kEnd);
    causal.Set(Attribute::kCausal, 1);
    causal.spec.pattern.causal = true;
    causal.Check("causal");
    window.Align(Origin::kEnd);
    window.Window(3, 1);
    window.Check("window");
    bias.Align(Origin::kEnd);
    bias.DistanceBias(5);
    bias.Check("distances");
  }
}

TEST(AttentionAttributes, SelfScore) {
  for (const float score : {-1e5f, 0.0f, 4.0f}) {
    for (const bool causal : {false, true}) {
      Trial t(Sides::kSelf);
      t.Set(Attribute::kSelfScore, score);
      t.spec.score.has_self_score = true;
      t.spec.score.self_score = score;
      t.Set(Attribute::kCausal, causal ? 1 : 0);
      t.spec.pattern.causal = causal;
      t.Check("self_score");
    }
  }
}

TEST(AttentionAttributes, RelativeScores) {
  for (const Sides sides : kBoth) {
    for (const int which : {1, 2, 3}) {
      for (const int halves : {0, 1, 2, 3}) {
        Trial t(sides);
        const auto type = [&](int table) { return (halves & table) != 0 ? DType::kF16 : DType::kF32; };
        t.spec.score.max_distance = 4;
        t.spec.score.relative.bucket_count = 5;
        if ((which & 1) != 0) t.spec.score.relative.keys = t.Floats(kRelativeKeys, 4 * 5, 6, type(1));
        if ((which & 2) != 0) t.spec.score.relative.queries = t.Floats(kRelativeQueries, 4 * 5, 6, type(2));
        t.spec.score.relative.buckets = t.Integers(kBuckets, 1, {0, 0, 1, 1, 2, 3, 3, 4, 4});
        if (which == 3) t.DistanceBias(4);
        t.Check("relative " + std::to_string(which) + ", halves " + std::to_string(halves));
      }
    }
  }
}

TEST(AttentionAttributes, Coordinates) {
  for (const uint32_t sets : {1u, 2u, 3u}) {
    for (const bool relative : {false, true}) {
      Trial t(Sides::kFixed);
      std::vector<int32_t> places;
      for (uint32_t i = 0; i < sets * (kFixedRows + 1); ++i) places.push_back(static_cast<int32_t>(i * 5 % 7) * 3 - 4);
      t.spec.positions.coordinates = t.Integers(kCoordinates, sets, places);
      t.spec.positions.coordinate_sets = sets;
      t.spec.positions.coordinate_positions = kFixedRows + 1;  // a column more than the segments have rows
      if (relative) {
        t.spec.score.max_distance = 2;
        t.spec.score.relative.keys = t.Floats(kRelativeKeys, 4 * 3, 6);
        t.spec.score.relative.buckets = t.Integers(kBuckets, 1, {2, 0, 1, 1, 0});
        t.spec.score.relative.bucket_count = 3;
      } else {
        t.DistanceBias(9);
      }
      t.Check("coordinates");
    }
  }
}

TEST(AttentionAttributes, CoordinatesAlongAxes) {
  for (const bool of_rows : {false, true}) {
    for (const uint32_t axes : {1u, 2u, 3u}) {
      for (const bool relative : {false, true}) {
        Trial t(of_rows ? Sides::kSelf : Sides::kFixed);
        if (of_rows) {
          if (axes == 2) t.KeyBias(true);
          t.RowCoordinates(axes);
        } else {
          t.Count(Attribute::kAxes, &t.spec.positions.axes, axes);
          std::vector<int32_t> places;
          for (uint32_t i = 0; i < 2 * axes * kFixedRows; ++i) places.push_back(static_cast<int32_t>(i * 5 % 7) - 4);
          t.spec.positions.coordinates = t.Integers(kCoordinates, 2 * axes, places);
          t.spec.positions.coordinate_sets = 2;
          t.spec.positions.coordinate_positions = kFixedRows;
        }
        t.DistanceBias(5);
        if (relative) {
          t.spec.score.relative.keys = t.Floats(kRelativeKeys, axes * 4 * 3, 6);
          t.spec.score.relative.queries = t.Floats(kRelativeQueries, axes * 4 * 3, 6, DType::kF16);
          t.spec.score.relative.buckets = t.Integers(kBuckets, 1, {2, 0, 1, 1, 0, 2, 0, 1, 2, 1, 0});
          t.spec.score.relative.bucket_count = 3;
        }
        t.Check(std::to_string(axes) + " axes" + (of_rows ? " of rows" : ""));
      }
    }
  }
}

TEST(AttentionAttributes, QueriesOfSeveralKeysAndRowsApart) {
  for (const Sides sides : kBoth) {
    for (const uint32_t stride : {1u, 2u, 5u}) {
      for (const uint32_t apart : {0u, 1u, 4u}) {
        for (const int which : {0, 1, 2, 3}) {
          Trial t(sides);
          t.Count(Attribute::kQueryStride, &t.spec.positions.query_stride, stride);
          t.Count(Attribute::kApart, &t.spec.positions.apart, apart);
          t.DistanceBias(7);
          if (which != 0) {
            t.spec.score.relative.bucket_count = 5;
            if ((which & 1) != 0) t.spec.score.relative.keys = t.Floats(kRelativeKeys, 4 * 5, 6);
            if ((which & 2) != 0) t.spec.score.relative.queries = t.Floats(kRelativeQueries, 4 * 5, 6);
            t.spec.score.relative.buckets = t.Integers(kBuckets, 1, {0, 0, 1, 1, 2, 3, 3, 4, 4, 0, 3, 2, 1, 1, 0});
          }
          t.Check("query_stride " + std::to_string(stride) + ", apart " + std::to_string(apart));
        }
      }
    }
    Trial t(sides);
    t.Window(5, 3);
    t.Count(Attribute::kDilation, &t.spec.pattern.dilation, 2);
    t.Count(Attribute::kQueryStride, &t.spec.positions.query_stride, 2);
    t.Count(Attribute::kApart, &t.spec.positions.apart, 3);
    t.DistanceBias(4);
    t.KeyBias(true);
    t.Check("in a dilated window");
  }
  Trial fixed(Sides::kFixed);
  std::vector<int32_t> places = {4, 1, 0, 2, 9, 3, 5};
  fixed.spec.positions.coordinates = fixed.Integers(kCoordinates, 1, places);
  fixed.spec.positions.coordinate_sets = 1;
  fixed.spec.positions.coordinate_positions = kFixedRows + 1;
  fixed.Count(Attribute::kApart, &fixed.spec.positions.apart, 2);
  fixed.DistanceBias(9);
  fixed.Check("apart, with coordinates");
}

TEST(AttentionAttributes, Clustered) {
  for (const uint32_t rounds : {0u, 1u, 3u}) {
    for (const auto& [before, after] : {std::pair{1u, 0u}, {1u, 1u}, {0u, 0u}, {3u, 2u}}) {
      for (const bool causal : {false, true}) {
        Trial t(Sides::kSelf);
        t.Clustered(rounds, 4, before, after, causal ? 1 : 1 + 2 * before);
        t.Set(Attribute::kCausal, causal ? 1 : 0);
        t.spec.pattern.causal = causal;
        if (causal) {
          t.Set(Attribute::kSelfScore, -1e5);
          t.spec.score.has_self_score = true;
          t.spec.score.self_score = -1e5f;
        }
        t.Check("clustered in " + std::to_string(rounds) + " rounds");
      }
    }
  }
}

TEST(AttentionAttributes, ManyAtOnce) {
  for (const Sides sides : kBoth) {
    Trial t(sides);
    Pattern& p = t.spec.pattern;
    t.Window(2, 2);
    t.Count(Attribute::kBlock, &p.block, 2);
    t.Count(Attribute::kGlobalFirst, &p.global_first, 2);
    t.Count(Attribute::kGlobalLast, &p.global_last, 2);
    t.Count(Attribute::kFullUpTo, &p.full_up_to, 3);
    t.KeyBias(true);
    t.Listed();
    t.Set(Attribute::kCap, 2);
    t.spec.score.cap = 2;
    t.DistanceBias(5);
    p.layout = t.Integers(kBlocks, 6, {0, 7, 3, 3, 1, 9, 2, 2, 5, 0, 4, 1});
    p.layout_heads = 1;
    p.layout_rows = 6;
    p.layout_columns = 2;
    t.Check("many at once");
  }
}

}  // namespace
}  // namespace fovea::test
