// The metadata in the header of a safetensors file.
#ifndef FOVEA_TOOLS_SAFETENSORS_METADATA_H_
#define FOVEA_TOOLS_SAFETENSORS_METADATA_H_

#include <stdint.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace fovea::tools {

using SafetensorsMetadata = std::map<std::string, std::string>;

// Reads the metadata from the bytes of a file that ParseSafetensors accepts. Fails if a value is not a string.
SafetensorsMetadata ParseSafetensorsMetadata(const uint8_t* data, uint64_t size, const std::string& where);

// Adds metadata to the bytes of a file from SafetensorsWriter.
std::string WithMetadata(const std::string& file, const std::vector<std::pair<std::string, std::string>>& metadata);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_SAFETENSORS_METADATA_H_
