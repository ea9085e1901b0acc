// Turns failed calls of the library into a Failure with one line: the action, the fault, the location.
#ifndef FOVEA_TOOLS_MODEL_LIBRARY_ERROR_H_
#define FOVEA_TOOLS_MODEL_LIBRARY_ERROR_H_

#include <string>

#include "fovea/status.h"
#include "tools/base/fail.h"

namespace fovea::tools {

// "text (FOVEA_E_SHAPE, step 3, tensor 17, expected 64, found 32)"
std::string ErrorText(const fovea_error& error);

// Throws unless `status` is FOVEA_OK. `doing` begins the line: a file name or the action.
void Check(fovea_status status, const fovea_error& error, const std::string& doing);
// Same for calls without an error record.
void Check(fovea_status status, const std::string& doing);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_MODEL_LIBRARY_ERROR_H_
