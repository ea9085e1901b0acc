// The files of a directory that hold its weights.
#ifndef FOVEA_TOOLS_CONVERT_PUBLISHED_WEIGHT_FILES_H_
#define FOVEA_TOOLS_CONVERT_PUBLISHED_WEIGHT_FILES_H_

#include <stdint.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tools/convert/findings.h"
#include "tools/convert/weights.h"

namespace fovea::tools {

// Adds all tensors of a directory, by their published names with `prefix` in front. Fails where it holds none that can
// be read, with what it holds instead.
void AddWeightFiles(const std::string& directory, const std::string& prefix, Weights& weights, Findings& findings);

struct FileTensor {
  std::vector<uint64_t> shape;
  std::function<std::vector<float>()> load;
  RawTensor raw = {};  // none if the elements are not stored row by row
};
// The tensors of one file: safetensors, else of torch.save.
std::map<std::string, FileTensor> ReadTensors(const std::string& path, Findings& findings);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_PUBLISHED_WEIGHT_FILES_H_
