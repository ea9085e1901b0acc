#include "tools/convert/arch/image_settings.h"

#include <nlohmann/json.hpp>

#include "tools/base/fail.h"

namespace fovea::tools {

Extent ReadSides(const JsonView& value) {
  if (value.json().is_number()) {
    const uint32_t side = value.Number(kImageSides);
    return {side, side};
  }
  if (value.json().is_array()) {
    if (value.json().size() != 2) Fail("{} must have two numbers, not {}", value.name(), Shown(value.json()));
    return {value.At(0).Number(kImageSides), value.At(1).Number(kImageSides)};
  }
  value.Object();
  return {value["height"].Number(kImageSides), value["width"].Number(kImageSides)};
}

std::vector<float> ReadColourNumbers(const JsonView& value, const ColourNumbers& absent, RealRange range) {
  if (value.IsNull()) return {absent.begin(), absent.end()};
  if (value.json().is_number()) return {static_cast<float>(value.Real(range))};
  std::vector<float> numbers;
  for (size_t i = 0; i < value.List().size(); ++i) numbers.push_back(static_cast<float>(value.At(i).Real(range)));
  if (numbers.size() != 1 && numbers.size() != 3) Fail("{} must have 1 or 3 numbers", value.name());
  return numbers;
}

}  // namespace fovea::tools
