// Rows of numbers of a report: the results of each model, then their agreement.
#ifndef FOVEA_TOOLS_EVAL_REPORT_ROWS_H_
#define FOVEA_TOOLS_EVAL_REPORT_ROWS_H_

#include <string>
#include <vector>

#include "tools/base/print.h"

namespace fovea::tools {

struct ReportRow {
  std::string name;
  std::vector<std::string> cells;  // one for each model
};
std::vector<ReportRow> ModelRows(const OrderedJson& told);

// Agreement of two models: names and numbers.
std::vector<std::pair<std::string, std::string>> AgreementRows(const OrderedJson& told);

// "1,200 samples of F.tsv", with a note if interrupted.
std::string Caption(const OrderedJson& told);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_EVAL_REPORT_ROWS_H_
