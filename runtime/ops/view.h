// A view of one operation's records in a checked blob. Used only while a model is made, by the functions that lower
// operations.
#ifndef FOVEA_RUNTIME_OPS_VIEW_H_
#define FOVEA_RUNTIME_OPS_VIEW_H_

#include <stdint.h>

#include "runtime/base/dtype.h"
#include "runtime/base/status.h"
#include "runtime/blob/blob.h"
#include "runtime/blob/included.h"
#include "runtime/blob/operand.h"

namespace fovea {

// An operation's record and the objects that its operands refer to. An operand is named by its number in
// operand_list.inc, as <Operation>Input or <Operation>Tensor; repeated operands are numbered consecutively.
struct OpView {
  const Blob* blob;
  const OperationRecord* record;
  const ValueRecord* values;  // the values of the program
  const uint32_t* inputs;     // values by input number
  const uint32_t* tensors;    // tensors by number, record->tensor_count of them
  uint32_t input_count;       // length of `inputs`
  // Tensors have no contents: a model is being converted, and only shapes are inferred.
  bool shapes_only = false;

  // The record's operands are in the blob.
  OpView(const Blob* of, const OperationRecord* operation, const ValueRecord* of_program)
      : blob(of),
        record(operation),
        values(of_program),
        inputs(of->operands.data + operation->first_operand),
        tensors(inputs + operation->input_count),
        input_count(operation->input_count) {}

  // kBlobNone if an optional input is absent.
  uint32_t InputIndex(InputNumber i) const { return i.number < input_count ? inputs[i.number] : kBlobNone; }
  uint32_t TensorIndex(TensorNumber i) const { return i.number < record->tensor_count ? tensors[i.number] : kBlobNone; }
  bool Has(InputNumber i) const { return InputIndex(i) != kBlobNone; }
  bool Has(TensorNumber i) const { return TensorIndex(i) != kBlobNone; }
  bool Has(Attribute key) const { return Find(key) != nullptr; }
  // The place of input i in Op::inputs, which has only the inputs present; kBlobNone: it is absent.
  uint32_t PlaceOf(InputNumber i) const;
  const ValueRecord& Input(InputNumber i) const { return values[InputIndex(i)]; }
  const ValueRecord& Output() const { return values[record->output]; }
  const SpaceRecord& InputSpace(InputNumber i) const { return blob->spaces[Input(i).space]; }
  const SpaceRecord& OutputSpace() const { return blob->spaces[Output().space]; }
  // The operation that computes input i, null for inputs of the program. Operations write consecutive values.
  const OperationRecord* Maker(InputNumber i) const {
    return IsInput(Input(i).role) ? nullptr : record - (record->output - InputIndex(i));
  }
  // Distance in bytes between consecutive rows of input i, or of the output.
  uint32_t InputRowBytes(InputNumber i) const {
    return Maker(i) == nullptr ? fovea::InputRowBytes(Input(i)) : OpView{blob, Maker(i), values}.OutputRowBytes();
  }
  uint32_t OutputRowBytes() const;
  // Parts of an int8 row of input i; each part has a scale.
  uint32_t InputParts(InputNumber i) const;
  const TensorRecord& Tensor(TensorNumber i) const { return blob->tensors[TensorIndex(i)]; }
  // Rows of an f32 tensor, or of an i32 tensor; null if it is absent.
  const float* Floats(TensorNumber i) const {
    return Has(i) ? static_cast<const float*>(blob->TensorRows(TensorIndex(i))) : nullptr;
  }
  const int32_t* Indices(TensorNumber i) const {
    return Has(i) ? static_cast<const int32_t*>(blob->TensorRows(TensorIndex(i))) : nullptr;
  }

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
Status CheckF32(const OpView&, InputNumber i, Reporter&);
// Input i is as wide as input 0; input i is in the output's space.
Status CheckWidth(const OpView&, InputNumber i, Reporter&);
Status CheckSpace(const OpView&, InputNumber i, Reporter&);
// Inputs and output are f32 matrices in one space.
Status CheckRowLocal(const OpView&, Reporter&);
// The same, all of one width.
Status CheckElementwise(const OpView&, Reporter&);
// Tensor i, if present, is f32 [rows, width]; rows 0: any. `halves`: it may be f16.
Status CheckFloats(const OpView&, TensorNumber i, uint32_t rows, uint32_t width, Reporter&, bool halves = false);
// Reads an attribute of type Enum into *choice. `unknown`: the message if its number is no member.
template <typename Enum>
Status ReadChoice(const OpView& op, Attribute key, const char* unknown, Reporter& reporter, Enum* choice) {
  *choice = static_cast<Enum>(op.U32(key, static_cast<uint32_t>(*choice)));
  if (!IsMember(*choice)) {
    return reporter.Fail(FOVEA_E_OP, unknown, CountOf(*choice) - 1, static_cast<uint32_t>(*choice));
  }
  if (IsIncluded(*choice)) return kOk;
  return reporter.Fail(FOVEA_E_BUILD, kProfileLine<Enum>.lacks, kIncluded<Enum>, static_cast<uint32_t>(*choice));
}
// This build supports weights of that type.
Status CheckWeights(DType type, Reporter&);
// Attribute `heads`, which must divide the width of input 0; 1 if absent.
Status ReadHeads(const OpView&, Reporter&, uint32_t* heads);
// Tensors 0 and 1 are weight and bias of linear layers with `rows` rows in total and inputs of width `width`.
Status CheckLayers(const OpView&, uint32_t rows, uint32_t width, Reporter&);
// Tensor 0 has a row for each position of the output's space as far as the blob determines it: after row `offset`, as
// many rows as every segment of that space can have regardless of what the caller binds. Longer segments are rejected
// when they are bound: *rows is the number of rows available.
Status CheckPositions(const OpView&, Reporter&, uint32_t* rows);
// Number of rows that every segment of a space can have, as far as the blob determines it.
uint32_t CertainRows(const Blob&, const SpaceRecord&);
// Input i holds the row indices that `select` or `expand` chose of space `source`: ascending, each below the rows bound
// there.
Status CheckSelection(const OpView&, InputNumber i, uint32_t source, Reporter&);
// The input of the program whose ids input i holds, all of them or a gathered subset; kBlobNone: it holds no ids. Ids
// are checked before a run begins.
uint32_t IdsOf(const OpView&, InputNumber i);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_OPS_VIEW_H_
