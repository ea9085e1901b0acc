// preprocessor_config.json of a published model of pictures: how its pictures are made the size and the numbers that it
// was trained on.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_IMAGE_PROCESSOR_H_
#define FOVEA_TOOLS_CONVERT_ARCH_IMAGE_PROCESSOR_H_

#include <string>

#include "tools/convert/arch/processor_file.h"
#include "tools/convert/description.h"
#include "tools/image/preparation.h"

namespace fovea::tools {

// Fails with file and key where the processor is not known or does something that is not supported. Keys that it does
// not read become a finding.
Preparation ReadImageProcessor(const ProcessorFile& file, const std::string& model_type, Description& description);

// The directory's, as metadata; without a processor's file that of open_clip_config.json. A model is of use without:
// what cannot be read is warned about.
void DescribeImageProcessor(const std::string& directory, const std::string& model_type, Description& description);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_IMAGE_PROCESSOR_H_
