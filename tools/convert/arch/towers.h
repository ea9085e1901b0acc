// Models of two towers, one of texts and one of pictures, whose embeddings are compared: CLIP and its relatives. A
// directory has both, or one of them.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_TOWERS_H_
#define FOVEA_TOOLS_CONVERT_ARCH_TOWERS_H_

#include <string>

#include "tools/convert/arch/patch_rows.h"

namespace fovea::tools {

// Defaults of a family's configurations.
struct TowerDefaults {
  const char* activation;
  double epsilon;
  uint32_t heads;
};

// Layers, and words with their positions; the caller sets a norm before the layers. Reads all keys that such a
// configuration has in common.
LayerStack TextTower(const Config& config, const TowerDefaults& absent, Description& description);

// Layers, and patches after `leading` class tokens.
LayerStack PictureTower(const Config& config, const TowerDefaults& absent, const ImageInput& image, bool class_token,
                        Description& description);

struct Towers {
  // Each makes one program of this name.
  void (*text)(const Checkpoint& checkpoint, const std::string& program, Description& description);
  void (*picture)(const Checkpoint& checkpoint, const std::string& program, Description& description);
  const char* matching;  // what compares scores: "softmax" over texts, or "sigmoid" of each
};

// A directory of both: programs encode_text and encode_image, and what cosines are multiplied by as metadata; for the
// tasks text, image and image-classification, one tower, program encode.
void DescribeTowers(const Towers& towers, const Checkpoint& checkpoint, Description& description);

// Classes of pictures by what `pooled` is: the whole rest of such a program.
void AddClasses(const std::string& pooled, ProgramBuilder& builder, Description& description);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_TOWERS_H_
