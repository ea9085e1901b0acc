// Converts attention maps to the layout of the model's original library, where it differs from one column per key.
#ifndef FOVEA_TOOLS_CHECK_ATTENTION_LAYOUT_H_
#define FOVEA_TOOLS_CHECK_ATTENTION_LAYOUT_H_

#include <optional>
#include <string>

#include "tools/tensors/padded_outputs.h"

namespace fovea::tools {

// Metadata "layout.<step>" begins with the word in quotes.
struct AttentionLayout {
  enum class Kind {
    kDense,  // no such metadata: [batch, heads, queries, keys]
    kBand,   // "band SIDE VALUE": [batch, heads, queries, columns]: keys selected by VALUE, which appear only in these
             // columns, then keys at distances -SIDE .. SIDE; selected queries have zeros
    kRepeated,   // "repeated BLOCK TIMES FULL_UP_TO": if there are more than FULL_UP_TO keys, the first BLOCK of them
                 // count TIMES in the softmax for queries of inner blocks, but are given once
    kKeysFirst,  // "keys_first": [batch, heads, keys, queries]
    kFlat,       // "flat": [batch * heads, queries, keys]
    kChunked,  // "chunked CHUNK BEFORE AFTER MULTIPLE LEAST [SORTED]": [batch, heads, chunks, CHUNK queries, columns],
               // where columns are the keys of the BEFORE chunks before, of the query's chunk and of the AFTER chunks
               // after, cyclically. With SORTED, made by a `sort`, chunks are in sorted order, round after round, and
               // the weights of a query are a softmax in each round. The number of chunks is a multiple of MULTIPLE;
               // the last ones may have no keys. Up to LEAST keys: kDense
  };
  Kind kind = Kind::kDense;
  uint32_t side = 0;                                                   // kBand
  uint32_t block = 0, times = 0, full_up_to = 0;                       // kRepeated
  uint32_t chunk = 0, before = 0, after = 0, multiple = 1, least = 0;  // kChunked
  std::optional<uint32_t> value;                                       // VALUE or SORTED
};

AttentionLayout LayoutOf(const Model& model, uint32_t program, const std::string& step);

// Converts weights of PaddedAttention (for tap `tap`) to the layout; ragged batches are unchanged. The session must
// keep the layout's value.
OutputTensor LayOut(const Model& model, const AttentionLayout& layout, OutputTensor dense, const Session& session,
                    const Batch& batch, uint32_t tap);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CHECK_ATTENTION_LAYOUT_H_
