// A session of a model, which owns its memory and its threads (with several workers).
#ifndef FOVEA_TOOLS_MODEL_SESSION_H_
#define FOVEA_TOOLS_MODEL_SESSION_H_

#include <memory>
#include <optional>
#include <vector>

#include "fovea/session.h"
#include "ports/thread_runner.h"
#include "tools/base/sized.h"
#include "tools/model/aligned_memory.h"
#include "tools/model/model.h"

namespace fovea::tools {

struct SessionRequest {
  uint32_t program = 0;
  uint32_t workers = 1;
  uint32_t tile_rows = 0;
  std::vector<fovea_limit> limits;
  std::vector<uint32_t> keep;  // values
  std::vector<fovea_tap> taps;
  std::vector<uint32_t> linked;  // inputs that are outputs of other sessions
  uint64_t (*clock)() = nullptr;
  std::optional<uint32_t> cache_type;  // FOVEA_TYPE_* of the KV cache, if not the program's
  uint32_t rewind_rows = 0;            // rows of a text that can be rewound although a sliding window would drop them
};

// A tap of all rows and heads of an attention operation.
inline fovea_tap TapOf(uint32_t step, uint32_t form = FOVEA_TAP_DENSE) {
  fovea_tap tap = Sized<fovea_tap>();
  tap.step = step;
  tap.form = form;
  return tap;
}

// Dense rows, copied from a session.
struct Matrix {
  uint32_t rows = 0;
  uint32_t width = 0;
  std::vector<float> values;

  const float* Row(uint32_t row) const { return values.data() + static_cast<size_t>(row) * width; }
};

// A sparse tap, line by line, copied from a session: line r * heads + h is tapped row r, tapped head h; keys are rows
// of the key space.
struct SparseAttentionMap {
  std::vector<int64_t> row_offsets, keys;
  std::vector<float> values;
};

// The exact sizes of a session's blocks; pointers are null.
fovea_session_memory SessionSizes(const Model& model, const SessionRequest& request);

class Session {
 public:
  Session(const Model& model, const SessionRequest& request);

  fovea_session* get() const { return session_; }
  const SessionRequest& request() const { return request_; }
  const fovea_session_memory& sizes() const { return sizes_; }
  double init_seconds() const { return init_seconds_; }
  fovea_session_info Info() const;

  void SetSegments(uint32_t space, const std::vector<uint32_t>& lengths);
  // `numbers`: rows times width.
  void SetInput(uint32_t value, const std::vector<float>& numbers);
  void SetInput(uint32_t value, const std::vector<int32_t>& ids);
  // Sets all entries to zero.
  void ClearInput(uint32_t value);
  // Sets carried inputs to zero and empties the KV cache.
  void Reset();
  void Run();
  // Outputs that are row indices are converted to numbers.
  Matrix Output(uint32_t value) const;
  // Segment lengths of a space; empty before the run that selects its rows.
  std::vector<uint32_t> Lengths(uint32_t space) const;
  // `tap`: index in the request's taps.
  fovea_attention_map AttentionMap(uint32_t tap) const;
  SparseAttentionMap SparseMap(uint32_t tap) const;

 private:
  // View of an input's rows; checks the number of entries and whether they are ids or numbers.
  fovea_view Input(uint32_t value, bool ids, size_t entries);
  std::string ValueName(uint32_t value) const;

  const Model& model_;
  SessionRequest request_;
  std::unique_ptr<ports::ThreadRunner> threads_;
  fovea_session_memory sizes_ = {};
  Memory memory_;
  double init_seconds_ = 0;
  fovea_session* session_ = nullptr;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_MODEL_SESSION_H_
