// Files that are not complete yet: a signal that ends the process (Ctrl-C) removes them.
#ifndef FOVEA_TOOLS_BASE_PARTIAL_FILES_H_
#define FOVEA_TOOLS_BASE_PARTIAL_FILES_H_

#include <string>

namespace fovea::tools {

// For its lifetime, SIGINT, SIGTERM and SIGHUP remove this file before they end the process. Signals that have a
// handler or are ignored keep their effect. On Windows the file remains: it cannot be removed while it is open.
class PartialFile {
 public:
  explicit PartialFile(const std::string& path);
  ~PartialFile();
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

 private:
  int slot_ = -1;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BASE_PARTIAL_FILES_H_
