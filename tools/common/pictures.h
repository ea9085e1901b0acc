// Pictures to the inputs of a model's programs, of which there is one for each size that it was converted for.
#ifndef FOVEA_TOOLS_COMMON_PICTURES_H_
#define FOVEA_TOOLS_COMMON_PICTURES_H_

#include <stdint.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/common/batch.h"
#include "tools/common/model.h"
#include "tools/image/picture.h"
#include "tools/image/preparation.h"

namespace fovea::tools {

// The input that metadata "shape.<input>" describes by channels, height and width.
struct PictureInput {
  uint32_t value = 0;
  uint32_t channels = 0;
  Extent size;
};
std::optional<PictureInput> FindPictureInput(const Model& model, uint32_t program);

// How the model wants pictures: nothing, or an error, where it does not say.
std::optional<Preparation> FindPreparation(const Model& model);
Preparation PreparationOf(const Model& model);

// Programs that read nothing but a picture; fails if there are none. `name`: this one alone; empty: all.
std::vector<uint32_t> PicturePrograms(const Model& model, const std::string& name);

// Which of them a picture takes (NearestSize).
uint32_t ProgramFor(const Model& model, const std::vector<uint32_t>& programs, const Picture& picture);

Batch BatchFromPictures(const Model& model, uint32_t program, const std::vector<const Picture*>& pictures);

// Pictures that one program has read.
struct PictureRun {
  uint32_t program = 0;
  std::vector<size_t> which;         // of all pictures, in the order of the session's rows
  std::unique_ptr<Session> session;  // has run
};
std::vector<PictureRun> RunPictures(const Model& model, const std::string& program,
                                    const std::vector<Picture>& pictures, uint32_t workers);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_COMMON_PICTURES_H_
