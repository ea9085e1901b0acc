#include "tools/convert/part.h"

#include <algorithm>

#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

constexpr uint32_t kLeftOut = kBlobNone;

class Cutter {
 public:
  Cutter(const BlobProgram& whole, const std::vector<BlobSpace>& spaces)
      : whole_(whole),
        spaces_(spaces),
        inputs_(whole.values.size() - whole.operations.size()),
        needed_(whole.values.size()),
        index_(whole.values.size(), kLeftOut) {}

  BlobProgram Cut(const Program& part) {
    if (part.from.empty() && part.to.empty()) Fail("it is the whole of {}; add \"from\" or \"to\"", part.of);
    if (part.from.size() > whole_.values.size() || part.to.size() > whole_.values.size()) {
      Fail("\"from\" or \"to\" names more values than {} has", part.of);
    }
    BlobProgram result;
    result.name = part.name;
    std::vector<uint32_t> from, to;
    for (const std::string& name : part.from) from.push_back(Find(name, "from"));
    for (const std::string& name : part.to) to.push_back(Find(name, "to"));
    for (const uint32_t value : from) CheckFrom(value);
    if (to.empty()) to = Outputs();
    for (const uint32_t value : to) needed_[value] = true;
    Follow(from);
    for (const uint32_t value : from) {
      if (std::count(to.begin(), to.end(), value) != 0) Fail("both \"from\" and \"to\" name {}", Name(value));
      if (!needed_[value]) Fail("no operation of it needs {}, which \"from\" names", Name(value));
      if (std::count(from.begin(), from.end(), value) != 1) Fail("\"from\" names {} twice", Name(value));
      Add(value, ValueRole::kInput, result);
    }
    for (uint32_t value = 0; value < inputs_; ++value) {
      if (!needed_[value]) continue;
      if (whole_.values[value].role != ValueRole::kInput)
        Fail("it needs {}, which is carried from run to run", Name(value));
      Add(value, ValueRole::kInput, result);
    }
    for (size_t i = 0; i < whole_.operations.size(); ++i) {
      const uint32_t output = whole_.operations[i].output;
      if (!needed_[output] || index_[output] != kLeftOut) continue;
      const bool is_output = std::count(to.begin(), to.end(), output) != 0;
      BlobOperation operation = whole_.operations[i];
      ForEachInput(operation, [&](uint32_t& input) { input = index_[input]; });
      operation.output = Add(output, is_output ? ValueRole::kOutput : ValueRole::kInternal, result);
      result.operations.push_back(std::move(operation));
    }
    return result;
  }

 private:
  const std::string& Name(uint32_t value) const { return whole_.values[value].name; }

  // Finds a value that an operation computes.
  uint32_t Find(const std::string& name, const char* key) const {
    for (uint32_t i = 0; i < whole_.values.size(); ++i) {
      if (Name(i) != name) continue;
      if (i < inputs_) Fail("\"{}\" names {}, an input of {}", key, name, whole_.name);
      return i;
    }
    Fail("\"{}\" names {}, which {} does not have", key, name, whole_.name);
  }

  void CheckFrom(uint32_t value) const {
    const BlobValue& from = whole_.values[value];
    if (from.type != DType::kF32) Fail("\"from\" names {}, which does not hold f32 numbers", from.name);
    if (spaces_[from.space].kind == SpaceKind::kSelected) {
      Fail("\"from\" names {}, whose rows are selected by {} itself", from.name, whole_.name);
    }
  }

  std::vector<uint32_t> Outputs() const {
    std::vector<uint32_t> outputs;
    for (uint32_t i = 0; i < whole_.values.size(); ++i) {
      if (whole_.values[i].role == ValueRole::kOutput) outputs.push_back(i);
    }
    return outputs;
  }

  // Marks the operations needed, without following the inputs of values in `from`.
  void Follow(const std::vector<uint32_t>& from) {
    for (size_t i = whole_.operations.size(); i-- > 0;) {
      const BlobOperation& operation = whole_.operations[i];
      if (!needed_[operation.output] || std::count(from.begin(), from.end(), operation.output) != 0) continue;
      ForEachInput(operation, [&](uint32_t input) { needed_[input] = true; });
    }
  }

  uint32_t Add(uint32_t value, ValueRole role, BlobProgram& result) {
    index_[value] = static_cast<uint32_t>(result.values.size());
    result.values.push_back(whole_.values[value]);
    result.values.back().role = role;
    return index_[value];
  }

  const BlobProgram& whole_;
  const std::vector<BlobSpace>& spaces_;
  const size_t inputs_;
  std::vector<bool> needed_;
  std::vector<uint32_t> index_;  // index in the part
};

}  // namespace

BlobProgram PartOf(const BlobProgram& whole, const Program& part, const std::vector<BlobSpace>& spaces) {
  return Cutter(whole, spaces).Cut(part);
}

}  // namespace fovea::tools
