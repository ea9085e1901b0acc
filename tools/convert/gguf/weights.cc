// Tensors of GGUF files by the library's names and in its layout.
#include <algorithm>
#include <map>

#include "tools/base/affixes.h"
#include "tools/base/fail.h"
#include "tools/convert/constants.h"
#include "tools/convert/gguf/parts.h"

namespace fovea::tools {
namespace {

using Names = std::map<std::string, std::string>;

const Names kDecoder = {{"token_embd", "model.embed_tokens"}, {"output_norm", "model.norm"}, {"output", "lm_head"}};
const Names kDecoderLayer = {
    {"attn_norm", "input_layernorm"}, {"attn_q", "self_attn.q_proj"},      {"attn_k", "self_attn.k_proj"},
    {"attn_v", "self_attn.v_proj"},   {"attn_output", "self_attn.o_proj"}, {"ffn_norm", "post_attention_layernorm"},
    {"ffn_gate", "mlp.gate_proj"},    {"ffn_up", "mlp.up_proj"},           {"ffn_down", "mlp.down_proj"}};
const Names kHeadNorms = {{"attn_q_norm", "self_attn.q_norm"}, {"attn_k_norm", "self_attn.k_norm"}};
const Names kNormsAround = {{"post_attention_norm", "post_attention_layernorm"},
                            {"ffn_norm", "pre_feedforward_layernorm"},
                            {"post_ffw_norm", "post_feedforward_layernorm"}};
const Names kBert = {{"token_embd", "embeddings.word_embeddings"},
                     {"position_embd", "embeddings.position_embeddings"},
                     {"token_types", "embeddings.token_type_embeddings"},
                     {"token_embd_norm", "embeddings.LayerNorm"}};
const Names kBertLayer = {{"attn_q", "attention.self.query"},
                          {"attn_k", "attention.self.key"},
                          {"attn_v", "attention.self.value"},
                          {"attn_output", "attention.output.dense"},
                          {"attn_output_norm", "attention.output.LayerNorm"},
                          {"ffn_up", "intermediate.dense"},
                          {"ffn_down", "output.dense"},
                          {"layer_output_norm", "output.LayerNorm"}};
const Names kNomic = {{"token_embd", "embeddings.word_embeddings"},
                      {"token_types", "embeddings.token_type_embeddings"},
                      {"token_embd_norm", "emb_ln"}};
const Names kNomicLayer = {
    {"attn_qkv", "attn.Wqkv"}, {"attn_output", "attn.out_proj"}, {"attn_output_norm", "norm1"}, {"ffn_up", "mlp.fc11"},
    {"ffn_gate", "mlp.fc12"},  {"ffn_down", "mlp.fc2"},          {"layer_output_norm", "norm2"}};

// Names of tensors: of the model, and of layer i after `layer` and i.
struct Naming {
  Names model, of_layer;
  std::string layer;
};

Naming NamingOf(const std::string& type) {
  if (type == "bert") return {kBert, kBertLayer, "encoder.layer."};
  if (type == "nomic_bert") return {kNomic, kNomicLayer, "encoder.layers."};
  Naming naming = {kDecoder, kDecoderLayer, "model.layers."};
  if (type == "qwen3" || type == "gemma3_text") naming.of_layer.insert(kHeadNorms.begin(), kHeadNorms.end());
  if (type == "gemma2" || type == "gemma3_text") {
    for (const auto& [name, published] : kNormsAround) naming.of_layer[name] = published;
  }
  return naming;
}

class Translator {
 public:
  Translator(const GgufArchitecture& architecture, const Json& config, std::shared_ptr<const GgufReader> file,
             Weights& weights)
      : architecture_(architecture),
        config_(config),
        file_(std::move(file)),
        naming_(NamingOf(architecture.model_type)),
        weights_(weights) {}

  void Run() {
    for (const auto& [name, tensor] : file_->tensors()) {
      if (name == "rope_freqs.weight" && config_.contains("rope_scaling")) continue;  // read into the configuration
      const std::string published = Published(name);
      if (published.empty()) {
        Fail("{}: tensor {} is not used by architecture {}", file_->path(), name, architecture_.name);
      }
      weights_.AddStored(published, AsPublished(name, Matrix(name, tensor)));
    }
  }

 private:
  // Empty if there is none.
  std::string Published(const std::string& name) const {
    const size_t dot = name.rfind('.');
    if (dot == std::string::npos) return "";
    const std::string end = name.substr(dot), stem = name.substr(0, dot);
    if (end != ".weight" && end != ".bias") return "";
    if (stem.rfind("blk.", 0) != 0) {
      const auto found = naming_.model.find(stem);
      return found == naming_.model.end() ? "" : found->second + end;
    }
    const size_t after = stem.find('.', 4);
    if (after == std::string::npos) return "";
    const auto found = naming_.of_layer.find(stem.substr(after + 1));
    return found == naming_.of_layer.end() ? "" : naming_.layer + stem.substr(4, after - 3) + found->second + end;
  }

  Constant Matrix(const std::string& name, const GgufTensor& tensor) const {
    const std::vector<uint64_t>& shape = tensor.shape;
    const uint64_t rows = shape.size() == 2 ? shape[0] : 1, width = shape.empty() ? 1 : shape.back();
    if (shape.size() > 2 || rows > UINT32_MAX || width > UINT32_MAX || tensor.bytes == 0) {
      Fail("{}: tensor {}: [{}] is not a matrix", file_->path(), name, fmt::join(shape, ", "));
    }
    return {static_cast<uint32_t>(rows), static_cast<uint32_t>(width), [&tensor, file = file_] {
              std::vector<float> values = ToFloats(tensor);
              file->Forget(tensor);
              return values;
            }};
  }

  Constant AsPublished(const std::string& name, Constant stored) const {
    const std::string stem = name.substr(0, name.rfind('.'));
    if (architecture_.interleaved && EndsWith(stem, ".attn_q")) return Halves(name, stored, "num_attention_heads");
    if (architecture_.interleaved && EndsWith(stem, ".attn_k")) return Halves(name, stored, "num_key_value_heads");
    if (!architecture_.norms_add_one || !EndsWith(name, "norm.weight")) return stored;
    return {stored.rows, stored.width, [load = stored.load] {
              std::vector<float> values = load();
              for (float& value : values) value -= 1;
              return values;
            }};
  }

  // Reorders rows from RoPE pairs side by side, as stored in these files, to halves per head, as in the library.
  Constant Halves(const std::string& name, const Constant& stored, const char* key) const {
    const auto heads = config_[key].get<uint32_t>();
    const uint32_t all = stored.rows == 1 ? stored.width : stored.rows;
    if (all % (2 * heads) != 0) {
      Fail("{}: tensor {}: {} rows cannot be split into pairs for {} heads", file_->path(), name, all, heads);
    }
    const uint32_t half = all / heads / 2;
    std::vector<uint32_t> rows;
    for (uint32_t head = 0; head < heads; ++head) {
      for (uint32_t i = 0; i < 2 * half; ++i) rows.push_back(head * 2 * half + i % half * 2 + i / half);
    }
    return Pick(stored, rows);
  }

  const GgufArchitecture& architecture_;
  const Json& config_;
  const std::shared_ptr<const GgufReader> file_;
  const Naming naming_;
  Weights& weights_;
};

}  // namespace

void AddGgufWeights(const GgufArchitecture& architecture, const Json& config, std::shared_ptr<const GgufReader> file,
                    Weights& weights) {
  Translator(architecture, config, std::move(file), weights).Run();
}

}  // namespace fovea::tools
