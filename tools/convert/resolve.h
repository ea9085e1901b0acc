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
  std::vector<bool> quantizable;    // of content.tensors: used as weight of linear layers and table of embeddings only
  // Of content.tensors: weight of a layer over whole texts or documents (a space that has children and no parent), so
  // behind the last pooling. It runs once and its error is the output's, so it is not worth storing as integers.
  std::vector<bool> once_per_input;
  std::vector<bool> is_part;  // of content.programs: of another program, whose operations and tensors it has
};

// Fails with the place (program, operation) and what is wrong there.
Resolved Resolve(const Description& description);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_RESOLVE_H_
