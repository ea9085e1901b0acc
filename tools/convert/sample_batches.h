// Batches of samples, given or made up, for the rows that values of a model hold when it reads them.
#ifndef FOVEA_TOOLS_CONVERT_SAMPLE_BATCHES_H_
#define FOVEA_TOOLS_CONVERT_SAMPLE_BATCHES_H_

#include <stddef.h>
#include <stdint.h>

#include <set>
#include <vector>

#include "tools/common/batch.h"
#include "tools/common/model.h"
#include "tools/convert/samples.h"

namespace fovea::tools {

// Whether a program reads anything but ids: nothing is known about what that is like, so nothing is made up.
bool TakesNumbers(const Model& model, uint32_t program);

// What a program reads so that `values` hold rows to learn from. First come samples that are given, as many as take
// some hundred megabytes. If these are texts of fewer tokens than there would be without, made-up ones of many lengths
// follow, whose ids are as frequent as words of a language, which vocabularies list by frequency; inputs that may be
// left out hold what they are then. None for a program that takes numbers which are not given. The same every time.
std::vector<Batch> SampleBatches(const Model& model, uint32_t program, const std::set<uint32_t>& values,
                                 const SampleSources& sources);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_SAMPLE_BATCHES_H_
