// Descriptions written in a test: resolved, or the reason why not.
#ifndef FOVEA_TESTS_CONVERT_GRAPH_SUPPORT_H_
#define FOVEA_TESTS_CONVERT_GRAPH_SUPPORT_H_

#include <string>

#include "tools/base/fail.h"
#include "tools/convert/graph_json.h"
#include "tools/convert/resolve.h"

namespace fovea::tools {

inline Resolved ResolveJson(const Json& json) { return Resolve(ParseGraph(json.dump(), ".", "graph")); }

// What the tools say when `attempt` fails.
template <typename Attempt>
std::string RefusalOf(const Attempt& attempt) {
  try {
    attempt();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "nothing was refused";
}

inline std::string Refusal(const Json& json) {
  return RefusalOf([&] { ResolveJson(json); });
}

}  // namespace fovea::tools

#endif  // FOVEA_TESTS_CONVERT_GRAPH_SUPPORT_H_
