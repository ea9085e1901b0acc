// Resolves names to indices.
#include "tools/convert/resolve.h"

#include <algorithm>
#include <map>
#include <optional>

#include "runtime/blob/op_codes.h"
#include "runtime/blob/operands.h"
#include "tools/base/fail.h"
#include "tools/convert/attributes.h"
#include "tools/convert/blob_attributes.h"
#include "tools/convert/clip_lengths.h"
#include "tools/convert/generation_rules.h"
#include "tools/convert/infer.h"
#include "tools/convert/operands.h"
#include "tools/convert/part.h"

namespace fovea::tools {
namespace {

class Resolver {
 public:
  explicit Resolver(const Description& description) : description_(description) {}

  Resolved Run() {
    result_.content.metadata = description_.metadata;
    for (const Space& space : description_.spaces) AddSpace(space);
    if (description_.programs.empty()) Fail("the description has no program");
    if (description_.programs.size() > kMaxPrograms) Fail("more than {} programs", kMaxPrograms);
    for (const Program& program : description_.programs) {
      const std::string place = "program " + program.name;
      for (const BlobProgram& other : result_.content.programs) {
        if (other.name == program.name) Fail("{}: the name is used twice", place);
      }
      if (program.of.empty()) {
        AddProgram(program);
      } else {
        At(place, [&] { AddPart(program); });
      }
      const auto appends = [](const Operation& operation) { return operation.op == "append"; };
      const bool keeps = std::any_of(program.operations.begin(), program.operations.end(), appends);
      result_.is_part.push_back(keeps || !program.of.empty());
      operations_ += result_.content.programs.back().operations.size();
      if (operations_ > kMaxOperations) Fail("{}: more than {} operations together", place, kMaxOperations);
    }
    AddClipLengths(&result_.content);
    CheckGeneration(result_.content);
    for (const auto& entry : description_.metadata) {
      if (entry.first.compare(0, 8, "explain.") != 0) continue;
      At("metadata " + entry.first, [&] { CheckExplanation(entry.first.substr(8), entry.second); });
    }
    return std::move(result_);
  }

 private:
  uint32_t FindSpace(const std::string& name) const {
    const auto& spaces = result_.content.spaces;
    for (uint32_t i = 0; i < spaces.size(); ++i) {
      if (spaces[i].name == name) return i;
    }
    Fail("there is no space {} before this", name);
  }

  void AddSpace(const Space& space) {
    try {
      if (space.name.empty()) Fail("it has no name");
      if (result_.content.spaces.size() == kMaxSpaces) Fail("more than {} spaces", kMaxSpaces);
      for (const BlobSpace& other : result_.content.spaces) {
        if (other.name == space.name) Fail("the name is used twice");
      }
      BlobSpace record;
      record.name = space.name;
      if (!space.parent.empty()) record.parent = FindSpace(space.parent);
      if (record.parent != kBlobNone && result_.content.spaces[record.parent].kind == SpaceKind::kCached) {
        Fail("it has parent {}, whose rows are kept from run to run", space.parent);
      }
      if (space.each != 0) {
        if (space.parent.empty()) Fail("\"each\" is {}, but it has no parent", space.each);
        record.kind = SpaceKind::kFixed;
        record.extra = space.each;
      }
      Follow(space, "extends", space.extends, SpaceKind::kExtended, space.by, 1, record);
      Follow(space, "selects", space.selects, SpaceKind::kSelected, space.at_most, 0, record);
      Follow(space, "strides", space.strides, SpaceKind::kStrided, space.by, 2, record);
      Follow(space, "keeps", space.keeps, SpaceKind::kCached, space.window, 0, record);
      if (space.window != 0 && space.keeps.empty()) Fail("\"window\" needs \"keeps\"");
      if (space.by != 0 && space.extends.empty() && space.strides.empty())
        Fail("\"by\" needs \"extends\" or \"strides\"");
      if (space.first > UINT16_MAX || space.last > UINT16_MAX) Fail("more than {} rows at the ends", UINT16_MAX);
      if (space.strides.empty() && space.first + space.last != 0) Fail("\"first\" and \"last\" need \"strides\"");
      record.first = static_cast<uint16_t>(space.first);
      record.last = static_cast<uint16_t>(space.last);
      if (space.at_most != 0 && space.selects.empty()) Fail("\"at_most\" needs \"selects\"");
      if (record.kind == SpaceKind::kInput && IsSelected(result_.content.spaces, record.parent)) {
        Fail("it has parent {}, whose rows are selected during a run, so its segments are unknown", space.parent);
      }
      if (record.extra > kMaxRecords) Fail("{} rows are more than {}", record.extra, kMaxRecords);
      result_.content.spaces.push_back(record);
    } catch (const Failure& failure) {
      Fail("space {}: {}", space.name, failure.what());
    }
  }

  // Derives a space from the segments of another one.
  void Follow(const Space& space, const char* how, const std::string& of, SpaceKind kind, uint32_t rows, uint32_t least,
              BlobSpace& record) const {
    if (of.empty()) return;
    if (record.kind != SpaceKind::kInput) Fail("it {} {} and cannot have another kind as well", how, of);
    if (rows < least) Fail("it {} {} by {} rows, but must by at least {}", how, of, rows, least);
    record.kind = kind;
    record.source = FindSpace(of);
    record.extra = rows;
    const BlobSpace& source = result_.content.spaces[record.source];
    if (source.kind == SpaceKind::kCached) Fail("it {} {}, whose rows are kept from run to run", how, of);
    if (kind == SpaceKind::kCached && source.kind != SpaceKind::kInput)
      Fail("it {} {}, which is not an input space", how, of);
    if (space.parent.empty()) {
      record.parent = source.parent;
      return;
    }
    // All rows of the source in the rows that its own parent's selection has.
    const BlobSpace& parent = result_.content.spaces[record.parent];
    if (kind != SpaceKind::kSelected || parent.kind != SpaceKind::kSelected || parent.source != source.parent) {
      Fail("it {} {}, so its parent must be that space's parent or a space that selects from it", how, of);
    }
    if (rows != 0) Fail("it {0} all of {1} in the rows of {2}; leave out \"at_most\"", how, of, space.parent);
  }

  uint32_t FindTensor(const std::string& name) {
    const auto [at, is_new] = tensors_.emplace(name, result_.content.tensors.size());
    if (is_new) {
      result_.constants.push_back(description_.weights.Get(name));
      BlobTensor tensor;
      tensor.name = name;
      tensor.rows = result_.constants.back().rows;
      tensor.width = result_.constants.back().width;
      if (result_.constants.back().indices) tensor.type = DType::kI32;
      result_.content.tensors.push_back(tensor);
      result_.shortest.push_back(Shortest::kAny);
    }
    return at->second;
  }

  void AddProgram(const Program& program) {
    BlobProgram record;
    record.name = program.name;
    values_.clear();
    Inference inference(result_.content, record);
    const std::string place = "program " + program.name;
    const auto carried = [](const Input& input) { return !input.carried.empty(); };
    steps_ = program.steps || std::any_of(program.inputs.begin(), program.inputs.end(), carried);
    for (const Input& input : program.inputs) {
      At(fmt::format("{}, input {}", place, input.name), [&] {
        const uint32_t width = input.ids ? 1 : input.width;
        if (width == 0 || width > kMaxWidth) Fail("a width of {} is out of range", width);
        if (IsSelected(result_.content.spaces, FindSpace(input.space)))
          Fail("an input cannot be in space {}, whose rows are selected during a run", input.space);
        CheckStored(input);
        const DType type = input.ids ? DType::kI32 : input.type;
        AddValue(record, {input.name, FindSpace(input.space), width, type, ValueRole::kInput, 0, input.heads});
      });
    }
    if (program.operations.size() > kMaxOperations) Fail("{}: more than {} operations", place, kMaxOperations);
    for (size_t i = 0; i < program.operations.size(); ++i) {
      const Operation& operation = program.operations[i];
      At(fmt::format("{}, operation {} ({} -> {})", place, i, operation.op, operation.out),
         [&] { AddOperation(record, operation, inference); });
    }
    if (program.outputs.empty()) Fail("{}: there are no outputs", place);
    for (const std::string& output : program.outputs) {
      At(fmt::format("{}, output {}", place, output), [&] {
        BlobValue& value = record.values[FindValue(output)];
        if (value.role != ValueRole::kInternal) Fail("it is listed twice, or is an input");
        value.role = ValueRole::kOutput;
      });
    }
    for (size_t i = 0; i < program.inputs.size(); ++i) {
      if (program.inputs[i].carried.empty()) continue;
      At(fmt::format("{}, input {}", place, program.inputs[i].name), [&] { Carry(record, i, program.inputs[i]); });
    }
    result_.content.programs.push_back(std::move(record));
  }

  static void CheckStored(const Input& input) {
    if (!input.carried.empty() && input.type != DType::kF32) Fail("a carried input must be f32 or i32");
    if (input.type != DType::kI8) return;
    if (input.heads == 0 || input.width % input.heads != 0) {
      Fail("the width {} is not a multiple of {} heads", input.width, input.heads);
    }
  }

  void Carry(BlobProgram& program, size_t index, const Input& input) {
    BlobValue& value = program.values[index];
    const uint32_t by = FindValue(input.carried);
    if (program.values[by].role != ValueRole::kOutput) Fail("{}, which carries it, is not an output", input.carried);
    if (program.values[by].space != value.space || program.values[by].width != value.width ||
        program.values[by].type != value.type) {
      Fail("{}, which carries it, has another space, width or type", input.carried);
    }
    for (const BlobValue& other : program.values) {
      if (other.role == ValueRole::kCarried && other.carried_by == by)
        Fail("{} already carries {}", input.carried, other.name);
    }
    value.role = ValueRole::kCarried;
    value.carried_by = by;
  }

  void AddPart(const Program& program) {
    auto& programs = result_.content.programs;
    const auto whole =
        std::find_if(programs.begin(), programs.end(), [&](const BlobProgram& p) { return p.name == program.of; });
    if (whole == programs.end()) Fail("there is no program {} before this", program.of);
    programs.push_back(PartOf(BlobProgram(*whole), program, result_.content.spaces));
  }

  // Metadata "explain.<space>" names an attention operation with weights of the rows of the space (or of an extension).
  void CheckExplanation(const std::string& space, const std::string& step) const {
    const uint32_t level = FindSpace(space);
    for (const BlobProgram& program : result_.content.programs) {
      for (const BlobOperation& operation : program.operations) {
        const std::string& name = operation.name.empty() ? program.values[operation.output].name : operation.name;
        if (operation.code != static_cast<uint32_t>(OpCode::kAttention) || name != step) continue;
        const uint32_t queries = program.values[operation.inputs[0]].space;
        const uint32_t keys = program.values[operation.inputs[1]].space;
        const BlobSpace& key_space = result_.content.spaces[keys];
        const bool weighs = keys == level || (key_space.kind == SpaceKind::kExtended && key_space.source == level);
        if (!weighs) Fail("operation {} attends to rows of {}", step, key_space.name);
        if (queries != keys && queries != key_space.parent) Fail("operation {} does not pool its space", step);
        return;
      }
    }
    Fail("there is no attention operation {}", step);
  }

  void AddOperation(BlobProgram& program, const Operation& operation, Inference& inference) {
    const std::optional<OpCode> code = OperationNamed(operation.op);
    if (!code) Fail("unknown operation {}", operation.op);
    BlobOperation record;
    record.code = static_cast<uint32_t>(*code);
    record.name = operation.name;
    if (operation.in.size() > kMaxInputs || operation.tensors.size() > kMaxTensors) Fail("too many inputs or tensors");
    for (const std::string& name : operation.in) record.inputs.push_back(name.empty() ? kBlobNone : FindValue(name));
    for (const std::string& name : operation.tensors) {
      record.tensors.push_back(name.empty() ? kBlobNone : FindTensor(name));
    }
    record.attributes = ReadAttributes(*code, operation.attributes);
    BlobValue made = inference.Infer(record, operation.space);
    const std::vector<Operand>& tensors = TensorsOf(*code);
    for (size_t i = 0; i < record.tensors.size(); ++i) {
      if (record.tensors[i] == kBlobNone) continue;
      Shortest& shortest = result_.shortest[record.tensors[i]];
      const Storage storage = tensors[std::min(i, tensors.size() - 1)].storage;  // the last one may be repeated
      shortest = std::min({shortest, ShortestFor(storage, made.space), result_.constants[record.tensors[i]].shortest});
    }
    if (*code == OpCode::kExperts) KeepExact(program, InputOf(record, ExpertsInput::kScores));
    made.name = operation.out;
    record.output = AddValue(program, std::move(made));
    program.operations.push_back(std::move(record));
  }

  Shortest ShortestFor(Storage storage, uint32_t made_space) const {
    switch (storage) {
      case Storage::kWeight:
        return !steps_ && IsWholeInput(made_space) ? Shortest::kF16 : Shortest::kAny;
      case Storage::kTable:
        return Shortest::kAny;
      case Storage::kHalf:
        return Shortest::kF16;
      default:
        return Shortest::kF32;
    }
  }

  // Keeps the weight of the linear layer that computes the value, if any, in f16.
  void KeepExact(const BlobProgram& program, uint32_t value) {
    const size_t inputs = program.values.size() - program.operations.size();
    if (value < inputs) return;
    const BlobOperation& maker = program.operations[value - inputs];
    if (maker.code != static_cast<uint32_t>(OpCode::kLinear)) return;
    Shortest& shortest = result_.shortest[maker.tensors[0]];
    shortest = std::min(shortest, Shortest::kF16);
  }

  // Whether its rows are whole texts or documents, composed of rows of other spaces.
  bool IsWholeInput(uint32_t space) const {
    if (result_.content.spaces[space].parent != kBlobNone) return false;
    for (const BlobSpace& other : result_.content.spaces) {
      if (other.parent == space) return true;
    }
    return false;
  }

  uint32_t FindValue(const std::string& name) const {
    const auto found = values_.find(name);
    if (found == values_.end()) Fail("there is no value {} before this", name);
    return found->second;
  }

  uint32_t AddValue(BlobProgram& program, BlobValue value) {
    if (value.name.empty()) Fail("the value has no name");
    const auto index = static_cast<uint32_t>(program.values.size());
    if (!values_.emplace(value.name, index).second) Fail("value {} is computed twice", value.name);
    program.values.push_back(std::move(value));
    return index;
  }

  // Runs a function; adds the location to its failure.
  template <typename Step>
  static void At(const std::string& place, const Step& step) {
    try {
      step();
    } catch (const Failure& failure) {
      Fail("{}: {}", place, failure.what());
    }
  }

  const Description& description_;
  Resolved result_;
  size_t operations_ = 0;  // in all programs
  std::map<std::string, uint32_t> tensors_;
  std::map<std::string, uint32_t> values_;  // values of the current program
  bool steps_ = false;                      // the program runs in every step of generation
};

}  // namespace

Resolved Resolve(const Description& description) { return Resolver(description).Run(); }

}  // namespace fovea::tools
