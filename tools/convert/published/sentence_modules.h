// Modules of sentence-transformers that follow an encoder, as operations.
#ifndef FOVEA_TOOLS_CONVERT_PUBLISHED_SENTENCE_MODULES_H_
#define FOVEA_TOOLS_CONVERT_PUBLISHED_SENTENCE_MODULES_H_

#include <string>
#include <vector>

#include "tools/convert/description.h"

namespace fovea::tools {

// The value from which the next module continues, in each program of the model (several: of texts and of images).
struct Tail {
  size_t program = 0;
  std::string value;
};

// Whether a Pooling module pools a prompt's tokens as well (include_prompt).
bool PoolsPrompts(const std::string& directory);

class ModuleChain {
 public:
  // `pooled`: the values have a row for each text or image, else one for each token.
  ModuleChain(Description& description, std::vector<Tail> tails, bool pooled)
      : description_(description), tails_(std::move(tails)), pooled_(pooled) {}

  bool pooled() const { return pooled_; }

  // Modules by the configuration and weights in their directories. Each fails with file and key where it is not
  // supported.
  void Pooling(const std::string& directory);
  void Dense(const std::string& directory);
  void LayerNorm(const std::string& directory);
  void Normalize();
  void Project(const std::vector<std::string>& tensors);  // weight, [bias]
  // `modes`: as in a Pooling module ("cls", "mean", ...); several are concatenated.
  void Pool(const std::vector<std::string>& modes);

  // Names the last value of each program and makes it the only output.
  void Finish(const std::string& output);

 private:
  void Append(const char* op, const std::vector<std::string>& tensors, const Json& attributes);
  std::string Next(Tail& tail, const char* op, std::vector<std::string> in, std::vector<std::string> tensors,
                   Json attributes);
  // Adds the weight files of a module; returns the prefix of their names.
  std::string AddWeights(const std::string& directory);

  Description& description_;
  std::vector<Tail> tails_;
  bool pooled_;
  size_t modules_ = 0;  // with weights
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_PUBLISHED_SENTENCE_MODULES_H_
