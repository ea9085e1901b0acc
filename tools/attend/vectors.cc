// Queries and keys of the rows of a record.
#include "tools/attend/vectors.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/base/fail.h"
#include "tools/base/print.h"

namespace fovea::tools {

void AddVectors(const Model& model, const Batch& batch, SessionRequest request, const TapPlan& plan,
                AttentionRecord* record) {
  const uint32_t program = request.program;
  const auto input = [&](size_t step, uint32_t number) {
    return model.StepInput(program, plan.steps[step].step, number);
  };
  const auto keep = [&](uint32_t value) {
    const bool kept = std::find(request.keep.begin(), request.keep.end(), value) != request.keep.end();
    const uint32_t role = model.Value(program, value).role;
    if (!kept && role != FOVEA_ROLE_OUTPUT && role != FOVEA_ROLE_INPUT) request.keep.push_back(value);
  };
  request.taps.clear();
  std::vector<size_t> steps;
  uint64_t numbers = 0;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const uint32_t heads = model.Step(program, plan.steps[i].step).heads;
    const uint32_t queries = model.Value(program, input(i, 0)).width, keys = model.Value(program, input(i, 1)).width;
    const uint32_t width = heads == 0 || queries % heads != 0 ? 0 : queries / heads;
    if (width == 0 || keys % width != 0 || heads % (keys / width) != 0) {
      record->notes.push_back(
          fmt::format("{}: queries and keys are not shown, they are not one vector for each head", plan.steps[i].name));
      continue;
    }
    const RecordStep& step = record->steps[i];
    numbers += uint64_t{queries} * record->spaces[step.query_space].count() +
               uint64_t{keys} * record->spaces[step.key_space].count();
    keep(input(i, 0)), keep(input(i, 1));
    steps.push_back(i);
  }
  if (numbers > kMostVectorNumbers) {
    Fail("{}: queries and keys have {} numbers, the limit of --vectors is {}; give fewer --layers, or a shorter input",
         model.name(), Grouped(numbers), Grouped(kMostVectorNumbers));
  }
  Session session = SessionFor(model, batch, request);
  session.Run();
  for (const size_t i : steps) {
    RecordStep& step = record->steps[i];
    step.vector_width = model.Value(program, input(i, 0)).width / model.Step(program, plan.steps[i].step).heads;
    step.all_heads = model.Step(program, plan.steps[i].step).heads;
    step.queries = session.Output(input(i, 0)).values;
    step.keys_of_rows = session.Output(input(i, 1)).values;
  }
}

}  // namespace fovea::tools
