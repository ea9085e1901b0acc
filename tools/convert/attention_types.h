// Types of cached keys and values and of the products of attention.
#ifndef FOVEA_TOOLS_CONVERT_ATTENTION_TYPES_H_
#define FOVEA_TOOLS_CONVERT_ATTENTION_TYPES_H_

#include <stdint.h>

#include "tools/blob/blob.h"

namespace fovea {
enum class Products : uint32_t;  // runtime/blob/numbers.h
}

namespace fovea::tools {

// Inserts a cast after the keys and values of every attention, if only attentions read them, as keys or values: their
// f32 rows then exist only for a tile. (Otherwise the cast would be an additional copy.) Keys and values that a decoder
// reads from an encoder through links are cast in the encoder; the KV cache stores this type. f32: no casts.
void CastKeys(DType type, BlobContent& content);

// Sets the type of products for every dot-product attention that does not specify one.
void SetProducts(Products products, BlobProgram& program);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ATTENTION_TYPES_H_
