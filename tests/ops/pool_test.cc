// Pooling: segments to rows of the parent space, through several levels.
#include "runtime/blob/attributes.h"
#include "tests/ops/op_fixture.h"

namespace fovea::test {
namespace {

enum Kind : uint32_t { kFirst, kLast, kMean, kMax, kMeanSqrt, kSum, kRisingMean, kKinds };

std::vector<double> Pool(uint32_t kind, const std::vector<double>& x, const Lengths& lengths, uint32_t width) {
  std::vector<double> y;
  size_t begin = 0;
  for (const uint32_t length : lengths) {
    for (uint32_t i = 0; i < width; ++i) {
      double sum = 0, most = -INFINITY, rising = 0;
      for (uint32_t r = 0; r < length; ++r) {
        sum += x[(begin + r) * width + i];
        rising += (r + 1) * x[(begin + r) * width + i];
        most = std::max(most, x[(begin + r) * width + i]);
      }
      double pooled = 0;  // result for an empty segment
      if (length != 0) {
        if (kind == kFirst) pooled = x[begin * width + i];
        if (kind == kLast) pooled = x[(begin + length - 1) * width + i];
        if (kind == kMean) pooled = sum / length;
        if (kind == kMax) pooled = most;
        if (kind == kMeanSqrt) pooled = sum / std::sqrt(double{1} * length);
        if (kind == kSum) pooled = sum;
        if (kind == kRisingMean) pooled = rising / (0.5 * length * (length + 1.0));
      }
      y.push_back(pooled);
    }
    begin += length;
  }
  return y;
}

TEST(Pool, Kinds) {
  for (uint32_t kind = 0; kind < kKinds; ++kind) {
    for (const uint32_t width : {1u, 6u, 16u, 35u}) {
      for (const Lengths& lengths : RaggedLengths()) {
        ModelBuilder b;
        const TextSpaces s(b);
        const uint32_t x = b.Input("x", s.tokens, width);
        const uint32_t y = b.Op("pool", {x}, {}, s.texts, width, {{Attribute::kKind, kind}});
        std::vector<float> xs = b.RandomFloats(size_t{Total(lengths)} * width);
        for (float& v : xs) v -= 2;  // a maximum that begins with zero would show
        const std::vector<float> found = RunTiled(b, {{{s.tokens, lengths}}, {{x, xs}}, {}}, y);
        ExpectClose(found, Pool(kind, {xs.begin(), xs.end()}, lengths, width), kind < kMean || kind == kMax ? 0 : 1e-6,
                    0, "kind " + std::to_string(kind));
      }
    }
  }
}

// Tokens -> sentences -> documents -> one row, each level pooled differently.
TEST(Pool, OfPool) {
  for (uint32_t kind = 0; kind < kKinds; ++kind) {
    ModelBuilder b;
    const uint32_t all = b.Space("all"), documents = b.Space("documents", all);
    const uint32_t sentences = b.Space("sentences", documents), tokens = b.Space("tokens", sentences);
    const uint32_t x = b.Input("x", tokens, 5);
    const uint32_t by_sentence = b.Op("pool", {x}, {}, sentences, 5, {{Attribute::kKind, kind}});
    const uint32_t by_document =
        b.Op("pool", {by_sentence}, {}, documents, 5, {{Attribute::kKind, (kind + 1) % kKinds}});
    const uint32_t top = b.Op("pool", {by_document}, {}, all, 5, {{Attribute::kKind, (kind + 2) % kKinds}});
    const Lengths of_tokens = {3, 0, 20, 1, 1, 7, 2}, of_sentences = {2, 0, 4, 1}, of_documents = {4};
    const std::vector<float> xs = b.RandomFloats(34 * 5);
    const Feed feed = {{{tokens, of_tokens}, {sentences, of_sentences}, {documents, of_documents}}, {{x, xs}}, {}};
    const std::vector<double> first = Pool(kind, {xs.begin(), xs.end()}, of_tokens, 5);
    const std::vector<double> second = Pool((kind + 1) % kKinds, first, of_sentences, 5);
    ExpectClose(RunTiled(b, feed, by_sentence), first, 1e-6, 0);
    ExpectClose(RunTiled(b, feed, by_document), second, 2e-6, 0);
    ExpectClose(RunTiled(b, feed, top), Pool((kind + 2) % kKinds, second, of_documents, 5), 3e-6, 0);
  }
}

TEST(Pool, ShapeRules) {
  const auto refused = [](const char* what, fovea_status status, uint32_t width, DType type, int in, int out,
                          uint32_t tensors, const Attributes& attributes) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t spaces[] = {s.texts, s.tokens, b.Space("words", s.tokens), b.Space("other")};
    const uint32_t x = b.Input("x", spaces[in], width, type);
    b.Op("pool", {x}, std::vector<uint32_t>(tensors, tensors == 0 ? 0 : b.RandomTensor(1, 8)), spaces[out], 8,
         attributes);
    ExpectStatus(b, status, what);
  };
  refused("fine", FOVEA_OK, 8, DType::kF32, 1, 0, 0, {{Attribute::kKind, 4}});
  refused("fine", FOVEA_OK, 8, DType::kF32, 2, 1, 0, {});
  refused("width", FOVEA_E_SHAPE, 9, DType::kF32, 1, 0, 0, {});
  refused("type", FOVEA_E_SHAPE, 8, DType::kI32, 1, 0, 0, {});
  refused("same space", FOVEA_E_SHAPE, 8, DType::kF32, 1, 1, 0, {});
  refused("child", FOVEA_E_SHAPE, 8, DType::kF32, 0, 1, 0, {});
  refused("grandparent", FOVEA_E_SHAPE, 8, DType::kF32, 2, 0, 0, {});
  refused("stranger", FOVEA_E_SHAPE, 8, DType::kF32, 1, 3, 0, {});
  refused("no parent", FOVEA_E_SHAPE, 8, DType::kF32, 3, 0, 0, {});
  refused("kind", FOVEA_E_OP, 8, DType::kF32, 1, 0, 0, {{Attribute::kKind, kKinds}});
  refused("tensor", FOVEA_E_RECORD, 8, DType::kF32, 1, 0, 1, {});
  refused("attribute", FOVEA_E_OP, 8, DType::kF32, 1, 0, 0, {{Attribute::kHeads, 1}});
}

// Every three rows become one. The remaining one or two rows are dropped, or join the last group.
TEST(Pool, RowsThatAreLeftOutMayJoinTheLastOnes) {
  for (const uint32_t kind : {kSum, kMax, kLast}) {
    for (const bool rest : {false, true}) {
      ModelBuilder b;
      const TextSpaces s(b);
      const uint32_t groups = b.StridedSpace("groups", s.tokens, 3, 0, 2), x = b.Input("x", s.tokens, 2);
      const uint32_t y = b.Op("pool", {x}, {}, groups, 2, {{Attribute::kKind, kind}, {Attribute::kRest, rest ? 1 : 0}});
      const Lengths lengths = {3, 0, 7, 2, 12, 5};
      const std::vector<float> xs = b.RandomFloats(size_t{Total(lengths)} * 2);
      // The rows of each group, by hand: a text of n rows has n / 3 of them, at least one.
      std::vector<double> expected;
      size_t begin = 0;
      for (const uint32_t n : lengths) {
        const uint32_t count = n == 0 ? 0 : std::max(n / 3, 1u), used = n > 2 ? n - 2 : std::min(n, 1u);
        for (uint32_t g = 0; g < count; ++g) {
          const uint32_t end = g + 1 < count ? 3 * (g + 1) : rest ? n : std::min(3 * (g + 1), used);
          const auto from = xs.begin() + static_cast<ptrdiff_t>((begin + 3 * g) * 2);
          const auto to = xs.begin() + static_cast<ptrdiff_t>((begin + end) * 2);
          for (const double v : Pool(kind, {from, to}, {end - 3 * g}, 2)) expected.push_back(v);
        }
        begin += n;
      }
      ExpectClose(RunTiled(b, {{{s.tokens, lengths}}, {{x, xs}}, {}}, y), expected, 1e-6, 1e-7);
    }
  }
  ModelBuilder b;
  const TextSpaces s(b);
  b.Op("pool", {b.Input("x", s.tokens, 2)}, {}, s.texts, 2, {{Attribute::kRest, 1}});
  ExpectRefused(b, FOVEA_E_OP, "nothing is left out");
}

}  // namespace
}  // namespace fovea::test
