// The numbers of a report, row by row: what each model got, then what they have in common.
#ifndef FOVEA_TOOLS_EVAL_REPORT_ROWS_H_
#define FOVEA_TOOLS_EVAL_REPORT_ROWS_H_

#include <string>
#include <vector>

#include "tools/common/print.h"

namespace fovea::tools {

struct ReportRow {
  std::string name;
  std::vector<std::string> cells;  // one of each model
};
std::vector<ReportRow> ModelRows(const OrderedJson& told);

// How far two models agree: a name and a number each.
std::vector<std::pair<std::string, std::string>> AgreementRows(const OrderedJson& told);

// "1,200 samples of F.tsv", and whether that is all.
std::string Caption(const OrderedJson& told);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_EVAL_REPORT_ROWS_H_
