// Implements the part of fovea/model.h that makes packed sections, for this machine or for a named target.
#include "runtime/api/handles.h"

namespace fovea {
namespace {

// Selects the weights: those packed in the model for its own backend, or packed now for another machine.
struct Packer {
  const GemmTarget* target;  // null: the model's backend

  uint64_t Bytes(const Linear& linear) const {
    if (target == nullptr) return linear.packed == nullptr ? 0 : linear.packed_bytes();
    const GemmShape& shape = linear.weights.shape;
    const GemmBackend& backend = *XnnpackGemm();
    return XnnpackTargetSupports(*target, shape) ? Linear::PackedBytes(backend, shape, linear.count) : 0;
  }

  // `out` is zeroed before the call.
  Status Pack(const Linear& linear, uint8_t* out, Reporter& reporter) const {
    if (target == nullptr) {
      memcpy(out, linear.packed, static_cast<size_t>(linear.packed_bytes()));
      return kOk;
    }
    const uint64_t step = RoundUp(XnnpackGemm()->packed_bytes(linear.weights.shape), kAlignment);
    for (uint32_t i = 0; i < linear.count; ++i) {
      FOVEA_TRY(XnnpackPackFor(*target, linear.WeightsAt(i), out + i * step, reporter));
    }
    return kOk;
  }
};

Status FindPacker(const char* name, Reporter& reporter, Packer* packer) {
  *packer = {nullptr};
  if (name == nullptr) return kOk;
  if (XnnpackGemm() == nullptr)
    return reporter.Fail(FOVEA_E_BUILD, "this library is built without XNNPACK, so it cannot pack for it");
  packer->target = XnnpackTarget(name);
  return packer->target != nullptr ? kOk : reporter.Fail(FOVEA_E_NAME, "the machine to pack for is unknown");
}

uint64_t TableBytes(const Model& model) {
  return RoundUp(uint64_t{model.linear_count} * sizeof(PackedRecord), kBlobAlignment);
}

// 0 if nothing can be packed.
uint64_t SectionBytes(const Model& model, const Packer& packer) {
  uint64_t layers = 0;
  for (uint32_t i = 0; i < model.linear_count; ++i) layers += RoundUp(packer.Bytes(model.linears[i]), kBlobAlignment);
  return layers == 0 ? 0 : TableBytes(model) + layers;
}

Status WriteSection(const Model& model, const Packer& packer, uint8_t* out, Reporter& reporter) {
  uint64_t end = TableBytes(model);
  for (uint32_t i = 0; i < model.linear_count; ++i) {
    PackedRecord record{0, packer.Bytes(model.linears[i])};
    if (record.size != 0) {
      record.offset = end;
      FOVEA_TRY(packer.Pack(model.linears[i], out + end, reporter));
      end += RoundUp(record.size, kBlobAlignment);
    }
    memcpy(out + i * sizeof(PackedRecord), &record, sizeof(record));
  }
  return kOk;
}

Status Pack(const fovea_model* model, const char* target, void* out, uint64_t size, Reporter& reporter) {
  if (!IsLive(model)) return reporter.Fail(FOVEA_E_HANDLE, "invalid model handle");
  Packer packer;
  FOVEA_TRY(FindPacker(target, reporter, &packer));
  const uint64_t needed = SectionBytes(model->model, packer);
  if (size < needed)
    return reporter.Fail(FOVEA_E_TOO_SMALL, "the memory for the packed section is too small", needed, size);
  if (needed == 0) return kOk;
  if (out == nullptr) return reporter.Fail(FOVEA_E_NULL, "out is NULL");
  FOVEA_TRY(CheckAligned(out, reporter));
  memset(out, 0, static_cast<size_t>(needed));
  return WriteSection(model->model, packer, static_cast<uint8_t*>(out), reporter);
}

}  // namespace
}  // namespace fovea

using namespace fovea;  // NOLINT: this file is the border

extern "C" {

const char* fovea_pack_get_target(uint32_t index) { return XnnpackTargetName(index); }

fovea_status fovea_model_packed_size(const fovea_model* model, const char* target, uint64_t* bytes, uint64_t* layout) {
  if (!IsLive(model)) return FOVEA_E_HANDLE;
  if (bytes == nullptr || layout == nullptr) return FOVEA_E_NULL;
  Reporter reporter(nullptr);
  Packer packer;
  const Status found = FindPacker(target, reporter, &packer);
  if (!found.ok()) return found.code;
  *bytes = SectionBytes(model->model, packer);
  *layout = packer.target != nullptr ? XnnpackTargetLayout(*packer.target) : model->model.backend->packed_layout();
  return FOVEA_OK;
}

fovea_status fovea_model_pack(const fovea_model* model, const char* target, void* out, uint64_t size,
                              fovea_error* error) {
  Reporter reporter(error);
  return Pack(model, target, out, size, reporter).code;
}

}  // extern "C"
