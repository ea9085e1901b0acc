// A damaged copy of the blob of EveryOperation: its records are changed in place and named by handles.
#ifndef FOVEA_TESTS_MODEL_PATCH_H_
#define FOVEA_TESTS_MODEL_PATCH_H_

#include <functional>

#include "tests/model/use_blob.h"
#include "tests/support/by_name.h"
#include "tests/support/every_operation.h"

namespace fovea::test {

using Bytes = std::vector<uint8_t>;

// The content of the blob that is damaged, and its bytes.
inline const tools::BlobContent& Everything() {
  static const tools::BlobContent content = EveryOperation();
  return content;
}
inline const Bytes& Good() {
  static const Bytes blob = tools::WriteBlob(Everything());
  return blob;
}

// Indices of spaces, programs and values (of the first program) of EveryOperation.
inline uint32_t SpaceIndex(const char* name) { return IndexOf(Everything().spaces, name); }
inline uint32_t ValueIndex(const char* name) { return IndexOf(Everything().programs[0].values, name); }

// A copy of a blob, of EveryOperation unless another one is given. Records are references into the copy.
class Patch {
 public:
  explicit Patch(const Bytes& bytes = Good()) : bytes_(bytes) {}
  Bytes& bytes() { return bytes_; }
  BlobHeader& header() { return *reinterpret_cast<BlobHeader*>(bytes_.data()); }
  SectionRecord* table() { return reinterpret_cast<SectionRecord*>(bytes_.data() + sizeof(BlobHeader)); }
  SectionRecord& section(SectionKind kind) {
    for (uint32_t i = 0; i < header().section_count; ++i) {
      if (table()[i].kind == kind) return table()[i];
    }
    ADD_FAILURE() << "no such section";
    return table()[0];
  }
  template <typename T>
  T* records(SectionKind kind) {
    return reinterpret_cast<T*>(bytes_.data() + section(kind).offset);
  }

  // Records of EveryOperation by name: a space, a value of the first program, the second program, its values.
  SpaceRecord& space(const char* name) { return records<SpaceRecord>(SectionKind::kSpaces)[SpaceIndex(name)]; }
  ValueRecord& value(const char* name) { return values()[ValueIndex(name)]; }
  ProgramRecord& second() {
    return records<ProgramRecord>(SectionKind::kPrograms)[IndexOf(Everything().programs, "second")];
  }
  ValueRecord& second(const char* value) { return values()[second().first_value + IndexInSecond(value)]; }
  static uint32_t IndexInSecond(const char* value) {
    return IndexOf(ByName(Everything().programs, "second").values, value);
  }

  // The first operation with this name, its output, and its inputs (indices of values) and tensors (indices) by number.
  OperationRecord& operation(const char* op) {
    const uint32_t code = OperationCode(op);
    auto* operation = records<OperationRecord>(SectionKind::kOperations);
    while (operation->code != code) ++operation;
    return *operation;
  }
  ValueRecord& output(const char* op) { return values()[operation(op).output]; }
  uint32_t& input(const char* op, uint32_t i) {
    return records<uint32_t>(SectionKind::kOperands)[operation(op).first_operand + i];
  }
  uint32_t& tensor_operand(const char* op, uint32_t i) { return input(op, operation(op).input_count + i); }
  TensorRecord& tensor(const char* op, uint32_t i) { return tensors()[tensor_operand(op, i)]; }
  AttributeRecord& attribute(const char* op, uint32_t i) {
    return records<AttributeRecord>(SectionKind::kAttributes)[operation(op).first_attribute + i];
  }

  // Tensors of integers, in the blob's order.
  enum Indices : uint32_t { kBuckets, kArranged, kArrangedAgain };
  TensorRecord& indices(Indices which) {
    TensorRecord* tensor = tensors();
    for (uint32_t left = which;; ++tensor) {
      if (tensor->type == static_cast<uint32_t>(DType::kI32) && left-- == 0) return *tensor;
    }
  }
  int32_t* index_data(Indices which) {
    return reinterpret_cast<int32_t*>(records<uint8_t>(SectionKind::kWeights) + indices(which).data);
  }

 private:
  ValueRecord* values() { return records<ValueRecord>(SectionKind::kValues); }
  TensorRecord* tensors() { return records<TensorRecord>(SectionKind::kTensors); }

  Bytes bytes_;
};

// A change of the blob, and the status of its use.
struct Attack {
  const char* what;
  fovea_status status;
  std::function<void(Patch&)> change;
};

inline void ExpectStatuses(const std::vector<Attack>& attacks) {
  for (const Attack& attack : attacks) {
    Patch p;
    attack.change(p);
    const Use use = BlobUser::Try(p.bytes());
    EXPECT_EQ(use.status, attack.status) << attack.what << ": " << fovea_status_name(use.status) << ", "
                                         << (use.error.text == nullptr ? "" : use.error.text);
  }
}

}  // namespace fovea::test

#endif  // FOVEA_TESTS_MODEL_PATCH_H_
