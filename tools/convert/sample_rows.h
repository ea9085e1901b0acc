// Rows that values of a model hold when it reads texts; the texts are made up.
#ifndef FOVEA_TOOLS_CONVERT_SAMPLE_ROWS_H_
#define FOVEA_TOOLS_CONVERT_SAMPLE_ROWS_H_

#include <vector>

#include "tools/common/model.h"
#include "tools/common/session.h"

namespace fovea::tools {

// A session that has run a program, and holds `values`, on texts of many lengths whose ids are as frequent as words of a
// language, which vocabularies list by frequency; inputs that may be left out hold what they are then. The same rows
// every time, with any number of workers.
Session SampleRun(const Model& model, uint32_t program, const std::vector<uint32_t>& values, uint32_t workers);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_SAMPLE_ROWS_H_
