// Files that tools/train writes beside the models it makes.
#ifndef FOVEA_TESTS_GOLDEN_OWN_MODELS_H_
#define FOVEA_TESTS_GOLDEN_OWN_MODELS_H_

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tests/golden/golden_support.h"
#include "tools/base/json.h"
#include "tools/check/golden_check.h"

namespace fovea::test {

using tools::Json;

// Lines of fields with tabs between them.
inline std::vector<std::vector<std::string>> ReadTable(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::vector<std::string>> table;
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string>& fields = table.emplace_back();
    for (size_t at = 0, tab = 0; tab != std::string::npos; at = tab + 1) {
      tab = line.find('\t', at);
      fields.push_back(line.substr(at, tab - at));
    }
  }
  return table;
}

// Lines that begin with a label: each of them, or each n-th.
inline std::vector<std::vector<std::string>> ReadHeldOut(const std::string& path, size_t stride) {
  std::vector<std::vector<std::string>> rows, all = ReadTable(path);
  for (size_t i = 0; i < all.size(); i += stride) rows.push_back(std::move(all[i]));
  return rows;
}

// The number of rows of logits that are largest at the label. Rows are for lines from `first` on.
inline size_t CountRight(const tools::Model& model, const tools::Matrix& logits,
                         const std::vector<std::vector<std::string>>& held_out, size_t first = 0) {
  size_t right = 0;
  for (uint32_t r = 0; r < logits.rows; ++r) {
    const auto best = std::max_element(logits.Row(r), logits.Row(r) + logits.width) - logits.Row(r);
    right += held_out[first + r][0] == model.Metadata("label." + std::to_string(best)) ? 1 : 0;
  }
  return right;
}

// So many tensors of these cases (empty: of all) are within the tolerance, or have this cosine at least.
inline void ExpectGolden(const Converted& converted, const std::string& directory, size_t compared,
                         std::optional<double> cosine, const std::vector<std::string>& cases = {}) {
  tools::CheckOptions options;
  options.cosine = cosine;
  options.cases = cases;
  const tools::SafetensorsReader golden(directory + "/golden.safetensors");
  const std::vector<tools::CheckLine> lines = tools::CheckGolden(converted.model, golden.tensors(), options);
  EXPECT_EQ(lines.size(), compared);
  for (const tools::CheckLine& line : lines) EXPECT_TRUE(line.ok) << tools::LineText(line);
}

}  // namespace fovea::test

#endif  // FOVEA_TESTS_GOLDEN_OWN_MODELS_H_
