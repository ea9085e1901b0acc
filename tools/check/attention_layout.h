// How the library that a model comes from lays out attention weights, where it does so otherwise than by key position.
#ifndef FOVEA_TOOLS_CHECK_ATTENTION_LAYOUT_H_
#define FOVEA_TOOLS_CHECK_ATTENTION_LAYOUT_H_

#include <optional>
#include <string>

#include "tools/common/padded.h"

namespace fovea::tools {

// Metadata "layout.<step>" has the words that begin the comments.
struct AttentionLayout {
  enum class Kind {
    kDense,     // no such metadata: [batch, heads, queries, keys]
    kBand,      // "band SIDE VALUE": [batch, heads, queries, columns]: the keys that VALUE selects, which stand there
                // only, then those at distances -SIDE .. SIDE; selected queries have zeros
    kRepeated,  // "repeated BLOCK TIMES FULL_UP_TO": where there are more than FULL_UP_TO keys, the first BLOCK of them
                // count TIMES for queries of inner blocks, but are given as if once
    kKeysFirst,  // "keys_first": [batch, heads, keys, queries]
    kFlat,       // "flat": [batch * heads, queries, keys]
    kChunked,  // "chunked CHUNK BEFORE AFTER MULTIPLE LEAST [SORTED]": [batch, heads, chunks, CHUNK queries, columns],
               // where columns are the keys of the BEFORE chunks before, of the own one and of the AFTER after, the
               // first chunk after the last. With SORTED, which a `sort` made, chunks are of its rounds, one round
               // after the other, and the weights of a query are a softmax in each round. Rounds are a multiple of
               // MULTIPLE chunks, the last ones without keys. Up to LEAST keys: kDense
  };
  Kind kind = Kind::kDense;
  uint32_t side = 0;                                                   // kBand
  uint32_t block = 0, times = 0, full_up_to = 0;                       // kRepeated
  uint32_t chunk = 0, before = 0, after = 0, multiple = 1, least = 0;  // kChunked
  std::optional<uint32_t> value;                                       // VALUE or SORTED
};

AttentionLayout LayoutOf(const Model& model, uint32_t program, const std::string& step);

// Weights as PaddedAttention has them (of tap `tap`), laid out so; those of ragged batches are left as they
// are. The session must keep the layout's value.
PaddedTensor LayOut(const Model& model, const AttentionLayout& layout, PaddedTensor dense, const Session& session,
                    const Batch& batch, uint32_t tap);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CHECK_ATTENTION_LAYOUT_H_
