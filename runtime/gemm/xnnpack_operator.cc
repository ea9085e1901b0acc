// Makes XNNPACK's fully-connected operators in memory that the caller supplies.
#include "runtime/gemm/xnnpack_operator.h"

#include <xnnpack/config.h>

#include <limits>

#include "runtime/gemm/xnnpack_cpuinfo/cpuinfo.h"

namespace fovea {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Refuses: the one object of a create call comes from its provider (cmake/xnnpack/operator_memory.h).
void* RefuseAllocate(void*, size_t) { return nullptr; }
void* RefuseReallocate(void*, void*, size_t) { return nullptr; }
void* RefuseAligned(void*, size_t, size_t) { return nullptr; }
void ForgetPointer(void*, void*) {}

constexpr xnn_allocator kAllocator = {nullptr,       RefuseAllocate, RefuseReallocate,
                                      ForgetPointer, RefuseAligned,  ForgetPointer};

struct Destination {
  void* packed;
  size_t size;
  size_t used;
};

size_t NeverFound(void*, const xnn_weights_cache_look_up_key*) { return SIZE_MAX; }
void* Reserve(void* context, size_t size) {
  auto* destination = static_cast<Destination*>(context);
  destination->used = size;
  return size <= destination->size ? destination->packed : nullptr;
}
size_t Inserted(void*, const xnn_weights_cache_look_up_key*, void*, size_t) { return 0; }
bool Finalized(void*) { return true; }
void* PackedAddress(void* context, size_t) { return static_cast<Destination*>(context)->packed; }
xnn_status DeleteNothing(void*) { return xnn_status_success; }

// `columns` of the weights are used; consecutive rows of the operator's y are `n` apart.
xnn_status Create(const GemmWeights& weights, size_t columns, fovea_xnnpack_provider* with_object, xnn_operator_t* op) {
  xnn_weights_cache_provider* provider = &with_object->functions;
  const size_t n = weights.shape.n, k = weights.shape.k;
  switch (weights.shape.type) {
    case DType::kF32:
      return xnn_create_fully_connected_nc_f32(k, columns, k, n, static_cast<const float*>(weights.rows), weights.bias,
                                               -kInfinity, kInfinity, 0, nullptr, provider, op);
    case DType::kI8:
      return xnn_create_fully_connected_nc_qd8_f32_qc8w(k, columns, k, n, static_cast<const float*>(weights.scales),
                                                        static_cast<const int8_t*>(weights.rows), weights.bias,
                                                        -kInfinity, kInfinity, 0, nullptr, provider, op);
    case DType::kI4:
      return xnn_create_fully_connected_nc_qd8_f32_qb4w(k, columns, k, n, kI4Block, 8,
                                                        static_cast<const uint16_t*>(weights.scales), weights.rows,
                                                        weights.bias, -kInfinity, kInfinity, 0, nullptr, provider, op);
    default:
      return xnn_status_unsupported_parameter;
  }
}

}  // namespace

bool InitializeXnnpack() { return xnn_initialize(&kAllocator) == xnn_status_success; }

xnn_status PackWithXnnpack(const GemmWeights& weights, void* packed, size_t size, XnnpackObject* object, size_t* used) {
  Destination destination = {packed, size, 0};
  fovea_xnnpack_provider provider = {
      {&destination, NeverFound, Reserve, Inserted, Finalized, PackedAddress, DeleteNothing}, object, sizeof(*object)};
  xnn_operator_t op = nullptr;
  const xnn_status status = Create(weights, weights.shape.n, &provider, &op);
  *used = destination.used;
  return status;
}

xnn_status MakeXnnpackOperator(const GemmShape& shape, fovea_xnnpack_provider* provider, xnn_operator_t* op) {
  // XNNPACK does not read weights that the provider has. It reads only int4 scales; one column of them suffices,
  // because the number of columns does not influence the choice of an int4 kernel (for f32 it does).
  uint16_t ones[kGemmIntegerDepth / kI4Block];
  for (uint16_t& one : ones) one = 0x3f80;
  return Create({shape, nullptr, ones, nullptr}, shape.type == DType::kI4 ? 1 : shape.n, provider, op);
}

GemmPacking XnnpackPacking(const GemmShape& shape) {
  const auto has_blocks = [](const xnn_gemm_config* config, size_t columns, size_t log2_depth, size_t log2_turns) {
    return config != nullptr && config->nr == columns && config->log2_kr == log2_depth && config->log2_sr == log2_turns;
  };
#if defined(__x86_64__) || defined(__i386__)
  switch (shape.type) {
    case DType::kF32:  // fewer columns use other kernels
      return shape.n >= 16 && has_blocks(xnn_init_f32_gemm_config(), 16, 0, 0) ? GemmPacking::kAvx2
                                                                               : GemmPacking::kOther;
    case DType::kI8:
      if (cpuinfo_has_x86_avx512vnni()) {
        if (has_blocks(xnn_init_qd8_f32_qc8w_gemm_config(), 64, 2, 0)) return GemmPacking::kAmx;
        if (has_blocks(xnn_init_qd8_f32_qc8w_gemm_config(), 16, 3, 0)) return GemmPacking::kVnni;
      }
      // AVX-VNNI has this layout as well and multiplies four bytes at a time.
      return !cpuinfo_has_x86_avxvnni() && has_blocks(xnn_init_qd8_f32_qc8w_gemm_config(), 8, 3, 0)
                 ? GemmPacking::kAvx2
                 : GemmPacking::kOther;
    case DType::kI4:
      return has_blocks(xnn_init_qd8_f32_qb4w_gemm_config(), 8, 3, 0) ? GemmPacking::kAvx2 : GemmPacking::kOther;
    default:
      return GemmPacking::kOther;
  }
#elif defined(__aarch64__)
  if (shape.type == DType::kF16) return cpuinfo_has_arm_i8mm() ? GemmPacking::kNeonI8mm : GemmPacking::kNeonDot;
  if (shape.type == DType::kF32) {  // fewer columns use other kernels
    return shape.n >= 8 && has_blocks(xnn_init_f32_gemm_config(), 8, 0, 0) ? GemmPacking::kNeon : GemmPacking::kOther;
  }
  const bool eight = shape.type == DType::kI8;
  const xnn_gemm_config* config = eight ? xnn_init_qd8_f32_qc8w_gemm_config() : xnn_init_qd8_f32_qb4w_gemm_config();
  // XNNPACK chooses these by the processor's instructions.
  if (has_blocks(config, 16, 3, 0)) return GemmPacking::kNeonI8mm;
  if (has_blocks(config, 16, 2, 0)) return GemmPacking::kNeonDot;
  if (eight ? has_blocks(config, 8, 1, 2) : has_blocks(config, 16, 0, 0)) return GemmPacking::kNeon;
  return GemmPacking::kOther;
#else
  (void)shape, (void)has_blocks;
  return GemmPacking::kOther;
#endif
}

xnn_status RunXnnpackOperator(xnn_operator_t op, DType type, size_t rows, const GemmInput& input, float* y,
                              pthreadpool_t pool) {
  const auto* params = reinterpret_cast<const xnn_quantization_params*>(input.params);
  static_assert(sizeof(QuantParams) == sizeof(xnn_quantization_params), "");
  static_assert(offsetof(QuantParams, scale) == offsetof(xnn_quantization_params, scale), "");
  xnn_status status = xnn_status_unsupported_parameter;
  switch (type) {
    case DType::kF32:
      status = xnn_reshape_fully_connected_nc_f32(op, rows, pool);
      if (status == xnn_status_success) status = xnn_setup_fully_connected_nc_f32(op, input.x, y);
      break;
    case DType::kI8:
      status = xnn_reshape_fully_connected_nc_qd8_f32_qc8w(op, rows, pool);
      if (status == xnn_status_success) {
        status = xnn_setup_fully_connected_nc_qd8_f32_qc8w(op, input.quantized, y, params);
      }
      break;
    case DType::kI4:
      status = xnn_reshape_fully_connected_nc_qd8_f32_qb4w(op, rows, pool);
      if (status == xnn_status_success) {
        status = xnn_setup_fully_connected_nc_qd8_f32_qb4w(op, input.quantized, y, params);
      }
      break;
    default:
      break;
  }
  return status == xnn_status_success ? xnn_run_operator(op, pool) : status;
}

}  // namespace fovea
