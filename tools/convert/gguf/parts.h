// The parts of DescribeGguf, a file each.
#ifndef FOVEA_TOOLS_CONVERT_GGUF_PARTS_H_
#define FOVEA_TOOLS_CONVERT_GGUF_PARTS_H_

#include <memory>
#include <string>

#include "tools/convert/gguf/metadata.h"
#include "tools/convert/text/model.h"
#include "tools/convert/weights.h"

namespace fovea::tools {

// What an architecture is in the words of the library.
struct GgufArchitecture {
  const char* name;        // general.architecture
  const char* model_type;  // of config.json
  const char* class_name;  // of `architectures`
  bool decoder;
  bool interleaved = false;    // rows of queries and keys lie as pairs of one rotary position
  bool norms_add_one = false;  // norms are stored with the one that the library adds
};
// Fails with the names that are known.
const GgufArchitecture& GgufArchitectureOf(const GgufMetadata& metadata);

// The object that config.json would be. Fails where the file asks for something that is not known.
Json GgufConfig(const GgufArchitecture& architecture, const GgufMetadata& metadata, const GgufTensors& tensors);
// How rows become one, by pool's names of kinds; empty: they do not.
std::string GgufPooling(const GgufMetadata& metadata);

// Adds all tensors, by the library's names and as the library has them. Fails at one that has no place.
void AddGgufWeights(const GgufArchitecture& architecture, const Json& config, std::shared_ptr<const GgufReader> file,
                    Weights& weights);

// Null if the file has none. Fails with the name of what is not supported.
std::shared_ptr<const TextModel> ReadGgufTokenizer(const GgufMetadata& metadata);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_GGUF_PARTS_H_
