// Descriptions with spaces that are derived from other spaces, converted and run by the tools.
#include <gtest/gtest.h>
#include <string.h>

#include <cmath>

#include "tests/convert/graph_support.h"
#include "tests/support/by_name.h"
#include "tools/convert/constants.h"
#include "tools/convert/convert.h"
#include "tools/measure/operation_work.h"
#include "tools/measure/synthetic_batch.h"
#include "tools/tensors/padded_inputs.h"
#include "tools/tensors/padded_outputs.h"

namespace fovea::tools {
namespace {

// Pictures of 4 pixels in columns; the brightest column of each is doubled.
Json Pictures() {
  return Json::parse(R"({
    "fovea": 1,
    "spaces": [
      {"name": "images"},
      {"name": "pixels", "parent": "images", "each": 4},
      {"name": "columns", "parent": "images", "each": 2},
      {"name": "bright", "selects": "columns", "at_most": 1},
      {"name": "half", "strides": "pixels", "by": 2}
    ],
    "constants": [
      {"name": "table", "indices": [[0, 2], [1, -1]]},
      {"name": "w", "values": [1, 1], "reshape": [1, 2]}
    ],
    "programs": [{
      "name": "main",
      "inputs": [{"name": "x", "space": "pixels", "width": 1}],
      "operations": [
        {"op": "arrange", "in": ["x"], "tensors": ["table"], "out": "column"},
        {"op": "linear", "in": ["column"], "tensors": ["w"], "out": "sum"},
        {"op": "select", "in": ["sum"], "out": "rows", "kind": "best"},
        {"op": "gather", "in": ["column", "rows"], "out": "best"},
        {"op": "scale", "in": ["best"], "out": "twice", "scale": 2},
        {"op": "merge", "in": ["column", "twice", "rows"], "out": "merged"},
        {"op": "unfold", "in": ["x"], "space": "half", "before": 1, "out": "pairs"},
        {"op": "pool", "in": ["x"], "space": "half", "kind": "max", "out": "most"}
      ],
      "outputs": ["rows", "merged", "pairs", "most"]
    }]
  })");
}

// A description's blob, in aligned memory.
struct Converted {
  explicit Converted(const Json& json, DType weights = DType::kF32) {
    ConvertOptions options;
    options.weights = weights;
    const std::vector<uint8_t> bytes = BuildBlob(ParseGraph(json.dump(), ".", "graph"), options, report);
    memory = Allocate(bytes.size());
    memcpy(memory.get(), bytes.data(), bytes.size());
    model = std::make_unique<Model>(memory.get(), bytes.size(), "pictures", Model::Options{});
  }
  ConvertReport report;
  Memory memory;
  std::unique_ptr<Model> model;
};

TEST(Spaces, RunAsDescribed) {
  const Converted converted(Pictures());
  const Model& model = *converted.model;
  const float pixels[] = {1, 2, 3, 4, 5, -1, -9, 0};
  const StoredTensor x = {ElementType::kF32, {2, 4}, reinterpret_cast<const uint8_t*>(pixels), sizeof(pixels)};
  const Batch batch = BatchFromTensors(model, 0, {{"x", x}});
  SessionRequest request;
  request.keep = {*model.FindValue(0, "best")};
  Session session = SessionFor(model, batch, request);
  const std::vector<double> before = OperationFlops(model, session);  // nothing is known of selected rows
  EXPECT_EQ(before[3], 0);
  session.Run();
  EXPECT_GT(OperationFlops(model, session)[3], 0);
  const auto padded = [&](const char* name) {
    return PaddedValue(model, session, batch, *model.FindValue(0, name), name);
  };
  EXPECT_EQ(padded("rows").shape, (std::vector<uint64_t>{2, 1, 1}));
  EXPECT_EQ(padded("rows").values, (std::vector<float>{0, 3}));
  EXPECT_EQ(padded("best").values, (std::vector<float>{1, 3, -1, 0}));
  EXPECT_EQ(padded("merged").values, (std::vector<float>{2, 6, 2, 0, 5, -9, -2, 0}));
  EXPECT_EQ(padded("pairs").shape, (std::vector<uint64_t>{2, 2, 2}));
  EXPECT_EQ(padded("pairs").values, (std::vector<float>{0, 1, 2, 3, 0, 5, -1, -9}));
  EXPECT_EQ(padded("most").values, (std::vector<float>{2, 4, 5, 0}));
  // Pictures of another size.
  const StoredTensor wrong = {ElementType::kF32, {4, 2}, x.data, x.bytes};
  EXPECT_THROW(BatchFromTensors(model, 0, {{"x", wrong}}), Failure);
}

// Compared with itself in f32 on numbers from a fixed sequence; indices stay what they are.
TEST(Spaces, ConvertToIntegers) {
  Json json = Pictures();
  json["constants"][1] = {{"name", "w"}, {"values", {1, 0.5}}, {"reshape", {1, 2}}};
  const Converted converted(json, DType::kI8);
  ASSERT_EQ(converted.report.outputs.size(), 4u);
  for (const OutputReport& output : converted.report.outputs) EXPECT_GT(output.lowest_cosine, 0.99) << output.name;
  for (const TensorReport& tensor : converted.report.tensors) {
    EXPECT_EQ(tensor.type, tensor.name == "table" ? DType::kI32 : DType::kI8) << tensor.name;
    EXPECT_FALSE(tensor.fell_back);
  }
}

// Marks of the caller instead of scores: the first row of each text in a synthetic batch.
TEST(Spaces, MarksAreInputs) {
  const Converted converted(Json::parse(R"({
    "fovea": 1,
    "spaces": [{"name": "texts"}, {"name": "tokens", "parent": "texts"}, {"name": "globals", "selects": "tokens"}],
    "programs": [{
      "name": "main",
      "inputs": [{"name": "marks", "space": "tokens", "type": "i32"}, {"name": "x", "space": "tokens", "width": 2}],
      "operations": [
        {"op": "select", "in": ["marks"], "out": "rows", "kind": "nonzero"},
        {"op": "gather", "in": ["x", "rows"], "out": "y"}
      ],
      "outputs": ["y", "rows"]
    }]
  })"));
  const Model& model = *converted.model;
  const Batch batch = SyntheticBatch(model, 0, {3, 1, 5});
  Session session = SessionFor(model, batch);
  session.Run();
  EXPECT_EQ(session.Output(*model.FindValue(0, "rows")).values, (std::vector<float>{0, 3, 4}));
}

TEST(Spaces, MistakesAreNamedWithTheirPlace) {
  ExpectRefused(
      Pictures(),
      {
          {"/spaces/1/parent", "\"\"", "space pixels: \"each\" is 4, but it has no parent"},
          {"/spaces/1/each", "2000000", "space pixels: 2000000 rows are more than"},
          {"/spaces/3/selects", "\"rows\"", "space bright: there is no space rows"},
          {"/spaces/3/parent", "\"images\"",
           "space bright: it selects columns, so its parent must be that space's parent"},
          {"/spaces/3/strides", "\"pixels\"", "space bright: it strides pixels and cannot have another kind as well"},
          {"/spaces/4/by", "1", "space half: it strides pixels by 1 rows, but must by at least 2"},
          {"/spaces/4/parent", "\"bright\"",
           "space half: it strides pixels, so its parent must be that space's parent"},
          {"/spaces/2/by", "1", "space columns: \"by\" needs \"extends\" or \"strides\""},
          {"/spaces/2/at_most", "1", "space columns: \"at_most\" needs \"selects\""},
          {"/constants/0/indices", "[[0, 2], [1]]", "constant table: indices must be a list of lists of one length"},
          {"/constants/0/indices", "[[0, 2], [1, -2]]", "constant table: -2 is not a row index"},
          {"/constants/0/indices", "[[0, 2], [1, 0.5]]", "constant table: 0.5 is not a row index"},
          {"/constants/0/indices", "[]", "constant table: 0 values"},
          {"/constants/0/indices", "[[0, 2]]",
           "operation 0 (arrange -> column): tensor table: table must have a row for each row of the output"},
          {"/programs/0/inputs/0/space", "\"half\"",
           "input and output must share a parent space, with fixed segments below it"},
          {"/programs/0/operations/0/tensors", "[\"w\"]", "tensor w: table must be i32"},
          {"/programs/0/operations/1/tensors", "[\"table\"]", "weight cannot be i32"},
          {"/programs/0/operations/2/in", "[\"column\"]", "input must be f32 or i32 of width 1: expected 1, found 2"},
          {"/programs/0/operations/2/kind", "\"largest\"", "kind must be one of nonzero, threshold, best, first"},
          {"/programs/0/operations/2/kind", "\"threshold\"", "threshold is missing"},
          {"/programs/0/operations/2/threshold", "1", "only kind threshold has a threshold"},
          {"/programs/0/operations/2/in", "[\"x\"]", "output's space must be selected from the input's"},
          {"/programs/0/operations/3/in", "[\"x\", \"rows\"]",
           "indices must come from select or expand over the rows' space"},
          {"/programs/0/operations/3/in", "[\"column\", \"sum\"]",
           "indices must come from select or expand over the rows' space"},
          {"/programs/0/operations/4/in", "[\"rows\"]", "input must be f32 (rows i32"},
          {"/programs/0/operations/5/in", "[\"column\", \"sum\", \"rows\"]",
           "inputs have different widths: expected 2, found 1"},
          {"/programs/0/operations/6/space", "\"columns\"",
           "output's space must be the input's, or made from it by strides"},
          {"/programs/0/operations/6/before", "-1", "before must be a whole number"},
          {"/programs/0/operations/7/space", "\"bright\"",
           "output's space must be the parent of the input's, or made from it by strides"},
      });
}

// Pixels of a picture as the rows of its two windows, each a separate segment, and back.
TEST(Spaces, WindowsOfPictures) {
  Json json = Pictures();
  json["spaces"].push_back({{"name", "windows"}, {"parent", "images"}, {"each", 2}});
  json["spaces"].push_back({{"name", "rows"}, {"parent", "windows"}, {"each", 2}});
  json["constants"].push_back(Json::parse(R"({"name": "into", "indices": [[0], [2], [1], [3]]})"));
  Json& program = json["programs"][0];
  program["operations"] = Json::parse(R"([
    {"op": "arrange", "in": ["x"], "tensors": ["into"], "space": "rows", "out": "windowed"},
    {"op": "pool", "in": ["windowed"], "kind": "max", "out": "most"},
    {"op": "arrange", "in": ["windowed"], "tensors": ["into"], "space": "pixels", "out": "back"}])");
  program["outputs"] = {"most", "back"};
  const std::vector<BlobSpace> spaces = ResolveJson(json).content.spaces;
  const std::vector<BlobValue> values = ResolveJson(json).content.programs.at(0).values;
  EXPECT_EQ(spaces[test::ByName(values, "windowed").space].name, "rows");
  EXPECT_EQ(spaces[test::ByName(values, "most").space].name, "windows");
  program["operations"][0]["space"] = "columns";
  EXPECT_NE(Refusal(json).find("table must have a row for each row of the output"), std::string::npos) << Refusal(json);
  program["operations"][0].erase("space");
  EXPECT_NE(Refusal(json).find("spaces pixels, rows fit the result"), std::string::npos) << Refusal(json);
}

// Sentences of documents scored by their words against a question; the best one read again, with its words only.
Json Readers() {
  return Json::parse(R"({
    "fovea": 1,
    "spaces": [
      {"name": "documents"},
      {"name": "sentences", "parent": "documents"},
      {"name": "words", "parent": "sentences"},
      {"name": "questions", "parent": "documents"},
      {"name": "best", "selects": "sentences", "at_most": 1},
      {"name": "words of best", "selects": "words", "parent": "best"},
      {"name": "pairs", "strides": "words of best", "by": 2},
      {"name": "slots", "parent": "best", "each": 2}
    ],
    "constants": [
      {"name": "table", "values": [0, 10, 1, 11, 2, 12, 3, 13], "reshape": [4, 2]},
      {"name": "row", "values": [100, -100]},
      {"name": "idf", "values": [1, 1, 0.5, 2]}
    ],
    "programs": [{
      "name": "main",
      "inputs": [
        {"name": "ids", "space": "words", "type": "i32"},
        {"name": "question", "space": "questions", "type": "i32"}
      ],
      "operations": [
        {"op": "lexical", "in": ["ids", "question"], "tensors": ["idf"], "out": "scores", "b": 0},
        {"op": "select", "in": ["scores"], "out": "chosen", "kind": "best"},
        {"op": "expand", "in": ["chosen"], "out": "rows"},
        {"op": "gather", "in": ["ids", "rows"], "out": "words"},
        {"op": "embed", "in": ["words"], "tensors": ["table"], "out": "x"},
        {"op": "pool", "in": ["x"], "kind": "max", "out": "most"},
        {"op": "fill", "tensors": ["row"], "space": "best", "out": "constant"},
        {"op": "broadcast", "in": ["constant", "x"], "rows": "last", "combine": "add", "out": "marked"},
        {"op": "broadcast", "in": ["most"], "space": "slots", "out": "copies"},
        {"op": "gather", "in": ["scores", "chosen"], "out": "score"},
        {"op": "gate", "in": ["score", "most"], "activation": "none", "out": "gated"},
        {"op": "activate", "in": ["score"], "activation": "log_sigmoid", "out": "log"},
        {"op": "pool", "in": ["x"], "space": "pairs", "kind": "first", "out": "firsts"}
      ],
      "outputs": ["chosen", "marked", "copies", "gated", "log", "firsts"]
    }]
  })");
}

TEST(Spaces, ChildrenOfSelectedRowsRunAsDescribed) {
  const Converted converted(Readers());
  const Model& model = *converted.model;
  SessionRequest request;
  const auto space = [&](const char* name) { return test::SpaceNamed(model, name); };
  request.limits = {{space("documents"), 2, 0}, {space("sentences"), 5, 0}, {space("words"), 12, 0}};
  request.limits.push_back({space("questions"), 3, 0});
  Session session(model, request);
  session.SetSegments(space("sentences"), {3, 2});
  session.SetSegments(space("words"), {2, 3, 1, 4, 2});
  session.SetSegments(space("questions"), {2, 1});
  session.SetInput(*model.FindValue(0, "ids"), std::vector<int32_t>{0, 1, 3, 2, 3, 2, 0, 0, 1, 0, 2, 0});
  session.SetInput(*model.FindValue(0, "question"), std::vector<int32_t>{3, 2, 2});
  session.Run();
  const auto values = [&](const char* name) { return session.Output(*model.FindValue(0, name)).values; };
  using Floats = std::vector<float>;
  EXPECT_EQ(values("chosen"), (Floats{1, 4}));
  EXPECT_EQ(values("marked"), (Floats{3, 13, 2, 12, 103, -87, 2, 12, 100, -90}));
  EXPECT_EQ(values("copies"), (Floats{3, 13, 3, 13, 2, 12, 2, 12}));
  EXPECT_EQ(values("firsts"), (Floats{3, 13, 3, 13, 2, 12}));
  // Twice the third word and once the second: weight * count * 2.2 / (count + 1.2).
  const float scores[] = {2 * 2 * 2.2f / 3.2f + 0.5f, 0.5f};
  const Floats gated = values("gated"), log = values("log");
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(gated[2 * i + 1], scores[i] * (13.0f - static_cast<float>(i)), 1e-5);
    EXPECT_NEAR(log[i], -std::log1p(std::exp(-scores[i])), 1e-6);
  }
}

TEST(Spaces, MistakesBelowSelectedRows) {
  ExpectRefused(
      Readers(),
      {
          {"/spaces/5/at_most", "3", "it selects all of words in the rows of best; leave out \"at_most\""},
          {"/spaces/5/parent", "\"documents\"",
           "it selects words, so its parent must be that space's parent or a space that selects"},
          {"/spaces/5/selects", "\"questions\"",
           "it selects questions, so its parent must be that space's parent or a space that selects"},
          {"/spaces/7/each", "0", "space slots: it has parent best, whose rows are selected during a run"},
          {"/programs/0/inputs/1/space", "\"slots\"",
           "an input cannot be in space slots, whose rows are selected during a run"},
          {"/programs/0/inputs/1/space", "\"words\"",
           "output must be in the parent space of ids and share its parent with query"},
          {"/programs/0/operations/0/in", "[\"ids\", \"ids\"]",
           "output must be in the parent space of ids and share its parent with query"},
          {"/programs/0/operations/0/kind", "\"cosine\"", "kind must be one of bm25, tfidf"},
          {"/programs/0/operations/0/kind", "\"tfidf\"", "only kind bm25 has k1 and b"},
          {"/programs/0/operations/0/tensors", "[\"table\"]",
           "tensor table: tensor has the wrong number of rows: expected 1, found 4"},
          {"/programs/0/operations/1/space", "\"words of best\"", "output's space must be selected from the input's"},
          {"/programs/0/operations/2/in", "[\"question\"]",
           "indices must come from select or expand over the rows' space"},
          {"/programs/0/operations/2/space", "\"best\"", "output's space must be a selected child of the indices'"},
          {"/programs/0/operations/3/in", "[\"question\", \"rows\"]",
           "indices must come from select or expand over the rows' space"},
          {"/programs/0/operations/4/in", "[\"rows\"]", "ids must be an input of the program or gathered from one"},
          {"/programs/0/operations/6/space", "\"nowhere\"", "there is no space nowhere"},
          {"/programs/0/operations/6/tensors", "[\"table\"]",
           "tensor table: tensor has the wrong number of rows: expected 1, found 4"},
          {"/programs/0/operations/7/rows", "\"middle\"", "rows must be one of all, first, last"},
          {"/programs/0/operations/7/combine", "\"multiply\"", "combine must be one of replace, add"},
          {"/programs/0/operations/7/in", "[\"x\", \"constant\"]",
           "output's space must be a child of the first input's"},
          {"/programs/0/operations/8/rows", "\"last\"", "without x, rows must be all and combine must be replace"},
          {"/programs/0/operations/8/space", "\"documents\"", "output's space must be a child of the first input's"},
          {"/programs/0/operations/10/in", "[\"x\", \"most\"]", "inputs must be in one space"},
      });
}

// Strides that keep rows apart at the front of a segment and drop rows at its end, and the way back.
TEST(Spaces, StridesWithEnds) {
  Json json = Json::parse(R"({
    "fovea": 1,
    "spaces": [
      {"name": "texts"},
      {"name": "tokens", "parent": "texts"},
      {"name": "half", "strides": "tokens", "by": 2, "first": 1, "last": 1},
      {"name": "quarter", "strides": "half", "by": 2, "first": 1, "last": 1}
    ],
    "programs": [{
      "name": "main",
      "inputs": [{"name": "x", "space": "tokens", "width": 1}],
      "operations": [
        {"op": "pool", "in": ["x"], "space": "half", "kind": "max", "out": "pooled"},
        {"op": "pool", "in": ["pooled"], "space": "quarter", "kind": "max", "out": "once_more"},
        {"op": "attention", "in": ["once_more", "pooled", "pooled"], "out": "y", "heads": 1, "apart": 1,
         "query_stride": 2},
        {"op": "upsample", "in": ["once_more"], "space": "tokens", "out": "back"},
        {"op": "upsample", "in": ["pooled"], "out": "half_back"}
      ],
      "outputs": ["pooled", "once_more", "y", "back", "half_back"]
    }]
  })");
  const Converted converted(json);
  const Model& model = *converted.model;
  const float numbers[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const StoredTensor x = {ElementType::kF32, {1, 9}, reinterpret_cast<const uint8_t*>(numbers), sizeof(numbers)};
  const Batch batch = BatchFromTensors(model, 0, {{"x", x}});
  Session session = SessionFor(model, batch);
  session.Run();
  const auto rows = [&](const char* name) { return session.Output(*model.FindValue(0, name)).values; };
  EXPECT_EQ(rows("pooled"), (std::vector<float>{1, 3, 5, 7, 8}));
  EXPECT_EQ(rows("once_more"), (std::vector<float>{1, 5, 7}));
  EXPECT_EQ(rows("back"), (std::vector<float>{1, 5, 5, 5, 5, 7, 7, 7, 7}));
  EXPECT_EQ(rows("half_back"), (std::vector<float>{1, 3, 3, 5, 5, 7, 7, 8, 8}));

  ExpectRefused(
      json,
      {
          {"/spaces/2/first", "70000", "more than 65535 rows at the ends"},
          {"/spaces/2/last", "65536", "more than 65535 rows at the ends"},
          {"/spaces/1/first", "1", "\"first\" and \"last\" need \"strides\""},
          {"/spaces/0/last", "1", "\"first\" and \"last\" need \"strides\""},
          {"/programs/0/operations/3/space", "\"texts\"", "input's space must be made from the output's by strides"},
          {"/programs/0/operations/3/space", "\"\"", "spaces tokens, half fit the result"},
          {"/spaces/3/first", "0", "input's space must be made from the output's by strides"},
          {"/programs/0/operations/4/in", "[\"x\"]", "input's space must be made from the output's by strides"},
          {"/programs/0/operations/4/kind", "\"max\"", "upsample has no attribute kind"},
          {"/programs/0/operations/2/apart", "-1", "apart must be a whole number"},
      });
}

TEST(Constants, TablesOfIndices) {
  const Constant table = Indices(2, 3, {0, 1, 2, -1, 4, 5});
  EXPECT_TRUE(table.indices);
  EXPECT_TRUE(Transpose(table).indices);
  EXPECT_TRUE(Slice(table, {0, 1}).indices);
  EXPECT_TRUE(Reshape(table, 3, 2).indices);
  EXPECT_TRUE(Concatenate({table, table}).indices);
  EXPECT_FALSE(Scale(table, 2).indices);
  EXPECT_THROW(Concatenate({table, Literal(1, 3, {1, 2, 3})}), Failure);
  EXPECT_THROW(Indices(1, 2, {0, -2}), Failure);
  BlobTensor tensor;
  tensor.type = DType::kI32;
  tensor.rows = 2;
  tensor.width = 3;
  EncodeTensor(table.load(), tensor);
  EXPECT_EQ(DecodeTensor(tensor), table.load());
  EXPECT_THROW(EncodeTensor({0, 1, 2, 0.5f, 4, 5}, tensor), Failure);
}

}  // namespace
}  // namespace fovea::tools
