// Compares the outputs of two blobs of one model on the same inputs.
#ifndef FOVEA_TOOLS_CONVERT_COMPARE_H_
#define FOVEA_TOOLS_CONVERT_COMPARE_H_

#include <functional>
#include <string>
#include <vector>

#include "tools/convert/convert.h"
#include "tools/convert/staged_model.h"
#include "tools/model/batch.h"
#include "tools/model/model.h"
#include "tools/model/session.h"

namespace fovea::tools {

// Runs a program of a model; returns all its outputs in order.
using ProgramOutputs = std::function<std::vector<Matrix>(uint32_t program, const Batch& batch)>;
ProgramOutputs OutputsBy(const Model& model, uint32_t workers);  // must outlive the result
ProgramOutputs OutputsBy(const StagedModel& model);              // must outlive the result

// Samples with a program's f32 outputs, as a reference for other blobs of the model. Samples depend on the options and
// their depth; at most a fixed number of tokens of the given samples is used.
class Reference {
 public:
  // `outline`: the model's inputs and outputs.
  Reference(const Model& outline, const ProgramOutputs& exact, uint32_t program, const ConvertOptions& options,
            size_t most_tokens = SIZE_MAX);

  // Returns an entry for each output.
  std::vector<OutputReport> Compare(const ProgramOutputs& stored) const;

  const std::string& program_name() const { return names_.front().program; }
  bool reads_given() const { return reads_given_; }
  // Number of rows of each sample.
  const std::vector<uint32_t>& lengths() const { return batch_.spaces.begin()->second.lengths; }

 private:
  uint32_t program_;
  bool reads_given_ = false;
  Batch batch_;
  std::vector<OutputReport> names_;
  std::vector<Matrix> outputs_;
};

// One per program. Warns if no program reads the given samples.
std::vector<Reference> MakeReferences(const Model& outline, const ProgramOutputs& exact, const ConvertOptions& options,
                                      ConvertReport& report, const Progress& progress);
// Appends the results of every program to report.outputs.
void CompareModels(const std::vector<Reference>& references, const ProgramOutputs& stored, ConvertReport& report,
                   const Progress& progress);
// Same for two blobs.
void CompareBlobs(const std::vector<uint8_t>& exact, const std::vector<uint8_t>& stored, const ConvertOptions& options,
                  uint32_t workers, ConvertReport& report, const Progress& progress);

// Runs both blobs alternately on a text of each length, up to the model's maximum: times of the first program, and the
// difference of its first output. Appends to report.lengths.
void CompareLengths(const std::vector<uint8_t>& before, const std::vector<uint8_t>& after,
                    const ConvertOptions& options, uint32_t workers, ConvertReport& report, const Progress& progress);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_COMPARE_H_
