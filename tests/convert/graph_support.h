// Descriptions written in a test: resolved, or the reason why not.
#ifndef FOVEA_TESTS_CONVERT_GRAPH_SUPPORT_H_
#define FOVEA_TESTS_CONVERT_GRAPH_SUPPORT_H_

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tools/base/fail.h"
#include "tools/convert/graph_json.h"
#include "tools/convert/resolve.h"

namespace fovea::tools {

inline Resolved ResolveJson(const Json& json) { return Resolve(ParseGraph(json.dump(), ".", "graph")); }

// The message of the failure that `attempt` ends in.
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

struct Mistake {
  const char* pointer;  // what is replaced
  const char* by;       // JSON
  const char* message;
};

// The description is refused, in words that hold the message, with each of the mistakes by itself.
inline void ExpectRefused(const Json& description, const std::vector<Mistake>& mistakes) {
  for (const Mistake& mistake : mistakes) {
    Json json = description;
    json[Json::json_pointer(mistake.pointer)] = Json::parse(mistake.by);
    const std::string said = Refusal(json);
    EXPECT_NE(said.find(mistake.message), std::string::npos) << mistake.pointer << " = " << mistake.by << ": " << said;
  }
}

}  // namespace fovea::tools

#endif  // FOVEA_TESTS_CONVERT_GRAPH_SUPPORT_H_
