// Columns of a value.
#include "runtime/blob/attributes.h"
#include "tests/ops/op_fixture.h"

namespace fovea::test {
namespace {

TEST(Slice, TakesColumns) {
  for (const auto& [begin, width] : {std::pair<uint32_t, uint32_t>{0, 7}, {0, 1}, {6, 1}, {2, 4}}) {
    for (const Lengths& lengths : RaggedLengths()) {
      ModelBuilder b;
      const TextSpaces s(b);
      const uint32_t x = b.Input("x", s.tokens, 7);
      const uint32_t y =
          b.Op("slice", {x}, {}, s.tokens, width, {{Attribute::kBegin, begin}, {Attribute::kWidth, width}});
      const uint32_t rows = Total(lengths);
      const std::vector<float> xs = b.RandomFloats(size_t{rows} * 7);
      const std::vector<float> found = RunTiled(b, {{{s.tokens, lengths}}, {{x, xs}}, {}}, y);
      ASSERT_EQ(found.size(), size_t{rows} * width);
      for (uint32_t r = 0; r < rows; ++r) {
        for (uint32_t c = 0; c < width; ++c) ASSERT_EQ(found[size_t{r} * width + c], xs[size_t{r} * 7 + begin + c]);
      }
    }
  }
}

TEST(Slice, PartsBesideEachOtherAreTheWhole) {
  ModelBuilder b;
  const TextSpaces s(b);
  const uint32_t x = b.Input("x", s.tokens, 33);
  const uint32_t wide = b.Op("scale", {x}, {}, s.tokens, 33, {{Attribute::kScale, 2}});
  const auto part = [&](uint32_t begin, uint32_t width) {
    return b.Op("slice", {wide}, {}, s.tokens, width, {{Attribute::kBegin, begin}, {Attribute::kWidth, width}});
  };
  const uint32_t y = b.Op("concat", {part(0, 16), part(16, 16), part(32, 1)}, {}, s.tokens, 33);
  const std::vector<float> xs = b.RandomFloats(26 * 33);
  const std::vector<float> found = RunTiled(b, {{{s.tokens, RaggedLengths()[0]}}, {{x, xs}}, {}}, y);
  ASSERT_EQ(found.size(), xs.size());
  for (size_t i = 0; i < xs.size(); ++i) ASSERT_EQ(found[i], 2 * xs[i]);
}

TEST(Slice, ShapeRules) {
  struct Try {
    const char* what;
    fovea_status status;
    uint32_t output_width;
    bool other_space;
    DType type;
    Attributes attributes;
  };
  const auto columns = [](double begin, double width) {
    return Attributes{{Attribute::kBegin, begin}, {Attribute::kWidth, width}};
  };
  const Try tries[] = {
      {"fine", FOVEA_OK, 3, false, DType::kF32, columns(5, 3)},
      {"from the first", FOVEA_OK, 8, false, DType::kF32, {{Attribute::kWidth, 8}}},
      {"after the end", FOVEA_E_SHAPE, 3, false, DType::kF32, columns(6, 3)},
      {"begins after the end", FOVEA_E_SHAPE, 3, false, DType::kF32, columns(9, 3)},
      {"overflows", FOVEA_E_SHAPE, 3, false, DType::kF32, columns(4294967294.0, 3)},
      {"other width", FOVEA_E_SHAPE, 4, false, DType::kF32, columns(5, 3)},
      {"no width", FOVEA_E_SHAPE, 3, false, DType::kF32, {{Attribute::kBegin, 5}}},
      {"space", FOVEA_E_SHAPE, 3, true, DType::kF32, columns(5, 3)},
      {"ids", FOVEA_E_SHAPE, 3, false, DType::kI32, columns(5, 3)},
      {"attribute", FOVEA_E_OP, 3, false, DType::kF32, {{Attribute::kOffset, 5}}},
  };
  for (const Try& t : tries) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t x = b.Input("x", s.tokens, 8, t.type);
    b.Op("slice", {x}, {}, t.other_space ? s.texts : s.tokens, t.output_width, t.attributes);
    ExpectStatus(b, t.status, t.what);
  }
}

}  // namespace
}  // namespace fovea::test
