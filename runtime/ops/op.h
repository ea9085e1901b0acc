// The interface of an operation to the rest of the runtime. Its records are lowered once, when a model is made, to a
// plain struct (`Op`, extended by each operation with its parameters); planning, placing and running read that struct.
#ifndef FOVEA_RUNTIME_OPS_OP_H_
#define FOVEA_RUNTIME_OPS_OP_H_

#include <stddef.h>
#include <stdint.h>

#include <new>
#include <type_traits>

#include "runtime/attention/attention.h"
#include "runtime/base/arena.h"
#include "runtime/base/dtype.h"
#include "runtime/base/status.h"
#include "runtime/blob/blob.h"
#include "runtime/blob/operand.h"
#include "runtime/gemm/gemm.h"
#include "runtime/ops/view.h"
#include "runtime/parallel/workers.h"

namespace fovea {

// Rows of a space as currently bound. A space is a ragged batch dimension; a segment is one sequence of it.
struct SpaceRows {
  Segments segments;
  uint32_t rows;
  const uint32_t* starts;  // position of each segment's first row if it continues rows of earlier runs; null: 0
  const KeyPages* pages;   // cached spaces (KV cache): the pages that hold the rows
  // Cached spaces: the type of all values of the space in this session; kBlobNone: each value's type in the program.
  uint32_t type = kBlobNone;
};

// Capacity of a space in a session.
struct SpaceLimits {
  uint32_t max_rows = 0, max_segments = 0, max_segment_rows = 0;
};

// The unit in which tiles of an operation's work are counted.
enum class Unit : uint32_t {
  kRows,      // rows of the output's space
  kSegments,  // segments of the first input's space; reads and writes all rows of these segments, all inputs from row 0
  kAll,       // runs once, over all rows of the first input's space; reads all inputs as a whole
  kHeads,     // a head, for some rows of the output's space; reads all inputs as a whole, writes its part of these rows
};

// How the workers of a column-parallel phase, which have the same rows, split an operation.
enum class Share : uint32_t {
  kReplicated,   // they do not: each worker does all of it for itself
  kFirstWorker,  // they do not: the first worker does it
  kColumns,      // by columns; of inputs as wide as the output a worker reads only its columns
  kMatmul,       // by columns of the output of layer 0; inputs are read as a whole
  kHeads,        // by key/value heads
};

// ---- A lowered operation ----

// A value that an operation reads or writes.
struct OpValue {
  uint32_t index;  // in the program
  uint32_t space;
  uint32_t width;
  uint32_t row_bytes;  // distance between consecutive rows
  DType type;
  bool whole;  // inputs: also read in rows other than the ones that are written
};

// A linear layer of the model: a distinct range of rows of a weight and a bias tensor, nearly always all rows. Or
// several layers of one shape, concatenated by rows in these tensors: the experts of a mixture of experts (MoE).
struct Linear {
  GemmWeights weights;  // the first layer's
  uint32_t count;
  const GemmBackend* backend;
  const void* packed;  // null: used in place
  uint32_t op;         // index in Model::gemm_ops
  bool pairs;          // the backend takes quantized rows in pairs

  GemmWeights WeightsAt(uint32_t i) const;
  const void* PackedAt(uint32_t i) const;
  uint64_t packed_bytes() const { return PackedBytes(*backend, weights.shape, count); }

  // Packed size of `count` layers, each aligned.
  static uint64_t PackedBytes(const GemmBackend& backend, const GemmShape& shape, uint32_t count) {
    const uint64_t one = backend.packed_bytes(shape);
    return RoundUp(one, kAlignment) * (count - 1) + one;
  }
};

// A linear layer of an operation: rows [begin, end) of its tensor 0, the weight, and of its tensor 1, the bias.
struct OpLayer {
  uint32_t begin, end;
  uint32_t count = 1;              // layers that divide these rows evenly
  uint32_t number = kBlobNone;     // index among the model's linear layers
  const Linear* linear = nullptr;  // set once all operations are lowered
};
inline constexpr uint32_t kMaxLayers = 2;  // per operation

struct OpDef;

struct Op {
  const OpDef* def = nullptr;
  const OpValue* inputs = nullptr;
  OpLayer* layers = nullptr;
  OpValue output{};
  uint32_t input_count = 0, layer_count = 0;
  Unit unit = Unit::kRows;
  uint32_t heads = 0, kv_heads = 0;  // Unit::kHeads and Share::kHeads: number of heads

  // Memory after an operation's struct of `bytes` bytes, see OpDef::bytes_per_input.
  void* PerInput(size_t bytes) { return reinterpret_cast<uint8_t*>(this) + bytes; }
};

// ---- A run of an operation ----

// The input rows of one worker's tile, quantized once even if several linear layers read them.
struct QuantizedTile {
  uint32_t value = kBlobNone;  // the value that these rows belong to; kBlobNone: empty
  bool pairs = false;          // how they are stored (runtime/kernels/quantize.h)
  int8_t* rows = nullptr;
  QuantParams* params = nullptr;
};

// Workers that execute one operation cooperatively, matmul by matmul: all call the operation for the same tile.
struct Team {
  uint32_t worker = 0, workers = 1;
  CheckedBarrier* barrier = nullptr;
  uint32_t* arrivals = nullptr;  // this worker's, for CheckedBarrier::Wait
  void* scratch[2] = {};         // the first two workers' scratch, as large as OpRun::scratch
};

// Why an operation failed, for the caller's error record. The text is static; null: the operation reports none.
struct RunFault {
  const char* text = nullptr;
  uint32_t expected = 0, found = 0;
  uint32_t index = 0;
};
// Inline, so that a build without error messages contains no texts.
__attribute__((always_inline)) constexpr RunFault FaultOf([[maybe_unused]] const char* text,
                                                          [[maybe_unused]] uint32_t expected = 0,
                                                          [[maybe_unused]] uint32_t found = 0,
                                                          [[maybe_unused]] uint32_t index = 0) {
  if constexpr (kHasErrors) return {text, expected, found, index};
  return {};
}

// One tile of an operation, rows or segments [row_begin, row_end). Row-local inputs and the output point to row
// `row_begin`, the remaining inputs to row 0; all to row 0 if the unit is not rows. By heads: [head_begin, head_end).
struct OpRun {
  const Kernels* kernels;
  const SpaceRows* spaces;  // all spaces of the model
  uint32_t row_begin, row_end;
  uint32_t head_begin, head_end;
  uint32_t column_begin, column_end;  // Share::kColumns and kMatmul: the output columns to write
  uint32_t tile_rows;                 // by heads: rows that scratch is sized for; the tile may have more
  const void* const* inputs;
  float* output;      // or int32_t, see OpDef::output
  uint32_t* offsets;  // operations that choose rows: offsets of the output's space, to be filled
  void* scratch;
  const void* placed;  // written by OpDef::place
  QuantizedTile* quantized;
  void* const* operators;     // this worker's, indexed by Linear::op
  const WeightSink* weights;  // attention: where a tap receives the attention map, or null
  Team team;                  // OpDef::cooperative
  RunFault* fault;            // filled by Fail; null: not wanted

  // Records why the operation fails, with the arguments of FaultOf, and returns the status.
  template <typename... Numbers>
  __attribute__((always_inline)) Status Fail(fovea_status code, const char* text, Numbers... numbers) const {
    if (fault != nullptr) *fault = FaultOf(text, numbers...);
    return code;
  }

  uint32_t rows() const { return row_end - row_begin; }
  const float* Input(uint32_t i) const { return static_cast<const float*>(inputs[i]); }
  const int32_t* Indices(uint32_t i) const { return static_cast<const int32_t*>(inputs[i]); }
  int32_t* indices_made() const { return reinterpret_cast<int32_t*>(output); }
  const Segments& SegmentsOf(const OpValue& value) const { return spaces[value.space].segments; }
  // The type in which rows of a value of a cached space are stored in this session.
  DType TypeOf(const OpValue& value) const {
    const uint32_t type = spaces[value.space].type;
    return type == kBlobNone ? value.type : DType(type);
  }
  size_t CountOf(const OpValue& value) const { return size_t{rows()} * value.width; }

  // Calls f(first, count) for the elements of an output in columns [column_begin, column_end); once if these are all.
  template <typename F>
  void ForElements(const OpValue& output_value, F f) const {
    const size_t width = output_value.width, columns = column_end - column_begin;
    if (columns == width) return f(size_t{0}, CountOf(output_value));
    for (size_t row = 0; row < rows(); ++row) f(row * width + column_begin, columns);
  }
};

// ---- The definition of an operation ----

// A bound on ids: all ids of input `value` of the program are below `limit`.
struct IdLimit {
  uint32_t value, limit;
};

// A bound on the rows of each segment of a space; UINT32_MAX: none.
struct SegmentLimit {
  uint32_t space, rows;
};

inline constexpr uint32_t kAnyNumber = 0xffffffff;
inline constexpr uint32_t kMaxFormerInputs = 11;  // capacity of OpDef::former_inputs' output

// A range of an operation's inputs, by number.
struct InputRange {
  uint32_t begin = 0, end = 0;
  constexpr bool Has(uint32_t i) const { return i >= begin && i < end; }
};

struct AttributeList {
  const Attribute* keys = nullptr;
  uint32_t count = 0;

  constexpr AttributeList() = default;
  template <size_t N>
  constexpr AttributeList(const Attribute (&list)[N]) : keys(list), count(N) {}  // NOLINT: implicit on purpose
};

struct OpDef {
  uint32_t bytes, bytes_per_input;  // size of its struct, and of the memory after it per input
  OperandCounts operands;
  AttributeList attributes;
  InputRange whole;   // inputs that are also read in rows other than the ones written; all unless stated or row-local
  InputRange cached;  // inputs that may be in a cached space
  DType output;       // element type of the result unless `lower` sets another one
  Unit unit;
  bool keeps_type;  // the result has the type of the first input
  bool chooses;     // unit kAll: determines the rows of the output's space, a selected one, in this run
  bool appends;     // unit kRows, of the input's space: writes to a cached space; only `append` does
  Share share;
  bool cooperative;  // a Team can execute it

  // Infers the result's width (and type, where `output` does not give it) from inputs, tensors and attributes, checks
  // them and the result's space against each other, and fills the struct at `memory` (64-byte aligned), which begins
  // with `op`. Counts of operands and attributes, and their references, have been checked. With OpView::shapes_only it
  // reads no contents of tensors: the converter takes the result's width and type from it.
  Status (*lower)(const OpView&, const Op& op, void* memory, Reporter&);
  Status (*run)(const Op&, const OpRun&);
  // The function pointers below may be null.
  // For records written before inputs had numbers, when attributes announced the optional inputs in order. Writes the
  // value of each input by number; *count is 0 if the record has numbers.
  Status (*former_inputs)(const OpView&, Reporter&, uint32_t* inputs, uint32_t* count);
  double (*flops_per_row)(const Op&);  // null: one per element of the output
  // Bytes of one worker's scratch: for a tile, and the part that depends on the spaces' limits (indexed by space).
  uint64_t (*scratch)(const Op&, uint32_t tile_rows);
  uint64_t (*scratch_of_spaces)(const Op&, const SpaceLimits* spaces);
  // Data derived from a session's limits when it is placed: shared by workers, for tiles of at most `tile_rows` rows.
  uint64_t placed_bytes;
  void (*place)(const Op&, uint32_t tile_rows, void* memory);
  SegmentLimit (*segment_limit)(const Op&);
  // Operations that choose rows: the most rows that are chosen of the input's space, in total and per segment.
  SpaceLimits (*most_chosen)(const Op&, const SpaceLimits& input);
  IdLimit (*id_limit)(const Op&, uint32_t i);  // for input i; a limit of 0: none
};

// Adapts a function of an operation's struct to one of Op.
template <auto kFunction>
struct OfOp;
template <typename Result, typename T, typename... Args, Result (*kFunction)(const T&, Args...)>
struct OfOp<kFunction> {
  static Result Call(const Op& op, Args... args) { return kFunction(static_cast<const T&>(op), args...); }
};

// Upper bound on the size of an operation's struct, so that it can be lowered without an arena.
inline constexpr size_t kMaxOpBytes = 512;

template <auto kLower>
struct LowersTo;
template <typename T, Status (*kLower)(const OpView&, Reporter&, T*)>
struct LowersTo<kLower> {
  static_assert(std::is_base_of<Op, T>::value && sizeof(T) <= kMaxOpBytes && alignof(T) <= kAlignment, "");
  static_assert(std::is_trivially_destructible<T>::value, "nothing in an arena is ever destroyed");
  static constexpr uint32_t kBytes = sizeof(T);
  static Status Call(const OpView& view, const Op& op, void* memory, Reporter& reporter) {
    T* own = new (memory) T();
    static_cast<Op&>(*own) = op;
    return kLower(view, reporter, own);
  }
};

// An operation with lower(view, reporter, T*) and run(const T&, run) whose unit is a row. `fill` sets the remaining
// members; functions of T are passed as OfOp<f>::Call.
template <OpCode kCode, auto kLower, auto kRun, typename Fill>
constexpr OpDef DefineOp(Fill fill) {
  OpDef def{};
  def.bytes = LowersTo<kLower>::kBytes;
  def.operands = kOperandsOf<kCode>;
  def.lower = LowersTo<kLower>::Call;
  def.run = OfOp<kRun>::Call;
  if (!kIsRowLocal<kCode>) def.whole = {0, kAnyNumber};  // op_list.inc
  fill(def);
  return def;
}
template <OpCode kCode, auto kLower, auto kRun>
constexpr OpDef DefineOp() {
  return DefineOp<kCode, kLower, kRun>([](OpDef&) {});
}

// Null for an unknown code.
const OpDef* FindOp(uint32_t code);

// Sets the result's width; fails if it exceeds the limit on widths.
Status MakeWidth(uint64_t width, Reporter&, Op*);
// CheckElementwise; makes the result as wide as the inputs.
Status LowerElementwise(const OpView&, Reporter&, Op*);

// ---- Linear layers ----

// CheckLayers; makes all rows the operation's only layer.
Status LowerLayer(const OpView&, uint32_t rows, uint32_t width, Reporter&, Op*, OpLayer*);
// The weight and bias of a layer; of the first one if there are several.
GemmWeights WeightsOf(const OpView&, const OpLayer&);
// Memory for `rows` rows of `width` as the input of a matmul; null when counting.
float* TakeRows(Arena&, uint64_t rows, uint64_t width);
// x as the input of a layer's GEMM: quantized if its weights are integers. `value` as below.
GemmInput LayerInput(const OpRun&, const Linear&, const float* x, uint32_t rows, uint32_t value);
// Applies layer i to x. `value`: the value whose rows of this tile x holds, kBlobNone if there is none. With it,
// several layers that read the same rows quantize them once.
Status RunLayer(const Op&, const OpRun&, uint32_t i, const float* x, uint32_t rows, uint32_t value, const GemmOutput&);
// The same for all columns, which the workers of a team split; on return all columns are complete.
Status RunLayerCooperatively(const Op&, const OpRun&, uint32_t i, const float* x, uint32_t rows, uint32_t value,
                             float* y);
// The failure of a linear layer's backend.
Status FailLayer(const OpRun&, const GemmBackend&, Status);

// Calls f(first_row, row_count, first_position, segment) for each piece of rows [begin, end) within one segment.
template <typename F>
void ForEachSegmentPiece(const Segments& segments, uint32_t begin, uint32_t end, F f) {
  uint32_t low = segments.Of(begin);
  for (uint32_t row = begin; row < end; ++low) {
    const uint32_t segment_end = segments.offsets[low + 1];
    if (segment_end <= row) continue;
    const uint32_t piece_end = segment_end < end ? segment_end : end;
    f(row, piece_end - row, row - segments.offsets[low], low);
    row = piece_end;
  }
}

// The same for the rows of a tile, with positions in the whole sequence: they follow the rows of earlier runs.
template <typename F>
void ForEachTextPiece(const OpRun& run, const OpValue& value, F f) {
  const SpaceRows& rows = run.spaces[value.space];
  ForEachSegmentPiece(rows.segments, run.row_begin, run.row_end,
                      [&](uint32_t row, uint32_t count, uint32_t position, uint32_t segment) {
                        f(row, count, position + (rows.starts == nullptr ? 0 : rows.starts[segment]), segment);
                      });
}

}  // namespace fovea

#endif  // FOVEA_RUNTIME_OPS_OP_H_
