// fovea forecast: continues series of numbers.
#include "tools/generate/forecast.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "tools/base/fail.h"
#include "tools/base/input_file.h"
#include "tools/base/print.h"
#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "tools/model/interrupt.h"

namespace fovea::tools {
namespace {

struct Arguments {
  ModelArguments model;
  ForecastRequest request;
  std::vector<std::string> files;
  std::vector<double> quantiles = {0.1, 0.5, 0.9};
  std::optional<float> temperature, top_p;
  std::optional<uint32_t> top_k;
  ListForm json = ListForm::kText;
};

std::vector<float> SeriesIn(const std::string& path) {
  const InputFile file(path);
  return ReadSeries({reinterpret_cast<const char*>(file.data()), static_cast<size_t>(file.size())},
                    path == "-" ? "standard input" : path);
}

struct Step {
  double mean = 0;
  std::vector<float> quantiles;
};

std::vector<Step> StepsOf(const Forecast& forecast, const std::vector<double>& quantiles) {
  std::vector<Step> steps(forecast.samples[0].size());
  for (size_t i = 0; i < steps.size(); ++i) {
    for (const std::vector<float>& sample : forecast.samples) {
      steps[i].mean += static_cast<double>(sample[i]) / static_cast<double>(forecast.samples.size());
    }
    const std::vector<float> sorted = SortedStep(forecast, i);
    for (const double quantile : quantiles) steps[i].quantiles.push_back(QuantileOf(sorted, quantile));
  }
  return steps;
}

void PrintTable(const std::vector<Step>& steps, const std::vector<double>& quantiles, std::ostream& out) {
  std::string head = fmt::format("{:>6}  {:>12}", "step", "mean");
  for (const double quantile : quantiles) head += fmt::format("  {:>12}", quantile);
  out << head << "\n";
  for (size_t i = 0; i < steps.size(); ++i) {
    std::string line = fmt::format("{:>6}  {:>12.6g}", i + 1, steps[i].mean);
    for (const float value : steps[i].quantiles) line += fmt::format("  {:>12.6g}", value);
    out << line << "\n";
  }
}

OrderedJson JsonOf(const std::string& file, const Forecast& forecast, const std::vector<Step>& steps,
                   const std::vector<double>& quantiles) {
  OrderedJson entry = {{"file", file}, {"mean", OrderedJson::array()}, {"quantiles", OrderedJson::object()}};
  for (const Step& step : steps) entry["mean"].push_back(step.mean);
  for (size_t q = 0; q < quantiles.size(); ++q) {
    OrderedJson values = OrderedJson::array();
    for (const Step& step : steps) values.push_back(step.quantiles[q]);
    entry["quantiles"][fmt::format("{}", quantiles[q])] = values;
  }
  entry["samples"] = forecast.samples;
  if (forecast.dropped != 0) entry["dropped_numbers"] = forecast.dropped;
  return entry;
}

void Run(const Arguments& arguments, Console* console) {
  const Model model = arguments.model.Open();
  const Interrupt interrupt;
  const SeriesBins bins(model);
  ForecastRequest request = arguments.request;
  request.temperature = arguments.temperature.value_or(bins.temperature());
  request.top_k = arguments.top_k.value_or(bins.top_k());
  request.top_p = arguments.top_p.value_or(bins.top_p());
  OrderedJson list = OrderedJson::array();
  for (const std::string& file : arguments.files) {
    if (Interrupt::Happened()) break;
    const Forecast forecast = ForecastSeries(model, bins, SeriesIn(file), request);
    const std::vector<Step> steps = StepsOf(forecast, arguments.quantiles);
    if (forecast.dropped != 0) {
      console->err << fmt::format("fovea: {}: the first {} numbers are dropped: the model reads {}\n", file,
                                  forecast.dropped, bins.context());
    }
    if (arguments.json != ListForm::kText) {
      list.push_back(JsonOf(file, forecast, steps, arguments.quantiles));
      continue;
    }
    if (arguments.files.size() > 1) console->out << file << "\n";
    PrintTable(steps, arguments.quantiles, console->out);
  }
  PrintList(console->out, arguments.json, list);
  if (Interrupt::Happened()) console->status = kExitInterrupted;
}

}  // namespace

void AddForecast(Command app, Console* console) {
  const Command command = app.AddCommand(CommandGroup::kResults, "forecast", "Continue series of numbers (Chronos)");
  const Options input = command.Under(Heading::kInput);
  const Options generation = command.Under(Heading::kGeneration);
  const Options sampling = command.Under(Heading::kSampling);
  const Options output = command.Under(Heading::kOutput);
  auto arguments = std::make_shared<Arguments>();
  arguments->model.AddTo(command);
  input
      .AddRepeated("--series", &arguments->files,
                   "File with the numbers of a series, separated by spaces, commas or ends of lines; '-': standard "
                   "input")
      .Required()
      .Placeholder("FILE");
  generation.Add("--steps", &arguments->request.steps, "Continue by N numbers; default: as the model was trained")
      .Range(0u, 1u << 20);
  generation.Add("--samples", &arguments->request.samples, "Draw N continuations; default: as the model specifies")
      .Range(0u, 1u << 16);
  sampling.Add("--temperature", &arguments->temperature, "Divide logits by X; default: as the model specifies")
      .Range(0.0, 1e6);
  sampling.Add("--top-k", &arguments->top_k, "Sample from the N likeliest bins; default: as the model specifies");
  sampling
      .Add("--top-p", &arguments->top_p,
           "Sample from the fewest bins whose probabilities sum to X; default: the "
           "model's")
      .Range(0.0, 1.0);
  sampling.Add("--seed", &arguments->request.seed, "Seed of the random numbers").NonNegative();
  output.Add("--quantiles", &arguments->quantiles, "Quantiles of the samples to print").Commas().Range(0.0, 1.0);
  AddWorkers(command, &arguments->request.workers);
  AddJsonList(command, &arguments->json);
  command.Footer(
      R"(Prints the mean and quantiles of the drawn continuations for each step; --json also prints the continuations.
For more steps than the model was trained for, the median continues the series and the model runs again.
Examples:
  fovea forecast chronos.fovea --series passengers.txt --steps 12
  fovea forecast chronos.fovea --series - --samples 100 --quantiles 0.05,0.95 < passengers.csv)");
  command.Runs([=] { Run(*arguments, console); });
}

}  // namespace fovea::tools
