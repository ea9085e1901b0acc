// Hashing by rotations and sorting by bucket, through programs, against plain loops.
#include "runtime/blob/attributes.h"
#include "tests/ops/op_fixture.h"

namespace fovea::test {
namespace {

struct Shape {
  uint32_t heads = 1, rounds = 1, buckets = 2, more = 0, depth = 8;

  uint32_t columns() const { return heads * rounds; }
  uint32_t width() const { return heads * depth; }
  uint32_t all() const { return buckets * std::max(more, 1u); }
  uint32_t rotations() const { return columns() * (buckets / 2 + more / 2); }
  Attributes attributes() const {
    Attributes a = {{Attribute::kHeads, heads}, {Attribute::kRounds, rounds}, {Attribute::kBuckets, buckets}};
    if (more > 0) a.emplace_back(Attribute::kMoreBuckets, more);
    return a;
  }
};

// Shapes with one and two factors, few and many directions (the kernel takes 128 at once), odd depths.
const Shape kShapes[] = {{},
                         {1, 1, 4, 0, 1},
                         {2, 3, 8, 0, 5},
                         {3, 1, 2, 2, 16},
                         {4, 2, 4, 2, 12},
                         {1, 2, 6, 10, 33},
                         {2, 1, 300, 0, 7},
                         {1, 5, 62, 0, 3},
                         {2, 2, 256, 254, 4}};

// Which of `count` directions, after them their negatives, is nearest: the first of equal ones. `margin` becomes how
// much nearer it is than any other.
uint32_t Nearest(const float* x, const float* table, uint32_t count, uint32_t depth, double* margin) {
  std::vector<double> products;
  for (uint32_t i = 0; i < 2 * count; ++i) {
    double product = 0;
    for (uint32_t j = 0; j < depth; ++j) product += double{x[j]} * table[(i % count) * depth + j];
    products.push_back(i < count ? product : -product);
  }
  const auto best = std::max_element(products.begin(), products.end());
  const double most = *best;
  const auto index = static_cast<uint32_t>(best - products.begin());
  products.erase(best);
  *margin = std::min(*margin, most - *std::max_element(products.begin(), products.end()));
  return index;
}

struct Hashed {
  std::vector<int32_t> buckets;
  std::vector<double> margins;
};
Hashed Reference(const Shape& s, const std::vector<float>& x, const std::vector<float>& table) {
  Hashed hashed;
  for (size_t row = 0; row < x.size() / s.width(); ++row) {
    const float* rotation = table.data();
    for (uint32_t head = 0; head < s.heads; ++head) {
      const float* part = &x[row * s.width() + size_t{head} * s.depth];
      for (uint32_t round = 0; round < s.rounds; ++round) {
        double margin = INFINITY;
        uint32_t bucket = Nearest(part, rotation, s.buckets / 2, s.depth, &margin);
        rotation += size_t{s.buckets / 2} * s.depth;
        if (s.more > 0) bucket += s.buckets * Nearest(part, rotation, s.more / 2, s.depth, &margin);
        rotation += size_t{s.more / 2} * s.depth;
        hashed.buckets.push_back(static_cast<int32_t>(bucket));
        hashed.margins.push_back(margin);
      }
    }
  }
  return hashed;
}

std::vector<int32_t> Integers(const std::vector<float>& bits) {
  std::vector<int32_t> integers(bits.size());
  if (!bits.empty()) memcpy(integers.data(), bits.data(), bits.size() * sizeof(float));
  return integers;
}

// Rows of each segment by bucket, in every column; after them the place of each row.
std::vector<int32_t> SortReference(const std::vector<int32_t>& buckets, uint32_t columns, const Lengths& lengths) {
  std::vector<int32_t> out(2 * buckets.size());
  uint32_t begin = 0;
  for (const uint32_t length : lengths) {
    for (uint32_t column = 0; column < columns; ++column) {
      std::vector<uint32_t> rows(length);
      std::iota(rows.begin(), rows.end(), begin);
      std::stable_sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) {
        return buckets[size_t{a} * columns + column] < buckets[size_t{b} * columns + column];
      });
      for (uint32_t place = 0; place < length; ++place) {
        out[size_t{begin + place} * 2 * columns + column] = static_cast<int32_t>(rows[place]);
        out[size_t{rows[place]} * 2 * columns + columns + column] = static_cast<int32_t>(place);
      }
    }
    begin += length;
  }
  return out;
}

// A program that hashes and sorts; both in every tiling.
struct Program {
  Program(const Shape& shape, const std::vector<float>& table) {
    x = b.Input("x", s.tokens, shape.width());
    rotations = b.Tensor(shape.rotations(), shape.depth, table);
    hash = b.Op("hash", {x}, {rotations}, s.tokens, shape.columns(), shape.attributes());
    sort = b.Op("sort", {hash}, {}, s.tokens, 2 * shape.columns());
    b.SetOutput(hash);
  }
  std::vector<int32_t> Run(uint32_t value, const Lengths& lengths, const std::vector<float>& xs) {
    return Integers(RunTiled(b, {{{s.tokens, lengths}}, {{x, xs}}, {}}, value));
  }
  ModelBuilder b;
  TextSpaces s{b};
  uint32_t x, rotations, hash, sort;
};

TEST(Hash, AgainstPlainLoops) {
  ModelBuilder random;
  for (const Shape& shape : kShapes) {
    for (const Lengths& lengths : RaggedLengths()) {
      const std::vector<float> table = random.RandomFloats(size_t{shape.rotations()} * shape.depth);
      const std::vector<float> xs = random.RandomFloats(size_t{Total(lengths)} * shape.width());
      Program program(shape, table);
      const std::vector<int32_t> found = program.Run(program.hash, lengths, xs);
      const Hashed expected = Reference(shape, xs, table);
      ASSERT_EQ(found.size(), expected.buckets.size());
      size_t close = 0;
      for (size_t i = 0; i < found.size(); ++i) {
        if (expected.margins[i] > 1e-4) {
          ASSERT_EQ(found[i], expected.buckets[i]) << "entry " << i;
        } else {
          ++close;
          ASSERT_LT(static_cast<uint32_t>(found[i]), shape.all());
        }
      }
      EXPECT_LE(close, 1 + found.size() / 20);
      EXPECT_EQ(program.Run(program.sort, lengths, xs), SortReference(found, shape.columns(), lengths));
    }
  }
}

// Small whole numbers, whose products are exact: the first of equal ones wins, also of zeros.
TEST(Hash, FirstOfEqualOnes) {
  std::mt19937 random(5);
  for (Shape shape : kShapes) {
    const auto whole = [&](size_t count) {
      std::vector<float> values(count);
      for (float& v : values) v = static_cast<float>(random() % 3) - 1.0f;
      return values;
    };
    const Lengths lengths = {17, 0, 30};
    std::vector<float> table = whole(size_t{shape.rotations()} * shape.depth);
    const std::vector<float> xs = whole(size_t{Total(lengths)} * shape.width());
    for (const bool zero : {false, true}) {
      if (zero) std::fill(table.begin(), table.end(), 0.0f);
      Program program(shape, table);
      const std::vector<int32_t> found = program.Run(program.hash, lengths, xs);
      EXPECT_EQ(found, Reference(shape, xs, table).buckets);
      if (zero) {
        EXPECT_EQ(found, std::vector<int32_t>(found.size(), 0));
      }
      EXPECT_EQ(program.Run(program.sort, lengths, xs), SortReference(found, shape.columns(), lengths));
    }
  }
}

// NaN and infinities: any bucket, and sorting and attention stay in their bounds.
TEST(Hash, NumbersThatAreNone) {
  const float special[] = {NAN, INFINITY, -INFINITY, 3e38f, -3e38f, 0.0f, -0.0f, 1.0f};
  std::mt19937 random(7);
  for (const Shape& shape : kShapes) {
    const Lengths lengths = {0, 21, 1, 18};
    std::vector<float> xs(size_t{Total(lengths)} * shape.width());
    for (float& x : xs) x = special[random() % std::size(special)];
    for (const float of_table : {NAN, INFINITY, 1.0f}) {
      ModelBuilder values;
      std::vector<float> table = values.RandomFloats(size_t{shape.rotations()} * shape.depth);
      for (size_t i = 0; i < table.size(); i += 3) table[i] *= of_table;
      Program program(shape, std::vector<float>(table.size()));
      std::vector<uint8_t>& bytes = program.b.content().tensors[program.rotations].data;
      // Without the writer, which refuses such numbers.
      memcpy(bytes.data(), table.data(), table.size() * sizeof(float));
      const std::vector<int32_t> found = program.Run(program.hash, lengths, xs);
      for (const int32_t bucket : found) ASSERT_LT(static_cast<uint32_t>(bucket), shape.all());
      EXPECT_EQ(program.Run(program.sort, lengths, xs), SortReference(found, shape.columns(), lengths));
      const uint32_t y = program.b.Op("attention", {program.x, program.x, program.x, program.sort}, {},
                                      program.s.tokens, shape.width(),
                                      {{Attribute::kHeads, shape.heads},
                                       {Attribute::kRounds, shape.rounds},
                                       {Attribute::kChunk, 4},
                                       {Attribute::kChunksBefore, 1}});
      program.b.SetOutput(y);
      const TestModel model(program.b.Blob());
      const Feed feed = {{{program.s.tokens, lengths}}, {{program.x, xs}}, {}};
      const std::vector<fovea_limit> limits = LimitsOf(program.b, feed);
      EXPECT_EQ(RunWith(model, Options(limits, 2, 5), feed, y).size(), xs.size());
    }
  }
}

TEST(Hash, ShapeRules) {
  struct Try {
    const char* what;
    fovea_status status;
    Attributes attributes;
    uint32_t width = 12, columns = 6, rows = 2 * 3 * 4, depth = 6;
    DType type = DType::kF32, table = DType::kF32;
    bool elsewhere = false;
  };
  const auto with = [](double heads, double rounds, double buckets, double more = 0) {
    return Attributes{{Attribute::kHeads, heads},
                      {Attribute::kRounds, rounds},
                      {Attribute::kBuckets, buckets},
                      {Attribute::kMoreBuckets, more}};
  };
  const fovea_status shape = FOVEA_E_SHAPE;
  const Try tries[] = {
      {"fine", FOVEA_OK, with(2, 3, 8)},
      {"two factors", FOVEA_OK, with(2, 3, 6, 2)},
      {"defaults", FOVEA_OK, {{Attribute::kBuckets, 8}}, 6, 1, 4},
      {"no heads", shape, with(0, 3, 8)},
      {"heads", shape, with(5, 3, 8)},
      {"many heads", shape, with(4294967295.0, 3, 8)},
      {"no rounds", shape, with(2, 0, 8)},
      {"rounds", shape, with(2, 2, 8)},
      {"many rounds", shape, with(2, 65, 8), 12, 130, 2 * 65 * 4},
      {"endless rounds", shape, with(2, 4294967295.0, 8)},
      {"columns", shape, with(2, 3, 8), 12, 5},
      {"no buckets", shape, with(2, 3, 0)},
      {"odd buckets", shape, with(2, 3, 9)},
      {"odd second factor", shape, with(2, 3, 6, 1)},
      {"many buckets", shape, with(2, 3, 65538)},
      {"many together", shape, with(2, 3, 4294967294.0, 4294967294.0)},
      {"product that wraps", shape, with(2, 3, 2147483648.0, 2)},
      {"rotations", shape, with(2, 3, 8), 12, 6, 23},
      {"depth of rotations", shape, with(2, 3, 8), 12, 6, 24, 5},
      {"type", shape, with(2, 3, 8), 12, 6, 24, 6, DType::kI32},
      {"type of rotations", shape, with(2, 3, 8), 12, 6, 24, 6, DType::kF32, DType::kF16},
      {"space", shape, with(2, 3, 8), 12, 6, 24, 6, DType::kF32, DType::kF32, true},
      {"attribute", FOVEA_E_OP, {{Attribute::kBuckets, 8}, {Attribute::kChunk, 2}}, 6, 1, 4},
  };
  for (const Try& t : tries) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t x = b.Input("x", s.tokens, t.width, t.type);
    b.Op("hash", {x}, {b.RandomTensor(t.rows, t.depth, t.table)}, t.elsewhere ? s.texts : s.tokens, t.columns,
         t.attributes);
    ExpectStatus(b, t.status, t.what);
  }
  ModelBuilder b;
  const TextSpaces s(b);
  b.Op("hash", {b.Input("x", s.tokens, 12)}, {}, s.tokens, 6, with(2, 3, 8));
  ExpectRefused(b, FOVEA_E_RECORD, "no rotations");
}

TEST(Sort, ShapeRules) {
  const auto refused = [](const char* what, fovea_status status, uint32_t width, bool of_hash, bool elsewhere) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t x = b.Input("x", s.tokens, 4), ids = b.Input("ids", s.tokens, 1, DType::kI32);
    const uint32_t hash = b.Op("hash", {x}, {b.RandomTensor(2, 4)}, s.tokens, 1, {{Attribute::kBuckets, 4}});
    b.Op("sort", {of_hash ? hash : ids}, {}, elsewhere ? s.texts : s.tokens, width);
    ExpectStatus(b, status, what);
  };
  refused("fine", FOVEA_OK, 2, true, false);
  refused("width", FOVEA_E_SHAPE, 1, true, false);
  refused("buckets of the caller", FOVEA_E_SHAPE, 2, false, false);
  refused("space", FOVEA_E_SHAPE, 2, true, true);
  // Buckets and sorted rows are indices, not numbers.
  for (const std::string_view op : {"hash", "sort"}) {
    ModelBuilder b;
    const TextSpaces s(b);
    uint32_t y =
        b.Op("hash", {b.Input("x", s.tokens, 4)}, {b.RandomTensor(2, 4)}, s.tokens, 1, {{Attribute::kBuckets, 4}});
    if (op == "sort") y = b.Op("sort", {y}, {}, s.tokens, 2);
    b.Op("add", {y, y}, {}, s.tokens, op == "sort" ? 2 : 1);
    ExpectRefused(b, FOVEA_E_SHAPE, "added");
  }
}

TEST(Concat, AgainstPlainLoops) {
  for (const Lengths& lengths : RaggedLengths()) {
    for (const std::vector<uint32_t>& widths : {std::vector<uint32_t>{1},
                                                {3, 1, 17},
                                                {5, 5},
                                                {1, 2, 3, 4, 5, 6, 7, 64},
                                                std::vector<uint32_t>(kMaxInputs, 3)}) {
      ModelBuilder b;
      const TextSpaces s(b);
      Feed feed = {{{s.tokens, lengths}}, {}, {}};
      std::vector<uint32_t> inputs;
      uint32_t width = 0;
      for (const uint32_t w : widths) {
        inputs.push_back(b.Input("x" + std::to_string(inputs.size()), s.tokens, w));
        feed.floats.push_back({inputs.back(), b.RandomFloats(size_t{Total(lengths)} * w)});
        width += w;
      }
      inputs.push_back(inputs[0]);  // once more
      width += widths[0];
      if (inputs.size() > kMaxInputs) inputs.pop_back(), width -= widths[0];
      std::vector<double> expected;
      for (size_t row = 0; row < Total(lengths); ++row) {
        for (const uint32_t input : inputs) {
          const std::vector<float>& x = feed.floats[input].second;
          const size_t w = widths[input];
          expected.insert(expected.end(), x.begin() + row * w, x.begin() + (row + 1) * w);
        }
      }
      const uint32_t y = b.Op("concat", inputs, {}, s.tokens, width);
      ExpectClose(RunTiled(b, feed, y), expected, 0, 0);
    }
  }
}

TEST(Concat, ShapeRules) {
  const auto refused = [](const char* what, fovea_status status, uint32_t width, DType type, bool elsewhere) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t x = b.Input("x", s.tokens, 4), y = b.Input("y", elsewhere ? s.texts : s.tokens, 3, type);
    b.Op("concat", {x, y}, {}, s.tokens, width);
    ExpectStatus(b, status, what);
  };
  refused("fine", FOVEA_OK, 7, DType::kF32, false);
  refused("width", FOVEA_E_SHAPE, 8, DType::kF32, false);
  refused("type", FOVEA_E_SHAPE, 7, DType::kI32, false);
  refused("space", FOVEA_E_SHAPE, 7, DType::kF32, true);
}

}  // namespace
}  // namespace fovea::test
