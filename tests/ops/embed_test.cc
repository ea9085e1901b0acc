// Embeddings: sums of rows of several tables of every type.
#include "runtime/blob/attributes.h"
#include "tests/ops/op_fixture.h"
#include "tests/support/combinations.h"

namespace fovea::test {
namespace {

const DType kTypes[] = {DType::kF32, DType::kF16, DType::kI8, DType::kI4};

struct TablesCase {
  uint32_t width;
  double scale;
  Lengths lengths;
};

TEST(Embed, SumsTablesOfEveryType) {
  const std::vector<uint32_t> widths = {32, 96, 37};
  for (const TablesCase& c : Combinations<TablesCase>(widths, std::vector{1.0, std::sqrt(96.0)}, RaggedLengths())) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t rows[] = {50, 3, 1, 20};
    std::vector<uint32_t> inputs, tables;
    Feed feed = {{{s.tokens, c.lengths}}, {}, {}};
    for (uint32_t i = 0; i < 4; ++i) {
      if (kTypes[i] == DType::kI4 && c.width % 32 != 0) continue;
      inputs.push_back(b.Input("ids" + std::to_string(i), s.tokens, 1, DType::kI32));
      tables.push_back(b.RandomTensor(rows[i], c.width, kTypes[i], 1));
      std::vector<int32_t> ids = RandomIds(Total(c.lengths), rows[i], i);
      if (!ids.empty()) ids.back() = static_cast<int32_t>(rows[i] - 1);
      feed.ids.push_back({inputs.back(), ids});
    }
    const uint32_t y = b.Op("embed", inputs, tables, s.tokens, c.width, {{Attribute::kScale, c.scale}});
    std::vector<double> expected(size_t{Total(c.lengths)} * c.width);
    for (size_t t = 0; t < tables.size(); ++t) {
      const std::vector<float> values = b.TensorValues(tables[t]);
      for (size_t i = 0; i < expected.size(); ++i) {
        expected[i] += values[static_cast<size_t>(feed.ids[t].second[i / c.width]) * c.width + i % c.width];
      }
    }
    for (double& sum : expected) sum *= static_cast<float>(c.scale);
    ExpectClose(RunTiled(b, feed, y), expected, 5e-7, 0);  // a rounding for each table
  }
}

// Each type alone, and one table read twice by different ids.
TEST(Embed, OneTableIsExact) {
  for (const DType type : kTypes) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t ids = b.Input("ids", s.tokens, 1, DType::kI32);
    const uint32_t table = b.RandomTensor(40, 64, type, 1);
    const uint32_t y = b.Op("embed", {ids}, {table}, s.tokens, 64);
    const std::vector<int32_t> chosen = RandomIds(26, 40, 9);
    const std::vector<float> found = RunTiled(b, {{{s.tokens, RaggedLengths()[0]}}, {}, {{ids, chosen}}}, y);
    const std::vector<float> values = b.TensorValues(table);
    for (size_t i = 0; i < found.size(); ++i) {
      ASSERT_EQ(found[i], values[static_cast<size_t>(chosen[i / 64]) * 64 + i % 64])
          << "type " << static_cast<int>(type);
    }
  }
  ModelBuilder b;
  const TextSpaces s(b);
  const uint32_t first = b.Input("first", s.tokens, 1, DType::kI32),
                 second = b.Input("second", s.tokens, 1, DType::kI32);
  const uint32_t table = b.RandomTensor(4, 8);
  const uint32_t y = b.Op("embed", {first, second}, {table, table}, s.tokens, 8);
  const std::vector<float> t = b.TensorValues(table);
  const std::vector<float> found = RunTiled(b, {{{s.tokens, {2}}}, {}, {{first, {0, 3}}, {second, {1, 3}}}}, y);
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(found[i], t[i] + t[8 + i]);
    EXPECT_EQ(found[8 + i], t[24 + i] + t[24 + i]);
  }
}

// The smallest of the tables that an input indexes limits its ids.
TEST(Embed, IdsAreBelowTheSmallestTable) {
  ModelBuilder b;
  const TextSpaces s(b);
  const uint32_t ids = b.Input("ids", s.tokens, 1, DType::kI32);
  const uint32_t y = b.Op("embed", {ids, ids}, {b.RandomTensor(40, 8), b.RandomTensor(12, 8)}, s.tokens, 8);
  b.SetOutput(y);
  const TestModel model(b.Blob());
  fovea_value_info info = Sized<fovea_value_info>();
  ASSERT_EQ(fovea_program_get_value(model.model, 0, ids, &info), FOVEA_OK);
  EXPECT_EQ(info.id_limit, 12u);
  const std::vector<fovea_limit> limits = {{s.tokens, 4, 0}, {s.texts, 1, 0}};
  TestSession session(model, Options(limits));
  session.SetSegments(s.tokens, {4});
  fovea_error error = {};
  session.SetInput<int32_t>(ids, {0, 11, 5, 11});
  EXPECT_EQ(fovea_session_run(session.session, &error), FOVEA_OK);
  for (const int32_t bad : {12, 40, -1, INT32_MIN, INT32_MAX}) {
    session.SetInput<int32_t>(ids, {0, 11, bad, 11});
    EXPECT_EQ(fovea_session_run(session.session, &error), FOVEA_E_ID);
    EXPECT_EQ(error.tensor, ids);
    EXPECT_EQ(error.index, 2u);
    EXPECT_EQ(error.expected, 12u);
  }
}

TEST(Embed, ShapeRules) {
  struct Try {
    const char* what;
    fovea_status status;
    uint32_t ids_width;
    DType ids_type;
    bool other_space;
    std::function<std::vector<uint32_t>(ModelBuilder&)> tensors;
    Attributes attributes;
  };
  const auto table = [](uint32_t width) {
    return [=](ModelBuilder& b) { return std::vector<uint32_t>{b.RandomTensor(5, width)}; };
  };
  const auto i32 = [](ModelBuilder& b) {
    const uint32_t t = b.RandomTensor(5, 8);
    b.content().tensors[t].type = DType::kI32;
    return std::vector<uint32_t>{t};
  };
  const Try tries[] = {
      {"fine", FOVEA_OK, 1, DType::kI32, false, table(8), {}},
      {"ids f32", FOVEA_E_SHAPE, 1, DType::kF32, false, table(8), {}},
      {"ids wide", FOVEA_E_SHAPE, 2, DType::kI32, false, table(8), {}},
      {"space", FOVEA_E_SHAPE, 1, DType::kI32, true, table(8), {}},
      {"table width", FOVEA_E_SHAPE, 1, DType::kI32, false, table(9), {}},
      {"table type", FOVEA_E_SHAPE, 1, DType::kI32, false, i32, {}},
      {"no table",
       FOVEA_E_RECORD,
       1,
       DType::kI32,
       false,
       [](ModelBuilder&) { return std::vector<uint32_t>{kBlobNone}; },
       {}},
      {"no tensors", FOVEA_E_RECORD, 1, DType::kI32, false, [](ModelBuilder&) { return std::vector<uint32_t>(); }, {}},
      {"two tables",
       FOVEA_E_RECORD,
       1,
       DType::kI32,
       false,
       [](ModelBuilder& b) {
         return std::vector<uint32_t>{b.RandomTensor(5, 8), b.RandomTensor(5, 8)};
       },
       {}},
      {"scale", FOVEA_E_RECORD, 1, DType::kI32, false, table(8), {{Attribute::kScale, -INFINITY}}},
      {"attribute", FOVEA_E_OP, 1, DType::kI32, false, table(8), {{Attribute::kOffset, 0}}},
  };
  for (const Try& t : tries) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t ids = b.Input("ids", s.tokens, t.ids_width, t.ids_type);
    b.Op("embed", {ids}, t.tensors(b), t.other_space ? s.texts : s.tokens, 8, t.attributes);
    ExpectStatus(b, t.status, t.what);
  }
}

}  // namespace
}  // namespace fovea::test
