// The inputs of one run, ragged, and how they stood in padded form.
#ifndef FOVEA_TOOLS_COMMON_BATCH_H_
#define FOVEA_TOOLS_COMMON_BATCH_H_

#include <stdint.h>

#include <map>
#include <optional>
#include <vector>

#include "tools/common/model.h"
#include "tools/common/session.h"

namespace fovea::tools {

// How the rows of an input space fall into segments. A space without parent is one segment.
struct Segments {
  std::vector<uint32_t> lengths;
  std::vector<uint32_t> first;  // where a segment's rows begin in its padded row
  uint32_t padded = 0;          // rows of a padded segment
};

struct Batch {
  std::map<uint32_t, Segments> spaces;
  std::map<uint32_t, std::vector<int32_t>> ids;    // by value
  std::map<uint32_t, std::vector<float>> numbers;  // by value
  bool ragged = false;                             // came without padding, and so go the results (ragged.h)

  uint64_t Rows() const;  // of all spaces together
};

// Segments without padding on the left.
Segments MakeSegments(std::vector<uint32_t> lengths);

// Says how the rows of a space fall into segments: to the space itself or, where all of its segments have one length,
// by saying how many rows its parent has.
void AddSegments(const Model& model, uint32_t space, const Segments& segments, Batch* batch);

// Input values of a program.
std::vector<uint32_t> InputsOf(const Model& model, uint32_t program);
std::vector<uint32_t> OutputsOf(const Model& model, uint32_t program);

// What an input of ids is where it is not given: token types are 0, others as metadata "default.<input>" says.
std::optional<int32_t> DefaultId(const Model& model, const fovea_value_info& input);

// Limits that hold this batch and no more.
std::vector<fovea_limit> ExactLimits(const Model& model, const Batch& batch);

void Bind(const Batch& batch, Session* session);

// A session with exact limits for this batch, which is bound to it.
Session SessionFor(const Model& model, const Batch& batch, SessionRequest request = {});

// A batch for measuring: segments of the given lengths in every input space that has a parent (their sum in one that
// has none), as many segments where the model says how long they are, 10 ms a row of sounds; ids and numbers from a
// fixed sequence, marks (ids without a limit) on the first row of each segment. Where that parent is nested in turn,
// its rows are shared out among as few segments as can have them.
Batch SyntheticBatch(const Model& model, uint32_t program, const std::vector<uint32_t>& lengths);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_COMMON_BATCH_H_
