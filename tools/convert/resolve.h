// Resolves a description, which uses names, to the records of a blob, which use indices; infers and checks every shape.
// checked.
#ifndef FOVEA_TOOLS_CONVERT_RESOLVE_H_
#define FOVEA_TOOLS_CONVERT_RESOLVE_H_

#include <vector>

#include "tools/blob/blob.h"
#include "tools/convert/description.h"

namespace fovea::tools {

struct Resolved {
  BlobContent content;              // tensors with shapes, without bytes
  std::vector<Constant> constants;  // the values of content.tensors
  // For content.tensors, the shortest allowed type. Any: weights of linear layers and embedding tables. No integers:
  // tensors of attention stored as f16, and weights of layers over whole texts or documents (a space that has children
  // and no parent), which come after the last pooling: they run once and their error is the error of the output. This
  // exception does not apply to decoders, whose layers run in every step: programs that carry a value from run to run
  // or are marked as such. Also no integers: weights of layers that score experts (MoE routing).
  std::vector<Shortest> shortest;
  std::vector<bool>
      is_part;  // for content.programs: shares its layers with another program: a part, or a decoder with a KV cache
};

// Fails with the location (program, operation) and the fault.
Resolved Resolve(const Description& description);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_RESOLVE_H_
