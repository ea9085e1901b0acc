#include "tools/convert/published/config_file.h"

#include <filesystem>

namespace fovea::tools {

Config ReadConfigFile(const std::string& directory, Findings& findings) {
  findings.push_back({Topic::kFiles, "config.json"});
  return Config((std::filesystem::path(directory) / "config.json").string());
}

}  // namespace fovea::tools
