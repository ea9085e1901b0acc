// Packed sections of a blob, for the host and other targets.
#include "tools/model/packed_weights.h"

#include <string.h>

#include <algorithm>

#include "runtime/base/checked.h"
#include "runtime/blob/format.h"
#include "tools/model/library_error.h"

namespace fovea::tools {
namespace {

// The library's name of a target: null for the host.
const char* NameOf(const std::string& target) { return target == kHostTarget ? nullptr : target.c_str(); }

// Leaves the layers out whose weights the section does not replace; sets their tensors in `kept`.
void KeepRows(const Model& model, const std::vector<bool>& replaced, BlobPacked* packed, std::vector<bool>* kept) {
  const uint32_t count = model.Info().linear_count;
  std::vector<PackedRecord> records(count);
  memcpy(records.data(), packed->bytes.data(), count * sizeof(PackedRecord));
  uint64_t end = RoundUp(uint64_t{count} * sizeof(PackedRecord), kBlobAlignment);
  bool any = false;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t tensor = 0;
    Check(fovea_pack_get_tensor(model.get(), i, &tensor), "the tensor of a packed layer");
    if (records[i].size == 0) continue;
    if (!replaced.at(tensor)) {
      records[i] = {};
      (*kept)[tensor] = true;
      continue;
    }
    any = true;
    const auto from = packed->bytes.begin() + static_cast<ptrdiff_t>(records[i].offset);
    std::copy(from, from + static_cast<ptrdiff_t>(records[i].size),
              packed->bytes.begin() + static_cast<ptrdiff_t>(end));
    records[i].offset = end;
    end += RoundUp(records[i].size, kBlobAlignment);
  }
  memcpy(packed->bytes.data(), records.data(), count * sizeof(PackedRecord));
  packed->bytes.resize(any ? end : 0);
}

// The section; tensors that it does not replace are cleared in `weights->replaced`.
BlobPacked Section(const Model& model, const std::string& target, SharedWeights shared, PackedWeights* weights,
                   std::vector<bool>* kept) {
  BlobPacked packed;
  uint64_t size = 0;
  std::vector<bool> replaced(weights->replaced.size());
  for (uint32_t i = 0; i < replaced.size(); ++i) {
    uint32_t replaces = 0;
    Check(fovea_pack_replaces(model.get(), NameOf(target), i, &replaces), "tensors that packed weights replace");
    replaced[i] = replaces != 0;
    if (replaces == 0) weights->replaced[i] = false;
  }
  Check(fovea_model_packed_size(model.get(), NameOf(target), &size, &packed.layout), "size of packed weights");
  if (size == 0) return packed;
  const Memory memory = Allocate(size);
  fovea_error error = {};
  Check(fovea_model_pack(model.get(), NameOf(target), memory.get(), size, &error), error,
        model.name() + ": packing weights");
  packed.bytes.assign(memory.get(), memory.get() + size);
  if (shared == SharedWeights::kOnce) KeepRows(model, replaced, &packed, kept);
  return packed;
}

}  // namespace

std::vector<std::string> PackTargets() {
  std::vector<std::string> targets = {kHostTarget};
  for (uint32_t i = 0; fovea_pack_get_target(i) != nullptr; ++i) targets.push_back(fovea_pack_get_target(i));
  return targets;
}

PackedWeights PackWeights(const void* blob, uint64_t size, const std::string& name,
                          const std::vector<std::string>& targets, SharedWeights shared) {
  // Packing for other targets reads the weights in place. The checksum is verified once.
  const Model in_place(blob, size, name, {FOVEA_BACKEND_HIGHWAY, false});
  PackedWeights weights;
  weights.replaced.assign(in_place.Info().tensor_count, true);
  std::vector<bool> kept(weights.replaced.size());
  for (const std::string& target : targets) {
    const auto section = [&](const Model& model) { return Section(model, target, shared, &weights, &kept); };
    BlobPacked packed =
        target == kHostTarget ? section(Model(blob, size, name, {FOVEA_BACKEND_DEFAULT, true})) : section(in_place);
    const auto same = [&](const BlobPacked& other) { return other.layout == packed.layout; };
    if (std::none_of(weights.sections.begin(), weights.sections.end(), same)) {
      weights.sections.push_back(std::move(packed));
    }
  }
  for (uint32_t i = 0; i < kept.size(); ++i) {
    const fovea_tensor_info tensor = in_place.Tensor(i);
    if (kept[i]) weights.kept.push_back({tensor.name, tensor.bytes});
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
