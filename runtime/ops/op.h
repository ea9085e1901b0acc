// What an operation is to the rest of the runtime. Its records are lowered once, when a model is made, to a plain
// struct (`Op`, extended by each operation with its own parameters); planning, placing and running read that struct.
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

// Rows of a space as they are bound now.
struct SpaceRows {
  Segments segments;
  uint32_t rows;
  const uint32_t* starts;  // position of each segment's first row, where it goes on with rows of former runs; null: 0
  const KeyPages* pages;   // of a cached space: where its rows lie
  // Of a cached space: the type that all of its values have in this session; kBlobNone: each as the program says.
  uint32_t type = kBlobNone;
};

// The most that a space can hold in a session.
struct SpaceLimits {
  uint32_t max_rows = 0, max_segments = 0, max_segment_rows = 0;
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

// ---- A lowered operation ----

// A value that an operation reads or writes.
struct OpValue {
  uint32_t index;  // in the program
  uint32_t space;
  uint32_t width;
  uint32_t row_bytes;  // from a row to the next
  DType type;
  bool whole;  // inputs: read in rows other than the ones that are written
};

// A linear layer of the model: distinct rows of a pair of weight and bias tensor, nearly always all of them. Or several
// of one shape, one below the other in these tensors: the layers of experts.
struct Linear {
  GemmWeights weights;  // of the first
  uint32_t count;
  const GemmBackend* backend;
  const void* packed;  // null: used in place
  uint32_t op;         // in Model::gemm_ops

  GemmWeights WeightsAt(uint32_t i) const;
  const void* PackedAt(uint32_t i) const;
  uint64_t packed_bytes() const { return PackedBytes(*backend, weights.shape, count); }

  // Of `count` layers, each aligned.
  static uint64_t PackedBytes(const GemmBackend& backend, const GemmShape& shape, uint32_t count) {
    const uint64_t one = backend.packed_bytes(shape);
    return RoundUp(one, kAlignment) * (count - 1) + one;
  }
};

// A linear layer of an operation: rows [begin, end) of its tensor 0, the weight, and of its tensor 1, the bias.
struct OpLayer {
  uint32_t begin, end;
  uint32_t count = 1;              // layers that share out these rows
  uint32_t number = kBlobNone;     // of the model's
  const Linear* linear = nullptr;  // set when all operations are lowered
};
inline constexpr uint32_t kMaxLayers = 2;  // of one operation

struct OpDef;

struct Op {
  const OpDef* def = nullptr;
  const OpValue* inputs = nullptr;
  OpLayer* layers = nullptr;
  OpValue output{};
  uint32_t input_count = 0, layer_count = 0;
  Unit unit = Unit::kRows;
  uint32_t heads = 0, kv_heads = 0;  // of Unit::kHeads and Share::kHeads: how many there are

  // Memory after an operation's own struct of `bytes`, see OpDef::bytes_per_input.
  void* PerInput(size_t bytes) { return reinterpret_cast<uint8_t*>(this) + bytes; }
};

// ---- A run of it ----

// The input rows of one worker's tile, quantized once however many linear layers read them.
struct QuantizedTile {
  uint32_t value = kBlobNone;  // whose rows these are; kBlobNone: nothing
  int8_t* rows = nullptr;
  QuantParams* params = nullptr;
};

// Workers that do one operation together, product by product: all call the operation for the same tile.
struct Team {
  uint32_t worker = 0, workers = 1;
  Meeting* meeting = nullptr;
  uint32_t* met = nullptr;  // for Meeting::Meet
  void* scratch[2] = {};    // of the first two workers, as large as their own
};

// One tile of an operation, rows [row_begin, row_end) or as many segments. Inputs that it reads row by row and the
// output point to row `row_begin`, others to row 0; of other units than rows all do. By heads: [head_begin, head_end).
struct OpRun {
  const Kernels* kernels;
  const SpaceRows* spaces;  // of the model
  uint32_t row_begin, row_end;
  uint32_t head_begin, head_end;
  uint32_t column_begin, column_end;  // of the output; Share::kColumns and kProduct: others are not touched
  uint32_t tile_rows;                 // by heads: what scratch is for, as the tile may have more rows
  const void* const* inputs;
  float* output;      // or int32_t, see OpDef::output
  uint32_t* offsets;  // operations that choose rows: those of the output's space, to be filled
  void* scratch;
  const void* placed;  // what OpDef::place made
  QuantizedTile* quantized;
  void* const* operators;     // this worker's, by Linear::op
  const WeightSink* weights;  // attention: where a tap wants the weights, or null
  Team team;                  // OpDef::together

  uint32_t rows() const { return row_end - row_begin; }
  const float* Input(uint32_t i) const { return static_cast<const float*>(inputs[i]); }
  const int32_t* Indices(uint32_t i) const { return static_cast<const int32_t*>(inputs[i]); }
  int32_t* indices_made() const { return reinterpret_cast<int32_t*>(output); }
  const Segments& SegmentsOf(const OpValue& value) const { return spaces[value.space].segments; }
  // How rows of a value of a cached space are stored in this session.
  DType TypeOf(const OpValue& value) const {
    const uint32_t type = spaces[value.space].type;
    return type == kBlobNone ? value.type : DType(type);
  }
  size_t CountOf(const OpValue& value) const { return size_t{rows()} * value.width; }

  // Calls f(first, count) for the elements of an output in columns [column_begin, column_end): at once if that is all.
  template <typename F>
  void ForElements(const OpValue& output_value, F f) const {
    const size_t width = output_value.width, columns = column_end - column_begin;
    if (columns == width) return f(size_t{0}, CountOf(output_value));
    for (size_t row = 0; row < rows(); ++row) f(row * width + column_begin, columns);
  }
};

// ---- What each operation says of itself ----

// A bound on ids: those of input `value` of the program are below `limit`.
struct IdLimit {
  uint32_t value, limit;
};

// A bound on the rows of each segment of a space; UINT32_MAX: none.
struct SegmentLimit {
  uint32_t space, rows;
};

inline constexpr uint32_t kAnyNumber = 0xffffffff;
inline constexpr uint32_t kMaxFormerInputs = 11;  // that OpDef::former_inputs writes

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
  uint32_t bytes, bytes_per_input;  // of its struct, and of what follows it for each input
  OperandCounts operands;
  AttributeList attributes;
  InputRange whole;   // inputs that it reads in rows other than the ones it writes
  InputRange cached;  // inputs that may be in a cached space
  DType output;       // element type of the result, unless `lower` sets another one
  Unit unit;
  bool keeps_type;  // the result has the type of the first input
  bool chooses;     // of unit kAll: it determines which rows the output's space, a selected one, has in this run
  bool appends;     // of unit kRows, of its input's space: it writes to a cached space, which no other operation does
  Share share;
  bool together;  // can be done by a Team

  // Infers the result's width (and type, where `output` does not give it) from inputs, tensors and attributes, checks
  // them and the result's space against each other, and fills the struct at `memory` (64-aligned), which begins as
  // `op`. Counts of operands and attributes, and what they refer to, are known to be right. With OpView::shapes_only it
  // reads no contents of tensors: the converter then takes from it what the operation makes.
  Status (*lower)(const OpView&, const Op& op, void* memory, Reporter&);
  Status (*run)(const Op&, const OpRun&);
  // The others may be null.
  // For records that were written before inputs had numbers: attributes announced optional ones, in order. Writes the
  // value of each input by number; *count is 0 if the record has numbers.
  Status (*former_inputs)(const OpView&, Reporter&, uint32_t* inputs, uint32_t* count);
  double (*flops_per_row)(const Op&);  // one per element of the output
  // Bytes of scratch of one worker, for a tile; and those that grow with the spaces, by number.
  uint64_t (*scratch)(const Op&, uint32_t tile_rows);
  uint64_t (*scratch_of_spaces)(const Op&, const SpaceLimits* spaces);
  // What the limits of a session decide, made when it is placed: of all workers, for tiles of up to `tile_rows` rows.
  uint64_t placed_bytes;
  void (*place)(const Op&, uint32_t tile_rows, void* memory);
  SegmentLimit (*segment_limit)(const Op&);
  // How many rows of its input's space are chosen at most, in all and of a segment, by one that chooses.
  SpaceLimits (*most_chosen)(const Op&, const SpaceLimits& input);
  IdLimit (*id_limit)(const Op&, uint32_t i);  // of input i; a limit of 0: none
};

// A function of an operation's own struct as one of Op.
template <auto kFunction>
struct OfOp;
template <typename Result, typename T, typename... Args, Result (*kFunction)(const T&, Args...)>
struct OfOp<kFunction> {
  static Result Call(const Op& op, Args... args) { return kFunction(static_cast<const T&>(op), args...); }
};

// No operation's struct is larger, so that one can be lowered without memory.
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

// lower(view, reporter, T*) and run(const T&, run) of an operation whose unit is a row. `fill` sets the other members,
// its functions of T as OfOp<f>::Call.
template <OpCode kCode, auto kLower, auto kRun, typename Fill>
constexpr OpDef DefineOp(Fill fill) {
  OpDef def{};
  def.bytes = LowersTo<kLower>::kBytes;
  def.operands = kOperandsOf<kCode>;
  def.lower = LowersTo<kLower>::Call;
  def.run = OfOp<kRun>::Call;
  fill(def);
  return def;
}
template <OpCode kCode, auto kLower, auto kRun>
constexpr OpDef DefineOp() {
  return DefineOp<kCode, kLower, kRun>([](OpDef&) {});
}

// Null for an unknown code.
const OpDef* FindOp(uint32_t code);

// The result's width, if a value can have it.
Status MakeWidth(uint64_t width, Reporter&, Op*);
// CheckElementwise, and the result is as wide as the inputs.
Status LowerElementwise(const OpView&, Reporter&, Op*);

// ---- Linear layers ----

// CheckLayers, and the operation has them all as its one layer.
Status LowerLayer(const OpView&, uint32_t rows, uint32_t width, Reporter&, Op*, OpLayer*);
// What the tensors of a layer are; of several, those of the first.
GemmWeights WeightsOf(const OpView&, const OpLayer&);
// Memory for `rows` rows of `width` as the input of a product; null when counting.
float* TakeRows(Arena&, uint64_t rows, uint64_t width);
// x as the products of a layer take it: quantized if its weights are integers. `value` as below.
GemmInput LayerInput(const OpRun&, const GemmShape&, const float* x, uint32_t rows, uint32_t value);
// Layer i of x. `value`: whose rows of this tile x is, kBlobNone if it is none's: several layers that read the same
// rows quantize them once.
Status RunLayer(const Op&, const OpRun&, uint32_t i, const float* x, uint32_t rows, uint32_t value, const GemmOutput&);
// The same of all columns, which a team shares: when it returns all are there.
Status RunLayerTogether(const Op&, const OpRun&, uint32_t i, const float* x, uint32_t rows, uint32_t value, float* y);

// Calls f(first_row, row_count, first_position, segment) for each piece of rows [begin, end) that lies in one segment.
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

// The same of the rows of a tile, with positions in the whole text: after those of former runs.
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
