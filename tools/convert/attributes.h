// Converts an operation's attributes from a description to records of a blob.
#ifndef FOVEA_TOOLS_CONVERT_ATTRIBUTES_H_
#define FOVEA_TOOLS_CONVERT_ATTRIBUTES_H_

#include <vector>

#include "runtime/blob/format.h"
#include "tools/base/json.h"

namespace fovea {
enum class OpCode : uint32_t;
}

namespace fovea::tools {

// Fails with an attribute that the operation does not have, a value that it cannot have, and one that is missing though
// descriptions must name it. Attributes have the order of `runtime/blob/attribute_list.inc`.
std::vector<AttributeRecord> ReadAttributes(OpCode code, const Json& attributes);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ATTRIBUTES_H_
