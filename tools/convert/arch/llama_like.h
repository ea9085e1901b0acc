// Decoders whose tensors are named as Llama's: model.layers.<i>.self_attn.q_proj and so on. A family is a table of the
// names and switches in which it differs from Llama.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_LLAMA_LIKE_H_
#define FOVEA_TOOLS_CONVERT_ARCH_LLAMA_LIKE_H_

#include <functional>
#include <optional>
#include <string>

#include "tools/convert/arch/layer_stack.h"
#include "tools/convert/arch/layer_types.h"

namespace fovea::tools {

// The norms of a layer.
enum class NormPlaces {
  kBefore,  // before attention and before feed-forward
  kAfter,   // after both, before they are added to the residual
  kAround,  // before and after both
  kShared,  // one before both, which are parallel
};

// A mixture of experts (MoE), in layers that have one.
struct MixtureOfExperts {
  std::string module = "mlp";
  std::string router = "gate";
  std::string gate = "gate_proj", up = "up_proj", down = "down_proj";  // in experts.<i>, or in experts for all
  std::string shared, share;  // a feed-forward for all tokens, and the layer that makes its weight in the sum
  uint32_t count = 0, chosen = 0;
  bool of_all = false;                // as in ExpertNames
  std::function<bool(uint32_t)> has;  // layer i has experts; absent: all have
};

struct LlamaLike {
  // ---- names ----
  std::string output = "o_proj";
  std::string gate = "gate_proj", up = "up_proj", down = "down_proj";  // no gate: up is activated itself
  std::string query_norm, key_norm;
  std::string sinks;
  std::string final_norm = "norm";
  std::string embedding_norm;  // empty: there is none
  std::string mlp = "mlp";
  // Norms of a layer, before and after attention and feed-forward; empty: the usual names of `places`.
  std::string attention_norm, attention_out_norm, forward_norm, forward_out_norm;
  bool fused =
      false;  // queries, keys and values are stored as qkv_proj, gate and up as gate_up_proj, if these are there

  // ---- switches ----
  NormStyle norms;  // without an epsilon: rms_norm_eps for RMS norms, else layer_norm_eps
  NormPlaces places = NormPlaces::kBefore;
  bool plain_norms = false;        // norms have no weights
  bool norm_after_rotary = false;  // heads are normed after they are rotated, not before
  std::string activation_key = "hidden_act", activation = "silu";  // its default; without a key the runtime's name
  double gate_limit = 0, gate_shift = 0, projection_limit = 0;     // as in LayerStack
  std::optional<MixtureOfExperts> mixture;
  bool tied = false;  // head and embeddings share a matrix, unless config.json has tie_word_embeddings
  bool causal = true;
  uint32_t head_size = 0;  // 0: head_dim of config.json, or hidden_size / heads
  bool interleaved = false;
  double rotary_part = 1;  // fraction of a head, unless config.json has partial_rotary_factor
  bool backwards = false;  // pairs are rotated the other way round
  RotaryKeys rotary, sliding_rotary;
  std::function<bool(uint32_t)> turns;   // layer i has rotary positions; absent: all layers
  std::function<bool(uint32_t)> slides;  // layer i slides, if there is a window and no layer_types; absent: all layers
  double table_scale = 1, residual_scale = 1;
  std::optional<double> scale;
  double cap = 0;
  double score_scale = 1, score_cap = 0;
  std::function<void(Heads&)> heads;  // sets heads that are not Llama's
};

// Adds constants that the layer `at` ("model.layers.0.") needs, before its names are used.
using PrepareLayer = std::function<void(Weights&, const std::string& at)>;

void DescribeLlamaLike(const LlamaLike& family, const Checkpoint& checkpoint, Description& description,
                       const PrepareLayer& prepare = nullptr);

// The common part of all generations of Gemma.
LlamaLike GemmaLike(const Config& config);
// The common part of all kinds of Granite.
LlamaLike GraniteLike(const Config& config);

// Heads and their size.
struct HeadShape {
  uint32_t heads = 0, kv_heads = 0, size = 0;
};
HeadShape HeadShapeOf(const Config& config, uint32_t size = 0);

// head_dim of config.json; else the rows of the first stored layer of queries over the number of heads, as files have
// been published without the key whose class has another default.
uint32_t StoredHeadSize(const Config& config, const Weights& weights);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_LLAMA_LIKE_H_
