// Models whose tokens are numbers of a series (Chronos).
#ifndef FOVEA_TOOLS_CONVERT_ARCH_SERIES_H_
#define FOVEA_TOOLS_CONVERT_ARCH_SERIES_H_

#include "tools/convert/arch/config.h"
#include "tools/convert/description.h"

namespace fovea::tools {

// Whether config.json has `chronos_config`.
bool ReadsSeries(const Config& config);

// Sets the metadata "series.*" that tools/generate/series_bins.h reads. Fails for tokens of another kind.
void DescribeSeries(const Config& config, Description& description);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_SERIES_H_
