// Rows of fixed segments rearranged by a table.
#include "tests/ops/op_fixture.h"
#include "tests/support/combinations.h"

namespace fovea::test {
namespace {

std::vector<float> RandomTable(uint32_t rows, uint32_t columns, uint32_t limit, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> table(size_t{rows} * columns);
  for (float& index : table) index = static_cast<float>(random() % (limit + 1)) - 1;
  return table;
}

struct TableCase {
  uint32_t from, to, columns;  // rows of both spaces, indices in a row of the table
  uint32_t images, width;
};

// The rows that the table names, concatenated by columns; zeros for -1.
std::vector<double> Concatenated(const TableCase& c, const std::vector<float>& table, const std::vector<float>& xs) {
  std::vector<double> expected;
  for (uint32_t image = 0; image < c.images; ++image) {
    for (const float index : table) {
      const auto row = static_cast<size_t>(index + static_cast<float>(image * c.from));
      for (uint32_t i = 0; i < c.width; ++i) expected.push_back(index < 0 ? 0 : xs[row * c.width + i]);
    }
  }
  return expected;
}

TEST(Arrange, RowsBesideEachOther) {
  const std::vector<uint32_t> from = {1, 4, 9}, to = {1, 3, 9, 20}, columns = {1, 2, 5}, images = {0, 1, 3},
                              width = {3};
  for (const TableCase& c : Combinations<TableCase>(from, to, columns, images, width)) {
    ModelBuilder b;
    const uint32_t root = b.Space("images");
    const uint32_t pixels = b.FixedSpace("pixels", root, c.from), patches = b.FixedSpace("patches", root, c.to);
    const uint32_t x = b.Input("x", pixels, c.width);
    const std::vector<float> table = RandomTable(c.to, c.columns, c.from, c.from + c.to);
    const uint32_t y =
        b.Op("arrange", {x}, {b.Tensor(c.to, c.columns, table, DType::kI32)}, patches, c.columns * c.width);
    const std::vector<float> xs = b.RandomFloats(size_t{c.images} * c.from * c.width);
    ExpectClose(RunTiled(b, {{{root, {c.images}}}, {{x, xs}}, {}}, y), Concatenated(c, table, xs), 0, 0);
  }
}

// The rows that a table names, each times its weight, summed to one row; zeros if it names none.
std::vector<double> WeightedSums(const TableCase& c, const std::vector<float>& table, const std::vector<float>& weights,
                                 const std::vector<float>& xs) {
  std::vector<double> expected(size_t{c.images} * c.to * c.width);
  for (size_t i = 0; i < expected.size(); ++i) {
    const size_t image = i / c.width / c.to, row = i / c.width % c.to, column = i % c.width;
    for (size_t k = row * c.columns; k < (row + 1) * c.columns; ++k) {
      if (table[k] < 0) continue;
      const size_t at = image * c.from + static_cast<size_t>(table[k]);
      expected[i] += double{weights[k]} * xs[at * c.width + column];
    }
  }
  return expected;
}

TEST(Arrange, WeighedSums) {
  const std::vector<uint32_t> from = {1, 7}, to = {1, 9}, columns = {1, 4}, images = {2}, width = {1, 5, 33};
  for (const TableCase& c : Combinations<TableCase>(from, to, columns, images, width)) {
    ModelBuilder b;
    const uint32_t root = b.Space("images");
    const uint32_t small = b.FixedSpace("small", root, c.from), large = b.FixedSpace("large", root, c.to);
    const uint32_t x = b.Input("x", small, c.width), weights = b.RandomTensor(c.to, c.columns);
    std::vector<float> table = RandomTable(c.to, c.columns, c.from, c.from * c.to + c.columns);
    if (c.to > 1) std::fill_n(table.begin(), c.columns, -1.0f);
    const uint32_t y = b.Op("arrange", {x}, {b.Tensor(c.to, c.columns, table, DType::kI32), weights}, large, c.width);
    const std::vector<float> xs = b.RandomFloats(size_t{c.images} * c.from * c.width);
    ExpectClose(RunTiled(b, {{{root, {c.images}}}, {{x, xs}}, {}}, y),
                WeightedSums(c, table, b.TensorValues(weights), xs), 1e-6, 1e-7);
  }
}

TEST(Arrange, WeightsAreAsTheTable) {
  const auto expect = [](fovea_status status, uint32_t rows, uint32_t columns, DType type, uint32_t width) {
    ModelBuilder b;
    const uint32_t root = b.Space("images"), from = b.FixedSpace("from", root, 4), to = b.FixedSpace("to", root, 2);
    b.Op("arrange", {b.Input("x", from, 3)},
         {b.Tensor(2, 2, {0, 3, -1, 1}, DType::kI32), b.RandomTensor(rows, columns, type)}, to, width);
    ExpectStatus(b, status, "weights");
  };
  expect(FOVEA_OK, 2, 2, DType::kF32, 3);
  expect(FOVEA_E_SHAPE, 1, 2, DType::kF32, 3);
  expect(FOVEA_E_SHAPE, 2, 1, DType::kF32, 3);
  expect(FOVEA_E_SHAPE, 2, 2, DType::kF16, 3);
  expect(FOVEA_E_SHAPE, 2, 2, DType::kF32, 6);
}

// Patches of 2 x 2 of a picture of 4 x 6 pixels, and back.
TEST(Arrange, PatchesAndBack) {
  ModelBuilder b;
  const uint32_t root = b.Space("images"), pixels = b.FixedSpace("pixels", root, 24);
  const uint32_t patches = b.FixedSpace("patches", root, 6);
  std::vector<float> forth;
  for (uint32_t y = 0; y < 4; y += 2) {
    for (uint32_t x = 0; x < 6; x += 2) {
      for (const uint32_t at : {0u, 1u, 6u, 7u}) forth.push_back(static_cast<float>(y * 6 + x + at));
    }
  }
  const uint32_t x = b.Input("x", pixels, 1);
  const uint32_t y = b.Op("arrange", {x}, {b.Tensor(6, 4, forth, DType::kI32)}, patches, 4);
  std::vector<float> xs(24);
  std::iota(xs.begin(), xs.end(), 0.0f);
  const std::vector<double> expected(forth.begin(), forth.end());
  ExpectClose(RunTiled(b, {{{root, {1}}}, {{x, xs}}, {}}, y), expected, 0, 0);
}

// Rows of a picture become rows of its windows and come back: both sides nest in the images, one of them deeper.
TEST(Arrange, BetweenNestings) {
  const struct {
    std::vector<uint32_t> from, to;  // fixed segments below an image, from the outside
  } cases[] = {{{6}, {3, 2}}, {{3, 2}, {6}}, {{6}, {2, 5}}, {{2, 5}, {3, 1, 2}}, {{1, 4}, {1}}, {{4, 2}, {4}}};
  for (const auto& c : cases) {
    for (const uint32_t images : {0u, 1u, 3u}) {
      ModelBuilder b;
      const uint32_t width = 3, root = b.Space("images");
      const auto nested = [&](const std::vector<uint32_t>& each, const char* name, uint32_t* rows) {
        uint32_t space = root;
        *rows = 1;
        for (const uint32_t one : each) {
          space = b.FixedSpace(name, space, one);
          *rows *= one;
        }
        return space;
      };
      uint32_t from, to;
      const uint32_t x = b.Input("x", nested(c.from, "from", &from), width);
      const uint32_t out = nested(c.to, "to", &to);
      const std::vector<float> table = RandomTable(to, 2, from, from + to), xs = b.RandomFloats(images * from * width);
      const uint32_t y = b.Op("arrange", {x}, {b.Tensor(to, 2, table, DType::kI32)}, out, 2 * width);
      std::vector<double> expected;
      for (uint32_t image = 0; image < images; ++image) {
        for (const float index : table) {
          for (uint32_t k = 0; k < width; ++k) {
            const auto row = static_cast<size_t>(index + static_cast<float>(image * from));
            expected.push_back(index < 0 ? 0 : xs[row * width + k]);
          }
        }
      }
      ExpectClose(RunTiled(b, {{{root, {images}}}, {{x, xs}}, {}}, y), expected, 0, 0);
    }
  }
}

// Where rows of two spaces nest in a space that itself has fixed segments, they move within its rows.
TEST(Arrange, WithinTheNearestCommonSpace) {
  for (const uint32_t rows : {3u, 12u}) {
    ModelBuilder b;
    const uint32_t images = b.Space("images"), windows = b.FixedSpace("windows", images, 4);
    const uint32_t from = b.FixedSpace("from", windows, 3), to = b.FixedSpace("to", windows, 3);
    b.Op("arrange", {b.Input("x", from, 1)}, {b.Tensor(rows, 1, std::vector<float>(rows, 2), DType::kI32)}, to, 1);
    if (rows == 3) {
      ExpectAccepted(b, "a row for each of a window");
    } else {
      ExpectRefused(b, FOVEA_E_SHAPE, "a row for each of an image");
    }
  }
  // Every space between the two must have fixed segments.
  for (const bool fixed : {true, false}) {
    ModelBuilder b;
    const uint32_t images = b.Space("images"), from = b.FixedSpace("from", images, 4);
    const uint32_t windows = fixed ? b.FixedSpace("windows", images, 2) : b.Space("windows", images);
    const uint32_t to = b.FixedSpace("to", windows, 2);
    b.Op("arrange", {b.Input("x", from, 1)}, {b.Tensor(4, 1, {3, 2, 1, 0}, DType::kI32)}, to, 1);
    if (fixed) {
      ExpectAccepted(b, "fixed");
    } else {
      ExpectRefused(b, FOVEA_E_SHAPE, "any number of windows");
    }
  }
  // The number of rows of nested spaces is bounded, and so are indices into them.
  ModelBuilder c;
  const uint32_t images = c.Space("images"), few = c.FixedSpace("few", images, 2);
  const uint32_t many = c.FixedSpace("many", c.FixedSpace("most", images, 1u << 20), 1u << 20);
  c.Op("arrange", {c.Input("x", many, 1)}, {c.Tensor(2, 1, {-1, -1}, DType::kI32)}, few, 1);
  ExpectRefused(c, FOVEA_E_SHAPE, "too many rows");
  ModelBuilder d;
  const uint32_t pictures = d.Space("images"), two = d.FixedSpace("two", pictures, 2);
  const uint32_t six = d.FixedSpace("six", d.FixedSpace("three", pictures, 3), 2);
  d.Op("arrange", {d.Input("x", six, 1)}, {d.Tensor(2, 1, {5, 6}, DType::kI32)}, two, 1);
  ExpectRefused(d, FOVEA_E_SHAPE, "index");
}

TEST(Arrange, ShapeRules) {
  struct Setup {
    uint32_t rows = 6, columns = 2, width = 8, to = 1;
    DType type = DType::kI32;
    float index = 3;
  };
  const auto refused = [](const char* what, fovea_status status, const Setup& s) {
    ModelBuilder b;
    const uint32_t root = b.Space("root"), from = b.FixedSpace("from", root, 4), other = b.Space("other");
    const uint32_t spaces[] = {root,  b.FixedSpace("to", root, 6), b.FixedSpace("far", other, 6),
                               other, b.Space("any", root),        from};
    const uint32_t x = b.Input("x", from, 4);
    std::vector<float> table(size_t{s.rows} * s.columns, -1.0f);
    table.back() = s.index;
    b.Op("arrange", {x}, {b.Tensor(s.rows, s.columns, table, s.type)}, spaces[s.to], s.width);
    ExpectStatus(b, status, what);
  };
  const auto with = [](auto change) {
    Setup s;
    change(s);
    return s;
  };
  refused("fine", FOVEA_OK, {});
  refused("same space", FOVEA_OK, with([](Setup& s) { s.to = 5, s.rows = 4; }));
  refused("index", FOVEA_E_SHAPE, with([](Setup& s) { s.index = 4; }));
  refused("index", FOVEA_E_SHAPE, with([](Setup& s) { s.index = -2; }));
  refused("type", FOVEA_E_SHAPE, with([](Setup& s) { s.type = DType::kF32; }));
  refused("rows", FOVEA_E_SHAPE, with([](Setup& s) { s.rows = 5; }));
  refused("width", FOVEA_E_SHAPE, with([](Setup& s) { s.columns = 3; }));
  refused("width", FOVEA_E_SHAPE, with([](Setup& s) { s.width = 4; }));
  refused("another parent", FOVEA_E_SHAPE, with([](Setup& s) { s.to = 2; }));
  refused("no parent", FOVEA_E_SHAPE, with([](Setup& s) { s.to = 3; }));
  refused("any rows", FOVEA_E_SHAPE, with([](Setup& s) { s.to = 4; }));
  // From segments of any length.
  ModelBuilder b;
  const TextSpaces s(b);
  const uint32_t to = b.FixedSpace("to", s.texts, 2);
  b.Op("arrange", {b.Input("x", s.tokens, 4)}, {b.Tensor(2, 1, {0, -1}, DType::kI32)}, to, 4);
  ExpectRefused(b, FOVEA_E_SHAPE, "from any rows");
  // No other operation may use the tensor of indices.
  ModelBuilder c;
  const TextSpaces t(c);
  c.Op("position", {c.Input("x", t.tokens, 2)}, {c.Tensor(3, 2, std::vector<float>(6), DType::kI32)}, t.tokens, 2);
  ExpectRefused(c, FOVEA_E_SHAPE, "positions of indices");
}

// The same table for segments of several sizes: each is checked.
TEST(Arrange, SharedTables) {
  for (const uint32_t least : {4u, 3u}) {
    ModelBuilder b;
    const uint32_t root = b.Space("root"), to = b.FixedSpace("to", root, 2);
    const uint32_t large = b.FixedSpace("large", root, 9), small = b.FixedSpace("small", root, least);
    const uint32_t x = b.Input("x", large, 1), y = b.Input("y", small, 1);
    const uint32_t table = b.Tensor(2, 2, {3, 0, 1, -1}, DType::kI32);
    b.Op("arrange", {x}, {table}, to, 2);
    b.Op("arrange", {x}, {table}, to, 2);
    b.Op("arrange", {y}, {table}, to, 2);
    if (least == 4) {
      ExpectAccepted(b, "fits");
    } else {
      ExpectRefused(b, FOVEA_E_SHAPE, "too short");
    }
  }
}

}  // namespace
}  // namespace fovea::test
