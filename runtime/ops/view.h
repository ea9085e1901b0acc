// One operation as the records of a checked blob say it. Used while a model is made, by the functions that lower
// operations, and by nobody afterwards.
#ifndef FOVEA_RUNTIME_OPS_VIEW_H_
#define FOVEA_RUNTIME_OPS_VIEW_H_

#include <stdint.h>

#include "runtime/base/dtype.h"
#include "runtime/base/status.h"
#include "runtime/blob/blob.h"
#include "runtime/blob/included.h"

namespace fovea {

// With what its operands refer to.
struct OpView {
  const Blob* blob;
  const OperationRecord* record;
  const ValueRecord* values;  // of the program

  uint32_t InputIndex(uint32_t i) const { return blob->operands[record->first_operand + i]; }
  uint32_t TensorIndex(uint32_t i) const {
    return i < record->tensor_count ? blob->operands[record->first_operand + record->input_count + i] : kBlobNone;
  }
  const ValueRecord& Input(uint32_t i) const { return values[InputIndex(i)]; }
  const ValueRecord& Output() const { return values[record->output]; }
  const SpaceRecord& InputSpace(uint32_t i) const { return blob->spaces[Input(i).space]; }
  const SpaceRecord& OutputSpace() const { return blob->spaces[Output().space]; }
  // The operation that makes input i, null for inputs of the program: operations write consecutive values.
  const OperationRecord* Maker(uint32_t i) const {
    return IsInput(Input(i).role) ? nullptr : record - (record->output - InputIndex(i));
  }
  // Bytes from a row of input i, or of the output, to the next.
  uint32_t InputRowBytes(uint32_t i) const {
    return Maker(i) == nullptr ? fovea::InputRowBytes(Input(i)) : OpView{blob, Maker(i), values}.OutputRowBytes();
  }
  uint32_t OutputRowBytes() const;
  // Of int8 rows of input i, the parts that have a scale each.
  uint32_t InputParts(uint32_t i) const;
  bool HasTensor(uint32_t i) const { return TensorIndex(i) != kBlobNone; }
  const TensorRecord& Tensor(uint32_t i) const { return blob->tensors[TensorIndex(i)]; }
  // Rows of an f32 tensor, or null where it is absent.
  const float* Floats(uint32_t i) const {
    return HasTensor(i) ? static_cast<const float*>(blob->TensorRows(TensorIndex(i))) : nullptr;
  }
  // Rows of an i32 tensor.
  const int32_t* Indices(uint32_t i) const { return static_cast<const int32_t*>(blob->TensorRows(TensorIndex(i))); }

  bool Has(Attribute key) const { return Find(key) != nullptr; }
  uint32_t U32(Attribute key, uint32_t otherwise) const;
  bool Flag(Attribute key, bool otherwise = false) const { return U32(key, otherwise ? 1 : 0) != 0; }
  template <typename Enum>
  Enum Choice(Attribute key, Enum otherwise) const {
    return static_cast<Enum>(U32(key, static_cast<uint32_t>(otherwise)));
  }
  float F32(Attribute key, float otherwise) const;

 private:
  const AttributeRecord* Find(Attribute key) const;
};

// ---- Pieces of shape rules ----

// Input i is f32.
Status CheckF32(const OpView&, uint32_t i, Reporter&);
// Input i and the output have one width; are in one space.
Status CheckWidth(const OpView&, uint32_t i, Reporter&);
Status CheckSpace(const OpView&, uint32_t i, Reporter&);
// Inputs and output are f32 matrices in one space.
Status CheckRowLocal(const OpView&, Reporter&);
// The same, all of one width.
Status CheckElementwise(const OpView&, Reporter&);
// Tensor i, if present, is f32 [rows, width]; rows 0: any. `halves`: it may be f16.
Status CheckFloats(const OpView&, uint32_t i, uint32_t rows, uint32_t width, Reporter&, bool halves = false);
// An attribute of type Enum holds a member, which becomes *choice. `unknown`: what is said otherwise.
template <typename Enum>
Status ReadChoice(const OpView& op, Attribute key, const char* unknown, Reporter& reporter, Enum* choice) {
  *choice = static_cast<Enum>(op.U32(key, static_cast<uint32_t>(*choice)));
  if (!IsMember(*choice)) {
    return reporter.Fail(FOVEA_E_OP, unknown, CountOf(*choice) - 1, static_cast<uint32_t>(*choice));
  }
  if (IsIncluded(*choice)) return kOk;
  return reporter.Fail(FOVEA_E_BUILD, kProfileLine<Enum>.lacks, kIncluded<Enum>, static_cast<uint32_t>(*choice));
}
// This build reads weights of that type.
Status CheckWeights(DType type, Reporter&);
// Attribute `heads`, which divides the width of input 0; 1 where absent.
Status ReadHeads(const OpView&, Reporter&, uint32_t* heads);
// Tensors 0 and 1 are weight and bias of linear layers, `rows` of them in all, of inputs `width` wide.
Status CheckLayers(const OpView&, uint32_t rows, uint32_t width, Reporter&);
// Tensor 0 has a row for the position of each row of the output's space, as far as the blob can tell: after `offset`
// for as many rows as segments of that space can have however the caller's are bound. Longer ones are refused then:
// *rows is how many there are.
Status CheckPositions(const OpView&, Reporter&, uint32_t* rows);
// How many rows every segment of a space can have, as far as the blob can tell.
uint32_t CertainRows(const Blob&, const SpaceRecord&);
// Input i holds the row indices that `select` or `expand` chose of space `source`: ascending, each below the rows bound
// there.
Status CheckSelection(const OpView&, uint32_t i, uint32_t source, Reporter&);
// The input of the program whose ids input i holds, all of them or some that were gathered; kBlobNone: it holds no ids.
// A run checks ids before it begins.
uint32_t IdsOf(const OpView&, uint32_t i);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_OPS_VIEW_H_
