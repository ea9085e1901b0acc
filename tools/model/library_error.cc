// Turns failed calls of the library into a Failure with one line.
#include "tools/model/library_error.h"

namespace fovea::tools {

std::string ErrorText(const fovea_error& error) {
  std::string line =
      fmt::format("{} ({}", error.text == nullptr ? "failed" : error.text, fovea_status_name(error.status));
  const auto add = [&](bool applies, const char* what, uint64_t number) {
    if (applies) line += fmt::format(", {} {}", what, number);
  };
  add(error.section != FOVEA_NOWHERE, "section", error.section);
  add(error.step != FOVEA_NOWHERE, "step", error.step);
  add(error.tensor != FOVEA_NOWHERE, "tensor", error.tensor);
  const fovea_status category = FOVEA_STATUS_CLASS(error.status);
  const bool input = category == FOVEA_E_INPUT || category == FOVEA_E_LIMIT;
  add(error.index != 0 || category == FOVEA_E_INPUT, input ? "index" : "byte", error.index);
  const bool counts = error.expected != 0 || error.found != 0;
  add(counts, "expected", error.expected);
  add(counts, "found", error.found);
  return line + ")";
}

void Check(fovea_status status, const fovea_error& error, const std::string& doing) {
  if (status != FOVEA_OK) Fail("{}: {}", doing, ErrorText(error));
}

void Check(fovea_status status, const std::string& doing) {
  if (status != FOVEA_OK) Fail("{}: {}", doing, fovea_status_name(status));
}

}  // namespace fovea::tools
