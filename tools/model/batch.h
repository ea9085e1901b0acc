// The inputs of one run as a ragged batch, with their placement in padded tensors.
#ifndef FOVEA_TOOLS_MODEL_BATCH_H_
#define FOVEA_TOOLS_MODEL_BATCH_H_

#include <stdint.h>

#include <map>
#include <optional>
#include <vector>

#include "tools/model/model.h"
#include "tools/model/session.h"

namespace fovea::tools {

// Segments of an input space. A space without parent has one segment.
struct Segments {
  std::vector<uint32_t> lengths;
  std::vector<uint32_t> first;  // first row of each segment in its padded row
  uint32_t padded = 0;          // rows of a padded segment
};

struct Batch {
  std::map<uint32_t, Segments> spaces;
  std::map<uint32_t, std::vector<int32_t>> ids;    // by value
  std::map<uint32_t, std::vector<float>> numbers;  // by value
  bool ragged = false;  // read from tensors without padding; outputs then have none either (tensors/ragged.h)

  uint64_t Rows() const;  // in all spaces
};

// The sum of the lengths; fails if it does not fit a row number.
uint32_t RowCount(const std::vector<uint32_t>& lengths);

// Segments without padding on the left.
Segments MakeSegments(std::vector<uint32_t> lengths);

// Adds the segments of a space to the batch; if all segments of the space have a fixed length, only the number of
// rows of its parent.
void AddSegments(const Model& model, uint32_t space, const Segments& segments, Batch* batch);

// The input values of a program.
std::vector<uint32_t> InputsOf(const Model& model, uint32_t program);
std::vector<uint32_t> OutputsOf(const Model& model, uint32_t program);

// Default value of an input of ids that is not given: 0 for token types, else metadata "default.<input>".
std::optional<int32_t> DefaultId(const Model& model, const fovea_value_info& input);

// Limits that exactly fit this batch.
std::vector<fovea_limit> ExactLimits(const Model& model, const Batch& batch);

void Bind(const Batch& batch, Session* session);

// A session with exact limits for this batch, with the batch bound to it.
Session SessionFor(const Model& model, const Batch& batch, SessionRequest request = {});

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_MODEL_BATCH_H_
