// Heads whose matrix is that of the embeddings.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_TIED_HEAD_H_
#define FOVEA_TOOLS_CONVERT_ARCH_TIED_HEAD_H_

#include <string>

#include "tools/convert/description.h"

namespace fovea::tools {

// Reports that the head takes `table`, and warns if a separate matrix, `head`, is stored and has other values: the
// original library ties the head after it has read the file.
void ReportTied(const std::string& head, const std::string& table, Description& description);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_TIED_HEAD_H_
