// Packed sections of a blob, for this machine and others.
#ifndef FOVEA_TOOLS_COMMON_PACKED_H_
#define FOVEA_TOOLS_COMMON_PACKED_H_

#include <string>
#include <vector>

#include "tools/blob/blob.h"
#include "tools/common/model.h"

namespace fovea::tools {

// The machine at hand, among the targets.
inline constexpr const char kHost[] = "host";

// What weights can be packed for: kHost and the machines that the library knows.
std::vector<std::string> PackTargets();

// The sections for these targets, each of them once, those of equal layout, too. `blob` stays, on a multiple of 64
// bytes, and is checked; `name` begins messages. A section without bytes: nothing is packed.
std::vector<BlobPacked> Pack(const void* blob, uint64_t size, const std::string& name,
                             const std::vector<std::string>& targets);

// The targets other than kHost that such a packed section of a model is for.
std::vector<std::string> TargetsOf(const Model& model, uint64_t layout);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_COMMON_PACKED_H_
