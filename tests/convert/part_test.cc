// Programs that are parts of another program: operations, weights, bits, and every mistake with its place.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/convert/graph_support.h"
#include "tests/support/by_name.h"
#include "tests/support/document_model.h"
#include "tests/support/model_builder.h"
#include "tools/convert/loaded_blob.h"
#include "tools/model/session.h"

namespace fovea::test {
namespace {

using tools::Json;
using tools::LoadedBlob;
using tools::Matrix;

// A chain with a side entrance: y = (a + b) + c, where a, b, c are made of x and z.
Json Chain() {
  return Json::parse(R"({
    "fovea": 1,
    "spaces": [{"name": "texts"}, {"name": "rows", "parent": "texts"},
               {"name": "chosen", "selects": "rows", "at_most": 2}],
    "constants": [{"name": "w", "values": [1, 0, 0, 1], "reshape": [2, 2]}],
    "programs": [{
      "name": "all",
      "inputs": [{"name": "x", "space": "rows", "width": 2}, {"name": "z", "space": "rows", "width": 2},
                 {"name": "mask", "space": "rows", "type": "i32"}],
      "operations": [
        {"op": "linear", "in": ["x"], "tensors": ["w"], "out": "a"},
        {"op": "linear", "in": ["z"], "tensors": ["w"], "out": "b"},
        {"op": "add", "in": ["a", "b"], "out": "ab"},
        {"alias": "joined", "of": "ab"},
        {"op": "linear", "in": ["z"], "tensors": ["w"], "out": "c"},
        {"op": "add", "in": ["ab", "c"], "out": "y"},
        {"op": "pool", "in": ["y"], "out": "mean", "kind": "mean"},
        {"op": "select", "in": ["mask"], "out": "indices", "kind": "nonzero"},
        {"op": "gather", "in": ["a", "indices"], "out": "taken"}
      ],
      "outputs": ["mean", "taken"]
    }]
  })");
}

Json WithPart(const char* part) {
  Json json = Chain();
  json["programs"].push_back(Json::parse(part));
  return json;
}

// "inputs -> operations' outputs, outputs in capitals"
std::string Sketch(const tools::BlobProgram& program) {
  std::string text;
  const size_t inputs = program.values.size() - program.operations.size();
  for (size_t i = 0; i < program.values.size(); ++i) {
    std::string name = program.values[i].name;
    if (i == inputs) text += " ->";
    EXPECT_EQ(program.values[i].role == ValueRole::kInput, i < inputs) << name;
    if (program.values[i].role == ValueRole::kOutput) std::transform(name.begin(), name.end(), name.begin(), toupper);
    text += " " + name;
    if (i < inputs) continue;
    const tools::BlobOperation& operation = program.operations[i - inputs];
    EXPECT_EQ(operation.output, i);
    for (const uint32_t input : operation.inputs) EXPECT_LT(input, i);
  }
  return text.substr(1);
}

TEST(Part, HasWhatItNeeds) {
  const struct {
    const char *keys, *sketch;
  } cases[] = {
      {R"("to": ["ab"])", "x z -> a b AB"},
      {R"("to": ["joined"])", "x z -> a b AB"},
      {R"("from": ["ab"], "to": ["mean"])", "ab z -> c y MEAN"},
      {R"("from": ["joined"], "to": ["y"])", "ab z -> c Y"},
      {R"("from": ["ab", "c"], "to": ["mean"])", "ab c -> y MEAN"},
      {R"("from": ["c", "ab"], "to": ["mean"])", "c ab -> y MEAN"},
      {R"("from": ["b"])", "b x z mask -> a ab c y MEAN indices TAKEN"},
      {R"("from": ["y"])", "y x mask -> a MEAN indices TAKEN"},
      {R"("to": ["a", "c"])", "x z -> A C"},
      {R"("to": ["mean", "y"])", "x z -> a b ab c Y MEAN"},
  };
  for (const auto& c : cases) {
    const Json json = WithPart(fmt::format(R"({{"name": "part", "of": "all", {}}})", c.keys).c_str());
    const tools::Resolved model = tools::ResolveJson(json);
    ASSERT_EQ(model.content.programs.size(), 2u);
    EXPECT_EQ(Sketch(model.content.programs[1]), c.sketch) << c.keys;
    EXPECT_EQ(model.is_part, (std::vector<bool>{false, true}));
  }
  Json parts = WithPart(R"({"name": "part", "of": "all", "to": ["y"]})");
  parts["programs"].push_back(Json::parse(R"({"name": "rest", "of": "part", "from": ["joined"]})"));
  EXPECT_EQ(Sketch(tools::ResolveJson(parts).content.programs[2]), "ab z -> c Y");
}

TEST(Part, MistakesAreNamedWithTheirPlace) {
  const struct {
    const char *part, *message;
  } cases[] = {
      {R"({"name": "part", "of": "al", "to": ["y"]})", "program part: there is no program al before this"},
      {R"({"name": "part", "of": "part", "to": ["y"]})", "program part: there is no program part before this"},
      {R"({"name": "part", "of": "", "to": ["y"]})", "program part: of must name"},
      {R"({"name": "part", "of": 3, "to": ["y"]})", "of must be a string"},
      {R"({"name": "all", "of": "all", "to": ["y"]})", "program all: the name is used twice"},
      {R"({"name": "part", "of": "all"})", "program part: it is the whole of all"},
      {R"({"name": "part", "of": "all", "to": ["yy"]})", "\"to\" names yy, which all does not have"},
      {R"({"name": "part", "of": "all", "from": ["yy"]})", "\"from\" names yy, which all does not have"},
      {R"({"name": "part", "of": "all", "from": ["x"]})", "\"from\" names x, an input of all"},
      {R"({"name": "part", "of": "all", "to": ["x"]})", "\"to\" names x, an input of all"},
      {R"({"name": "part", "of": "all", "from": ["y"], "to": ["ab"]})", "no operation of it needs y"},
      {R"({"name": "part", "of": "all", "from": ["y"], "to": ["y"]})", "both \"from\" and \"to\" name y"},
      {R"({"name": "part", "of": "all", "from": ["y", "y"]})", "\"from\" names y twice"},
      {R"({"name": "part", "of": "all", "from": ["indices"]})", "which does not hold f32 numbers"},
      {R"({"name": "part", "of": "all", "from": ["taken"], "to": ["taken"]})", "rows are selected by all itself"},
      {R"({"name": "part", "of": "all", "to": ["y"], "outputs": ["y"]})", "program part: outputs is not known here"},
      {R"({"name": "part", "of": "all", "to": "y"})", "to must be a list"},
  };
  for (const auto& c : cases) {
    const std::string said = tools::Refusal(WithPart(c.part));
    EXPECT_NE(said.find(c.message), std::string::npos) << c.part << ": " << said;
  }
}

// Values carried from run to run belong to one program.
TEST(Part, CarriesNothing) {
  Json json = WithPart(R"({"name": "part", "of": "all", "to": ["ab"]})");
  json["programs"][0]["inputs"][1]["carried"] = "y";
  json["programs"][0]["outputs"].push_back("y");
  EXPECT_NE(tools::Refusal(json).find("program part: it needs z, which is carried"), std::string::npos)
      << tools::Refusal(json);
  json["programs"][1]["to"] = {"a"};
  EXPECT_EQ(tools::Refusal(json), "nothing was refused");
}

TEST(Part, ExplanationsMustBeThere) {
  const auto refusal = [](const char* key, const char* step) {
    DocumentModel model({});
    model.json()["metadata"][key] = step;
    return tools::RefusalOf([&] { Resolve(model.Describe()); });
  };
  EXPECT_EQ(refusal("explain.tokens", "weigh.tokens"), "nothing was refused");
  EXPECT_EQ(refusal("explain.tokens", "tokens.layer.0.seen"), "nothing was refused");
  EXPECT_NE(refusal("explain.words", "weigh.tokens").find("metadata explain.words: there is no space words"),
            std::string::npos);
  EXPECT_NE(refusal("explain.tokens", "weigh").find("explain.tokens: there is no attention operation weigh"),
            std::string::npos);
  EXPECT_NE(refusal("explain.tokens", "words").find("no attention operation words"), std::string::npos);
  EXPECT_NE(refusal("explain.tokens", "weigh.sentences").find("attends to rows of sentences"), std::string::npos);
}

struct Sizes {
  fovea_model_info info;
  uint64_t model_bytes;
};
Sizes SizesOf(const std::vector<uint8_t>& blob) {
  const LoadedBlob loaded(blob, "test");
  return {loaded.model.Info(), loaded.model.memory_bytes()};
}

// Parts add records but no weights, neither in the blob nor packed in the model's memory.
TEST(Part, SharesWeights) {
  DocumentShape shape;
  shape.width = 64;
  for (const DType type : {DType::kF32, DType::kI8}) {
    const Sizes whole = SizesOf(DocumentModel(shape, false).Blob(type)),
                parts = SizesOf(DocumentModel(shape).Blob(type));
    EXPECT_EQ(parts.info.program_count, 3u);
    EXPECT_EQ(parts.info.weight_bytes, whole.info.weight_bytes);
    EXPECT_EQ(parts.info.packed_bytes, whole.info.packed_bytes);
    EXPECT_EQ(parts.info.linear_count, whole.info.linear_count);
    EXPECT_EQ(parts.info.tensor_count, whole.info.tensor_count);
    EXPECT_LT(parts.info.blob_bytes, whole.info.blob_bytes + 8192);
    EXPECT_LT(parts.model_bytes, whole.model_bytes + 16384);
  }
}

// A part does not prevent calibration of the whole program, and the weights are the same.
TEST(Part, IsCalibratedAsTheWhole) {
  tools::ConvertReport whole, parts;
  const std::vector<uint8_t> a = DocumentModel({}, false).Blob(DType::kI8, &whole),
                             b = DocumentModel({}).Blob(DType::kI8, &parts);
  EXPECT_GT(whole.calibrated.size(), 5u);
  ASSERT_EQ(parts.calibrated.size(), whole.calibrated.size());
  const LoadedBlob one(a, "whole"), other(b, "parts");
  ASSERT_EQ(one.model.Info().tensor_count, other.model.Info().tensor_count);
  for (uint32_t i = 0; i < one.model.Info().tensor_count; ++i) {
    const fovea_tensor_info x = one.model.Tensor(i), y = other.model.Tensor(i);
    ASSERT_EQ(x.bytes, y.bytes);
    EXPECT_EQ(memcmp(x.data, y.data,
                     static_cast<size_t>(x.rows) * x.width *
                         (x.type == FOVEA_TYPE_I8    ? 1
                          : x.type == FOVEA_TYPE_F16 ? 2
                                                     : 4)),
              0)
        << x.name;
  }
}

// Documents through one program, and through two with the rows of sentences carried over by hand.
class Reuse : public testing::TestWithParam<DType> {
 protected:
  Reuse() : loaded_(DocumentModel({}).Blob(GetParam()), "documents") {}
  struct Documents {
    std::vector<uint32_t> sentences, tokens;  // lengths
    std::vector<int32_t> ids;
  };
  tools::Session Open(const char* program, uint32_t workers = 1, uint32_t tile_rows = 0, bool keep = false) {
    const tools::Model& model = loaded_.model;
    tools::SessionRequest request;
    request.program = model.FindProgram(program);
    request.workers = workers;
    request.tile_rows = tile_rows;
    request.limits = {{documents_, 4, 0}, {sentences_, 20, 0}, {tokens_, 100, 0}};
    if (keep) request.keep = {*model.FindValue(request.program, "sentence_rows")};
    return tools::Session(model, request);
  }
  Matrix Run(tools::Session& session, const Documents& documents, const char* output) {
    const uint32_t program = session.request().program;
    session.SetSegments(sentences_, documents.sentences);
    session.SetSegments(tokens_, documents.tokens);
    session.SetInput(*loaded_.model.FindValue(program, "input_ids"), documents.ids);
    session.Run();
    return session.Output(*loaded_.model.FindValue(program, output));
  }
  Matrix Finish(tools::Session& session, const std::vector<uint32_t>& sentences, const Matrix& rows) {
    const uint32_t program = session.request().program;
    session.SetSegments(sentences_, sentences);
    session.SetInput(*loaded_.model.FindValue(program, "sentence_rows"), rows.values);
    session.Run();
    return session.Output(*loaded_.model.FindValue(program, "logits"));
  }
  LoadedBlob loaded_;
  uint32_t documents_ = SpaceNamed(loaded_.model, "documents"), sentences_ = SpaceNamed(loaded_.model, "sentences");
  uint32_t tokens_ = SpaceNamed(loaded_.model, "tokens");
};

TEST_P(Reuse, OneProgramOrTwoGiveTheSameBits) {
  Documents documents{{3, 0, 1, 4}, {5, 1, 12, 7, 2, 9, 3, 3}, RandomIds(42, 24, 3)};
  tools::Session whole = Open("encode", 1, 0, true);
  const Matrix logits = Run(whole, documents, "logits"), rows = Run(whole, documents, "sentence_rows");
  ASSERT_EQ(logits.rows, 4u);
  for (const uint32_t workers : {1u, 3u}) {
    for (const uint32_t tile_rows : {0u, 5u}) {
      tools::Session lower = Open("encode_sentences", workers, tile_rows),
                     upper = Open("encode_document", workers, tile_rows);
      const Matrix part = Run(lower, documents, "sentence_rows");
      EXPECT_EQ(part.values, rows.values);
      EXPECT_EQ(Finish(upper, documents.sentences, part).values, logits.values);
    }
  }
}

// One sentence is changed, and one added at the end: only these two are encoded again.
TEST_P(Reuse, FinishedSentencesAreHandedBack) {
  Documents before{{4}, {5, 1, 12, 7}, RandomIds(25, 24, 4)};
  const std::vector<int32_t> changed = RandomIds(9, 24, 5), added = RandomIds(3, 24, 6);
  Documents after{{5}, {5, 9, 12, 7, 3}, {}};
  after.ids.assign(before.ids.begin(), before.ids.begin() + 5);
  after.ids.insert(after.ids.end(), changed.begin(), changed.end());
  after.ids.insert(after.ids.end(), before.ids.begin() + 6, before.ids.end());
  after.ids.insert(after.ids.end(), added.begin(), added.end());
  Documents two{{2}, {9, 3}, changed};
  two.ids.insert(two.ids.end(), added.begin(), added.end());

  tools::Session whole = Open("encode"), lower = Open("encode_sentences"), upper = Open("encode_document");
  Matrix rows = Run(lower, before, "sentence_rows");
  const Matrix first = Finish(upper, before.sentences, rows);
  EXPECT_EQ(first.values, Run(whole, before, "logits").values);
  const Matrix fresh = Run(lower, two, "sentence_rows");
  std::copy(fresh.Row(0), fresh.Row(1), rows.values.begin() + rows.width);
  rows.values.insert(rows.values.end(), fresh.Row(1), fresh.Row(1) + fresh.width);
  const Matrix second = Finish(upper, after.sentences, rows);
  EXPECT_EQ(second.values, Run(whole, after, "logits").values);
  EXPECT_NE(second.values, first.values);
}

INSTANTIATE_TEST_SUITE_P(Types, Reuse, testing::Values(DType::kF32, DType::kI8),
                         [](const auto& type) { return type.param == DType::kF32 ? "f32" : "int8"; });

}  // namespace
}  // namespace fovea::test
