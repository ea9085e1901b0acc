// The cases of a golden file: named inputs, and what a reference made of them.
#ifndef FOVEA_TOOLS_COMMON_GOLDEN_CASES_H_
#define FOVEA_TOOLS_COMMON_GOLDEN_CASES_H_

#include <map>
#include <string>

#include "tools/safetensors/safetensors.h"

namespace fovea::tools {

// `<case>.in.*` and `<case>.out.*` of a golden file; where there is `<case>.out64.*` (computed with more digits), it is
// taken instead. `<program>/<case>` is one of that program; `<case>#0`, `<case>#1`,
// .. are steps of one, which are run one after the other in one session.
struct GoldenCase {
  std::string name;     // without the number of a step
  std::string program;  // empty: none is named
  StoredTensors in, out;
};
// Steps in their order.
struct EarlierStep {
  bool operator()(const std::string& a, const std::string& b) const;
};
using GoldenCases = std::map<std::string, GoldenCase, EarlierStep>;
GoldenCases CasesOf(const StoredTensors& golden);
// Fails if there is none of this name, that of a step included; names those that there are.
const GoldenCase& FindCase(const GoldenCases& cases, const std::string& name);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_COMMON_GOLDEN_CASES_H_
