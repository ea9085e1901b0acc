// fovea check: compares what a model computes with the golden tensors of a file.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/base/print.h"
#include "tools/check/golden_check.h"
#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"

namespace fovea::tools {
namespace {

struct Arguments {
  ModelArguments model;
  std::string golden;
  CheckOptions options;
  bool json = false;
};

OrderedJson ToJson(const CheckLine& line) {
  OrderedJson json = {
      {"case", line.case_name}, {"tensor", line.tensor}, {"shape", line.shape}, {"compared", line.compared}};
  if (line.compared) {
    json["max_diff"] = line.max_diff;
    json["max_abs"] = line.max_abs;
    json["cosine"] = line.cosine;
  }
  json["ok"] = line.ok;
  if (!line.note.empty()) json["note"] = line.note;
  return json;
}

bool HasIntegerWeights(const Model& model) {
  for (uint32_t i = 0; i < model.Info().tensor_count; ++i) {
    const uint32_t type = model.Tensor(i).type;
    if (type == FOVEA_TYPE_I8 || type == FOVEA_TYPE_I4) return true;
  }
  return false;
}

void Run(const Arguments& arguments, Console* console) {
  const Model model = arguments.model.Open();
  const SafetensorsReader golden(arguments.golden);
  const auto print = [&](const CheckLine& line) {
    if (!arguments.json) console->out << LineText(line) << std::endl;
  };
  const std::vector<CheckLine> lines = CheckGolden(model, golden.tensors(), arguments.options, print);
  size_t failed = 0, compared = 0;
  OrderedJson list = OrderedJson::array();
  for (const CheckLine& line : lines) {
    failed += !line.ok;
    compared += line.compared;
    list.push_back(ToJson(line));
  }
  if (arguments.json) {
    PrintJson(console->out,
              {{"ok", failed == 0 && compared != 0}, {"compared", compared}, {"failed", failed}, {"tensors", list}});
  } else {
    const size_t left_out =
        std::count_if(lines.begin(), lines.end(), [](const CheckLine& l) { return l.ok && !l.compared; });
    console->out << fmt::format("{} compared, {} failed{}\n", compared, failed,
                                left_out == 0 ? "" : fmt::format(", {} not compared", left_out));
  }
  if (failed != 0 && !arguments.options.cosine && HasIntegerWeights(model)) {
    console->err << "fovea: the blob has integer weights, so its outputs differ by more than rounding; --cosine 0.99 "
                    "compares directions instead\n";
  }
  if (failed != 0 || compared == 0) console->status = kExitFailedCheck;
}

}  // namespace

void AddCheck(Command app, Console* console) {
  const Command command =
      app.AddCommand(CommandGroup::kQuality, "check", "Compare a model's outputs with golden tensors");
  const Options input = command.Under(Heading::kInput);
  const Options comparison = command.Under(Heading::kComparison);
  auto arguments = std::make_shared<Arguments>();
  arguments->model.AddTo(command);
  CheckOptions& options = arguments->options;
  input.Add("GOLDEN", &arguments->golden, "Safetensors file with <case>.in.<input> and <case>.out.<output>").Required();
  comparison
      .Add("--rtol", &options.rtol, "Allow differences of X times the largest magnitude of the reference, plus --atol")
      .ShowDefault();
  comparison.Add("--atol", &options.atol, "Allow differences of X, plus --rtol").ShowDefault();
  comparison.Add("--cosine", &options.cosine, "Require this cosine instead of --rtol and --atol").Range(-1.0, 1.0);
  input.AddRepeated("--case", &options.cases, "Check only this case");
  input.AddFlag("--skip", &options.skip_unknown, "Ignore inputs and outputs that the model does not have");
  AddProgram(command, &options.program);
  AddWorkers(command, &options.workers);
  AddJson(command, &arguments->json);
  command.Footer(
      R"(Rows that attention_mask excludes are not compared. A case with <case>.in.segments.<space> (the rows of each
segment, for every input space with a parent) has no padding: inputs and outputs are [rows, width], attention
weights [query rows, heads, longest key segment]. A case <program>/<name> runs that program; <case>#0, <case>#1, ... are
consecutive runs of one session. If <case>.out64.<output> exists, it is compared instead of <case>.out.<output>.
Exit status 1 if anything differs.
Examples:
  fovea check model.fovea golden.safetensors
  fovea check model-int8.fovea golden.safetensors --cosine 0.999 --case a)");
  command.Runs([=] { Run(*arguments, console); });
}

}  // namespace fovea::tools
