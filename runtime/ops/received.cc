// Received attention: the attention weights of each key, summed over the queries of its segment, for each head. Weights
// are discarded once they are added up.
#include <string.h>

#include <algorithm>

#include "runtime/attention/tap.h"
#include "runtime/blob/operands.h"
#include "runtime/ops/attention_records.h"

namespace fovea {
namespace {

struct ReceivedOp : AttentionOp {};

Status Lower(const OpView& view, Reporter& reporter, ReceivedOp* op) {
  FOVEA_TRY(LowerAttention(view, reporter, op));
  if (op->output.space != op->keys().space) {
    return reporter.FailSpace("output must be in the space of the keys", op->keys().space, op->output.space);
  }
  op->output.width = op->heads;
  // Heads that share keys are one tile. Values are not used: the first column of the keys takes their place.
  op->unit = Unit::kHeads;
  op->heads = op->kv_heads;
  op->spec.d_v = 1;
  return kOk;
}

// Number of heads that share keys (GQA).
uint32_t Group(const ReceivedOp& op) { return op.spec.heads / op.spec.kv_heads; }

uint64_t EngineBytes(const ReceivedOp& op, uint32_t tile_rows) {
  return RoundUp(AttentionScratchBytes(op.spec, tile_rows), kAlignment);
}

// Sizes of one worker's scratch besides the engine's; the sums of a tile's heads come first.
struct Room {
  CheckedSize sums;    // numbers
  uint64_t most;       // entries of a sparse row of weights
  CheckedSize staged;  // entries of all staged rows if sparse, numbers if dense
  bool sparse;         // rows of weights list the visible keys, which are few for most queries

  // For `rows` rows of keys, at most `longest` of them in a segment.
  Room(const ReceivedOp& op, uint32_t rows, uint32_t longest, uint32_t global_keys) {
    const auto most_of = [&](bool global_row) {
      return MostVisibleKeys(op.spec.pattern, {op.spec.heads, longest, global_keys, global_row});
    };
    sums = CheckedSize(Group(op)) * CheckedSize(rows);
    most = most_of(true);
    staged = CheckedSize(kMostStagedRows) * CheckedSize(std::max<uint64_t>(most, longest));
    sparse = most_of(false) < longest;
  }
};

uint64_t ScratchOfSpaces(const ReceivedOp& op, const SpaceLimits* spaces) {
  const SpaceLimits& keys = spaces[op.keys().space];
  const uint32_t listed = op.global_keys == kBlobNone ? 0 : spaces[op.inputs[op.global_keys].space].max_segment_rows;
  const Room room(op, keys.max_rows, keys.max_segment_rows, listed);
  Arena arena;
  arena.TakeBytes(room.sums * CheckedSize(sizeof(float)));
  arena.TakeBytes(room.staged * CheckedSize(sizeof(float)));
  arena.TakeBytes(room.staged * CheckedSize(sizeof(uint32_t)));
  return arena.needed();
}

uint32_t LongestOf(const Segments& segments) {
  uint32_t longest = 0;
  for (uint32_t i = 0; i < segments.count; ++i) longest = std::max(longest, segments.length(i));
  return longest;
}

Status Run(const ReceivedOp& op, const OpRun& run) {
  // If a head's rows were divided into several tiles, the first of them does all the work.
  if (run.row_begin != 0 || run.row_end == 0) return kOk;
  const AttentionSpec& spec = op.spec;
  const uint32_t rows = run.spaces[op.keys().space].rows, group = Group(op);
  const Segments keys = run.SegmentsOf(op.keys());
  const uint32_t longest = LongestOf(keys);
  const Room room(op, rows, longest,
                  op.global_keys == kBlobNone ? 0 : LongestOf(run.SegmentsOf(op.inputs[op.global_keys])));
  auto* scratch = static_cast<uint8_t*>(run.scratch) + EngineBytes(op, run.tile_rows);
  const auto take = [&](CheckedSize count) {
    void* const taken = scratch;
    scratch += RoundUp(count.value() * sizeof(float), kAlignment);
    return taken;
  };
  WeightSink sink{};
  sink.received = static_cast<float*>(take(room.sums));
  sink.stride = rows;
  sink.heads = spec.heads;
  sink.staged_values = static_cast<float*>(take(room.staged));
  if (room.sparse) sink.staged_keys = static_cast<uint32_t*>(take(room.staged));
  sink.staged_rows = kMostStagedRows;
  sink.staged_entries = static_cast<uint32_t>(room.sparse ? room.most : longest);

  AttentionCall call{};
  Segments above[kMaxSpaceDepth];
  SetAttentionCall(op, run, above, &call);
  call.row_end = run.spaces[op.queries().space].rows;
  call.v = call.k, call.v_scales = call.k_scales;
  call.weights = &sink;
  alignas(kAlignment) float no_output[kAttentionLanes];
  call.out.data = no_output;
  call.head_begin = run.head_begin * group, call.head_end = run.head_end * group;
  sink.first_head = call.head_begin;
  memset(sink.received, 0, room.sums.value() * sizeof(float));
  RunAttention(*run.kernels, call);
  for (uint32_t head = 0; head < group; ++head) {
    const float* const from = sink.received + size_t{head} * rows;
    float* const to = run.output + call.head_begin + head;
    for (size_t row = 0; row < rows; ++row) to[row * spec.heads] = from[row];
  }
  return kOk;
}

double Flops(const ReceivedOp&) { return 0; }  // counted per key, as for attention

}  // namespace

extern const OpDef kReceivedOp = DefineOp<OpCode::kReceived, Lower, Run>([](OpDef& def) {
  def.attributes = kAttentionAttributes;
  def.former_inputs = FormerAttentionInputs;
  def.scratch = OfOp<EngineBytes>::Call;
  def.scratch_of_spaces = OfOp<ScratchOfSpaces>::Call;
  def.placed_bytes = sizeof(AttentionLayout);
  def.place = OfOp<PlaceAttention>::Call;
  def.segment_limit = OfOp<KeyLimit>::Call;
  def.flops_per_row = OfOp<Flops>::Call;
});

}  // namespace fovea
