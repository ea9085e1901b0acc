// One operation of a description under check: what its rule may ask about it and says of its result.
#ifndef FOVEA_TOOLS_CONVERT_RULES_CHECK_H_
#define FOVEA_TOOLS_CONVERT_RULES_CHECK_H_

#include <optional>
#include <string>
#include <vector>

#include "runtime/blob/attribute_names.h"
#include "runtime/blob/names.h"
#include "tools/base/fail.h"
#include "tools/convert/operation_rules.h"

namespace fovea::tools {

// One call under check.
class Check {
 public:
  Check(const OperationCall& call, OperationResult& result) : call_(call), result_(result) {}

  // ---- inputs and tensors ----
  const BlobValue& in(size_t i) const { return call_.inputs[i]; }
  size_t in_count() const { return call_.inputs.size(); }
  bool Has(size_t i) const { return i < call_.tensors.size() && call_.tensors[i] != nullptr; }
  const BlobTensor& tensor(size_t i) const { return *call_.tensors[i]; }
  size_t tensor_count() const { return call_.tensors.size(); }
  uint32_t Parent(uint32_t space) const { return (*call_.spaces)[space].parent; }
  const std::vector<BlobSpace>& spaces() const { return *call_.spaces; }
  const std::string& space_wanted() const { return call_.operation->space; }

  // The one space that fits, of those with the name that the operation wants, if it wants one.
  template <typename Fits>
  uint32_t OneSpace(const Fits& fits, const std::string& what) const {
    std::vector<uint32_t> fitting;
    for (uint32_t i = 0; i < spaces().size(); ++i) {
      const bool wanted = space_wanted().empty() || space_wanted() == spaces()[i].name;
      if (wanted && fits(spaces()[i])) fitting.push_back(i);
    }
    if (fitting.size() != 1) Fail("{} spaces {}; one is needed, or \"space\" must say which", fitting.size(), what);
    return fitting[0];
  }
  // Input i holds ids, as inputs of the program do and what is gathered from them.
  bool HoldsIds(size_t i) const { return call_.ids[i]; }
  // Input `indices` was made by select or expand, of the space of input `of`.
  void Selection(size_t of, size_t indices) const;
  void SameWidth(size_t a, size_t b) const;

  void Vector(size_t i, uint32_t width) const;
  void Shape(size_t i, uint32_t rows, uint32_t width) const;
  void SameSpace(size_t a, size_t b) const;
  void SameShape(size_t a, size_t b) const;

  // ---- attributes: written where given, else the default ----
  uint32_t Number(Attribute key, std::optional<uint32_t> absent);
  void Number(Attribute key) { Number(key, 0); }
  bool Flag(Attribute key, bool absent = false);
  // By name.
  template <typename Enum>
  Enum Choice(Attribute key, std::optional<Enum> absent) {
    const Json* json = Take(key);
    if (json == nullptr && !absent) Fail("{} is missing", NameOf(key));
    if (json == nullptr) return *absent;
    std::vector<const char*> names;
    for (const Named<Enum>& member : NamesOf<Enum>::list) {
      names.push_back(member.name);
      if (*json != member.name) continue;
      result_.attributes.push_back({static_cast<uint32_t>(key), static_cast<uint32_t>(member.number)});
      return member.number;
    }
    Fail("{} must be one of {}, not {}", NameOf(key), fmt::join(names, ", "), json->dump());
  }
  std::optional<float> Real(Attribute key, bool required = false);
  // To be called last.
  void NoOtherAttributes() const;

  void Result(uint32_t space, uint64_t width);
  void ResultIsIndices() { ResultIs(DType::kI32); }
  void ResultIs(DType type) { result_.type = type; }
  void ResultIsIds() {
    ResultIsIndices();
    result_.ids = true;
  }
  void MayBeQuantized(Matrices matrices) { result_.matrices = matrices; }

 private:
  const Json* Take(Attribute key);
  uint32_t Default(Attribute key, std::optional<uint32_t> absent) const;

  const OperationCall& call_;
  OperationResult& result_;
  std::vector<Attribute> taken_;
};

// What an operation takes; `check` says what it makes.
struct Rule {
  size_t min_inputs, max_inputs;
  size_t min_tensors, max_tensors;
  void (*check)(Check&);
  uint32_t ids = 0;      // bit per input that may be i32
  uint32_t indices = 0;  // bit per tensor that is a table of integers
  uint32_t casts = 0;    // bit per input that may be what a cast made
  uint32_t halves = 0;   // bit per tensor that may be f16
  uint32_t kept = 0;     // bit per input that may be kept from run to run, as any type
  // Bit per input that decides what is computed: the weight of the layer that makes it is no integer.
  uint32_t decides = 0;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_RULES_CHECK_H_
