// Writes a C header with static memory for a model and its sessions.
#ifndef FOVEA_TOOLS_INSPECT_STATIC_MEMORY_H_
#define FOVEA_TOOLS_INSPECT_STATIC_MEMORY_H_

#include <string>
#include <vector>

#include "tools/model/session.h"

namespace fovea::tools {

// Defines FOVEA_ALIGN64 unless it is defined.
inline constexpr const char kAlignMacro[] =
    "#ifndef FOVEA_ALIGN64\n"
    "#if defined(__GNUC__)\n#define FOVEA_ALIGN64 __attribute__((aligned(64)))\n"
    "#elif defined(_MSC_VER)\n#define FOVEA_ALIGN64 __declspec(align(64))\n"
    "#else\n#define FOVEA_ALIGN64 _Alignas(64)\n#endif\n#endif\n";

// `name`: part of the names of its memory; empty if there is only one session.
struct NamedSession {
  std::string name;
  const Session* session;
};

// For the sessions' limits. `longest_text`: bytes of the longest text to encode; 0: none. `generator_bytes` 0: no
// generator. The sizes hold for this library version and machines with pointers of the same size.
std::string StaticMemoryHeader(const Model& model, const std::vector<NamedSession>& sessions, uint64_t longest_text,
                               uint64_t generator_bytes = 0);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_INSPECT_STATIC_MEMORY_H_
