// Finds the files that a description names, and reads lists of labels from them.
#ifndef FOVEA_TOOLS_CONVERT_DESCRIPTION_FILES_H_
#define FOVEA_TOOLS_CONVERT_DESCRIPTION_FILES_H_

#include <string>
#include <vector>

#include "tools/base/json.h"

namespace fovea::tools {

class DescriptionFiles {
 public:
  // `source`: another folder, whose files come first; empty: there is none.
  explicit DescriptionFiles(std::string beside, std::string source = "");

  // The folder that a file is in. Fails with both if it is in neither.
  std::string FolderOf(const std::string& file);
  std::string PathOf(const std::string& file);
  // The folder with a tokenizer's files, or the first.
  std::string TokenizerFolder() const;
  // One for each file that was found in both folders.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  const std::string beside_, source_;
  std::vector<std::string> warnings_;
};

// Names of classes: a list, the name of a file, or {"file", "key"} with a member of its object. The file has a name in
// each line, or is JSON: a list, {"name": number, ..} or {"number": "name", ..}.
std::vector<std::string> ReadLabels(const JsonView& labels, DescriptionFiles& files);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_DESCRIPTION_FILES_H_
