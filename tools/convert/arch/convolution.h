// Convolutions along the rows of a clip: every row, or each of some stride, with its neighbours beside it, and a linear
// layer. Neighbours outside of the clip are zeros.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_CONVOLUTION_H_
#define FOVEA_TOOLS_CONVERT_ARCH_CONVOLUTION_H_

#include <string>
#include <vector>

#include "tools/convert/arch/program_builder.h"

namespace fovea::tools {

// As it is stored: weights [out, in, kernel].
struct Convolution {
  std::string name;
  uint32_t in = 0;  // channels
  uint32_t stride = 1;
  uint32_t padding = 0;  // rows of zeros at either end
  std::string activation = "none";
};

// The space `name` of what the convolution makes of rows of space `of`; its stride is above 1.
Space ConvolvedSpace(const Convolution& convolution, const Weights& weights, const std::string& name,
                     const std::string& of);
// Without a space: that of `in`, so stride is 1 and the clip keeps its length.
std::string AddConvolution(const Convolution& convolution, Weights& weights, ProgramBuilder& builder,
                           const std::string& in, const std::string& out, const std::string& space = "");

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_CONVOLUTION_H_
