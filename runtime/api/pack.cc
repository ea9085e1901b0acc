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
    if (linear.weights.rows == nullptr) {
      return reporter.Fail(FOVEA_E_PACKED, "the blob's weights are only packed: pack the blob that has them all");
    }
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

// Whether all that the model reads of a tensor is packed: it is nothing but the weight of layers that are packed.
bool Replaces(const Model& model, const Packer& packer, uint32_t tensor) {
  bool packed = false;
  const Blob& blob = model.blob;
  for (uint32_t i = 0; i < blob.operations.count; ++i) {
    const OperationRecord& record = blob.operations[i];
    const uint32_t* tensors = blob.operands.data + record.first_operand + record.input_count;
    const Op& op = *model.ops[i];
    for (uint32_t t = 0; t < record.tensor_count; ++t) {
      if (tensors[t] != tensor) continue;
      if (t != 0 || op.layer_count == 0) return false;
      for (uint32_t layer = 0; layer < op.layer_count; ++layer) {
        if (packer.Bytes(*op.layers[layer].linear) == 0) return false;
      }
      packed = true;
    }
  }
  return packed;
}

// The tensor that is the weight of a layer.
uint32_t WeightOf(const Model& model, uint32_t layer) {
  const Blob& blob = model.blob;
  for (uint32_t i = 0; i < blob.operations.count; ++i) {
    const OperationRecord& record = blob.operations[i];
    for (uint32_t own = 0; own < model.ops[i]->layer_count; ++own) {
      if (model.ops[i]->layers[own].number == layer) return blob.operands[record.first_operand + record.input_count];
    }
  }
  return kBlobNone;  // each layer is of some operation
}

}  // namespace
}  // namespace fovea

using namespace fovea;  // NOLINT: this file is the border

extern "C" {

const char* fovea_pack_get_target(uint32_t index) { return XnnpackTargetName(index); }

uint64_t fovea_pack_get_layout(uint32_t index) {
  const char* name = XnnpackTargetName(index);
  return name == nullptr ? 0 : XnnpackTargetLayout(*XnnpackTarget(name));
}

fovea_status fovea_pack_replaces(const fovea_model* model, const char* target, uint32_t tensor, uint32_t* replaces) {
  if (!IsLive(model)) return FOVEA_E_HANDLE;
  if (replaces == nullptr) return FOVEA_E_NULL;
  if (tensor >= model->model.blob.tensors.count) return FOVEA_E_INDEX;
  Reporter reporter(nullptr);
  Packer packer;
  const Status found = FindPacker(target, reporter, &packer);
  if (!found.ok()) return found.code;
  *replaces = Replaces(model->model, packer, tensor) ? 1 : 0;
  return FOVEA_OK;
}

fovea_status fovea_pack_get_tensor(const fovea_model* model, uint32_t layer, uint32_t* tensor) {
  if (!IsLive(model)) return FOVEA_E_HANDLE;
  if (tensor == nullptr) return FOVEA_E_NULL;
  if (layer >= model->model.linear_count) return FOVEA_E_INDEX;
  *tensor = WeightOf(model->model, layer);
  return FOVEA_OK;
}

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
