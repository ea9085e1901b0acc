// Packed sections of a blob, for the host and other targets.
#ifndef FOVEA_TOOLS_MODEL_PACKED_WEIGHTS_H_
#define FOVEA_TOOLS_MODEL_PACKED_WEIGHTS_H_

#include <string>
#include <vector>

#include "tools/blob/blob.h"
#include "tools/model/model.h"

namespace fovea::tools {

// Name of the host among the targets.
inline constexpr const char kHostTarget[] = "host";

// All targets: kHostTarget and the targets that the library knows.
std::vector<std::string> PackTargets();

// A tensor whose rows a blob of packed weights keeps, for layers and for what else reads it.
struct KeptTensor {
  std::string name;
  uint64_t bytes;
};

struct PackedWeights {
  std::vector<BlobPacked> sections;
  std::vector<bool> replaced;    // for each tensor: the sections hold all that a model reads of it
  std::vector<KeptTensor> kept;  // with kOnce: weights of layers that are not packed because their rows are kept
};

// How often a weight is stored that something else also reads, such as a table of embeddings: as rows and packed, or
// as rows alone, which its layers then read.
enum class SharedWeights { kTwice, kOnce };

// Packs for each target; targets of equal layout share one section. `blob` outlives the call, is aligned to 64 bytes
// and is verified; `name` begins messages. A section without bytes: no weights can be packed.
PackedWeights PackWeights(const void* blob, uint64_t size, const std::string& name,
                          const std::vector<std::string>& targets, SharedWeights shared);

// The targets other than kHostTarget whose layout is that of this section.
std::vector<std::string> TargetsWithLayout(uint64_t layout);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_MODEL_PACKED_WEIGHTS_H_
