// The conversion's report of the settings of generation: followed, without effect, or not supported.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_GENERATION_REPORT_H_
#define FOVEA_TOOLS_CONVERT_ARCH_GENERATION_REPORT_H_

#include <string>

#include "tools/convert/arch/decoder.h"

namespace fovea::tools {

// Whether `key` is a setting of transformers' GenerationConfig that is not a token: generation_config.json alone
// decides about it.
bool IsGenerationRule(const std::string& key);

// Goes through all settings: a warning names settings that are not applied, findings the rest. `translates`: the model
// has an encoder; `speech`: it reads sound.
void ReportGeneration(const GenerationConfig& config, bool translates, bool speech, Description& description);

// Tasks of config.json (task_specific_params) and the prefix of each text, which the original's pipelines apply.
void ReportTasks(const GenerationConfig& config, bool translates, Description& description);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_GENERATION_REPORT_H_
