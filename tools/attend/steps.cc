// Adds the attention maps in a session's taps to a record.
#include "tools/attend/steps.h"

#include <algorithm>

#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

void AddDense(const AttentionRecord& record, const fovea_attention_map& weights, RecordStep* step) {
  const std::vector<uint32_t>& offsets = record.spaces[step->key_space].offsets;
  step->line_offsets = {0};
  for (size_t r = 0; r < step->rows.size(); ++r) {
    const uint32_t segment = record.KeySegment(*step, step->rows[r]);
    const uint32_t keys = offsets[segment + 1] - offsets[segment];
    for (size_t head = 0; head < weights.heads; ++head) {
      const float* line = weights.data + (r * weights.heads + head) * weights.stride;
      step->weights.insert(step->weights.end(), line, line + keys);
      step->line_offsets.push_back(step->weights.size());
    }
  }
}

void AddSparse(const SparseAttentionMap& weights, RecordStep* step) {
  step->line_offsets.assign(weights.row_offsets.begin(), weights.row_offsets.end());
  step->keys.assign(weights.keys.begin(), weights.keys.end());
  step->weights = weights.values;
}

// Whether no row attends to a later one.
bool IsCausal(const AttentionRecord& record, const RecordStep& step) {
  if (step.query_space != step.key_space) return false;
  const std::vector<uint32_t>& offsets = record.spaces[step.key_space].offsets;
  bool later = false;
  for (size_t line = 0; line < step.lines(); ++line) {
    const uint32_t row = step.rows[line / step.line_heads()], segment = SegmentOf(offsets, row);
    later = later || row + 1 < offsets[segment + 1];
    const uint64_t begin = step.line_offsets[line];
    for (uint64_t i = begin; i < step.line_offsets[line + 1]; ++i) {
      const uint64_t key = step.form == StepForm::kDense ? offsets[segment] + i - begin : step.keys[i];
      const bool seen =
          step.form != StepForm::kDense ||
          (step.scores ? step.weights[i] > -std::numeric_limits<float>::infinity() : step.weights[i] != 0);
      if (key > row && seen) return false;
    }
  }
  return later;
}

}  // namespace

void AddSteps(const Model& model, const Session& session, const TapPlan& plan, Rows* rows, AttentionRecord* record) {
  const uint32_t program = session.request().program;
  for (uint32_t tap = 0; tap < plan.steps.size(); ++tap) {
    const TappedStep& tapped = plan.steps[tap];
    const fovea_tap& asked = plan.taps[tap];
    const fovea_attention_map weights = session.AttentionMap(tap);
    RecordStep step;
    step.name = tapped.name;
    step.layer = tapped.layer;
    step.part = tapped.part;
    step.query_space = rows->Add(session, model.StepInput(program, tapped.step, 0), record);
    step.key_space = rows->Add(session, model.StepInput(program, tapped.step, 1), record);
    step.heads = KeptHeads(asked, model.Step(program, tapped.step).heads);
    if (asked.reduce != FOVEA_REDUCE_NONE) step.reduced = asked.reduce == FOVEA_REDUCE_MEAN ? "mean" : "max";
    step.rows.assign(weights.query_rows, weights.query_rows + weights.rows);
    step.scores = asked.what == FOVEA_KEEP_SCORES;
    step.note = plan.note;
    step.form = plan.pattern                     ? StepForm::kPattern
                : asked.form == FOVEA_TAP_SPARSE ? StepForm::kSparse
                                                 : StepForm::kDense;
    if (asked.form == FOVEA_TAP_SPARSE) {
      AddSparse(session.SparseMap(tap), &step);
    } else {
      AddDense(*record, weights, &step);
    }
    step.causal = IsCausal(*record, step);
    record->steps.push_back(std::move(step));
  }
  record->tap_bytes = plan.tap_bytes;
  record->session_bytes = plan.session_bytes;
}

}  // namespace fovea::tools
