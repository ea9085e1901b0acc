#include "tools/convert/stages.h"

#include <algorithm>

#include "tools/convert/blob_attributes.h"

namespace fovea::tools {
namespace {

class StageCutter {
 public:
  StageCutter(const BlobContent& content, const BlobProgram& program, const std::set<uint32_t>& wanted, uint64_t rows,
              uint64_t most_bytes)
      : content_(content),
        program_(program),
        wanted_(wanted),
        rows_(rows),
        most_bytes_(most_bytes),
        inputs_(program.values.size() - program.operations.size()) {}

  std::vector<Stage> Run() const {
    const std::vector<size_t> begins = Begins();
    std::set<uint32_t> needed = wanted_;
    std::vector<Stage> stages;
    size_t end = program_.operations.size();
    for (size_t k = begins.size(); k-- > 0; end = begins[k]) {
      Stage stage = StageOf(begins[k], end, needed);
      if (stage.made.empty()) continue;
      needed.insert(stage.given.begin(), stage.given.end());
      stages.push_back(std::move(stage));
    }
    std::reverse(stages.begin(), stages.end());
    return stages;
  }

 private:
  size_t MakerOf(uint32_t value) const { return value - inputs_; }
  uint32_t ValueOf(size_t operation) const { return static_cast<uint32_t>(inputs_ + operation); }

  bool CanBeGiven(uint32_t value) const {
    const BlobValue& of = program_.values[value];
    return of.type == DType::kF32 && content_.spaces[of.space].kind != SpaceKind::kCached &&
           !IsSelected(content_.spaces, of.space);
  }

  // Numbers per row that would be passed to the operations from each one on.
  std::vector<uint64_t> Crossing() const {
    const size_t count = program_.operations.size();
    std::vector<size_t> last(program_.values.size());
    for (size_t i = 0; i < count; ++i) {
      ForEachInput(program_.operations[i], [&](uint32_t input) { last[input] = i; });
    }
    std::vector<uint64_t> changes(count + 1), crossing;
    for (size_t i = 0; i < count; ++i) {
      const uint32_t value = ValueOf(i);
      if (last[value] <= i) continue;
      changes[i + 1] += program_.values[value].width;
      changes[last[value] + 1] -= program_.values[value].width;  // sums wrap and wrap back
    }
    uint64_t sum = 0;
    for (size_t i = 0; i < count; ++i) crossing.push_back(sum += changes[i]);
    return crossing;
  }

  // The first operation of each stage: where few numbers cross, in the later half of the stage's limit.
  std::vector<size_t> Begins() const {
    const std::vector<uint64_t> crossing = Crossing();
    std::vector<size_t> begins = {0};
    std::set<uint32_t> tensors;
    uint64_t bytes = 0;
    size_t half = 0;  // up to here a stage is less than half full
    for (size_t i = 0; i < program_.operations.size(); ++i) {
      const uint64_t more = BytesOf(i, tensors);
      if (bytes != 0 && more != 0 && bytes + more > most_bytes_) {
        size_t best = i;
        for (size_t at = i; at > std::max(begins.back(), half); --at) {
          if (crossing[at] < crossing[best]) best = at;
        }
        begins.push_back(best);
        tensors.clear();
        bytes = 0, half = best, i = best - 1;
        continue;
      }
      bytes += more;
      for (const uint32_t tensor : program_.operations[i].tensors) tensors.insert(tensor);
      if (bytes <= most_bytes_ / 2) half = i;
    }
    return begins;
  }

  uint64_t BytesOf(size_t operation, const std::set<uint32_t>& held) const {
    uint64_t bytes = 0;
    for (const uint32_t tensor : program_.operations[operation].tensors) {
      if (tensor == kBlobNone || held.count(tensor) != 0) continue;
      bytes += uint64_t{content_.tensors[tensor].rows} * content_.tensors[tensor].width * sizeof(float);
    }
    const uint32_t value = ValueOf(operation);
    if (wanted_.count(value) != 0) bytes += rows_ * program_.values[value].width * sizeof(float);
    return bytes;
  }

  Stage StageOf(size_t begin, size_t end, const std::set<uint32_t>& needed) const {
    Stage stage;
    for (const uint32_t value : needed) {
      if (MakerOf(value) >= begin && MakerOf(value) < end) stage.made.push_back(value);
    }
    std::set<uint32_t> given, made;
    std::vector<uint32_t> left = stage.made;
    while (!left.empty()) {
      const uint32_t value = left.back();
      left.pop_back();
      if (value < inputs_) continue;
      if (MakerOf(value) < begin && CanBeGiven(value)) {
        given.insert(value);
      } else if (made.insert(value).second) {
        ForEachInput(program_.operations[MakerOf(value)], [&](uint32_t input) { left.push_back(input); });
      }
    }
    stage.given.assign(given.begin(), given.end());
    stage.program.name = program_.name;
    stage.inputs = static_cast<uint32_t>(inputs_);
    for (uint32_t value = 0; value < inputs_; ++value) AddInput(value, stage);
    for (const uint32_t value : given) AddInput(value, stage);
    for (const uint32_t value : made) {
      BlobOperation operation = program_.operations[MakerOf(value)];
      ForEachInput(operation, [&](uint32_t& input) { input = stage.values.at(input); });
      BlobValue result = program_.values[value];
      const bool is_wanted = std::binary_search(stage.made.begin(), stage.made.end(), value);
      result.role = is_wanted ? ValueRole::kOutput : ValueRole::kInternal;
      stage.values[value] = AppendOperation(std::move(operation), result, stage.program);
    }
    return stage;
  }

  void AddInput(uint32_t value, Stage& stage) const {
    BlobValue input = program_.values[value];
    input.role = ValueRole::kInput;
    stage.values[value] = static_cast<uint32_t>(stage.program.values.size());
    stage.program.values.push_back(std::move(input));
  }

  const BlobContent& content_;
  const BlobProgram& program_;
  const std::set<uint32_t>& wanted_;
  const uint64_t rows_, most_bytes_;
  const size_t inputs_;
};

}  // namespace

std::vector<Stage> CutIntoStages(const BlobContent& content, const BlobProgram& program,
                                 const std::set<uint32_t>& wanted, uint64_t rows, uint64_t most_bytes) {
  return StageCutter(content, program, wanted, rows, most_bytes).Run();
}

}  // namespace fovea::tools
