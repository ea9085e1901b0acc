// Packed sections of a blob, for the host and other targets.
#include "tools/model/packed_weights.h"

#include <algorithm>

#include "tools/model/library_error.h"

namespace fovea::tools {
namespace {

// The library's name of a target: null for the host.
const char* NameOf(const std::string& target) { return target == kHostTarget ? nullptr : target.c_str(); }

// The section; tensors that it does not replace are cleared in `replaced`.
BlobPacked Section(const Model& model, const std::string& target, std::vector<bool>* replaced) {
  BlobPacked packed;
  uint64_t size = 0;
  for (uint32_t i = 0; i < replaced->size(); ++i) {
    uint32_t replaces = 0;
    Check(fovea_pack_replaces(model.get(), NameOf(target), i, &replaces), "tensors that packed weights replace");
    if (replaces == 0) (*replaced)[i] = false;
  }
  Check(fovea_model_packed_size(model.get(), NameOf(target), &size, &packed.layout), "size of packed weights");
  if (size == 0) return packed;
  const Memory memory = Allocate(size);
  fovea_error error = {};
  Check(fovea_model_pack(model.get(), NameOf(target), memory.get(), size, &error), error,
        model.name() + ": packing weights");
  packed.bytes.assign(memory.get(), memory.get() + size);
  return packed;
}

}  // namespace

std::vector<std::string> PackTargets() {
  std::vector<std::string> targets = {kHostTarget};
  for (uint32_t i = 0; fovea_pack_get_target(i) != nullptr; ++i) targets.push_back(fovea_pack_get_target(i));
  return targets;
}

PackedWeights PackWeights(const void* blob, uint64_t size, const std::string& name,
                          const std::vector<std::string>& targets) {
  // Packing for other targets reads the weights in place. The checksum is verified once.
  const Model in_place(blob, size, name, {FOVEA_BACKEND_HIGHWAY, false});
  PackedWeights weights;
  weights.replaced.assign(in_place.Info().tensor_count, true);
  for (const std::string& target : targets) {
    BlobPacked packed = target == kHostTarget
                            ? Section(Model(blob, size, name, {FOVEA_BACKEND_DEFAULT, true}), target, &weights.replaced)
                            : Section(in_place, target, &weights.replaced);
    const auto same = [&](const BlobPacked& other) { return other.layout == packed.layout; };
    if (std::none_of(weights.sections.begin(), weights.sections.end(), same)) {
      weights.sections.push_back(std::move(packed));
    }
  }
  return weights;
}

std::vector<std::string> TargetsWithLayout(uint64_t layout) {
  std::vector<std::string> targets;
  for (uint32_t i = 0; fovea_pack_get_target(i) != nullptr; ++i) {
    if (fovea_pack_get_layout(i) == layout) targets.push_back(fovea_pack_get_target(i));
  }
  return targets;
}

}  // namespace fovea::tools
