// What evaluations say, for people.
#ifndef FOVEA_TOOLS_EVAL_REPORT_H_
#define FOVEA_TOOLS_EVAL_REPORT_H_

#include <string>

#include "tools/common/print.h"

namespace fovea::tools {

// What Evaluate() or EvaluatePerplexity() told, as lines.
std::string ReportText(const OrderedJson& told);

// The same of classes as a page of its own: it opens without a network, is light or dark as the reader's system is, and
// needs no script.
std::string ReportPage(const OrderedJson& told);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_EVAL_REPORT_H_
