// Values of other types: results of a cast, the layout of its rows, and attention over such keys and values.
#include "runtime/blob/attributes.h"
#include "tests/ops/op_fixture.h"
#include "tests/support/cast_rows.h"
#include "tests/support/combinations.h"

namespace fovea::test {
namespace {

const DType kTypes[] = {DType::kF16, DType::kBf16, DType::kI8};

uint32_t Cast(ModelBuilder& b, uint32_t x, uint32_t space, uint32_t width, DType type, uint32_t heads) {
  return b.Op("cast", {x}, {}, space, width,
              {{Attribute::kType, static_cast<uint32_t>(type)}, {Attribute::kHeads, heads}});
}

// Row `row` of a view as floats.
std::vector<float> RowOf(const fovea_view& view, uint32_t row, uint32_t heads) {
  const uint8_t* bytes = static_cast<const uint8_t*>(view.data) + size_t{row} * view.row_bytes;
  std::vector<float> numbers(view.width);
  for (uint32_t i = 0; i < view.width; ++i) {
    if (view.type == FOVEA_TYPE_I8) {
      float scale;
      memcpy(&scale, bytes + i / (view.width / heads) * sizeof(float), sizeof(float));
      numbers[i] = scale * static_cast<float>(static_cast<int8_t>(bytes[heads * sizeof(float) + i]));
    } else {
      uint16_t half;
      memcpy(&half, bytes + i * sizeof(half), sizeof(half));
      numbers[i] = view.type == FOVEA_TYPE_F16 ? tools::FromHalf(half) : tools::FromBf16(half);
    }
  }
  return numbers;
}

struct Part {
  uint32_t width, heads;
};
struct CastCase {
  DType type;
  Part part;
  bool kept;  // as a request of the session, instead of an output of the program
  uint32_t tile_rows;
};

// Rows of the view are numbers of `xs` as the type rounds them, and the bytes behind each row are zeros.
void ExpectRows(const CastCase& c, const fovea_view& view, const std::vector<float>& xs) {
  const auto& [width, heads] = c.part;
  const std::vector<float> expected = CastRows(xs, c.type, width / heads);
  for (uint32_t row = 0; row < view.rows; ++row) {
    const std::vector<float> found = RowOf(view, row, heads);
    ASSERT_TRUE(std::equal(found.begin(), found.end(), expected.begin() + size_t{row} * width)) << row;
    const auto* bytes = static_cast<const uint8_t*>(view.data) + size_t{row} * view.row_bytes;
    const size_t used = c.type == DType::kI8 ? 4 * heads + width : 2 * width;
    for (size_t i = used; i < view.row_bytes; ++i) ASSERT_EQ(bytes[i], 0u) << row;
  }
}

TEST(Cast, OutputsAndKeptValuesHaveTheirType) {
  const std::vector<Part> parts = {{1, 1}, {12, 4}, {15, 3}, {64, 2}};
  for (const CastCase& c : Combinations<CastCase>(kTypes, parts, kOffAndOn, std::vector{1u, 5u, 0u})) {
    const auto& [width, heads] = c.part;
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t x = b.Input("x", s.tokens, width);
    const uint32_t y = Cast(b, x, s.tokens, width, c.type, heads);
    b.SetOutput(b.Op("pool", {x}, {}, s.texts, width));
    if (!c.kept) b.SetOutput(y);
    const TestModel model(b.Blob());
    const std::vector<fovea_limit> limits = {{s.texts, 3, 0}, {s.tokens, 21, 0}};
    fovea_session_options options = Options(limits, 2, c.tile_rows);
    options.keep = &y;
    options.keep_count = 1;
    TestSession session(model, options);
    session.SetSegments(s.tokens, {4, 0, 17});
    const std::vector<float> xs = b.RandomFloats(size_t{21} * width);
    session.SetInput(x, xs);
    session.Run();
    fovea_view view = {};
    ASSERT_EQ(fovea_session_get_output(session.session, y, &view, nullptr), FOVEA_OK);
    EXPECT_EQ(view.type, static_cast<uint32_t>(c.type));
    ASSERT_EQ(view.rows, 21u);
    EXPECT_EQ(view.width, width);
    EXPECT_EQ(view.row_bytes, c.type == DType::kI8 ? (4 * heads + width + 3) / 4 * 4 : 2 * width);
    if (c.type == DType::kI8) {
      EXPECT_EQ((view.row_bytes - view.width) / 4, heads);
    }
    ASSERT_NO_FATAL_FAILURE(ExpectRows(c, view, xs));
  }
}

// Softmax attention of rows of one text over `keys` keys, in doubles.
std::vector<double> Dense(const std::vector<float>& q, const std::vector<float>& k, const std::vector<float>& v,
                          uint32_t heads, uint32_t kv_heads, uint32_t d_k, uint32_t d_v) {
  const size_t queries = q.size() / heads / d_k, keys = k.size() / kv_heads / d_k;
  std::vector<double> out;
  for (size_t row = 0; row < queries * heads; ++row) {
    const size_t kv_head = row % heads / (heads / kv_heads);
    std::vector<double> weights(keys);
    double sum = 0;
    for (size_t key = 0; key < keys; ++key) {
      double score = 0;
      for (size_t i = 0; i < d_k; ++i) score += double{q[row * d_k + i]} * k[(key * kv_heads + kv_head) * d_k + i];
      sum += weights[key] = std::exp(score / std::sqrt(double{1} * d_k));
    }
    for (size_t i = 0; i < d_v; ++i) {
      double o = 0;
      for (size_t key = 0; key < keys; ++key) o += weights[key] * v[(key * kv_heads + kv_head) * d_v + i];
      out.push_back(keys == 0 ? 0 : o / sum);
    }
  }
  return out;
}

// Only keys and values are rounded: the tolerance is the one for f32.
TEST(Cast, AttentionReadsCastKeysAndValues) {
  struct Shape {
    uint32_t heads, kv_heads, d_k, d_v;
  };
  for (const DType type : kTypes) {
    for (const Shape& c : {Shape{1, 1, 1, 1}, Shape{2, 2, 8, 8}, Shape{4, 2, 7, 5}, Shape{6, 3, 33, 17}}) {
      for (const bool cross : {false, true}) {
        ModelBuilder b;
        const TextSpaces s(b);
        const uint32_t others = cross ? b.Space("others", s.texts) : s.tokens;
        const uint32_t q = b.Input("q", others, c.heads * c.d_k), k = b.Input("k", s.tokens, c.kv_heads * c.d_k);
        const uint32_t v = b.Input("v", s.tokens, c.kv_heads * c.d_v);
        const uint32_t y =
            b.Op("attention",
                 {q, Cast(b, k, s.tokens, c.kv_heads * c.d_k, type, c.kv_heads),
                  Cast(b, v, s.tokens, c.kv_heads * c.d_v, type, c.kv_heads)},
                 {}, others, c.heads * c.d_v, {{Attribute::kHeads, c.heads}, {Attribute::kKvHeads, c.kv_heads}});
        const Lengths lengths = {3, 0, 70, 1}, other_lengths = {2, 5, 1, 0};
        const Lengths& queries = cross ? other_lengths : lengths;
        Feed feed = {{{s.tokens, lengths}}, {}, {}};
        if (cross) feed.segments.push_back({others, other_lengths});
        const std::vector<float> qs = b.RandomFloats(size_t{Total(queries)} * c.heads * c.d_k);
        const std::vector<float> ks = b.RandomFloats(size_t{Total(lengths)} * c.kv_heads * c.d_k);
        const std::vector<float> vs = b.RandomFloats(size_t{Total(lengths)} * c.kv_heads * c.d_v);
        feed.floats = {{q, qs}, {k, ks}, {v, vs}};
        const std::vector<float> rounded_k = CastRows(ks, type, c.d_k), rounded_v = CastRows(vs, type, c.d_v);
        std::vector<double> expected;
        const auto part = [](const std::vector<float>& rows, size_t first, size_t count, size_t width) {
          return std::vector<float>(rows.begin() + first * width, rows.begin() + (first + count) * width);
        };
        for (size_t i = 0, row = 0, key = 0; i < lengths.size(); row += queries[i], key += lengths[i], ++i) {
          const std::vector<double> text =
              Dense(part(qs, row, queries[i], c.heads * c.d_k), part(rounded_k, key, lengths[i], c.kv_heads * c.d_k),
                    part(rounded_v, key, lengths[i], c.kv_heads * c.d_v), c.heads, c.kv_heads, c.d_k, c.d_v);
          expected.insert(expected.end(), text.begin(), text.end());
        }
        ExpectClose(RunTiled(b, feed, y), expected, 3e-6, 1e-7);
      }
    }
  }
}

TEST(Cast, ShapeRules) {
  const auto refused = [](const char* what, fovea_status status, uint32_t type, double heads, DType made,
                          DType from = DType::kF32, uint32_t to = 12, bool other_space = false) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t x = b.Input("x", s.tokens, 12, from);
    const uint32_t y = b.Op("cast", {x}, {}, other_space ? s.texts : s.tokens, to,
                            {{Attribute::kType, type}, {Attribute::kHeads, heads}});
    b.content().programs[0].values[y].type = made;
    status == FOVEA_OK ? ExpectAccepted(b, what) : ExpectRefused(b, status, what);
  };
  refused("fine", FOVEA_OK, 2, 4, DType::kI8);
  refused("bf16", FOVEA_OK, 5, 1, DType::kBf16);
  refused("f32", FOVEA_E_OP, 0, 1, DType::kF32);
  refused("int4", FOVEA_E_OP, 3, 1, DType::kF32);
  refused("ids", FOVEA_E_OP, 4, 1, DType::kI32);
  refused("unknown", FOVEA_E_OP, 6, 1, DType::kF16);
  refused("another type", FOVEA_E_SHAPE, 1, 1, DType::kBf16);
  refused("not cast", FOVEA_E_SHAPE, 1, 1, DType::kF32);
  refused("no heads", FOVEA_E_SHAPE, 2, 0, DType::kI8);
  refused("heads", FOVEA_E_SHAPE, 2, 5, DType::kI8);
  refused("many heads", FOVEA_E_SHAPE, 2, 4294967295.0, DType::kI8);
  refused("from ids", FOVEA_E_SHAPE, 1, 1, DType::kF16, DType::kI32);
  refused("width", FOVEA_E_SHAPE, 1, 1, DType::kF16, DType::kF32, 6);
  refused("space", FOVEA_E_SHAPE, 1, 1, DType::kF16, DType::kF32, 12, true);
}

TEST(Cast, OnlyAttentionTakesThem) {
  const auto refused = [](const char* what, bool fine, auto add) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t x = b.Input("x", s.tokens, 12);
    add(b, s, x);
    fine ? ExpectAccepted(b, what) : ExpectRefused(b, FOVEA_E_SHAPE, what);
  };
  const auto attend = [](DType k, DType v, uint32_t k_heads, uint32_t v_heads) {
    return [=](ModelBuilder& b, const TextSpaces& s, uint32_t x) {
      const uint32_t keys = k == DType::kF32 ? x : Cast(b, x, s.tokens, 12, k, k_heads);
      const uint32_t values = v == DType::kF32 ? x : Cast(b, x, s.tokens, 12, v, v_heads);
      b.Op("attention", {x, keys, values}, {}, s.tokens, 12, {{Attribute::kHeads, 4}});
    };
  };
  refused("int8", true, attend(DType::kI8, DType::kI8, 4, 4));
  refused("f16 of one part", true, attend(DType::kF16, DType::kF16, 1, 1));
  refused("scales of keys", false, attend(DType::kI8, DType::kI8, 2, 4));
  refused("scales of values", false, attend(DType::kI8, DType::kI8, 4, 1));
  refused("two types", false, attend(DType::kF16, DType::kBf16, 4, 4));
  refused("cast keys, f32 values", false, attend(DType::kF16, DType::kF32, 4, 4));
  refused("queries", false, [](ModelBuilder& b, const TextSpaces& s, uint32_t x) {
    b.Op("attention", {Cast(b, x, s.tokens, 12, DType::kF16, 1), x, x}, {}, s.tokens, 12);
  });
  refused("cast twice", false, [](ModelBuilder& b, const TextSpaces& s, uint32_t x) {
    Cast(b, Cast(b, x, s.tokens, 12, DType::kF16, 1), s.tokens, 12, DType::kBf16, 1);
  });
  refused("pool", false, [](ModelBuilder& b, const TextSpaces& s, uint32_t x) {
    b.Op("pool", {Cast(b, x, s.tokens, 12, DType::kF16, 1)}, {}, s.texts, 12);
  });
  refused("add", false, [](ModelBuilder& b, const TextSpaces& s, uint32_t x) {
    b.Op("add", {x, Cast(b, x, s.tokens, 12, DType::kI8, 1)}, {}, s.tokens, 12);
  });
  // An input of such a type is read like a cast's output; no other operation has such an output.
  const auto read_by_add = [](DType type) {
    ModelBuilder b;
    const uint32_t rows = b.Space("rows");
    const uint32_t x = b.Input("x", rows, 4, DType::kF32), stored = b.Input("stored", rows, 4, type);
    b.SetOutput(b.Op("add", {x, stored}, {}, rows, 4));
    return ErrorOf(b).status;
  };
  EXPECT_EQ(read_by_add(DType::kF32), FOVEA_OK);
  EXPECT_EQ(read_by_add(DType::kF16), FOVEA_E_SHAPE);
  EXPECT_EQ(read_by_add(DType::kI8), FOVEA_E_SHAPE);  // into no parts
  refused("made by add", false, [](ModelBuilder& b, const TextSpaces& s, uint32_t x) {
    b.content().programs[0].values[b.Op("add", {x, x}, {}, s.tokens, 12)].type = DType::kF16;
  });
}

}  // namespace
}  // namespace fovea::test
