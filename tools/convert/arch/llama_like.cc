// Decoders whose tensors are named as Llama's.
#include "tools/convert/arch/llama_like.h"

#include <map>

#include "tools/base/fail.h"
#include "tools/convert/constants.h"

namespace fovea::tools {
namespace {

std::string Or(const std::string& name, const char* usual) { return name.empty() ? usual : name; }

class Family {
 public:
  Family(const LlamaLike& family, const Checkpoint& checkpoint, Description& description)
      : family_(family),
        checkpoint_(checkpoint),
        config_(checkpoint.config),
        description_(description),
        weights_(description.weights),
        prefix_(weights_.Has("embed_tokens.weight") ? "" : "model."),
        shape_(HeadShapeOf(config_, family.head_size)) {}

  void Describe(const PrepareLayer& prepare) {
    Numbers();
    for (const LayerType& type : LayerTypesOf()) {
      const auto i = static_cast<uint32_t>(stack_.layers.size());
      const std::string at = fmt::format("{}layers.{}.", prefix_, i);
      if (family_.fused) Split(at);
      if (prepare) prepare(weights_, at);
      if (family_.backwards) SwapHalves(at);
      StackLayer layer;
      NameAttention(at, layer);
      NameFeedForward(at, layer);
      if (family_.plain_norms) AddPlainNorms(layer);
      if (!family_.turns || family_.turns(i)) layer.rotary = type.rotary;
      layer.rotary.interleaved = family_.interleaved;
      layer.window = type.window;
      if (family_.norm_after_rotary) MoveNorms(layer);
      stack_.layers.push_back(layer);
    }
    if (family_.plain_norms) AddPlainNorm(stack_.final_norm, width());
    if (family_.plain_norms && !stack_.embedding_norm.empty()) AddPlainNorm(stack_.embedding_norm, width());
    NameHeads();
    RefuseStoredBiases();
    description_.must_use = {prefix_ + "embed_tokens.", prefix_ + "layers.", prefix_ + family_.final_norm + "."};
    DescribeStack(stack_, checkpoint_, description_);
  }

 private:
  void Numbers() {
    stack_.norms = family_.norms;
    if (stack_.norms.epsilon == 0) {
      const bool rms = stack_.norms.kind == "rms";
      stack_.norms.epsilon = config_.Real(rms ? "rms_norm_eps" : "layer_norm_eps", rms ? 1e-6 : 1e-5);
    }
    stack_.heads = shape_.heads;
    stack_.kv_heads = shape_.kv_heads;
    stack_.causal = family_.causal;
    if (family_.causal) config_.Only("is_causal", true);
    stack_.parallel = family_.places == NormPlaces::kShared;
    stack_.scale = family_.scale;
    stack_.cap = family_.cap;
    stack_.residual_scale = family_.residual_scale;
    SetActivation();
    stack_.gate_limit = family_.gate_limit;
    stack_.gate_shift = family_.gate_shift;
    stack_.projection_limit = family_.projection_limit;
    stack_.table = prefix_ + "embed_tokens.weight";
    stack_.table_scale = family_.table_scale;
    stack_.final_norm = prefix_ + family_.final_norm;
    if (!family_.embedding_norm.empty()) stack_.embedding_norm = prefix_ + family_.embedding_norm;
    if (family_.norm_after_rotary) NormAfterRotary();
    // Sizes follow from the tensors; cache_implementation chooses a class of the original library, and pretraining_tp
    // how it splits products whose sum is the same.
    config_.Ignore({"hidden_size", "intermediate_size", "cache_implementation", "pretraining_tp"});
  }

  // The projections of queries and keys rotate and norm what they make; the layers then have neither.
  void NormAfterRotary() {
    stack_.linear = [this](ProgramBuilder& b, const std::string& in, const std::string& name, const std::string& out,
                           const std::string& activation) {
      const auto turned = turned_.find(name);
      if (turned == turned_.end()) return b.Linear(in, name, out, activation);
      const Turned& how = turned->second;
      std::string x = b.Linear(in, name, out + "_plain");
      if (!how.rotary.none()) x = AddRotate(how.rotary, b, x, how.heads, out + "_turned");
      return b.HeadNorm(x, how.norm, out, how.heads, name);
    };
  }

  // Moves the norms and rotary positions of a layer to its projections.
  void MoveNorms(StackLayer& layer) {
    AttentionNames& names = layer.attention;
    turned_[names.query] = {names.query_norm, layer.rotary, shape_.heads};
    turned_[names.key] = {names.key_norm, layer.rotary, shape_.kv_heads};
    names.query_norm = names.key_norm = "";
    layer.rotary = {};
  }

  void SetActivation() {
    if (family_.activation_key.empty()) {
      stack_.activation = family_.activation;
      return;
    }
    const bool squared = family_.gate.empty() && config_.Text(family_.activation_key, family_.activation) == "relu2";
    stack_.activation = squared ? "relu2" : config_.Activation(family_.activation_key, family_.activation);
  }

  uint32_t width() const { return config_.Number("hidden_size"); }

  void AddPlainNorm(const std::string& name, uint32_t width) {
    if (name.empty()) return;
    weights_.Add(name + ".weight", Literal(1, width, std::vector<float>(width, 1.0f)));
  }

  void AddPlainNorms(const StackLayer& layer) {
    for (const std::string& name :
         {layer.attention.norm, layer.attention.out_norm, layer.feed_forward.norm, layer.feed_forward.out_norm}) {
      AddPlainNorm(name, width());
    }
    for (const std::string& name : {layer.attention.query_norm, layer.attention.key_norm}) {
      AddPlainNorm(name, shape_.size);
    }
  }

  // Rotates by negative angles: the halves of a head are exchanged in queries and keys, which changes no product of a
  // query and a key but the direction.
  void SwapHalves(const std::string& at) {
    for (const char* name : {"q_proj", "k_proj"}) {
      const std::string from = at + "self_attn." + name;
      for (const char* kind : {".weight", ".bias"}) {
        if (kind == std::string(".bias") && !weights_.Has(from + kind)) continue;
        const Constant whole = weights_.Get(from + kind);
        const uint32_t rows = whole.rows == 1 ? whole.width : whole.rows, half = shape_.size / 2;
        if (shape_.size % 2 != 0 || rows % shape_.size != 0)
          Fail("tensor {}{}: {} rows are not heads", from, kind, rows);
        std::vector<uint32_t> order;
        for (uint32_t i = 0; i < rows; ++i) {
          const uint32_t in = i % shape_.size;
          order.push_back(i - in + (in < half ? in + half : in - half));
        }
        weights_.Add(from + ".swapped" + kind, Pick(whole, std::move(order)));
      }
    }
  }

  std::vector<LayerType> LayerTypesOf() {
    LayerTypes types;
    const uint32_t window = config_.Number("sliding_window", 0);
    types.slides = [&](uint32_t i) { return window != 0 && (!family_.slides || family_.slides(i)); };
    types.rotary_dims = RotaryDims(config_, shape_.size, "partial_rotary_factor", family_.rotary_part);
    types.full = family_.rotary;
    types.sliding = family_.sliding_rotary;
    // The window counts the token itself; in both directions each side has half of it.
    if (window != 0) types.window = family_.causal ? Window{window - 1, 0} : Window{window / 2, window / 2};
    std::vector<LayerType> layers = ReadLayerTypes(config_, types, description_);
    for (const LayerType& layer : layers) {
      if (layer.slides && window == 0) Fail("config.json: layers are sliding, but sliding_window is missing");
    }
    return layers;
  }

  // Splits layers that are stored as one.
  void Split(const std::string& at) {
    const uint32_t q = shape_.heads * shape_.size, kv = shape_.kv_heads * shape_.size;
    if (Joined(at + "self_attn.qkv_proj")) {
      SplitRows(weights_, at + "self_attn.qkv_proj", {{"q_proj", q}, {"k_proj", kv}, {"v_proj", kv}});
    }
    const std::string mlp = at + family_.mlp + ".gate_up_proj";
    if (Joined(mlp)) SplitLinear(weights_, mlp, {"gate_proj", "up_proj"});
  }

  bool Joined(const std::string& layer) const { return family_.fused && weights_.Has(layer + ".weight"); }

  void NameAttention(const std::string& at, StackLayer& layer) {
    const std::string self = at + "self_attn.", projections = self + (Joined(self + "qkv_proj") ? "qkv_proj." : "");
    const char* end = family_.backwards ? ".swapped" : "";
    AttentionNames& names = layer.attention;
    names.query = projections + "q_proj" + end;
    names.key = projections + "k_proj" + end;
    names.value = projections + "v_proj";
    names.output = self + family_.output;
    if (!family_.sinks.empty()) layer.sinks = self + family_.sinks;
    if (!family_.query_norm.empty()) names.query_norm = self + family_.query_norm;
    if (!family_.key_norm.empty()) names.key_norm = self + family_.key_norm;
    if (family_.places != NormPlaces::kAfter) names.norm = at + Or(family_.attention_norm, "input_layernorm");
    if (family_.places == NormPlaces::kAfter || family_.places == NormPlaces::kAround) {
      names.out_norm = at + Or(family_.attention_out_norm, "post_attention_layernorm");
    }
  }

  void NameFeedForward(const std::string& at, StackLayer& layer) {
    const std::optional<MixtureOfExperts>& mixture = family_.mixture;
    const bool mixed = mixture && (!mixture->has || mixture->has(static_cast<uint32_t>(stack_.layers.size())));
    FeedForwardNames& names = layer.feed_forward;
    if (mixed) NameExperts(at + mixture->module + ".", layer.experts);
    if (!mixed) NameDense(at + family_.mlp + ".", names);
    if (mixed && !mixture->shared.empty()) {
      NameDense(at + mixture->module + "." + mixture->shared + ".", names);
      if (!mixture->share.empty()) names.share = at + mixture->module + "." + mixture->share;
    }
    if (family_.places == NormPlaces::kBefore) names.norm = at + Or(family_.forward_norm, "post_attention_layernorm");
    if (family_.places == NormPlaces::kAround) names.norm = at + Or(family_.forward_norm, "pre_feedforward_layernorm");
    if (family_.places == NormPlaces::kAfter || family_.places == NormPlaces::kAround) {
      names.out_norm = at + Or(family_.forward_out_norm, "post_feedforward_layernorm");
    }
  }

  void NameDense(const std::string& mlp, FeedForwardNames& names) {
    const std::string projections = mlp + (Joined(mlp + "gate_up_proj") ? "gate_up_proj." : "");
    if (!family_.gate.empty()) names.gate = projections + family_.gate;
    names.up = projections + family_.up;
    names.down = mlp + family_.down;
  }

  void NameExperts(const std::string& module, ExpertNames& names) {
    const MixtureOfExperts& mixture = *family_.mixture;
    names.count = mixture.count;
    names.chosen = mixture.chosen;
    names.of_all = mixture.of_all;
    names.router = module + mixture.router;
    const auto joined = [&](const std::string& name) {
      const std::string all = module + "experts." + name;
      if (weights_.Has(all + ".weight")) return all;
      std::vector<Constant> parts;
      for (uint32_t e = 0; e < mixture.count; ++e) {
        parts.push_back(weights_.Get(fmt::format("{}experts.{}.{}.weight", module, e, name)));
      }
      weights_.Add(all + ".weight", Concatenate(std::move(parts)));
      return all;
    };
    names.gate = joined(mixture.gate);
    names.up = joined(mixture.up);
    names.down = joined(mixture.down);
  }

  void NameHeads() {
    Heads& heads = stack_.task_heads;
    heads.language.out = "lm_head";
    heads.language_table = stack_.table;
    heads.tied = family_.tied;
    heads.score_scale = family_.score_scale;
    heads.score_cap = family_.score_cap;
    heads.sequence_pool = "last";
    heads.sequence.out = heads.token.out = "score";
    if (family_.heads) family_.heads(heads);
  }

  void RefuseStoredBiases() {
    const std::vector<std::string> attention = {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
                                                "self_attn.o_proj"};
    if (!config_.Get("attention_bias").is_null())
      RefuseBiases(checkpoint_, weights_, "attention_bias", true, attention);
    if (!config_.Get("mlp_bias").is_null()) {
      RefuseBiases(checkpoint_, weights_, "mlp_bias", true, {"mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"});
    }
  }

  const LlamaLike& family_;
  const Checkpoint& checkpoint_;
  const Config& config_;
  Description& description_;
  Weights& weights_;
  const std::string prefix_;
  const HeadShape shape_;
  LayerStack stack_;
  struct Turned {
    std::string norm;
    RotaryPositions rotary;
    uint32_t heads = 0;
  };
  std::map<std::string, Turned> turned_;  // by projection, with norm_after_rotary
};

}  // namespace

HeadShape HeadShapeOf(const Config& config, uint32_t size) {
  HeadShape shape;
  shape.heads = config.Number("num_attention_heads");
  shape.kv_heads = config.Number("num_key_value_heads", shape.heads);
  if (shape.kv_heads == 0 || shape.heads % shape.kv_heads != 0) {
    Fail("config.json: {} num_attention_heads cannot share {} num_key_value_heads", shape.heads, shape.kv_heads);
  }
  const uint32_t width = config.Number("hidden_size");
  shape.size = size != 0 ? size : config.Number("head_dim", width / shape.heads);
  return shape;
}

uint32_t StoredHeadSize(const Config& config, const Weights& weights) {
  const std::string query = "layers.0.self_attn.q_proj.weight";
  const std::string stored = weights.Has(query) ? query : "model." + query;
  const uint32_t heads = config.Number("num_attention_heads");
  if (!config.Get("head_dim").is_null() || !weights.Has(stored)) return 0;
  const uint32_t rows = weights.Get(stored).rows;
  if (rows % heads != 0) Fail("tensor {} has {} rows, not a multiple of {} heads", stored, rows, heads);
  return rows / heads;
}

void DescribeLlamaLike(const LlamaLike& family, const Checkpoint& checkpoint, Description& description,
                       const PrepareLayer& prepare) {
  Family(family, checkpoint, description).Describe(prepare);
}

}  // namespace fovea::tools
