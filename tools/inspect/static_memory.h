// A C header with the static memory that a model and its sessions need.
#ifndef FOVEA_TOOLS_INSPECT_STATIC_MEMORY_H_
#define FOVEA_TOOLS_INSPECT_STATIC_MEMORY_H_

#include <string>
#include <vector>

#include "tools/common/session.h"

namespace fovea::tools {

// `name` stands in the names of its memory; empty where there is one session.
struct NamedSession {
  std::string name;
  const Session* session;
};

// For the sessions' limits. `longest_text`: the most bytes of a text that is encoded; 0: none is. `generator_bytes` 0:
// there is none. The sizes hold for this library version and machines with pointers of the same size.
std::string StaticMemoryHeader(const Model& model, const std::vector<NamedSession>& sessions, uint64_t longest_text,
                               uint64_t generator_bytes = 0);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_INSPECT_STATIC_MEMORY_H_
