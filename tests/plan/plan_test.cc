// Plans: one phase per layer, what exists per tile only, and that values which share memory never disturb each other.
#include <algorithm>
#include <cmath>
#include <random>

#include "runtime/blob/attributes.h"
#include "runtime/ops/op.h"
#include "tests/support/model_builder.h"

namespace fovea::test {
namespace {

fovea_step_info Step(const TestModel& model, uint32_t step) {
  fovea_step_info info = Sized<fovea_step_info>();
  EXPECT_EQ(fovea_program_get_step(model.model, 0, step, &info), FOVEA_OK);
  return info;
}
uint32_t Phases(const TestModel& model) {
  fovea_program_info info = Sized<fovea_program_info>();
  EXPECT_EQ(fovea_model_get_program(model.model, 0, &info), FOVEA_OK);
  return info.phase_count;
}

TEST(Plan, OnePhasePerLayer) {
  for (const uint32_t layers : {1u, 2u, 6u}) {
    ModelBuilder b;
    const TinyEncoder e = BuildTinyEncoder(b, DType::kF32, layers);
    const TestModel model(b.Blob());
    // Embedding with the first keys and values; the layers; what is computed of texts.
    EXPECT_EQ(Phases(model), layers + 2);
    for (uint32_t layer = 0; layer < layers; ++layer) {
      const uint32_t attention = e.attention_steps[layer];
      const uint32_t q = attention - 3, k = attention - 2, v = attention - 1;
      EXPECT_EQ(Step(model, attention).phase, layer + 1);
      // Queries are computed where they are used, keys and values one phase earlier.
      EXPECT_EQ(Step(model, q).phase, layer + 1);
      EXPECT_EQ(Step(model, k).phase, layer);
      EXPECT_EQ(Step(model, v).phase, layer);
      EXPECT_EQ(Step(model, q).tile_local, 1u);
      EXPECT_EQ(Step(model, k).tile_local, 0u);
      EXPECT_EQ(Step(model, v).tile_local, 0u);
      // Attention, projection, sum, norm, feed-forward: no matrix of all rows.
      for (uint32_t step = attention; step < attention + 7; ++step) {
        EXPECT_EQ(Step(model, step).phase, layer + 1);
        EXPECT_EQ(Step(model, step).tile_local, 1u) << step;
      }
      EXPECT_EQ(Step(model, attention + 7).phase, layer + 1);
      EXPECT_EQ(Step(model, attention + 7).tile_local, 0u);  // the residual stream
    }
  }
}

TEST(Plan, RowLocalProgramsAreOnePhase) {
  ModelBuilder b;
  const uint32_t rows = b.Space("rows", b.Space("root"));
  uint32_t x = b.Input("x", rows, 8);
  for (int i = 0; i < 10; ++i) x = b.Op("scale", {x}, {}, rows, 8);
  b.SetOutput(x);
  const TestModel model(b.Blob());
  EXPECT_EQ(Phases(model), 1u);
  const std::vector<fovea_limit> limits = {{rows, 1000, 0}};
  const TestSession session(model, Options(limits));
  fovea_session_info info = {};
  info.struct_size = sizeof(info);
  ASSERT_EQ(fovea_session_get_info(session.session, &info), FOVEA_OK);
  EXPECT_EQ(info.value_bytes, 1000 * 8 * 4 + 128u);  // the output, and what kernels may read after it
}

TEST(Plan, EachLevelOfSpacesIsAPhase) {
  ModelBuilder b;
  const uint32_t all = b.Space("all"), documents = b.Space("documents", all), tokens = b.Space("tokens", documents);
  const uint32_t x = b.Input("x", tokens, 4);
  const uint32_t scaled = b.Op("scale", {x}, {}, tokens, 4);
  const uint32_t pooled = b.Op("pool", {scaled}, {}, documents, 4);
  const uint32_t again = b.Op("scale", {pooled}, {}, documents, 4);
  b.SetOutput(b.Op("pool", {again}, {}, all, 4));
  const TestModel model(b.Blob());
  EXPECT_EQ(Phases(model), 3u);
  EXPECT_EQ(Step(model, 1).phase, Step(model, 2).phase);
  EXPECT_EQ(Step(model, 1).tile_local, 1u);
  EXPECT_EQ(Step(model, 2).tile_local, 0u);
}

TEST(Plan, RecurrentLayersArePhasesBySegments) {
  ModelBuilder b;
  const uint32_t texts = b.Space("texts"), tokens = b.Space("tokens", texts);
  const uint32_t x = b.Input("x", tokens, 8);
  const auto linear = [&](uint32_t from, uint32_t to) {
    return b.Op("linear", {from}, {b.RandomTensor(to, 8)}, tokens, to);
  };
  const auto recurrent = [&](uint32_t gates, uint32_t reverse) {
    return b.Op("recurrent", {gates}, {b.RandomTensor(24, 8)}, tokens, 8, {{Attribute::kReverse, reverse}});
  };
  const uint32_t forward = recurrent(linear(x, 24), 0), backward = recurrent(linear(x, 24), 1);
  const uint32_t sum = b.Op("add", {forward, backward}, {}, tokens, 8);
  const uint32_t again = recurrent(linear(sum, 24), 0);
  b.SetOutput(b.Op("pool", {again}, {}, texts, 8, {{Attribute::kKind, 1}}));
  const TestModel model(b.Blob());
  // Gates; both directions; their sum and the next gates; the next layer; the texts.
  EXPECT_EQ(Phases(model), 5u);
  const uint32_t phases[] = {0, 1, 0, 1, 2, 2, 3, 4}, local[] = {0, 0, 0, 0, 1, 0, 0, 0};
  for (uint32_t step = 0; step < 8; ++step) {
    EXPECT_EQ(Step(model, step).phase, phases[step]) << step;
    EXPECT_EQ(Step(model, step).tile_local, local[step]) << step;
  }
}

// Programs without sense that mix everything a planner must order: spaces of three levels, values read by tiles of
// their own and by all, at once and much later.
class RandomProgram {
 public:
  explicit RandomProgram(uint32_t seed) : b(seed), random_(seed) {
    texts = b.Space("texts");
    tokens = b.Space("tokens", texts);
    others = b.Space("others", texts);
    longer = b.ExtendedSpace("longer", tokens, 2);
    words = b.Space("words", tokens);
    patches = b.FixedSpace("patches", texts, 3);
    half = b.StridedSpace("half", tokens, 2);
    chosen = b.SelectedSpace("chosen", tokens, 2);
    for (const uint32_t space : {texts, tokens, others, words, patches}) {
      for (int i = 0; i < 2; ++i) b.Input("i" + std::to_string(inputs++), space, Width());
    }
    const uint32_t count = 5 + Below(35);
    while (operations() < count) AddOperation();
    // Some values, and the last one, are outputs.
    for (uint32_t v = inputs; v < values(); ++v) {
      if (v + 1 == values() || Below(6) == 0) b.SetOutput(v);
    }
  }

  bool IsOutput(uint32_t v) { return Value(v).role == ValueRole::kOutput; }
  uint32_t values() { return static_cast<uint32_t>(b.content().programs[0].values.size()); }
  uint32_t operations() { return static_cast<uint32_t>(b.content().programs[0].operations.size()); }

  ModelBuilder b;
  uint32_t texts, tokens, others, longer, words, patches, half, chosen, inputs = 0;
  uint32_t select = kBlobNone;  // the step that chooses

 private:
  uint32_t Below(uint32_t bound) { return static_cast<uint32_t>(random_() % bound); }
  uint32_t Width() { return 4u << Below(3); }
  tools::BlobValue& Value(uint32_t v) { return b.content().programs[0].values[v]; }

  // A value that fits, rather a late one; kBlobNone if there is none.
  uint32_t Pick(uint32_t space, uint32_t width) {
    std::vector<uint32_t> fitting;
    for (uint32_t v = 0; v < values(); ++v) {
      const bool numbers = Value(v).type == DType::kF32 && Value(v).width > 1;
      if (numbers && Value(v).space == space && (width == 0 || Value(v).width == width)) fitting.push_back(v);
    }
    if (fitting.empty()) return kBlobNone;
    const uint32_t count = static_cast<uint32_t>(fitting.size());
    return fitting[Below(3) == 0 ? Below(count) : count - 1 - std::min(count - 1, Below(3))];
  }

  void AddOperation() {
    const uint32_t spaces[] = {texts, tokens, tokens, others, longer, words, patches, half, chosen};
    const uint32_t space = spaces[Below(9)];
    const uint32_t x = Pick(space, 0);
    if (x == kBlobNone) return Begin(space);
    const uint32_t width = Value(x).width;
    switch (Below(12)) {
      case 0:
      case 1: {
        const uint32_t to = Width();
        b.Op("linear", {x}, {b.RandomTensor(to, width, DType::kF32, 0.4f)}, space, to,
             {{Attribute::kActivation, Below(7)}});
        return;
      }
      case 2:
        b.Op("norm", {x}, {}, space, width);
        return;
      case 3:
        b.Op("add", {x, Pick(space, width)}, {}, space, width);
        return;
      case 4:
        b.Op("activate", {x}, {}, space, width, {{Attribute::kActivation, 5}});
        return;
      case 5: {
        const uint32_t parent = b.content().spaces[space].parent;
        if (parent != kBlobNone) b.Op("pool", {x}, {}, parent, width, {{Attribute::kKind, Below(5)}});
        return;
      }
      case 6:
        if (space == tokens) Prepend(x);
        return;
      case 7:
        return Begin(space);
      case 8:
        if (width < 16) b.Op("unfold", {x}, {}, space, 2 * width, {{Attribute::kAfter, 1}});
        if (space == patches) {
          b.Op("arrange", {x}, {b.Tensor(3, 1, {2, -1, 0}, DType::kI32)}, patches, width);
        }
        return;
      case 9: {
        const uint32_t gates = b.Op("linear", {x}, {b.RandomTensor(3 * width, width)}, space, 3 * width);
        const auto layer = [&](uint32_t reverse) {
          b.Op("recurrent", {gates}, {b.RandomTensor(3 * width, width)}, space, width,
               {{Attribute::kReverse, reverse}});
        };
        layer(0);
        if (Below(2) == 0) layer(1);
        return;
      }
      default:
        return Attend();
    }
  }

  // Something of the tokens in a space that has no inputs, or something of that among the tokens.
  void Begin(uint32_t space) {
    const uint32_t x = Pick(tokens, 0), width = Value(x).width;
    if (space == longer) return Prepend(x);
    if (space == half) {
      b.Op("pool", {x}, {}, half, width, {{Attribute::kKind, Below(5)}});
    } else if (space == chosen) {
      if (select == kBlobNone) {
        const uint32_t score = b.Op("linear", {x}, {b.RandomTensor(1, width)}, tokens, 1);
        select = operations();
        rows_ = b.Op("select", {score}, {}, chosen, 1, {{Attribute::kKind, 2}});
      }
      b.Op("gather", {Pick(tokens, 0), rows_}, {}, chosen, 0);
      Value(values() - 1).width = Value(b.content().programs[0].operations.back().inputs[0]).width;
    } else if (space == tokens && select != kBlobNone) {
      const uint32_t y = Pick(chosen, width);
      if (y != kBlobNone) b.Op("merge", {x, y, rows_}, {}, tokens, width);
    }
  }

  void Prepend(uint32_t x) {
    const uint32_t width = Value(x).width;
    b.Op("prepend", {x}, {b.RandomTensor(2, width)}, longer, width);
  }

  // Self, cross or from the parent.
  void Attend() {
    const uint32_t pairs[][2] = {
        {tokens, tokens}, {tokens, longer}, {tokens, others},  {longer, tokens}, {others, longer}, {others, others},
        {texts, tokens},  {texts, longer},  {tokens, words},   {words, words},   {chosen, tokens}, {tokens, chosen},
        {half, tokens},   {tokens, half},   {patches, chosen}, {texts, patches}, {chosen, chosen}};
    const auto [query, key] = pairs[Below(17)];
    const uint32_t k = Pick(key, 0);
    if (k == kBlobNone) return;
    const uint32_t q = Pick(query, Value(k).width), v = Pick(key, 0);
    if (q == kBlobNone) return;
    b.Op("attention", {q, k, v}, {}, query, Value(v).width,
         {{Attribute::kHeads, 2},
          {Attribute::kPattern, static_cast<uint32_t>(PatternKind::kWindow)},
          {Attribute::kLeft, Below(2) == 0 ? kBlobNone : Below(3)}});
  }

  std::mt19937 random_;
  uint32_t rows_ = kBlobNone;  // what `select` makes
};

using Rows = std::vector<std::vector<float>>;  // one per value, empty where it cannot be read

Rows RunProgram(RandomProgram& p, const TestModel& model, uint32_t workers, uint32_t tile_rows,
                const std::vector<uint32_t>& keep) {
  const std::vector<uint32_t> tokens = {3, 0, 9, 1}, others = {1, 4, 0, 2};
  const std::vector<uint32_t> words = {2, 0, 0, 1, 5, 1, 1, 1, 2, 3, 1, 0, 4};
  const std::vector<fovea_limit> limits = {{p.texts, 4, 0}, {p.tokens, 13, 0}, {p.others, 7, 0}, {p.words, 21, 0}};
  fovea_session_options options = Options(limits, workers, tile_rows);
  options.keep = keep.data();
  options.keep_count = static_cast<uint32_t>(keep.size());
  TestSession session(model, options);
  memset(session.scratch.data(), 0xff, session.scratch.size());  // NaN: what is read too early shows
  session.SetSegments(p.tokens, tokens);
  session.SetSegments(p.others, others);
  session.SetSegments(p.words, words);
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  for (uint32_t v = 0; v < p.inputs; ++v) {
    fovea_view view = {};
    // Spaces that the program does not use have no rows.
    if (fovea_session_get_input(session.session, v, &view, nullptr) != FOVEA_OK) continue;
    for (uint32_t i = 0; i < view.rows * view.width; ++i) static_cast<float*>(view.data)[i] = normal(random);
  }
  session.Run();
  Rows rows(p.values());
  for (uint32_t v = p.inputs; v < p.values(); ++v) {
    if (p.IsOutput(v) || std::find(keep.begin(), keep.end(), v) != keep.end()) rows[v] = session.Output(v);
  }
  return rows;
}

void ExpectSame(const Rows& found, const Rows& expected, const std::string& what) {
  for (size_t v = 0; v < found.size(); ++v) {
    if (found[v].empty()) continue;
    ASSERT_EQ(found[v].size(), expected[v].size());
    ASSERT_EQ(memcmp(found[v].data(), expected[v].data(), found[v].size() * sizeof(float)), 0)
        << what << " value " << v;
  }
}

TEST(Plan, SharedMemoryChangesNothing) {
  for (uint32_t seed = 1; seed <= 150; ++seed) {
    RandomProgram p(seed);
    const TestModel model(p.b.Blob());
    // With every value kept none shares memory.
    std::vector<uint32_t> all;
    for (uint32_t v = p.inputs; v < p.values(); ++v) all.push_back(v);
    const Rows expected = RunProgram(p, model, 1, 1024, all);
    for (const std::vector<float>& rows : expected) {
      for (const float x : rows) ASSERT_TRUE(std::isfinite(x)) << "seed " << seed;
    }
    const std::string name = "seed " + std::to_string(seed);
    for (const uint32_t tile_rows : {1u, 2u, 5u, 16u, 0u}) {
      for (const uint32_t workers : {1u, 3u}) {
        ExpectSame(RunProgram(p, model, workers, tile_rows, {}), expected, name + " tile " + std::to_string(tile_rows));
      }
    }
    ExpectSame(RunProgram(p, model, 2, 3, {all[seed % all.size()]}), expected, name + " one kept");
    ExpectSame(RunProgram(p, model, 2, 2, all), expected, name + " all kept");
  }
}

TEST(Plan, PhasesFollowWhatStepsRead) {
  for (uint32_t seed = 1; seed <= 150; ++seed) {
    RandomProgram p(seed);
    const TestModel model(p.b.Blob());
    EXPECT_LE(Phases(model), p.operations());
    for (uint32_t i = 0; i < p.operations(); ++i) {
      const fovea_step_info step = Step(model, i);
      EXPECT_LT(step.phase, Phases(model));
      for (uint32_t k = 0; k < step.input_count; ++k) {
        uint32_t input = 0;
        ASSERT_EQ(fovea_program_get_step_input(model.model, 0, i, k, &input), FOVEA_OK);
        if (input < p.inputs) continue;
        const fovea_step_info producer = Step(model, input - p.inputs);
        if (input - p.inputs == p.select) {
          EXPECT_LT(producer.phase, step.phase);
        }
        const uint32_t code = p.b.content().programs[0].operations[i].code;
        const bool whole = FindOp(code)->whole.Has(k);
        const uint32_t maker = p.b.content().programs[0].operations[input - p.inputs].code;
        const bool barrier = whole || FindOp(maker)->unit != Unit::kRows;
        EXPECT_LE(producer.phase + (barrier ? 1 : 0), step.phase) << "seed " << seed << " step " << i << " input " << k;
        if (producer.tile_local != 0) {
          EXPECT_EQ(producer.phase, step.phase);
        }
      }
      // Choosing rows is a separate phase, before everything in the space of the chosen rows.
      if (p.select == kBlobNone || i == p.select) continue;
      const fovea_step_info select = Step(model, p.select);
      EXPECT_EQ(select.tile_local, 0u);
      EXPECT_NE(step.phase, select.phase);
      if (p.b.content().programs[0].values[step.output].space == p.chosen) {
        EXPECT_LT(select.phase, step.phase) << "seed " << seed << " step " << i;
      }
    }
  }
}

}  // namespace
}  // namespace fovea::test
