// Layers that work group by group of columns. Each group is a layer of its own, so none of the zeros between groups are
// stored or multiplied.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_GROUPED_H_
#define FOVEA_TOOLS_CONVERT_ARCH_GROUPED_H_

#include <functional>
#include <string>
#include <vector>

#include "tools/convert/arch/program_builder.h"

namespace fovea::tools {

// The values beside each other, however many there are. Of one value it is that value, whatever `out` says.
std::string Beside(ProgramBuilder& builder, std::vector<std::string> values, const std::string& out);

// `make` makes the value `out` of group `group` of the columns, each `width` wide. The groups stand beside each other.
std::string ForGroups(
    ProgramBuilder& builder, const std::string& in, uint32_t groups, uint32_t width, const std::string& out,
    const std::function<std::string(uint32_t group, const std::string& in, const std::string& out)>& make);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_GROUPED_H_
