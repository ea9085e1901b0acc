// The counterpart of transformers/models/mistral/convert_mistral_weights_to_hf.py and
// models/llama/convert_llama_weights_to_hf.py.
#include "tools/convert/published/mistral_names.h"

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "tools/base/affixes.h"
#include "tools/base/fail.h"
#include "tools/base/json.h"
#include "tools/base/utf8_path.h"
#include "tools/convert/constants.h"

namespace fovea::tools {
namespace {

namespace fs = std::filesystem;

using Names = std::map<std::string, std::string>;

const Names kModel = {{"tok_embeddings", "model.embed_tokens"}, {"norm", "model.norm"}, {"output", "lm_head"}};
const Names kLayer = {{"attention.wq", "self_attn.q_proj"},  {"attention.wk", "self_attn.k_proj"},
                      {"attention.wv", "self_attn.v_proj"},  {"attention.wo", "self_attn.o_proj"},
                      {"attention_norm", "input_layernorm"}, {"ffn_norm", "post_attention_layernorm"},
                      {"feed_forward.w1", "mlp.gate_proj"},  {"feed_forward.w2", "mlp.down_proj"},
                      {"feed_forward.w3", "mlp.up_proj"}};

struct Heads {
  uint32_t queries, keys;
};

Heads ReadHeads(const std::string& directory) {
  for (const auto& [file, queries, keys] : {std::tuple{"params.json", "n_heads", "n_kv_heads"},
                                            {"config.json", "num_attention_heads", "num_key_value_heads"}}) {
    const std::string path = (Utf8Path(directory) / file).string();
    if (!fs::exists(Utf8Path(path))) continue;
    const Json json = ReadJson(path);
    const JsonView view(json, path);
    if (view[queries].IsNull()) continue;
    const uint32_t count = view[queries].Number({1, 4096});
    return {count, view[keys].Number({1, 4096}, count)};
  }
  Fail("{}: n_heads is missing in params.json", directory);
}

// Empty if there is none.
std::string Renamed(const std::string& name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos || name.substr(dot) != ".weight") return "";
  const std::string stem = name.substr(0, dot);
  const auto model = kModel.find(stem);
  if (model != kModel.end()) return model->second + ".weight";
  if (!StartsWith(stem, "layers.")) return "";
  const size_t after = stem.find('.', 7);
  if (after == std::string::npos) return "";
  const auto layer = kLayer.find(stem.substr(after + 1));
  return layer == kLayer.end() ? "" : "model." + stem.substr(0, after + 1) + layer->second + ".weight";
}

// From adjacent RoPE pairs to halves of each head.
Constant Halves(const std::string& name, const Constant& stored, uint32_t heads) {
  if (stored.rows % (2 * heads) != 0) {
    Fail("tensor {}: {} rows cannot be split into pairs for {} heads", name, stored.rows, heads);
  }
  const uint32_t width = stored.rows / heads;
  std::vector<uint32_t> rows;
  for (uint32_t i = 0; i < stored.rows; ++i) {
    const uint32_t inside = i % width, half = width / 2;
    rows.push_back(i - inside + inside % half * 2 + inside / half);
  }
  return Pick(stored, rows);
}

}  // namespace

void RenameMistralTensors(const std::string& directory, const std::string& prefix, Weights& weights) {
  const Heads heads = ReadHeads(directory);
  for (const std::string& stored : weights.Stored()) {
    if (!StartsWith(stored, prefix)) continue;
    const std::string name = stored.substr(prefix.size());
    if (name == "rope.freqs") {  // computed from rope_theta as well
      weights.Take(stored);
      continue;
    }
    const std::string renamed = Renamed(name);
    if (renamed.empty()) {
      Fail(
          "{}: tensor {} of consolidated weights has no name in the library; download the repository's "
          "model.safetensors",
          directory, name);
    }
    const bool queries = EndsWith(name, ".attention.wq.weight"), keys = EndsWith(name, ".attention.wk.weight");
    const uint32_t split = queries ? heads.queries : keys ? heads.keys : 0;
    weights.AddMade(prefix + renamed, [renamed, split, make = weights.Take(stored)] {
      return split == 0 ? make() : Halves(renamed, make(), split);
    });
  }
}

}  // namespace fovea::tools
