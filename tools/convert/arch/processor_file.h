// The file of a published model with the preparation of audio or images.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_PROCESSOR_FILE_H_
#define FOVEA_TOOLS_CONVERT_ARCH_PROCESSOR_FILE_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "tools/convert/arch/config.h"

namespace fovea::tools {

struct ProcessorFile {
  Json json;         // an object
  std::string name;  // begins messages

  Config config() const { return {json, name}; }
};

// Reads the object `part` (feature_extractor, image_processor) of processor_config.json, which later versions of the
// original library write, else preprocessor_config.json; nothing if the directory has neither.
std::optional<ProcessorFile> FindProcessor(const std::string& directory, const std::string& part);

// The type of the processor. A file without one has the type that the original library uses for the model_type of
// config.json; empty: there is none.
std::string SoundProcessorType(const ProcessorFile& processor, const std::string& model_type);
std::string ImageProcessorType(const ProcessorFile& processor, const std::string& model_type);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_PROCESSOR_FILE_H_
