#include "tools/convert/published/config_file.h"

#include <filesystem>

#include "tools/base/fail.h"
#include "tools/base/utf8_path.h"
#include "tools/convert/published/config_spellings.h"
#include "tools/convert/published/text_part.h"

namespace fovea::tools {

Config ReadConfigFile(const std::string& directory, Findings& findings, bool* text_part) {
  findings.push_back({Topic::kFiles, "config.json"});
  const std::string path = (Utf8Path(directory) / "config.json").string();
  Json json = ReadJson(path);
  if (!json.is_object()) Fail("{}: not a JSON object", path);
  UseOneSpelling(json, findings);
  if (text_part != nullptr) *text_part = TakeTextPart(json);
  return {std::move(json), path};
}

}  // namespace fovea::tools
