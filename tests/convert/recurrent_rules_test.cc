// Recurrent layers in descriptions: what they make, what is refused, other libraries' order of gates, calibration.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/convert/graph_support.h"
#include "tests/support/random_floats.h"
#include "tools/convert/constants.h"
#include "tools/convert/convert.h"

namespace fovea::tools {
namespace {

TEST(Parts, AreRowsOrTheColumnsOfOneRow) {
  const Constant matrix = Literal(4, 2, {1, 2, 3, 4, 5, 6, 7, 8}), row = Literal(1, 6, {1, 2, 3, 4, 5, 6});
  const Constant turned = Parts(matrix, {1, 0}), gates = Parts(row, {2, 0, 1});
  EXPECT_EQ(turned.rows, 4u);
  EXPECT_EQ(turned.width, 2u);
  EXPECT_EQ(turned.load(), (std::vector<float>{5, 6, 7, 8, 1, 2, 3, 4}));
  EXPECT_EQ(gates.rows, 1u);
  EXPECT_EQ(gates.width, 6u);
  EXPECT_EQ(gates.load(), (std::vector<float>{5, 6, 1, 2, 3, 4}));
  EXPECT_EQ(Parts(matrix, {0}).load(), matrix.load());
  for (const auto& order : std::vector<std::vector<uint32_t>>{{0, 2}, {1, 1}, {0, 1, 2}, {}}) {
    EXPECT_NE(RefusalOf([&] { Parts(matrix, order); }).find("parts"), std::string::npos);
  }
}

// An LSTM over tokens whose weights are stored as Keras does and another over its gates' order in ONNX, first states,
// masks, and a step of a decoder.
Json Layers() {
  return Json::parse(R"({
    "fovea": 1,
    "spaces": [{"name": "texts"}, {"name": "tokens", "parent": "texts"}],
    "constants": [
      {"name": "kernel", "values": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], "reshape": [2, 6]},
      {"name": "gru", "of": "kernel", "transpose": true, "parts": [1, 0, 2]},
      {"name": "gru.bias", "values": [1, 2, 3, 4, 5, 6]},
      {"name": "lstm", "of": "gru", "rows": [0, 4], "reshape": [4, 2]},
      {"name": "lstm.hidden", "of": "gru", "rows": [0, 4], "columns": [0, 1]}
    ],
    "programs": [{
      "name": "main",
      "inputs": [{"name": "x", "space": "tokens", "width": 6}, {"name": "first", "space": "texts", "width": 2},
                 {"name": "mask", "space": "tokens", "type": "i32"}, {"name": "old", "space": "texts", "width": 2},
                 {"name": "wide", "space": "texts", "width": 6}],
      "operations": [
        {"op": "recurrent", "in": ["x", "first", "mask"], "tensors": ["gru", "gru.bias"], "out": "h", "cell": "gru",
         "initial": true, "masked": true, "reverse": true, "reset_after": false, "activation": "hard_sigmoid"},
        {"op": "slice", "in": ["x"], "out": "four", "begin": 1, "width": 4},
        {"op": "recurrent", "in": ["four"], "tensors": ["lstm.hidden"], "out": "hc", "cell": "lstm", "output": "state"},
        {"op": "cell", "in": ["wide", "old"], "tensors": ["gru"], "out": "new", "cell": "gru"}
      ],
      "outputs": ["h", "hc", "new"]
    }]
  })");
}

TEST(RecurrentRules, SpacesAndWidths) {
  const Resolved model = ResolveJson(Layers());
  const BlobProgram& program = model.content.programs[0];
  const uint32_t widths[] = {2, 4, 2, 2}, spaces[] = {1, 1, 1, 0};
  for (size_t i = 0; i < 4; ++i) {
    const BlobValue& value = program.values[program.operations[i].output];
    EXPECT_EQ(value.width, widths[i]);
    EXPECT_EQ(value.space, spaces[i]);
  }
  // Kernel columns 0, 1 are z, 2, 3 are r.
  EXPECT_EQ(model.constants[0].load(), (std::vector<float>{3, 9, 4, 10, 1, 7, 2, 8, 5, 11, 6, 12}));
  EXPECT_EQ(model.shortest[0], Shortest::kF16);  // over whole texts
  EXPECT_EQ(model.shortest[1], Shortest::kF32);  // a bias
}

TEST(RecurrentRules, Refused) {
  const auto refused = [](const char* place, const Json& value, const char* why) {
    Json json = Layers();
    json[Json::json_pointer(std::string("/programs/0/operations/") + place)] = value;
    EXPECT_NE(Refusal(json).find(why), std::string::npos) << place << ": " << Refusal(json);
  };
  refused("0/cell", "other", "cell must be one of gru, lstm, rnn");
  refused("0/cell", "rnn", "only a gru has reset_after");
  refused("2/activation", "relu", "activation of gates must be sigmoid or hard_sigmoid");
  refused("3/tensors", {"gru", nullptr, "gru"}, "only an lstm has peepholes");
  refused("2/tensors", {"lstm.hidden", nullptr, "lstm"}, "tensor lstm: tensor has the wrong width");
  refused("0/activation", "tanh", "activation of gates must be sigmoid or hard_sigmoid");
  refused("0/reset_after", 1, "reset_after must be true or false, not 1");
  refused("0/initial", false, "inputs do not match the attributes: expected 2, found 3");
  refused("0/masked", false, "inputs do not match the attributes: expected 2, found 3");
  refused("0/output", "cell", "output must be one of hidden, state");
  refused("0/in", {"four", "first", "mask"}, "before this");
  refused("0/in", {"x", "x", "mask"}, "initial states must be in the parent space");
  refused("0/in", {"x", "wide", "mask"}, "initial states must be as wide as the state: expected 2, found 6");
  refused("0/in", {"x", "first", "x"}, "the mask must have width 1 and the rows of the input");
  refused("0/tensors", {"lstm"}, "weight's rows must be the output's width: expected 6, found 4");
  refused("0/tensors", {"gru", "kernel"}, "tensor kernel: tensor has the wrong number of rows");
  refused("0/heads", 2, "no attribute heads");
  refused("1/begin", 3, "begin + width exceeds the input's width: expected 6, found 7");
  refused("1/width", 0, "out of range");
  refused("2/reset_after", true, "only a gru has reset_after");
  refused("3/in", {"x", "old"}, "space");
  refused("3/in", {"wide", "wide"}, "input must be as wide as the state: expected 2, found 6");
  refused("3/reverse", true, "no attribute reverse");
}

// Ids -> rows -> gates -> states.
Description Model(bool reset_after, bool lstm) {
  constexpr uint32_t kIds = 300, kWidth = 32;
  const uint32_t gates = (lstm ? 4 : 3) * kWidth;
  Description d;
  d.spaces = {{"texts"}, {"tokens", "texts"}};
  d.weights.Add("table", Literal(kIds, kWidth, test::RandomFloats(kIds * kWidth, 1, 1)));
  d.weights.Add("w", Literal(gates, kWidth, test::RandomFloats(gates * kWidth, 0.2f, 2)));
  d.weights.Add("u", Literal(gates, kWidth, test::RandomFloats(gates * kWidth, 0.2f, 3)));
  d.weights.Add("b", Literal(1, gates, test::RandomFloats(gates, 0.2f, 4)));
  d.weights.Add("c", Literal(1, gates, test::RandomFloats(gates, 0.2f, 5)));
  Program program;
  program.name = "encode";
  program.inputs = {{"x", "tokens"}};
  Json attributes = {{"cell", lstm ? "lstm" : "gru"}, {"output", "state"}};
  if (!reset_after) attributes["reset_after"] = false;
  program.operations = {{"embed", {"x"}, {"table"}, "rows"},
                        {"linear", {"rows"}, {"w", "b"}, "gates"},
                        {"recurrent", {"gates"}, {"u", "c"}, "states", attributes},
                        {"scale", {"states"}, {}, "y", {{"scale", 1.0}}}};
  program.outputs = {"y"};
  d.programs = {program};
  return d;
}

TEST(RecurrentRules, WeightsOfStatesAreCalibrated) {
  for (const bool lstm : {false, true}) {
    for (const bool reset_after : {true, false}) {
      if (lstm && !reset_after) continue;
      ConvertOptions options;
      options.weights = DType::kI4;
      options.compare = Comparison::kQuick;
      ConvertReport report;
      BuildBlob(Model(reset_after, lstm), options, report, {});
      std::vector<std::string> names;
      for (const CalibrationReport& entry : report.calibrated) names.push_back(entry.weight);
      std::sort(names.begin(), names.end());
      EXPECT_EQ(names, reset_after ? (std::vector<std::string>{"u", "w"}) : std::vector<std::string>{"w"});
      for (const TensorReport& tensor : report.tensors) {
        EXPECT_EQ(tensor.type, tensor.rows == 1 ? DType::kF32 : DType::kI4) << tensor.name;
      }
    }
  }
}

}  // namespace
}  // namespace fovea::tools
