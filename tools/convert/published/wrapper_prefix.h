// Names that training wrappers put in front of all tensors: "module." (DataParallel), "_orig_mod." (torch.compile),
// "base_model.model." (PEFT), "0.auto_model." (sentence-transformers), the attribute of a class around the model.
#ifndef FOVEA_TOOLS_CONVERT_PUBLISHED_WRAPPER_PREFIX_H_
#define FOVEA_TOOLS_CONVERT_PUBLISHED_WRAPPER_PREFIX_H_

#include <functional>
#include <string>
#include <vector>

#include "tools/convert/arch/architecture.h"
#include "tools/convert/description.h"

namespace fovea::tools {

// The beginnings, up to a dot, that all stored names share, the shortest first.
std::vector<std::string> SharedPrefixes(const Weights& weights);

// Describes a model by its names. If an architecture does not find its names, and the names that it finds without a
// shared prefix are complete, the prefix is dropped and a finding reports it. Merges the adapter of `reading`.
Description DescribeUnwrapped(const Config& config, const std::string& directory, const AddWeights& add,
                              const Reading& reading);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_PUBLISHED_WRAPPER_PREFIX_H_
