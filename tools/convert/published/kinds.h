// Repositories whose weights are for another program, and files that are placeholders for other files: each is named in
// one sentence, with the way out.
#ifndef FOVEA_TOOLS_CONVERT_PUBLISHED_KINDS_H_
#define FOVEA_TOOLS_CONVERT_PUBLISHED_KINDS_H_

#include <string>

namespace fovea::tools {

// Fails if `input`, a path that is no directory, is a file that `fovea convert` does not read: weights without their
// directory, an archive, or nothing at all.
void RefuseOtherInputs(const std::string& input);

// Fails if a directory is of another program, also where it has a config.json.
void RefuseOtherKinds(const std::string& directory);

// Fails with what the directory holds in place of weights that can be read, or of a config.json.
[[noreturn]] void FailWithoutWeights(const std::string& directory);
[[noreturn]] void FailWithoutConfig(const std::string& directory);

// Fails if a file is the pointer that Git LFS leaves where a large file was not downloaded.
void RefusePointer(const std::string& path);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_PUBLISHED_KINDS_H_
