#include "tools/eval/agreement.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/measure/distance.h"
#include "tools/measure/percentile.h"

namespace fovea::tools {

void Agreement::Add(const Matrix& first, const Matrix& second) {
  comparable_ = comparable_ && first.rows == second.rows && first.width == second.width;
  for (uint32_t row = 0; comparable_ && row < first.rows; ++row) AddRow(first.Row(row), second.Row(row), first.width);
}

void Agreement::AddRow(const float* first, const float* second, uint32_t width) {
  cosines_.push_back(Cosine(first, second, width));
  same_ += std::max_element(first, first + width) - first == std::max_element(second, second + width) - second;
}

OrderedJson Agreement::Json() const {
  if (!comparable_ || cosines_.empty()) return nullptr;
  OrderedJson told = {{"rows", cosines_.size()}};
  if (chooses_) told["same_choice"] = static_cast<double>(same_) / static_cast<double>(cosines_.size());
  for (const auto& [name, percent] : {std::pair{"p0", 0u}, {"p1", 1u}, {"p5", 5u}, {"p50", 50u}})
    told["cosine"][name] = PercentileOf(cosines_, percent);
  return told;
}

}  // namespace fovea::tools
