// Linear layers of a mixture of experts (MoE): each row is routed to its best experts only. Rows of a tile are grouped
// by expert, so that an expert's weights are read once for all rows that chose it.
#include <string.h>

#include "runtime/blob/attributes.h"
#include "runtime/blob/operands.h"
#include "runtime/kernels/kernels.h"
#include "runtime/ops/op.h"

namespace fovea {
namespace {

constexpr uint32_t kMaxChosen = 64;

struct ExpertsOp : Op {
  OpLayer layer;
  ExpertsKind kind = ExpertsKind::kApart;
  uint32_t experts = 0, chosen = 0;
  uint32_t read = 0, made = 0;  // input and output columns of one expert
  bool integers = false;

  bool apart() const { return kind == ExpertsKind::kApart; }
};

// Checks the numbers of experts, of experts chosen per row, and of columns that an expert reads and writes.
Status CheckCounts(const OpView& view, Reporter& reporter, ExpertsOp* op) {
  op->experts = view.U32(Attribute::kExperts, 0);
  op->chosen = view.U32(Attribute::kTopK, 0);
  if (op->experts == 0 || op->inputs[1].width != op->experts) {
    return reporter.Fail(FOVEA_E_SHAPE, "scores must have one column per expert", op->experts, op->inputs[1].width);
  }
  if (op->chosen == 0 || op->chosen > op->experts) {
    return reporter.Fail(FOVEA_E_SHAPE, "top_k must be from 1 to the number of experts", op->experts, op->chosen);
  }
  if (op->chosen > kMaxChosen) {
    return reporter.Fail(FOVEA_E_TOO_COMPLEX, "top_k is too large", kMaxChosen, op->chosen);
  }
  const uint32_t rows = view.Tensor(0).rows, width = op->inputs[0].width;
  if (rows % op->experts != 0) {
    return reporter.Fail(FOVEA_E_SHAPE, "weight's rows must be a multiple of experts", op->experts, rows);
  }
  if (!op->apart() && width % op->chosen != 0) {
    return reporter.Fail(FOVEA_E_SHAPE, "input's width must be a multiple of top_k", op->chosen, width);
  }
  op->read = op->apart() ? width : width / op->chosen;
  op->made = rows / op->experts;
  return MakeWidth(uint64_t{op->made} * (op->apart() ? op->chosen : 1), reporter, op);
}

Status Lower(const OpView& view, Reporter& reporter, ExpertsOp* op) {
  FOVEA_TRY(CheckRowLocal(view, reporter));
  FOVEA_TRY(ReadChoice(view, Attribute::kKind, "unknown kind of experts", reporter, &op->kind));
  FOVEA_TRY(CheckCounts(view, reporter, op));
  FOVEA_TRY(LowerLayer(view, view.Tensor(0).rows, op->read, reporter, op, &op->layer));
  op->layer.count = op->experts;
  op->integers = GemmTakesQuantized(DType(view.Tensor(0).type));
  return kOk;
}

struct Memory {
  uint32_t* experts;    // [rows, chosen], best first
  float* weights;       // [rows, chosen]: weights of the sums
  float* softmax;       // [experts]
  uint32_t* ends;       // [experts + 1]: where an expert's choices begin in `order`, later where they end
  uint32_t* order;      // [rows * chosen]: row * chosen + place, by expert
  float* x;             // [rows, read]: input rows of one expert, or
  int8_t* quantized;    // ... quantized
  QuantParams* params;  // [rows + kGemmExtraParams]
  float* y;             // [rows, made]
};

Memory TakeMemory(Arena& arena, const ExpertsOp& op, uint64_t rows) {
  Memory memory{};
  const uint64_t choices = rows * op.chosen;  // no overflow: a tile has few rows
  memory.experts = arena.Take<uint32_t>(choices);
  memory.weights = arena.Take<float>(choices);
  memory.softmax = arena.Take<float>(op.experts);
  memory.ends = arena.Take<uint32_t>(uint64_t{op.experts} + 1);
  memory.order = arena.Take<uint32_t>(choices);
  if (op.integers) {
    memory.quantized =
        static_cast<int8_t*>(arena.TakeBytes(CheckedSize(rows) * CheckedSize(op.read) + CheckedSize(kGemmSlack)));
    memory.params = arena.Take<QuantParams>(rows + kGemmExtraParams);
  } else {
    memory.x = TakeRows(arena, rows, op.read);
  }
  memory.y = TakeRows(arena, rows, op.made);
  return memory;
}

uint64_t Scratch(const ExpertsOp& op, uint32_t tile_rows) {
  Arena arena;
  TakeMemory(arena, op, tile_rows);
  return arena.needed();
}

// Chooses the experts with the highest scores, best first; ties go to the lower number. The chosen experts are distinct
// regardless of the scores (NaN included).
void Choose(const float* scores, const ExpertsOp& op, uint32_t* best) {
  uint32_t count = 0;
  for (uint32_t e = 0; e < op.experts; ++e) {
    if (count == op.chosen && !(scores[e] > scores[best[count - 1]])) continue;
    uint32_t at = count < op.chosen ? count++ : count - 1;
    for (; at > 0 && scores[e] > scores[best[at - 1]]; --at) best[at] = best[at - 1];
    best[at] = e;
  }
}

void Weigh(const ExpertsOp& op, const OpRun& run, const Memory& memory) {
  const auto softmax = run.kernels->softmax.softmax;
  for (size_t row = 0; row < run.rows(); ++row) {
    const float* scores = run.Input(1) + row * op.experts;
    const uint32_t* best = memory.experts + row * op.chosen;
    float* weights = memory.weights + row * op.chosen;
    if (op.kind == ExpertsKind::kOfAll) softmax(scores, 1, op.experts, memory.softmax);
    const float* from = op.kind == ExpertsKind::kOfAll ? memory.softmax : scores;
    for (uint32_t i = 0; i < op.chosen; ++i) weights[i] = from[best[i]];
    if (op.kind == ExpertsKind::kOfChosen) softmax(weights, 1, op.chosen, weights);
  }
}

// Sorts the choices of all rows by expert. The choices of expert e then end at ends[e].
void Group(const ExpertsOp& op, uint32_t choices, const Memory& memory) {
  memset(memory.ends, 0, (size_t{op.experts} + 1) * sizeof(uint32_t));
  for (uint32_t i = 0; i < choices; ++i) ++memory.ends[memory.experts[i] + 1];
  for (uint32_t e = 0; e < op.experts; ++e) memory.ends[e + 1] += memory.ends[e];
  for (uint32_t i = 0; i < choices; ++i) memory.order[memory.ends[memory.experts[i]]++] = i;
}

// A range of columns of an expert's output.
struct Columns {
  uint32_t begin, end;
};

// The columns that this worker computes of a row's expert number `place`.
Columns ColumnsOf(const ExpertsOp& op, const OpRun& run, uint32_t place) {
  if (!op.apart()) return {run.column_begin, run.column_end};
  const uint32_t first = place * op.made, last = first + op.made;
  const uint32_t begin = run.column_begin < first ? first : run.column_begin;
  const uint32_t end = run.column_end > last ? last : run.column_end;
  return begin < end ? Columns{begin - first, end - first} : Columns{0, 0};
}

// Gathers an expert's input rows for the choices `order`.
GemmInput Gather(const ExpertsOp& op, const OpRun& run, const Memory& memory, const uint32_t* order, uint32_t count) {
  const size_t read = op.read;
  const Linear& layer = *op.layer.linear;
  GemmInput all{};  // integers, if all rows are read
  if (op.apart() && op.integers) all = LayerInput(run, layer, run.Input(0), run.rows(), op.inputs[0].index);
  for (size_t i = 0; i < count; ++i) {
    const size_t row = op.apart() ? order[i] / op.chosen : order[i];
    const float* x = run.Input(0) + row * read;
    if (!op.integers) {
      memcpy(memory.x + i * read, x, read * sizeof(float));
      continue;
    }
    // A row that all experts may read is quantized once.
    const int8_t* from = all.quantized;
    size_t place = row, rows = all.rows;
    if (from == nullptr) {
      from = run.quantized->rows, place = 0, rows = 1;
      run.quantized->value = kBlobNone;
      run.kernels->quantize.quantize_rows(x, 1, read, run.quantized->rows, memory.params + i);
    } else {
      memory.params[i] = all.params[row];
    }
    if (layer.pairs) {
      CopyPairedRow(from, PairedRow(place, rows, read), memory.quantized, PairedRow(i, count, read), read);
    } else {
      memcpy(memory.quantized + i * read, from + place * read, read);
    }
  }
  return {count, memory.x, memory.quantized, memory.params};
}

// Scatters an expert's output rows to the destinations of the choices `order`.
void Scatter(const ExpertsOp& op, const OpRun& run, const Memory& memory, const uint32_t* order, uint32_t count,
             Columns columns) {
  const size_t width = columns.end - columns.begin;
  for (size_t i = 0; i < count; ++i) {
    const float* from = memory.y + i * op.made + columns.begin;
    if (op.apart()) {
      memcpy(run.output + size_t{order[i]} * op.made + columns.begin, from, width * sizeof(float));
    } else {
      float* to = run.output + size_t{order[i] / op.chosen} * op.made + columns.begin;
      run.kernels->elementwise.scale_add(from, memory.weights[order[i]], to, width, to);
    }
  }
}

Status RunExpert(const ExpertsOp& op, const OpRun& run, const Memory& memory, uint32_t expert) {
  const Linear& linear = *op.layer.linear;
  const uint32_t end = memory.ends[expert];
  for (uint32_t at = expert == 0 ? 0 : memory.ends[expert - 1], next; at < end; at = next) {
    // Takes choices that need the same columns at once: all of them, unless workers share the columns.
    const Columns columns = ColumnsOf(op, run, memory.order[at] % op.chosen);
    for (next = at + 1; next < end; ++next) {
      const Columns other = ColumnsOf(op, run, memory.order[next] % op.chosen);
      if (other.begin != columns.begin || other.end != columns.end) break;
    }
    if (columns.begin == columns.end) continue;
    const GemmInput input = Gather(op, run, memory, memory.order + at, next - at);
    const Status status = linear.backend->run(run.operators[linear.op], linear.WeightsAt(expert),
                                              linear.PackedAt(expert), input, {memory.y, columns.begin, columns.end});
    if (!status.ok()) return FailLayer(run, *linear.backend, status);
    Scatter(op, run, memory, memory.order + at, next - at, columns);
  }
  return kOk;
}

// Sums run in the order of the experts' numbers, regardless of which rows share a tile.
Status Run(const ExpertsOp& op, const OpRun& run) {
  Arena arena(run.scratch, SIZE_MAX);
  const Memory memory = TakeMemory(arena, op, run.rows());
  const uint32_t rows = run.rows();
  for (size_t row = 0; row < rows; ++row) {
    Choose(run.Input(1) + row * op.experts, op, memory.experts + row * op.chosen);
  }
  Group(op, rows * op.chosen, memory);
  if (!op.apart()) {
    Weigh(op, run, memory);
    run.ForElements(op.output,
                    [&](size_t first, size_t count) { memset(run.output + first, 0, count * sizeof(float)); });
  }
  for (uint32_t e = 0; e < op.experts; ++e) FOVEA_TRY(RunExpert(op, run, memory, e));
  return kOk;
}

double Flops(const ExpertsOp& op) { return 2.0 * op.chosen * op.read * op.made; }

constexpr Attribute kAttributes[] = {Attribute::kKind, Attribute::kExperts, Attribute::kTopK};

}  // namespace

extern const OpDef kExpertsOp = DefineOp<OpCode::kExperts, Lower, Run>([](OpDef& def) {
  def.attributes = kAttributes;
  def.share = Share::kMatmul;
  def.scratch = OfOp<Scratch>::Call;
  def.flops_per_row = OfOp<Flops>::Call;
});

}  // namespace fovea
