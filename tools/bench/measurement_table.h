// A measurement as a row of a table, to be pasted into a document or a spreadsheet.
#ifndef FOVEA_TOOLS_BENCH_MEASUREMENT_TABLE_H_
#define FOVEA_TOOLS_BENCH_MEASUREMENT_TABLE_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace fovea::tools {

// `measured`: the fields of a measurement that "fovea bench" shows. Each has a line of titles and a line of values.
std::string MeasurementMarkdown(const nlohmann::ordered_json& measured);
std::string MeasurementCsv(const nlohmann::ordered_json& measured);  // RFC 4180, lines end with "\n"

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BENCH_MEASUREMENT_TABLE_H_
