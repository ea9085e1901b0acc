// Names of files as paths. All names are UTF-8 here; std::filesystem::path(std::string) reads other bytes on Windows.
#ifndef FOVEA_TOOLS_BASE_UTF8_PATH_H_
#define FOVEA_TOOLS_BASE_UTF8_PATH_H_

#include <filesystem>
#include <string>

namespace fovea::tools {

inline std::filesystem::path Utf8Path(const std::string& name) { return std::filesystem::u8path(name); }

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BASE_UTF8_PATH_H_
