// Which attention is kept of a run: chosen by the user, and made smaller where it would be too much to look at.
#ifndef FOVEA_TOOLS_ATTEND_TAP_PLAN_H_
#define FOVEA_TOOLS_ATTEND_TAP_PLAN_H_

#include <functional>
#include <string>
#include <vector>

#include "tools/attend/record.h"
#include "tools/common/batch.h"
#include "tools/common/session.h"

namespace fovea::tools {

// Weights of a page as f16, and memory of taps, beyond which less is kept. Of long texts, whose keys are kept, too, so
// many that the page takes less than 10 MB.
inline constexpr uint64_t kMostPageBytes = 24u << 20;
inline constexpr uint64_t kMostSparseBytes = 7'000'000;
inline constexpr uint64_t kMostTapBytes = 1u << 30;

enum class FormChoice { kAuto, kDense, kSparse, kPattern };

struct TapChoice {
  std::vector<uint32_t> layers, heads;  // empty: all; layers count in each part of the model
  uint32_t rows = FOVEA_TAP_ROWS_ALL;   // FOVEA_TAP_ROWS_*
  uint32_t stride = 0, offset = 0;      // of FOVEA_TAP_ROWS_STRIDE
  uint32_t reduce = FOVEA_REDUCE_NONE;  // FOVEA_REDUCE_*
  bool scores = false;
  FormChoice form = FormChoice::kAuto;
};

// "0,2-5" as numbers, ascending. Fails with the name of the option.
std::vector<uint32_t> NumberList(const std::string& text, const std::string& option);

struct TappedStep {
  uint32_t step;
  std::string name, part;
  uint32_t layer;
};

struct TapPlan {
  std::vector<TappedStep> steps;  // as the session's taps
  std::vector<fovea_tap> taps;
  bool pattern = false;        // weights are not kept in the record
  std::string note;            // what was made smaller; empty: nothing
  uint64_t tap_bytes = 0;      // exactly what the taps add to the session
  uint64_t session_bytes = 0;  // without them
};

// For each step of the program the pairs of a query and a key, of all heads together, that a run looks at.
using PairCount = std::function<std::vector<uint64_t>()>;
// Of a run over a batch.
PairCount CountPairs(const Model& model, const Batch& batch, const SessionRequest& request);

// `request`: with all but taps, limits included. Pairs are counted only where everything would be too much. Fails where
// nothing is chosen.
TapPlan PlanTaps(const Model& model, const TapChoice& choice, const SessionRequest& request, const PairCount& pairs);

// The heads that a tap keeps, in their order; none where they are reduced.
std::vector<uint32_t> KeptHeads(const fovea_tap& tap, uint32_t heads);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_ATTEND_TAP_PLAN_H_
