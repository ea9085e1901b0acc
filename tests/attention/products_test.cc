// Products in bf16 and int8 against a reference that rounds the same operands, where the CPU has them; f32 elsewhere.
// Products in int16 against f32.
#include "tests/attention/attention_problem.h"

namespace fovea {
namespace {

// Weights are rounded to bf16, by 2^-9 of each at most, before they meet values of up to 1 (int8: 2.04).
constexpr double kBf16Out = 0x1p-9 + 1e-5;

// Scores of magnitude 1 are off by up to 2^-11 in int16 with 13 bits an operand, so that a weight is off by 2^-11 of
// itself; weights are rounded by 2^-12 of the largest, as are values.
constexpr double kI16Weight = 0x1p-11, kI16Out = 0x1p-10;

Case ProblemOf(Products products, uint32_t d_k, uint32_t d_v) {
  Case c;
  c.spec = SpecOf(2, 2, d_k, d_v, 0.3f);
  c.spec.score.products = products;
  // Products in int16 over fewer than 64 keys are f32.
  const bool few = FewerCases() && products != Products::kI16;
  c.queries = few ? std::vector<uint32_t>{21, 0, 3, 1, 17} : std::vector<uint32_t>{70, 0, 3, 1, 65};
  if (products == Products::kBf16) c.out_tolerance = kBf16Out;
  if (products == Products::kI16) c.tolerance = kI16Weight, c.out_tolerance = kI16Out;
  return c;
}

constexpr Products kShort[] = {Products::kBf16, Products::kI8, Products::kI16};
constexpr DType kTypes[] = {DType::kF32, DType::kF16, DType::kBf16, DType::kI8};

TEST(Products, EveryWidthAndDType) {
  for (const Products products : kShort) {
    for (const DType type : kTypes) {
      for (const uint32_t d : {1u, 2u, 3u, 4u, 8u, 21u, 64u, 67u}) {
        SCOPED_TRACE(testing::Message() << static_cast<int>(products) << " " << static_cast<int>(type) << " " << d);
        Case c = ProblemOf(products, d, d + 1);
        c.key_type = type;
        if (type == DType::kI8) c.out_tolerance *= 2.04;
        if (d == 21) c.spec.heads = 6;  // three to a head of keys
        Check(c);
      }
    }
  }
}

TEST(Products, Patterns) {
  std::vector<Pattern> patterns = SomePatterns();
  // Windows of an odd number of keys begin and end inside pairs of keys.
  patterns.insert(patterns.end(), {WindowOf(3, 5), WindowOf(0, 0)});
  for (const Pattern& pattern : patterns) {
    for (const Products products : kShort) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(products) << " left " << pattern.left << " top_k "
                                      << pattern.top_k << " rounds " << pattern.rounds);
      Case c = ProblemOf(products, 24, 8);
      c.spec.pattern = pattern;
      Check(c);
      c.queries = {FewerCases() ? 40u : 200u};
      c.spec.d_v = kWideValue;  // blocks of 64 keys
      Check(c);
    }
  }
}

TEST(Products, WithOtherPartsOfScores) {
  for (const Products products : kShort) {
    Case c = ProblemOf(products, 16, 16);
    c.spec.score.cap = 2.0f;
    c.spec.score.max_distance = 5;
    c.tolerance = std::max(2e-5, c.tolerance);
    c.key_bias = true;
    Check(c);
    c.buckets = 9;
    Check(c);
    Case weighed = ProblemOf(products, 16, 16);
    weighed.spec.weighting.kind = Activation::kRelu;
    weighed.tolerance = 3e-5;
    weighed.out_tolerance = products == Products::kBf16 ? 300 * kBf16Out : 0.0;  // weights of up to 1, without a norm
    Check(weighed);
  }
}

// Keys so small, or so large, that a scale of int8 would not be finite.
TEST(Products, ExtremeRows) {
  for (const Products products : kShort) {
    for (const float magnitude : {0.0f, 1e-38f, 1e15f}) {
      Case c = ProblemOf(products, 12, 4);
      c.magnitude = magnitude;
      c.spec.score.scale = magnitude > 1.0f ? 1e-30f : 0.3f;
      Check(c);
    }
  }
}

// A single row has the same bits.
TEST(Products, RowsByThemselves) {
  for (const Products products : kShort) {
    Case c = ProblemOf(products, 16, 8);
    c.queries = {0, 0, 0};
    c.keys = {5, 0, 90};
    c.spec.pairing = Pairing::kParent;
    Check(c);
  }
}

// If products may be shorter, outputs have the same bits as if that type is asked for, in the scratch of f32.
TEST(Products, InTheScratchOfF32) {
  if (kRounded == Products::kF32) GTEST_SKIP() << "this build has no such type";
  for (const uint32_t d : {12u, 16u, 32u, 64u, 67u, 128u}) {
    for (const uint32_t keys : {kRoundedKeys - 1, kRoundedKeys, 300u}) {
      SCOPED_TRACE(testing::Message() << d << " " << keys);
      Case c = ProblemOf(Products::kF32, d, d);
      c.queries = {keys};
      const Problem f32(c);
      c.spec.score.may_round = true;
      const Problem allowed(c);
      c.spec.score.products = kRounded;
      const Problem asked(c);
      const bool has_room = d > 16 || (kRounded == Products::kI8 && d == 16);
      ForEachTarget([&](const Kernels& kernels) {
        const std::vector<float> out = allowed.Run(kernels, {keys}), wanted = asked.Run(kernels, {keys});
        const std::vector<float> plain = f32.Run(kernels, {keys});
        const bool has = kernels.attention.has[static_cast<uint32_t>(kRounded)], enough = keys >= kRoundedKeys;
        EXPECT_EQ(!SameBits(wanted, plain), has && (enough || kRounded == Products::kI8));
        EXPECT_TRUE(SameBits(out, enough && has_room ? wanted : plain));
        EXPECT_TRUE(SameBits(out, allowed.Run(kernels, {5, 50, keys - 55})));
      });
    }
  }
}

// Cost of the product types: the largest difference from f32, for outputs of magnitude 1.
TEST(Products, NearF32) {
  for (const Products products : kShort) {
    Case c = ProblemOf(products, 64, 64);
    c.spec.score.scale = 0.125f;
    const Problem problem(c);
    Case plain = c;
    plain.spec.score.products = Products::kF32;
    const Problem f32(plain);
    ForEachTarget([&](const Kernels& kernels) {
      const std::vector<float> a = problem.Run(kernels, {problem.rows()}), b = f32.Run(kernels, {f32.rows()});
      double worst = 0.0;
      for (size_t i = 0; i < a.size(); ++i) worst = std::max(worst, test::Distance(a[i], b[i]));
      EXPECT_LE(worst, products == Products::kI16 ? 0.001 : 0.01);
      EXPECT_EQ(worst > 0.0, kernels.attention.has[static_cast<uint32_t>(products)]);
    });
  }
}

}  // namespace
}  // namespace fovea
