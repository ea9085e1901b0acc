// Single steps of recurrent layers: every kind of cell, gate and type of weights, against plain double loops.
#include "runtime/blob/attributes.h"
#include "runtime/gemm/gemm.h"
#include "tests/ops/op_fixture.h"
#include "tests/ops/recurrent_cells.h"
#include "tests/support/combinations.h"
#include "tests/support/fewer_cases.h"

namespace fovea::test {
namespace {

const DType kTypes[] = {DType::kF32, DType::kF16, DType::kI8, DType::kI4};
const uint32_t kBackends[] = {FOVEA_BACKEND_DEFAULT, FOVEA_BACKEND_HIGHWAY};

// With integer weights, and f16 ones that are split, rows of the state are rounded, so the products are taken from a
// linear layer with the same tensors, which rounds them alike; that covers all but the second product of a cell that
// resets first.
struct CellCase {
  ReferenceCell cell;
  DType type;
  uint32_t width;
  bool bias;
  uint32_t backend;
};

std::vector<CellCase> CellCases() {
  std::vector<CellCase> all;
  for (const ReferenceCell& cell : EveryCell()) {
    for (const DType type : kTypes) {
      const bool blocks = type == DType::kI4;
      const std::vector<uint32_t> widths = {blocks ? 32u : 1u, 64u, blocks ? 96u : 19u};
      const auto cases = Combinations<CellCase>(std::vector{cell}, std::vector{type}, widths, kOffAndOn, kBackends);
      all.insert(all.end(), cases.begin(), cases.end());
    }
  }
  if (!FewerCases()) return all;
  std::vector<CellCase> fewer;  // still every two members together
  for (size_t i = 4; i < all.size(); i += 5) fewer.push_back(all[i]);
  return fewer;
}

bool Splits(const CellCase& c) { return testing::GemmSplits(c.type, c.backend); }

// A step of the cell over rows of gates and old states. `products`: the linear layer's, for weights that round states.
std::vector<double> ExpectedStep(const CellCase& c, const std::vector<float>& xs, const std::vector<float>& olds,
                                 const std::vector<float>& products) {
  const size_t gates = c.cell.gates() * c.width, states = c.cell.state_width();
  std::vector<double> expected;
  for (size_t r = 0; r < xs.size() / gates; ++r) {
    const auto row = olds.begin() + static_cast<std::ptrdiff_t>(r * states);
    const std::vector<double> old(row, row + static_cast<std::ptrdiff_t>(states));
    const auto of = [&](size_t i, const std::vector<double>& hidden) -> double {
      const bool second = !c.cell.reset_after && i >= 2 * c.width;
      return (GemmTakesQuantized(c.type) || Splits(c)) && !second ? products[r * gates + i] : c.cell.Product(i, hidden);
    };
    const std::vector<double> next = c.cell.Step(&xs[r * gates], old, of);
    expected.insert(expected.end(), next.begin(), next.end());
  }
  return expected;
}

TEST(Cell, OneStepOfEveryKind) {
  for (CellCase& c : CellCases()) {
    ModelBuilder b(c.width + c.bias);
    const TextSpaces s(b);
    c.cell.width = c.width;
    const auto gates = static_cast<uint32_t>(c.cell.gates()) * c.width;
    const auto states = static_cast<uint32_t>(c.cell.state_width());
    const uint32_t x = b.Input("x", s.tokens, gates), state = b.Input("state", s.tokens, states);
    const uint32_t h = b.Input("h", s.tokens, c.width);
    const std::vector<uint32_t> tensors = TensorsOf(b, c.type, c.bias, &c.cell);
    const std::vector<uint32_t> of_linear(tensors.begin(), tensors.begin() + (c.bias ? 2 : 1));
    const uint32_t product = b.Op("linear", {h}, of_linear, s.tokens, gates);
    b.SetOutput(product);
    const uint32_t y = b.Op("cell", {x, state}, tensors, s.tokens, states, AttributesOf(c.cell));
    const uint32_t rows = 26;
    const std::vector<float> xs = b.RandomFloats(size_t{rows} * gates);
    const std::vector<float> olds = b.RandomFloats(size_t{rows} * states, 0.5f);
    std::vector<float> hs;
    for (size_t r = 0; r < rows; ++r) {
      const auto row = olds.begin() + static_cast<std::ptrdiff_t>(r * states);
      hs.insert(hs.end(), row, row + c.width);
    }
    const Feed feed = {{{s.tokens, RaggedLengths()[0]}}, {{x, xs}, {state, olds}, {h, hs}}, {}};
    const std::vector<float> products = RunTiled(b, feed, product, c.backend);
    // A row's range is about four, and the errors of rounded entries times weights grow with the root of their number.
    const bool rounded = GemmTakesQuantized(c.type) && !c.cell.lstm && !c.cell.reset_after;
    double tolerance = rounded ? 0.03 : 5e-6;
    // The second product is activated by a slope of at most 1 and shared with the old state; a state is 0.5 at most.
    if (Splits(c) && !c.cell.reset_after) tolerance += SplitBoundOf(c.cell, 2, 0.5f);
    ExpectClose(RunTiled(b, feed, y, c.backend), ExpectedStep(c, xs, olds, products), 0, tolerance,
                NameOf(c.cell) + " type " + std::to_string(static_cast<int>(c.type)) + " width " +
                    std::to_string(c.width) + " backend " + std::to_string(c.backend));
  }
}

TEST(Cell, DefaultsAreThoseOfPyTorch) {
  ModelBuilder b;
  const TextSpaces s(b);
  const uint32_t x = b.Input("x", s.tokens, 3 * 8), state = b.Input("state", s.tokens, 8);
  const uint32_t w = b.RandomTensor(24, 8);
  const uint32_t y = b.Op("cell", {x, state}, {w}, s.tokens, 8);
  const uint32_t z = b.Op("cell", {x, state}, {w}, s.tokens, 8,
                          {{Attribute::kCell, 0}, {Attribute::kResetAfter, 1}, {Attribute::kActivation, 6}});
  b.SetOutput(z);
  const Feed feed = {{{s.tokens, {5}}}, {{x, b.RandomFloats(5 * 24)}, {state, b.RandomFloats(5 * 8)}}, {}};
  EXPECT_EQ(RunTiled(b, feed, y), RunTiled(b, feed, z));
}

// Rows of a state that a linear layer has quantized are quantized once; rows that a cell quantizes are used by this
// cell only.
TEST(Cell, SharesQuantizedRows) {
  for (const bool lstm : {false, true}) {
    for (const bool after : {false, true}) {
      if (lstm && !after) continue;
      ReferenceCell cell{lstm, after, false, 32, {}, {}};
      const auto gates = static_cast<uint32_t>(cell.gates()) * 32, states = static_cast<uint32_t>(cell.state_width());
      // The same program with the cell before, between and after two linear layers that read its operands.
      std::vector<std::vector<float>> results;
      for (const int place : {0, 1, 2}) {
        ModelBuilder b(7);
        const TextSpaces s(b);
        const uint32_t x = b.Input("x", s.tokens, gates), state = b.Input("state", s.tokens, states);
        const uint32_t w = b.RandomTensor(gates, 32, DType::kI8), v = b.RandomTensor(16, states, DType::kI8);
        const uint32_t u = b.RandomTensor(16, gates, DType::kI8);
        uint32_t of_cell = 0, of_state = 0, of_x = 0;
        for (int i = 0; i < 3; ++i) {
          const auto linear = [&](uint32_t in, uint32_t weight) {
            return b.Op("linear", {in}, {weight}, s.tokens, 16);
          };
          if (i == place) {
            of_cell = b.Op("cell", {x, state}, {w}, s.tokens, states, AttributesOf(cell));
          } else if (of_state == 0) {
            of_state = linear(state, v);
          } else {
            of_x = linear(x, u);
          }
        }
        const uint32_t again = b.Op("linear", {state}, {v}, s.tokens, 16);
        for (const uint32_t value : {of_cell, of_state, of_x, again}) b.SetOutput(value);
        const Feed feed = {{{s.tokens, RaggedLengths()[0]}},
                           {{x, b.RandomFloats(26 * gates)}, {state, b.RandomFloats(size_t{26} * states)}},
                           {}};
        std::vector<float> all;
        for (const uint32_t value : {of_cell, of_state, of_x, again}) {
          const std::vector<float> rows = RunTiled(b, feed, value);
          all.insert(all.end(), rows.begin(), rows.end());
        }
        results.push_back(all);
      }
      EXPECT_EQ(results[0], results[1]);
      EXPECT_EQ(results[0], results[2]);
    }
  }
}

TEST(Cell, ShapeRules) {
  using A = Attribute;
  struct Try {
    const char* what;
    fovea_status status;
    uint32_t x, state, out, rows, width;
    Attributes attributes;
    uint32_t bias = 0;
  };
  const Try tries[] = {
      {"gru", FOVEA_OK, 24, 8, 8, 24, 8, {}, 24},
      {"gru by name", FOVEA_OK, 24, 8, 8, 24, 8, {{A::kCell, 0}, {A::kResetAfter, 0}, {A::kActivation, 8}}},
      {"lstm", FOVEA_OK, 32, 16, 16, 32, 8, {{A::kCell, 1}}, 32},
      {"lstm that resets", FOVEA_E_RECORD, 32, 16, 16, 32, 8, {{A::kCell, 1}, {A::kResetAfter, 0}}},
      {"rnn", FOVEA_OK, 8, 8, 8, 8, 8, {{A::kCell, 2}}, 8},
      {"rnn of relu", FOVEA_OK, 8, 8, 8, 8, 8, {{A::kCell, 2}, {A::kActivation, 1}}},
      {"rnn of a gate", FOVEA_E_OP, 8, 8, 8, 8, 8, {{A::kCell, 2}, {A::kActivation, 6}}},
      {"rnn that resets", FOVEA_E_RECORD, 8, 8, 8, 8, 8, {{A::kCell, 2}, {A::kResetAfter, 1}}},
      {"rnn of a gru's gates", FOVEA_E_SHAPE, 24, 8, 8, 24, 8, {{A::kCell, 2}}},
      {"other cell", FOVEA_E_OP, 24, 8, 8, 24, 8, {{A::kCell, 3}}},
      {"other reset", FOVEA_E_OP, 24, 8, 8, 24, 8, {{A::kResetAfter, 2}}},
      {"other gate", FOVEA_E_OP, 24, 8, 8, 24, 8, {{A::kActivation, 5}}},
      {"no such gate", FOVEA_E_OP, 24, 8, 8, 24, 8, {{A::kActivation, 4294967295.0}}},
      {"input width", FOVEA_E_SHAPE, 23, 8, 8, 24, 8, {}},
      {"state width", FOVEA_E_SHAPE, 24, 7, 8, 24, 8, {}},
      {"output width", FOVEA_E_SHAPE, 24, 8, 7, 24, 8, {}},
      {"output and state", FOVEA_E_SHAPE, 24, 7, 7, 24, 8, {}},
      {"weight rows", FOVEA_E_SHAPE, 24, 8, 8, 23, 8, {}},
      {"weight width", FOVEA_E_SHAPE, 24, 8, 8, 24, 7, {}},
      {"lstm of a gru's gates", FOVEA_E_SHAPE, 24, 12, 12, 24, 8, {{A::kCell, 1}}},
      {"bias", FOVEA_E_SHAPE, 24, 8, 8, 24, 8, {}, 23},
      {"attribute", FOVEA_E_OP, 24, 8, 8, 24, 8, {{A::kScale, 1}}},
  };
  for (const Try& t : tries) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t x = b.Input("x", s.tokens, t.x), state = b.Input("state", s.tokens, t.state);
    std::vector<uint32_t> tensors = {b.RandomTensor(t.rows, t.width)};
    if (t.bias != 0) tensors.push_back(b.RandomTensor(1, t.bias));
    b.Op("cell", {x, state}, tensors, s.tokens, t.out, t.attributes);
    ExpectStatus(b, t.status, t.what);
  }
  const auto with_peepholes = [](fovea_status status, int cell, uint32_t rows, uint32_t width, DType type) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t gates = cell == 1 ? 32 : cell == 2 ? 8 : 24, state = cell == 1 ? 16 : 8;
    const uint32_t x = b.Input("x", s.tokens, gates), h = b.Input("state", s.tokens, state);
    b.Op("cell", {x, h}, {b.RandomTensor(gates, 8), kBlobNone, b.RandomTensor(rows, width, type)}, s.tokens, state,
         {{A::kCell, cell}});
    ExpectStatus(b, status, "peepholes of cell " + std::to_string(cell));
  };
  with_peepholes(FOVEA_OK, 1, 3, 8, DType::kF32);
  with_peepholes(FOVEA_E_SHAPE, 1, 1, 24, DType::kF32);
  with_peepholes(FOVEA_E_SHAPE, 1, 3, 7, DType::kF32);
  with_peepholes(FOVEA_E_SHAPE, 1, 3, 8, DType::kF16);
  with_peepholes(FOVEA_E_RECORD, 0, 3, 8, DType::kF32);
  with_peepholes(FOVEA_E_RECORD, 2, 3, 8, DType::kF32);
  const auto refused = [](fovea_status status, const std::string& what, DType x_type, bool other_space, bool absent) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t x = b.Input("x", s.tokens, 24, x_type),
                   state = b.Input("state", other_space ? s.texts : s.tokens, 8);
    b.Op("cell", {x, state}, {absent ? kBlobNone : b.RandomTensor(24, 8)}, s.tokens, 8);
    ExpectRefused(b, status, what);
  };
  refused(FOVEA_E_SHAPE, "ids", DType::kI32, false, false);
  refused(FOVEA_E_SHAPE, "state of another space", DType::kF32, true, false);
  refused(FOVEA_E_RECORD, "no weight", DType::kF32, false, true);
}

}  // namespace
}  // namespace fovea::test
