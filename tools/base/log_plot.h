// Curves on two logarithmic axes, as SVG text.
#ifndef FOVEA_TOOLS_BASE_LOG_PLOT_H_
#define FOVEA_TOOLS_BASE_LOG_PLOT_H_

#include <string>
#include <utility>
#include <vector>

namespace fovea::tools {

struct Curve {
  std::string label;
  std::vector<std::pair<double, double>> points;  // positive numbers, x ascending
};

// Grid lines are at powers of 2 for x and powers of 10 for y.
std::string LogPlot(const std::string& title, const std::string& x_label, const std::string& y_label,
                    const std::vector<Curve>& curves);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BASE_LOG_PLOT_H_
