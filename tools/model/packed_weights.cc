// Packed sections of a blob, for the host and other targets.
#include "tools/model/packed_weights.h"

#include <algorithm>

#include "tools/model/library_error.h"

namespace fovea::tools {
namespace {

// The library's name of a target: null for the host.
const char* NameOf(const std::string& target) { return target == kHostTarget ? nullptr : target.c_str(); }

BlobPacked Section(const Model& model, const std::string& target) {
  BlobPacked packed;
  uint64_t size = 0;
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

std::vector<BlobPacked> PackWeights(const void* blob, uint64_t size, const std::string& name,
                                    const std::vector<std::string>& targets) {
  // Packing for other targets reads the weights in place. The checksum is verified once.
  const Model in_place(blob, size, name, {FOVEA_BACKEND_HIGHWAY, false});
  std::vector<BlobPacked> sections;
  for (const std::string& target : targets) {
    BlobPacked packed = target == kHostTarget ? Section(Model(blob, size, name, {FOVEA_BACKEND_DEFAULT, true}), target)
                                              : Section(in_place, target);
    const auto same = [&](const BlobPacked& other) { return other.layout == packed.layout; };
    if (std::none_of(sections.begin(), sections.end(), same)) sections.push_back(std::move(packed));
  }
  return sections;
}

std::vector<std::string> TargetsWithLayout(const Model& model, uint64_t layout) {
  std::vector<std::string> targets;
  for (uint32_t i = 0; fovea_pack_get_target(i) != nullptr; ++i) {
    uint64_t size = 0, found = 0;
    Check(fovea_model_packed_size(model.get(), fovea_pack_get_target(i), &size, &found), "size of packed weights");
    if (found == layout) targets.push_back(fovea_pack_get_target(i));
  }
  return targets;
}

}  // namespace fovea::tools
