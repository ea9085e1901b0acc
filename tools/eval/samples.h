// Files of what models are tried on: a line for each sample, fields with tabs between them.
#ifndef FOVEA_TOOLS_EVAL_SAMPLES_H_
#define FOVEA_TOOLS_EVAL_SAMPLES_H_

#include <stddef.h>

#include <string>
#include <vector>

namespace fovea::tools {

struct Sample {
  std::vector<std::string> parts;  // one text or two, or a path
  std::string label;
  double score = 0;
  size_t line = 0;  // from 1 on
};

struct Samples {
  std::string file;
  std::vector<Sample> list;

  // How messages name a sample: "F.tsv:12".
  std::string Place(const Sample& sample) const;
};

// All of them leave out empty lines, name file and line of whatever is wrong, and fail where nothing is left.
Samples ReadScoredPairs(const std::string& file);    // text, text, score
Samples ReadLabelled(const std::string& file);       // text, label; or text, text, label in all lines
Samples ReadLabelledFiles(const std::string& file);  // path, label; paths count from where the file is
Samples ReadTexts(const std::string& file);          // text

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_EVAL_SAMPLES_H_
