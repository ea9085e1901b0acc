// Group norm with one group: a clip is normed as a whole, over its rows and columns.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_CLIP_NORM_H_
#define FOVEA_TOOLS_CONVERT_ARCH_CLIP_NORM_H_

#include <string>

#include "tools/convert/arch/program_builder.h"

namespace fovea::tools {

struct ClipNorm {
  std::string name;  // without ".weight" and ".bias"
  double epsilon = 0;
  std::string clips, rows;  // spaces: of clips, and of what is normed
};

std::string AddClipNorm(const ClipNorm& norm, Weights& weights, ProgramBuilder& builder, const std::string& in,
                        const std::string& out);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_CLIP_NORM_H_
