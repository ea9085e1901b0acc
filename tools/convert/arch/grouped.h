// Layers that work group by group of columns. Each group is a separate layer, so the zeros between groups are neither
// stored nor multiplied.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_GROUPED_H_
#define FOVEA_TOOLS_CONVERT_ARCH_GROUPED_H_

#include <functional>
#include <string>
#include <vector>

#include "tools/convert/arch/program_builder.h"

namespace fovea::tools {

// Any number of values, concatenated by columns, as `out`. A single value is returned as it is.
std::string Beside(ProgramBuilder& builder, std::vector<std::string> values, const std::string& out);

// `make` makes the value `out` from group `group` of the columns, each `width` wide. The results are concatenated.
std::string ForGroups(
    ProgramBuilder& builder, const std::string& in, uint32_t groups, uint32_t width, const std::string& out,
    const std::function<std::string(uint32_t group, const std::string& in, const std::string& out)>& make);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_GROUPED_H_
