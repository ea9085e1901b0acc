// Operations through model descriptions: a new operation is tested like this first. Its numbers for every type, backend
// and odd size are then compared with plain loops (op_fixture.h).
#include <gtest/gtest.h>

#include "tests/support/run_description.h"

namespace fovea::test {
namespace {

using Floats = std::vector<float>;

// A program over rows `x` of two numbers; `operations` make the output y.
std::string Description(const std::string& operations) {
  return R"({
    "fovea": 1,
    "spaces": [{"name": "texts"}, {"name": "tokens", "parent": "texts"}],
    "constants": [{"name": "w", "values": [1, 2, 0, -1], "reshape": [2, 2]}, {"name": "b", "values": [10, 20]}],
    "programs": [{
      "name": "main",
      "inputs": [{"name": "x", "space": "tokens", "width": 2}, {"name": "id", "space": "tokens", "type": "i32"}],
      "operations": [)" +
         operations + R"(],
      "outputs": ["y"]
    }]
  })";
}

// Three segments: two rows, none, one.
const DescriptionInputs kInputs = {{{"tokens", {2, 0, 1}}}, {{"x", {1, 2, 3, 6, 5, 7}}}, {{"id", {0, 1, 1}}}};

struct DescribedCase {
  const char* what;
  const char* operations;
  Floats expected;
};
void PrintTo(const DescribedCase& c, std::ostream* out) { *out << c.what; }

class Described : public testing::TestWithParam<DescribedCase> {};

TEST_P(Described, GivesTheseNumbers) {
  EXPECT_EQ(RunDescription(Description(GetParam().operations), kInputs).at("y"), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Operations, Described,
    testing::Values(
        DescribedCase{
            "Linear", R"({"op": "linear", "in": ["x"], "tensors": ["w", "b"], "out": "y"})", {15, 18, 25, 14, 29, 13}},
        DescribedCase{"Embed", R"({"op": "embed", "in": ["id"], "tensors": ["w"], "out": "y"})", {1, 2, 0, -1, 0, -1}},
        DescribedCase{"PoolMean", R"({"op": "pool", "in": ["x"], "kind": "mean", "out": "y"})", {2, 4, 0, 0, 5, 7}},
        DescribedCase{"PoolMax", R"({"op": "pool", "in": ["x"], "kind": "max", "out": "y"})", {3, 6, 0, 0, 5, 7}},
        DescribedCase{"Add", R"({"op": "add", "in": ["x", "x"], "out": "y"})", {2, 4, 6, 12, 10, 14}},
        DescribedCase{"ActivateThenSlice",
                      R"({"op": "linear", "in": ["x"], "tensors": ["w"], "activation": "relu", "out": "h"},
                         {"op": "slice", "in": ["h"], "begin": 1, "width": 1, "out": "y"})",
                      {0, 0, 0}}),
    [](const testing::TestParamInfo<DescribedCase>& c) { return std::string(c.param.what); });

// A wrong description is refused with its place and the fault.
TEST(Descriptions, MistakesAreNamed) {
  const std::string unknown = RefusalOfDescription(Description(R"({"op": "sum", "in": ["x"], "out": "y"})"));
  EXPECT_NE(unknown.find("sum"), std::string::npos) << unknown;
  const std::string missing = RefusalOfDescription(Description(R"({"op": "scale", "in": ["z"], "out": "y"})"));
  EXPECT_NE(missing.find("z"), std::string::npos) << missing;
  EXPECT_EQ(RefusalOfDescription(Description(R"({"op": "scale", "in": ["x"], "scale": 2, "out": "y"})")), "");
}

}  // namespace
}  // namespace fovea::test
