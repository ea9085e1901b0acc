// Storing weights: error bounds, special rows, fallback.
#include "tools/convert/quantize.h"

#include <gtest/gtest.h>
#include <string.h>

#include <cmath>
#include <map>
#include <set>

#include "runtime/blob/names.h"
#include "tests/convert/graph_support.h"
#include "tests/support/random_floats.h"
#include "tools/base/fail.h"
#include "tools/base/half.h"
#include "tools/convert/convert.h"

namespace fovea::tools {
namespace {

std::vector<float> Normal(size_t count, uint32_t seed) { return test::RandomFloats(count, 0.1f, seed); }

BlobTensor Encoded(DType type, uint32_t rows, uint32_t width, const std::vector<float>& values) {
  BlobTensor tensor;
  tensor.name = "t";
  tensor.type = type;
  tensor.rows = rows;
  tensor.width = width;
  EncodeTensor(values, tensor);
  return tensor;
}

TEST(Quantize, ErrorsStayInBounds) {
  const uint32_t rows = 9, width = 96;
  const std::vector<float> values = Normal(rows * width, 1);
  float largest = 0;
  for (float value : values) largest = std::max(largest, std::fabs(value));
  const struct {
    DType type;
    double relative_rms;
  } cases[] = {{DType::kF32, 0}, {DType::kF16, 3e-4}, {DType::kI8, 0.009}, {DType::kI4, 0.11}};
  for (const auto& c : cases) {
    const QuantizationError error = CompareTensors(values, DecodeTensor(Encoded(c.type, rows, width, values)));
    EXPECT_LE(error.relative_rms, c.relative_rms);
    EXPECT_LE(error.max_abs, c.relative_rms * largest * 4);
  }
}

// The search never does worse than the scale that just holds the largest magnitude.
TEST(Quantize, SearchBeatsThePlainScale) {
  std::vector<float> values = Normal(64, 2);
  values[5] = 1.2f;  // a rare large one
  const BlobTensor tensor = Encoded(DType::kI8, 1, 64, values);
  double plain = 0, searched = 0;
  const std::vector<float> stored = DecodeTensor(tensor);
  for (size_t i = 0; i < values.size(); ++i) {
    const float scale = 1.2f / 127;
    plain += std::pow(values[i] - std::nearbyintf(values[i] / scale) * scale, 2);
    searched += std::pow(values[i] - stored[i], 2);
  }
  EXPECT_LE(searched, plain * 1.0001);
}

// Ten candidate fractions, or twenty where there are two limits; the first with the smallest sum of squared errors
// wins.
TEST(Quantize, ScalesAreThoseOfAPlainSearch) {
  const float fractions[] = {1.0f, 0.98f, 0.96f, 0.94f, 0.92f, 0.9f, 0.87f, 0.84f, 0.8f, 0.75f};
  for (const DType type : {DType::kI8, DType::kI4}) {
    const bool bytes = type == DType::kI8;
    const float low = bytes ? -127 : -8, high = bytes ? 127 : 7;
    std::set<size_t> chosen;
    // With eight bits it pays to clip one value in thousands.
    const uint32_t width = bytes ? 8192 : 32;
    for (uint32_t seed = 0; seed < (bytes ? 40u : 400u); ++seed) {
      std::vector<float> values = Normal(width, 100 + seed);
      values[seed % 32] *= 1 + 0.05f * static_cast<float>(seed % 9);
      float largest = 0, best = 0;
      for (const float value : values) largest = std::max(largest, std::fabs(value));
      double least = INFINITY;
      size_t trial = 0, at = 0;
      for (const float limit : {high, -low}) {
        for (const float fraction : fractions) {
          ++trial;
          float scale = largest / limit * fraction;
          if (!bytes) scale = FromBf16(ToBf16(scale));
          double sum = 0;
          for (const float value : values) {
            const float steps = std::nearbyintf(std::min(std::max(value * (1 / scale), low), high));
            const float error = value - steps * scale;
            sum += error * error;
          }
          if (sum < least) best = scale, least = sum, at = trial;
        }
        if (bytes) break;
      }
      chosen.insert(at);
      const BlobTensor tensor = Encoded(type, 1, width, values);
      uint32_t bits = 0;
      memcpy(&bits, tensor.scales.data(), tensor.scales.size());
      EXPECT_EQ(bytes ? FloatOf(bits) : FromBf16(static_cast<uint16_t>(bits)), best) << seed;
    }
    EXPECT_GT(chosen.size(), bytes ? 1u : 8u) << "the search has nothing to choose";
  }
}

// Squared errors times weights: the same scale as for a block in which each value is repeated as often as its weight.
TEST(Quantize, WeighedScalesAreThoseOfRepeatedValues) {
  size_t differ = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::vector<float> block(kI4Block), values = Normal(8, 500 + seed);
    for (size_t i = 0; i < kI4Block; ++i) block[i] = values[i / 4];
    std::vector<float> once(kI4Block, 0.0f), counts(kI4Block, 4.0f);
    std::copy(values.begin(), values.end(), once.begin());
    EXPECT_EQ(tools::BestInt4Scale(once.data(), counts.data()), tools::BestInt4Scale(block.data(), nullptr)) << seed;
    counts[0] = 1e4f;  // this one should be exact
    const float scale = tools::BestInt4Scale(once.data(), counts.data()),
                plain = tools::BestInt4Scale(once.data(), nullptr);
    const auto error = [&](float s) {
      return std::fabs(once[0] - std::clamp(std::nearbyintf(once[0] / s), -8.0f, 7.0f) * s);
    };
    EXPECT_LE(error(scale), error(plain) + 1e-6f) << seed;
    differ += scale != plain;
  }
  EXPECT_GT(differ, 100u);
}

TEST(Quantize, ScalesArePositiveAndNormal) {
  std::vector<float> values(3 * 64, 0.0f);
  values[64] = 1e-42f;  // a row of subnormals, a row of zeros, a row with one side only
  for (size_t i = 128; i < 192; ++i) values[i] = -0.5f;
  for (DType type : {DType::kI8, DType::kI4}) {
    const BlobTensor tensor = Encoded(type, 3, 64, values);
    const size_t bytes = type == DType::kI8 ? 4 : 2;
    for (size_t i = 0; i < tensor.scales.size(); i += bytes) {
      uint32_t bits = 0;
      memcpy(reinterpret_cast<uint8_t*>(&bits) + (4 - bytes), &tensor.scales[i], bytes);
      EXPECT_TRUE(std::isnormal(FloatOf(bits)) && FloatOf(bits) > 0);
    }
    const std::vector<float> stored = DecodeTensor(tensor);
    EXPECT_EQ(stored[0], 0);
    EXPECT_EQ(stored[64], 0);
    EXPECT_NEAR(stored[130], -0.5f, 0.003f);
  }
}

TEST(Quantize, WidthsWithoutWholeBlocksBecomeInt8) {
  EXPECT_EQ(StorableType(DType::kI4, {}, 64), DType::kI4);
  EXPECT_EQ(StorableType(DType::kI4, {}, 40), DType::kI8);
  EXPECT_EQ(StorableType(DType::kI8, {}, 40), DType::kI8);
  EXPECT_EQ(StorableType(DType::kF16, {}, 40), DType::kF16);
}

// For example a table that masks entries by -1e30.
TEST(Quantize, ValuesTooLargeForF16StayF32) {
  EXPECT_EQ(StorableType(DType::kF16, {1, 65504}, 2), DType::kF16);
  EXPECT_EQ(StorableType(DType::kF16, {1, -65520}, 2), DType::kF32);
  EXPECT_EQ(StorableType(DType::kF16, {-1e30f, 1}, 2), DType::kF32);
  EXPECT_EQ(StorableType(DType::kI8, {-1e30f, 1}, 2), DType::kI8);
  EXPECT_EQ(StorableType(DType::kF16, {-INFINITY, 1}, 2), DType::kF16);  // refused, as everywhere
}

// Weights that run once for a whole text keep at least f16; weights that run in every step may be integers.
TEST(Quantize, LayersOfDecodersMayBeIntegers) {
  const Resolved resolved = ResolveJson(Json::parse(R"({
    "fovea": 1,
    "spaces": [{"name": "texts"}, {"name": "tokens", "parent": "texts"}],
    "constants": [{"name": "table", "sinusoidal": {"rows": 9, "width": 4}},
                  {"name": "head", "sinusoidal": {"rows": 4, "width": 4}},
                  {"name": "step", "sinusoidal": {"rows": 4, "width": 4}}],
    "programs": [{
      "name": "encode", "inputs": [{"name": "ids", "space": "tokens", "type": "i32"}],
      "operations": [{"op": "embed", "in": ["ids"], "tensors": ["table"], "out": "rows"},
                     {"op": "pool", "in": ["rows"], "out": "pooled", "kind": "mean"},
                     {"op": "linear", "in": ["pooled"], "tensors": ["head"], "out": "first"}],
      "outputs": ["first"]
    }, {
      "name": "decode", "inputs": [{"name": "state", "space": "texts", "type": "f32", "width": 4, "carried": "next"}],
      "operations": [{"op": "linear", "in": ["state"], "tensors": ["step"], "out": "next"}],
      "outputs": ["next"]
    }]})"));
  std::map<std::string, Shortest> shortest;
  for (size_t i = 0; i < resolved.shortest.size(); ++i) {
    shortest[resolved.content.tensors[i].name] = resolved.shortest[i];
  }
  EXPECT_EQ(shortest.at("table"), Shortest::kAny);
  EXPECT_EQ(shortest.at("head"), Shortest::kF16);
  EXPECT_EQ(shortest.at("step"), Shortest::kAny);
}

// A description may require a type for a tensor.
TEST(Quantize, KeptTypesAreNotShorter) {
  const auto json = [](const std::string& keep) {
    return Json::parse(R"({
      "fovea": 1,
      "spaces": [{"name": "texts"}, {"name": "tokens", "parent": "texts"}],
      "constants": [{"name": "w", "sinusoidal": {"rows": 32, "width": 32, "first": 1}},
                    {"name": "kept", "of": "w", "scale": 2, "keep": ")" +
                       keep + R"("}],
      "programs": [{
        "name": "main", "inputs": [{"name": "x", "space": "tokens", "width": 32}],
        "operations": [{"op": "linear", "in": ["x"], "tensors": ["w"], "out": "a"},
                       {"op": "linear", "in": ["a"], "tensors": ["kept"], "out": "b"}],
        "outputs": ["b"]
      }]
    })");
  };
  const DType types[] = {DType::kF32, DType::kF16, DType::kI8, DType::kI4};
  for (size_t keep = 0; keep < 3; ++keep) {
    for (size_t asked = 0; asked < 4; ++asked) {
      ConvertOptions options;
      options.weights = types[asked];
      options.compare = Comparison::kNone;
      ConvertReport report;
      const auto description = ParseGraph(json(NameOf(types[keep])).dump(), ".", "kept");
      BuildBlob(description, options, report);
      std::map<std::string, DType> stored;
      for (const TensorReport& tensor : report.tensors) stored[tensor.name] = tensor.type;
      EXPECT_EQ(stored.at("w"), types[asked]);
      EXPECT_EQ(stored.at("kept"), types[std::min(asked, keep)]);
    }
  }
  EXPECT_NE(RefusalOf([&] { ParseGraph(json("int4").dump(), ".", "kept"); }).find("keep must be"), std::string::npos);
}

TEST(Quantize, RefusesWhatCannotBeStored) {
  EXPECT_THROW(Encoded(DType::kF32, 1, 2, {1, NAN}), Failure);
  EXPECT_THROW(Encoded(DType::kI8, 1, 2, {1, INFINITY}), Failure);
  EXPECT_THROW(Encoded(DType::kF16, 1, 2, {1, 70000}), Failure);
}

}  // namespace
}  // namespace fovea::tools
