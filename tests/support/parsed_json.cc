#include "tests/support/parsed_json.h"

#include <nlohmann/json.hpp>

namespace fovea::test {

nlohmann::json ParsedJson(std::string_view text) { return nlohmann::json::parse(text); }

}  // namespace fovea::test
