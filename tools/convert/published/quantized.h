// Layers whose weights were published quantized become weights.
#ifndef FOVEA_TOOLS_CONVERT_PUBLISHED_QUANTIZED_H_
#define FOVEA_TOOLS_CONVERT_PUBLISHED_QUANTIZED_H_

#include <string>

#include "tools/convert/arch/config.h"
#include "tools/convert/findings.h"
#include "tools/convert/weights.h"

namespace fovea::tools {

// Fails, with the name, where the configuration states a method whose weights cannot be read.
void RefuseQuantization(const Config& config);

// Replaces the stored parts of quantized layers (numbers, scales, zeros) by `X.weight`, whose values are computed when
// they are asked for. The method is that of `quantization_config` (or its older names) of the configuration, else of
// quantize_config.json or quant_config.json in the directory. Findings state what was read how.
void ReadQuantized(const Config& config, const std::string& directory, Weights& weights, Findings& findings);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_PUBLISHED_QUANTIZED_H_
