// Directories without modules.json whose outputs are sentence embeddings all the same.
#ifndef FOVEA_TOOLS_CONVERT_PUBLISHED_PLAIN_ENCODER_H_
#define FOVEA_TOOLS_CONVERT_PUBLISHED_PLAIN_ENCODER_H_

#include <optional>
#include <string>

#include "tools/convert/arch/architecture.h"

namespace fovea::tools {

// model2vec; ColBERT with its projection of tokens; an encoder or decoder with Reading::pooling. Nothing for other
// directories.
std::optional<Description> DescribeEmbedder(const std::string& directory, const Reading& reading);

// Whether a class of config.json is no head of the original library but that of an embedder's own code, such as
// Contriever or BertForCL (SimCSE): its encoder is converted.
bool IsOwnEmbedder(const std::string& class_name);
// Reports it.
void ReportOwnEmbedder(const Config& config, const Reading& reading, Description& description);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_PUBLISHED_PLAIN_ENCODER_H_
