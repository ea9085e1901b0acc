// The file in which a published model has how its sounds or pictures are prepared.
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

// Of a directory: the object `part` (feature_extractor, image_processor) of processor_config.json, where later versions
// of the original library write it, else preprocessor_config.json; nothing where there is neither.
std::optional<ProcessorFile> FindProcessor(const std::string& directory, const std::string& part);

// The type of the processor, or, as in the original library, the one that goes with the model_type of config.json
// where the file has none; empty: there is none for that either.
std::string SoundProcessorType(const ProcessorFile& processor, const std::string& model_type);
std::string ImageProcessorType(const ProcessorFile& processor, const std::string& model_type);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_PROCESSOR_FILE_H_
