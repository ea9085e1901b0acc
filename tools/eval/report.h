// Formats the results of evaluations for people.
#ifndef FOVEA_TOOLS_EVAL_REPORT_H_
#define FOVEA_TOOLS_EVAL_REPORT_H_

#include <string>

#include "tools/base/print.h"

namespace fovea::tools {

// The result of Evaluate() or EvaluatePerplexity() as text.
std::string ReportText(const OrderedJson& told);

// The result for classes as a self-contained HTML page: no network, no script, light or dark by the reader's system.
std::string ReportPage(const OrderedJson& told);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_EVAL_REPORT_H_
