// fovea bench attention: how time and memory of each attention pattern grow with the number of rows, compared with the
// expected law, with convolution and with recurrent layers.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "fovea/version.h"
#include "tools/base/log_plot.h"
#include "tools/base/mapped_file.h"
#include "tools/base/print.h"
#include "tools/bench/attention_cost.h"
#include "tools/commands/arguments.h"
#include "tools/commands/bench.h"
#include "tools/measure/machine.h"

namespace fovea::tools {
namespace {

const Choices<uint32_t> kProducts = {{"f32", FOVEA_PRODUCTS_F32},
                                     {"bf16", FOVEA_PRODUCTS_BF16},
                                     {"int8", FOVEA_PRODUCTS_I8},
                                     {"int16", FOVEA_PRODUCTS_I16}};

struct Arguments {
  CostRequest request;
  std::string svg;
  bool json = false;
};

OrderedJson ToJson(const CostRequest& request, const std::vector<CostSeries>& all) {
  OrderedJson result = {{"target", fovea_simd_target()},  {"heads", request.heads},
                        {"head_size", request.head_size}, {"products", NameOf(kProducts, request.products)},
                        {"workers", request.workers},     {"series", OrderedJson::array()}};
  for (const CostSeries& series : all) {
    OrderedJson points = OrderedJson::array();
    for (const CostPoint& point : series.points) {
      points.push_back({{series.variable, point.at},
                        {"microseconds", 1e6 * point.seconds},
                        {"bytes", point.bytes},
                        {"keys_per_query", point.keys},
                        {"gflops", 1e-9 * point.flops / point.seconds}});
    }
    OrderedJson entry = {{"name", series.name}, {"variable", series.variable}};
    if (series.variable != "n") entry["rows"] = series.rows;
    entry.update({{"law", series.law},
                  {"predicted", series.predicted},
                  {"fitted", series.fitted},
                  {"fitted_from", series.fitted_from},
                  {"points", points}});
    result["series"].push_back(entry);
  }
  return result;
}

void Print(std::ostream& out, const CostRequest& request, const std::vector<CostSeries>& all) {
  out << fmt::format("{} heads of {}, products in {}, {} workers, {}\n", request.heads, request.head_size,
                     NameOf(kProducts, request.products), request.workers, VectorsName(fovea_simd_target()));
  out << "Time: the fastest run. Bytes: inputs, outputs, scratch and weights. Keys: those whose score a query "
         "computes, or the rows that one step of a layer reads.\n";
  for (const CostSeries& series : all) {
    const bool by_rows = series.variable == "n";
    out << fmt::format("\n{}{}\n{:>8} {:>12} {:>11} {:>10} {:>9}\n", series.name,
                       by_rows ? "" : fmt::format(", {} rows", series.rows), series.variable, "ms", "bytes", "keys",
                       "GFLOP/s");
    for (const CostPoint& point : series.points) {
      out << fmt::format("{:>8g} {:>12.3f} {:>11} {:>10.1f} {:>9.1f}\n", point.at, 1e3 * point.seconds,
                         ShortBytes(point.bytes), point.keys, 1e-9 * point.flops / point.seconds);
    }
  }
  out << fmt::format("\nExponents of time\n  {:<24} {:<16} {:>2} {:>10} {:>8}\n", "", "law", "", "predicted", "fitted");
  for (const CostSeries& series : all) {
    const std::string fitted = series.fitted == 0 ? "-" : fmt::format("{:.2f}", series.fitted);
    out << fmt::format("  {:<24} {:<16} {:>2} {:>10g} {:>8}{}\n", series.name, series.law, series.variable,
                       series.predicted, fitted,
                       series.fitted_from > 128 ? fmt::format("  (from {:g} rows)", series.fitted_from) : "");
  }
}

std::string Plot(const std::vector<CostSeries>& all) {
  std::vector<Curve> curves;
  for (const CostSeries& series : all) {
    if (series.variable != "n") continue;
    Curve curve;
    curve.label = series.fitted == 0 ? series.name : fmt::format("{}: n^{:.2f}", series.name, series.fitted);
    for (const CostPoint& point : series.points) curve.points.emplace_back(point.at, 1e3 * point.seconds);
    curves.push_back(std::move(curve));
  }
  return LogPlot("Time of attention by pattern, and of other layers", "rows", "ms", curves);
}

void Run(const Arguments& arguments, Console* console) {
  const CostRequest& request = arguments.request;
  const std::vector<CostSeries> all = MeasureAttentionCost(
      request, [&](const std::string& what) { console->err << fmt::format("\r{:<40}", what) << std::flush; });
  console->err << fmt::format("\r{:<40}\r", "") << std::flush;
  if (!arguments.svg.empty()) {
    const std::string svg = Plot(all);
    WriteFile(arguments.svg, svg.data(), svg.size());
  }
  if (arguments.json) {
    PrintJson(console->out, ToJson(request, all));
  } else {
    Print(console->out, request, all);
  }
}

}  // namespace

void AddBenchAttention(Command bench, Console* console) {
  const Command command = bench.AddCommand(
      "attention", "Measure how the cost of attention patterns, convolution and recurrent layers grows with the rows");
  const Options attention = command.Under(Heading::kAttention);
  const Options output = command.Under(Heading::kOutput);
  auto arguments = std::make_shared<Arguments>();
  CostRequest& request = arguments->request;
  attention.Add("--max-n", &request.max_n, "Measure up to N rows, doubling from 128").Range(128, 1 << 20).ShowDefault();
  attention.Add("--heads", &request.heads, "Heads").Range(1, 64).ShowDefault();
  attention.Add("--head-size", &request.head_size, "Elements of a head").Range(1, 1024).ShowDefault();
  attention
      .AddChoice("--products", &request.products, kProducts,
                 "Compute products in this type, where the CPU has an instruction for it")
      .Placeholder("TYPE")
      .ShowDefault();
  AddSeconds(command, &request.seconds, "Measure each point for N seconds");
  AddWorkers(command, &request.workers);
  output.Add("--svg", &arguments->svg, "Also plot times over rows, as SVG").Placeholder("FILE");
  AddJson(command, &arguments->json);
  command.Footer("Example:\n  fovea bench attention --max-n 16384 --workers 2 --svg attention.svg");
  command.Runs([=] { Run(*arguments, console); });
}

}  // namespace fovea::tools
