// What an operation is to the rest of the runtime: a shape rule, its scratch, and a function that computes a tile of
// rows.
#ifndef FOVEA_RUNTIME_OPS_OP_H_
#define FOVEA_RUNTIME_OPS_OP_H_

#include <stddef.h>
#include <stdint.h>

#include "fovea/runner.h"
#include "runtime/attention/attention.h"
#include "runtime/base/dtype.h"
#include "runtime/base/status.h"
#include "runtime/blob/blob.h"
#include "runtime/gemm/gemm.h"
#include "runtime/kernels/kernels.h"

namespace fovea {

// One operation of a checked blob, with what its operands refer to.
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
    return Maker(i) == nullptr ? static_cast<uint32_t>(RowBytes(DType(Input(i).type), Input(i).width))
                               : OpView{blob, Maker(i), values}.OutputRowBytes();
  }
  uint32_t OutputRowBytes() const;
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

// Rows of a space as they are bound now.
struct SpaceRows {
  Segments segments;
  uint32_t rows;
};

// A linear layer of an operation: rows [begin, end) of its tensor 0, the weight, and of its tensor 1, the bias.
struct LayerRows {
  uint32_t begin, end;
};
inline constexpr uint32_t kMaxLayers = 2;  // of one operation

// The most that a space can hold in a session.
struct SpaceLimits {
  uint32_t max_rows = 0, max_segments = 0, max_segment_rows = 0;
};

// The input rows of one worker's tile, quantized once however many linear layers read them.
struct QuantizedTile {
  uint32_t value = kBlobNone;  // whose rows these are; kBlobNone: nothing
  int8_t* rows = nullptr;
  QuantParams* params = nullptr;
};

// What a linear layer of an operation needs besides its rows.
struct LinearRun {
  const GemmBackend* backend;
  const GemmWeights* weights;
  const void* packed;
  void* op;  // this worker's operator for the layer's shape
};

// Workers that do one operation together, product by product: all call the operation for the same tile.
struct Team {
  uint32_t worker = 0, workers = 1;
  fovea_barrier barrier = nullptr;
  void* barrier_context = nullptr;
  void* scratch[2] = {};  // of the first two workers, as large as their own
};

// One tile of an operation, rows [row_begin, row_end) or as many segments. Inputs that it reads row by row and the
// output point to row `row_begin`, others to row 0; of other units than rows all do. By heads: [head_begin, head_end).
struct OpRun {
  OpView view;
  const Kernels* kernels;
  const SpaceRows* spaces;  // of the model
  uint32_t row_begin, row_end;
  uint32_t head_begin, head_end;
  uint32_t column_begin, column_end;  // of the output; Share::kColumns and kProduct: others are not touched
  uint32_t tile_rows;                 // by heads: what scratch is for, as the tile may have more rows
  const void* inputs[kMaxInputs];
  float* output;      // or int32_t, see OpDef::output
  uint32_t* offsets;  // operations that choose rows: those of the output's space, to be filled
  void* scratch;
  QuantizedTile* quantized;
  LinearRun layers[kMaxLayers];
  const WeightSink* weights;  // attention: where a tap wants the weights, or null
  Team team;                  // OpDef::together

  uint32_t rows() const { return row_end - row_begin; }
  const float* Input(uint32_t i) const { return static_cast<const float*>(inputs[i]); }
  const int32_t* Indices(uint32_t i) const { return static_cast<const int32_t*>(inputs[i]); }
  const Segments& SegmentsOf(const ValueRecord& value) const { return spaces[value.space].segments; }
  size_t count() const { return size_t{rows()} * view.Output().width; }

  // Calls f(first, count) for the elements in the output's columns [column_begin, column_end): at once if that is all.
  template <typename F>
  void ForElements(F f) const {
    const size_t width = view.Output().width, columns = column_end - column_begin;
    if (columns == width) return f(size_t{0}, count());
    for (size_t row = 0; row < rows(); ++row) f(row * width + column_begin, columns);
  }
};

// What a tile of an operation's work is counted in.
enum class Unit : uint32_t {
  kRows,      // rows of the output's space
  kSegments,  // segments of the first input's space; reads and writes all rows of its segments, all inputs from row 0
  kAll,       // runs once, over all rows of the first input's space; reads all inputs as a whole
  kHeads,     // a head, of some rows of the output's space; reads all inputs as a whole, writes its part of these rows
};

// How several workers share a step if they work on the same rows.
enum class Share : uint32_t {
  kEach,     // they do not: each does all of it, for itself
  kFirst,    // they do not: the first does it
  kColumns,  // by columns, of each input as wide as the output only those
  kProduct,  // by columns of the output of layer 0; inputs are read as a whole
  kHeads,    // by key/value heads
};

struct OpDef {
  uint32_t min_inputs, max_inputs;
  uint32_t min_tensors, max_tensors;  // tensors after the minimum may be absent
  uint64_t attributes;                // bit per attribute it knows (OpAttributes)
  uint32_t reads_all_rows;            // bit per input that it reads in rows other than the ones it writes
  // Whether operands fit together; counts, indices and attributes are known to be right.
  Status (*check)(const OpView&, Reporter&);
  // Bytes of scratch of one worker; null: none.
  uint64_t (*scratch)(const OpView&, uint32_t tile_rows);
  Status (*run)(const OpRun&);
  double (*flops_per_row)(const OpView&);
  DType output = DType::kF32;  // element type of what it makes
  // Operations that multiply: rows of layer i < kMaxLayers, as tensors and attributes alone say. No rows: there is
  // none.
  LayerRows (*layer)(const OpView&, uint32_t i) = nullptr;
  Unit unit = Unit::kRows;
  bool casts = false;       // makes another type than `output`, as its attribute says
  bool keeps_type = false;  // makes what its first input is made of, whatever `output` says
  bool chooses = false;     // of unit kAll, and says which rows the output's space, a selected one, has in this run
  // Bytes of scratch that grow with the spaces, given those of the inputs; null: none.
  uint64_t (*scratch_of_spaces)(const OpView&, const SpaceLimits* inputs) = nullptr;
  bool (*by_heads)(const OpView&) = nullptr;  // if so its unit is kHeads, whatever `unit` says
  Share share = Share::kEach;
  bool together = false;  // can be done by a Team
};

constexpr uint64_t OpAttributes() { return 0; }
template <typename... Rest>
constexpr uint64_t OpAttributes(Attribute first, Rest... rest) {
  return (uint64_t{1} << static_cast<uint32_t>(first)) | OpAttributes(rest...);
}

// Null for an unknown code.
const OpDef* FindOp(uint32_t code);

Unit UnitOf(const OpView&);
// Whether it reads input i in rows other than the ones it writes.
bool ReadsAllRows(const OpView&, uint32_t i);

// ---- Pieces of shape rules ----

// Input i is f32.
Status CheckF32(const OpView&, uint32_t i, Reporter&);
// Input i and the output have one width.
Status CheckWidth(const OpView&, uint32_t i, Reporter&);
// Inputs and output are f32 matrices in one space.
Status CheckRowLocal(const OpView&, Reporter&);
// The same, all of one width.
Status CheckElementwise(const OpView&, Reporter&);
// Tensor i, if present, is f32 [rows, width]; rows 0: any. `halves`: it may be f16.
Status CheckFloats(const OpView&, uint32_t i, uint32_t rows, uint32_t width, Reporter&, bool halves = false);
// An attribute of type Enum holds a member. `unknown`: what is said otherwise.
template <typename Enum>
Status CheckChoice(const OpView& op, Attribute key, const char* unknown, Reporter& reporter) {
  const Enum number = op.Choice(key, Enum());
  if (IsMember(number)) return kOk;
  return reporter.Fail(FOVEA_E_OP, unknown, CountOf(number) - 1, static_cast<uint32_t>(number));
}
// Tensors 0 and 1 are weight and bias of linear layers, `rows` of them in all, of inputs `width` wide.
Status CheckLayers(const OpView&, uint32_t rows, uint32_t width, Reporter&);
// Tensor 0 has a row for the position of each row of the output's space, as far as the blob can tell: after `offset`
// for as many rows as segments of that space can have however the caller's are bound. Longer ones are refused then.
Status CheckPositions(const OpView&, Reporter&);
// How many rows every segment of a space can have, as far as the blob can tell.
uint32_t CertainRows(const Blob&, const SpaceRecord&);
// Input i holds the row indices that `select` or `expand` chose of space `source`: ascending, each below the rows bound
// there.
Status CheckSelection(const OpView&, uint32_t i, uint32_t source, Reporter&);
// The input of the program whose ids input i holds, all of them or some that were gathered; kBlobNone: it holds no ids.
// A run checks ids before it begins.
uint32_t IdsOf(const OpView&, uint32_t i);
double OneFlopPerElement(const OpView&);

// ---- Linear layers of operations ----

// False if the operation has no layer i.
bool FindLayer(const OpView&, uint32_t i, GemmWeights* layer);
// Layer i of x. `value`: whose rows of this tile x is, kBlobNone if it is none's: several layers that read the same
// rows quantize them once.
Status RunLayer(const OpRun&, uint32_t i, const float* x, uint32_t rows, uint32_t value, const GemmOutput&);
// The same of all columns, which a team shares: when it returns all are there.
Status RunLayerTogether(const OpRun&, uint32_t i, const float* x, uint32_t rows, uint32_t value, float* y);

// The key space of an attention and how a query finds its keys there.
bool FindPairing(const OpView&, Pairing* pairing);
// Only for attention operations.
AttentionSpec AttentionSpecOf(const OpView&);
// The input that names the rows of pattern.global_keys, or kBlobNone.
uint32_t GlobalKeysInput(const OpView&);
// How many keys a segment may have for its bias of pairs; UINT32_MAX: any.
uint32_t KeysOfPairBias(const OpView&);

// Calls f(first_row, row_count, first_position, segment) for each piece of rows [begin, end) that lies in one segment.
template <typename F>
void ForEachSegmentPiece(const Segments& segments, uint32_t begin, uint32_t end, F f) {
  uint32_t low = 0, high = segments.count;  // the last segment that starts at or before `begin`
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    (segments.offsets[middle] <= begin ? low : high) = middle;
  }
  for (uint32_t row = begin; row < end; ++low) {
    const uint32_t segment_end = segments.offsets[low + 1];
    if (segment_end <= row) continue;
    const uint32_t piece_end = segment_end < end ? segment_end : end;
    f(row, piece_end - row, row - segments.offsets[low], low);
    row = piece_end;
  }
}

}  // namespace fovea

#endif  // FOVEA_RUNTIME_OPS_OP_H_
