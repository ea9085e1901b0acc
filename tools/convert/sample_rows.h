// Rows that values of a model hold when it reads texts, given or made up.
#ifndef FOVEA_TOOLS_CONVERT_SAMPLE_ROWS_H_
#define FOVEA_TOOLS_CONVERT_SAMPLE_ROWS_H_

#include <stddef.h>
#include <stdint.h>

#include <optional>
#include <vector>

#include "tools/common/batch.h"
#include "tools/common/model.h"
#include "tools/common/session.h"
#include "tools/convert/convert.h"

namespace fovea::tools {

// What the options give, rows of ids or texts, as a program reads it; the first of them, until `most` tokens are there.
// Nothing if the program reads neither.
std::optional<Batch> GivenSamples(const Model& model, uint32_t program, const ConvertOptions& options,
                                  size_t most = SIZE_MAX);

// Sessions that have run a program, and hold `values`, on texts. First come those that are given, as many as take some
// hundred megabytes. If they have fewer tokens than there would be without, texts of many lengths follow whose ids are
// as frequent as words of a language, which vocabularies list by frequency; inputs that may be left out hold what they
// are then. The same rows every time, with any number of workers.
std::vector<Session> SampleRuns(const Model& model, uint32_t program, const std::vector<uint32_t>& values,
                                const ConvertOptions& options, uint32_t workers);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_SAMPLE_ROWS_H_
