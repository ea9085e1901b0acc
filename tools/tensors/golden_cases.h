// Cases of a golden file: named inputs with the outputs of a reference.
#ifndef FOVEA_TOOLS_TENSORS_GOLDEN_CASES_H_
#define FOVEA_TOOLS_TENSORS_GOLDEN_CASES_H_

#include <map>
#include <string>

#include "tools/safetensors/safetensors.h"

namespace fovea::tools {

// Tensors `<case>.in.*` and `<case>.out.*` of a golden file; `<case>.out64.*` (of higher precision), if present, is
// used instead of the latter. `<program>/<case>` runs that program; `<case>#0`, `<case>#1`, ... are consecutive runs of
// one session.
struct GoldenCase {
  std::string name;     // without the number of the run
  std::string program;  // empty: not named
  StoredTensors in, out;
};
// Orders the runs of a case.
struct EarlierRun {
  bool operator()(const std::string& a, const std::string& b) const;
};
using GoldenCases = std::map<std::string, GoldenCase, EarlierRun>;
GoldenCases CasesOf(const StoredTensors& golden);
// Finds a case or one run of it; fails with the list of names if there is none.
const GoldenCase& FindCase(const GoldenCases& cases, const std::string& name);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_TENSORS_GOLDEN_CASES_H_
