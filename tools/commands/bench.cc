// fovea bench: latency, throughput, work per step and memory of a model on this machine.
#include "ports/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/base/clock.h"
#include "tools/base/print.h"
#include "tools/base/system.h"
#include "tools/base/utf8_path.h"
#include "tools/bench/generation_cost.h"
#include "tools/bench/measurement_table.h"
#include "tools/commands/arguments.h"
#include "tools/commands/bench.h"
#include "tools/measure/alternating_runs.h"
#include "tools/measure/machine.h"
#include "tools/measure/operation_work.h"
#include "tools/model/parameters.h"

namespace fovea::tools {
namespace {

struct Arguments {
  ModelArguments model;
  std::string compare;
  ShapeArguments shape;
  double seconds = 2;
  bool steps = false;
  bool generate = false;
  GenerationShape generation;
  std::optional<uint32_t> cache_type;
  bool json = false, markdown = false, csv = false;
};

void BenchGeneration(const Arguments& arguments, Console* console) {
  const Model model = arguments.model.Open();
  if (!ContinuesTexts(model)) Fail("{}: --generate is for decoders that continue texts; leave it out", model.name());
  GenerationRequest request;
  request.workers = arguments.shape.workers;
  request.cache_type = arguments.cache_type;
  OrderedJson measured = MeasureGeneration(model, arguments.generation, request);
  measured["machine"] = ThisMachine();
  if (arguments.json) return PrintJson(console->out, measured);
  console->out << GenerationText(measured);
}

// Runs FOVEA_BENCH_RUNS times (ports/bench.h) or for `seconds`, whichever is longer. Calls `after_run` with the
// nanoseconds of each run, outside of the measured time; with 0 after the warm-up run. Each run starts from an empty
// session: a program with a KV cache would otherwise continue the texts of the previous run.
void Measure(Session* session, double seconds, const std::function<void(uint64_t)>& after_run) {
  session->Run();
  after_run(0);
  const uint64_t begin = NanosecondClock();
  uint64_t now = begin;
  for (int runs = 0; runs < FOVEA_BENCH_RUNS || static_cast<double>(now - begin) < seconds * 1e9; ++runs) {
    session->Reset();
    const uint64_t start = NanosecondClock();
    session->Run();
    now = NanosecondClock();
    after_run(now - start);
  }
}

// Seconds of an operation in a run, summed over all workers, over many runs. A disturbance (another process, an
// interrupt) only adds time, and to few operations of a run: the minimum is stable.
struct StepTime {
  double least, middle;
};

std::vector<StepTime> StepTimes(const Model& model, const ShapeArguments& shape, const Batch& batch, double seconds) {
  SessionRequest request = shape.Request(model, batch);
  request.clock = NanosecondClock;
  Session session(model, request);
  Bind(batch, &session);
  const uint32_t count = model.Program(request.program).step_count;
  std::vector<uint64_t> before(count);
  std::vector<std::vector<double>> times(count);  // [operation][run]
  Measure(&session, seconds, [&](uint64_t) {
    for (uint32_t i = 0; i < count; ++i) {
      uint64_t ticks = 0;
      fovea_session_get_step_ticks(session.get(), i, &ticks);
      times[i].push_back(1e-9 * static_cast<double>(ticks - before[i]));
      before[i] = ticks;
    }
  });
  std::vector<StepTime> steps;
  for (std::vector<double>& step : times) {
    step.erase(step.begin());
    std::sort(step.begin(), step.end());
    steps.push_back({step[0], step[fovea_bench_rank(step.size(), 50)]});
  }
  return steps;
}

OrderedJson StepTable(const Model& model, uint32_t program, const std::vector<StepTime>& times,
                      const std::vector<double>& flops, const std::vector<uint64_t>& pairs) {
  double all = 0;
  for (const StepTime& time : times) all += time.least;
  OrderedJson table = OrderedJson::array();
  for (uint32_t i = 0; i < times.size(); ++i) {
    const fovea_step_info step = model.Step(program, i);
    table.push_back({{"step", i},
                     {"op", step.op},
                     {"name", step.name == nullptr ? "" : step.name},
                     {"phase", step.phase},
                     {"microseconds", 1e6 * times[i].least},
                     {"microseconds_p50", 1e6 * times[i].middle},
                     {"share", all == 0 ? 0 : times[i].least / all},
                     {"gop", 1e-9 * flops[i]},
                     {"gops", times[i].least == 0 ? 0 : 1e-9 * flops[i] / times[i].least}});
    if (pairs[i] == 0) continue;
    table.back()["pairs"] = pairs[i];
    table.back()["nanoseconds_per_pair"] = 1e9 * times[i].least / static_cast<double>(pairs[i]);
  }
  return table;
}

// Sums by kind of operation.
OrderedJson OperationTable(const OrderedJson& steps) {
  OrderedJson table = OrderedJson::object();
  for (const OrderedJson& step : steps) {
    OrderedJson& row = table[step["op"].get<std::string>()];
    if (row.is_null()) row = OrderedJson::object();
    for (const char* key : {"microseconds", "microseconds_p50", "share", "gop"})
      row[key] = row.value(key, 0.0) + step[key].get<double>();
    row["steps"] = row.value("steps", 0) + 1;
  }
  return table;
}

void PrintSteps(std::ostream& out, const OrderedJson& result) {
  out << fmt::format("\n{:>4} {:>5}  {:<10} {:<28} {:>10} {:>10} {:>7} {:>9} {:>13} {:>8}\n", "step", "phase", "op",
                     "name", "min us", "p50 us", "share", "GOPS", "pairs", "ns/pair");
  for (const OrderedJson& step : result["steps"]) {
    out << fmt::format("{:>4} {:>5}  {:<10} {:<28} {:>10.1f} {:>10.1f} {:>6.1f}% {:>9.1f}", step["step"].get<int>(),
                       step["phase"].get<int>(), step["op"].get<std::string>(),
                       Printable(step["name"].get<std::string>()), step["microseconds"].get<double>(),
                       step["microseconds_p50"].get<double>(), 100 * step["share"].get<double>(),
                       step["gops"].get<double>());
    if (step.contains("pairs")) {
      out << fmt::format(" {:>13} {:>8.3f}", Grouped(step["pairs"].get<uint64_t>()),
                         step["nanoseconds_per_pair"].get<double>());
    }
    out << "\n";
  }
  out << "\nBy operation (sums of the steps; all workers together)\n";
  for (const auto& [op, row] : result["operations"].items()) {
    const double microseconds = row["microseconds"].get<double>();
    out << fmt::format("  {:<12} {:>4} steps  min {:>10.1f}  p50 {:>10.1f} us {:>6.1f}% {:>9.1f} GOPS\n", op,
                       row["steps"].get<int>(), microseconds, row["microseconds_p50"].get<double>(),
                       100 * row["share"].get<double>(),
                       microseconds == 0 ? 0 : 1e6 * row["gop"].get<double>() / microseconds);
  }
}

void Print(std::ostream& out, const OrderedJson& r) {
  const auto ms = [&](const char* key) { return r["latency_ms"][key].get<double>(); };
  const auto bytes = [&](const char* key) {
    const uint64_t count = r["bytes"][key].get<uint64_t>();
    return fmt::format("{:>14}  {}", Grouped(count), ShortBytes(count));
  };
  const std::string processor = r["machine"]["processor"].get<std::string>();
  out << fmt::format("model       {}: {} parameters, {}\n", Printable(r["model"].get<std::string>()),
                     ParameterText(r["parameters"].get<uint64_t>()),
                     WeightText(r["weights"].get<std::map<std::string, uint64_t>>()));
  out << fmt::format("machine     {}{}\n", processor.empty() ? "" : processor + ", ", r["vectors"].get<std::string>());
  out << fmt::format("run         {} rows in {} {}, {} {}, tiles of {} rows, {}\n", r["rows"].get<uint64_t>(),
                     r["texts"].get<size_t>(), r["texts"].get<size_t>() == 1 ? "text" : "texts",
                     r["workers"].get<uint32_t>(), r["workers"].get<uint32_t>() == 1 ? "thread" : "threads",
                     r["tile_rows"].get<uint32_t>(), r["backend"].get<std::string>());
  out << fmt::format("mean        {:.3f} ms, standard deviation {:.3f}\n", r["mean_ms"].get<double>(),
                     r["deviation_ms"].get<double>());
  out << fmt::format("latency     min {:.3f}  p50 {:.3f}  p90 {:.3f}  p99 {:.3f} ms  ({} runs)\n", ms("min"), ms("p50"),
                     ms("p90"), ms("p99"), r["runs"].get<size_t>());
  out << fmt::format("throughput  {:.0f} rows/s  {:.1f} GOPS  ({:.4g} GOP a run; at p50)\n",
                     r["rows_per_second"].get<double>(), r["gops"].get<double>(), r["gop_per_run"].get<double>());
  out << fmt::format("load        map {:.3f}  model {:.3f}  session {:.3f} ms\n", r["load_ms"]["map"].get<double>(),
                     r["load_ms"]["model"].get<double>(), r["load_ms"]["session"].get<double>());
  for (const char* key : {"blob", "model", "fixed", "state", "scratch", "peak_resident"}) {
    out << fmt::format("{:<13}{}\n", key, bytes(key));
  }
  if (r.contains("steps")) PrintSteps(out, r);
}

// Result as JSON from the shared code's measurement. Names are added here, since they need not be valid UTF-8.
OrderedJson Result(const fovea_bench& bench, const Model& model, const Session& session) {
  std::string text(fovea_bench_json(&bench, model.get(), session.get(), nullptr, 0) + 1, '\0');
  text.resize(fovea_bench_json(&bench, model.get(), session.get(), &text[0], text.size()));
  OrderedJson result = OrderedJson::parse(text);
  result["model"] = model.name();
  result["machine"] = ThisMachine();
  return result;
}

// Adds what text and tables also show. JSON has the same fields on every platform (ports/bench.h).
void AddSummary(const fovea_bench& bench, const Model& model, OrderedJson* result) {
  (*result)["vectors"] = VectorsName((*result)["target"].get<std::string>());
  (*result)["parameters"] = ParameterCount(model);
  (*result)["weights"] = WeightBytes(model);
  double sum = 0, squares = 0;
  for (uint64_t i = 0; i < bench.run_count; ++i) sum += static_cast<double>(bench.run_ticks[i]);
  const double mean = sum / static_cast<double>(bench.run_count);
  for (uint64_t i = 0; i < bench.run_count; ++i) {
    const double distance = static_cast<double>(bench.run_ticks[i]) - mean;
    squares += distance * distance;
  }
  (*result)["mean_ms"] = 1e-6 * mean;
  (*result)["deviation_ms"] = 1e-6 * std::sqrt(squares / static_cast<double>(bench.run_count));
}

uint64_t Nanoseconds(double seconds) { return static_cast<uint64_t>(std::max(0.0, seconds) * 1e9); }

void Bench(const Arguments& arguments, Console* console) {
  const uint64_t start = NanosecondClock();
  const Model model = arguments.model.Open();
  const uint64_t opened = NanosecondClock() - start;
  const Batch batch = arguments.shape.MakeBatch(model);
  const SessionRequest request = arguments.shape.Request(model, batch);
  Session session(model, request);
  Bind(batch, &session);
  std::vector<uint64_t> times;
  Measure(&session, arguments.seconds, [&](uint64_t time) { times.push_back(time); });

  fovea_bench bench = {};
  bench.model_name = bench.system = bench.architecture = bench.processor = "";
  bench.clock = "monotonic";
  bench.counts = "nanoseconds";
  bench.ticks_per_second = 1000000000;
  bench.model_ticks = Nanoseconds(model.init_seconds());
  bench.map_ticks = opened - std::min(opened, bench.model_ticks);
  bench.session_ticks = Nanoseconds(session.init_seconds());
  bench.model_bytes = model.memory_bytes();
  bench.fixed_bytes = session.sizes().fixed_size;
  bench.state_bytes = session.sizes().state_size;
  bench.scratch_bytes = session.sizes().scratch_size;
  bench.peak_bytes = PeakResidentBytes();
  bench.program = request.program;
  bench.texts = static_cast<uint32_t>(arguments.shape.Lengths(model).size());
  bench.rows = batch.Rows();
  bench.run_count = times.size() - 1;
  bench.run_ticks = &times[1];
  OrderedJson result = Result(bench, model, session);
  if (arguments.steps) {
    const std::vector<double> flops = OperationFlops(model, session);
    const std::vector<StepTime> times_of_steps = StepTimes(model, arguments.shape, batch, arguments.seconds);
    result["steps"] = StepTable(model, request.program, times_of_steps, flops, OperationPairs(model, session));
    result["operations"] = OperationTable(result["steps"]);
  }
  if (arguments.json) return PrintJson(console->out, result);
  AddSummary(bench, model, &result);
  if (arguments.markdown || arguments.csv) {
    console->out << (arguments.csv ? MeasurementCsv(result) : MeasurementMarkdown(result));
  } else {
    Print(console->out, result);
  }
}

// A blob with its session and inputs; two blobs whose inputs are of the same kinds get the same inputs.
struct Contender {
  Contender(const ModelArguments& arguments, const std::string& path, const ShapeArguments& shape)
      : model(OpenAt(arguments, path)), batch(shape.MakeBatch(model)), session(model, shape.Request(model, batch)) {
    Bind(batch, &session);
    session.Run();
  }
  static Model OpenAt(ModelArguments arguments, const std::string& path) {
    arguments.path = path;
    return arguments.Open();
  }
  double Seconds() {
    session.Reset();
    return SecondsToRun(session);
  }
  OrderedJson About() const {
    const fovea_session_memory& sizes = session.sizes();
    return {{"blob", model.name()},
            {"bytes", std::filesystem::file_size(Utf8Path(model.name()))},
            {"rows", batch.Rows()},
            {"session_bytes", sizes.fixed_size + sizes.state_size + sizes.scratch_size}};
  }

  const Model model;
  const Batch batch;
  Session session;
};

void BenchTwo(const Arguments& arguments, Console* console) {
  Contender first(arguments.model, arguments.model.path, arguments.shape);
  Contender second(arguments.model, arguments.compare, arguments.shape);
  AlternatingRuns turns;
  while (turns.count() < FOVEA_BENCH_RUNS || turns.seconds() < arguments.seconds) {
    turns.RunBoth([&] { return first.Seconds(); }, [&] { return second.Seconds(); });
  }
  const OrderedJson result = {
      {"models", {first.About(), second.About()}}, {"time", turns.Json()}, {"machine", ThisMachine()}};
  if (arguments.json) return PrintJson(console->out, result);
  for (const OrderedJson& model : result["models"]) {
    console->out << fmt::format("{}: {} bytes, {} of a session, {} rows\n", Printable(model["blob"].get<std::string>()),
                                Grouped(model["bytes"].get<uint64_t>()),
                                Grouped(model["session_bytes"].get<uint64_t>()), model["rows"].get<uint64_t>());
  }
  console->out << AlternatingRunsText(result["time"], Printable(first.model.name()), Printable(second.model.name()));
}

}  // namespace

void AddBench(Command app, Console* console) {
  const Command command =
      app.AddCommand(CommandGroup::kQuality, "bench", "Measure latency, throughput and memory of a model");
  const Options generation = command.Under(Heading::kGeneration);
  const Options comparison = command.Under(Heading::kComparison);
  const Options measurement = command.Under(Heading::kMeasurement);
  auto arguments = std::make_shared<Arguments>();
  arguments->model.AddTo(command).Required(false);  // see below
  arguments->shape.AddTo(command);
  AddSeconds(command, &arguments->seconds, "Measure for N seconds");
  measurement.AddFlag("--steps", &arguments->steps,
                      "Time every operation in a second measurement: minimum and median of its runs, each\n"
                      "summed over all workers; shares and GOPS are from the minima. For attention also the\n"
                      "query-key pairs whose score is computed, in all heads together (see\n"
                      "fovea_session_get_step_pairs), and the time for each");
  generation.AddFlag("--generate", &arguments->generate,
                     "Measure a decoder that continues texts: prefill, then one token of each text per step");
  const int most = 1 << 20;
  generation.Add("--texts", &arguments->generation.texts, "With --generate: generate N texts at a time").Range(1, most);
  generation.Add("--beams", &arguments->generation.beams, "With --generate: search with N beams for each text")
      .Range(1, 256);
  generation.Add("--prompt-tokens", &arguments->generation.prompt_tokens, "With --generate: length of each prompt")
      .Range(1, most);
  generation
      .Add("--new-tokens", &arguments->generation.new_tokens, "With --generate: tokens to generate for each prompt")
      .Range(1, most);
  AddCacheType(command, &arguments->cache_type);
  comparison
      .Add("--compare", &arguments->compare,
           "Alternate runs with another blob that reads the same rows: print the ratio of the median times\n"
           "(above 1 if the other takes longer) and percentiles of the ratios of neighbouring runs")
      .Placeholder("BLOB")
      .Excludes("--steps")
      .Excludes("--generate");
  AddJson(command, &arguments->json);
  for (const auto& [name, form] : {std::pair("--markdown", &arguments->markdown), {"--csv", &arguments->csv}}) {
    command.Under(Heading::kOutput)
        .AddFlag(name, form, "Print the measurement as a table of one line")
        .Excludes("--json")
        .Excludes("--steps")
        .Excludes("--generate")
        .Excludes("--compare");
  }
  command.Footer(
      "Examples:\n  fovea bench model.fovea --rows 128 --workers 2\n"
      "  fovea bench model.fovea --lengths 12,40,7 --steps\n"
      "  fovea bench decoder.fovea --generate --prompt-tokens 512\n"
      "  fovea bench model.fovea --compare model-int8.fovea --rows 64\n  fovea bench attention --max-n 4096");
  AddBenchAttention(command, console);
  command.Runs([=] {
    if (arguments->model.path.empty()) throw UsageError("BLOB is required");
    if (!arguments->compare.empty()) return BenchTwo(*arguments, console);
    arguments->generate ? BenchGeneration(*arguments, console) : Bench(*arguments, console);
  });
}

}  // namespace fovea::tools
