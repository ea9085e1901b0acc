// Strided spaces whose segments keep rows apart at the front and drop rows at the end: pooled, unfolded and brought
// back (upsample), against plain loops.
#include "runtime/blob/attributes.h"
#include "tests/ops/op_fixture.h"
#include "tests/support/combinations.h"

namespace fovea::test {
namespace {

struct Ends {
  uint32_t stride, first, last;
};
const Ends kEnds[] = {{2, 1, 1}, {2, 1, 0}, {2, 0, 1},  {2, 0, 0},  {3, 2, 0},
                      {3, 0, 4}, {5, 1, 2}, {2, 40, 1}, {100, 3, 1}};

// Every length up to a few groups, with some in between, and long ones.
const Lengths kLengths = {0, 1, 2, 3, 4, 0, 5, 6, 7, 8, 9, 10, 11, 0, 33, 64, 1, 0};

// The rows of a segment that one row of the strided space represents.
using Group = std::vector<uint32_t>;
std::vector<Group> Groups(uint32_t rows, const Ends& ends) {
  std::vector<Group> groups;
  for (uint32_t row = 0; row < rows && row < ends.first; ++row) groups.push_back({row});
  for (uint32_t row = ends.first; row < rows; ++row) {
    const bool begins = (row - ends.first) % ends.stride == 0;
    if (row > ends.first && rows - row <= ends.last) break;
    if (begins) groups.emplace_back();
    groups.back().push_back(row);
  }
  return groups;
}
Lengths Shorter(const Lengths& lengths, const Ends& ends) {
  Lengths shorter;
  for (const uint32_t length : lengths) shorter.push_back(static_cast<uint32_t>(Groups(length, ends).size()));
  return shorter;
}

uint32_t SpaceOf(ModelBuilder& b, const std::string& name, uint32_t source, const Ends& ends) {
  return b.StridedSpace(name, source, ends.stride, static_cast<uint16_t>(ends.first), static_cast<uint16_t>(ends.last));
}

struct PoolCase {
  Ends ends;
  uint32_t kind;
};

// Rows of each group: the first, the last, their mean and their maximum.
std::vector<double> PooledGroups(const PoolCase& c, const std::vector<float>& xs, uint32_t width) {
  std::vector<double> expected;
  uint32_t begin = 0;
  for (const uint32_t length : kLengths) {
    for (const Group& group : Groups(length, c.ends)) {
      for (uint32_t column = 0; column < width; ++column) {
        double sum = 0, most = -INFINITY;
        for (const uint32_t row : group) {
          sum += xs[(begin + row) * width + column];
          most = std::max<double>(most, xs[(begin + row) * width + column]);
        }
        const double pooled[] = {xs[(begin + group.front()) * width + column],
                                 xs[(begin + group.back()) * width + column], sum / static_cast<double>(group.size()),
                                 most};
        expected.push_back(pooled[c.kind]);
      }
    }
    begin += length;
  }
  return expected;
}

TEST(Strides, Pooled) {
  for (const PoolCase& c : Combinations<PoolCase>(kEnds, std::vector{0u, 1u, 2u, 3u})) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t width = 5, fewer = SpaceOf(b, "fewer", s.tokens, c.ends), x = b.Input("x", s.tokens, width);
    const uint32_t y = b.Op("pool", {x}, {}, fewer, width, {{Attribute::kKind, c.kind}});
    const std::vector<float> xs = b.RandomFloats(size_t{Total(kLengths)} * width);
    ExpectClose(RunTiled(b, {{{s.tokens, kLengths}}, {{x, xs}}, {}}, y), PooledGroups(c, xs, width),
                c.kind == 2 ? 1e-6 : 0, 0,
                "by " + std::to_string(c.ends.stride) + " first " + std::to_string(c.ends.first));
  }
}

TEST(Strides, Unfolded) {
  for (const Ends& ends : kEnds) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t fewer = SpaceOf(b, "fewer", s.tokens, ends), x = b.Input("x", s.tokens, 1);
    const uint32_t y = b.Op("unfold", {x}, {}, fewer, 4, {{Attribute::kBefore, 2}, {Attribute::kAfter, 1}});
    const std::vector<float> xs = b.RandomFloats(Total(kLengths));
    std::vector<double> expected;
    int64_t begin = 0;
    for (const uint32_t length : kLengths) {
      for (const Group& group : Groups(length, ends)) {
        for (int64_t row = int64_t{group.front()} - 2; row <= int64_t{group.front()} + 1; ++row) {
          expected.push_back(row >= 0 && row < int64_t{length} ? xs[static_cast<size_t>(begin + row)] : 0);
        }
      }
      begin += length;
    }
    ExpectClose(RunTiled(b, {{{s.tokens, kLengths}}, {{x, xs}}, {}}, y), expected, 0, 0);
  }
}

// By one stride, and by two in one step: there a row that only the second stride kept apart represents all rows after
// it.
TEST(Strides, BroughtBack) {
  for (const Ends& ends : kEnds) {
    for (const bool twice : {false, true}) {
      ModelBuilder b;
      const TextSpaces s(b);
      const Ends more = {3, ends.first, ends.last};
      const uint32_t width = 6, fewer = SpaceOf(b, "fewer", s.tokens, ends);
      const uint32_t fewest = twice ? SpaceOf(b, "fewest", fewer, more) : fewer, x = b.Input("x", s.tokens, width);
      uint32_t pooled = b.Op("pool", {x}, {}, fewer, width, {{Attribute::kKind, 3}});
      if (twice) pooled = b.Op("pool", {pooled}, {}, fewest, width, {{Attribute::kKind, 3}});
      const uint32_t y = b.Op("upsample", {pooled}, {}, s.tokens, width);
      b.SetOutput(pooled);
      const std::vector<float> xs = b.RandomFloats(size_t{Total(kLengths)} * width);
      const Feed feed = {{{s.tokens, kLengths}}, {{x, xs}}, {}};
      const std::vector<float> found = RunTiled(b, feed, y);
      const std::vector<float> from = RunWith(TestModel(b.Blob()), Options(LimitsOf(b, feed)), feed, pooled);
      const Lengths shorter = twice ? Shorter(Shorter(kLengths, ends), more) : Shorter(kLengths, ends);
      const uint64_t stride = uint64_t{ends.stride} * (twice ? more.stride : 1);
      std::vector<double> expected;
      uint64_t begin = 0;
      for (size_t segment = 0; segment < kLengths.size(); ++segment) {
        for (uint64_t row = 0; row < kLengths[segment]; ++row) {
          const uint64_t at = row < ends.first ? row : ends.first + (row - ends.first) / stride;
          for (uint32_t c = 0; c < width; ++c) {
            expected.push_back(at < shorter[segment] ? from[(begin + at) * width + c] : 0);
          }
        }
        begin += shorter[segment];
      }
      ExpectClose(found, expected, 0, 0, "by " + std::to_string(stride) + " first " + std::to_string(ends.first));
    }
  }
}

TEST(Strides, BackWhatWasPooledIsTheFirstOfItsGroup) {
  ModelBuilder b;
  const TextSpaces s(b);
  const uint32_t half = b.StridedSpace("half", s.tokens, 2, 1, 1), x = b.Input("x", s.tokens, 1);
  const uint32_t pooled = b.Op("pool", {x}, {}, half, 1, {{Attribute::kKind, 2}});
  const uint32_t y = b.Op("upsample", {pooled}, {}, s.tokens, 1);
  const Feed feed = {{{s.tokens, {7, 2, 1, 4}}}, {{x, {1, 2, 4, 6, 8, 10, 99, 3, 5, 7, 1, 2, 4, 99}}}, {}};
  // The seventh row was dropped and row 5 represents only itself; two rows stay two.
  ExpectClose(RunTiled(b, feed, y), {1, 3, 3, 7, 7, 10, 10, 3, 5, 7, 1, 3, 3, 0}, 1e-6, 0);
}

TEST(Strides, OneRootSpace) {
  ModelBuilder b;
  const uint32_t root = b.Space("root"), fewer = b.StridedSpace("fewer", root, 4, 2, 1), x = b.Input("x", root, 1);
  const uint32_t pooled = b.Op("pool", {x}, {}, fewer, 1, {{Attribute::kKind, 2}});
  const uint32_t y = b.Op("upsample", {pooled}, {}, root, 1);
  ExpectClose(RunTiled(b, {{{root, {8}}}, {{x, {1, 2, 3, 4, 5, 6, 8, 99}}}, {}}, y), {1, 2, 4.5, 4.5, 4.5, 4.5, 8, 8},
              1e-6, 0);
}

TEST(Strides, ShapeRulesOfUpsample) {
  enum To { kTokens, kHalf, kQuarter, kOthers, kTexts, kSame, kApart, kLonger, kTos };
  const auto rule = [](const char* what, fovea_status status, To in, To out, uint32_t width = 8,
                       const Attributes& attributes = {}, bool tensor = false) {
    ModelBuilder b;
    const TextSpaces s(b);
    uint32_t spaces[kTos];
    spaces[kTokens] = s.tokens;
    spaces[kHalf] = b.StridedSpace("half", s.tokens, 2, 1);
    spaces[kQuarter] = b.StridedSpace("quarter", spaces[kHalf], 2, 1, 7);
    spaces[kOthers] = b.Space("others", s.texts);
    spaces[kTexts] = s.texts;
    spaces[kSame] = b.StridedSpace("same", s.tokens, 2, 1);
    spaces[kApart] = b.StridedSpace("apart", spaces[kHalf], 2);
    spaces[kLonger] = b.ExtendedSpace("longer", s.tokens, 1);
    const uint32_t x = b.Input("x", spaces[in], width, DType::kF32);
    b.Op("upsample", {x}, std::vector<uint32_t>(tensor ? 1 : 0, b.RandomTensor(1, 8)), spaces[out], 8, attributes);
    ExpectStatus(b, status, what);
  };
  rule("one stride", FOVEA_OK, kHalf, kTokens);
  rule("two strides", FOVEA_OK, kQuarter, kTokens);
  rule("the second stride", FOVEA_OK, kQuarter, kHalf);
  rule("first rows that differ", FOVEA_OK, kApart, kHalf);
  rule("first rows that differ", FOVEA_E_SHAPE, kApart, kTokens);
  rule("same space", FOVEA_E_SHAPE, kHalf, kHalf);
  rule("forth", FOVEA_E_SHAPE, kTokens, kHalf);
  rule("sideways", FOVEA_E_SHAPE, kHalf, kSame);
  rule("elsewhere", FOVEA_E_SHAPE, kHalf, kOthers);
  rule("parent", FOVEA_E_SHAPE, kHalf, kTexts);
  rule("made of the output's space otherwise", FOVEA_E_SHAPE, kLonger, kTokens);
  rule("width", FOVEA_E_SHAPE, kHalf, kTokens, 9);
  rule("attribute", FOVEA_E_OP, kHalf, kTokens, 8, {{Attribute::kKind, 0}});
  rule("tensor", FOVEA_E_RECORD, kHalf, kTokens, 8, {}, true);
}

// A product of strides that exceeds every length must not overflow.
TEST(Strides, ProductsOfLargeStrides) {
  ModelBuilder b;
  const TextSpaces s(b);
  uint32_t space = s.tokens;
  const uint32_t x = b.Input("x", s.tokens, 1);
  uint32_t pooled = x;
  for (int i = 0; i < 4; ++i) {
    space = b.StridedSpace("s" + std::to_string(i), space, kMaxRecords, 1);
    pooled = b.Op("pool", {pooled}, {}, space, 1, {{Attribute::kKind, 0}});
  }
  const uint32_t y = b.Op("upsample", {pooled}, {}, s.tokens, 1);
  ExpectClose(RunTiled(b, {{{s.tokens, {4, 1}}}, {{x, {1, 2, 3, 4, 5}}}, {}}, y), {1, 2, 2, 2, 5}, 0, 0);
}

}  // namespace
}  // namespace fovea::test
