// Reads files line by line.
#ifndef FOVEA_TOOLS_BASE_LINES_H_
#define FOVEA_TOOLS_BASE_LINES_H_

#include <stdint.h>

#include <fstream>
#include <string>
#include <vector>

namespace fovea::tools {

// Reads a file line by line; "-" is standard input.
class LineReader {
 public:
  explicit LineReader(const std::string& path);

  // The next line without its end. Returns false at the end of the file.
  bool Next(std::string* line);
  // Bytes read so far, and of the file; 0: not known.
  uint64_t bytes() const { return bytes_; }
  uint64_t size() const { return size_; }

 private:
  const std::string path_;
  std::ifstream file_;
  std::istream& stream_;
  uint64_t bytes_ = 0, size_ = 0;
};

// All lines of a file.
std::vector<std::string> ReadLines(const std::string& path);

// Splits a line at tabs, or at another separator.
std::vector<std::string> FieldsOf(const std::string& line, char between = '\t');

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BASE_LINES_H_
