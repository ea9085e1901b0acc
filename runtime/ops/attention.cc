// Attention over the keys of a segment; runtime/attention does the work.
#include <math.h>

#include "runtime/ops/op.h"

namespace fovea {
namespace {

Status Check(const OpView& op, Reporter& reporter) {
  for (uint32_t i = 0; i < 3; ++i) {
    if (DType(op.Input(i).type) != DType::kF32) return reporter.Fail(FOVEA_E_SHAPE, "input must be f32");
  }
  const ValueRecord &q = op.Input(0), &k = op.Input(1), &v = op.Input(2);
  Pairing pairing;
  if (q.space != op.Output().space || k.space != v.space || !FindPairing(op, &pairing)) {
    return reporter.Fail(FOVEA_E_SHAPE, "spaces of queries, keys, values and output do not fit", q.space, k.space);
  }
  const uint32_t heads = op.U32(Attribute::kHeads, 1), kv_heads = op.U32(Attribute::kKvHeads, heads);
  if (heads == 0 || kv_heads == 0 || heads % kv_heads != 0 || q.width % heads != 0) {
    return reporter.Fail(FOVEA_E_SHAPE, "heads do not divide each other or the width", heads, kv_heads);
  }
  const uint64_t d_k = q.width / heads;
  if (k.width != kv_heads * d_k)
    return reporter.Fail(FOVEA_E_SHAPE, "keys have the wrong width", kv_heads * d_k, k.width);
  if (v.width % kv_heads != 0 || op.Output().width != uint64_t{heads} * (v.width / kv_heads)) {
    return reporter.Fail(FOVEA_E_SHAPE, "values and output have widths that do not fit", op.Output().width, v.width);
  }
  const uint32_t pattern = op.U32(Attribute::kPattern, 0);
  if (pattern > static_cast<uint32_t>(PatternKind::kWindow)) {
    return reporter.Fail(FOVEA_E_OP, "unknown attention pattern", static_cast<uint32_t>(PatternKind::kWindow), pattern);
  }
  if (op.HasTensor(0)) {
    if (op.Tensor(0).width % 2 == 0) {
      return reporter.Fail(FOVEA_E_SHAPE, "distance bias must have an odd width", 1, op.Tensor(0).width);
    }
    FOVEA_TRY(CheckFloats(op, 0, heads, op.Tensor(0).width, reporter));
  }
  return kOk;
}

uint64_t Scratch(const OpView& op, uint32_t tile_rows) { return AttentionScratchBytes(AttentionSpecOf(op), tile_rows); }

Status Run(const OpRun& run) {
  const AttentionSpec spec = AttentionSpecOf(run.view);
  AttentionCall call{};
  call.spec = &spec;
  call.query_segments = run.spaces[run.view.Input(0).space].segments;
  call.key_segments = run.spaces[run.view.Input(1).space].segments;
  call.row_begin = run.row_begin;
  call.row_end = run.row_end;
  call.q = run.Input(0);
  call.k = run.Input(1);
  call.v = run.Input(2);
  call.out = run.output;
  call.weights = run.weights;
  call.weights_stride = run.weights_stride;
  call.scratch = run.scratch;
  RunAttention(run.kernels->attention, call);
  return kOk;
}

double Flops(const OpView&) { return 0; }  // per key, see AttentionSpecOf

}  // namespace

bool FindPairing(const OpView& op, Pairing* pairing) {
  const uint32_t query = op.Input(0).space, key = op.Input(1).space;
  const uint32_t query_parent = op.blob->spaces[query].parent, key_parent = op.blob->spaces[key].parent;
  if (query == key || (query_parent == key_parent && query_parent != kBlobNone)) {
    *pairing = Pairing::kPaired;
    return true;
  }
  *pairing = Pairing::kParent;
  return key_parent == query;
}

AttentionSpec AttentionSpecOf(const OpView& op) {
  AttentionSpec spec{};
  spec.heads = op.U32(Attribute::kHeads, 1);
  spec.kv_heads = op.U32(Attribute::kKvHeads, spec.heads);
  spec.d_k = op.Input(0).width / spec.heads;
  spec.d_v = op.Input(2).width / spec.kv_heads;
  spec.scale = op.F32(Attribute::kScale, 1.0f / sqrtf(static_cast<float>(spec.d_k)));
  FindPairing(op, &spec.pairing);
  spec.pattern.kind = PatternKind(op.U32(Attribute::kPattern, 0));
  spec.pattern.left = op.U32(Attribute::kLeft, kUnbounded);
  spec.pattern.right = op.U32(Attribute::kRight, kUnbounded);
  spec.distance_bias = op.Floats(0);
  spec.distance_reach = op.HasTensor(0) ? op.Tensor(0).width / 2 : 0;
  return spec;
}

extern const OpDef kAttentionOp = {"attention",
                                   3,
                                   3,
                                   0,
                                   1,
                                   OpAttributes(Attribute::kHeads, Attribute::kKvHeads, Attribute::kScale,
                                                Attribute::kPattern, Attribute::kLeft, Attribute::kRight),
                                   (1u << 1) | (1u << 2),
                                   Check,
                                   Scratch,
                                   Run,
                                   Flops};

}  // namespace fovea
