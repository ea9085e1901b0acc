#include "tests/support/run_description.h"

#include <gtest/gtest.h>
#include <string.h>

#include <algorithm>
#include <numeric>

#include "tests/support/by_name.h"
#include "tests/support/second_reader.h"
#include "tools/base/fail.h"
#include "tools/convert/convert.h"
#include "tools/convert/graph_json.h"
#include "tools/convert/loaded_blob.h"
#include "tools/model/session.h"

namespace fovea::test {
namespace {

constexpr uint32_t kOutputRole = 2;  // runtime/blob/README.md

std::vector<uint8_t> BlobOf(const std::string& json, DType weights) {
  tools::ConvertOptions options;
  options.weights = weights;
  options.compare = tools::Comparison::kNone;
  options.calibrate = false;
  tools::ConvertReport report;
  return tools::BuildBlob(tools::ParseGraph(json, ".", "graph"), options, report);
}

// Rows of the spaces whose segments are given, and of their parents.
std::vector<fovea_limit> LimitsFor(const ReadBlob& blob, const DescriptionInputs& inputs) {
  std::map<uint32_t, uint32_t> rows;
  for (const auto& [name, lengths] : inputs.segments) {
    const uint32_t space = IndexOf(blob.spaces, name);
    rows[space] = std::max(std::accumulate(lengths.begin(), lengths.end(), 0u), 1u);
    rows.emplace(blob.spaces[space].parent, std::max(static_cast<uint32_t>(lengths.size()), 1u));
  }
  std::vector<fovea_limit> limits;
  for (const auto& [space, count] : rows) {
    if (space != kAbsent) limits.push_back({space, count, 0});
  }
  return limits;
}

DescriptionOutputs RunOnce(const tools::Model& model, const ReadBlob& blob, const tools::SessionRequest& request,
                           const DescriptionInputs& inputs) {
  const std::vector<ReadValue>& values = blob.programs.at(0).values;
  tools::Session session(model, request);
  for (const auto& [name, lengths] : inputs.segments) session.SetSegments(IndexOf(blob.spaces, name), lengths);
  for (const auto& [name, numbers] : inputs.numbers) session.SetInput(IndexOf(values, name), numbers);
  for (const auto& [name, ids] : inputs.ids) session.SetInput(IndexOf(values, name), ids);
  session.Run();
  DescriptionOutputs outputs;
  for (uint32_t value = 0; value < values.size(); ++value) {
    if (values[value].role == kOutputRole) outputs[values[value].name] = session.Output(value).values;
  }
  return outputs;
}

bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && (a.empty() || memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

}  // namespace

DescriptionOutputs RunDescription(const std::string& json, const DescriptionInputs& inputs, DType weights) {
  const std::vector<uint8_t> bytes = BlobOf(json, weights);
  const ReadBlob blob = SecondReader(bytes);
  const tools::LoadedBlob loaded(bytes, "description");
  tools::SessionRequest request;
  request.limits = LimitsFor(blob, inputs);
  DescriptionOutputs outputs = RunOnce(loaded.model, blob, request, inputs);
  for (const uint32_t tile_rows : {1u, 3u, 17u}) {
    for (const uint32_t workers : {1u, 3u}) {
      request.tile_rows = tile_rows, request.workers = workers;
      for (const auto& [name, found] : RunOnce(loaded.model, blob, request, inputs)) {
        EXPECT_TRUE(SameBits(found, outputs.at(name))) << name << ": tile " << tile_rows << " workers " << workers;
      }
    }
  }
  return outputs;
}

std::string RefusalOfDescription(const std::string& json) {
  try {
    BlobOf(json, DType::kF32);
  } catch (const tools::Failure& failure) {
    return failure.what();
  }
  return "";
}

}  // namespace fovea::test
