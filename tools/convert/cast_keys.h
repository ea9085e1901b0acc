// Keys and values that take less of a session's memory.
#ifndef FOVEA_TOOLS_CONVERT_CAST_KEYS_H_
#define FOVEA_TOOLS_CONVERT_CAST_KEYS_H_

#include "tools/blob/blob.h"

namespace fovea::tools {

// Puts a cast behind the keys and values of every attention of a program: of those that nothing but attentions reads,
// as keys or values, so that their f32 rows exist for a tile only. Others would take more memory than before. f32:
// none.
void CastKeys(DType type, BlobProgram& program);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_CAST_KEYS_H_
