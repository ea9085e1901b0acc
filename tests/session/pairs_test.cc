// The number of pairs of a query and a key in an attention step, which depends on the bound segments.
#include "runtime/blob/attributes.h"
#include "tests/support/model_builder.h"

namespace fovea::test {
namespace {

uint64_t PairsOf(const TestSession& session, uint32_t step) {
  uint64_t pairs = 0;
  EXPECT_EQ(fovea_session_get_step_pairs(session.session, step, &pairs), FOVEA_OK);
  return pairs;
}

TEST(StepPairs, FollowTheSegments) {
  ModelBuilder b;
  const uint32_t texts = b.Space("texts"), tokens = b.Space("tokens", texts);
  const uint32_t chosen = b.SelectedSpace("chosen", tokens);
  const uint32_t x = b.Input("x", tokens, 6), asked = b.Input("asked", texts, 6);
  const uint32_t marks = b.Input("marks", tokens, 1, DType::kI32);
  const Attributes window = {
      {Attribute::kHeads, 3}, {Attribute::kPattern, 1}, {Attribute::kLeft, 2}, {Attribute::kRight, 0}};
  Attributes listed = window;
  listed.emplace_back(Attribute::kGlobalKeys, 1);
  b.Op("add", {x, x}, {}, tokens, 6);
  b.Op("attention", {x, x, x}, {}, tokens, 6, window);
  b.SetOutput(b.Op("attention", {asked, x, x}, {}, texts, 6, {{Attribute::kHeads, 2}}));
  const uint32_t rows = b.Op("select", {marks}, {}, chosen, 1);
  b.SetOutput(b.Op("attention", {x, x, x, rows}, {}, tokens, 6, listed));
  const TestModel model(AlignedBytes(tools::WriteBlob(b.content())));
  const std::vector<fovea_limit> limits = {{texts, 4, 0}, {tokens, 20, 0}};
  TestSession session(model, Options(limits));
  uint64_t pairs = 0;
  EXPECT_EQ(fovea_session_get_step_pairs(session.session, 1, &pairs), FOVEA_E_ORDER);
  for (const Lengths& lengths : {Lengths{5, 0, 1, 2}, Lengths{12}, Lengths{}}) {
    const uint32_t count = std::accumulate(lengths.begin(), lengths.end(), 0u);
    session.SetSegments(texts, {static_cast<uint32_t>(lengths.size())});
    session.SetSegments(tokens, lengths);
    std::vector<int32_t> marked(count);
    if (count > 0) marked[0] = 1;
    session.SetInput(x, std::vector<float>(count * 6));
    session.SetInput(asked, std::vector<float>(lengths.size() * 6));
    session.SetInput(marks, marked);
    EXPECT_EQ(fovea_session_get_step_pairs(session.session, 4, &pairs), FOVEA_E_ORDER);
    session.Run();
    uint64_t in_windows = 0, with_first = 0;
    for (const uint32_t length : lengths) {
      for (uint32_t query = 0; query < length; ++query) in_windows += std::min(query, 2u) + 1;
    }
    // The one listed row counts for each query of its text beside the window, but no key counts twice.
    for (uint32_t query = 0; !lengths.empty() && query < lengths[0]; ++query) {
      with_first += std::min(std::min(query, 2u) + 2, lengths[0]) - (std::min(query, 2u) + 1);
    }
    EXPECT_EQ(PairsOf(session, 0), 0u);
    EXPECT_EQ(PairsOf(session, 1), 3 * in_windows);
    EXPECT_EQ(PairsOf(session, 2), 2u * count);
    EXPECT_EQ(PairsOf(session, 4), 3 * (in_windows + with_first));
  }
}

// Sibling spaces are bound one by one; before a run compares them they may have any number of segments.
TEST(StepPairs, SiblingsThatDisagree) {
  ModelBuilder b;
  const uint32_t texts = b.Space("texts"), keys = b.Space("keys", texts), queries = b.Space("queries", texts);
  const uint32_t x = b.Input("x", keys, 6), asked = b.Input("asked", queries, 6);
  b.SetOutput(b.Op("attention", {asked, x, x}, {}, queries, 6, {{Attribute::kHeads, 2}}));
  const TestModel model(AlignedBytes(tools::WriteBlob(b.content())));
  const std::vector<fovea_limit> limits = {{texts, 8, 0}, {keys, 40, 0}, {queries, 40, 0}};
  TestSession session(model, Options(limits));
  uint64_t pairs = 7;
  session.SetSegments(texts, {3});
  session.SetSegments(keys, {4, 5, 6});
  for (const Lengths& lengths : {Lengths{2, 2}, Lengths{2}, Lengths{1, 1, 1, 1}, Lengths{}}) {
    session.SetSegments(queries, lengths);
    EXPECT_EQ(fovea_session_get_step_pairs(session.session, 0, &pairs), FOVEA_E_SEGMENTS);
    EXPECT_EQ(pairs, 7u);
  }
  session.SetSegments(queries, {1, 2, 0});
  EXPECT_EQ(PairsOf(session, 0), 2u * (4 + 10));
}

}  // namespace
}  // namespace fovea::test
