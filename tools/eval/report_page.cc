#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tools/base/markup.h"
#include "tools/eval/report.h"
#include "tools/eval/report_rows.h"
#include "tools/measure/alternating_runs.h"

namespace fovea::tools {
namespace {

constexpr char kHead[] = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>fovea eval</title>
<style>
:root { color-scheme: light dark; --text: #1c2330; --soft: #5b6575; --page: #fbfbfc; --line: #d9dde4;
  --right: 0, 114, 178; --wrong: 213, 94, 0; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e8ef; --soft: #9aa5b6; --page: #14181f; --line: #2f3744; --right: 86, 180, 233;
    --wrong: 240, 138, 60; }
}
body { margin: 2rem auto; max-width: 72rem; padding: 0 1rem; background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.3rem; } h2 { font-size: 1.05rem; margin-top: 2rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .6rem; text-align: right; border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 500; } th:first-child { text-align: left; }
.scroll { overflow-x: auto; }
.confusion td { min-width: 1.6rem; padding: .15rem .35rem; text-align: center; border: 1px solid var(--line); }
.confusion thead th { writing-mode: vertical-rl; transform: rotate(180deg); text-align: left; padding: .35rem .15rem; }
.right { background: rgba(var(--right), calc(var(--share) * .55)); }
.wrong { background: rgba(var(--wrong), calc(var(--share) * .55)); }
.bar { display: inline-block; height: .6rem; background: rgba(var(--right), .7); vertical-align: middle; }
.bars { text-align: left; width: 8rem; }
p, pre { color: var(--soft); }
</style>
</head>
<body>
)";

std::string Label(const OrderedJson& one) { return Markup(one["label"].get<std::string>()); }

std::string Summary(const OrderedJson& told) {
  std::string html = "<table><thead><tr><th></th>";
  for (const OrderedJson& model : told["models"]) {
    html += fmt::format("<th>{}</th>", Markup(model["blob"].get<std::string>()));
  }
  html += "</tr></thead><tbody>\n";
  for (const ReportRow& row : ModelRows(told)) {
    html += fmt::format("<tr><th>{}</th>", row.name);
    for (const std::string& cell : row.cells) html += fmt::format("<td>{}</td>", Markup(cell));
    html += "</tr>\n";
  }
  return html + "</tbody></table>\n";
}

std::string Classes(const OrderedJson& classes) {
  std::string html =
      "<table><thead><tr><th>class</th><th>precision</th><th>recall</th><th>F1</th><th>support</th><th></th></tr>"
      "</thead><tbody>\n";
  for (const OrderedJson& one : classes) {
    const double f1 = one["f1"].get<double>();
    html += fmt::format(
        "<tr><th>{}</th><td>{:.4f}</td><td>{:.4f}</td><td>{:.4f}</td><td>{}</td>"
        "<td class=\"bars\"><span class=\"bar\" style=\"width:{:.1f}%\"></span></td></tr>\n",
        Label(one), one["precision"].get<double>(), one["recall"].get<double>(), f1, one["support"].get<uint64_t>(),
        100 * f1);
  }
  return html + "</tbody></table>\n";
}

// Cells are shaded by their share of the samples of their row.
std::string ConfusionTable(const OrderedJson& model) {
  const OrderedJson &classes = model["classes"], &rows = model["confusion"];
  std::string html = "<div class=\"scroll\"><table class=\"confusion\"><thead><tr><th></th>";
  for (const OrderedJson& one : classes) html += fmt::format("<th>{}</th>", Label(one));
  html += "</tr></thead><tbody>\n";
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::string label = Label(classes[i]);
    const double support = classes[i]["support"].get<double>();
    html += fmt::format("<tr><th>{}</th>", label);
    for (size_t j = 0; j < rows[i].size(); ++j) {
      const uint64_t count = rows[i][j].get<uint64_t>();
      if (count == 0) {
        html += "<td></td>";
        continue;
      }
      html += fmt::format("<td class=\"{}\" style=\"--share:{:.2f}\" title=\"{}: {} of {} predicted as {}\">{}</td>",
                          i == j ? "right" : "wrong", 0.15 + 0.75 * static_cast<double>(count) / support, label, count,
                          support, Label(classes[j]), count);
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

}  // namespace

std::string ReportPage(const OrderedJson& told) {
  std::string html = kHead;
  html += fmt::format("<h1>{}</h1>\n{}", Markup(Caption(told)), Summary(told));
  const auto agreement = AgreementRows(told);
  if (!agreement.empty()) html += "<h2>Agreement</h2>\n<table><tbody>\n";
  for (const auto& [name, number] : agreement) html += fmt::format("<tr><th>{}</th><td>{}</td></tr>\n", name, number);
  if (!agreement.empty()) html += "</tbody></table>\n";
  if (told.contains("time")) {
    const auto name = [&](size_t i) { return told["models"][i]["blob"].get<std::string>(); };
    std::istringstream text(AlternatingRunsText(told["time"], Printable(name(0)), Printable(name(1))));
    std::string lines;
    for (std::string line; std::getline(text, line);) lines += Markup(line) + "\n";
    html += "<h2>Times, alternating runs</h2>\n<pre>" + lines + "</pre>\n";
  }
  for (const OrderedJson& model : told["models"]) {
    if (!model.contains("classes")) continue;
    html += fmt::format(
        "<h2>{}</h2>\n{}<h2>Rows: labels, columns: predictions of {}</h2>\n<p>Darker cells have a larger share of "
        "their row.</p>\n{}",
        Markup(model["blob"].get<std::string>()), Classes(model["classes"]), Markup(model["blob"].get<std::string>()),
        ConfusionTable(model));
  }
  return html + "</body>\n</html>\n";
}

}  // namespace fovea::tools
