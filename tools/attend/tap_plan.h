// Chooses the taps of a run: as requested by the user, and reduced if the result would be too large to show.
#ifndef FOVEA_TOOLS_ATTEND_TAP_PLAN_H_
#define FOVEA_TOOLS_ATTEND_TAP_PLAN_H_

#include <functional>
#include <string>
#include <vector>

#include "tools/attend/record.h"
#include "tools/model/batch.h"
#include "tools/model/session.h"

namespace fovea::tools {

// Limits on a page's weights as f16 and on the memory of taps; above them less is kept. Sparse maps also store their
// keys: of them at most 10 MB.
inline constexpr uint64_t kMostPageBytes = 24u << 20;
inline constexpr uint64_t kMostSparseBytes = 7'000'000;
inline constexpr uint64_t kMostSoundBytes = 3'300'000;  // weights of a sound: its page stays below 5 MB
inline constexpr uint64_t kMostTapBytes = 1u << 30;

enum class FormChoice { kAuto, kDense, kSparse, kPattern };

struct TapChoice {
  std::vector<uint32_t> layers, heads;  // empty: all; layers are numbered within each part of the model
  uint32_t rows = FOVEA_TAP_ROWS_ALL;   // FOVEA_TAP_ROWS_*
  uint32_t stride = 0, offset = 0;      // for FOVEA_TAP_ROWS_STRIDE
  uint32_t reduce = FOVEA_REDUCE_NONE;  // FOVEA_REDUCE_*
  bool scores = false;
  uint64_t most_bytes = UINT64_MAX;  // lowers the limits on a page's weights
  FormChoice form = FormChoice::kAuto;
};

// Parses "0,2-5"; ascending. Fails with the name of the option.
std::vector<uint32_t> NumberList(const std::string& text, const std::string& option);

struct TappedStep {
  uint32_t step;
  std::string name, part;
  uint32_t layer;
};

struct TapPlan {
  std::vector<TappedStep> steps;  // in the order of the session's taps
  std::vector<fovea_tap> taps;
  bool pattern = false;        // only keys, no weights
  std::string note;            // how the taps were reduced; empty: not at all
  uint64_t tap_bytes = 0;      // exact bytes that the taps add to the session
  uint64_t session_bytes = 0;  // without taps
};

// Returns the number of query-key pairs of each operation in a run, in all heads.
using PairCount = std::function<std::vector<uint64_t>()>;
// Counts by a run of the batch without taps.
PairCount CountPairs(const Model& model, const Batch& batch, const SessionRequest& request);

// `request`: complete, with limits, except for taps. Pairs are counted only if everything would be too large. Fails if
// no step is chosen.
TapPlan PlanTaps(const Model& model, const TapChoice& choice, const SessionRequest& request, const PairCount& pairs);

// The heads that a tap keeps, ascending; empty if they are reduced.
std::vector<uint32_t> KeptHeads(const fovea_tap& tap, uint32_t heads);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_ATTEND_TAP_PLAN_H_
