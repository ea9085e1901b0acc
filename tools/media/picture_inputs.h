// Converts images to the inputs of a model's programs, one program for each image size of the conversion.
#ifndef FOVEA_TOOLS_MEDIA_PICTURE_INPUTS_H_
#define FOVEA_TOOLS_MEDIA_PICTURE_INPUTS_H_

#include <stdint.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/image/picture.h"
#include "tools/image/preparation.h"
#include "tools/model/batch.h"
#include "tools/model/model.h"

namespace fovea::tools {

// The input whose metadata "shape.<input>" is channels, height and width.
struct PictureInput {
  uint32_t value = 0;
  uint32_t channels = 0;
  Extent size;
};
std::optional<PictureInput> FindPictureInput(const Model& model, uint32_t program);

// How to prepare images for the model, from its metadata; nothing if it is absent; fails if it is invalid.
std::optional<Preparation> FindPreparation(const Model& model);
Preparation PreparationOf(const Model& model);

// Programs whose only input is an image; fails if there are none. `name`: only this program; empty: all.
std::vector<uint32_t> PicturePrograms(const Model& model, const std::string& name);

// The program for an image, by size (NearestSize).
uint32_t ProgramFor(const Model& model, const std::vector<uint32_t>& programs, const Picture& picture);

// Inputs made image by image, so that only one decoded image is in memory.
class PictureBatch {
 public:
  PictureBatch(const Model& model, uint32_t program);
  void Add(const Picture& picture);
  // Input numbers of an image.
  size_t numbers() const { return size_t{input_.channels} * input_.size.height * input_.size.width; }
  Batch Finish();

 private:
  const Model& model_;
  const PictureInput input_;
  const Preparation preparation_;
  uint32_t space_ = 0;
  Batch batch_;
  std::vector<uint32_t> lengths_;  // rows of each image
};

// A window of images ends at this many, or at this many input numbers: 14 images of 224 x 224.
inline constexpr size_t kPicturesOfWindow = 64, kNumbersOfWindow = size_t{1} << 21;

// Image files that one program has processed.
struct PictureRun {
  uint32_t program;
  std::vector<size_t> which;  // indices of the images, in the order of the session's rows
  std::vector<Extent> sizes;  // original sizes of these images
  const Session& session;     // has run
};

struct PictureSteps {
  std::function<void(const PictureRun& run)> read;
  // All images before `done` have been read.
  std::function<void(size_t done)> end;
};

// Runs any number of image files in constant memory: in windows, each with one run per program.
void RunPictureFiles(const Model& model, const std::string& program, const std::vector<std::string>& files,
                     uint32_t workers, const PictureSteps& steps);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_MEDIA_PICTURE_INPUTS_H_
