#include "tools/model/parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/blob/names.h"
#include "tools/base/print.h"

namespace fovea::tools {

uint64_t ParameterCount(const Model& model) {
  uint64_t count = 0;
  for (uint32_t i = 0; i < model.Info().tensor_count; ++i) {
    const fovea_tensor_info tensor = model.Tensor(i);
    count += uint64_t{tensor.rows} * tensor.width;
  }
  return count;
}

std::string ParameterText(uint64_t count) {
  if (count < 1000000) return Grouped(count);
  const double millions = 1e-6 * static_cast<double>(count);
  return millions < 1000 ? fmt::format("{:.1f} million", millions) : fmt::format("{:.2f} billion", 1e-3 * millions);
}

std::map<std::string, uint64_t> WeightBytes(const Model& model) {
  std::map<std::string, uint64_t> types;
  for (uint32_t i = 0; i < model.Info().tensor_count; ++i) {
    const fovea_tensor_info tensor = model.Tensor(i);
    types[NameOf(DType(tensor.type))] += tensor.bytes;
  }
  return types;
}

std::string WeightText(const std::map<std::string, uint64_t>& bytes) {
  std::vector<std::pair<uint64_t, std::string>> sorted;
  for (const auto& [type, count] : bytes) sorted.emplace_back(count, type);
  std::sort(sorted.rbegin(), sorted.rend());
  std::vector<std::string> texts;
  for (const auto& [count, type] : sorted) texts.push_back(fmt::format("{} {}", type, ShortBytes(count)));
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace fovea::tools
