// Json::parse for tests, compiled once: the parser of nlohmann/json is a template, which each file that calls it would
// compile again.
#ifndef FOVEA_TESTS_SUPPORT_PARSED_JSON_H_
#define FOVEA_TESTS_SUPPORT_PARSED_JSON_H_

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace fovea::test {

// Throws nlohmann::json::parse_error if the text is not JSON, which fails the test.
nlohmann::json ParsedJson(std::string_view text);

}  // namespace fovea::test

#endif  // FOVEA_TESTS_SUPPORT_PARSED_JSON_H_
