// From a description, which speaks in names, to the records of a blob, which are indices: every shape inferred and
// checked.
#ifndef FOVEA_TOOLS_CONVERT_RESOLVE_H_
#define FOVEA_TOOLS_CONVERT_RESOLVE_H_

#include <vector>

#include "tools/blob/blob.h"
#include "tools/convert/description.h"

namespace fovea::tools {

struct Resolved {
  BlobContent content;              // tensors have shapes, but no bytes yet
  std::vector<Constant> constants;  // the values of content.tensors
  // Of content.tensors. Any type: weights of linear layers and tables of embeddings. Not integers: what attention takes
  // as f16, and the weight of a layer over whole texts or documents (a space that has children and no parent), so
  // after the last pooling; it runs once and its error is the output's. Not so in a decoder, whose layers run in every
  // step: a program that carries a value from run to run, or says that it is one. Nor the weight of a layer that scores
  // experts.
  std::vector<Shortest> shortest;
  std::vector<bool>
      is_part;  // of content.programs: its layers are another program's: a part, or a decoder that keeps texts
};

// Fails with the place (program, operation) and what is wrong there.
Resolved Resolve(const Description& description);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_RESOLVE_H_
