// Rows that values of a model hold when it reads texts; the texts are made up.
#ifndef FOVEA_TOOLS_CONVERT_SAMPLE_ROWS_H_
#define FOVEA_TOOLS_CONVERT_SAMPLE_ROWS_H_

#include <vector>

#include "tools/common/model.h"
#include "tools/common/session.h"
#include "tools/convert/sample_ids.h"

namespace fovea::tools {

// Sessions that have run a program, and hold `values`, on texts. First come those of `ids`. If they have fewer tokens
// than there would be without, or the program does not read them (BatchOfIds), texts of many lengths follow whose ids
// are as frequent as words of a language, which vocabularies list by frequency; inputs that may be left out hold what
// they are then. The same rows every time, with any number of workers.
std::vector<Session> SampleRuns(const Model& model, uint32_t program, const std::vector<uint32_t>& values,
                                const IdRows& ids, uint32_t workers);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_SAMPLE_ROWS_H_
