// Layers that work group by group of columns.
#include "tools/convert/arch/grouped.h"

#include <algorithm>

#include "runtime/blob/format.h"
#include "tools/base/fail.h"

namespace fovea::tools {

std::string Beside(ProgramBuilder& builder, std::vector<std::string> values, const std::string& out) {
  // An operation joins at most kMaxInputs values; more values are joined in several levels.
  for (uint32_t level = 0; values.size() > 1; ++level) {
    std::vector<std::string> joined;
    for (size_t i = 0; i < values.size(); i += kMaxInputs) {
      const size_t end = std::min<size_t>(values.size(), i + kMaxInputs);
      const std::vector<std::string> part(values.begin() + static_cast<ptrdiff_t>(i),
                                          values.begin() + static_cast<ptrdiff_t>(end));
      const bool last = values.size() <= kMaxInputs;
      const std::string name = last ? out : fmt::format("{}.joined.{}.{}", out, level, joined.size());
      joined.push_back(part.size() == 1 ? part[0] : builder.Op("concat", part, {}, name));
    }
    values = joined;
  }
  return values[0];
}

std::string ForGroups(
    ProgramBuilder& builder, const std::string& in, uint32_t groups, uint32_t width, const std::string& out,
    const std::function<std::string(uint32_t group, const std::string& in, const std::string& out)>& make) {
  if (groups == 1) return make(0, in, out);
  std::vector<std::string> made;
  for (uint32_t i = 0; i < groups; ++i) {
    const std::string at = fmt::format("{}.groups.{}", out, i);
    builder.Op("slice", {in}, {}, at + ".in", {{"begin", i * width}, {"width", width}});
    made.push_back(make(i, at + ".in", at));
  }
  return Beside(builder, made, out);
}

}  // namespace fovea::tools
