#include "tests/ops/op_fixture.h"

namespace fovea::test {

uint32_t Total(const Lengths& lengths) { return std::accumulate(lengths.begin(), lengths.end(), 0u); }

std::vector<fovea_limit> LimitsOf(const ModelBuilder& b, const Feed& feed) {
  std::vector<fovea_limit> limits;
  const auto add = [&limits](uint32_t space, uint32_t rows) {
    for (fovea_limit& limit : limits) {
      if (limit.space == space) return;
    }
    limits.push_back({space, std::max(rows, 1u), 0});
  };
  for (const auto& [space, lengths] : feed.segments) add(space, Total(lengths));
  for (const auto& [space, lengths] : feed.segments) {
    const uint32_t parent = const_cast<ModelBuilder&>(b).content().spaces[space].parent;
    if (parent != kBlobNone) add(parent, static_cast<uint32_t>(lengths.size()));
  }
  return limits;
}

std::vector<float> RunWith(const TestModel& model, const fovea_session_options& options, const Feed& feed,
                           uint32_t value) {
  TestSession session(model, options);
  for (const auto& [space, lengths] : feed.segments) session.SetSegments(space, lengths);
  for (const auto& [input, values] : feed.floats) session.SetInput(input, values);
  for (const auto& [input, values] : feed.ids) session.SetInput(input, values);
  session.Run();
  return session.Output(value);
}

std::vector<float> RunTiled(ModelBuilder& b, const Feed& feed, uint32_t value, uint32_t backend) {
  b.SetOutput(value);
  const TestModel model(b.Blob(), backend);
  const std::vector<fovea_limit> limits = LimitsOf(b, feed);
  const std::vector<float> expected = RunWith(model, Options(limits), feed, value);
  for (const uint32_t tile_rows : {1u, 2u, 3u, 5u, 16u, 17u}) {
    for (const uint32_t workers : {1u, 3u}) {
      const std::vector<float> found = RunWith(model, Options(limits, workers, tile_rows), feed, value);
      EXPECT_EQ(found.size(), expected.size());
      EXPECT_TRUE(expected.empty() || (found.size() == expected.size() &&
                                       memcmp(found.data(), expected.data(), found.size() * sizeof(float)) == 0))
          << "tile " << tile_rows << " workers " << workers;
    }
  }
  return expected;
}

void ExpectClose(const std::vector<float>& found, const std::vector<double>& expected, double relative, double absolute,
                 const std::string& what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  double largest = 0;
  for (const double e : expected) largest = std::max(largest, std::fabs(e));
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_LE(std::fabs(found[i] - expected[i]), relative * largest + absolute)
        << what << " entry " << i << ": " << found[i] << ", expected " << expected[i];
  }
}

fovea_error ErrorOf(ModelBuilder& b) {
  const AlignedBytes blob = b.Blob();
  fovea_error verified = {}, made = {};
  uint64_t needed = 0;
  fovea_blob_verify(blob.data(), blob.size(), &verified);
  fovea_model_size(blob.data(), blob.size(), nullptr, &needed, &made);
  EXPECT_EQ(verified.status, made.status);
  EXPECT_EQ(verified.step, made.step);
  return verified;
}

void ExpectRefused(ModelBuilder& b, fovea_status status, const std::string& what) {
  const fovea_error error = ErrorOf(b);
  EXPECT_EQ(error.status, status) << what << ": " << fovea_status_name(error.status) << ", "
                                  << (error.text == nullptr ? "accepted" : error.text);
  EXPECT_EQ(error.step, b.content().programs[0].operations.size() - 1) << what;
}

void ExpectAccepted(ModelBuilder& b, const std::string& what) {
  const fovea_error error = ErrorOf(b);
  EXPECT_EQ(error.status, FOVEA_OK) << what << ": " << error.text;
}

void ExpectStatus(ModelBuilder& b, fovea_status status, const std::string& what) {
  if (status == FOVEA_OK) return ExpectAccepted(b, what);
  ExpectRefused(b, status, what);
}

const std::vector<Lengths>& RaggedLengths() {
  static const std::vector<Lengths> all = {{0, 3, 0, 0, 1, 17, 5, 0}, {1}, {33, 2}, {0}, {}};
  return all;
}

}  // namespace fovea::test
