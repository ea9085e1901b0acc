// A model of which only the running part is in memory.
#ifndef FOVEA_TOOLS_CONVERT_STAGED_MODEL_H_
#define FOVEA_TOOLS_CONVERT_STAGED_MODEL_H_

#include <map>
#include <set>
#include <vector>

#include "tools/base/workers.h"
#include "tools/convert/loaded_blob.h"
#include "tools/convert/stages.h"
#include "tools/model/batch.h"
#include "tools/model/session.h"

namespace fovea::tools {

// Runs programs in stages (stages.h), with the same bits as in one run.
class StagedModel {
 public:
  // limit for a stage's tensors and wanted values
  static constexpr uint64_t kMostBytes = uint64_t{64} << 20;

  // Takes spaces, programs, and names, rows and widths of tensors of the content as they are now; `source` makes the
  // tensors' bytes each time that a stage needs them. `workers` must outlive this.
  StagedModel(const BlobContent& content, TensorSource source, uint32_t backend, Workers& workers,
              uint64_t most_bytes = kMostBytes);

  const std::vector<BlobProgram>& programs() const { return content_.programs; }

  // [value][batch]
  using Rows = std::map<uint32_t, std::vector<Matrix>>;

  // A run of a program on batches for some of its values, none of them an input.
  class Run {
   public:
    Run(const StagedModel& model, uint32_t program, std::vector<Batch> batches, std::set<uint32_t> wanted);
    // Runs the next stage and adds the values that it computes. False after the last one.
    bool Next(Rows& rows);

   private:
    const StagedModel& model_;
    const std::vector<Batch> batches_;
    const std::set<uint32_t> wanted_;
    std::vector<Stage> stages_;
    std::map<uint32_t, size_t> last_given_;  // by value: the last stage that reads it
    size_t next_ = 0;
    Rows between_;  // inputs of later stages
  };

  // All outputs of a program in order.
  std::vector<Matrix> Outputs(uint32_t program, const Batch& batch) const;

 private:
  LoadedBlob Load(const Stage& stage) const;

  BlobContent content_;
  const TensorSource source_;
  const uint32_t backend_;
  Workers& workers_;
  const uint64_t most_bytes_;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_STAGED_MODEL_H_
