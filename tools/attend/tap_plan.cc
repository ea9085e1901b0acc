// Which attention is kept of a run.
#include "tools/attend/tap_plan.h"

#include <string.h>

#include <algorithm>
#include <map>
#include <set>

#include "tools/base/fail.h"
#include "tools/base/json.h"

namespace fovea::tools {
namespace {

// The space whose rows those of a space are copies of.
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
  // Several looks at the same rows, one after the other.
  for (const auto& [space, of] : pools) {
    for (const size_t i : of) steps[i].part = of.size() > 1 ? "hop" : "pool";
  }
  std::map<std::string, uint32_t> layers;
  for (TappedStep& step : steps) step.layer = layers[step.part]++;
  return steps;
}

uint64_t BytesOf(const fovea_session_memory& sizes) { return sizes.fixed_size + sizes.state_size + sizes.scratch_size; }

// The taps of a plan in one form, and what they add.
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

// Makes less of the taps until a page can hold them.
void Shrink(const TapChoice& choice, Measured& measured, TapPlan* plan) {
  std::vector<fovea_tap>& taps = plan->taps;
  const auto set_form = [&](uint32_t form) { ForAll(taps, [=](fovea_tap& tap) { tap.form = form; }); };
  const auto added = [&] { return measured.Added(taps); };
  // In a page a dense weight takes 2 bytes of 4, a sparse one with its key 2 of 8.
  const auto page = [&] { return added() / (taps[0].form == FOVEA_TAP_SPARSE ? 4 : 2); };
  std::vector<std::string> notes;
  if (choice.form == FormChoice::kAuto && added() > kMostPageBytes) {
    const uint64_t dense = added();
    set_form(FOVEA_TAP_SPARSE);
    if (added() >= dense) set_form(FOVEA_TAP_DENSE);
  }
  if (choice.form != FormChoice::kAuto) return;
  if (page() > kMostPageBytes && choice.reduce == FOVEA_REDUCE_NONE && !choice.scores) {
    ForAll(taps, [](fovea_tap& tap) { tap.reduce = FOVEA_REDUCE_MEAN; });
    notes.emplace_back("mean of the heads");
  }
  if (page() > kMostPageBytes && choice.rows == FOVEA_TAP_ROWS_ALL) {
    const uint64_t stride = (page() + kMostPageBytes - 1) / kMostPageBytes;
    if (taps[0].form == FOVEA_TAP_SPARSE && stride > 8) {
      plan->pattern = true;
      notes.emplace_back("keys without weights");
    } else {
      ForAll(taps, [=](fovea_tap& tap) {
        tap.rows = FOVEA_TAP_ROWS_STRIDE;
        tap.stride = static_cast<uint32_t>(std::min<uint64_t>(stride, UINT32_MAX));
      });
      notes.push_back(fmt::format("each {}. row", stride));
    }
  }
  if (!notes.empty()) plan->note = fmt::format("kept, to be small enough: {}", fmt::join(notes, ", "));
}

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

TapPlan PlanTaps(const Model& model, const TapChoice& choice, const SessionRequest& request) {
  TapPlan plan;
  const std::vector<TappedStep> all = AttentionSteps(model, request.program);
  if (all.empty()) Fail("{}: program {} has no attention", model.name(), model.Program(request.program).name);
  for (const TappedStep& step : all) {
    const bool level = step.part == "pool";  // a level of a hierarchy, no layer
    const auto& layers = choice.layers;
    if (!layers.empty() && !level && std::find(layers.begin(), layers.end(), step.layer) == layers.end()) continue;
    const uint32_t heads = model.Step(request.program, step.step).heads;
    fovea_tap tap = TapOf(step.step);
    for (const uint32_t head : choice.heads) {
      if (heads > 64) Fail("step {}: heads are chosen of up to 64, it has {}", step.name, heads);
      if (head < heads) tap.heads |= uint64_t{1} << head;
    }
    if (!choice.heads.empty() && tap.heads == 0) continue;
    tap.form =
        choice.form == FormChoice::kSparse || choice.form == FormChoice::kPattern ? FOVEA_TAP_SPARSE : FOVEA_TAP_DENSE;
    tap.rows = choice.rows;
    tap.stride = choice.stride;
    tap.offset = choice.offset;
    tap.reduce = choice.reduce;
    tap.what = choice.scores ? FOVEA_KEEP_SCORES : FOVEA_KEEP_WEIGHTS;
    plan.steps.push_back(step);
    plan.taps.push_back(tap);
  }
  if (plan.steps.empty()) Fail("{}: no attention step has such layers and heads", model.name());
  plan.pattern = choice.form == FormChoice::kPattern;
  Measured measured(model, request);
  Shrink(choice, measured, &plan);
  plan.session_bytes = measured.without();
  plan.tap_bytes = measured.Added(plan.taps);
  return plan;
}

}  // namespace fovea::tools
