// The rows of an image that attention sees: learned tokens (class, registers), then a row for each patch.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_PATCH_ROWS_H_
#define FOVEA_TOOLS_CONVERT_ARCH_PATCH_ROWS_H_

#include <string>
#include <vector>

#include "tools/convert/arch/image_input.h"
#include "tools/convert/arch/layer_stack.h"

namespace fovea::tools {

struct PatchRows {
  std::string projection;        // the stored layer over the pixels of a patch
  std::vector<Constant> tokens;  // before the patches, positions included
  Constant positions = {};       // added to the patches; without rows: nothing is added

  uint32_t leading() const;  // rows of all tokens
};

// Reads a stored table with a position for each of `leading` tokens, then for each patch of an image of the trained
// size. `patches` is resampled for the size at hand.
struct PatchPositions {
  PatchPositions(const Weights& weights, const std::string& name, uint32_t leading, const ImageInput& image,
                 Interpolation kind = Interpolation::kBicubic);
  std::vector<Constant> tokens;
  Constant patches;
};

// Makes them the stack's front. Needs stack.space; adds the constants `patches` and `rows`.
void SetPatchRows(const PatchRows& rows, const ImageInput& image, Description& description, LayerStack& stack);

// After the last hidden state: the mean of the patches, without the tokens.
std::string AddMeanOfPatches(const std::string& last, uint32_t leading, const ImageInput& image,
                             Description& description, ProgramBuilder& builder);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_PATCH_ROWS_H_
