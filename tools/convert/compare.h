// Runs two blobs of one model on the same inputs.
#ifndef FOVEA_TOOLS_CONVERT_COMPARE_H_
#define FOVEA_TOOLS_CONVERT_COMPARE_H_

#include <vector>

#include "tools/common/model.h"
#include "tools/convert/convert.h"

namespace fovea::tools {

// Appends an entry for every output of every program to report.outputs. Uses the options' texts and depth.
void CompareModels(const Model& exact, const Model& stored, const ConvertOptions& options, uint32_t workers,
                   ConvertReport& report, const Progress& progress);
// The same of blobs.
void CompareBlobs(const std::vector<uint8_t>& exact, const std::vector<uint8_t>& stored, const ConvertOptions& options,
                  uint32_t workers, ConvertReport& report, const Progress& progress);

// Both blobs in turns over a text of each length, the model's longest among them: how long the first program takes, and
// how its first output differs. Appends to report.lengths.
void CompareLengths(const std::vector<uint8_t>& before, const std::vector<uint8_t>& after,
                    const ConvertOptions& options, uint32_t workers, ConvertReport& report, const Progress& progress);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_COMPARE_H_
