// The rows of a picture that attention sees: tokens of the model's own (class, registers), then a row for each patch.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_PATCH_ROWS_H_
#define FOVEA_TOOLS_CONVERT_ARCH_PATCH_ROWS_H_

#include <string>
#include <vector>

#include "tools/convert/arch/image_input.h"
#include "tools/convert/arch/layer_stack.h"

namespace fovea::tools {

struct PatchRows {
  std::string projection;        // of the pixels of a patch, as it is stored
  std::vector<Constant> tokens;  // in front of the patches, positions included
  Constant positions = {};       // of the patches; without rows: they have none

  uint32_t leading() const;  // rows of all tokens
};

// A stored table with a position for each of `leading` tokens, then for each patch of a picture as it was trained;
// those of the patches for a picture of the size at hand.
struct PatchPositions {
  PatchPositions(const Weights& weights, const std::string& name, uint32_t leading, const ImageInput& image,
                 Interpolation kind = Interpolation::kBicubic);
  std::vector<Constant> tokens;
  Constant patches;
};

// Makes them what the stack reads. Needs stack.space; adds the constants `patches` and `rows`.
void SetPatchRows(const PatchRows& rows, const ImageInput& image, Description& description, LayerStack& stack);

// Below the last hidden state: the mean of the patches, without the tokens.
std::string AddMeanOfPatches(const std::string& last, uint32_t leading, const ImageInput& image,
                             Description& description, ProgramBuilder& builder);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_PATCH_ROWS_H_
