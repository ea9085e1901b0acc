// Attributes, tensors and further inputs of attention that are refused.
#include "tests/ops/attention_program.h"

namespace fovea::test {
namespace {

using A = Attribute;
constexpr double kMost = 4294967295.0;

TEST(AttentionChecks, PatternsAreChecked) {
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

TEST(AttentionChecks, HeadsAreBounded) {
  for (const uint32_t heads : {4096u, 4097u}) {
    ModelBuilder b;
    const uint32_t rows = b.Space("rows"), x = b.Input("x", rows, heads);
    b.Op("attention", {x, x, x}, {}, rows, heads, {{A::kHeads, heads}});
    heads == 4096 ? ExpectAccepted(b, "heads") : ExpectRefused(b, FOVEA_E_SHAPE, "heads");
  }
}

TEST(AttentionChecks, ScoresAreChecked) {
  Expect(FOVEA_E_OP, "score", [](Program& p) { p.Set(A::kScore, 3); });
  Expect(FOVEA_OK, "products", [](Program& p) { p.Set(A::kProducts, 2); });
  Expect(FOVEA_E_OP, "unknown products", [](Program& p) { p.Set(A::kProducts, 4); });
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
  ExpectShape("self_score of another space", [](Program& p) { p.Cross().Set(A::kSelfScore, 0); });
}

TEST(AttentionChecks, InputsAreChecked) {
  const fovea_status record = FOVEA_E_RECORD;
  Expect(FOVEA_OK, "an input by its number", [](Program& p) { p.With(p.bias); });
  Expect(record, "an input more", [](Program& p) { p.Set(A::kRowCoordinates, 1).With(p.bias).With(p.bias); });
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
  Expect(FOVEA_E_OP, "origin without starts", [](Program& p) { p.Set(A::kOrigin, 1); });
  Expect(FOVEA_E_OP, "unknown origin", [](Program& p) { p.Set(A::kOrigin, 3); });

  const auto clustered = [](Program& p, uint32_t sorted) -> Program& {
    return p.Set(A::kRounds, 2).Set(A::kChunk, 3).With(sorted);
  };
  Expect(FOVEA_OK, "clustered", [&](Program& p) { clustered(p, p.Sorted(p.q, p.tokens, 2)); });
  Expect(FOVEA_OK, "chunks in row order", [](Program& p) { p.Set(A::kChunk, 3).Set(A::kChunksBefore, 64); });
  ExpectShape("chunks in row order, sorted", [](Program& p) { p.Set(A::kChunk, 3).With(p.Sorted(p.q, p.tokens, 1)); });
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
  // Attributes that the C function also refuses.
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
