// Implements the part of fovea/model.h that verifies, sizes and places a model.
#include "fovea/model.h"

#include "runtime/api/handles.h"

namespace fovea {
namespace {

Status ChooseBackend(uint32_t wanted, Reporter& reporter, const GemmBackend** backend) {
  const GemmBackend* xnnpack = wanted == FOVEA_BACKEND_HIGHWAY || !kHasOperations ? nullptr : XnnpackGemm();
  if (wanted > FOVEA_BACKEND_XNNPACK)
    return reporter.Fail(FOVEA_E_OPTION, "unknown backend", FOVEA_BACKEND_XNNPACK, wanted);
  if (wanted == FOVEA_BACKEND_XNNPACK && xnnpack == nullptr) {
    return reporter.Fail(FOVEA_E_BUILD, "this library is built without XNNPACK");
  }
  *backend = xnnpack != nullptr ? xnnpack : &HighwayGemm();
  return kOk;
}

// A blob of packed weights alone needs a machine and a backend that read them.
Status CheckPacked(const Model& model, Reporter& reporter) {
  if (!model.lacks_weights) return kOk;
  uint64_t found = 0;
  for (uint32_t i = 0; i < model.blob.sections.count && found == 0; ++i) found = model.blob.sections[i].layout;
  return reporter.Fail(FOVEA_E_PACKED, "the blob's weights are only packed, for another kind of machine or backend",
                       model.backend->packed_layout(), found);
}

// Shared by size and init, so that both compute the same.
Status Place(const void* bytes, uint64_t size, const fovea_model_options* given, Arena& arena, Reporter& reporter,
             fovea_model** handle) {
  fovea_model_options options;
  FOVEA_TRY(ReadStruct(given, &options, reporter));
  const GemmBackend* backend = nullptr;
  FOVEA_TRY(ChooseBackend(options.backend, reporter, &backend));
  Blob blob;
  // The checksum is computed once, when the model is made.
  FOVEA_TRY(OpenBlob(bytes, size, options.skip_checksum != 0 || arena.counting(), reporter, &blob));
  fovea_model counted;
  *handle = arena.Take<fovea_model>(1);
  fovea_model& placed = *handle == nullptr ? counted : **handle;
  FOVEA_TRY(PlaceModel(blob, *backend, arena, reporter, &placed.model));
  FOVEA_TRY(CheckPacked(placed.model, reporter));
  return PlacePlans(placed.model, arena, reporter, &placed.plans);
}

Status CheckMemory(const void* memory, uint64_t needed, uint64_t size, Reporter& reporter) {
  if (size < needed) return reporter.Fail(FOVEA_E_TOO_SMALL, "memory for the model is too small", needed, size);
  if (memory == nullptr) return reporter.Fail(FOVEA_E_NULL, "memory is NULL");
  return CheckAligned(memory, reporter);
}

Status Size(const void* bytes, uint64_t size, const fovea_model_options* options, uint64_t* needed,
            Reporter& reporter) {
  Arena counting;
  fovea_model* handle;
  FOVEA_TRY(Place(bytes, size, options, counting, reporter, &handle));
  *needed = counting.needed();
  return kOk;
}

Status Verify(const void* bytes, uint64_t size, Reporter& reporter) {
  Blob blob;
  FOVEA_TRY(OpenBlob(bytes, size, false, reporter, &blob));
  Arena counting;
  Model model;
  return PlaceModel(blob, HighwayGemm(), counting, reporter, &model);
}

Status InitIn(const void* bytes, uint64_t size, const fovea_model_options* options, void* memory, uint64_t memory_size,
              uint64_t needed, fovea_model** model, Reporter& reporter) {
  FOVEA_TRY(CheckMemory(memory, needed, memory_size, reporter));
  Arena arena(memory, static_cast<size_t>(memory_size));
  fovea_model* handle;
  FOVEA_TRY(Place(bytes, size, options, arena, reporter, &handle));
  if (!arena.ok()) return reporter.Fail(FOVEA_E_INTERNAL, "sizing and placing disagree", needed, arena.needed());
  FOVEA_TRY(PackModel(handle->model, reporter));
  handle->mark = fovea_model::kMark;
  *model = handle;
  return kOk;
}

// Computes the size first: memory that is too small stays unchanged.
Status Init(const void* bytes, uint64_t size, const fovea_model_options* options, void* memory, uint64_t memory_size,
            fovea_model** model, Reporter& reporter) {
  uint64_t needed = 0;
  FOVEA_TRY(Size(bytes, size, options, &needed, reporter));
  return InitIn(bytes, size, options, memory, memory_size, needed, model, reporter);
}

Status Make(const void* bytes, uint64_t size, const fovea_model_options* options, fovea_memory memory, void* context,
            fovea_model** model, Reporter& reporter) {
  if (memory == nullptr) return reporter.Fail(FOVEA_E_NULL, "memory is NULL");
  uint64_t needed = 0;
  FOVEA_TRY(Size(bytes, size, options, &needed, reporter));
  void* block = memory(context, needed, FOVEA_BLOCK_MODEL);
  if (block == nullptr)
    return reporter.Fail(FOVEA_E_TOO_SMALL, "the memory function returned no memory for the model", needed);
  return InitIn(bytes, size, options, block, needed, needed, model, reporter);
}

}  // namespace
}  // namespace fovea

using namespace fovea;  // NOLINT: this file is the border

extern "C" {

fovea_status fovea_blob_verify(const void* blob, uint64_t size, fovea_error* error) {
  Reporter reporter(error);
  return Verify(blob, size, reporter).code;
}

fovea_status fovea_model_size(const void* blob, uint64_t size, const fovea_model_options* options, uint64_t* needed,
                              fovea_error* error) {
  Reporter reporter(error);
  if (needed == nullptr) return reporter.Fail(FOVEA_E_NULL, "needed is NULL").code;
  *needed = 0;
  return Size(blob, size, options, needed, reporter).code;
}

fovea_status fovea_model_init(const void* blob, uint64_t size, const fovea_model_options* options, void* memory,
                              uint64_t memory_size, fovea_model** model, fovea_error* error) {
  Reporter reporter(error);
  if (model == nullptr) return reporter.Fail(FOVEA_E_NULL, "model is NULL").code;
  *model = nullptr;
  return Init(blob, size, options, memory, memory_size, model, reporter).code;
}

fovea_status fovea_model_make(const void* blob, uint64_t size, const fovea_model_options* options, fovea_memory memory,
                              void* memory_context, fovea_model** model, fovea_error* error) {
  Reporter reporter(error);
  if (model == nullptr) return reporter.Fail(FOVEA_E_NULL, "model is NULL").code;
  *model = nullptr;
  return Make(blob, size, options, memory, memory_context, model, reporter).code;
}

}  // extern "C"
