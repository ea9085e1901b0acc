// The model with f32 weights, of which no more is in memory than runs: what others are measured by.
#ifndef FOVEA_TOOLS_CONVERT_EXACT_MODEL_H_
#define FOVEA_TOOLS_CONVERT_EXACT_MODEL_H_

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "tools/base/workers.h"
#include "tools/common/batch.h"
#include "tools/common/model.h"
#include "tools/common/session.h"
#include "tools/convert/loaded_blob.h"
#include "tools/convert/resolve.h"
#include "tools/convert/stages.h"

namespace fovea::tools {

class ExactModel {
 public:
  // A program runs in stages of so many bytes, if it has so many (stages.h).
  static constexpr uint64_t kMostBytes = uint64_t{64} << 20;

  // As the resolved model is now, whose constants stay. Both arguments live as long as it does.
  ExactModel(const Resolved& model, Workers& workers, uint64_t most_bytes = kMostBytes);

  // What the model takes and makes, and its tokenizer. Its weights are zeros.
  const Model& outline() const { return outline_.model; }

  // By value, the rows of each batch.
  using Rows = std::map<uint32_t, std::vector<Matrix>>;
  // Runs a program on each batch. Calls `use` with some of the wanted values at a time, in the order in which they are
  // made; it may take them. No wanted value is an input.
  void Run(uint32_t program, const std::vector<Batch>& batches, const std::set<uint32_t>& wanted,
           const std::function<void(Rows& rows)>& use) const;
  // All outputs.
  std::vector<Matrix> Outputs(uint32_t program, const Batch& batch) const;

 private:
  LoadedBlob Load(const Stage& stage) const;

  const Resolved& model_;
  Workers& workers_;
  const uint64_t most_bytes_;
  const std::vector<DType> types_;  // of tensors: f32, or i32
  BlobContent content_;             // without its text
  LoadedBlob outline_;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_EXACT_MODEL_H_
