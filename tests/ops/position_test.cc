// Positions: added table rows, rotary pairs, and rows put in front.
#include "runtime/blob/attributes.h"
#include "tests/ops/op_fixture.h"

namespace fovea::test {
namespace {

template <typename F>  // f(row, position in its segment)
void ForEachRow(const Lengths& lengths, F f) {
  uint32_t row = 0;
  for (const uint32_t length : lengths) {
    for (uint32_t position = 0; position < length; ++position) f(row++, position);
  }
}

uint32_t Longest(const Lengths& lengths) {
  return lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
}

TEST(Position, AddsRowsOfTheTable) {
  for (const uint32_t width : {1u, 12u, 33u}) {
    for (const uint32_t offset : {0u, 2u}) {
      for (const Lengths& lengths : RaggedLengths()) {
        ModelBuilder b;
        const TextSpaces s(b);
        const uint32_t x = b.Input("x", s.tokens, width);
        const uint32_t rows = std::max(Longest(lengths), 1u) + offset;  // not one too many
        const uint32_t table = b.RandomTensor(rows, width);
        const uint32_t y = b.Op("position", {x}, {table}, s.tokens, width, {{Attribute::kOffset, offset}});
        const std::vector<float> xs = b.RandomFloats(size_t{Total(lengths)} * width), t = b.TensorValues(table);
        const std::vector<float> found = RunTiled(b, {{{s.tokens, lengths}}, {{x, xs}}, {}}, y);
        ForEachRow(lengths, [&](uint32_t row, uint32_t position) {
          for (uint32_t i = 0; i < width; ++i) {
            ASSERT_EQ(found[size_t{row} * width + i], xs[size_t{row} * width + i] + t[(offset + position) * width + i]);
          }
        });
      }
    }
  }
}

// Without a table the row is the position itself.
TEST(Position, AsNumbers) {
  for (const Lengths& lengths : RaggedLengths()) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t x = b.Input("x", s.tokens, 1);
    const uint32_t y = b.Op("position", {x}, {}, s.tokens, 1, {{Attribute::kOffset, 7}});
    const std::vector<float> xs = b.RandomFloats(Total(lengths));
    const std::vector<float> found = RunTiled(b, {{{s.tokens, lengths}}, {{x, xs}}, {}}, y);
    ForEachRow(lengths, [&](uint32_t row, uint32_t position) {
      ASSERT_EQ(found[row], xs[row] + static_cast<float>(7 + position));
    });
  }
}

// The table bounds the segments of its space; the bound of an extended space also holds for its source.
TEST(Position, BoundsSegments) {
  for (const std::string_view op : {"position", "rotate"}) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t longer = b.ExtendedSpace("longer", s.tokens, 2);
    const uint32_t x = b.Input("x", s.tokens, 4);
    const uint32_t y = b.Op("prepend", {x}, {b.RandomTensor(2, 4)}, longer, 4);
    Attributes attributes = {{Attribute::kOffset, 1}};
    if (op == "rotate") attributes.push_back({Attribute::kHeads, 1});
    const uint32_t z = b.Op(op, {y}, {b.RandomTensor(8, 4)}, longer, 4, attributes);
    b.SetOutput(z);
    const TestModel model(b.Blob());
    fovea_space_info info = Sized<fovea_space_info>();
    ASSERT_EQ(fovea_model_get_space(model.model, longer, &info), FOVEA_OK);
    EXPECT_EQ(info.max_segment_rows, 7u);
    ASSERT_EQ(fovea_model_get_space(model.model, s.tokens, &info), FOVEA_OK);
    EXPECT_EQ(info.max_segment_rows, 5u);
    const std::vector<fovea_limit> limits = {{s.texts, 2, 0}, {s.tokens, 20, 0}};
    TestSession session(model, Options(limits));
    fovea_error error = {};
    const uint32_t good[] = {5, 5}, bad[] = {5, 6};
    EXPECT_EQ(fovea_session_set_segments(session.session, s.tokens, bad, 2, &error), FOVEA_E_LENGTH);
    EXPECT_EQ(error.index, 1u);
    EXPECT_EQ(error.expected, 5u);
    ASSERT_EQ(fovea_session_set_segments(session.session, s.tokens, good, 2, &error), FOVEA_OK);
    session.SetInput(x, b.RandomFloats(10 * 4));
    session.Run();
  }
}

// The rows of a root space follow from its children; they also need positions.
TEST(Position, BoundsRowsOfTheRootSpace) {
  ModelBuilder b;
  const TextSpaces s(b);
  const uint32_t x = b.Input("x", s.tokens, 4);
  const uint32_t y = b.Op("pool", {x}, {}, s.texts, 4);
  const uint32_t z = b.Op("position", {y}, {b.RandomTensor(3, 4)}, s.texts, 4);
  b.SetOutput(z);
  const TestModel model(b.Blob());
  const std::vector<fovea_limit> limits = {{s.texts, 8, 0}, {s.tokens, 20, 0}};
  TestSession session(model, Options(limits));
  fovea_error error = {};
  const uint32_t lengths[] = {1, 1, 1, 1};
  EXPECT_EQ(fovea_session_set_segments(session.session, s.tokens, lengths, 4, &error), FOVEA_E_LENGTH);
  EXPECT_EQ(error.index, 4u);  // after the lengths: none of them is too long
  EXPECT_EQ(error.expected, 3u);
  EXPECT_EQ(error.found, 4u);
  ASSERT_EQ(fovea_session_set_segments(session.session, s.tokens, lengths, 3, &error), FOVEA_OK);
  session.SetInput(x, b.RandomFloats(3 * 4));
  session.Run();
}

TEST(Position, ShapeRules) {
  struct Try {
    const char* what;
    fovea_status status;
    uint32_t width;
    DType type;
    bool other_space;
    std::function<std::vector<uint32_t>(ModelBuilder&)> tensors;
    Attributes attributes;
  };
  const auto table = [](uint32_t rows, uint32_t width, DType type = DType::kF32) {
    return [=](ModelBuilder& b) { return std::vector<uint32_t>{b.RandomTensor(rows, width, type)}; };
  };
  const auto absent = [](ModelBuilder&) { return std::vector<uint32_t>{kBlobNone}; };
  const auto run = [](std::string_view op, const Try& t) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t x = b.Input("x", s.tokens, t.width, t.type);
    b.Op(op, {x}, t.tensors(b), t.other_space ? s.texts : s.tokens, 8, t.attributes);
    ExpectStatus(b, t.status, t.what);
  };
  for (const Try& t :
       {Try{"fine", FOVEA_OK, 8, DType::kF32, false, table(4, 8), {{Attribute::kOffset, 3}}},
        {"width", FOVEA_E_SHAPE, 7, DType::kF32, false, table(4, 8), {}},
        {"type", FOVEA_E_SHAPE, 8, DType::kI32, false, table(4, 8), {}},
        {"space", FOVEA_E_SHAPE, 8, DType::kF32, true, table(4, 8), {}},
        {"table width", FOVEA_E_SHAPE, 8, DType::kF32, false, table(4, 9), {}},
        {"table type", FOVEA_E_SHAPE, 8, DType::kF32, false, table(4, 8, DType::kF16), {}},
        {"offset", FOVEA_E_SHAPE, 8, DType::kF32, false, table(4, 8), {{Attribute::kOffset, 4}}},
        {"offset", FOVEA_E_SHAPE, 8, DType::kF32, false, table(4, 8), {{Attribute::kOffset, 4294967295.0}}},
        {"absent", FOVEA_E_SHAPE, 8, DType::kF32, false, absent, {}},
        {"attribute", FOVEA_E_OP, 8, DType::kF32, false, table(4, 8), {{Attribute::kHeads, 1}}}}) {
    run("position", t);
  }
  const auto heads = [](double h, double offset = 0) {
    return Attributes{{Attribute::kHeads, h}, {Attribute::kOffset, offset}};
  };
  for (const Try& t : {Try{"fine", FOVEA_OK, 8, DType::kF32, false, table(4, 4), heads(2, 3)},
                       {"partial", FOVEA_OK, 8, DType::kF32, false, table(4, 2), heads(2)},
                       {"width", FOVEA_E_SHAPE, 7, DType::kF32, false, table(4, 4), heads(2)},
                       {"type", FOVEA_E_SHAPE, 8, DType::kI32, false, table(4, 4), heads(2)},
                       {"space", FOVEA_E_SHAPE, 8, DType::kF32, true, table(4, 4), heads(2)},
                       {"no heads", FOVEA_E_SHAPE, 8, DType::kF32, false, table(4, 4), {}},
                       {"zero heads", FOVEA_E_SHAPE, 8, DType::kF32, false, table(4, 4), heads(0)},
                       {"heads", FOVEA_E_SHAPE, 8, DType::kF32, false, table(4, 2), heads(3)},
                       {"many heads", FOVEA_E_SHAPE, 8, DType::kF32, false, table(4, 2), heads(4294967295.0)},
                       {"odd table", FOVEA_E_SHAPE, 8, DType::kF32, false, table(4, 3), heads(2)},
                       {"wide table", FOVEA_E_SHAPE, 8, DType::kF32, false, table(4, 6), heads(2)},
                       {"table type", FOVEA_E_SHAPE, 8, DType::kF32, false, table(4, 4, DType::kI8), heads(2)},
                       {"offset", FOVEA_E_SHAPE, 8, DType::kF32, false, table(4, 4), heads(2, 4)},
                       {"absent", FOVEA_E_RECORD, 8, DType::kF32, false, absent, heads(2)},
                       {"interleaved",
                        FOVEA_E_OP,
                        8,
                        DType::kF32,
                        false,
                        table(4, 4),
                        {{Attribute::kHeads, 2}, {Attribute::kInterleaved, 2}}},
                       {"attribute", FOVEA_E_OP, 8, DType::kF32, false, table(4, 4), {{Attribute::kKind, 1}}}}) {
    run("rotate", t);
  }
}

// A table shorter than the rows that every segment of an extended space has is refused.
TEST(Position, TableShorterThanAnEmptySegment) {
  for (const std::string_view op : {"position", "rotate"}) {
    for (const uint32_t rows : {1u, 2u, 4u, 5u, 6u}) {
      ModelBuilder b;
      const TextSpaces s(b);
      const uint32_t first = b.ExtendedSpace("first", s.tokens, 3), second = b.ExtendedSpace("second", first, 2);
      const uint32_t x = b.Input("x", second, 4);
      b.SetOutput(b.Op(op, {x}, {b.RandomTensor(rows, 4)}, second, 4,
                       op == "rotate" ? Attributes{{Attribute::kHeads, 1}} : Attributes{}));
      if (rows >= 5) {
        ExpectAccepted(b, "long enough");
      } else {
        ExpectRefused(b, FOVEA_E_SHAPE, "too short");
      }
    }
  }
}

// Two products and a sum, each rounded: 4e-7 of the largest entry.
TEST(Rotate, PairsDimensionsAndOffset) {
  struct Case {
    uint32_t heads, size, dims, offset;
  };
  for (const Case c : {Case{1, 2, 2, 0}, {2, 8, 8, 0}, {3, 10, 6, 2}, {1, 33, 32, 1}, {4, 16, 16, 0}, {5, 7, 2, 0}}) {
    for (const uint32_t interleaved : {0u, 1u}) {
      const Lengths& lengths = RaggedLengths()[0];
      ModelBuilder b;
      const TextSpaces s(b);
      const uint32_t width = c.heads * c.size;
      const uint32_t x = b.Input("x", s.tokens, width);
      const uint32_t table = b.RandomTensor(Longest(lengths) + c.offset, c.dims, DType::kF32, 1);
      const uint32_t y =
          b.Op("rotate", {x}, {table}, s.tokens, width,
               {{Attribute::kHeads, c.heads}, {Attribute::kInterleaved, interleaved}, {Attribute::kOffset, c.offset}});
      const std::vector<float> xs = b.RandomFloats(size_t{26} * width), t = b.TensorValues(table);
      const std::vector<float> found = RunTiled(b, {{{s.tokens, lengths}}, {{x, xs}}, {}}, y);
      std::vector<double> expected(xs.begin(), xs.end());
      ForEachRow(lengths, [&](uint32_t row, uint32_t position) {
        const float* angles = &t[(c.offset + position) * c.dims];
        for (uint32_t head = 0; head < c.heads; ++head) {
          const size_t at = size_t{row} * width + head * c.size;
          for (uint32_t i = 0; i < c.dims / 2; ++i) {
            const size_t p = at + (interleaved ? 2 * i : i), q = at + (interleaved ? 2 * i + 1 : i + c.dims / 2);
            const double cosine = angles[i], sine = angles[c.dims / 2 + i];
            expected[p] = xs[p] * cosine - xs[q] * sine;
            expected[q] = xs[q] * cosine + xs[p] * sine;
          }
        }
      });
      ExpectClose(found, expected, 4e-7, 0);
    }
  }
}

// Positions from an input, ids or numbers, in any order, for rows of any length.
TEST(Rotate, PositionsOfAnInput) {
  const uint32_t heads = 2, size = 6, dims = 4, offset = 2, most = 9;
  for (const auto& [table, numbers] : {std::pair(false, false), {true, false}, {false, true}, {true, true}}) {
    const Lengths& lengths = RaggedLengths()[0];
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t x = b.Input("x", s.tokens, heads * size),
                   at = b.Input("positions", s.tokens, 1, numbers ? DType::kF32 : DType::kI32);
    const uint32_t angles =
        table ? b.RandomTensor(most + offset, dims, DType::kF32, 1) : b.RandomTensor(1, dims / 2, DType::kF32, 1);
    const uint32_t y =
        b.Op("rotate", {x, at}, table ? std::vector<uint32_t>{angles} : std::vector<uint32_t>{kBlobNone, angles},
             s.tokens, heads * size, {{Attribute::kHeads, heads}, {Attribute::kOffset, offset}});
    const std::vector<float> xs = b.RandomFloats(size_t{26} * heads * size), t = b.TensorValues(angles);
    std::vector<int32_t> ids(26);
    for (uint32_t r = 0; r < 26; ++r) ids[r] = static_cast<int32_t>(r * 5 % most) * (table ? 1 : -3);
    std::vector<double> expected(xs.begin(), xs.end());
    for (uint32_t row = 0; row < 26; ++row) {
      for (uint32_t k = row * heads * size; k < (row + 1) * heads * size; k += size) {
        for (uint32_t i = 0; i < dims / 2; ++i) {
          const int32_t position = ids[row] + static_cast<int32_t>(offset);
          const float* turn = table ? &t[static_cast<uint32_t>(position) * dims] : nullptr;
          const double cosine = table ? turn[i] : std::cos(double{t[i]} * position);
          const double sine = table ? turn[dims / 2 + i] : std::sin(double{t[i]} * position);
          expected[k + i] = xs[k + i] * cosine - xs[k + i + dims / 2] * sine;
          expected[k + i + dims / 2] = xs[k + i + dims / 2] * cosine + xs[k + i] * sine;
        }
      }
    }
    // A number is rounded to the nearest position, in a table to its nearest row.
    std::vector<float> near(ids.begin(), ids.end());
    for (size_t row = 0; row < near.size(); ++row) {
      near[row] += row % 2 == 0 ? 0.25f : -0.25f;
      if (table && ids[row] == 0) near[row] = row % 3 == 0 ? NAN : -1e9f;
      if (table && ids[row] == static_cast<int32_t>(most) - 1) near[row] = INFINITY;
    }
    Feed feed = {{{s.tokens, lengths}}, {{x, xs}}, {}};
    if (numbers) {
      feed.floats.push_back({at, near});
    } else {
      feed.ids = {{at, ids}};
    }
    ExpectClose(RunTiled(b, feed, y), expected, 2e-6, 0);
    if (numbers) continue;
    // A table limits positions, frequencies do not. Segments may be longer than a table.
    b.SetOutput(y);
    const TestModel model(b.Blob());
    EXPECT_EQ(model.model == nullptr, false);
    const std::vector<fovea_limit> limits = {{s.texts, 1, 0}, {s.tokens, 40, 0}};
    TestSession session(model, Options(limits));
    session.SetSegments(s.tokens, {20});
    session.SetInput(x, b.RandomFloats(20 * heads * size));
    std::vector<int32_t> twenty(20, 1);
    twenty[13] = static_cast<int32_t>(most);
    session.SetInput(at, twenty);
    fovea_error error = {};
    EXPECT_EQ(fovea_session_run(session.session, &error), table ? FOVEA_E_ID : FOVEA_OK);
    if (table) {
      EXPECT_EQ(error.index, 13u);
      EXPECT_EQ(error.expected, most);
    }
  }
}

TEST(Rotate, RefusesPositionsThatAreNone) {
  const auto refuses = [](const char* why, uint32_t width, DType type, bool other_space) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t x = b.Input("x", s.tokens, 8), at = b.Input("at", other_space ? s.texts : s.tokens, width, type);
    b.SetOutput(b.Op("rotate", {x, at}, {b.RandomTensor(4, 4)}, s.tokens, 8, {{Attribute::kHeads, 2}}));
    ExpectRefused(b, FOVEA_E_SHAPE, why);
  };
  refuses("two columns", 2, DType::kI32, false);
  refuses("two columns", 2, DType::kF32, false);
  refuses("another space", 1, DType::kI32, true);
}

struct Angles {
  uint32_t short_up_to;  // 0: all texts are short
  double stretch;        // 0: long texts have separate frequencies
};

// Cosines and sines of position * frequency in place of a table's.
TEST(Rotate, Frequencies) {
  const uint32_t heads = 2, size = 10, dims = 8, offset = 3;
  for (const Angles& c : {Angles{0, 0}, {4, 0}, {4, 2.5}}) {
    const Lengths& lengths = RaggedLengths()[0];
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t x = b.Input("x", s.tokens, heads * size);
    const uint32_t frequencies = b.RandomTensor(1, dims / 2, DType::kF32, 1);
    std::vector<uint32_t> tensors = {kBlobNone, frequencies};
    Attributes attributes = {{Attribute::kHeads, heads}, {Attribute::kOffset, offset}, {Attribute::kScale, 1.5}};
    if (c.short_up_to != 0) attributes.push_back({Attribute::kShortUpTo, c.short_up_to});
    if (c.stretch != 0) attributes.push_back({Attribute::kStretch, c.stretch});
    if (c.short_up_to != 0 && c.stretch == 0) tensors.push_back(b.RandomTensor(1, dims / 2, DType::kF32, 1));
    const uint32_t y = b.Op("rotate", {x}, tensors, s.tokens, heads * size, attributes);
    const std::vector<float> xs = b.RandomFloats(size_t{26} * heads * size), usual = b.TensorValues(frequencies);
    const std::vector<float> found = RunTiled(b, {{{s.tokens, lengths}}, {{x, xs}}, {}}, y);
    std::vector<double> expected(xs.begin(), xs.end());
    uint32_t row = 0;
    for (const uint32_t length : lengths) {
      const bool is_long = c.short_up_to != 0 && length > c.short_up_to;
      const std::vector<float> own = is_long && c.stretch == 0 ? b.TensorValues(tensors.back()) : usual;
      const double growth = is_long && c.stretch != 0 ? c.stretch * length / c.short_up_to - (c.stretch - 1) : 1;
      for (uint32_t position = 0; position < length; ++position, ++row) {
        for (uint32_t at = row * heads * size; at < (row + 1) * heads * size; at += size) {
          for (uint32_t i = 0; i < dims / 2; ++i) {
            const double angle = (offset + position) * (own[i] * std::pow(growth, -2.0 * i / (dims - 2)));
            const double cosine = 1.5 * std::cos(angle), sine = 1.5 * std::sin(angle);
            expected[at + i] = xs[at + i] * cosine - xs[at + i + dims / 2] * sine;
            expected[at + i + dims / 2] = xs[at + i + dims / 2] * cosine + xs[at + i] * sine;
          }
        }
      }
    }
    ExpectClose(found, expected, 2e-6, 0);
  }
}

TEST(Rotate, RefusesFrequenciesThatDoNotFit) {
  const auto refuses = [](const char* why, fovea_status status, std::vector<int> widths, Attributes attributes) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t x = b.Input("x", s.tokens, 8);
    std::vector<uint32_t> tensors;
    for (const int width : widths) {
      tensors.push_back(width == 0 ? kBlobNone : b.RandomTensor(1, static_cast<uint32_t>(width)));
    }
    attributes.push_back({Attribute::kHeads, 2});
    b.SetOutput(b.Op("rotate", {x}, tensors, s.tokens, 8, attributes));
    ExpectRefused(b, status, why);
  };
  refuses("both", FOVEA_E_RECORD, {4, 2}, {});
  refuses("wide", FOVEA_E_SHAPE, {0, 3}, {});
  refuses("unlike", FOVEA_E_SHAPE, {0, 2, 1}, {{Attribute::kShortUpTo, 4}});
  refuses("no length", FOVEA_E_RECORD, {0, 2, 2}, {});
  refuses("nothing for long ones", FOVEA_E_RECORD, {0, 2}, {{Attribute::kShortUpTo, 4}});
  refuses("two for long ones", FOVEA_E_RECORD, {0, 2, 2}, {{Attribute::kShortUpTo, 4}, {Attribute::kStretch, 2.0}});
  refuses("shrinks", FOVEA_E_RECORD, {0, 2}, {{Attribute::kShortUpTo, 4}, {Attribute::kStretch, 0.5}});
  refuses("one pair", FOVEA_E_RECORD, {0, 1}, {{Attribute::kShortUpTo, 4}, {Attribute::kStretch, 2.0}});
  refuses("from nothing", FOVEA_E_RECORD, {0, 2}, {{Attribute::kShortUpTo, 0}, {Attribute::kStretch, 2.0}});
  refuses("scaled table", FOVEA_E_RECORD, {4}, {{Attribute::kScale, 2.0}});
}

TEST(Prepend, PutsRowsInFrontAtEveryTileBoundary) {
  for (const uint32_t extra : {1u, 3u}) {
    for (const uint32_t width : {1u, 9u}) {
      for (const Lengths& lengths : RaggedLengths()) {
        ModelBuilder b;
        const TextSpaces s(b);
        const uint32_t longer = b.ExtendedSpace("longer", s.tokens, extra);
        const uint32_t x = b.Input("x", s.tokens, width);
        const uint32_t rows = b.RandomTensor(extra, width);
        const uint32_t y = b.Op("prepend", {x}, {rows}, longer, width);
        b.SetOutput(y);
        const std::vector<float> xs = b.RandomFloats(size_t{Total(lengths)} * width), front = b.TensorValues(rows);
        std::vector<float> expected;
        size_t begin = 0;
        for (const uint32_t length : lengths) {
          expected.insert(expected.end(), front.begin(), front.end());
          expected.insert(expected.end(), xs.begin() + begin * width, xs.begin() + (begin + length) * width);
          begin += length;
        }
        const Feed feed = {{{s.tokens, lengths}}, {{x, xs}}, {}};
        const TestModel model(b.Blob());
        const std::vector<fovea_limit> limits = LimitsOf(b, feed);
        for (uint32_t tile = 1; tile <= expected.size() / width + 1; ++tile) {
          ASSERT_EQ(RunWith(model, Options(limits, 1, tile), feed, y), expected) << "tile " << tile;
        }
      }
    }
  }
}

// Puts rows of a picture before the rows of a text.
TEST(Prepend, PutsTheSegmentOfAnotherSpaceInFront) {
  for (const uint32_t extra : {1u, 5u}) {
    for (const uint32_t width : {1u, 9u}) {
      for (const Lengths& lengths : RaggedLengths()) {
        ModelBuilder b;
        const TextSpaces s(b);
        const uint32_t longer = b.ExtendedSpace("longer", s.tokens, extra);
        const uint32_t picture = b.FixedSpace("picture", s.texts, extra);
        const uint32_t x = b.Input("x", s.tokens, width), front = b.Input("front", picture, width);
        const uint32_t y = b.Op("prepend", {x, front}, {}, longer, width);
        const std::vector<float> xs = b.RandomFloats(size_t{Total(lengths)} * width);
        const std::vector<float> fs = b.RandomFloats(lengths.size() * extra * width);
        std::vector<double> expected;
        size_t begin = 0;
        for (size_t i = 0; i < lengths.size(); ++i) {
          expected.insert(expected.end(), fs.begin() + i * extra * width, fs.begin() + (i + 1) * extra * width);
          expected.insert(expected.end(), xs.begin() + begin * width, xs.begin() + (begin + lengths[i]) * width);
          begin += lengths[i];
        }
        ExpectClose(RunTiled(b, {{{s.tokens, lengths}}, {{x, xs}, {front, fs}}, {}}, y), expected, 0, 0);
      }
    }
  }
}

TEST(Prepend, ChecksWhatIsPutInFront) {
  const auto expect = [](fovea_status status, const char* what, uint32_t rows, uint32_t width, bool beside, bool both) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t longer = b.ExtendedSpace("longer", s.tokens, 2), other = b.Space("other");
    const uint32_t front = b.Input("front", b.FixedSpace("picture", beside ? s.texts : other, rows), width);
    std::vector<uint32_t> tensors;
    if (both) tensors.push_back(b.RandomTensor(2, 4));
    b.Op("prepend", {b.Input("x", s.tokens, 4), front}, tensors, longer, 4);
    ExpectStatus(b, status, what);
  };
  expect(FOVEA_OK, "fine", 2, 4, true, false);
  expect(FOVEA_E_SHAPE, "rows", 3, 4, true, false);
  expect(FOVEA_E_SHAPE, "width", 2, 5, true, false);
  expect(FOVEA_E_SHAPE, "another parent", 2, 4, false, false);
  expect(FOVEA_E_RECORD, "rows twice", 2, 4, true, true);
  ModelBuilder b;
  const TextSpaces s(b);
  b.Op("prepend", {b.Input("x", s.tokens, 4)}, {}, b.ExtendedSpace("longer", s.tokens, 2), 4);
  ExpectStatus(b, FOVEA_E_RECORD, "no rows");
}

// An extended space of an extended space, and attention over it.
TEST(Prepend, Twice) {
  ModelBuilder b;
  const TextSpaces s(b);
  const uint32_t first = b.ExtendedSpace("first", s.tokens, 1), second = b.ExtendedSpace("second", first, 2);
  const uint32_t x = b.Input("x", s.tokens, 3);
  const uint32_t one = b.RandomTensor(1, 3), two = b.RandomTensor(2, 3);
  const uint32_t y = b.Op("prepend", {x}, {one}, first, 3);
  const uint32_t z = b.Op("prepend", {y}, {two}, second, 3);
  const uint32_t last = b.Op("pool", {z}, {}, s.texts, 3, {{Attribute::kKind, 1}});
  b.SetOutput(last);
  const std::vector<float> xs = b.RandomFloats(3 * 3);
  const Feed feed = {{{s.tokens, {2, 0, 1}}}, {{x, xs}}, {}};
  const std::vector<float> found = RunTiled(b, feed, z), o = b.TensorValues(one), t = b.TensorValues(two);
  std::vector<float> expected;
  const auto append = [&expected](std::vector<float>::const_iterator from, int rows) {
    expected.insert(expected.end(), from, from + rows * 3);
  };
  for (int segment = 0; segment < 3; ++segment) {
    append(t.begin(), 2);
    append(o.begin(), 1);
    if (segment == 0) append(xs.begin(), 2);
    if (segment == 2) append(xs.begin() + 6, 1);
  }
  EXPECT_EQ(found, expected);
  std::vector<float> lasts(xs.begin() + 3, xs.begin() + 6);
  lasts.insert(lasts.end(), o.begin(), o.end());
  lasts.insert(lasts.end(), xs.begin() + 6, xs.end());
  EXPECT_EQ(RunTiled(b, feed, last), lasts);
}

// A root space may also be extended; it has a row for each segment of its children, also when that number changes.
TEST(Prepend, ToTheRootSpaceFollowsItsRows) {
  ModelBuilder b;
  const TextSpaces s(b);
  const uint32_t longer = b.ExtendedSpace("longer", s.texts, 1);
  const uint32_t x = b.Input("x", s.tokens, 3);
  const uint32_t front = b.RandomTensor(1, 3);
  const uint32_t pooled = b.Op("pool", {x}, {}, s.texts, 3);
  const uint32_t y = b.Op("prepend", {pooled}, {front}, longer, 3);
  b.SetOutput(y);
  const TestModel model(b.Blob());
  const std::vector<fovea_limit> limits = {{s.texts, 6, 0}, {s.tokens, 6, 0}};
  TestSession session(model, Options(limits));
  for (const uint32_t count : {2u, 6u, 1u}) {
    const std::vector<float> xs = b.RandomFloats(size_t{count} * 3);
    session.SetSegments(s.tokens, Lengths(count, 1));
    session.SetInput(x, xs);
    session.Run();
    std::vector<float> expected = b.TensorValues(front);
    expected.insert(expected.end(), xs.begin(), xs.end());
    EXPECT_EQ(session.Output(y), expected);
  }
}

// The rows of an extended root space follow from its source; its own children must agree.
TEST(Prepend, ChildrenOfAnExtendedRootMustAgree) {
  ModelBuilder b;
  const uint32_t root = b.Space("root"), longer = b.ExtendedSpace("longer", root, 1),
                 leaves = b.Space("leaves", longer);
  const uint32_t x = b.Input("x", root, 2), z = b.Input("z", leaves, 2);
  const uint32_t y = b.Op("prepend", {x}, {b.RandomTensor(1, 2)}, longer, 2);
  b.SetOutput(b.Op("add", {y, b.Op("pool", {z}, {}, longer, 2)}, {}, longer, 2));
  const TestModel model(b.Blob());
  const std::vector<fovea_limit> limits = {{root, 4, 0}, {leaves, 9, 0}};
  TestSession session(model, Options(limits));
  fovea_error error = {};
  session.SetSegments(root, {3});
  session.SetSegments(leaves, {1, 1, 1});
  EXPECT_EQ(fovea_session_run(session.session, &error), FOVEA_E_SEGMENTS);
  session.SetSegments(leaves, {1, 1, 1, 1});
  EXPECT_EQ(fovea_session_run(session.session, &error), FOVEA_OK) << error.text;
}

TEST(Prepend, ShapeRules) {
  const auto refused = [](const char* what, fovea_status status, int in, int out, uint32_t width, DType type,
                          uint32_t rows, uint32_t tensor_width, DType tensor_type, const Attributes& attributes) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t spaces[] = {s.texts, s.tokens, b.ExtendedSpace("a", s.tokens, 2), b.ExtendedSpace("b", 2, 2)};
    const uint32_t x = b.Input("x", spaces[in], width, type);
    b.Op("prepend", {x}, {rows == 0 ? kBlobNone : b.RandomTensor(rows, tensor_width, tensor_type)}, spaces[out], 8,
         attributes);
    ExpectStatus(b, status, what);
  };
  const DType f = DType::kF32;
  refused("fine", FOVEA_OK, 1, 2, 8, f, 2, 8, f, {});
  refused("fine", FOVEA_OK, 2, 3, 8, f, 2, 8, f, {});
  refused("same space", FOVEA_E_SHAPE, 1, 1, 8, f, 2, 8, f, {});
  refused("not its source", FOVEA_E_SHAPE, 1, 3, 8, f, 2, 8, f, {});
  refused("backwards", FOVEA_E_SHAPE, 2, 1, 8, f, 2, 8, f, {});
  refused("width", FOVEA_E_SHAPE, 1, 2, 7, f, 2, 8, f, {});
  refused("type", FOVEA_E_SHAPE, 1, 2, 8, DType::kI32, 2, 8, f, {});
  refused("rows", FOVEA_E_SHAPE, 1, 2, 8, f, 1, 8, f, {});
  refused("rows", FOVEA_E_SHAPE, 1, 2, 8, f, 3, 8, f, {});
  refused("rows' width", FOVEA_E_SHAPE, 1, 2, 8, f, 2, 9, f, {});
  refused("rows' type", FOVEA_E_SHAPE, 1, 2, 8, f, 2, 8, DType::kF16, {});
  refused("no rows", FOVEA_E_RECORD, 1, 2, 8, f, 0, 8, f, {});
  refused("attribute", FOVEA_E_OP, 1, 2, 8, f, 2, 8, f, {{Attribute::kKind, 0}});
}

}  // namespace
}  // namespace fovea::test
