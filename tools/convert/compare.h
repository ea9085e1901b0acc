// Runs two blobs of one model on the same inputs.
#ifndef FOVEA_TOOLS_CONVERT_COMPARE_H_
#define FOVEA_TOOLS_CONVERT_COMPARE_H_

#include <functional>
#include <string>
#include <vector>

#include "tools/common/batch.h"
#include "tools/common/model.h"
#include "tools/common/session.h"
#include "tools/convert/convert.h"
#include "tools/convert/staged_model.h"

namespace fovea::tools {

// Runs a program of a model: all its outputs, in order.
using ProgramOutputs = std::function<std::vector<Matrix>(uint32_t program, const Batch& batch)>;
ProgramOutputs OutputsBy(const Model& model, uint32_t workers);  // which stays
ProgramOutputs OutputsBy(const StagedModel& model);              // which stays

// Samples that a program of a model has read, to set other blobs of the model against it. Made by the options' samples
// and depth; of those that are given so many tokens at most.
class Reference {
 public:
  // `outline` says what the model takes and makes.
  Reference(const Model& outline, const ProgramOutputs& exact, uint32_t program, const ConvertOptions& options,
            size_t most_tokens = SIZE_MAX);

  // An entry for every output.
  std::vector<OutputReport> Compare(const ProgramOutputs& stored) const;

  const std::string& program_name() const { return names_.front().program; }
  bool reads_given() const { return reads_given_; }
  // Rows of the samples.
  const std::vector<uint32_t>& lengths() const { return batch_.spaces.begin()->second.lengths; }

 private:
  uint32_t program_;
  bool reads_given_ = false;
  Batch batch_;
  std::vector<OutputReport> names_;
  std::vector<Matrix> outputs_;
};

// One for each program. Warns if none reads the samples that are given.
std::vector<Reference> MakeReferences(const Model& outline, const ProgramOutputs& exact, const ConvertOptions& options,
                                      ConvertReport& report, const Progress& progress);
// Appends the entries of every program to report.outputs.
void CompareModels(const std::vector<Reference>& references, const ProgramOutputs& stored, ConvertReport& report,
                   const Progress& progress);
// Both of blobs.
void CompareBlobs(const std::vector<uint8_t>& exact, const std::vector<uint8_t>& stored, const ConvertOptions& options,
                  uint32_t workers, ConvertReport& report, const Progress& progress);

// Both blobs in turns over a text of each length, the model's longest among them: how long the first program takes, and
// how its first output differs. Appends to report.lengths.
void CompareLengths(const std::vector<uint8_t>& before, const std::vector<uint8_t>& after,
                    const ConvertOptions& options, uint32_t workers, ConvertReport& report, const Progress& progress);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_COMPARE_H_
