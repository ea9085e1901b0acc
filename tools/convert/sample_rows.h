// Rows that values of a model hold when it reads texts; the texts are made up.
#ifndef FOVEA_TOOLS_CONVERT_SAMPLE_ROWS_H_
#define FOVEA_TOOLS_CONVERT_SAMPLE_ROWS_H_

#include <map>
#include <vector>

#include "tools/common/model.h"
#include "tools/common/session.h"
#include "tools/convert/sample_ids.h"

namespace fovea::tools {

// Runs a program on texts of many lengths whose ids are as frequent as words of a language, which vocabularies list by
// frequency; inputs that may be left out hold what they are then. The same rows every time, with any number of workers.
// `ids`: texts that are given come first, and where they have as many tokens as the others there are no others.
std::map<uint32_t, Matrix> SampleRows(const Model& model, uint32_t program, const std::vector<uint32_t>& values,
                                      const IdRows& ids, uint32_t workers);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_SAMPLE_ROWS_H_
