// The size of a model as people state it.
#ifndef FOVEA_TOOLS_MODEL_PARAMETERS_H_
#define FOVEA_TOOLS_MODEL_PARAMETERS_H_

#include <stdint.h>

#include <map>
#include <string>

#include "tools/model/model.h"

namespace fovea::tools {

// Numbers in the tensors of a blob; a tensor that several layers share counts once.
uint64_t ParameterCount(const Model& model);

// "66.4 million"; exact below a million.
std::string ParameterText(uint64_t count);

// Bytes of the tensors by their type: "int8".
std::map<std::string, uint64_t> WeightBytes(const Model& model);

// "int8 61.0 MiB, f32 1.2 MiB": the most bytes first.
std::string WeightText(const std::map<std::string, uint64_t>& bytes);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_MODEL_PARAMETERS_H_
