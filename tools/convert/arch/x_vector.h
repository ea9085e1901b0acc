// Embeddings of speakers (x-vectors, Snyder et al. 2018): dilated convolutions over frames, then mean and standard
// deviation of each column.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_X_VECTOR_H_
#define FOVEA_TOOLS_CONVERT_ARCH_X_VECTOR_H_

#include <string>
#include <vector>

#include "tools/convert/arch/program_builder.h"

namespace fovea::tools {

// The spaces of rows that the convolutions keep, chosen from space `of`.
void AddXVectorSpaces(const std::string& of, std::vector<Space>& spaces);

// Ends the program after the rows `last` of space `space`: `embeddings`, and `logits` if the classifier is stored.
void FinishXVector(const std::string& last, const std::string& space, const Checkpoint& checkpoint,
                   Description& description, ProgramBuilder& builder);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_X_VECTOR_H_
