// Rows concatenated with their neighbours, convolutions by linear layers over them, and pooling by strides.
#include "runtime/blob/attributes.h"
#include "tests/ops/op_fixture.h"
#include "tests/support/combinations.h"

namespace fovea::test {
namespace {

// Rows middle - before .. middle + after of each segment for every `stride`-th row, zeros outside.
std::vector<double> Unfold(const std::vector<float>& x, const Lengths& lengths, uint32_t width, int before, int after,
                           int stride) {
  std::vector<double> y;
  int begin = 0;
  for (const uint32_t length : lengths) {
    const int n = static_cast<int>(length);
    for (int middle = 0; middle < n; middle += stride) {
      for (int row = middle - before; row <= middle + after; ++row) {
        for (uint32_t c = 0; c < width; ++c) {
          y.push_back(row < 0 || row >= n ? 0 : x[static_cast<size_t>(begin + row) * width + c]);
        }
      }
    }
    begin += n;
  }
  return y;
}

TEST(Unfold, AgainstPlainLoops) {
  const int reaches[][2] = {{0, 0}, {1, 1}, {2, 0}, {0, 3}, {20, 20}};
  for (const auto& [before, after] : reaches) {
    for (const uint32_t stride : {1u, 2u, 3u, 40u}) {
      for (const Lengths& lengths : RaggedLengths()) {
        ModelBuilder b;
        const TextSpaces s(b);
        const uint32_t width = 3, space = stride == 1 ? s.tokens : b.StridedSpace("fewer", s.tokens, stride);
        const uint32_t x = b.Input("x", s.tokens, width);
        const uint32_t y = b.Op("unfold", {x}, {}, space, static_cast<uint32_t>(before + after + 1) * width,
                                {{Attribute::kBefore, before}, {Attribute::kAfter, after}});
        const std::vector<float> xs = b.RandomFloats(size_t{Total(lengths)} * width);
        ExpectClose(RunTiled(b, {{{s.tokens, lengths}}, {{x, xs}}, {}}, y),
                    Unfold(xs, lengths, width, before, after, static_cast<int>(stride)), 0, 0,
                    "before " + std::to_string(before) + " stride " + std::to_string(stride));
      }
    }
  }
}

// A convolution of three rows with stride 2, twice: a strided space of a strided space.
TEST(Unfold, StridedConvolutions) {
  ModelBuilder b;
  const TextSpaces s(b);
  const uint32_t half = b.StridedSpace("half", s.tokens, 2), quarter = b.StridedSpace("quarter", half, 2);
  const uint32_t x = b.Input("x", s.tokens, 4);
  const Lengths lengths = {0, 1, 2, 3, 11, 0, 16}, halves = {0, 1, 1, 2, 6, 0, 8};
  const uint32_t weight = b.RandomTensor(4, 12);
  const Attributes reach = {{Attribute::kBefore, 1}, {Attribute::kAfter, 1}};
  const auto convolve = [&](uint32_t value, uint32_t space) {
    return b.Op("linear", {b.Op("unfold", {value}, {}, space, 12, reach)}, {weight}, space, 4);
  };
  const uint32_t y = convolve(x, half), z = convolve(y, quarter);
  const std::vector<float> xs = b.RandomFloats(size_t{Total(lengths)} * 4), w = b.TensorValues(weight);
  const auto reference = [&](const std::vector<float>& rows, const Lengths& of) {
    const std::vector<double> wide = Unfold(rows, of, 4, 1, 1, 2);
    std::vector<float> out;
    for (size_t r = 0; r < wide.size() / 12; ++r) {
      for (size_t o = 0; o < 4; ++o) {
        double sum = 0;
        for (size_t i = 0; i < 12; ++i) sum += wide[r * 12 + i] * w[o * 12 + i];
        out.push_back(static_cast<float>(sum));
      }
    }
    return out;
  };
  const std::vector<float> expected = reference(reference(xs, lengths), halves);
  ExpectClose(RunTiled(b, {{{s.tokens, lengths}}, {{x, xs}}, {}}, z), {expected.begin(), expected.end()}, 1e-5, 1e-6);
}

TEST(Unfold, ShapeRules) {
  const auto refused = [](const char* what, fovea_status status, uint32_t width, DType type, uint32_t to,
                          const Attributes& attributes) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t half = b.StridedSpace("half", s.tokens, 2), others = b.Space("others", s.texts);
    const uint32_t spaces[] = {
        s.tokens, half, b.StridedSpace("quarter", half, 2), others, b.StridedSpace("other", others, 2), s.texts};
    b.Op("unfold", {b.Input("x", s.tokens, 4, type)}, {}, spaces[to], width, attributes);
    ExpectStatus(b, status, what);
  };
  refused("fine", FOVEA_OK, 4, DType::kF32, 0, {});
  refused("fine", FOVEA_OK, 16, DType::kF32, 1, {{Attribute::kBefore, 2}, {Attribute::kAfter, 1}});
  refused("width", FOVEA_E_SHAPE, 12, DType::kF32, 1, {{Attribute::kBefore, 2}, {Attribute::kAfter, 1}});
  refused("very wide", FOVEA_E_SHAPE, 4, DType::kF32, 0, {{Attribute::kBefore, 0xffffffff}});
  refused("very wide", FOVEA_E_SHAPE, 4, DType::kF32, 0,
          {{Attribute::kBefore, 0xffffffff}, {Attribute::kAfter, 0xffffffff}});
  refused("type", FOVEA_E_SHAPE, 4, DType::kI32, 0, {});
  refused("strides of strides", FOVEA_E_SHAPE, 4, DType::kF32, 2, {});
  refused("beside", FOVEA_E_SHAPE, 4, DType::kF32, 3, {});
  refused("strides of another", FOVEA_E_SHAPE, 4, DType::kF32, 4, {});
  refused("parent", FOVEA_E_SHAPE, 4, DType::kF32, 5, {});
}

struct StrideCase {
  uint32_t kind, stride;
  Lengths lengths;
};

// Rows of each segment pooled by groups of `stride`: first, last, mean, max, sum over the root of the count.
std::vector<double> PooledByStrides(const StrideCase& c, const std::vector<float>& xs, uint32_t width) {
  std::vector<double> expected;
  uint32_t begin = 0;
  for (const uint32_t length : c.lengths) {
    for (uint32_t first = begin; first < begin + length; first += c.stride) {
      const uint32_t end = std::min(begin + length, first + c.stride);
      for (uint32_t column = 0; column < width; ++column) {
        double sum = 0, most = -INFINITY;
        for (uint32_t r = first; r < end; ++r) {
          sum += xs[r * width + column];
          most = std::max<double>(most, xs[r * width + column]);
        }
        const double count = end - first;
        const double pooled[] = {xs[first * width + column], xs[(end - 1) * width + column], sum / count, most,
                                 sum / std::sqrt(count)};
        expected.push_back(pooled[c.kind]);
      }
    }
    begin += length;
  }
  return expected;
}

TEST(Pool, ByStrides) {
  const std::vector<uint32_t> kinds = {0, 1, 2, 3, 4}, strides = {2, 3, 5, 100};
  for (const StrideCase& c : Combinations<StrideCase>(kinds, strides, RaggedLengths())) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t width = 7, fewer = b.StridedSpace("fewer", s.tokens, c.stride);
    const uint32_t x = b.Input("x", s.tokens, width);
    const uint32_t y = b.Op("pool", {x}, {}, fewer, width, {{Attribute::kKind, c.kind}});
    const std::vector<float> xs = b.RandomFloats(size_t{Total(c.lengths)} * width);
    ExpectClose(RunTiled(b, {{{s.tokens, c.lengths}}, {{x, xs}}, {}}, y), PooledByStrides(c, xs, width),
                c.kind < 2 || c.kind == 3 ? 0 : 1e-6, 0, "kind " + std::to_string(c.kind));
  }
}

// In a space without parent, and into the parent from there.
TEST(Pool, StridesOfARoot) {
  ModelBuilder b;
  const uint32_t root = b.Space("root"), fewer = b.StridedSpace("fewer", root, 4);
  const uint32_t x = b.Input("x", root, 1);
  const uint32_t y = b.Op("pool", {x}, {}, fewer, 1, {{Attribute::kKind, 2}});
  ExpectClose(RunTiled(b, {{{root, {6}}}, {{x, {1, 2, 3, 4, 5, 7}}}, {}}, y), {2.5, 6}, 1e-6, 0);
}

}  // namespace
}  // namespace fovea::test
