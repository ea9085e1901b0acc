// Files of samples: one per line, with fields separated by tabs.
#ifndef FOVEA_TOOLS_EVAL_SAMPLES_H_
#define FOVEA_TOOLS_EVAL_SAMPLES_H_

#include <stddef.h>

#include <string>
#include <vector>

namespace fovea::tools {

struct Sample {
  std::vector<std::string> parts;  // one text, two texts, or a path
  std::string label;
  double score = 0;
  size_t line = 0;  // from 1
};

struct Samples {
  std::string file;
  std::vector<Sample> list;

  // Location of a sample for messages: "F.tsv:12".
  std::string Place(const Sample& sample) const;
};

// Empty lines are skipped. Messages have file and line; a file without samples is an error.
Samples ReadScoredPairs(const std::string& file);    // text, text, score
Samples ReadLabelled(const std::string& file);       // text, label; or text, text, label in all lines
Samples ReadLabelledFiles(const std::string& file);  // path, label in either order; paths are relative to the file
Samples ReadTexts(const std::string& file);          // text

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_EVAL_SAMPLES_H_
