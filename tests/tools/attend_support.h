// Attention records as tests read them, with a separate decoder.
#ifndef FOVEA_TESTS_TOOLS_ATTEND_SUPPORT_H_
#define FOVEA_TESTS_TOOLS_ATTEND_SUPPORT_H_

#include <gtest/gtest.h>
#include <string.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "tests/support/parsed_json.h"
#include "tests/support/paths.h"
#include "tests/tools/tiny_bert.h"
#include "tools/base/half.h"
#include "tools/base/mapped_file.h"
#include "tools/safetensors/safetensors.h"

namespace fovea::test {

template <typename T>
std::vector<T> Decoded(const nlohmann::json& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t bits = 0, count = 0;
  for (const char c : text.get<std::string>()) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<uint32_t>(digits.find(c));
    if ((count += 6) < 8) continue;
    bytes += static_cast<char>(bits >> (count -= 8) & 255);
  }
  EXPECT_EQ(bytes.size() % sizeof(T), 0u);
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// Row, head, key: all counted through the whole spaces.
using Weights = std::map<std::tuple<uint32_t, uint32_t, uint32_t>, float>;

// The segment of keys of a row, by the notes on the format.
inline std::pair<uint32_t, uint32_t> KeysOf(const nlohmann::json& record, const nlohmann::json& step, uint32_t row) {
  const nlohmann::json &spaces = record["spaces"], &keys = spaces[step["key_space"].get<size_t>()];
  uint32_t segment = row;
  nlohmann::json at = step["query_space"];
  while (at != keys["parent"]) {
    const std::vector<uint32_t> offsets = spaces[at.get<size_t>()]["offsets"];
    segment = static_cast<uint32_t>(std::upper_bound(offsets.begin(), offsets.end(), segment) - offsets.begin()) - 1;
    at = spaces[at.get<size_t>()]["parent"];
  }
  return {keys["offsets"][segment], keys["offsets"][segment + 1]};
}

inline std::vector<float> StepNumbers(const nlohmann::json& step) {
  if (step["type"] == "f32") return Decoded<float>(step["weights"]);
  std::vector<float> numbers;
  for (const uint16_t half : Decoded<uint16_t>(step["weights"])) numbers.push_back(tools::FromHalf(half));
  return numbers;
}

inline Weights WeightsOf(const nlohmann::json& record, const std::string& name) {
  Weights weights;
  for (const nlohmann::json& step : record["steps"]) {
    if (step["name"] != name) continue;
    std::vector<uint32_t> heads = step["heads"];
    if (heads.empty()) heads = {0};
    const std::vector<float> numbers = StepNumbers(step);
    size_t at = 0, line = 0;
    for (const uint32_t row : step["rows"]) {
      for (const uint32_t head : heads) {
        if (step["form"] == "dense") {
          const auto [begin, end] = KeysOf(record, step, row);
          for (uint32_t key = begin; key < end; ++key) weights[{row, head, key}] = numbers.at(at++);
          continue;
        }
        const auto offsets = Decoded<uint32_t>(step["line_offsets"]);
        std::vector<uint32_t> keys;
        if (step.contains("keys")) {
          const auto all = Decoded<uint32_t>(step["keys"]);
          keys.assign(all.begin() + offsets[line], all.begin() + offsets[line + 1]);
        } else {
          const auto of_lines = Decoded<uint32_t>(step["range_offsets"]), ranges = Decoded<uint32_t>(step["ranges"]);
          for (uint32_t i = of_lines[line]; i < of_lines[line + 1]; ++i) {
            for (uint32_t k = 0; k < ranges[2 * i + 1]; ++k) keys.push_back(ranges[2 * i] + k);
          }
        }
        EXPECT_EQ(keys.size(), offsets[line + 1] - offsets[line]);
        for (const uint32_t key : keys) weights[{row, head, key}] = numbers.at(at++);
        ++line;
      }
    }
    EXPECT_EQ(at, numbers.size());
    return weights;
  }
  ADD_FAILURE() << "no step " << name;
  return weights;
}

inline nlohmann::json RecordOf(std::vector<std::string> arguments, const std::string& name = "record.json") {
  arguments.insert(arguments.begin(), "attend");
  arguments.insert(arguments.end(), {"--json", Temporary(name)});
  const CommandResult result = Fovea(arguments);
  EXPECT_EQ(result.status, 0) << result.err;
  if (result.status != 0) return {};
  return ParsedJson(tools::ReadFile(Temporary(name)));
}

// Every number of the record is that of the padded tensor [batch, heads, queries, keys] that `fovea run --trace` wrote.
inline void ExpectTraced(const nlohmann::json& record, const std::string& step, const std::string& file) {
  const tools::SafetensorsReader reader(file);
  const tools::StoredTensor& tensor = reader.Get(step);
  const std::vector<float> padded = tools::ToFloats(tensor);
  const Weights weights = WeightsOf(record, step);
  ASSERT_EQ(tensor.shape.size(), 4u);
  const nlohmann::json *found = nullptr, &spaces = record["spaces"];
  for (const nlohmann::json& one : record["steps"]) found = one["name"] == step ? &one : found;
  ASSERT_NE(found, nullptr);
  const std::vector<uint32_t> queries = spaces[(*found)["query_space"].get<size_t>()]["offsets"],
                              keys = spaces[(*found)["key_space"].get<size_t>()]["offsets"];
  ASSERT_EQ(queries.size(), tensor.shape[0] + 1);
  size_t compared = 0;
  for (const auto& [at, weight] : weights) {
    const auto [row, head, key] = at;
    const size_t segment =
        static_cast<size_t>(std::upper_bound(queries.begin(), queries.end(), row) - queries.begin()) - 1;
    const size_t place =
        ((segment * tensor.shape[1] + head) * tensor.shape[2] + row - queries[segment]) * tensor.shape[3] + key -
        keys[segment];
    ASSERT_EQ(weight, padded.at(place)) << step << " row " << row << " head " << head << " key " << key;
    ++compared;
  }
  // All of them; the bytes in between are padding.
  size_t expected = 0;
  for (size_t i = 0; i + 1 < queries.size(); ++i) {
    expected += size_t{queries[i + 1] - queries[i]} * (keys[i + 1] - keys[i]) * tensor.shape[1];
  }
  EXPECT_EQ(compared, expected);
}

inline std::string Converted(const std::string& folder, const std::string& name) {
  const std::string blob = Temporary(name + ".fovea");
  const CommandResult result = Fovea({"convert", folder, "-o", blob});
  EXPECT_EQ(result.status, 0) << result.err;
  return blob;
}

// The tensors of a golden case's inputs, as a file.
inline std::string GoldenInput(const std::string& model, const std::string& test_case) {
  const tools::SafetensorsReader golden(InData("hf/" + model + "/golden.safetensors"));
  const std::string front = test_case + ".in.", path = Temporary(model + "-" + test_case);
  tools::SafetensorsWriter writer;
  for (const auto& [name, tensor] : golden.tensors()) {
    if (name.rfind(front, 0) == 0) writer.Add(name.substr(front.size()), tensor.type, tensor.shape, tensor.data);
  }
  writer.Write(path);
  return path;
}

}  // namespace fovea::test

#endif  // FOVEA_TESTS_TOOLS_ATTEND_SUPPORT_H_
