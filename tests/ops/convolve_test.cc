// Depthwise convolutions of whole texts against plain loops, and of texts in pieces, whose rows are kept in any type.
#include "fovea/cache.h"
#include "runtime/blob/attributes.h"
#include "tests/ops/op_fixture.h"
#include "tests/support/cast_rows.h"
#include "tests/support/combinations.h"

namespace fovea::test {
namespace {

std::vector<double> Convolve(const std::vector<float>& x, const Lengths& lengths, const std::vector<float>& weights,
                             const std::vector<float>& bias, uint32_t after) {
  const auto width = static_cast<int>(bias.size()), taps = static_cast<int>(weights.size()) / width;
  std::vector<double> y;
  int begin = 0;
  for (const uint32_t length : lengths) {
    const int n = static_cast<int>(length);
    for (int row = 0; row < n; ++row) {
      for (int c = 0; c < width; ++c) {
        double sum = bias[static_cast<size_t>(c)];
        for (int tap = 0; tap < taps; ++tap) {
          const int at = row - (taps - 1 - static_cast<int>(after)) + tap;
          if (at < 0 || at >= n) continue;
          sum +=
              double{x[static_cast<size_t>((begin + at) * width + c)]} * weights[static_cast<size_t>(tap * width + c)];
        }
        y.push_back(sum);
      }
    }
    begin += n;
  }
  return y;
}

TEST(Convolve, AgainstPlainLoops) {
  const uint32_t shapes[][2] = {{1, 0}, {3, 0}, {3, 1}, {4, 3}, {31, 15}, {70, 0}};  // taps, after
  for (const auto& [taps, after] : shapes) {
    for (const uint32_t width : {1u, 5u, 33u}) {
      for (const bool biased : {false, true}) {
        for (const Lengths& lengths : RaggedLengths()) {
          ModelBuilder b;
          const TextSpaces s(b);
          const uint32_t x = b.Input("x", s.tokens, width), weights = b.RandomTensor(taps, width);
          const uint32_t bias = biased ? b.RandomTensor(1, width) : kBlobNone;
          const uint32_t y = b.Op("convolve", {x}, {weights, bias}, s.tokens, width, {{Attribute::kAfter, after}});
          const std::vector<float> xs = b.RandomFloats(size_t{Total(lengths)} * width);
          const std::vector<float> added = biased ? b.TensorValues(bias) : std::vector<float>(width);
          ExpectClose(RunTiled(b, {{{s.tokens, lengths}}, {{x, xs}}, {}}, y),
                      Convolve(xs, lengths, b.TensorValues(weights), added, after), 3e-6, 1e-7,
                      std::to_string(taps) + " taps, " + std::to_string(after) + " after");
        }
      }
    }
  }
}

// Texts whose rows are kept: program 0.
struct KeptConvolution {
  KeptConvolution(uint32_t taps, uint32_t window, uint32_t width, uint32_t parts) {
    texts = b.Space("texts");
    tokens = b.Space("tokens", texts);
    kept = b.CachedSpace("kept", tokens, window);
    x = b.Input("x", tokens, width);
    weights = b.RandomTensor(taps, width);
    bias = b.RandomTensor(1, width);
    const uint32_t rows = b.Op("append", {x}, {}, kept, width, {{Attribute::kHeads, parts}});
    y = b.Op("convolve", {rows}, {weights, bias}, tokens, width);
    b.SetOutput(y);
  }
  ModelBuilder b;
  uint32_t texts, tokens, kept, x, weights, bias, y;
};

constexpr uint32_t kRows = 75, kOther = 41;  // rows of the two texts: more than two pages, and another length

// Results of two texts, the first one in pieces of `piece` rows and the second one in fewer pieces.
std::vector<float> ByPieces(const KeptConvolution& d, const TestModel& model, const std::vector<float>& first,
                            const std::vector<float>& second, uint32_t piece, uint32_t type, uint32_t workers) {
  const uint32_t width = d.b.content().programs[0].values[d.x].width;
  const std::vector<fovea_limit> limits = {{d.texts, 2, 0}, {d.tokens, 2 * piece, piece}, {d.kept, 160, 0}};
  fovea_session_options options = Options(limits, workers, 1 + piece % 5);
  options.cache_type = &type;
  TestSession session(model, options);
  std::vector<float> one, two;
  const auto part = [&](const std::vector<float>& rows, uint32_t begin, uint32_t end) {
    return std::vector<float>(rows.begin() + begin * width, rows.begin() + end * width);
  };
  for (uint32_t at = 0, other = 0; at < kRows; at += piece) {
    const uint32_t count = std::min(piece, kRows - at), others = std::min((piece + 1) / 2, kOther - other);
    std::vector<float> rows = part(first, at, at + count), more = part(second, other, other + others);
    rows.insert(rows.end(), more.begin(), more.end());
    session.SetSegments(d.tokens, {count, others});
    session.SetInput(d.x, rows);
    session.Run();
    const std::vector<float> made = session.Output(d.y);
    one.insert(one.end(), made.begin(), made.begin() + count * width);
    two.insert(two.end(), made.begin() + count * width, made.end());
    other += others;
  }
  two.resize(20 * width);  // as many as were fed, however large the pieces
  one.insert(one.end(), two.begin(), two.end());
  return one;
}

TEST(Convolve, PiecesOfTextsGiveTheBitsOfTheWhole) {
  struct Shape {
    uint32_t taps, window, width, parts;
  };
  for (const Shape& c :
       {Shape{3, 2, 5, 1}, Shape{4, 3, 36, 3}, Shape{1, 0, 3, 1}, Shape{40, 0, 6, 2}, Shape{3, 50, 1, 1}}) {
    KeptConvolution d(c.taps, c.window, c.width, c.parts);
    const std::vector<float> first = d.b.RandomFloats(size_t{kRows} * c.width);
    const std::vector<float> second = d.b.RandomFloats(size_t{kOther} * c.width);
    const TestModel model(d.b.Blob());
    for (const DType type : {DType::kF32, DType::kF16, DType::kBf16, DType::kI8}) {
      const auto by = [&](uint32_t piece, uint32_t workers) {
        return ByPieces(d, model, first, second, piece, static_cast<uint32_t>(type), workers);
      };
      const std::vector<float> whole = by(kRows, 1);
      const std::vector<float> stored =
          type == DType::kF32 ? first : CastRows(first, type, type == DType::kI8 ? c.width / c.parts : 1);
      ExpectClose({whole.begin(), whole.begin() + kRows * c.width},
                  Convolve(stored, {kRows}, d.b.TensorValues(d.weights), d.b.TensorValues(d.bias), 0), 3e-6, 1e-7,
                  std::to_string(c.taps) + " taps, type " + std::to_string(static_cast<uint32_t>(type)));
      for (const uint32_t piece : {1u, 2u, 7u, 33u, 64u}) {
        EXPECT_EQ(by(piece, 1 + piece % 3), whole) << c.taps << " taps by " << piece;
      }
    }
  }
}

// Over a grid: the neighbours of each cell, and of every second one, as a table names them.
struct GridCase {
  int stride;
  uint32_t width;
  bool bias;

  static constexpr int kGridRows = 5, kGridColumns = 4, kCells = kGridRows * kGridColumns, kImages = 3;
  int down() const { return (kGridRows - 1) / stride + 1; }
  int across() const { return (kGridColumns - 1) / stride + 1; }
  uint32_t count() const { return static_cast<uint32_t>(down() * across()); }
};

// For each cell of the result, its nine neighbours in the grid; -1 outside.
std::vector<float> NeighbourTable(const GridCase& c) {
  std::vector<float> table;
  for (int i = 0; i < c.down() * c.across(); ++i) {
    for (int tap = 0; tap < 9; ++tap) {
      const int y = i / c.across() * c.stride + tap / 3 - 1, x = i % c.across() * c.stride + tap % 3 - 1;
      const bool inside = y >= 0 && y < GridCase::kGridRows && x >= 0 && x < GridCase::kGridColumns;
      table.push_back(static_cast<float>(inside ? y * GridCase::kGridColumns + x : -1));
    }
  }
  return table;
}

std::vector<double> ConvolveByTable(const GridCase& c, const std::vector<float>& table, const std::vector<float>& xs,
                                    const std::vector<float>& weights, const std::vector<float>& bias) {
  std::vector<double> expected;
  for (int image = 0; image < GridCase::kImages; ++image) {
    for (size_t at = 0; at < table.size(); at += 9) {
      for (size_t column = 0; column < c.width; ++column) {
        double sum = bias[column];
        for (size_t tap = 0; tap < 9; ++tap) {
          if (table[at + tap] < 0) continue;
          const auto row = static_cast<size_t>(image * GridCase::kCells + static_cast<int>(table[at + tap]));
          sum += double{weights[tap * c.width + column]} * xs[row * c.width + column];
        }
        expected.push_back(sum);
      }
    }
  }
  return expected;
}

TEST(Convolve, NeighboursOfATable) {
  for (const GridCase& c : Combinations<GridCase>(std::vector{1, 2}, std::vector{1u, 7u, 40u}, kOffAndOn)) {
    const std::vector<float> table = NeighbourTable(c);
    ModelBuilder b;
    const uint32_t root = b.Space("images"), grid = b.FixedSpace("grid", root, GridCase::kCells);
    const uint32_t out = c.stride == 1 ? grid : b.FixedSpace("out", root, c.count());
    const uint32_t x = b.Input("x", grid, c.width), weights = b.RandomTensor(9, c.width);
    const uint32_t bias = c.bias ? b.RandomTensor(1, c.width) : kBlobNone;
    const uint32_t y = b.Op("convolve", {x}, {weights, bias, b.Tensor(c.count(), 9, table, DType::kI32)}, out, c.width);
    const std::vector<float> xs = b.RandomFloats(static_cast<size_t>(GridCase::kImages * GridCase::kCells) * c.width);
    const std::vector<float> added = c.bias ? b.TensorValues(bias) : std::vector<float>(c.width);
    ExpectClose(RunTiled(b, {{{root, {uint32_t{GridCase::kImages}}}}, {{x, xs}}, {}}, y),
                ConvolveByTable(c, table, xs, b.TensorValues(weights), added), 3e-6, 1e-7);
  }
}

TEST(Convolve, TablesAreChecked) {
  struct Case {
    const char* what;
    fovea_status status;
    uint32_t rows = 4, taps = 3;
    float index = 3;
    DType type = DType::kI32;
    bool after = false, any = false;
  };
  for (const Case& c :
       {Case{"fine", FOVEA_OK}, Case{"rows", FOVEA_E_SHAPE, 3}, Case{"taps", FOVEA_E_SHAPE, 4, 2},
        Case{"index", FOVEA_E_SHAPE, 4, 3, 4}, Case{"index", FOVEA_E_SHAPE, 4, 3, -2},
        Case{"type", FOVEA_E_SHAPE, 4, 3, 3, DType::kF32}, Case{"after", FOVEA_E_OP, 4, 3, 3, DType::kI32, true},
        Case{"any rows", FOVEA_E_SHAPE, 4, 3, 3, DType::kI32, false, true}}) {
    ModelBuilder b;
    const uint32_t root = b.Space("root"), grid = c.any ? b.Space("grid", root) : b.FixedSpace("grid", root, 4);
    std::vector<float> table(size_t{c.rows} * c.taps, -1.0f);
    table.back() = c.index;
    b.Op("convolve", {b.Input("x", grid, 6)},
         {b.RandomTensor(3, 6), kBlobNone, b.Tensor(c.rows, c.taps, table, c.type)}, grid, 6,
         c.after ? Attributes{{Attribute::kAfter, 1}} : Attributes{});
    ExpectStatus(b, c.status, c.what);
  }
}

TEST(Convolve, ShapeRules) {
  struct Case {
    const char* what;
    fovea_status status;
    uint32_t rows = 3, width = 6, after = 0;
    DType weights = DType::kF32;
    uint32_t bias_rows = 1, bias_width = 6, to = 6;
    bool other_space = false;
    DType from = DType::kF32;
  };
  for (const Case& c :
       {Case{"fine", FOVEA_OK}, Case{"all after", FOVEA_OK, 3, 6, 2}, Case{"nothing but after", FOVEA_E_OP, 3, 6, 3},
        Case{"far after", FOVEA_E_OP, 3, 6, 4294967295u}, Case{"weights", FOVEA_E_SHAPE, 3, 5},
        Case{"halves", FOVEA_E_SHAPE, 3, 6, 0, DType::kF16}, Case{"bias rows", FOVEA_E_SHAPE, 3, 6, 0, DType::kF32, 2},
        Case{"bias width", FOVEA_E_SHAPE, 3, 6, 0, DType::kF32, 1, 7},
        Case{"width", FOVEA_E_SHAPE, 3, 6, 0, DType::kF32, 1, 6, 12},
        Case{"space", FOVEA_E_SHAPE, 3, 6, 0, DType::kF32, 1, 6, 6, true},
        Case{"ids", FOVEA_E_SHAPE, 3, 6, 0, DType::kF32, 1, 6, 6, false, DType::kI32}}) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t x = b.Input("x", s.tokens, 6, c.from);
    b.Op("convolve", {x}, {b.RandomTensor(c.rows, c.width, c.weights), b.RandomTensor(c.bias_rows, c.bias_width)},
         c.other_space ? s.texts : s.tokens, c.to, {{Attribute::kAfter, c.after}});
    ExpectStatus(b, c.status, c.what);
  }
  ModelBuilder b;
  const TextSpaces s(b);
  b.Op("convolve", {b.Input("x", s.tokens, 6)}, {kBlobNone, b.RandomTensor(1, 6)}, s.tokens, 6);
  EXPECT_NE(ErrorOf(b).status, FOVEA_OK) << "no weights";
}

TEST(Convolve, KeptRowsAreReadBackwardsAndAsFarAsTheyAreKept) {
  struct Case {
    const char* what;
    fovea_status status;
    uint32_t taps, window, after;
    bool to_others = false;
  };
  for (const Case& c :
       {Case{"fine", FOVEA_OK, 4, 3, 0}, Case{"all are kept", FOVEA_OK, 40, 0, 0}, Case{"too far", FOVEA_E_OP, 5, 3, 0},
        Case{"after", FOVEA_E_OP, 3, 0, 1}, Case{"other rows", FOVEA_E_SHAPE, 3, 0, 0, true}}) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t others = b.Space("others", s.texts), kept = b.CachedSpace("kept", s.tokens, c.window);
    const uint32_t x = b.Op("append", {b.Input("x", s.tokens, 6)}, {}, kept, 6);
    b.Op("convolve", {x}, {b.RandomTensor(c.taps, 6)}, c.to_others ? others : s.tokens, 6,
         {{Attribute::kAfter, c.after}});
    ExpectStatus(b, c.status, c.what);
  }
}

}  // namespace
}  // namespace fovea::test
