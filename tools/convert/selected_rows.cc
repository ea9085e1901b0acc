// Layers that compute only the rows with the most attention, in a model that was trained with all rows.
#include "tools/convert/selected_rows.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>

#include "runtime/blob/attribute_names.h"
#include "runtime/blob/attributes.h"
#include "runtime/blob/names.h"
#include "runtime/blob/op_names.h"
#include "runtime/blob/operands.h"
#include "tools/base/fail.h"
#include "tools/base/half.h"
#include "tools/base/json.h"
#include "tools/base/lines.h"
#include "tools/convert/blob_attributes.h"
#include "tools/convert/laid_pattern.h"

namespace fovea::tools {
namespace {

OpCode CodeOf(const BlobOperation& operation) { return static_cast<OpCode>(operation.code); }

// Whether an operation computes the same kind of result from fewer rows. Row-local operations do, unless they use the
// positions of rows (for rotate, AddPositions supplies the original ones). So do operations that mix the rows of a
// segment regardless of their positions, or by positions that AddPositions supplies.
bool GoesWithAnyRows(const BlobOperation& operation, const std::vector<BlobTensor>& tensors) {
  switch (CodeOf(operation)) {
    case OpCode::kPosition:
      return false;
    case OpCode::kAttention:
    case OpCode::kSort:
      return true;
    case OpCode::kConvolve:  // a kernel of one row reads no neighbours
      return operation.tensors.size() < 3 && tensors[operation.tensors[0]].rows == 1;
    default:
      return IsRowLocal(CodeOf(operation));
  }
}

// Where a program is cut: rows are removed before operation `begin` and restored before operation `end`.
struct Cut {
  uint32_t space;
  size_t attention;  // the operation whose weights decide
  size_t begin, end;
  uint32_t state, result;        // the layers' rows where some are removed, and the result of the last layer
  std::vector<uint32_t> others;  // other values of the same rows that the layers read
};

// Finds the cut in one program.
class Cutter {
 public:
  Cutter(const BlobContent& content, const BlobProgram& program, uint32_t layer)
      : program_(program), layer_(layer), inputs_(program.values.size() - program.operations.size()) {
    for (size_t i = 0; i < program.operations.size(); ++i) {
      const BlobOperation& operation = program.operations[i];
      if (!IsLayer(content, program, operation)) continue;
      layers_.push_back(i);
      keeps_rows_ = keeps_rows_ || SpaceOf(operation.inputs[0]) != SpaceOf(operation.inputs[1]);
    }
  }

  // Whether its layers do not read rows of earlier runs, and there are enough layers.
  bool Fits() const { return !keeps_rows_ && layers_.size() > layer_; }

  Cut Find() const {
    Cut cut{};
    cut.attention = layers_[layer_ - 1];
    cut.space = SpaceOfLayer(layer_ - 1);
    if (SpaceOfLayer(layer_) != cut.space) Fail("layer {} is in another space than layer {}", layer_, layer_ - 1);
    cut.begin = BetweenLayers(layer_ - 1, cut.space);
    cut.end = AfterTheLast(cut.space);
    std::vector<uint32_t> made;
    for (const uint32_t value : Crossing(cut.begin, cut.space)) {
      if (MakerOf(value) > cut.attention && MakerOf(value) < cut.begin) {
        made.push_back(value);
      } else if (IsReadIn(value, cut.begin, cut.end)) {
        cut.others.push_back(value);
      }
    }
    if (made.size() != 1) Fail("{} values lead from layer {} to the next one", made.size(), layer_ - 1);
    cut.state = made[0];
    std::vector<uint32_t> results;
    for (const uint32_t value : Crossing(cut.end, cut.space)) {
      if (MakerOf(value) >= cut.begin && MakerOf(value) < cut.end) results.push_back(value);
    }
    if (results.size() != 1 || program_.values[results[0]].width != program_.values[cut.state].width) {
      Fail("the last layer does not end in one value of the same kind as between layers");
    }
    cut.result = results[0];
    return cut;
  }

 private:
  uint32_t SpaceOf(uint32_t value) const { return program_.values[value].space; }
  uint32_t SpaceOfLayer(size_t layer) const { return SpaceOf(program_.operations[layers_[layer]].inputs[0]); }
  // The operation that computes a value; SIZE_MAX for inputs.
  size_t MakerOf(uint32_t value) const { return value < inputs_ ? SIZE_MAX : value - inputs_; }

  bool IsReadIn(uint32_t value, size_t begin, size_t end) const {
    for (size_t i = begin; i < end; ++i) {
      const std::vector<uint32_t>& inputs = program_.operations[i].inputs;
      if (std::find(inputs.begin(), inputs.end(), value) != inputs.end()) return true;
    }
    return false;
  }

  // Values of the space that are computed before operation `at` and needed from there on.
  std::vector<uint32_t> Crossing(size_t at, uint32_t space) const {
    std::vector<uint32_t> crossing;
    for (uint32_t value = 0; value < inputs_ + at; ++value) {
      if (SpaceOf(value) != space) continue;
      const bool is_result = at == program_.operations.size() && program_.values[value].role == ValueRole::kOutput &&
                             MakerOf(value) == at - 1;
      if (is_result || IsReadIn(value, at, program_.operations.size())) crossing.push_back(value);
    }
    return crossing;
  }

  // The last position after a layer's attention and before the next one with the fewest numbers per row crossing it.
  size_t BetweenLayers(size_t layer, uint32_t space) const {
    size_t best = 0;
    uint64_t fewest = UINT64_MAX;
    for (size_t at = layers_[layer] + 1; at <= layers_[layer + 1]; ++at) {
      uint64_t width = 0;
      for (const uint32_t value : Crossing(at, space)) width += program_.values[value].width;
      if (width <= fewest) fewest = width, best = at;
    }
    return best;
  }

  // The end of the last layer of these rows, by comparison with an earlier layer.
  size_t AfterTheLast(uint32_t space) const {
    size_t end = layer_ + 1;
    while (end < layers_.size() && SpaceOfLayer(end) == space) ++end;
    const size_t last = layers_[end - 1], count = program_.operations.size();
    for (size_t layer = end - 1; layer-- > layer_ - 1;) {
      const size_t from = layers_[layer], length = BetweenLayers(layer, space) - from;
      bool same = last + length <= count;
      for (size_t i = 1; i < length && same; ++i) {
        same = program_.operations[from + i].code == program_.operations[last + i].code;
      }
      if (same) return last + length;
    }
    Fail("the last layer does not end like any before it");
  }

  const BlobProgram& program_;
  const uint32_t layer_;
  const size_t inputs_;
  std::vector<size_t> layers_;
  bool keeps_rows_ = false;
};

// Rebuilds a program with fewer rows between the cuts.
class Selector {
 public:
  Selector(const RowSelection& selection, const Cut& cut, uint32_t chosen, BlobContent& content, BlobProgram& program)
      : selection_(selection), cut_(cut), chosen_(chosen), content_(content), program_(program) {}

  void Run() {
    const size_t inputs = program_.values.size() - program_.operations.size();
    result_ = {program_.name, {program_.values.begin(), program_.values.begin() + static_cast<ptrdiff_t>(inputs)}, {}};
    for (uint32_t value = 0; value < inputs; ++value) places_[value] = value;
    for (size_t i = 0; i < program_.operations.size(); ++i) {
      if (i == cut_.begin) TakeOut();
      if (i == cut_.end) PutBack();
      BlobOperation operation = program_.operations[i];
      BlobValue value = program_.values[operation.output];
      const bool between = i >= cut_.begin && i < cut_.end;
      if (between) Follow(operation, value);
      const uint32_t before = operation.output;
      ForEachInput(operation, [&](uint32_t& input) { input = between ? InLayers(input) : places_.at(input); });
      if (between && value.space == chosen_) AddPositions(operation);
      places_[before] = Add(std::move(operation), value);
    }
    if (cut_.end == program_.operations.size()) PutBack();
    program_ = std::move(result_);
  }

 private:
  uint32_t Add(BlobOperation operation, const BlobValue& value) {
    return AppendOperation(std::move(operation), value, result_);
  }

  uint32_t Make(OpCode code, const std::string& name, std::vector<uint32_t> inputs, std::vector<uint32_t> tensors,
                const BlobValue& like, std::vector<AttributeRecord> attributes = {}) {
    BlobOperation operation;
    operation.code = static_cast<uint32_t>(code);
    operation.inputs = std::move(inputs);
    operation.tensors = std::move(tensors);
    operation.attributes = std::move(attributes);
    BlobValue value = like;
    value.name = Name(name);
    value.role = ValueRole::kInternal;
    return Add(std::move(operation), value);
  }

  std::string Name(const std::string& name) const { return fmt::format("select.{}.{}", selection_.layer, name); }

  uint32_t AddFloats(const std::string& name, uint32_t width, float value) {
    BlobTensor tensor;
    tensor.name = Name(name);
    tensor.rows = 1;
    tensor.width = width;
    for (uint32_t i = 0; i < width; ++i) {
      const uint32_t bits = BitsOf(value);
      for (uint32_t byte = 0; byte < 4; ++byte) tensor.data.push_back(static_cast<uint8_t>(bits >> 8 * byte));
    }
    content_.tensors.push_back(std::move(tensor));
    return static_cast<uint32_t>(content_.tensors.size() - 1);
  }

  static AttributeRecord Set(Attribute key, uint32_t bits) { return {static_cast<uint32_t>(key), bits}; }

  void TakeOut() {
    BlobOperation received = program_.operations[cut_.attention];
    const uint32_t heads = NumberOr(received, Attribute::kHeads, 1);
    received.code = static_cast<uint32_t>(OpCode::kReceived);
    received.name.clear();
    ForEachInput(received, [&](uint32_t& input) { input = places_.at(input); });
    const uint32_t by_head = Add(std::move(received), {Name("received"), cut_.space, heads});
    const BlobValue number = {"", cut_.space, 1};
    const uint32_t of_all = Make(OpCode::kLinear, "received.heads", {by_head},
                                 {AddFloats("heads", heads, 1.0f / static_cast<float>(heads))}, number);
    BlobValue indices = number;
    indices.space = chosen_;
    indices.type = DType::kI32;
    rows_ = Make(OpCode::kSelect, "rows", {of_all}, {}, indices,
                 {Set(Attribute::kKind, static_cast<uint32_t>(SelectKind::kBest)),
                  Set(Attribute::kShare, BitsOf(selection_.share)), Set(Attribute::kFront, 1)});
    taken_[cut_.state] = TakeOut(cut_.state);
    for (const uint32_t value : cut_.others) taken_[value] = TakeOut(value);
  }

  uint32_t TakeOut(uint32_t value) {
    BlobValue gathered = program_.values[value];
    gathered.space = chosen_;
    return Make(OpCode::kGather, gathered.name, {places_.at(value), rows_}, {}, gathered);
  }

  // The value that an operation of the layers reads in place of `value`.
  uint32_t InLayers(uint32_t value) const {
    const auto taken = taken_.find(value);
    return taken == taken_.end() ? places_.at(value) : taken->second;
  }

  // Results in the layers have the remaining rows.
  void Follow(const BlobOperation& operation, BlobValue& value) const {
    const auto is_of_rows = [&](uint32_t input) {
      return input != kBlobNone && program_.values[input].space == cut_.space;
    };
    const bool reads = std::any_of(operation.inputs.begin(), operation.inputs.end(), is_of_rows);
    if (value.space != cut_.space && !reads) return;
    if (value.space != cut_.space || !GoesWithAnyRows(operation, content_.tensors)) {
      Fail("{} after layer {} depends on the positions of rows", NameOf(CodeOf(operation)), selection_.layer - 1);
    }
    if (value.role == ValueRole::kOutput && operation.output != cut_.result) {
      Fail("output {} would have only the remaining rows", value.name);
    }
    value.space = chosen_;
  }

  // Adds the original positions of rows as an input.
  void AddPositions(BlobOperation& operation) {
    if (CodeOf(operation) == OpCode::kRotate) {
      if (NumberOr(operation, Attribute::kShortUpTo, 0) != 0) {
        Fail("rotary positions (RoPE) depend on the length of a text, which row selection changes");
      }
      if (!HasInput(operation, RotateInput::kPositions)) SetInput(operation, RotateInput::kPositions, Positions());
    }
    if (CodeOf(operation) != OpCode::kAttention) return;
    if (IsCausal(operation)) {
      Fail("attention is causal, but the selection would depend on later rows");
    }
    using In = AttentionInput;
    using Tensor = AttentionTensor;
    const auto refuse = [&](bool has, const char* what) {
      if (has) Fail("attention with {} depends on the positions of rows", what);
    };
    refuse(HasInput(operation, In::kPairBias), "pair_bias");
    refuse(HasInput(operation, In::kGlobalKeys), "global_keys");
    refuse(HasInput(operation, In::kSummaryKeys), "summaries");
    refuse(HasInput(operation, In::kCenters), "centers");
    refuse(NumberOr(operation, Attribute::kApart, 0) != 0, "apart");
    refuse(NumberOr(operation, Attribute::kChunk, 0) != 0, "chunk");
    refuse(HasTensor(operation, Tensor::kLayout), "a layout");
    refuse(HasTensor(operation, Tensor::kCoordinates), "coordinates");
    const bool by_distance = HasTensor(operation, Tensor::kDistanceBias) || HasTensor(operation, Tensor::kBuckets) ||
                             HasTensor(operation, Tensor::kSlopes);
    if (!by_distance || HasInput(operation, In::kRowCoordinates)) return;
    SetInput(operation, In::kRowCoordinates, Positions());
  }

  // Positions of the remaining rows, as numbers.
  uint32_t Positions() {
    if (positions_) return *positions_;
    const BlobValue number = {"", cut_.space, 1};
    const uint32_t zeros = Make(OpCode::kFill, "zeros", {}, {AddFloats("zero", 1, 0)}, number);
    BlobValue chosen = number;
    chosen.space = chosen_;
    const uint32_t all = Make(OpCode::kPosition, "positions", {zeros}, {}, number);
    positions_ = Make(OpCode::kGather, "positions.rows", {all, rows_}, {}, chosen);
    return *positions_;
  }

  void PutBack() {
    BlobValue& left = result_.values[places_.at(cut_.result)];
    BlobValue merged = left;
    merged.space = cut_.space;
    left.name = Name(left.name);
    left.role = ValueRole::kInternal;
    BlobOperation operation;
    operation.code = static_cast<uint32_t>(OpCode::kMerge);
    operation.inputs = {places_.at(cut_.state), places_.at(cut_.result), rows_};
    places_[cut_.result] = Add(std::move(operation), merged);
  }

  const RowSelection selection_;
  const Cut cut_;
  const uint32_t chosen_;  // the space of the remaining rows
  BlobContent& content_;
  BlobProgram& program_;
  BlobProgram result_;
  std::map<uint32_t, uint32_t> places_, taken_;  // new indices of values: with all rows, and with the remaining rows
  std::optional<uint32_t> positions_;
  uint32_t rows_ = 0;
};

// One space for all programs that select rows of the same space there.
uint32_t SpaceFor(const RowSelection& selection, uint32_t source, BlobContent& content) {
  const std::string name = fmt::format("{}.from_{}", content.spaces[source].name, selection.layer);
  for (uint32_t i = 0; i < content.spaces.size(); ++i) {
    if (content.spaces[i].name == name) return i;
  }
  if (content.spaces.size() == kMaxSpaces) Fail("more than {} spaces", kMaxSpaces);
  content.spaces.push_back({name, content.spaces[source].parent, SpaceKind::kSelected, source});
  return static_cast<uint32_t>(content.spaces.size() - 1);
}

}  // namespace

std::vector<RowSelection> ReadSelections(const std::string& text) {
  std::vector<RowSelection> selections;
  for (const std::string& part : FieldsOf(text, ',')) {
    const size_t sign = part.find('@');
    if (sign == std::string::npos) Fail("{}: must be a share of rows and a layer, as 0.5@4", part);
    char* rest = nullptr;
    const std::string number = part.substr(0, sign);
    const double share = std::strtod(number.c_str(), &rest);
    if (number.empty() || *rest != 0 || !(share > 0 && share < 1)) {
      Fail("{}: the share of rows must be above 0 and below 1", part);
    }
    const auto layer = static_cast<uint32_t>(WholeNumberIn(part.substr(sign + 1), "layer", {1, 65535}));
    if (!selections.empty() && layer <= selections.back().layer) Fail("{}: layers must ascend", text);
    selections.push_back({static_cast<float>(share), layer});
  }
  return selections;
}

std::string TextOf(const RowSelection& selection) { return fmt::format("{:.6g}@{}", selection.share, selection.layer); }

void SelectRows(const RowSelection& selection, BlobContent& content) {
  bool any = false;
  for (BlobProgram& program : content.programs) {
    const Cutter cutter(content, program, selection.layer);
    if (!cutter.Fits()) continue;
    any = true;
    try {
      const Cut cut = cutter.Find();
      Selector(selection, cut, SpaceFor(selection, cut.space, content), content, program).Run();
    } catch (const Failure& failure) {
      Fail("select {}: program {}: {}", TextOf(selection), program.name, failure.what());
    }
  }
  if (any) return;
  Fail("select {}: no program has layer {} with self-attention that does not use a KV cache", TextOf(selection),
       selection.layer);
}

}  // namespace fovea::tools
