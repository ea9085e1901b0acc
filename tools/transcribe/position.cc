#include "tools/transcribe/position.h"

#include <fmt/format.h>
#include <stdint.h>

#include <algorithm>

namespace fovea::tools {

std::string PositionText(double seconds) {
  const auto all = static_cast<uint64_t>(std::max(0.0, seconds));
  const uint64_t hours = all / 3600, minutes = all / 60 % 60;
  return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, all % 60)
                   : fmt::format("{}:{:02}", minutes, all % 60);
}

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
