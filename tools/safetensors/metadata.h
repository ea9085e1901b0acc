// What the header of a safetensors file says beside the tensors.
#ifndef FOVEA_TOOLS_SAFETENSORS_METADATA_H_
#define FOVEA_TOOLS_SAFETENSORS_METADATA_H_

#include <stdint.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace fovea::tools {

using SafetensorsMetadata = std::map<std::string, std::string>;

// Of the bytes of a file that ParseSafetensors takes. Fails where a value is no text.
SafetensorsMetadata ParseSafetensorsMetadata(const uint8_t* data, uint64_t size, const std::string& where);

// A file that the writer made, with more to say.
std::string WithMetadata(const std::string& file, const std::vector<std::pair<std::string, std::string>>& metadata);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_SAFETENSORS_METADATA_H_
