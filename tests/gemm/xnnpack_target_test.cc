// Packing for other machines: against the layouts written down once more, and against what XNNPACK packs on this one.
#if defined(FOVEA_WITH_XNNPACK)
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "runtime/gemm/xnnpack_cpuinfo/cpuinfo.h"
#include "runtime/kernels/kernels.h"
#include "tests/gemm/gemm_problem.h"
#include "tests/support/heap_trap.h"
#include "tests/support/reference_gemm.h"

namespace fovea::testing {
namespace {

struct Block {
  size_t columns, depth, turns;
};

// The kernels that XNNPACK chooses, by name: 4x16c4 has blocks of 16 columns and 4 of k, 2x8c2s4 four turns. Of fewer
// f32 columns than a block has it takes kernels of two: 4x2, on x86 and in WebAssembly 4x2c4. f16, and int8 and int4
// of aarch64-neon, have kernels of ours.
const std::map<std::string, std::map<DType, Block>> kBlocks = {
    {"aarch64-neon", {{DType::kF32, {8, 1, 1}}, {DType::kI8, {4, 16, 1}}, {DType::kI4, {4, 16, 1}}}},
    {"arm-neon", {{DType::kF32, {8, 1, 1}}, {DType::kI8, {8, 2, 4}}, {DType::kI4, {16, 1, 1}}}},
    {"aarch64-dotprod",
     {{DType::kF32, {8, 1, 1}}, {DType::kI8, {16, 4, 1}}, {DType::kI4, {16, 4, 1}}, {DType::kF16, {16, 4, 1}}}},
    {"aarch64-i8mm",
     {{DType::kF32, {8, 1, 1}}, {DType::kI8, {16, 8, 1}}, {DType::kI4, {16, 8, 1}}, {DType::kF16, {16, 8, 1}}}},
    {"x86-avx2", {{DType::kF32, {16, 1, 1}}, {DType::kI8, {8, 8, 1}}, {DType::kI4, {8, 8, 1}}}},
    {"x86-avx512", {{DType::kF32, {32, 1, 1}}, {DType::kI8, {16, 8, 1}}, {DType::kI4, {8, 8, 1}}}},
    {"x86-vnni", {{DType::kF32, {32, 1, 1}}, {DType::kI8, {16, 8, 1}}, {DType::kI4, {16, 8, 1}}}},
    {"x86-amx", {{DType::kF32, {32, 1, 1}}, {DType::kI8, {64, 4, 1}}, {DType::kI4, {16, 8, 1}}}},
    {"wasm", {{DType::kF32, {8, 1, 1}}, {DType::kI8, {4, 2, 4}}}},  // int4 is Highway's there
};

constexpr DType kTypes[] = {DType::kF32, DType::kI8, DType::kI4, DType::kF16};

const GemmShape kShapes[] = {
    {DType::kF32, 1, 1},   {DType::kF32, 7, 31},   {DType::kF32, 64, 64},   {DType::kF32, 65, 37},
    {DType::kF32, 130, 6}, {DType::kI8, 1, 1},     {DType::kI8, 7, 31},     {DType::kI8, 64, 64},
    {DType::kI8, 65, 37},  {DType::kI8, 130, 100}, {DType::kI4, 1, 64},     {DType::kI4, 7, 192},
    {DType::kI4, 64, 128}, {DType::kI4, 129, 64},  {DType::kF16, 1, 1},     {DType::kF16, 7, 31},
    {DType::kF16, 64, 64}, {DType::kF16, 65, 133}, {DType::kF16, 130, 260},
};

Block BlockFor(const std::string& target, const GemmShape& shape) {
  const Block block = kBlocks.at(target).at(shape.type);
  if (shape.type != DType::kF32 || shape.n >= block.columns) return block;
  return {2, target.rfind("x86", 0) == 0 || target == "wasm" ? size_t{4} : size_t{1}, 1};
}

// Offsets of the parts, and which bytes belong to a real column.
struct Expected {
  std::vector<uint8_t> bytes;
  std::vector<bool> counts;
};

float FromBf16(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, 4);
  return value;
}

class Writer {
 public:
  Writer(const GemmWeights& weights, const Block& block) : weights_(weights), b_(block) {
    const size_t n = weights.shape.n, k = weights.shape.k;
    const size_t step = b_.depth * b_.turns, depth = (k + step - 1) / step * step;
    const bool nibbles = weights.shape.type == DType::kI4, floats = weights.shape.type == DType::kF32;
    const bool halves = weights.shape.type == DType::kF16;
    const size_t column = floats    ? 4 + depth * 4
                          : halves  ? 4 + (k + 127) / 128 * 4 + (k + 31) / 32 * 64
                          : nibbles ? 4 + k / 2 + k / 32 * 2 + 4
                                    : 4 + depth + 8;
    out_.bytes.assign((n + b_.columns - 1) / b_.columns * b_.columns * column, 0);
    out_.counts.assign(out_.bytes.size(), false);
    for (size_t c = 0; c < n; ++c) {
      start_ = c / b_.columns * b_.columns * column;
      j_ = c % b_.columns;
      if (floats) F32(c, k);
      if (weights.shape.type == DType::kI8) I8(c, k, depth);
      if (nibbles) I4(c, k, column);
      if (halves) F16(c, k);
    }
  }
  const Expected& out() const { return out_; }

 private:
  // `k` of this column among the elements of the block: groups of `depth` elements go from column to column, and with
  // turns column j begins with its j-th group.
  size_t Place(size_t k) const {
    const size_t step = b_.depth * b_.turns, turn = k % step / b_.depth;
    const size_t group = k / step * b_.turns + (turn + b_.turns * b_.columns - j_) % b_.turns;
    return (group * b_.columns + j_) * b_.depth + k % b_.depth;
  }
  template <typename T>
  void Put(size_t at, T value) {
    std::memcpy(&out_.bytes[at], &value, sizeof(T));
    for (size_t i = 0; i < sizeof(T); ++i) out_.counts[at + i] = true;
  }
  float Bias(size_t c) const { return weights_.bias == nullptr ? 0.0f : weights_.bias[c]; }

  void F32(size_t c, size_t k) {
    const float* row = static_cast<const float*>(weights_.rows) + c * k;
    Put(start_ + j_ * 4, Bias(c));
    for (size_t i = 0; i < k; ++i) Put(start_ + (b_.columns + Place(i)) * 4, row[i]);
  }
  void I8(size_t c, size_t k, size_t depth) {
    const int8_t* row = static_cast<const int8_t*>(weights_.rows) + c * k;
    int32_t sum = 0;
    for (size_t i = 0; i < k; ++i) {
      Put(start_ + b_.columns * 4 + Place(i), row[i]);
      sum += row[i];
    }
    Put(start_ + j_ * 4, -sum);
    Put(start_ + b_.columns * (4 + depth) + j_ * 4, static_cast<const float*>(weights_.scales)[c]);
    Put(start_ + b_.columns * (8 + depth) + j_ * 4, Bias(c));
  }
  // For each 128 of k a scale, and for each group of them the upper and the lower bytes.
  void F16(size_t c, size_t k) {
    Put(start_ + j_ * 4, Bias(c));
    for (size_t begin = 0; begin < k; begin += 128) {
      const size_t at = start_ + b_.columns * (4 + begin / 128 * 260), end = std::min(begin + 128, k);
      float most = 0;
      for (size_t i = begin; i < end; ++i) {
        most = std::fmax(most, std::fabs(static_cast<float>(WeightValue(weights_, c, i))));
      }
      Put(at + j_ * 4, 256 * (most / 32639));
      for (size_t i = begin; i < end; ++i) {
        const double scaled = static_cast<float>(WeightValue(weights_, c, i)) * (32639 / most);
        const double upper = std::floor(std::nearbyint(scaled) / 256 + 0.5);
        const size_t place =
            at + b_.columns * 4 + (i - begin) / b_.depth * (2 * b_.depth * b_.columns) + j_ * b_.depth + i % b_.depth;
        Put(place, static_cast<int8_t>(upper));
        Put(place + b_.depth * b_.columns, static_cast<int8_t>(std::nearbyint(scaled) - 256 * upper));
      }
    }
  }
  // Two groups of k share bytes: the first in the low halves.
  void I4(size_t c, size_t k, size_t column) {
    const uint8_t* row = static_cast<const uint8_t*>(weights_.rows) + c * k / 2;
    const uint16_t* scales = static_cast<const uint16_t*>(weights_.scales) + c * (k / 32);
    float sum = 0;
    for (size_t block = 0; block < k / 32; ++block) {
      const size_t at = start_ + b_.columns * (4 + block * 18);
      for (size_t pair = 0; pair < 16 / b_.depth; ++pair) {
        int32_t of_pair = 0;
        for (size_t t = 0; t < b_.depth; ++t) {
          const size_t low = block * 32 + pair * 2 * b_.depth + t, high = low + b_.depth;
          const auto nibble = [&](size_t i) { return row[i / 2] >> (i % 2 * 4) & 15; };
          of_pair += nibble(low) + nibble(high) - 16;
          Put(at + (pair * b_.columns + j_) * b_.depth + t,
              static_cast<uint8_t>((nibble(low) | nibble(high) << 4) ^ 0x88));
        }
        sum -= static_cast<float>(of_pair) * FromBf16(scales[block]);
      }
      Put(at + b_.columns * 16 + j_ * 2, static_cast<uint16_t>(scales[block] - (4 << 7)));  // a sixteenth
    }
    Put(start_ + j_ * 4, sum);
    Put(start_ + b_.columns * (column - 4) + j_ * 4, Bias(c));
  }

  const GemmWeights& weights_;
  const Block b_;
  Expected out_;
  size_t start_ = 0, j_ = 0;
};

// The first byte that counts and differs, or the number of bytes.
size_t Difference(const Expected& expected, const uint8_t* found) {
  size_t i = 0;
  while (i < expected.bytes.size() && (!expected.counts[i] || expected.bytes[i] == found[i])) ++i;
  return i;
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (uint32_t i = 0; XnnpackTargetName(i) != nullptr; ++i) names.push_back(XnnpackTargetName(i));
  return names;
}

// The target that this machine is, or "".
std::string Here() {
  for (const std::string& name : Names()) {
    if (XnnpackTargetLayout(*XnnpackTarget(name.c_str())) == XnnpackGemm()->packed_layout()) return name;
  }
  return "";
}

class XnnpackTargetTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (XnnpackGemm() == nullptr) GTEST_SKIP() << "XNNPACK does not run on this machine";
  }
};

TEST_F(XnnpackTargetTest, NamesAndLayoutsAreDistinct) {
  std::set<std::string> names;
  std::set<uint64_t> layouts;
  for (const std::string& name : Names()) {
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_TRUE(layouts.insert(XnnpackTargetLayout(*XnnpackTarget(name.c_str()))).second) << name;
    EXPECT_EQ(kBlocks.count(name), 1u) << name;
  }
  EXPECT_EQ(names.size(), kBlocks.size());
  EXPECT_EQ(layouts.count(0), 0u);
  EXPECT_EQ(XnnpackTarget("aarch64"), nullptr);
  EXPECT_EQ(XnnpackTarget(""), nullptr);
}

TEST_F(XnnpackTargetTest, PacksAsWrittenDown) {
  for (const std::string& name : Names()) {
    for (const GemmShape& shape : kShapes) {
      EXPECT_EQ(XnnpackTargetSupports(*XnnpackTarget(name.c_str()), shape), kBlocks.at(name).count(shape.type) == 1);
      if (kBlocks.at(name).count(shape.type) == 0) continue;
      for (const bool bias : {false, true}) {
        const GemmProblem problem(shape, 1, bias, shape.n + shape.k);
        const Expected expected = Writer(problem.weights, BlockFor(name, shape)).out();
        AlignedBytes packed(XnnpackGemm()->packed_bytes(shape), 0);
        ASSERT_LE(expected.bytes.size(), packed.size());
        Reporter reporter(nullptr);
        ASSERT_TRUE(XnnpackPackFor(*XnnpackTarget(name.c_str()), problem.weights, packed.data(), reporter).ok());
        std::vector<uint8_t> all = expected.bytes;
        all.resize(packed.size(), 0);
        const std::vector<uint8_t> found(packed.data(), packed.data() + packed.size());
        EXPECT_TRUE(found == all) << name << " type " << static_cast<int>(shape.type) << " " << shape.n << " x "
                                  << shape.k << " byte " << Difference(expected, packed.data());
      }
    }
  }
}

// Machines that this test runs on have a name, and XNNPACK's own packing for their kernels has the same layout.
TEST_F(XnnpackTargetTest, PacksAsXnnpackDoesHere) {
  const std::string here = Here();
#if defined(__aarch64__)
  ASSERT_NE(here, "");
#endif
#if defined(__wasm__)
  ASSERT_EQ(here, "wasm");
#endif
#if defined(__x86_64__)
  ASSERT_TRUE(here != "" || !cpuinfo_has_x86_avx2());
#endif
  if (here.empty()) GTEST_SKIP() << "no other machine can pack for this one";
  RecordProperty("machine", here);
  for (const GemmShape& shape : kShapes) {
    EXPECT_EQ(XnnpackGemm()->supports(shape), kBlocks.at(here).count(shape.type) == 1);
    if (kBlocks.at(here).count(shape.type) == 0) continue;
    const GemmProblem problem(shape, 1, true, shape.n + shape.k);
    const Expected expected = Writer(problem.weights, BlockFor(here, shape)).out();
    AlignedBytes packed(XnnpackGemm()->packed_bytes(shape), 0);
    Reporter reporter(nullptr);
    ASSERT_TRUE(XnnpackGemm()->pack(problem.weights, packed.data(), reporter).ok());
    EXPECT_EQ(Difference(expected, packed.data()), expected.bytes.size())
        << here << " type " << static_cast<int>(shape.type) << " " << shape.n << " x " << shape.k;
  }
}

// The contents of padding columns, which fill up a block, affect no result.
TEST_F(XnnpackTargetTest, SameBitsAsWeightsPackedHere) {
  const std::string here = Here();
  if (here.empty()) GTEST_SKIP() << "no other machine can pack for this one";
  const Kernels kernels = GetKernels();
  for (const GemmShape& shape : kShapes) {
    if (kBlocks.at(here).count(shape.type) == 0) continue;
    GemmProblem problem(shape, 19, true, shape.n + shape.k);
    std::vector<float> expected(19 * shape.n), found(19 * shape.n);
    ReadyGemm(*XnnpackGemm(), kernels, problem.weights).Run(problem.input, Activation::kNone, expected.data());
    AlignedBytes packed(XnnpackGemm()->packed_bytes(shape), 0), storage(XnnpackGemm()->operator_bytes(shape));
    Reporter reporter(nullptr);
    ASSERT_TRUE(XnnpackPackFor(*XnnpackTarget(here.c_str()), problem.weights, packed.data(), reporter).ok());
    ASSERT_TRUE(XnnpackGemm()->make_operator(shape, kernels, storage.data(), reporter).ok());
    AlignedBytes rows(0);
    const GemmInput input = AsTaken(XnnpackGemm()->takes_pairs(shape), problem.input, shape.k, &rows);
    ASSERT_TRUE(
        XnnpackGemm()->run(storage.data(), problem.weights, packed.data(), input, {found.data(), 0, shape.n}).ok());
    EXPECT_EQ(std::memcmp(found.data(), expected.data(), found.size() * 4), 0) << shape.n << " x " << shape.k;
  }
}

TEST_F(XnnpackTargetTest, RefusesScalesThatAreNoPositiveNumbers) {
  const GemmShape shape = {DType::kI4, 64, 64};
  for (uint16_t bad : {0x0000, 0x8000, 0x7f80, 0x7fc0, 0xbf80, 0x0001, 0x007f}) {
    GemmProblem problem(shape, 1, true, 3);
    static_cast<uint16_t*>(const_cast<void*>(problem.weights.scales))[77] = bad;
    AlignedBytes packed(XnnpackGemm()->packed_bytes(shape), 0);
    fovea_error error{};
    Reporter reporter(&error);
    EXPECT_FALSE(XnnpackPackFor(*XnnpackTarget("x86-vnni"), problem.weights, packed.data(), reporter).ok());
    EXPECT_EQ(FOVEA_STATUS_CLASS(error.status), FOVEA_E_BLOB) << error.text;
  }
}

TEST_F(XnnpackTargetTest, NeverUsesTheHeap) {
  if (!HeapTrap::Works()) GTEST_SKIP() << "the heap cannot be watched in this build";
  for (DType type : kTypes) {
    const GemmProblem problem({type, 70, 64}, 1, true, 1);
    AlignedBytes packed(XnnpackGemm()->packed_bytes(problem.weights.shape), 0);
    Reporter reporter(nullptr);
    const HeapTrap trap;
    ASSERT_TRUE(XnnpackPackFor(*XnnpackTarget("aarch64-i8mm"), problem.weights, packed.data(), reporter).ok());
    EXPECT_NE(XnnpackTargetLayout(*XnnpackTarget("aarch64-i8mm")), 0u);
    EXPECT_EQ(trap.calls(), 0u);
  }
}

}  // namespace
}  // namespace fovea::testing
#endif  // FOVEA_WITH_XNNPACK
