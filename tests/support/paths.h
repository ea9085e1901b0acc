// Where tests find files: the repository's, data in tests/data, and published trained models, which may be absent.
#ifndef FOVEA_TESTS_SUPPORT_PATHS_H_
#define FOVEA_TESTS_SUPPORT_PATHS_H_

#include <string>

namespace fovea::test {

// A path within this repository.
std::string InSource(const std::string& path);
// A path within tests/data: outputs of original implementations, always there.
std::string InData(const std::string& path);
// A path beside this repository (or in $FOVEA_SHARED_DIR), where published trained models and tokenizers are.
std::string InShared(const std::string& path);
// Reports which case is not tested if `path`, one of InShared, is absent; the caller then skips the case.
bool Missing(const std::string& path);

}  // namespace fovea::test

#endif  // FOVEA_TESTS_SUPPORT_PATHS_H_
