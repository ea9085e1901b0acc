// Compares the outputs of two blobs of one model on the same inputs.
#include "tools/convert/compare.h"

#include <math.h>

#include <algorithm>

#include "tools/base/fail.h"
#include "tools/convert/loaded_blob.h"
#include "tools/convert/samples.h"
#include "tools/measure/alternating_runs.h"
#include "tools/measure/distance.h"
#include "tools/measure/synthetic_batch.h"
#include "tools/model/batch.h"
#include "tools/model/library_error.h"
#include "tools/model/model.h"
#include "tools/model/session.h"

namespace fovea::tools {
namespace {

// Rows of generated samples.
const std::vector<uint32_t> kFewLengths = {5, 16, 33, 64};
const std::vector<uint32_t> kManyLengths = {1, 2, 3, 5, 8, 12, 16, 24, 33, 48, 64, 96, 128, 192, 256, 384, 512};

// Rows of the longest text that is timed.
constexpr uint32_t kFewRows = 1024, kManyRows = 4096;
constexpr size_t kTurns = 5;

uint32_t LongestText(const Model& model, uint32_t program) {
  uint32_t longest = UINT32_MAX;
  for (uint32_t input : InputsOf(model, program)) {
    longest = std::min(longest, model.Space(model.Value(program, input).space).max_segment_rows);
  }
  return longest;
}

std::vector<Matrix> Run(const Model& model, uint32_t program, const Batch& batch, uint32_t workers) {
  SessionRequest request;
  request.program = program;
  request.workers = workers;
  Session session = SessionFor(model, batch, request);
  session.Run();
  std::vector<Matrix> outputs;
  for (uint32_t value : OutputsOf(model, program)) outputs.push_back(session.Output(value));
  return outputs;
}

Batch MadeUpBatch(const Model& model, uint32_t program, Comparison depth) {
  const uint32_t longest = LongestText(model, program);
  std::vector<uint32_t> lengths = depth == Comparison::kFull ? kManyLengths : kFewLengths;
  for (uint32_t& length : lengths) length = std::min(length, longest);
  return SyntheticBatch(model, program, lengths);
}

// Reciprocal root mean square of each channel; 0 for channels that are zero.
std::vector<double> ScalesOf(const Matrix& exact) {
  std::vector<double> scales(exact.width);
  for (uint32_t row = 0; row < exact.rows; ++row) {
    for (uint32_t i = 0; i < exact.width; ++i) {
      const double value = exact.Row(row)[i];
      scales[i] += value * value;
    }
  }
  for (double& scale : scales) scale = scale == 0 ? 0 : sqrt(exact.rows / scale);
  return scales;
}

std::vector<float> Scaled(const float* row, const std::vector<double>& scales) {
  std::vector<float> scaled(scales.size());
  for (size_t i = 0; i < scales.size(); ++i) scaled[i] = static_cast<float>(row[i] * scales[i]);
  return scaled;
}

// The sample that an output's row is computed from: rows are the tokens of each sample in turn, or one for each.
std::optional<uint32_t> SampleOf(uint32_t row, uint32_t rows, const std::vector<uint32_t>& lengths) {
  if (rows == lengths.size()) return row;
  uint64_t end = 0;
  std::optional<uint32_t> found;
  for (uint32_t i = 0; i < lengths.size(); ++i) {
    end += lengths[i];
    if (!found && row < end) found = i;
  }
  return end == rows ? found : std::nullopt;
}

// The channel whose difference is largest compared with its own size, which a cosine of whole rows hides if another
// channel is far larger.
void CompareChannels(const Matrix& exact, const Matrix& stored, OutputReport& report) {
  for (uint32_t i = 0; i < exact.width; ++i) {
    double squares = 0, errors = 0;
    for (uint32_t row = 0; row < exact.rows; ++row) {
      const double value = exact.Row(row)[i], error = value - stored.Row(row)[i];
      squares += value * value;
      errors += error * error;
    }
    const double error = squares == 0 ? 0 : sqrt(errors / squares);
    if (error <= report.worst_channel_error) continue;
    report.worst_channel = i;
    report.worst_channel_error = error;
  }
}

void CompareScaled(const Matrix& exact, const Matrix& stored, const std::vector<uint32_t>& lengths,
                   OutputReport& report) {
  const std::vector<double> scales = ScalesOf(exact);
  double sum = 0;
  for (uint32_t row = 0; row < exact.rows; ++row) {
    const std::vector<float> a = Scaled(exact.Row(row), scales), b = Scaled(stored.Row(row), scales);
    const double cosine = Cosine(a.data(), b.data(), a.size());
    if (cosine < report.lowest_scaled_cosine) {
      report.lowest_scaled_cosine = cosine;
      report.worst_sample = SampleOf(row, exact.rows, lengths);
    }
    sum += cosine;
  }
  if (exact.rows != 0) report.mean_scaled_cosine = sum / exact.rows;
}

// `lengths`: rows of each sample.
void CompareRows(const Matrix& exact, const Matrix& stored, const std::vector<uint32_t>& lengths,
                 OutputReport& report) {
  if (stored.rows != exact.rows) {  // the two select different rows
    report.lowest_cosine = report.mean_cosine = report.lowest_scaled_cosine = report.mean_scaled_cosine = 0;
    return;
  }
  // Outputs of width 1 are compared as one vector, since single numbers have no direction.
  const size_t rows = exact.width == 1 ? std::min(exact.rows, 1u) : exact.rows;
  const size_t width = exact.width == 1 ? exact.rows : exact.width;
  double sum = 0;
  for (size_t row = 0; row < rows; ++row) {
    const double cosine = Cosine(exact.values.data() + row * width, stored.values.data() + row * width, width);
    report.lowest_cosine = std::min(report.lowest_cosine, cosine);
    sum += cosine;
  }
  if (rows != 0) report.mean_cosine = sum / static_cast<double>(rows);
  if (exact.width == 1) {
    report.lowest_scaled_cosine = report.lowest_cosine;
    report.mean_scaled_cosine = report.mean_cosine;
  } else {
    CompareScaled(exact, stored, lengths, report);
    CompareChannels(exact, stored, report);
  }
  for (size_t i = 0; i < exact.values.size(); ++i) {
    report.max_abs = std::max(report.max_abs, static_cast<double>(fabsf(exact.values[i])));
    report.max_abs_difference = std::max(report.max_abs_difference, Difference(exact.values[i], stored.values[i]));
  }
}

LengthReport CompareAt(uint32_t rows, const Model& before, const Model& after, uint32_t workers) {
  const Batch batch = SyntheticBatch(before, 0, {rows});
  SessionRequest request;
  request.workers = workers;
  Session was = SessionFor(before, batch, request), is = SessionFor(after, batch, request);
  was.Run();
  is.Run();
  AlternatingRuns turns;
  while (turns.count() < kTurns) {
    turns.RunBoth([&] { return SecondsToRun(was); }, [&] { return SecondsToRun(is); });
  }
  LengthReport report = {rows, turns.first_median(), turns.second_median(), {}};
  const uint32_t output = OutputsOf(before, 0).front();
  report.output = {before.Program(0).name, before.Value(0, output).name};
  CompareRows(was.Output(output), is.Output(OutputsOf(after, 0).front()), {rows}, report.output);
  return report;
}

}  // namespace

void CompareLengths(const std::vector<uint8_t>& before, const std::vector<uint8_t>& after,
                    const ConvertOptions& options, uint32_t workers, ConvertReport& report, const Progress& progress) {
  const LoadedBlob was(before, "the model without the pattern"), is(after, "the converted model");
  const uint32_t longest =
      std::min(LongestText(was.model, 0), options.compare == Comparison::kFull ? kManyRows : kFewRows);
  std::vector<uint32_t> lengths;
  for (uint32_t rows = 128; rows < longest; rows *= 2) lengths.push_back(rows);
  lengths.push_back(longest);
  for (size_t i = 0; i < lengths.size(); ++i) {
    if (progress) progress("time", fmt::format("{} rows", lengths[i]), i, lengths.size());
    report.lengths.push_back(CompareAt(lengths[i], was.model, is.model, workers));
  }
  if (progress) progress("time", "", lengths.size(), lengths.size());
}

void CompareBlobs(const std::vector<uint8_t>& exact, const std::vector<uint8_t>& stored, const ConvertOptions& options,
                  uint32_t workers, ConvertReport& report, const Progress& progress) {
  const LoadedBlob reference(exact, "the model with f32 weights");
  const std::vector<Reference> references =
      MakeReferences(reference.model, OutputsBy(reference.model, workers), options, report, progress);
  const LoadedBlob candidate(stored, "the converted model");
  CompareModels(references, OutputsBy(candidate.model, workers), report, progress);
}

ProgramOutputs OutputsBy(const Model& model, uint32_t workers) {
  return [&model, workers](uint32_t program, const Batch& batch) { return Run(model, program, batch, workers); };
}

ProgramOutputs OutputsBy(const StagedModel& model) {
  return [&model](uint32_t program, const Batch& batch) { return model.Outputs(program, batch); };
}

Reference::Reference(const Model& outline, const ProgramOutputs& exact, uint32_t program, const ConvertOptions& options,
                     size_t most_tokens)
    : program_(program) {
  std::optional<Batch> given = GivenSamples(outline, program, options.samples, most_tokens);
  reads_given_ = given.has_value();
  batch_ = given ? *std::move(given) : MadeUpBatch(outline, program, options.compare);
  outputs_ = exact(program, batch_);
  for (const uint32_t value : OutputsOf(outline, program)) {
    names_.push_back({outline.Program(program).name, outline.Value(program, value).name});
  }
}

std::vector<OutputReport> Reference::Compare(const ProgramOutputs& stored) const {
  const std::vector<Matrix> outputs = stored(program_, batch_);
  std::vector<OutputReport> reports = names_;
  for (size_t i = 0; i < reports.size(); ++i) CompareRows(outputs_[i], outputs[i], lengths(), reports[i]);
  return reports;
}

std::vector<Reference> MakeReferences(const Model& outline, const ProgramOutputs& exact, const ConvertOptions& options,
                                      ConvertReport& report, const Progress& progress) {
  std::vector<Reference> references;
  const uint32_t programs = outline.Info().program_count;
  bool reads_given = !options.samples.any();
  for (uint32_t program = 0; program < programs; ++program) {
    if (progress) progress("run as f32", outline.Program(program).name, program, programs);
    references.emplace_back(outline, exact, program, options);
    reads_given = reads_given || references.back().reads_given();
    if (report.sample_lengths.empty()) report.sample_lengths = references.back().lengths();
  }
  if (progress) progress("run as f32", "", programs, programs);
  if (!reads_given) report.warnings.push_back("no program reads the given samples; generated samples are used instead");
  return references;
}

void CompareModels(const std::vector<Reference>& references, const ProgramOutputs& stored, ConvertReport& report,
                   const Progress& progress) {
  for (size_t i = 0; i < references.size(); ++i) {
    if (progress) progress("compare", references[i].program_name(), i, references.size());
    for (OutputReport& output : references[i].Compare(stored)) report.outputs.push_back(std::move(output));
  }
  if (progress) progress("compare", "", references.size(), references.size());
}

}  // namespace fovea::tools
