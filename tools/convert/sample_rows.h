// Rows that values of a model hold when it reads samples, given or made up.
#ifndef FOVEA_TOOLS_CONVERT_SAMPLE_ROWS_H_
#define FOVEA_TOOLS_CONVERT_SAMPLE_ROWS_H_

#include <stddef.h>
#include <stdint.h>

#include <vector>

#include "tools/common/model.h"
#include "tools/common/session.h"
#include "tools/convert/samples.h"

namespace fovea::tools {

// Whether a program reads anything but ids: nothing is known about what that is like, so nothing is made up.
bool TakesNumbers(const Model& model, uint32_t program);

// Sessions that have run a program, and hold `values`, on samples. First come those that are given, as many as take
// some hundred megabytes. If these are texts of fewer tokens than there would be without, made-up ones of many lengths
// follow, whose ids are as frequent as words of a language, which vocabularies list by frequency; inputs that may be
// left out hold what they are then. None for a program that takes numbers which are not given. The same rows every
// time, with any number of workers.
std::vector<Session> SampleRuns(const Model& model, uint32_t program, const std::vector<uint32_t>& values,
                                const SampleSources& sources, uint32_t workers);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_SAMPLE_ROWS_H_
