// Compares a model's outputs with stored tensors.
#include "tools/check/golden_check.h"

#include <math.h>

#include <algorithm>

#include "tools/base/fail.h"
#include "tools/check/attention_layout.h"
#include "tools/tensors/named_inputs.h"
#include "tools/tensors/padded_inputs.h"

namespace fovea::tools {
namespace {

// Shapes without leading ones: [1, 7, 32] and [7, 32] hold the same data.
std::vector<uint64_t> Significant(const std::vector<uint64_t>& shape) {
  return {std::find_if(shape.begin(), shape.end(), [](uint64_t size) { return size != 1; }), shape.end()};
}

// Runs the steps of a case consecutively in one session.
class CaseCheck {
 public:
  CaseCheck(const Model& model, uint32_t program, const CheckOptions& options,
            const std::function<void(CheckLine)>& add)
      : model_(model), options_(options), add_(add) {
    request_.program = program;
    request_.workers = options.workers;
  }

  void Run(const std::vector<GoldenCases::const_iterator>& steps) {
    std::vector<Batch> batches;
    for (const auto& step : steps) {
      batches.push_back(BatchOf(step->first, step->second));
      for (const auto& [out, tensor] : step->second.out) Want(out);
    }
    request_.limits = ExactLimits(model_, batches[0]);
    Session session(model_, request_);
    for (size_t i = 0; i < steps.size(); ++i) {
      Bind(batches[i], &session);
      session.Run();
      CompareStep(steps[i]->first, steps[i]->second, session, batches[i]);
    }
  }

 private:
  struct Tap {
    uint32_t index;
    AttentionLayout layout;
  };

  CheckLine NotCompared(const std::string& tensor, const StoredTensor& stored, const char* note) const {
    CheckLine line;
    line.tensor = tensor;
    line.shape = stored.shape;
    line.ok = options_.skip_unknown;
    line.note = note;
    return line;
  }

  Batch BatchOf(const std::string& name, const GoldenCase& tensors) const {
    StoredTensors inputs;
    for (const auto& [in, tensor] : tensors.in) {
      if (!options_.skip_unknown || TakesInput(model_, request_.program, in)) {
        inputs[in] = tensor;
        continue;
      }
      CheckLine line = NotCompared(in, tensor, "the model has no such input");
      line.case_name = name;
      add_(std::move(line));
    }
    return BatchFromTensors(model_, request_.program, inputs);
  }

  void Keep(uint32_t value) {
    const bool readable = model_.Value(request_.program, value).role == FOVEA_ROLE_OUTPUT;
    const bool kept = std::count(request_.keep.begin(), request_.keep.end(), value) != 0;
    if (!readable && !kept) request_.keep.push_back(value);
  }

  void Want(const std::string& out) {
    if (values_.count(out) != 0 || taps_.count(out) != 0) return;
    if (const auto value = model_.FindValue(request_.program, out)) {
      values_[out] = *value;
      Keep(*value);
    } else if (const auto step = model_.FindAttention(request_.program, out)) {
      const AttentionLayout layout = LayoutOf(model_, request_.program, model_.Step(request_.program, *step).name);
      taps_[out] = {static_cast<uint32_t>(request_.taps.size()), layout};
      request_.taps.push_back(TapOf(*step));
      if (layout.value) Keep(*layout.value);
    }
  }

  void CompareStep(const std::string& name, const GoldenCase& tensors, const Session& session,
                   const Batch& batch) const {
    for (const auto& [out, reference] : tensors.out) {
      CheckLine line;
      if (const auto value = values_.find(out); value != values_.end()) {
        line = Compare(PaddedValue(model_, session, batch, value->second, out), reference, options_);
      } else if (const auto wanted = taps_.find(out); wanted != taps_.end()) {
        const auto& [tap, layout] = wanted->second;
        const OutputTensor weights = PaddedAttention(model_, session, batch, tap, out);
        line = Compare(LayOut(model_, layout, weights, session, batch, tap), reference, options_);
      } else {
        line = NotCompared(out, reference, "the model has no such output");
      }
      line.case_name = name;
      add_(std::move(line));
    }
  }

  const Model& model_;
  const CheckOptions& options_;
  const std::function<void(CheckLine)>& add_;
  SessionRequest request_;
  std::map<std::string, uint32_t> values_;
  std::map<std::string, Tap> taps_;
};

// Some libraries pad rows to a multiple: if the reference has more rows, appends padding to the result. Rows are the
// second-to-last of at least three dimensions.
OutputTensor WithPaddingOf(const StoredTensor& reference, const OutputTensor& result) {
  const size_t rank = result.shape.size();
  if (rank < 3 || reference.shape.size() != rank || reference.shape[rank - 2] <= result.shape[rank - 2]) return result;
  const uint64_t rows = result.shape[rank - 2], width = result.shape[rank - 1], padded = reference.shape[rank - 2];
  OutputTensor wide{result.name, result.shape, {}, {}};
  wide.shape[rank - 2] = padded;
  if (wide.shape != reference.shape) return result;
  const size_t matrices = rows * width == 0 ? 0 : result.values.size() / (rows * width);
  wide.values.assign(matrices * padded * width, 0.0f);
  wide.valid.assign(wide.values.size(), 0);
  for (size_t i = 0; i < matrices; ++i) {
    const auto from = static_cast<ptrdiff_t>(i * rows * width), to = static_cast<ptrdiff_t>(i * padded * width);
    std::copy_n(result.values.begin() + from, rows * width, wide.values.begin() + to);
    std::copy_n(result.valid.begin() + from, rows * width, wide.valid.begin() + to);
  }
  return wide;
}

}  // namespace

CheckLine Compare(const OutputTensor& found, const StoredTensor& reference, const CheckOptions& options) {
  CheckLine line;
  line.tensor = found.name;
  line.shape = reference.shape;
  const OutputTensor result = WithPaddingOf(reference, found);
  if (result.shape != found.shape)
    line.note = fmt::format("{} rows, the rest is padding", found.shape[found.shape.size() - 2]);
  if (Significant(result.shape) != Significant(reference.shape)) {
    line.note = "the model's shape is " + ShapeText(result.shape);
    return line;
  }
  line.compared = true;
  const std::vector<float> expected = ToFloats(reference);
  double dot = 0, squares = 0, expected_squares = 0;
  bool finite = true;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (result.valid[i] == 0) continue;
    const double x = result.values[i], reference_x = expected[i];
    finite = finite && std::isfinite(x);
    line.max_diff = std::max(line.max_diff, fabs(x - reference_x));
    line.max_abs = std::max(line.max_abs, fabs(reference_x));
    dot += x * reference_x;
    squares += x * x;
    expected_squares += reference_x * reference_x;
  }
  const double norms = sqrt(squares) * sqrt(expected_squares);
  line.cosine = squares == 0 && expected_squares == 0 ? 1 : norms == 0 ? 0 : dot / norms;
  line.ok = finite && (options.cosine ? line.cosine >= *options.cosine
                                      : line.max_diff <= options.rtol * line.max_abs + options.atol);
  if (!finite) line.note = "not finite";
  return line;
}

std::vector<CheckLine> CheckGolden(const Model& model, const StoredTensors& golden, const CheckOptions& options,
                                   const std::function<void(const CheckLine&)>& on_line) {
  const uint32_t default_program = model.FindProgram(options.program);
  const GoldenCases cases = CasesOf(golden);
  for (const std::string& name : options.cases) {
    const auto is = [&](const auto& known) { return known.second.name == name; };
    if (std::none_of(cases.begin(), cases.end(), is)) Fail("no case '{}'", name);
  }
  std::vector<CheckLine> lines;
  const std::function<void(CheckLine)> add = [&](CheckLine line) {
    lines.push_back(std::move(line));
    if (on_line) on_line(lines.back());
  };
  for (auto first = cases.begin(), next = first; first != cases.end(); first = next) {
    const std::string& name = first->second.name;
    const std::string& program = first->second.program;
    std::vector<GoldenCases::const_iterator> steps;
    for (; next != cases.end() && next->second.name == name; ++next) {
      if (!next->second.in.empty() && !next->second.out.empty()) steps.push_back(next);
    }
    const bool wanted = options.cases.empty() || std::count(options.cases.begin(), options.cases.end(), name) != 0;
    const bool of_program = program.empty() || options.program.empty() || program == options.program;
    if (!wanted || !of_program || steps.empty()) continue;
    try {
      CaseCheck(model, program.empty() ? default_program : model.FindProgram(program), options, add).Run(steps);
    } catch (const Failure& failure) {
      CheckLine line;
      line.case_name = name;
      line.note = failure.what();
      add(std::move(line));
    }
  }
  if (lines.empty()) Fail("no tensors named <case>.in.* with <case>.out.*");
  return lines;
}

bool AllOk(const std::vector<CheckLine>& lines) {
  return std::all_of(lines.begin(), lines.end(), [](const CheckLine& line) { return line.ok; });
}

std::string LineText(const CheckLine& line) {
  const std::string head =
      fmt::format("{:<8} {:<20} {:<18}", line.case_name, line.tensor, line.shape.empty() ? "" : ShapeText(line.shape));
  const char* verdict = line.ok ? "ok" : "FAIL";
  if (!line.compared) return fmt::format("{} not compared: {}  {}", head, line.note, line.ok ? "skipped" : verdict);
  return fmt::format("{} max diff {:<9.2e} max {:<9.4g} cosine {:.6f}  {}{}", head, line.max_diff, line.max_abs,
                     line.cosine, verdict, line.note.empty() ? "" : " (" + line.note + ")");
}

}  // namespace fovea::tools
