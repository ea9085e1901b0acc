#include "tools/base/log_plot.h"

#include <fmt/format.h>
#include <math.h>

#include <algorithm>

#include "tools/base/markup.h"

namespace fovea::tools {
namespace {

constexpr double kLeft = 80, kTop = 50, kWidth = 620, kHeight = 460, kLegend = 250;
// Distinct for all common kinds of color blindness, at least 3 to 1 on white; further curves have the same colors with
// dashes. As on the page of fovea attend.
const char* const kColours[] = {"#0072b2", "#d55e00", "#009e73", "#b3508f", "#8a6d00", "#3d8fc9", "#5b4bb0", "#6b6b6b"};
const char* const kDashes[] = {"", " stroke-dasharray=\"6 4\"", " stroke-dasharray=\"2 3\"",
                               " stroke-dasharray=\"10 3 2 3\""};

// An axis from one whole power of `base` to another that spans all numbers.
struct Axis {
  double base, low = HUGE_VAL, high = -HUGE_VAL;

  void Take(double number) {
    const double power = log(number) / log(base);
    low = std::min(low, floor(power + 1e-9));
    high = std::max(high, ceil(power - 1e-9));
  }
  void Close() {
    if (low > high) low = 0, high = 1;
    if (low == high) high += 1;
  }
  double Part(double number) const { return (log(number) / log(base) - low) / (high - low); }
};

std::string Text(double x, double y, const char* anchor, const std::string& text, const char* more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, more,
                     Markup(text));
}

std::string Line(double x1, double y1, double x2, double y2) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#dddddd\"/>\n", x1, y1, x2,
                     y2);
}

}  // namespace

std::string LogPlot(const std::string& title, const std::string& x_label, const std::string& y_label,
                    const std::vector<Curve>& curves) {
  Axis x = {2}, y = {10};
  for (const Curve& curve : curves) {
    for (const auto& [at, value] : curve.points) x.Take(at), y.Take(value);
  }
  x.Close();
  y.Close();
  const double width = kLeft + kWidth + kLegend, height = kTop + kHeight + 60, bottom = kTop + kHeight;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"sans-serif\" "
      "font-size=\"12\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
      width, height);
  svg += Text(kLeft, 28, "start", title, " font-size=\"16\"");
  for (double power = x.low; power <= x.high; ++power) {
    const double at = kLeft + kWidth * (power - x.low) / (x.high - x.low);
    svg += Line(at, kTop, at, bottom) + Text(at, bottom + 18, "middle", fmt::format("{:g}", pow(2, power)));
  }
  for (double power = y.low; power <= y.high; ++power) {
    const double at = bottom - kHeight * (power - y.low) / (y.high - y.low);
    svg += Line(kLeft, at, kLeft + kWidth, at) + Text(kLeft - 8, at + 4, "end", fmt::format("{:g}", pow(10, power)));
  }
  svg += Text(kLeft + kWidth / 2, bottom + 42, "middle", x_label);
  svg += Text(kLeft, kTop - 6, "end", y_label);
  for (size_t i = 0; i < curves.size(); ++i) {
    const std::string stroke = fmt::format("stroke=\"{}\" stroke-width=\"2\"{}", kColours[i % std::size(kColours)],
                                           kDashes[i / std::size(kColours) % std::size(kDashes)]);
    std::string points;
    for (const auto& [at, value] : curves[i].points) {
      points += fmt::format("{:.1f},{:.1f} ", kLeft + kWidth * x.Part(at), bottom - kHeight * y.Part(value));
    }
    svg += fmt::format("<polyline points=\"{}\" fill=\"none\" {}/>\n", points, stroke);
    const double line = kTop + 10 + 20 * static_cast<double>(i), left = kLeft + kWidth + 15;
    svg += fmt::format("<path d=\"M{:.1f} {:.1f}h30\" {}/>\n", left, line - 2, stroke);
    svg += Text(left + 38, line + 2, "start", curves[i].label);
  }
  return svg + "</svg>\n";
}

}  // namespace fovea::tools
