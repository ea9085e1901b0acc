// Where tests find files: this repository's, those in tests/data, and trained models of others that may be absent.
#ifndef FOVEA_TESTS_SUPPORT_PATHS_H_
#define FOVEA_TESTS_SUPPORT_PATHS_H_

#include <string>

namespace fovea::test {

// A path within this repository.
std::string InSource(const std::string& path);
// A path within tests/data: outputs of original implementations, always there.
std::string InData(const std::string& path);
// A path beside this repository (or in $FOVEA_SHARED_DIR), where trained models and tokenizers of others stand.
std::string InShared(const std::string& path);
// Says which case is not tested when `path`, one of InShared, is not there: the caller then skips the case.
bool Missing(const std::string& path);

}  // namespace fovea::test

#endif  // FOVEA_TESTS_SUPPORT_PATHS_H_
