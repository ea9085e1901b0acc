// Formats numbers and bytes for people and for programs.
#ifndef FOVEA_TOOLS_BASE_PRINT_H_
#define FOVEA_TOOLS_BASE_PRINT_H_

#include <stdint.h>

#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <string>

#include "tools/base/printable.h"

namespace fovea::tools {

using OrderedJson = nlohmann::ordered_json;

// 1234567 -> "1,234,567"
std::string Grouped(uint64_t number);
// 1234567 -> "1.18 MiB"
std::string ShortBytes(uint64_t bytes);

// Indented, with a line end; broken UTF-8 replaced. Numbers have at most nine digits, which identify an f32.
void PrintJson(std::ostream& out, const OrderedJson& json);
// Same as a string without a line end; an indent of -1: on one line.
std::string JsonText(OrderedJson json, int indent);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BASE_PRINT_H_
