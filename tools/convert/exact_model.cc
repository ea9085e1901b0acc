#include "tools/convert/exact_model.h"

#include <string.h>

#include <utility>

#include "tools/convert/encoder.h"

namespace fovea::tools {
namespace {

// Fresh pages to which only zeros are written take no memory.
class Outline : public BlobMemory {
 public:
  void Write(uint64_t at, const void* data, uint64_t bytes) override {
    BlobMemory::Write(at + bytes, data, 0);
    if (memcmp(memory.get() + at, data, bytes) != 0) BlobMemory::Write(at, data, bytes);
  }
};

LoadedBlob OutlineOf(const Resolved& model, Workers& workers) {
  const std::vector<DType> types = TypesFor(model, DType::kF32);
  const auto source = [&](size_t i, BlobTensor& tensor) {
    if (types[i] == DType::kI32) {
      Encode(model, i, types[i], tensor, workers);
    } else {
      tensor.type = types[i];
      tensor.data.assign(RowBytes(types[i], tensor.width) * tensor.rows, 0);
    }
  };
  Outline blob;
  WriteBlob(model.content, source, blob);
  return {std::move(blob.memory), blob.size, "the model's outline", {FOVEA_BACKEND_HIGHWAY, true}};
}

TensorSource ExactTensors(const Resolved& model, Workers& workers) {
  return [&model, &workers, types = TypesFor(model, DType::kF32)](size_t i, BlobTensor& tensor) {
    Encode(model, i, types[i], tensor, workers);
  };
}

}  // namespace

// Uses the backend that multiplies weights in place, without a packed copy.
ExactModel::ExactModel(const Resolved& model, Workers& workers, uint64_t most_bytes)
    : staged_(model.content, ExactTensors(model, workers), FOVEA_BACKEND_HIGHWAY, workers, most_bytes),
      outline_(OutlineOf(model, workers)) {}

}  // namespace fovea::tools
