#include "tools/transcribe/position.h"

#include <fmt/format.h>

#include <algorithm>

namespace fovea::tools {

void PositionLine::Show(const std::string& what, const std::string& names, double seconds, double all) {
  if (within_ || all <= 0) return;
  const std::string stage = fmt::format("{} {} of {},", what, PositionText(seconds), PositionText(all));
  line_.Show(stage, names, static_cast<size_t>(1000 * std::min(seconds, all)), static_cast<size_t>(1000 * all));
}

void PositionLine::Clear(bool text) {
  line_.Clear();
  if (text && plain_) within_ = true;
}

}  // namespace fovea::tools
