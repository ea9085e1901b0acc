// Programs of one or a few operations, run with every tiling, and statuses of wrong ones. (First: description_test.cc)
#ifndef FOVEA_TESTS_OPS_OP_FIXTURE_H_
#define FOVEA_TESTS_OPS_OP_FIXTURE_H_

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "tests/support/model_builder.h"

namespace fovea::test {

uint32_t Total(const Lengths& lengths);

// Segments and inputs of one run.
struct Feed {
  std::vector<std::pair<uint32_t, Lengths>> segments;  // space, lengths
  std::vector<std::pair<uint32_t, std::vector<float>>> floats;
  std::vector<std::pair<uint32_t, std::vector<int32_t>>> ids;
};

std::vector<fovea_limit> LimitsOf(const ModelBuilder& b, const Feed& feed);

// The rows of `value` in one run with these options.
std::vector<float> RunWith(const TestModel& model, const fovea_session_options& options, const Feed& feed,
                           uint32_t value);

// The rows of an output, expected to have the same bits for every tile size and number of workers.
std::vector<float> RunTiled(ModelBuilder& b, const Feed& feed, uint32_t value,
                            uint32_t backend = FOVEA_BACKEND_DEFAULT);

// |found - expected| <= relative * the largest |expected| + absolute, everywhere.
void ExpectClose(const std::vector<float>& found, const std::vector<double>& expected, double relative, double absolute,
                 const std::string& what = "");

// The error of verifying the blob and of making a model of it, which must be equal.
fovea_error ErrorOf(ModelBuilder& b);

// A program that must be refused at its last operation.
void ExpectRefused(ModelBuilder& b, fovea_status status, const std::string& what);
void ExpectAccepted(ModelBuilder& b, const std::string& what);

// Refused so, or, with FOVEA_OK, accepted.
void ExpectStatus(ModelBuilder& b, fovea_status status, const std::string& what);

// A space of texts and one of their tokens, where most operations are tried.
struct TextSpaces {
  explicit TextSpaces(ModelBuilder& b) : texts(b.Space("texts")), tokens(b.Space("tokens", texts)) {}
  uint32_t texts, tokens;
};

// Empty segments first, in the middle, twice in a row and last; the rest are shorter and longer than the tiles.
const std::vector<Lengths>& RaggedLengths();

}  // namespace fovea::test

#endif  // FOVEA_TESTS_OPS_OP_FIXTURE_H_
