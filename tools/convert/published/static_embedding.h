// Static embeddings: the mean of a table's rows for a text's tokens, without special tokens.
#ifndef FOVEA_TOOLS_CONVERT_PUBLISHED_STATIC_EMBEDDING_H_
#define FOVEA_TOOLS_CONVERT_PUBLISHED_STATIC_EMBEDDING_H_

#include <string>

#include "tools/convert/description.h"

namespace fovea::tools {

// The module StaticEmbedding of sentence-transformers; the last operation makes its embedding.
Description DescribeStaticEmbedding(const std::string& directory);

// Whether config.json of a directory is one of model2vec, and a model of that library without modules.json.
bool IsModel2Vec(const std::string& directory);
Description DescribeModel2Vec(const std::string& directory);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_PUBLISHED_STATIC_EMBEDDING_H_
