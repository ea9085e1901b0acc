// Converts rows of f32 to f16, bf16 or int8, so that keys and values of attention take less memory.
#include "runtime/ops/cast.h"

#include <string.h>

#include "runtime/blob/attributes.h"
#include "runtime/blob/operands.h"
#include "runtime/kernels/kernels.h"

namespace fovea {
namespace {

struct CastOp : Op {
  uint32_t parts = 1;  // parts of a row, each with a scale
};

Status Lower(const OpView& view, Reporter& reporter, CastOp* op) {
  FOVEA_TRY(LowerElementwise(view, reporter, op));
  const DType type = view.Choice(Attribute::kType, DType::kF32);
  if (type != DType::kF16 && type != DType::kBf16 && type != DType::kI8) {
    return reporter.Fail(FOVEA_E_OP, "cast must convert to f16, bf16 or int8", 0, static_cast<uint32_t>(type));
  }
  op->output.type = type;
  return ReadHeads(view, reporter, &op->parts);
}

Status Run(const CastOp& op, const OpRun& run) {
  CastRows(run.kernels->cast, run.Input(0), run.rows(), {op.output.type, op.output.width, op.parts}, run.output);
  return kOk;
}

constexpr Attribute kAttributes[] = {Attribute::kType, Attribute::kHeads};

}  // namespace

void CastRows(const CastKernels& cast, const float* rows, size_t count, const StoredRows& as, void* to) {
  const size_t width = as.width;
  auto* out = static_cast<uint8_t*>(to);
  switch (as.type) {
    case DType::kF32:
      memcpy(out, rows, count * width * sizeof(float));
      break;
    case DType::kF16:
      cast.f16(rows, count * width, reinterpret_cast<uint16_t*>(out));
      break;
    case DType::kBf16:
      cast.bf16(rows, count * width, reinterpret_cast<uint16_t*>(out));
      break;
    default: {
      const size_t row_bytes = as.row_bytes(), scales = as.parts * sizeof(float);
      for (size_t row = 0; row < count; ++row, out += row_bytes) {
        cast.i8(rows + row * width, as.parts, width / as.parts, reinterpret_cast<int8_t*>(out + scales),
                reinterpret_cast<float*>(out));
        memset(out + scales + width, 0, row_bytes - scales - width);
      }
    }
  }
}

extern const OpDef kCastOp = DefineOp<OpCode::kCast, Lower, Run>([](OpDef& def) { def.attributes = kAttributes; });

}  // namespace fovea
