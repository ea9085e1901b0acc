// Settings of tokenizer_config.json that are about the use of a tokenizer: limits, sides, and how tokens become text.
#ifndef FOVEA_TOOLS_CONVERT_TEXT_TOKENIZER_SETTINGS_H_
#define FOVEA_TOOLS_CONVERT_TEXT_TOKENIZER_SETTINGS_H_

#include "tools/base/json.h"
#include "tools/convert/text/build.h"

namespace fovea::tools {

// Sets the model's limit and the side that is cut off.
void ApplySettings(const JsonView& config, const TextOptions& options, TextModel* model);

// Reports the limit that holds, of the tokenizer's and the model's own (options.max_length). `configured`: the limit of
// tokenizer_config.json, 0: none; `stored`: that of the files before it.
void ReportLimit(uint32_t configured, uint32_t stored, const TextOptions& options);

// model_max_length, or its former name; 0: none, which values such as 1e30 mean.
uint32_t ConfiguredLength(const JsonView& config);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_TEXT_TOKENIZER_SETTINGS_H_
