// Rows of f32 as f16, bf16 or int8: keys and values of attention in less memory.
#include <string.h>

#include "runtime/ops/op.h"

namespace fovea {
namespace {

Status Check(const OpView& op, Reporter& reporter) {
  FOVEA_TRY(CheckElementwise(op, reporter));
  const DType type = op.Choice(Attribute::kType, DType::kF32);
  const uint32_t heads = op.U32(Attribute::kHeads, 1), width = op.Output().width;
  if (type != DType::kF16 && type != DType::kBf16 && type != DType::kI8) {
    return reporter.Fail(FOVEA_E_OP, "a cast makes f16, bf16 or int8", 0, static_cast<uint32_t>(type));
  }
  if (DType(op.Output().type) != type) {
    return reporter.Fail(FOVEA_E_SHAPE, "the operation makes values of another type", static_cast<uint32_t>(type),
                         op.Output().type);
  }
  if (heads == 0 || width % heads != 0) {
    return reporter.Fail(FOVEA_E_SHAPE, "heads do not divide the width", width, heads);
  }
  return kOk;
}

Status Run(const OpRun& run) {
  const CastKernels& cast = run.kernels->cast;
  auto* out = reinterpret_cast<uint8_t*>(run.output);
  switch (DType(run.view.Output().type)) {
    case DType::kF16:
      cast.f16(run.Input(0), run.count(), reinterpret_cast<uint16_t*>(out));
      break;
    case DType::kBf16:
      cast.bf16(run.Input(0), run.count(), reinterpret_cast<uint16_t*>(out));
      break;
    default: {
      const size_t width = run.view.Output().width, row_bytes = run.view.OutputRowBytes();
      const size_t heads = run.view.U32(Attribute::kHeads, 1), scales = heads * sizeof(float);
      for (size_t row = 0; row < run.rows(); ++row, out += row_bytes) {
        cast.i8(run.Input(0) + row * width, heads, width / heads, reinterpret_cast<int8_t*>(out + scales),
                reinterpret_cast<float*>(out));
        memset(out + scales + width, 0, row_bytes - scales - width);
      }
    }
  }
  return kOk;
}

constexpr OpDef Define() {
  OpDef def = {1, 1,     0,       0,   OpAttributes(Attribute::kType, Attribute::kHeads),
               0, Check, nullptr, Run, OneFlopPerElement};
  def.casts = true;
  return def;
}

}  // namespace

extern const OpDef kCastOp = Define();

}  // namespace fovea
