// Tensors of GGUF files by the library's names and in its layout.
#include <algorithm>
#include <map>

#include "tools/base/affixes.h"
#include "tools/base/fail.h"
#include "tools/convert/constants.h"
#include "tools/convert/gguf/names.h"
#include "tools/convert/gguf/settings.h"

namespace fovea::tools {
namespace {

// Read into the configuration, or, the last, not read by the original library.
bool HasNoPlace(const std::string& name) {
  return name == "rope_freqs.weight" || name == "rope_factors_short.weight" || name == "rope_factors_long.weight" ||
         EndsWith(name, ".cross_attn_rel_b.weight");
}

class Translator {
 public:
  Translator(const GgufArchitecture& architecture, std::shared_ptr<const GgufReader> file, Weights& weights)
      : architecture_(architecture),
        file_(std::move(file)),
        metadata_(file_),
        settings_(architecture, metadata_, file_->tensors()),
        names_(NamesOf(architecture.model_type, file_->tensors())),
        weights_(weights) {}

  void Run() {
    for (const auto& [name, tensor] : file_->tensors()) {
      if (!HasNoPlace(name)) stored_.emplace(name, Matrix(name, tensor));
    }
    for (uint32_t layer = 0; layer < settings_.layers; ++layer) {
      for (const char* end : {".weight", ".bias"}) ArrangeLayer(fmt::format("blk.{}.", layer), end);
    }
    for (const auto& [name, constant] : stored_) Publish(name, constant);
  }

 private:
  [[noreturn]] void Refuse(const std::string& name, const std::string& why) const {
    Fail("{}: tensor {}: {}", file_->path(), name, why);
  }

  // Experts, kernels: the outer dimensions are one.
  Constant Matrix(const std::string& name, const GgufTensor& tensor) const {
    const std::vector<uint64_t>& shape = tensor.shape;
    const uint64_t width = shape.empty() ? 1 : shape.back(), rows = width == 0 ? 0 : tensor.count() / width;
    if (shape.size() > 3 || rows > UINT32_MAX || width > UINT32_MAX || tensor.bytes == 0) {
      Refuse(name, fmt::format("[{}] is not a matrix", fmt::join(shape, ", ")));
    }
    const Constant matrix = {static_cast<uint32_t>(rows), static_cast<uint32_t>(width), [&tensor, file = file_] {
                               std::vector<float> values = ToFloats(tensor);
                               file->Forget(tensor);
                               return values;
                             }};
    const bool biases = EndsWith(name, "_exps.bias");
    return biases ? Reshape(matrix, 1, static_cast<uint32_t>(tensor.count())) : matrix;
  }

  bool Has(const std::string& name) const { return stored_.count(name) != 0; }

  // Removes and returns it.
  Constant Take(const std::string& name) {
    const Constant constant = stored_.at(name);
    stored_.erase(name);
    return constant;
  }

  static uint32_t RowsOf(const Constant& constant, const std::string& end) {
    return end == ".bias" ? constant.width : constant.rows;
  }

  // As one or apart, as the family has them.
  void ArrangeLayer(const std::string& at, const std::string& end) {
    const std::string q = at + "attn_q" + end, k = at + "attn_k" + end, v = at + "attn_v" + end;
    const std::string qkv = at + "attn_qkv" + end, gate = at + "ffn_gate" + end, up = at + "ffn_up" + end;
    if (names_.one_projection && !Has(qkv) && Has(q) && Has(k) && Has(v)) {
      stored_.emplace(qkv, Joined({Take(q), Take(k), Take(v)}, end));
    }
    if (!names_.one_projection && Has(qkv) && !Has(q)) Apart(qkv, {q, k, v}, end);
    if (names_.one_gate && Has(gate) && Has(up)) stored_[up] = Joined({Take(gate), Take(up)}, end);
    JoinExperts(at, end);
    SplitExperts(at);
  }

  // Columns of a bias, rows of a matrix.
  static Constant Joined(std::vector<Constant> parts, const std::string& end) {
    if (end != ".bias") return Concatenate(std::move(parts));
    uint32_t width = 0;
    for (Constant& part : parts) {
      width += part.width;
      part = Reshape(part, part.width, 1);
    }
    return Reshape(Concatenate(std::move(parts)), 1, width);
  }

  void RequireProjections(const std::string& name, uint32_t rows) const {
    const uint32_t heads = settings_.heads, keys = settings_.kv_heads, size = settings_.size;
    if (heads % keys == 0 && rows == (uint64_t{heads} + 2 * uint64_t{keys}) * size) return;
    Refuse(name, fmt::format("{} rows do not fit {} heads and {} key heads of {} columns", rows, heads, keys, size));
  }

  void Apart(const std::string& whole, const std::vector<std::string>& names, const std::string& end) {
    const Constant all = Take(whole);
    RequireProjections(whole, RowsOf(all, end));
    const uint32_t queries = settings_.heads * settings_.size, keys = settings_.kv_heads * settings_.size;
    const std::vector<uint32_t> rows = {queries, keys, keys};
    uint32_t first = 0;
    for (size_t i = 0; i < names.size(); ++i) {
      const Range part = {first, first + rows[i]};
      stored_.emplace(names[i], end == ".bias" ? Slice(all, {}, part) : Slice(all, part));
      first += rows[i];
    }
  }

  // Older files have a tensor for each expert.
  void JoinExperts(const std::string& at, const std::string& end) {
    for (const char* kind : {"ffn_gate", "ffn_up", "ffn_down"}) {
      const auto name = [&](uint32_t expert) { return fmt::format("{}{}.{}{}", at, kind, expert, end); };
      std::vector<Constant> experts;
      while (Has(name(static_cast<uint32_t>(experts.size())))) {
        experts.push_back(Take(name(static_cast<uint32_t>(experts.size()))));
      }
      const std::string all = at + kind + "_exps" + end;
      if (!experts.empty() && !Has(all)) stored_.emplace(all, Joined(std::move(experts), end));
    }
  }

  // Newer files can have gates and factors of all experts as one tensor [experts, 2 * rows, width].
  void SplitExperts(const std::string& at) {
    const std::string whole = at + "ffn_gate_up_exps.weight";
    if (!Has(whole)) return;
    const Constant all = Take(whole);
    const auto experts = settings_.Own("expert_count").Number(kGgufHeads);
    if (all.rows % (2 * experts) != 0)
      Refuse(whole, fmt::format("{} rows are not pairs for {} experts", all.rows, experts));
    const uint32_t half = all.rows / experts / 2;
    for (uint32_t part = 0; part < 2; ++part) {
      std::vector<uint32_t> rows;
      for (uint32_t i = 0; i < all.rows / 2; ++i) rows.push_back(i / half * 2 * half + part * half + i % half);
      stored_.emplace(at + (part == 0 ? "ffn_gate_exps.weight" : "ffn_up_exps.weight"), Pick(all, rows));
    }
  }

  void Publish(const std::string& name, const Constant& constant) {
    std::string published;
    const GgufPlace* place = PlaceOf(name, &published);
    if (place == nullptr) {
      Fail(
          "{}: tensor {} is not used by architecture {}, so general.architecture is not that of the file; "
          "convert the model's directory",
          file_->path(), name, architecture_.name);
    }
    weights_.AddStored(published, AsPublished(name, place->layout, constant));
  }

  // Null if there is none.
  const GgufPlace* PlaceOf(const std::string& name, std::string* published) const {
    const size_t dot = name.rfind('.');
    if (dot == std::string::npos) return nullptr;
    const std::string end = name.substr(dot), stem = name.substr(0, dot);
    if (end != ".weight" && end != ".bias") return nullptr;
    std::string at, part = stem;
    const GgufPlaces* places = &names_.model;
    for (const GgufLayerNames& layer : names_.layers) {
      if (stem.rfind(layer.stored, 0) != 0) continue;
      const size_t after = stem.find('.', layer.stored.size());
      if (after == std::string::npos) return nullptr;
      at = layer.published + stem.substr(layer.stored.size(), after + 1 - layer.stored.size());
      part = stem.substr(after + 1);
      places = &layer.places;
    }
    const auto found = places->find(part);
    if (found == places->end()) return nullptr;
    *published = at + found->second.published + (found->second.layout == GgufLayout::kBare ? "" : end);
    return &found->second;
  }

  Constant AsPublished(const std::string& name, GgufLayout layout, Constant stored) const {
    const std::string stem = name.substr(0, name.rfind('.'));
    const bool bias = EndsWith(name, ".bias");
    if (architecture_.interleaved && EndsWith(stem, ".attn_q")) return Halves(name, stored, settings_.heads);
    if (architecture_.interleaved && EndsWith(stem, ".attn_k")) return Halves(name, stored, settings_.kv_heads);
    if (layout == GgufLayout::kTransposed && !bias) return Transpose(stored);
    if (layout == GgufLayout::kGrouped) return Grouped(name, stored, bias);
    if (!architecture_.norms_add_one || !EndsWith(name, "norm.weight")) return stored;
    return {stored.rows, stored.width, [load = stored.load] {
              std::vector<float> values = load();
              for (float& value : values) value -= 1;
              return values;
            }};
  }

  // Reorders rows from RoPE pairs side by side, as stored in these files, to halves per head, as in the library.
  Constant Halves(const std::string& name, const Constant& stored, uint32_t heads) const {
    const uint32_t all = stored.rows == 1 ? stored.width : stored.rows;
    if (all % (2 * heads) != 0)
      Refuse(name, fmt::format("{} rows cannot be split into pairs for {} heads", all, heads));
    const uint32_t half = all / heads / 2;
    std::vector<uint32_t> rows;
    for (uint32_t head = 0; head < heads; ++head) {
      for (uint32_t i = 0; i < 2 * half; ++i) rows.push_back(head * 2 * half + i % half * 2 + i / half);
    }
    return Pick(stored, rows);
  }

  // From all queries, keys, values to queries, keys, values of each key head.
  Constant Grouped(const std::string& name, const Constant& stored, bool bias) const {
    RequireProjections(name, bias ? stored.width : stored.rows);
    const uint32_t size = settings_.size, keys = settings_.kv_heads;
    const uint32_t queries = settings_.heads / keys * size;
    std::vector<uint32_t> rows;
    const auto add = [&rows](uint32_t first, uint32_t count) {
      for (uint32_t i = 0; i < count; ++i) rows.push_back(first + i);
    };
    for (uint32_t group = 0; group < keys; ++group) {
      add(group * queries, queries);
      add(settings_.heads * size + group * size, size);
      add((settings_.heads + keys) * size + group * size, size);
    }
    return Pick(stored, rows);
  }

  const GgufArchitecture& architecture_;
  const std::shared_ptr<const GgufReader> file_;
  const GgufMetadata metadata_;
  const GgufSettings settings_;
  const GgufNames names_;
  Weights& weights_;
  std::map<std::string, Constant> stored_;
};

}  // namespace

void AddGgufWeights(const GgufArchitecture& architecture, std::shared_ptr<const GgufReader> file, Weights& weights) {
  Translator(architecture, std::move(file), weights).Run();
}

}  // namespace fovea::tools
