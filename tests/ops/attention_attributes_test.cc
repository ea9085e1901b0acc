// What attributes, tensors and further inputs of attention mean, through programs and against the reference, and what
// of them is refused.
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
    t.Check("int8");
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

using A = Attribute;
constexpr double kMost = 4294967295.0;

TEST(AttentionAttributes, PatternsAreChecked) {
  Expect(FOVEA_OK, "plain", [](Program&) {});
  Expect(FOVEA_OK, "none", [](Program& p) { p.Set(A::kPattern, 2); });
  Expect(FOVEA_E_OP, "pattern", [](Program& p) { p.Set(A::kPattern, 3); });
  ExpectShape("no dilation", [](Program& p) { p.Set(A::kDilation, 0); });
  ExpectShape("dilation", [](Program& p) { p.Set(A::kDilation, 4097); });
  ExpectShape("no block", [](Program& p) { p.Set(A::kBlock, 0); });
  ExpectShape("block", [](Program& p) { p.Set(A::kBlock, (1 << 20) + 1); });
  ExpectShape("dilated blocks", [](Program& p) { p.Set(A::kBlock, 2).Set(A::kDilation, 2); });
  Expect(FOVEA_OK, "edges", [](Program& p) { p.Set(A::kBlock, 2).Set(A::kGlobalFirst, 2).Set(A::kGlobalLast, 4); });
  Expect(FOVEA_OK, "large edges", [](Program& p) { p.Set(A::kGlobalFirst, kMost).Set(A::kGlobalLast, kMost); });
  ExpectShape("half a block", [](Program& p) { p.Set(A::kBlock, 2).Set(A::kGlobalFirst, 3); });
  ExpectShape("half a block", [](Program& p) { p.Set(A::kBlock, 2).Set(A::kGlobalLast, 1); });
  ExpectShape("top_k", [](Program& p) { p.Set(A::kTopK, (1 << 20) + 1); });
  Expect(FOVEA_OK, "full_up_to", [](Program& p) { p.Set(A::kFullUpTo, kMost).Set(A::kCausal, 1); });

  const std::vector<float> windows = {1, 1, 1, 2, 2, 2, -1, 0, 1, 0, -1, 4096};
  Expect(FOVEA_OK, "head windows", [&](Program& p) { p.Set(A::kPattern, 1).Integers(kHeadWindows, 4, windows); });
  ExpectShape("heads of head windows", [&](Program& p) { p.Integers(kHeadWindows, 2, windows); });
  ExpectShape("width of head windows", [](Program& p) { p.Integers(kHeadWindows, 4, {1, 1, 1, 1, 1, 1, 1, 1}); });
  ExpectShape("type of head windows", [](Program& p) { p.Floats(kHeadWindows, 4, 3); });
  ExpectShape("head windows in blocks",
              [&](Program& p) { p.Set(A::kPattern, 1).Set(A::kBlock, 2).Integers(kHeadWindows, 4, windows); });
  ExpectShape("head windows without window", [&](Program& p) { p.Integers(kHeadWindows, 4, windows); });
  for (const float dilation : {0.0f, -1.0f, 4097.0f}) {
    std::vector<float> wrong = windows;
    wrong[5] = dilation;
    Expect(FOVEA_E_ID, "a head's dilation",
           [&](Program& p) { p.Set(A::kPattern, 1).Integers(kHeadWindows, 4, wrong); });
  }

  const std::vector<float> blocks = {0, -1, 1000000, 2, 2, 2, 3, 1};
  Expect(FOVEA_OK, "blocks", [&](Program& p) { p.Set(A::kBlock, 2).Integers(kBlocks, 2, blocks); });
  Expect(FOVEA_OK, "blocks by head",
         [&](Program& p) { p.Set(A::kBlock, 2).Set(A::kLayoutByHead, 1).Integers(kBlocks, 4, blocks); });
  ExpectShape("blocks by head", [&](Program& p) { p.Set(A::kLayoutByHead, 1).Integers(kBlocks, 2, blocks); });
  ExpectShape("type of blocks", [](Program& p) { p.Floats(kBlocks, 2, 4); });
  ExpectShape("columns of blocks", [](Program& p) { p.Integers(kBlocks, 1, std::vector<float>(4097)); });
  ExpectShape("blocks and dilation", [&](Program& p) { p.Set(A::kDilation, 2).Integers(kBlocks, 2, blocks); });
  ExpectShape("blocks and head windows", [&](Program& p) {
    p.Set(A::kPattern, 1).Integers(kBlocks, 2, blocks).Integers(kHeadWindows, 4, windows);
  });
  ExpectShape("blocks and top_k", [&](Program& p) { p.Set(A::kTopK, 2).Integers(kBlocks, 2, blocks); });
  Expect(FOVEA_E_ID, "a block twice and a self score",
         [&](Program& p) { p.Set(A::kSelfScore, 0).Integers(kBlocks, 2, blocks); });
  Expect(FOVEA_E_ID, "a block twice and sigmoids",
         [&](Program& p) { p.Set(A::kActivation, 6).Integers(kBlocks, 2, blocks); });
  Expect(FOVEA_OK, "blocks and sigmoids", [](Program& p) {
    p.Set(A::kActivation, 6).Integers(kBlocks, 1, {-1, -1, 0, 3});
  });
  ExpectShape("many blocks and sigmoids",
              [](Program& p) { p.Set(A::kActivation, 6).Integers(kBlocks, 2, std::vector<float>(1024, -1)); });
}

TEST(AttentionAttributes, HeadsAreBounded) {
  for (const uint32_t heads : {4096u, 4097u}) {
    ModelBuilder b;
    const uint32_t rows = b.Space("rows"), x = b.Input("x", rows, heads);
    b.Op(OpCode::kAttention, {x, x, x}, {}, rows, heads, {{A::kHeads, heads}});
    heads == 4096 ? ExpectAccepted(b, "heads") : ExpectRefused(b, FOVEA_E_SHAPE, "heads");
  }
}

TEST(AttentionAttributes, ScoresAreChecked) {
  Expect(FOVEA_E_OP, "score", [](Program& p) { p.Set(A::kScore, 3); });
  Expect(FOVEA_OK, "products", [](Program& p) { p.Set(A::kProducts, 2); });
  Expect(FOVEA_E_OP, "unknown products", [](Program& p) { p.Set(A::kProducts, 3); });
  ExpectShape("products of distances", [](Program& p) { p.Set(A::kScore, 1).Set(A::kProducts, 1); });
  Expect(FOVEA_E_OP, "activation", [](Program& p) { p.Set(A::kActivation, 9); });
  Expect(FOVEA_E_OP, "tanh", [](Program& p) { p.Set(A::kActivation, 5); });
  Expect(FOVEA_E_OP, "log_sigmoid", [](Program& p) { p.Set(A::kActivation, 7); });
  Expect(FOVEA_OK, "sigmoid", [](Program& p) { p.Set(A::kActivation, 6); });
  ExpectShape("cap", [](Program& p) { p.Set(A::kCap, -1); });
  Expect(FOVEA_E_RECORD, "cap that is no number", [](Program& p) { p.Set(A::kCap, NAN); });
  Expect(FOVEA_OK, "additive", [](Program& p) { p.Set(A::kScore, 2).Floats(kAdditive, 4, 3); });
  ExpectShape("additive without vector", [](Program& p) { p.Set(A::kScore, 2); });
  ExpectShape("vector without additive", [](Program& p) { p.Floats(kAdditive, 4, 3); });
  ExpectShape("width of the vector", [](Program& p) { p.Set(A::kScore, 2).Floats(kAdditive, 4, 4); });
  ExpectShape("rows of the vector", [](Program& p) { p.Set(A::kScore, 2).Floats(kAdditive, 3, 3); });
  ExpectShape("type of the vector", [](Program& p) { p.Set(A::kScore, 2).Floats(kAdditive, 4, 3, DType::kF16); });

  const std::vector<float> buckets = {0, 1, 1, 0, 1};
  const auto relative = [&](Program& p) -> Program& {
    return p.Floats(kRelativeKeys, 8, 3).Integers(kBuckets, 1, buckets);
  };
  Expect(FOVEA_OK, "relative", [&](Program& p) { relative(p); });
  Expect(FOVEA_OK, "relative queries", [&](Program& p) { relative(p).Floats(kRelativeQueries, 8, 3); });
  Expect(FOVEA_OK, "half queries", [&](Program& p) { relative(p).Floats(kRelativeQueries, 8, 3, DType::kF16); });
  ExpectShape("type of queries", [&](Program& p) { relative(p).Floats(kRelativeQueries, 8, 3, DType::kI8); });
  ExpectShape("half bias", [](Program& p) { p.Floats(kDistanceBias, 4, 5, DType::kF16); });
  Expect(FOVEA_OK, "as far as the bias", [&](Program& p) { relative(p).Floats(kDistanceBias, 4, 5); });
  ExpectShape("farther than the bias", [&](Program& p) { relative(p).Floats(kDistanceBias, 4, 3); });
  ExpectShape("no buckets", [](Program& p) { p.Floats(kRelativeKeys, 8, 3); });
  ExpectShape("buckets only", [&](Program& p) { p.Integers(kBuckets, 1, buckets); });
  ExpectShape("even buckets", [&](Program& p) { relative(p).Integers(kBuckets, 1, {0, 1, 1, 0}); });
  ExpectShape("rows of buckets", [&](Program& p) { relative(p).Integers(kBuckets, 5, buckets); });
  ExpectShape("type of buckets", [&](Program& p) { relative(p).Floats(kBuckets, 1, 5); });
  ExpectShape("many buckets", [&](Program& p) { relative(p).Integers(kBuckets, 1, std::vector<float>(16385)); });
  ExpectShape("shared by heads", [&](Program& p) { relative(p).Floats(kRelativeKeys, 6, 3); });
  ExpectShape("width of relative keys", [&](Program& p) { relative(p).Floats(kRelativeKeys, 8, 4); });
  ExpectShape("rows of relative queries", [&](Program& p) { relative(p).Floats(kRelativeQueries, 4, 3); });
  for (const float bucket : {2.0f, -1.0f}) {
    Expect(FOVEA_E_ID, "bucket", [&](Program& p) { relative(p).Integers(kBuckets, 1, {0, 1, bucket, 1, 0}); });
  }

  const std::vector<float> places = {0, 1, 2, 3, 4, 5, 5, 4, 3, 2, 1, 0};
  Expect(FOVEA_OK, "coordinates", [&](Program& p) { p.Patches().Integers(kCoordinates, 2, places); });
  ExpectShape("few coordinates", [&](Program& p) { p.Patches().Integers(kCoordinates, 3, places); });
  ExpectShape("type of coordinates", [](Program& p) { p.Patches().Floats(kCoordinates, 2, 6); });
  ExpectShape("coordinates of any segments", [&](Program& p) { p.Integers(kCoordinates, 2, places); });
  ExpectShape("coordinates of two spaces", [&](Program& p) {
    p.inputs = {p.q, p.patch, p.patch};
    p.Integers(kCoordinates, 2, places);
  });
  Expect(FOVEA_OK, "query_stride", [](Program& p) { p.Set(A::kQueryStride, 1 << 20).Set(A::kApart, kMost); });
  ExpectShape("no query_stride", [](Program& p) { p.Set(A::kQueryStride, 0); });
  ExpectShape("query_stride", [](Program& p) { p.Set(A::kQueryStride, (1 << 20) + 1); });
  ExpectShape("axes without coordinates", [&](Program& p) { p.Patches().Set(A::kAxes, 2); });
  ExpectShape("axes that do not divide coordinates",
              [&](Program& p) { p.Patches().Integers(kCoordinates, 1, places).Set(A::kAxes, 2); });
  Expect(FOVEA_OK, "axes", [&](Program& p) { p.Patches().Integers(kCoordinates, 2, places).Set(A::kAxes, 2); });
  for (const uint32_t axes : {0u, 17u, 0x20000000u, UINT32_MAX}) {
    ExpectShape("number of axes",
                [&](Program& p) { p.Patches().Integers(kCoordinates, 2, places).Set(A::kAxes, axes); });
  }
  ExpectShape("a bias of one axis", [&](Program& p) {
    p.Patches().Integers(kCoordinates, 2, places).Floats(kDistanceBias, 2, 5).Set(A::kAxes, 2);
  });
  ExpectShape("query_stride and coordinates",
              [&](Program& p) { p.Patches().Integers(kCoordinates, 2, places).Set(A::kQueryStride, 2); });
  Expect(FOVEA_OK, "apart, with coordinates",
         [&](Program& p) { p.Patches().Integers(kCoordinates, 2, places).Set(A::kApart, 2); });
  ExpectShape("apart in chunks", [](Program& p) { p.Set(A::kChunk, 3).Set(A::kApart, 1); });
  Expect(FOVEA_OK, "self_score", [](Program& p) { p.Set(A::kSelfScore, -1e5); });
  ExpectShape("self_score of others", [](Program& p) { p.Cross().Set(A::kSelfScore, 0); });
}

TEST(AttentionAttributes, InputsAreChecked) {
  const fovea_status record = FOVEA_E_RECORD;
  Expect(record, "an input more", [](Program& p) { p.With(p.bias); });
  Expect(record, "an input less", [](Program& p) { p.Set(A::kKeyBias, 1); });
  Expect(FOVEA_OK, "key_bias", [](Program& p) { p.Set(A::kKeyBias, 1).With(p.bias); });
  Expect(FOVEA_OK, "key_bias by head", [](Program& p) { p.Set(A::kKeyBias, 1).With(p.by_head); });
  ExpectShape("width of key_bias", [](Program& p) { p.Set(A::kKeyBias, 1).With(p.wide); });
  ExpectShape("type of key_bias", [](Program& p) { p.Set(A::kKeyBias, 1).With(p.marks); });
  ExpectShape("key_bias elsewhere", [](Program& p) { p.Set(A::kKeyBias, 1).With(p.far_bias); });
  ExpectShape("key_bias of the queries", [](Program& p) { p.Cross().Set(A::kKeyBias, 1).With(p.bias); });

  Expect(record, "no coordinates of rows", [](Program& p) { p.Set(A::kRowCoordinates, 1); });
  Expect(FOVEA_OK, "coordinates of rows", [](Program& p) { p.Set(A::kRowCoordinates, 1).With(p.bias); });
  Expect(FOVEA_OK, "four axes of rows",
         [](Program& p) { p.Set(A::kRowCoordinates, 1).Set(A::kAxes, 4).With(p.by_head); });
  ExpectShape("width of coordinates",
              [](Program& p) { p.Set(A::kRowCoordinates, 1).Set(A::kAxes, 3).With(p.by_head); });
  ExpectShape("type of coordinates", [](Program& p) { p.Set(A::kRowCoordinates, 1).With(p.marks); });
  ExpectShape("coordinates elsewhere", [](Program& p) { p.Set(A::kRowCoordinates, 1).With(p.far_bias); });
  ExpectShape("coordinates of keys only", [](Program& p) { p.Cross().Set(A::kRowCoordinates, 1).With(p.bias); });
  ExpectShape("coordinates of rows and query_stride",
              [](Program& p) { p.Set(A::kRowCoordinates, 1).Set(A::kQueryStride, 2).With(p.bias); });

  const auto centered = [](Program& p, uint32_t centers, uint32_t kind = 1) -> Program& {
    return p.Set(A::kPattern, 1).Set(A::kLeft, 2).Set(A::kRight, 2).Set(A::kCenters, kind).With(centers);
  };
  Expect(FOVEA_OK, "centers", [&](Program& p) { centered(p, p.bias).Set(A::kGaussian, 1); });
  Expect(FOVEA_OK, "fractions", [&](Program& p) { centered(p, p.bias, 2); });
  Expect(FOVEA_E_OP, "kind of centers", [&](Program& p) { centered(p, p.bias, 3); });
  Expect(record, "no centers",
         [](Program& p) { p.Set(A::kPattern, 1).Set(A::kLeft, 2).Set(A::kRight, 2).Set(A::kCenters, 1); });
  ExpectShape("width of centers", [&](Program& p) { centered(p, p.by_head); });
  ExpectShape("type of centers", [&](Program& p) { centered(p, p.marks); });
  ExpectShape("centers elsewhere", [&](Program& p) { centered(p, p.far_bias); });
  ExpectShape("Gaussian without centers", [](Program& p) { p.Set(A::kGaussian, 1); });
  ExpectShape("full pattern around centers", [](Program& p) { p.Set(A::kCenters, 1).With(p.bias); });
  ExpectShape("unbounded", [](Program& p) { p.Set(A::kPattern, 1).Set(A::kLeft, 2).Set(A::kCenters, 1).With(p.bias); });
  ExpectShape("dilated around centers", [&](Program& p) { centered(p, p.bias).Set(A::kDilation, 2); });
  ExpectShape("causal around centers", [&](Program& p) { centered(p, p.bias).Set(A::kCausal, 1); });
  ExpectShape("best around centers", [&](Program& p) { centered(p, p.bias).Set(A::kTopK, 1); });
  ExpectShape("edges and centers", [&](Program& p) { centered(p, p.bias).Set(A::kGlobalFirst, 1); });

  Expect(FOVEA_OK, "listed", [](Program& p) { p.Set(A::kGlobalKeys, 1).With(p.Rows()); });
  Expect(FOVEA_OK, "listed of the keys", [](Program& p) { p.Cross().Set(A::kGlobalKeys, 1).With(p.FarRows()); });
  ExpectShape("listed of the queries", [](Program& p) { p.Cross().Set(A::kGlobalKeys, 1).With(p.Rows()); });
  ExpectShape("listed elsewhere", [](Program& p) { p.Set(A::kGlobalKeys, 1).With(p.FarRows()); });
  ExpectShape("listed by the caller", [](Program& p) { p.Set(A::kGlobalKeys, 1).With(p.marks); });
  Expect(FOVEA_OK, "all inputs", [](Program& p) {
    p.Set(A::kKeyBias, 1).Set(A::kGlobalKeys, 1).Set(A::kPairBias, 1).With(p.bias).With(p.Rows()).With(p.wide);
  });
  Expect(FOVEA_OK, "pair_bias", [](Program& p) { p.Set(A::kPairBias, 1).With(p.wide); });
  Expect(FOVEA_OK, "pair_bias by head", [](Program& p) { p.Set(A::kPairBias, 4).With(p.q); });
  ExpectShape("pair_bias of some heads", [](Program& p) { p.Set(A::kPairBias, 2).With(p.q); });
  ExpectShape("width of pair_bias", [](Program& p) { p.Set(A::kPairBias, 4).With(p.wide); });
  ExpectShape("type of pair_bias", [](Program& p) { p.Set(A::kPairBias, 1).With(p.marks); });
  ExpectShape("pair_bias elsewhere", [](Program& p) { p.Set(A::kPairBias, 1).With(p.far_bias); });
  ExpectShape("short pair_bias",
              [](Program& p) { p.Patches().Set(A::kPairBias, 1).With(p.b.Input("five", p.patches, 5)); });
  Expect(record, "no pair_bias", [](Program& p) { p.Set(A::kPairBias, 1); });
  Expect(FOVEA_OK, "aligned to the end", [](Program& p) { p.Cross().Set(A::kOrigin, 2).Set(A::kCausal, 1); });
  Expect(FOVEA_E_OP, "starts that nothing says", [](Program& p) { p.Set(A::kOrigin, 1); });
  Expect(FOVEA_E_OP, "unknown origin", [](Program& p) { p.Set(A::kOrigin, 3); });

  const auto clustered = [](Program& p, uint32_t sorted) -> Program& {
    return p.Set(A::kRounds, 2).Set(A::kChunk, 3).With(sorted);
  };
  Expect(FOVEA_OK, "clustered", [&](Program& p) { clustered(p, p.Sorted(p.q, p.tokens, 2)); });
  Expect(FOVEA_OK, "chunks as they stand", [](Program& p) { p.Set(A::kChunk, 3).Set(A::kChunksBefore, 64); });
  Expect(record, "chunks as they stand, sorted",
         [](Program& p) { p.Set(A::kChunk, 3).With(p.Sorted(p.q, p.tokens, 1)); });
  Expect(record, "not sorted", [](Program& p) { p.Set(A::kRounds, 2).Set(A::kChunk, 3); });
  ExpectShape("no chunk", [](Program& p) { p.Set(A::kRounds, 2).With(p.Sorted(p.q, p.tokens, 2)); });
  ExpectShape("many rounds",
              [](Program& p) { p.Set(A::kRounds, 65).Set(A::kChunk, 3).With(p.Sorted(p.q, p.tokens, 2)); });
  ExpectShape("many chunks", [&](Program& p) { clustered(p, p.Sorted(p.q, p.tokens, 2)).Set(A::kChunksBefore, 65); });
  ExpectShape("many chunks", [&](Program& p) { clustered(p, p.Sorted(p.q, p.tokens, 2)).Set(A::kChunksAfter, 65); });
  ExpectShape("multiple of none", [](Program& p) { p.Set(A::kChunk, 3).Set(A::kChunkMultiple, 0); });
  ExpectShape("large multiple", [](Program& p) { p.Set(A::kChunk, 3).Set(A::kChunkMultiple, (1 << 20) + 1); });
  ExpectShape("other rounds", [&](Program& p) { clustered(p, p.Sorted(p.q, p.tokens, 3)); });
  ExpectShape("other heads", [&](Program& p) { clustered(p, p.Sorted(p.q, p.tokens, 2, 2)); });
  ExpectShape("rows of another space", [&](Program& p) { clustered(p, p.Sorted(p.other, p.others, 2)); });
  ExpectShape("not sorted but named so", [&](Program& p) { clustered(p, p.marks); });
  ExpectShape("queries elsewhere", [&](Program& p) { clustered(p.Cross(), p.Sorted(p.other, p.others, 2)); });
  ExpectShape("chunks of queries elsewhere", [](Program& p) { p.Cross().Set(A::kChunk, 3); });
  ExpectShape("clustered best", [&](Program& p) { clustered(p, p.Sorted(p.q, p.tokens, 2)).Set(A::kTopK, 2); });
  ExpectShape("best in chunks", [](Program& p) { p.Set(A::kChunk, 3).Set(A::kTopK, 2); });
  // What the C function refuses, too.
  for (const auto& [key, value] :
       Attributes{{A::kPattern, 2}, {A::kGlobalFirst, 1}, {A::kFullUpTo, 9}, {A::kOrigin, 2}}) {
    ExpectShape("clustered and more",
                [&, k = key, v = value](Program& p) { clustered(p, p.Sorted(p.q, p.tokens, 2)).Set(k, v); });
  }
  ExpectShape("neighbours of no chunk", [](Program& p) { p.Set(A::kChunksBefore, 1); });
  Expect(FOVEA_E_OP, "sides of all", [](Program& p) { p.Set(A::kLeft, 2); });
  ExpectShape("clustered and relative", [&](Program& p) {
    clustered(p, p.Sorted(p.q, p.tokens, 2)).Floats(kRelativeKeys, 8, 3).Integers(kBuckets, 1, {0, 1, 1});
  });
}

}  // namespace
}  // namespace fovea::test
