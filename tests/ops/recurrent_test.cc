// Recurrent layers over segments against plain double loops, and bit for bit against single steps one after the other.
#include <fmt/format.h>

#include "runtime/blob/attributes.h"
#include "runtime/gemm/gemm.h"
#include "tests/ops/op_fixture.h"
#include "tests/ops/recurrent_cells.h"
#include "tests/support/combinations.h"

namespace fovea::test {
namespace {

const DType kTypes[] = {DType::kF32, DType::kF16, DType::kI8, DType::kI4};
const uint32_t kBackends[] = {FOVEA_BACKEND_DEFAULT, FOVEA_BACKEND_HIGHWAY};

// Options of a layer over segments.
struct Way {
  bool reverse = false, initial = false, state = false;
  enum { kNoMask, kNumbers, kWhole } mask = kNoMask;
};

// A layer of random weights, and its inputs.
struct Layer {
  Layer(ReferenceCell kind, const Way& how, DType type, uint32_t width, bool bias, const Lengths& rows_of)
      : b(width + (how.reverse ? 100 : 0)), s(b), cell(std::move(kind)), way(how), lengths(rows_of) {
    cell.width = width;
    gates = static_cast<uint32_t>(cell.gates()) * width;
    states = static_cast<uint32_t>(cell.state_width());
    rows = Total(lengths);
    const uint32_t x = b.Input("x", s.tokens, gates);
    std::vector<uint32_t> inputs = {x};
    xs = b.RandomFloats(size_t{rows} * gates);
    feed.segments = {{s.tokens, lengths}};
    feed.floats.push_back({x, xs});
    firsts.assign(lengths.size() * states, 0.0f);
    if (way.initial) {
      inputs.push_back(b.Input("state", s.texts, states));
      firsts = b.RandomFloats(firsts.size(), 0.5f);
      feed.floats.push_back({inputs.back(), firsts});
    }
    keep.assign(rows, 1);
    if (way.mask != Way::kNoMask) {
      for (uint32_t r = 0; r < rows; ++r) keep[r] = r % 3 == 1 || r % 7 == 0 ? 0 : r % 5 == 0 ? -2 : 1;
      const bool whole = way.mask == Way::kWhole;
      inputs.push_back(b.Input("keep", s.tokens, 1, whole ? DType::kI32 : DType::kF32));
      if (whole) {
        feed.ids.push_back({inputs.back(), keep});
      } else {
        feed.floats.push_back({inputs.back(), {keep.begin(), keep.end()}});
      }
    }
    tensors = TensorsOf(b, type, bias, &cell);
    Attributes attributes = AttributesOf(cell);
    const std::pair<Attribute, bool> flags[] = {{Attribute::kReverse, way.reverse},
                                                {Attribute::kInitial, way.initial},
                                                {Attribute::kMasked, way.mask != Way::kNoMask},
                                                {Attribute::kOutput, way.state}};
    for (const auto& [key, set] : flags) {
      if (set || rows % 2 == 0) attributes.push_back({key, set ? 1 : 0});  // absent is 0
    }
    made = way.state ? states : width;
    y = b.Op("recurrent", inputs, tensors, s.tokens, made, attributes);
  }

  // The rows of each segment in the order of the steps.
  std::vector<std::vector<uint32_t>> Orders() const {
    std::vector<std::vector<uint32_t>> orders;
    uint32_t begin = 0;
    for (const uint32_t length : lengths) {
      std::vector<uint32_t> order(length);
      std::iota(order.begin(), order.end(), begin);
      if (way.reverse) std::reverse(order.begin(), order.end());
      orders.push_back(order);
      begin += length;
    }
    return orders;
  }

  std::vector<double> Expected() const {
    std::vector<double> expected(size_t{rows} * made);
    const auto orders = Orders();
    for (size_t segment = 0; segment < orders.size(); ++segment) {
      const auto first = firsts.begin() + static_cast<std::ptrdiff_t>(segment * states);
      std::vector<double> state(first, first + states);
      for (const uint32_t row : orders[segment]) {
        if (keep[row] != 0) state = cell.Step(&xs[size_t{row} * gates], state);
        std::copy(state.begin(), state.begin() + made, expected.begin() + static_cast<std::ptrdiff_t>(row) * made);
      }
    }
    return expected;
  }

  std::string Name() const {
    return fmt::format("{} reverse {} initial {} state {} mask {} width {}", NameOf(cell), way.reverse, way.initial,
                       way.state, static_cast<int>(way.mask), cell.width);
  }

  ModelBuilder b;
  TextSpaces s;
  ReferenceCell cell;
  Way way;
  Lengths lengths;
  uint32_t gates, states, rows, made, y;
  std::vector<uint32_t> tensors;
  std::vector<float> xs, firsts;
  std::vector<int32_t> keep;
  Feed feed;
};

std::vector<Way> Ways() {
  return {{},
          {true, false, true, Way::kNumbers},
          {false, true, true, Way::kWhole},
          {true, true, false, Way::kNoMask},
          {false, false, false, Way::kWhole},
          {true, true, true, Way::kNumbers}};
}

TEST(Recurrent, EveryKindAndWay) {
  for (const ReferenceCell& cell : EveryCell()) {
    for (const Way& way : Ways()) {
      for (const uint32_t width : {1u, 19u}) {
        for (const Lengths& lengths : RaggedLengths()) {
          Layer layer(cell, way, DType::kF32, width, width % 2 == 1, lengths);
          // States of a relu may grow from step to step.
          ExpectClose(RunTiled(layer.b, layer.feed, layer.y), layer.Expected(), cell.relu ? 1e-6 : 0, 1e-5,
                      layer.Name());
        }
      }
    }
  }
}

// Products of 16-bit weights use the rounded numbers exactly, or are split. Integer ones round every state to steps of
// its range's 255th: a fraction of the gates' sums that does not accumulate, because states forget.
struct TypeCase {
  ReferenceCell cell;
  DType type;
  uint32_t backend;
};

TEST(Recurrent, EveryTypeOfWeights) {
  for (const TypeCase& c : Combinations<TypeCase>(EveryCell(), kTypes, kBackends)) {
    for (const uint32_t width : {32u, c.type == DType::kI4 ? 96u : 45u}) {
      Layer layer(c.cell, {false, true, true, Way::kNoMask}, c.type, width, true, RaggedLengths()[0]);
      const std::vector<double> expected = layer.Expected();
      double tolerance = GemmTakesQuantized(c.type) ? 0.02 : 1e-5;
      if (testing::GemmSplits(c.type, c.backend)) {
        double most = 0.5;  // no first state is larger
        for (const double state : expected) most = std::max(most, std::fabs(state));
        tolerance += SplitBoundOf(layer.cell, 0, static_cast<float>(most));
      }
      ExpectClose(RunTiled(layer.b, layer.feed, layer.y, c.backend), expected, 0, tolerance,
                  layer.Name() + " type " + std::to_string(static_cast<int>(c.type)));
    }
  }
}

struct StepCase {
  ReferenceCell cell;
  DType type;
  uint32_t backend;
  bool reverse;
};

// Runs one step of the cell for the segments that still have rows at `t`, updates their states in `now`, and compares
// these with the rows of the layer's output `found`.
void ExpectStep(const Layer& layer, const TestModel& model, const ModelBuilder& one, const Feed& inputs, uint32_t next,
                uint32_t t, std::vector<float>* now, const std::vector<float>& found) {
  const auto orders = layer.Orders();
  std::vector<float> xs, states;
  std::vector<uint32_t> segments;
  for (uint32_t i = 0; i < layer.lengths.size(); ++i) {
    if (layer.lengths[i] <= t) continue;
    segments.push_back(i);
    const auto gates = layer.xs.begin() + static_cast<std::ptrdiff_t>(orders[i][t]) * layer.gates;
    xs.insert(xs.end(), gates, gates + layer.gates);
    const auto old = now->begin() + static_cast<std::ptrdiff_t>(i) * layer.states;
    states.insert(states.end(), old, old + layer.states);
  }
  Feed feed = inputs;
  feed.segments[0].second = {static_cast<uint32_t>(segments.size())};
  feed.floats[0].second = xs;
  feed.floats[1].second = states;
  const std::vector<fovea_limit> limits = LimitsOf(one, feed);
  const std::vector<float> made = RunWith(model, Options(limits), feed, next);
  for (size_t k = 0; k < segments.size(); ++k) {
    const float* row = &made[k * layer.states];
    memcpy(&(*now)[segments[k] * layer.states], row, layer.states * sizeof(float));
    ASSERT_EQ(memcmp(&found[size_t{orders[segments[k]][t]} * layer.states], row, layer.states * sizeof(float)), 0)
        << layer.Name() << " segment " << segments[k] << " step " << t;
  }
}

TEST(Recurrent, SameBitsAsOneStepAfterTheOther) {
  const Lengths lengths = {4, 0, 1, 9, 9, 2, 13};
  for (const StepCase& c : Combinations<StepCase>(EveryCell(), kTypes, kBackends, kOffAndOn)) {
    SCOPED_TRACE("type " + std::to_string(static_cast<int>(c.type)));
    Layer layer(c.cell, {c.reverse, true, true, Way::kNoMask}, c.type, 64, true, lengths);
    const std::vector<float> found = RunTiled(layer.b, layer.feed, layer.y, c.backend);
    // The same weights in a program of one step, for all segments at once or for the segments that still run.
    ModelBuilder one;
    const TextSpaces s(one);
    one.content().tensors = layer.b.content().tensors;
    const uint32_t x = one.Input("x", s.tokens, layer.gates), state = one.Input("state", s.tokens, layer.states);
    const uint32_t next = one.Op("cell", {x, state}, layer.tensors, s.tokens, layer.states, AttributesOf(layer.cell));
    one.SetOutput(next);
    const TestModel model(one.Blob(), c.backend);
    std::vector<float> now = layer.firsts;
    for (uint32_t t = 0; t < 13; ++t) {
      const Feed inputs = {{{s.tokens, {}}}, {{x, {}}, {state, {}}}, {}};
      ASSERT_NO_FATAL_FAILURE(ExpectStep(layer, model, one, inputs, next, t, &now, found));
    }
  }
}

// Results of torch.nn.RNN for numbers that are whole eighths.
TEST(Recurrent, RnnAsPyTorchHasIt) {
  struct Case {
    int activation;
    std::vector<float> w, u, b, c, x, y;
  };
  const Case cases[] = {{5,
                         {0.375f, 0.125f, -0.875f, 0.5f, 0.25f, 0},
                         {-0.375f, -0.875f, -3.375f, -0.75f, -0.375f, 0.625f, -0.125f, 0.75f, -0.25f},
                         {-0.5f, 0.25f, -0.875f},
                         {0.875f, 0.375f, -0.875f},
                         {-0.125f, -0.5f, -1.75f, 0, 1, -0.5f, -0.25f, 0.125f},
                         {0.259549201f, 0.449740559f, -0.944829464f, 0.984206736f, 0.834390342f, -0.928366244f,
                          0.99138546f, -0.97221899f, -0.64409548f, 0.994531929f, 0.124090448f, -0.986735106f}},
                        {1,
                         {0.75f, -0.5f, 0.25f, -0.125f, 0.125f, 0.625f},
                         {0.375f, -0.125f, -0.125f, 1.875f, 0, 0, 0.5f, 0.625f, 1.25f},
                         {2.625f, -0.25f, 0.75f},
                         {1.125f, -0.125f, 0},
                         {1.25f, -1.5f, 0.75f, -0.625f, -0.75f, -0.125f, -0.875f, -0.5f},
                         {5.4375f, 0.125f, 0, 6.6484375f, 10.0859375f, 3.25f, 4.07617188f, 11.9189453f, 14.2685547f,
                          1.59887695f, 7.11157227f, 27.6512451f}}};
  for (const Case& c : cases) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t x = b.Input("x", s.tokens, 2);
    const uint32_t part = b.Op("linear", {x}, {b.Tensor(3, 2, c.w), b.Tensor(1, 3, c.b)}, s.tokens, 3);
    const uint32_t y = b.Op("recurrent", {part}, {b.Tensor(3, 3, c.u), b.Tensor(1, 3, c.c)}, s.tokens, 3,
                            {{Attribute::kCell, 2}, {Attribute::kActivation, c.activation}});
    const std::vector<float> found = RunTiled(b, {{{s.tokens, {4}}}, {{x, c.x}}, {}}, y);
    ExpectClose(found, {c.y.begin(), c.y.end()}, 1e-6, 1e-6);
  }
}

// Segments of a tile do not see each other: one that holds NaN spoils only itself. XNNPACK's kernels for SSE make
// infinity of NaN, Highway's keep it.
TEST(Recurrent, NaNStaysInItsSegment) {
  const uint32_t width = 48;
  for (const ReferenceCell& cell : EveryCell()) {
    for (const uint32_t backend : kBackends) {
      Layer layer(cell, {}, DType::kF32, width, true, {5, 5, 5});
      std::vector<float> xs = layer.xs;
      xs[size_t{7} * layer.gates + (cell.rnn ? 0 : width)] = NAN;  // of z, or f
      Feed feed = layer.feed;
      feed.floats[0].second = xs;
      layer.b.SetOutput(layer.y);
      const TestModel model(layer.b.Blob(), backend);
      const std::vector<fovea_limit> limits = LimitsOf(layer.b, feed);
      const std::vector<float> clean = RunWith(model, Options(limits), layer.feed, layer.y);
      const std::vector<float> found = RunWith(model, Options(limits), feed, layer.y);
      for (uint32_t row = 0; row < 15; ++row) {
        if (row < 7 || row >= 10) {
          EXPECT_EQ(memcmp(&found[row * width], &clean[row * width], width * sizeof(float)), 0) << layer.Name() << row;
        } else if (row >= 8 && backend == FOVEA_BACKEND_HIGHWAY) {
          EXPECT_TRUE(std::isnan(found[row * width])) << layer.Name();
        }
      }
    }
  }
}

// Both directions and two layers, as in descriptions; the last states are a pool of the whole state.
TEST(Recurrent, BidirectionalAndStacked) {
  constexpr uint32_t kWidth = 12, kInput = 7;
  const Lengths lengths = {6, 1, 0, 11};
  for (const bool lstm : {false, true}) {
    ReferenceCell cell{lstm, true, false, kWidth, {}, {}};
    const auto gates = static_cast<uint32_t>(cell.gates()) * kWidth, states = static_cast<uint32_t>(cell.state_width());
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t x = b.Input("x", s.tokens, kInput), rows = Total(lengths);
    const std::vector<float> xs = b.RandomFloats(rows * kInput);
    std::vector<double> in(xs.begin(), xs.end());
    uint32_t value = x, width = kInput, last = 0;
    std::vector<double> lasts(lengths.size() * 2 * states);
    for (int layer = 0; layer < 2; ++layer) {
      std::vector<uint32_t> sides;
      std::vector<double> out(size_t{rows} * 2 * kWidth);
      std::vector<uint32_t> ends;
      for (const bool reverse : {false, true}) {
        const uint32_t w = b.RandomTensor(gates, width, DType::kF32, 0.4f), v = b.RandomTensor(1, gates);
        const uint32_t u = b.RandomTensor(gates, kWidth, DType::kF32, 0.3f), c = b.RandomTensor(1, gates);
        const uint32_t part = b.Op("linear", {value}, {w, v}, s.tokens, gates);
        const uint32_t state =
            b.Op("recurrent", {part}, {u, c}, s.tokens, states,
                 {{Attribute::kCell, lstm ? 1 : 0}, {Attribute::kReverse, reverse ? 1 : 0}, {Attribute::kOutput, 1}});
        sides.push_back(b.Op("slice", {state}, {}, s.tokens, kWidth, {{Attribute::kWidth, kWidth}}));
        ends.push_back(b.Op("pool", {state}, {}, s.texts, states, {{Attribute::kKind, reverse ? 0 : 1}}));
        cell.weight = b.TensorValues(u);
        cell.bias = b.TensorValues(c);
        const std::vector<float> ws = b.TensorValues(w), vs = b.TensorValues(v);
        uint32_t begin = 0;
        for (size_t segment = 0; segment < lengths.size(); ++segment) {
          std::vector<double> now(states);
          for (uint32_t t = 0; t < lengths[segment]; ++t) {
            const uint32_t row = begin + (reverse ? lengths[segment] - 1 - t : t);
            std::vector<float> of_input(gates);
            for (uint32_t i = 0; i < gates; ++i) {
              double sum = vs[i];
              for (uint32_t k = 0; k < width; ++k) sum += ws[i * width + k] * in[size_t{row} * width + k];
              of_input[i] = static_cast<float>(sum);
            }
            now = cell.Step(of_input.data(), now);
            for (uint32_t i = 0; i < kWidth; ++i) out[size_t{row} * 2 * kWidth + (reverse ? kWidth : 0) + i] = now[i];
          }
          std::copy(now.begin(), now.end(),
                    lasts.begin() + static_cast<std::ptrdiff_t>(segment * 2 * states + (reverse ? states : 0)));
          begin += lengths[segment];
        }
      }
      value = b.Op("concat", sides, {}, s.tokens, 2 * kWidth);
      last = b.Op("concat", ends, {}, s.texts, 2 * states);
      width = 2 * kWidth;
      in = out;
    }
    const Feed feed = {{{s.tokens, lengths}}, {{x, xs}}, {}};
    ExpectClose(RunTiled(b, feed, value), in, 0, 1e-5);
    ExpectClose(RunTiled(b, feed, last), lasts, 0, 1e-5);  // a segment without rows gives zeros
  }
}

TEST(Recurrent, ShapeRules) {
  using A = Attribute;
  struct Operands {
    uint32_t x = 24, out = 8, rows = 24, width = 8, bias = 0;
    // Width, space (0 tokens, 1 texts) and type of the other inputs.
    struct Other {
      uint32_t width, space;
      DType type = DType::kF32;
    };
    std::vector<Other> others = {};
    Attributes attributes = {};
    DType x_type = DType::kF32;
    bool to_texts = false;
  };
  struct Try {
    const char* what;
    fovea_status status;
    Operands o;
  };
  const Operands::Other state = {8, 1}, mask = {1, 0}, ids = {1, 0, DType::kI32};
  const Try tries[] = {
      {"gru", FOVEA_OK, {}},
      {"lstm", FOVEA_OK, {32, 8, 32, 8, 32, {}, {{A::kCell, 1}}}},
      {"lstm's state", FOVEA_OK, {32, 16, 32, 8, 32, {}, {{A::kCell, 1}, {A::kOutput, 1}}}},
      {"first states", FOVEA_OK, {24, 8, 24, 8, 0, {state}, {{A::kInitial, 1}, {A::kMasked, 0}}}},
      {"mask", FOVEA_OK, {24, 8, 24, 8, 0, {mask}, {{A::kMasked, 1}}}},
      {"mask of whole numbers", FOVEA_OK, {24, 8, 24, 8, 0, {state, ids}, {{A::kInitial, 1}, {A::kMasked, 1}}}},
      {"reverse", FOVEA_E_OP, {24, 8, 24, 8, 0, {}, {{A::kReverse, 2}}}},
      {"output", FOVEA_E_OP, {24, 8, 24, 8, 0, {}, {{A::kOutput, 2}}}},
      {"initial", FOVEA_E_OP, {24, 8, 24, 8, 0, {state}, {{A::kInitial, 2}}}},
      {"masked", FOVEA_E_OP, {24, 8, 24, 8, 0, {mask}, {{A::kMasked, 4294967295.0}}}},
      {"cell", FOVEA_E_OP, {24, 8, 24, 8, 0, {}, {{A::kCell, 7}}}},
      {"state by its number", FOVEA_OK, {24, 8, 24, 8, 0, {state}, {}}},
      {"both by their numbers", FOVEA_OK, {24, 8, 24, 8, 0, {state, mask}, {}}},
      {"mask in the place of the state", FOVEA_E_SHAPE, {24, 8, 24, 8, 0, {mask}, {}}},
      {"too few inputs", FOVEA_E_RECORD, {24, 8, 24, 8, 0, {}, {{A::kMasked, 1}}}},
      {"four inputs", FOVEA_E_RECORD, {24, 8, 24, 8, 0, {state, mask, mask}, {{A::kInitial, 1}, {A::kMasked, 1}}}},
      {"state among the rows", FOVEA_E_SHAPE, {24, 8, 24, 8, 0, {{8, 0}}, {{A::kInitial, 1}}}},
      {"state's width", FOVEA_E_SHAPE, {24, 8, 24, 8, 0, {{7, 1}}, {{A::kInitial, 1}}}},
      {"lstm's first h alone", FOVEA_E_SHAPE, {32, 8, 32, 8, 0, {state}, {{A::kCell, 1}, {A::kInitial, 1}}}},
      {"state of ids", FOVEA_E_SHAPE, {24, 8, 24, 8, 0, {{8, 1, DType::kI32}}, {{A::kInitial, 1}}}},
      {"mask's width", FOVEA_E_SHAPE, {24, 8, 24, 8, 0, {{2, 0}}, {{A::kMasked, 1}}}},
      {"mask of texts", FOVEA_E_SHAPE, {24, 8, 24, 8, 0, {{1, 1}}, {{A::kMasked, 1}}}},
      {"input width", FOVEA_E_SHAPE, {23}},
      {"output width", FOVEA_E_SHAPE, {24, 7}},
      {"state, not hidden", FOVEA_E_SHAPE, {32, 16, 32, 8, 0, {}, {{A::kCell, 1}}}},
      {"hidden, not state", FOVEA_E_SHAPE, {32, 8, 32, 8, 0, {}, {{A::kCell, 1}, {A::kOutput, 1}}}},
      {"weight rows", FOVEA_E_SHAPE, {24, 8, 23}},
      {"weight width", FOVEA_E_SHAPE, {24, 8, 24, 7}},
      {"bias", FOVEA_E_SHAPE, {24, 8, 24, 8, 8}},
      {"input of ids", FOVEA_E_SHAPE, {24, 8, 24, 8, 0, {}, {}, DType::kI32}},
      {"output space", FOVEA_E_SHAPE, {24, 8, 24, 8, 0, {}, {}, DType::kF32, true}},
      {"attribute", FOVEA_E_OP, {24, 8, 24, 8, 0, {}, {{A::kHeads, 1}}}},
  };
  for (const Try& t : tries) {
    ModelBuilder b;
    const TextSpaces s(b);
    std::vector<uint32_t> inputs = {b.Input("x", s.tokens, t.o.x, t.o.x_type)};
    for (const Operands::Other& other : t.o.others) {
      inputs.push_back(
          b.Input("i" + std::to_string(inputs.size()), other.space == 0 ? s.tokens : s.texts, other.width, other.type));
    }
    std::vector<uint32_t> tensors = {b.RandomTensor(t.o.rows, t.o.width)};
    if (t.o.bias != 0) tensors.push_back(b.RandomTensor(1, t.o.bias));
    b.Op("recurrent", inputs, tensors, t.o.to_texts ? s.texts : s.tokens, t.o.out, t.o.attributes);
    ExpectStatus(b, t.status, t.what);
  }
  // A space without parent is one segment and has no first state.
  ModelBuilder b;
  const uint32_t all = b.Space("all");
  const uint32_t x = b.Input("x", all, 24);
  b.Op("recurrent", {x}, {b.RandomTensor(24, 8)}, all, 8);
  ExpectAccepted(b, "one segment");
  ModelBuilder c;
  const uint32_t rows = c.Space("all");
  const uint32_t y = c.Input("x", rows, 24), z = c.Input("state", rows, 8);
  c.Op("recurrent", {y, z}, {c.RandomTensor(24, 8)}, rows, 8, {{A::kInitial, 1}});
  ExpectRefused(c, FOVEA_E_SHAPE, "no parent");
}

// A clock that cancels the run; the library reads it before and after every step of a tile.
fovea_session* cancelled = nullptr;
uint32_t calls = 0, most_calls = 0;
uint64_t CancellingClock() {
  if (++calls == most_calls) fovea_session_cancel(cancelled);
  return calls;
}

TEST(Recurrent, CancelWorksBetweenTiles) {
  Layer layer({}, {}, DType::kF32, 8, true, {3, 3, 3, 3});
  layer.b.SetOutput(layer.y);
  const TestModel model(layer.b.Blob());
  const std::vector<fovea_limit> limits = LimitsOf(layer.b, layer.feed);
  fovea_session_options options = Options(limits, 1, 1);
  options.clock = CancellingClock;
  for (const uint32_t tiles : {1u, 2u, 4u}) {
    TestSession session(model, options);
    session.SetSegments(layer.s.tokens, layer.lengths);
    session.SetInput(layer.feed.floats[0].first, layer.xs);
    cancelled = session.session;
    calls = 0;
    most_calls = 2 * tiles;
    fovea_error error = {};
    EXPECT_EQ(fovea_session_run(session.session, &error), FOVEA_E_CANCELLED);
    EXPECT_EQ(calls, 2 * tiles);
    most_calls = 0;
    session.Run();
    ExpectClose(session.Output(layer.y), layer.Expected(), 0, 1e-5);
  }
}

// Scratch is sized by the number of segments, not by a tile's rows.
TEST(Recurrent, OneTextNeedsRoomForOneState) {
  Layer layer({}, {}, DType::kF32, 64, false, {100});
  layer.b.SetOutput(layer.y);
  const TestModel model(layer.b.Blob());
  const auto scratch = [&](uint32_t texts) {
    const std::vector<fovea_limit> limits = {{layer.s.texts, texts, 0}, {layer.s.tokens, 1000, 0}};
    return TestSession(model, Options(limits)).scratch.size();
  };
  EXPECT_EQ(scratch(101) - scratch(1), 100u * 4 * 64 * sizeof(float) + 100 * sizeof(uint32_t) / 64 * 64);
}

}  // namespace
}  // namespace fovea::test
