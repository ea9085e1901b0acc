// In which types attention keeps keys and values, and multiplies.
#ifndef FOVEA_TOOLS_CONVERT_ATTENTION_TYPES_H_
#define FOVEA_TOOLS_CONVERT_ATTENTION_TYPES_H_

#include "tools/blob/blob.h"

namespace fovea::tools {

// Puts a cast after the keys and values of every attention: of those that nothing but attentions reads, as keys or
// values, so that their f32 rows exist for a tile only. Others would take more memory than before. Where a decoder
// reads them from an encoder through links, the encoder casts them; where a text's are kept, they are kept so. f32:
// none.
void CastKeys(DType type, BlobContent& content);

// Lets every attention with dot products that says nothing of its own take them in f32, bf16 or int8.
void SetProducts(DType type, BlobProgram& program);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ATTENTION_TYPES_H_
