// The named constants of a model.
#include "tools/convert/weights.h"

#include <algorithm>

#include "tools/base/affixes.h"
#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

// Layer norms of early checkpoints have weight gamma and bias beta.
std::string ModernName(const std::string& name) {
  const auto replace_end = [&](const std::string& old_end, const std::string& new_end) {
    return name.substr(0, name.size() - old_end.size()) + new_end;
  };
  const auto ends_with = [&](const std::string& end) {
    return name.size() >= end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0;
  };
  if (ends_with("LayerNorm.gamma")) return replace_end("gamma", "weight");
  if (ends_with("LayerNorm.beta")) return replace_end("beta", "bias");
  return name;
}

bool Matches(const std::string& name, const std::string& pattern) {
  size_t at = 0, in = 0, star = std::string::npos, from = 0;
  while (at < name.size()) {
    if (in < pattern.size() && pattern[in] == '*') {
      star = in++;
      from = at;
    } else if (in < pattern.size() && pattern[in] == name[at]) {
      ++in, ++at;
    } else if (star != std::string::npos) {
      in = star + 1;
      at = ++from;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', in) == std::string::npos;
}

// As a matrix: the first dimension is the rows; dimensions of 1 are dropped. The reader has checked the product.
Constant MatrixOf(const std::string& name, const std::vector<uint64_t>& stored,
                  std::function<std::vector<float>()> load) {
  if (std::find(stored.begin(), stored.end(), 0u) != stored.end()) {
    Fail("tensor {}: {} is empty", name, ShapeText(stored));
  }
  std::vector<uint64_t> shape = stored;
  while (shape.size() > 2 && std::find(shape.begin(), shape.end(), 1u) != shape.end()) {
    shape.erase(std::find(shape.begin(), shape.end(), 1u));
  }
  while (shape.size() < 2) shape.insert(shape.begin(), 1);
  uint64_t width = 1;  // a convolution filter is one row
  for (size_t i = 1; i < shape.size(); ++i) width *= shape[i];
  if (shape[0] > UINT32_MAX || width > UINT32_MAX) Fail("tensor {}: {} is too large", name, ShapeText(stored));
  return {static_cast<uint32_t>(shape[0]), static_cast<uint32_t>(width), std::move(load)};
}

}  // namespace

void Weights::AddFile(const std::string& path, const std::string& prefix) {
  const auto file = std::make_shared<const SafetensorsReader>(path);
  for (const auto& [stored_name, tensor] : file->tensors()) {
    const std::string name = prefix + stored_name;
    if (stored_.count(ModernName(name)) != 0) Fail("{}: tensor {} occurs twice", path, name);
    const auto load = [&stored = tensor, file] {
      std::vector<float> values = ToFloats(stored);
      file->Forget(stored);
      return values;
    };
    AddTensor(name, tensor.shape, load,
              {std::shared_ptr<const StoredTensor>(file, &tensor), [&stored = tensor, file] { file->Forget(stored); }});
  }
}

void Weights::AddTensor(const std::string& stored_name, const std::vector<uint64_t>& shape,
                        std::function<std::vector<float>()> load, RawTensor raw) {
  const std::string name = ModernName(stored_name);
  uint64_t count = 1;
  for (const uint64_t dimension : shape) count *= dimension;
  AddMade(name, [name, shape, load = std::move(load)] { return MatrixOf(name, shape, load); });
  most_computed_ += kComputedPerStored * count;
  if (raw.tensor != nullptr) raw_[name] = std::move(raw);
}

void Weights::AddMade(const std::string& name, std::function<Constant()> make) {
  if (!stored_.emplace(name, std::move(make)).second) Fail("tensor {} occurs twice", name);
}

std::function<Constant()> Weights::Take(const std::string& name) {
  const auto found = stored_.find(name);
  if (found == stored_.end()) Fail("no tensor {}", name);
  std::function<Constant()> make = std::move(found->second);
  stored_.erase(found);
  raw_.erase(name);
  return make;
}

void Weights::AddStored(const std::string& name, const Constant& constant) {
  AddMade(name, [constant] { return constant; });
  most_computed_ += kComputedPerStored * constant.rows * constant.width;
}

RawTensor Weights::Raw(const std::string& name) const {
  const auto found = raw_.find(name);
  return found == raw_.end() ? RawTensor() : found->second;
}

void Weights::Drop(const std::string& name) {
  stored_.erase(name);
  raw_.erase(name);
}

void Weights::Ignore(const std::string& pattern) { ignored_.push_back(pattern); }

void Weights::DropPrefix(const std::string& prefix) {
  for (auto entry = stored_.lower_bound(prefix); entry != stored_.end() && StartsWith(entry->first, prefix);) {
    const std::string name = entry->first.substr(prefix.size());
    const auto named = entry++;
    if (name.empty() || stored_.count(name) != 0) continue;
    raw_.erase(named->first);
    auto node = stored_.extract(named);
    node.key() = name;
    stored_.insert(std::move(node));
  }
}

void Weights::Add(const std::string& name, Constant constant, uint64_t work) {
  if (Has(name)) Fail("tensor {} already exists", name);
  work += uint64_t{constant.rows} * constant.width;
  computed_elements_ += work;
  if (computed_elements_ > most_computed_) {
    Fail("tensor {}: [{}, {}] and the tensors that it is computed from are too large for the stored weights", name,
         constant.rows, constant.width);
  }
  work_[name] = work;
  computed_.emplace(name, std::move(constant));
}

uint64_t Weights::Work(const std::string& name) const {
  const auto found = work_.find(name);
  return found == work_.end() ? 0 : found->second;
}

bool Weights::Has(const std::string& name) const { return computed_.count(name) + stored_.count(name) != 0; }

Constant Weights::Get(const std::string& name) const {
  const auto computed = computed_.find(name);
  if (computed != computed_.end()) return computed->second;
  const auto found = stored_.find(name);
  if (found == stored_.end()) Fail("no tensor {}", name);
  used_.insert(name);
  return found->second();
}

std::vector<std::string> Weights::Stored() const {
  std::vector<std::string> names;
  for (const auto& entry : stored_) names.push_back(entry.first);
  return names;
}

std::vector<std::string> Weights::Computed() const {
  std::vector<std::string> names;
  for (const auto& entry : computed_) names.push_back(entry.first);
  return names;
}

std::vector<std::string> Weights::Unused() const {
  std::vector<std::string> names;
  for (const auto& [name, stored] : stored_) {
    const auto matches = [&tensor = name](const std::string& pattern) { return Matches(tensor, pattern); };
    if (used_.count(name) == 0 && std::none_of(ignored_.begin(), ignored_.end(), matches)) names.push_back(name);
  }
  return names;
}

}  // namespace fovea::tools
