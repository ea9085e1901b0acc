// A C header with the static memory that a model and a session of it need.
#ifndef FOVEA_TOOLS_INSPECT_STATIC_MEMORY_H_
#define FOVEA_TOOLS_INSPECT_STATIC_MEMORY_H_

#include <string>
#include <vector>

#include "tools/common/session.h"

namespace fovea::tools {

// For the session's limits. The sizes hold for this library version and machines with pointers of the same size.
std::string StaticMemoryHeader(const Model& model, const Session& session);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_INSPECT_STATIC_MEMORY_H_
