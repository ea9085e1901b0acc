// Decoders whose tensors are named as Llama's: model.layers.<i>.self_attn.q_proj and so on. What a family has besides,
// or otherwise, are the switches here.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_LLAMA_LIKE_H_
#define FOVEA_TOOLS_CONVERT_ARCH_LLAMA_LIKE_H_

#include <functional>
#include <optional>
#include <string>

#include "tools/convert/arch/layer_stack.h"
#include "tools/convert/arch/layer_types.h"

namespace fovea::tools {

// Which norms a layer has.
enum class NormPlaces {
  kBefore,  // in front of attention and of feed-forward
  kAfter,   // of what both add to the residual
  kAround,  // both
  kShared,  // one in front of both, which are parallel
};

// A feed-forward of experts, in layers that have one.
struct MixtureOfExperts {
  std::string module = "mlp";
  std::string router = "gate";
  std::string gate = "gate_proj", up = "up_proj", down = "down_proj";  // of experts.<i>, or of all in experts
  std::string shared, share;  // a feed-forward that all tokens take, and the layer that says its share of the sum
  uint32_t count = 0, chosen = 0;
  bool of_all = false;                // as ExpertNames
  std::function<bool(uint32_t)> has;  // layer i has experts; absent: all have
};

struct LlamaLike {
  // ---- names ----
  std::string output = "o_proj";
  std::string gate = "gate_proj", up = "up_proj", down = "down_proj";  // no gate: up is activated itself
  std::string query_norm, key_norm;
  std::string sinks;
  std::string final_norm = "norm";
  bool fused = false;  // queries, keys and values are stored as qkv_proj, gate and up as gate_up_proj

  // ---- switches ----
  NormStyle norms;  // without an epsilon: rms_norm_eps of RMS norms, layer_norm_eps of others
  NormPlaces places = NormPlaces::kBefore;
  std::string activation_key = "hidden_act", activation = "silu";  // without a key: the latter, by the runtime's name
  double gate_limit = 0, gate_shift = 0, projection_limit = 0;     // as in LayerStack
  std::optional<MixtureOfExperts> mixture;
  bool tied = false;  // head and embeddings, where config.json does not say
  bool causal = true;
  uint32_t head_size = 0;  // 0: as config.json says, or hidden_size / heads
  bool interleaved = false;
  RotaryKeys rotary, sliding_rotary;
  std::function<bool(uint32_t)> turns;  // layer i has rotary positions; absent: all have
  std::function<bool(uint32_t)>
      slides;  // layer i, where there are no layer_types; absent: all, where there is a window
  double table_scale = 1, residual_scale = 1;
  std::optional<double> scale;
  double cap = 0;
  double score_scale = 1, score_cap = 0;
};

// Adds constants that the layer `at` ("model.layers.0.") needs, before its names are used.
using PrepareLayer = std::function<void(Weights&, const std::string& at)>;

void DescribeLlamaLike(const LlamaLike& family, const Checkpoint& checkpoint, Description& description,
                       const PrepareLayer& prepare = nullptr);

// What all kinds of Granite have.
LlamaLike GraniteLike(const Config& config);

// Heads and the size of one.
struct HeadShape {
  uint32_t heads = 0, kv_heads = 0, size = 0;
};
HeadShape HeadShapeOf(const Config& config, uint32_t size = 0);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_LLAMA_LIKE_H_
