// Cases of a golden file.
#include "tools/tensors/golden_cases.h"

#include <stdlib.h>
#include <string.h>

#include "tools/base/fail.h"

namespace fovea::tools {

bool EarlierRun::operator()(const std::string& a, const std::string& b) const {
  const auto parts = [](const std::string& name) {
    const size_t mark = name.rfind('#');
    return std::make_pair(name.substr(0, mark), mark == std::string::npos ? 0 : strtoul(&name[mark + 1], nullptr, 10));
  };
  return parts(a) < parts(b);
}

GoldenCases CasesOf(const StoredTensors& golden) {
  GoldenCases cases;
  for (const auto& [name, tensor] : golden) {
    for (const char* part : {".in.", ".out.", ".out64."}) {
      const size_t at = name.find(part), slash = name.find('/');
      if (at == std::string::npos) continue;
      const std::string rest = name.substr(at + strlen(part)), full = name.substr(0, at);
      GoldenCase& found = cases[full];
      found.name = full.substr(0, full.rfind('#'));
      if (slash < at) found.program = name.substr(0, slash);
      (part[1] == 'i' ? found.in : found.out)[rest] = tensor;
      break;
    }
  }
  return cases;
}

const GoldenCase& FindCase(const GoldenCases& cases, const std::string& name) {
  const auto found = cases.find(name);
  if (found != cases.end()) return found->second;
  std::string known;
  for (const auto& [other, golden] : cases) known += " " + other;
  Fail("no case '{}'; the file has:{}", name, known);
}

}  // namespace fovea::tools
