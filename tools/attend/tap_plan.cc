// Chooses the taps of a run.
#include "tools/attend/tap_plan.h"

#include <string.h>

#include <algorithm>
#include <map>
#include <set>

#include "tools/base/fail.h"
#include "tools/base/json.h"
#include "tools/model/library_error.h"

namespace fovea::tools {
namespace {

// The space of which a space is a copy.
uint32_t Original(const Model& model, uint32_t space) {
  for (SpaceRecord record = model.SpaceRecordOf(space); SpaceHasSource(record.kind);) {
    space = record.source;
    record = model.SpaceRecordOf(space);
  }
  return space;
}

bool Begins(const std::string& text, const char* with) { return text.rfind(with, 0) == 0; }

std::vector<TappedStep> AttentionSteps(const Model& model, uint32_t program) {
  std::vector<TappedStep> steps;
  std::map<uint32_t, std::vector<size_t>> pools;  // by query space
  const bool decodes = model.HasProgram("decode") && !model.HasProgram("encode");
  const uint32_t count = model.Program(program).step_count;
  for (uint32_t step = 0; step < count; ++step) {
    const fovea_step_info info = model.Step(program, step);
    if (strcmp(info.op, "attention") != 0) continue;
    const uint32_t queries = model.Value(program, model.StepInput(program, step, 0)).space;
    const uint32_t keys = model.Value(program, model.StepInput(program, step, 1)).space;
    TappedStep tapped = {step, info.name, "encoder", 0};
    if (model.Space(keys).parent == queries) {
      tapped.part = "pool";
      pools[queries].push_back(steps.size());
    } else if (Original(model, queries) != Original(model, keys)) {
      tapped.part = "cross";
    } else if (decodes || Begins(tapped.name, "decoder")) {
      tapped.part = "decoder";
    }
    steps.push_back(tapped);
  }
  // Consecutive hops: pools over the same rows.
  for (const auto& [space, of] : pools) {
    for (const size_t i : of) steps[i].part = of.size() > 1 ? "hop" : "pool";
  }
  // Layers are numbered by the names of steps, if all steps of a part have numbers; else in order.
  std::map<std::string, uint32_t> layers;
  std::set<std::string> unnumbered;
  for (const TappedStep& step : steps) {
    if (!NumberOf(step.name)) unnumbered.insert(step.part);
  }
  for (TappedStep& step : steps) {
    step.layer = layers[step.part]++;
    if (unnumbered.count(step.part) == 0) step.layer = *NumberOf(step.name);
  }
  return steps;
}

uint64_t BytesOf(const fovea_session_memory& sizes) { return sizes.fixed_size + sizes.state_size + sizes.scratch_size; }

// The taps of a plan in one form, with their sizes.
class Measured {
 public:
  Measured(const Model& model, const SessionRequest& request) : model_(model), request_(request) {
    request_.taps.clear();
    without_ = BytesOf(SessionSizes(model, request_));
  }
  uint64_t without() const { return without_; }
  uint64_t Added(const std::vector<fovea_tap>& taps) {
    request_.taps = taps;
    return BytesOf(SessionSizes(model_, request_)) - without_;
  }

 private:
  const Model& model_;
  SessionRequest request_;
  uint64_t without_;
};

template <typename Change>
void ForAll(std::vector<fovea_tap>& taps, const Change& change) {
  for (fovea_tap& tap : taps) change(tap);
}

// Reduces taps until both limits hold.
class Shrinking {
 public:
  Shrinking(const Model& model, uint32_t program, const PairCount& pairs, Measured* measured, TapPlan* plan)
      : model_(model), program_(program), count_pairs_(pairs), measured_(*measured), plan_(*plan) {}

  void Run(const TapChoice& choice) {
    std::vector<fovea_tap>& taps = plan_.taps;
    most_bytes_ = choice.most_bytes;
    if (choice.form != FormChoice::kAuto || !TooMuch()) return;
    ForAll(taps, [](fovea_tap& tap) { tap.form = FOVEA_TAP_SPARSE; });
    pairs_ = count_pairs_();
    const uint64_t sparse = PageBytes();
    ForAll(taps, [](fovea_tap& tap) { tap.form = FOVEA_TAP_DENSE; });
    // A sparse weight also stores its key.
    if (2 * sparse < PageBytes()) ForAll(taps, [](fovea_tap& tap) { tap.form = FOVEA_TAP_SPARSE; });
    std::vector<std::string> notes;
    if (TooMuch() && choice.reduce == FOVEA_REDUCE_NONE && !choice.scores) {
      ForAll(taps, [](fovea_tap& tap) { tap.reduce = FOVEA_REDUCE_MEAN; });
      notes.emplace_back("the mean of the heads");
    }
    if (TooMuch() && choice.rows == FOVEA_TAP_ROWS_ALL) {
      const uint64_t stride = std::max(Times(PageBytes(), Most()), Times(Added(), kMostTapBytes));
      if (taps[0].form == FOVEA_TAP_SPARSE && stride > 8 && Added() <= kMostTapBytes) {
        plan_.pattern = true;
        notes.emplace_back("keys without weights");
      } else {
        ForAll(taps, [=](fovea_tap& tap) {
          tap.rows = FOVEA_TAP_ROWS_STRIDE;
          tap.stride = static_cast<uint32_t>(std::min<uint64_t>(stride, UINT32_MAX));
        });
        notes.push_back(fmt::format("one row of {}", stride));
      }
    }
    if (!notes.empty()) plan_.note = fmt::format("reduced to limit the size: {}", fmt::join(notes, ", "));
  }

 private:
  static uint64_t Times(uint64_t bytes, uint64_t most) { return (bytes + most - 1) / most; }
  uint64_t Added() { return measured_.Added(plan_.taps); }
  uint64_t Most() const {
    return std::min(most_bytes_, plan_.taps[0].form == FOVEA_TAP_SPARSE ? kMostSparseBytes : kMostPageBytes);
  }
  bool TooMuch() { return PageBytes() > Most() || Added() > kMostTapBytes; }

  // At two bytes per weight.
  uint64_t PageBytes() {
    if (plan_.taps[0].form == FOVEA_TAP_DENSE) return Added() / 2;
    uint64_t weights = 0;
    for (const fovea_tap& tap : plan_.taps) {
      const uint32_t heads = model_.Step(program_, tap.step).heads;
      const uint64_t of_head = pairs_.at(tap.step) / heads;
      const size_t kept = tap.reduce != FOVEA_REDUCE_NONE ? 1 : KeptHeads(tap, heads).size();
      weights += of_head * kept / (tap.rows == FOVEA_TAP_ROWS_STRIDE ? tap.stride : 1);
    }
    return 2 * weights;
  }

  const Model& model_;
  const uint32_t program_;
  const PairCount& count_pairs_;
  Measured& measured_;
  TapPlan& plan_;
  std::vector<uint64_t> pairs_;
  uint64_t most_bytes_ = UINT64_MAX;
};

}  // namespace

std::vector<uint32_t> NumberList(const std::string& text, const std::string& option) {
  std::set<uint32_t> numbers;
  const auto number = [&](const std::string& digits) {
    return static_cast<uint32_t>(WholeNumberIn(digits, fmt::format("{} {}", option, text), {0, 65535}));
  };
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, comma - at);
    const size_t dash = part.find('-');
    const uint32_t first = number(part.substr(0, dash));
    const uint32_t last = dash == std::string::npos ? first : number(part.substr(dash + 1));
    if (last < first) Fail("{} {}: {} is before {}", option, text, last, first);
    for (uint32_t i = first; i <= last; ++i) numbers.insert(i);
    at = comma + 1;
  }
  return {numbers.begin(), numbers.end()};
}

std::vector<uint32_t> KeptHeads(const fovea_tap& tap, uint32_t heads) {
  std::vector<uint32_t> kept;
  for (uint32_t head = 0; head < heads && tap.reduce == FOVEA_REDUCE_NONE; ++head) {
    if (tap.heads == 0 || (tap.heads >> head & 1) != 0) kept.push_back(head);
  }
  return kept;
}

PairCount CountPairs(const Model& model, const Batch& batch, const SessionRequest& request) {
  return [&model, &batch, request] {
    Session session = SessionFor(model, batch, request);
    session.Run();
    std::vector<uint64_t> pairs(model.Program(request.program).step_count);
    for (uint32_t step = 0; step < pairs.size(); ++step) {
      Check(fovea_session_get_step_pairs(session.get(), step, &pairs[step]), fmt::format("step {}", step));
    }
    return pairs;
  };
}

TapPlan PlanTaps(const Model& model, const TapChoice& choice, const SessionRequest& request, const PairCount& pairs) {
  TapPlan plan;
  const std::vector<TappedStep> all = AttentionSteps(model, request.program);
  if (all.empty()) Fail("{}: program {} has no attention operation", model.name(), model.Program(request.program).name);
  for (const TappedStep& step : all) {
    const bool level = step.part == "pool";  // a level of a hierarchy, not a layer
    const auto& layers = choice.layers;
    if (!layers.empty() && !level && std::find(layers.begin(), layers.end(), step.layer) == layers.end()) continue;
    const uint32_t heads = model.Step(request.program, step.step).heads;
    fovea_tap tap = TapOf(step.step);
    for (const uint32_t head : choice.heads) {
      if (heads > 64) Fail("step {}: --heads supports up to 64 heads, but it has {}", step.name, heads);
      if (head < heads) tap.heads |= uint64_t{1} << head;
    }
    if (!choice.heads.empty() && tap.heads == 0) continue;
    tap.form =
        choice.form == FormChoice::kSparse || choice.form == FormChoice::kPattern ? FOVEA_TAP_SPARSE : FOVEA_TAP_DENSE;
    tap.rows = choice.rows;
    tap.stride = choice.stride;
    tap.offset = choice.offset;
    tap.reduce = choice.reduce;
    tap.what = choice.scores ? FOVEA_KEEP_SCORES : FOVEA_KEEP_ATTENTION;
    plan.steps.push_back(step);
    plan.taps.push_back(tap);
  }
  if (plan.steps.empty())
    Fail("{}: no attention operation has these layers and heads; check --layers and --heads", model.name());
  plan.pattern = choice.form == FormChoice::kPattern;
  Measured measured(model, request);
  Shrinking(model, request.program, pairs, &measured, &plan).Run(choice);
  plan.session_bytes = measured.without();
  plan.tap_bytes = measured.Added(plan.taps);
  return plan;
}

}  // namespace fovea::tools
