// The parts of DescribeGguf, one file each.
#ifndef FOVEA_TOOLS_CONVERT_GGUF_PARTS_H_
#define FOVEA_TOOLS_CONVERT_GGUF_PARTS_H_

#include <memory>
#include <string>

#include "tools/convert/findings.h"
#include "tools/convert/gguf/metadata.h"
#include "tools/convert/text/model.h"
#include "tools/convert/weights.h"

namespace fovea::tools {

// Mapping of an architecture to the library.
struct GgufArchitecture {
  const char* name;            // general.architecture
  const char* model_type;      // in config.json
  const char* class_name;      // in `architectures`
  bool interleaved = false;    // rows of queries and keys are stored interleaved for RoPE
  bool norms_add_one = false;  // 1 is added to stored norms
  const char* experts = "";    // model_type of files with a mixture of experts; empty: there are none
};
// Fails, with the kind of model or the list of supported names, if the family is not supported.
GgufArchitecture GgufArchitectureOf(const GgufMetadata& metadata);

// Whether the file is an encoder: texts are not generated.
bool IsEncoder(const GgufArchitecture& architecture);

// The equivalent of config.json. Fails for unsupported settings.
Json GgufConfig(const GgufArchitecture& architecture, const GgufMetadata& metadata, const GgufTensors& tensors);
// The pooling of rows, by pool's names of kinds; empty: none.
std::string GgufPooling(const GgufMetadata& metadata);

// Adds all tensors in the library's names and layout. Fails for a tensor without a place.
void AddGgufWeights(const GgufArchitecture& architecture, std::shared_ptr<const GgufReader> file, Weights& weights);

// Null if the file has none. Fails with the name of an unsupported part.
std::shared_ptr<const TextModel> ReadGgufTokenizer(const GgufMetadata& metadata);

// Adds findings for the table of a conversion: files, types of tensors, limits, the head; what was left out.
void AddGgufFindings(const Json& config, const GgufMetadata& metadata, const GgufReader& file, Findings* findings);
// To call when everything has been read: keys that nothing read.
void AddUnreadKeys(const GgufMetadata& metadata, Findings* findings, std::vector<std::string>* warnings);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_GGUF_PARTS_H_
