#include "tools/convert/published/weight_files.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "tools/base/affixes.h"
#include "tools/base/fail.h"
#include "tools/base/json.h"
#include "tools/base/utf8_path.h"
#include "tools/convert/published/kinds.h"
#include "tools/convert/published/mistral_names.h"
#include "tools/torch/torch_file.h"

namespace fovea::tools {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostListed = 8;

// In the order of transformers.PreTrainedModel.from_pretrained.
constexpr const char* kUsual[] = {"model.safetensors", "model.safetensors.index.json", "pytorch_model.bin",
                                  "pytorch_model.bin.index.json"};

struct Found {
  std::vector<std::string> files;  // names in the directory; an index of safetensors is one
  std::string remark;              // why these are read
};

bool IsBetween(const std::string& text, const std::string& start, const std::string& end) {
  return text.size() > start.size() + end.size() && StartsWith(text, start) && EndsWith(text, end);
}

// Files that from_pretrained reads when it is given their variant: "fp16" of model.fp16.safetensors.
Found FindVariant(const std::set<std::string>& names) {
  static constexpr std::pair<const char*, const char*> kForms[] = {{"model.", ".safetensors"},
                                                                   {"model.safetensors.index.", ".json"},
                                                                   {"pytorch_model.", ".bin"},
                                                                   {"pytorch_model.bin.index.", ".json"}};
  for (const auto& [start, end] : kForms) {
    std::vector<std::string> variants;
    for (const std::string& name : names) {
      if (!IsBetween(name, start, end)) continue;
      const std::string variant =
          name.substr(std::string(start).size(), name.size() - std::string(start + std::string(end)).size());
      const bool one_word = variant.find_first_of(".-") == std::string::npos;
      if (one_word && variant != "safetensors" && variant != "bin") variants.push_back(variant);
    }
    if (variants.empty()) continue;
    std::string chosen = variants[0];
    for (const char* better : {"fp16", "bf16", "fp32"}) {
      if (std::count(variants.begin(), variants.end(), better) != 0) chosen = better;
    }
    const std::string among = variants.size() == 1 ? "" : fmt::format(" of {}", fmt::join(variants, ", "));
    return {{start + chosen + end},
            fmt::format("variant {}{}, as there are no files without a variant", chosen, among)};
  }
  return {};
}

// Shards by their names, "model-00001-of-00003.safetensors", without the index that lists them.
Found FindShards(const std::string& directory, const std::set<std::string>& names) {
  for (const auto& [start, end] : {std::pair{"model-", ".safetensors"}, {"pytorch_model-", ".bin"}}) {
    Found found;
    std::string count;
    for (const std::string& name : names) {
      const size_t of = name.rfind("-of-");
      if (!IsBetween(name, start, end) || of == std::string::npos) continue;
      count = name.substr(of + 4, name.size() - of - 4 - std::string(end).size());
      found.files.push_back(name);
    }
    if (found.files.empty()) continue;
    const auto whole = static_cast<size_t>(
        WholeNumberIn(count, fmt::format("{}: the number of shards in {}", directory, found.files[0]), {1, 1000000}));
    if (found.files.size() != whole) {
      Fail("{}: has {} of {} shards of its weights and no index; download the rest", directory, found.files.size(),
           whole);
    }
    found.remark = "there is no index, and all shards by their names are read";
    return found;
  }
  return {};
}

// The files that an index lists, and the tensors.
std::vector<std::string> ShardsIn(const std::string& index, std::vector<std::string>& tensors) {
  const Json json = ReadJson(index);
  std::set<std::string> names;
  for (const auto& [tensor, file] : JsonView(json, index)["weight_map"].Object().items()) {
    names.insert(Text(file, fmt::format("{}: weight_map.{}", index, tensor)));
    tensors.push_back(tensor);
  }
  for (const std::string& name : names) {
    if (name.find('/') != std::string::npos) Fail("{}: {} is not a file beside it", index, name);
    if (!fs::exists(Utf8Path(index).parent_path() / name)) {
      Fail("{}: lists {}, which is not in the directory; download it", index, name);
    }
  }
  if (names.empty()) Fail("{}: weight_map lists no file; download the index again", index);
  return {names.begin(), names.end()};
}

Found Find(const std::string& directory, const std::set<std::string>& names) {
  for (const char* usual : kUsual) {
    if (names.count(usual) != 0) return {{usual}, ""};
  }
  Found found = FindVariant(names);
  if (found.files.empty()) found = FindShards(directory, names);
  if (found.files.empty()) {
    for (const std::string& name : names) {
      const bool parts = IsBetween(name, "consolidated.", ".pth");
      if (name == "consolidated.safetensors" || parts) found.files.push_back(name);
    }
    if (!found.files.empty()) found.remark = "its tensors are renamed, as there is no model.safetensors";
  }
  if (found.files.size() > 1 && StartsWith(found.files[0], "consolidated")) {
    Fail("{}: {} and other files hold slices of the same tensors; download the repository's model.safetensors",
         directory, found.files[0]);
  }
  return found;
}

void SaySkipped(const std::string& file, const std::vector<std::string>& skipped, Findings& findings) {
  for (size_t i = 0; i < skipped.size() && i < kMostListed; ++i) {
    findings.push_back({Topic::kNotUsed, fmt::format("{}: entry {}", file, skipped[i])});
  }
  if (skipped.size() > kMostListed) {
    findings.push_back({Topic::kNotUsed, fmt::format("{}: {} more entries", file, skipped.size() - kMostListed)});
  }
}

void AddTensors(const std::string& path, const std::string& prefix, Weights& weights, Findings& findings) {
  RefusePointer(path);
  if (EndsWith(path, ".safetensors")) return weights.AddFile(path, prefix);
  for (auto& [name, tensor] : ReadTensors(path, findings)) {
    weights.AddTensor(prefix + name, tensor.shape, std::move(tensor.load), std::move(tensor.raw));
  }
}

// Row by row and little-endian, as the bytes of a tensor in safetensors.
bool IsPlain(const TorchTensor& tensor) {
  uint64_t step = 1;
  for (size_t i = tensor.shape.size(); i-- > 0;) {
    if (tensor.shape[i] != 1 && tensor.strides[i] != step) return false;
    step *= tensor.shape[i];
  }
  return !tensor.swapped;
}

RawTensor RawOf(const StoredTensor& tensor, const std::shared_ptr<const SafetensorsReader>& file) {
  return {std::shared_ptr<const StoredTensor>(file, &tensor), [&tensor, file] { file->Forget(tensor); }};
}

RawTensor RawOf(const TorchTensor& tensor, const std::shared_ptr<const TorchReader>& file) {
  if (!IsPlain(tensor)) return {};
  const StoredTensor stored = {tensor.type, tensor.shape, tensor.data, tensor.count() * ElementBytes(tensor.type)};
  return {std::make_shared<const StoredTensor>(stored), [&tensor, file] { file->Forget(tensor); }};
}

}  // namespace

std::map<std::string, FileTensor> ReadTensors(const std::string& path, Findings& findings) {
  std::map<std::string, FileTensor> tensors;
  const auto add = [&tensors](const auto& file) {
    for (const auto& [name, tensor] : file->tensors()) {
      const auto load = [&stored = tensor, file] {
        std::vector<float> values = ToFloats(stored);
        file->Forget(stored);
        return values;
      };
      tensors[name] = {tensor.shape, load, RawOf(tensor, file)};
    }
  };
  if (EndsWith(path, ".safetensors")) {
    add(std::make_shared<const SafetensorsReader>(path));
  } else {
    const auto file = std::make_shared<const TorchReader>(path);
    SaySkipped(Utf8Path(path).filename().string(), file->skipped(), findings);
    add(file);
  }
  return tensors;
}

void AddWeightFiles(const std::string& directory, const std::string& prefix, Weights& weights, Findings& findings) {
  std::set<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(Utf8Path(directory), error), end; !error && at != end; at.increment(error)) {
    names.insert(at->path().filename().string());
  }
  const Found found = Find(directory, names);
  if (found.files.empty()) FailWithoutWeights(directory);
  for (const std::string& name : found.files) {
    const std::string path = (Utf8Path(directory) / name).string();
    const std::string remark = found.remark.empty() ? "" : fmt::format(" ({})", found.remark);
    findings.push_back({Topic::kFiles, name + remark});
    if (!EndsWith(name, ".json")) {
      AddTensors(path, prefix, weights, findings);
      continue;
    }
    std::vector<std::string> listed, missing;
    for (const std::string& shard : ShardsIn(path, listed)) {
      AddTensors((Utf8Path(directory) / shard).string(), prefix, weights, findings);
    }
    for (const std::string& tensor : listed) {
      const bool renamed = EndsWith(tensor, "LayerNorm.gamma") || EndsWith(tensor, "LayerNorm.beta");
      if (!renamed && !weights.Has(prefix + tensor)) missing.push_back(tensor);
    }
    if (missing.empty()) continue;
    findings.push_back({Topic::kFiles, fmt::format("{} lists {} tensors that no shard has, such as {}", name,
                                                   missing.size(), missing[0])});
  }
  if (StartsWith(found.files[0], "consolidated")) RenameMistralTensors(directory, prefix, weights);
  for (const char* usual : kUsual) {
    if (names.count(usual) == 0 || usual == found.files[0]) continue;
    findings.push_back({Topic::kNotUsed, fmt::format("{}: {} is read in its place", usual, found.files[0])});
  }
}

}  // namespace fovea::tools
