// Tables of names, by family.
#include "tools/convert/gguf/names.h"

#include <algorithm>
#include <initializer_list>

namespace fovea::tools {
namespace {

void Put(const GgufPlaces& more, GgufPlaces* places) {
  for (const auto& [name, place] : more) (*places)[name] = place;
}

bool Is(const std::string& type, std::initializer_list<const char*> types) {
  return std::any_of(types.begin(), types.end(), [&](const char* one) { return type == one; });
}

const GgufPlaces& LlamaLayer() {
  static const GgufPlaces kLayer = {{"attn_norm", {"input_layernorm"}},    {"attn_q", {"self_attn.q_proj"}},
                                    {"attn_k", {"self_attn.k_proj"}},      {"attn_v", {"self_attn.v_proj"}},
                                    {"attn_output", {"self_attn.o_proj"}}, {"ffn_norm", {"post_attention_layernorm"}},
                                    {"ffn_gate", {"mlp.gate_proj"}},       {"ffn_up", {"mlp.up_proj"}},
                                    {"ffn_down", {"mlp.down_proj"}}};
  return kLayer;
}

void PutHeadNorms(const std::string& query, const std::string& key, GgufPlaces* places) {
  Put({{"attn_q_norm", {"self_attn." + query}}, {"attn_k_norm", {"self_attn." + key}}}, places);
}

// Experts of all layers that have some: stored as one tensor, or one by one in older files ("ffn_gate.3").
void PutExperts(const std::string& type, GgufPlaces* places) {
  const bool block = Is(type, {"mixtral", "granitemoe"});
  const std::string module = block ? "block_sparse_moe." : "mlp.", experts = module + "experts.";
  const std::string router = type == "granitemoe" ? "router.layer" : type == "gpt_oss" ? "router" : "gate";
  const bool numbered = type == "mixtral", bare = Is(type, {"granitemoe", "gpt_oss"});
  const auto name = [&](const char* w, const char* plain) { return std::string(numbered ? w : plain); };
  const std::string end = bare ? "" : "_proj";
  Put({{"ffn_gate_inp", {module + router}},
       {"ffn_gate_exps", {experts + name("w1", "gate") + (numbered ? "" : end)}},
       {"ffn_up_exps", {experts + name("w3", "up") + (numbered ? "" : end)}},
       {"ffn_down_exps", {experts + name("w2", "down") + (numbered ? "" : end)}}},
      places);
  if (type != "qwen2_moe") return;
  Put({{"ffn_gate_inp_shexp", {"mlp.shared_expert_gate"}},
       {"ffn_gate_shexp", {"mlp.shared_expert.gate_proj"}},
       {"ffn_up_shexp", {"mlp.shared_expert.up_proj"}},
       {"ffn_down_shexp", {"mlp.shared_expert.down_proj"}}},
      places);
}

GgufNames Lfm2() {
  GgufNames names;
  names.model = {{"token_embd", {"model.embed_tokens"}},
                 {"token_embd_norm", {"model.embedding_norm"}},
                 {"output_norm", {"model.embedding_norm"}},
                 {"output", {"lm_head"}}};
  names.layers = {{"blk.",
                   "model.layers.",
                   {{"attn_norm", {"operator_norm"}},
                    {"attn_q", {"self_attn.q_proj"}},
                    {"attn_k", {"self_attn.k_proj"}},
                    {"attn_v", {"self_attn.v_proj"}},
                    {"attn_output", {"self_attn.out_proj"}},
                    {"attn_q_norm", {"self_attn.q_layernorm"}},
                    {"attn_k_norm", {"self_attn.k_layernorm"}},
                    {"ffn_norm", {"ffn_norm"}},
                    {"ffn_gate", {"feed_forward.w1"}},
                    {"ffn_up", {"feed_forward.w3"}},
                    {"ffn_down", {"feed_forward.w2"}},
                    {"shortconv.conv", {"conv.conv"}},
                    {"shortconv.in_proj", {"conv.in_proj"}},
                    {"shortconv.out_proj", {"conv.out_proj"}}}}};
  return names;
}

GgufNames LlamaLike(const std::string& type) {
  GgufNames names;
  names.model = {{"token_embd", {"model.embed_tokens"}}, {"output_norm", {"model.norm"}}, {"output", {"lm_head"}}};
  GgufPlaces layer = LlamaLayer();
  if (Is(type, {"qwen3", "qwen3_moe", "gemma3_text", "olmo2", "olmoe", "exaone4", "cohere", "cohere2"})) {
    PutHeadNorms("q_norm", "k_norm", &layer);
  }
  if (type == "stablelm") PutHeadNorms("q_layernorm", "k_layernorm", &layer);
  if (type == "hunyuan_v1_dense") PutHeadNorms("query_layernorm", "key_layernorm", &layer);
  if (Is(type, {"gemma2", "gemma3_text"})) {
    Put({{"post_attention_norm", {"post_attention_layernorm"}},
         {"ffn_norm", {"pre_feedforward_layernorm"}},
         {"post_ffw_norm", {"post_feedforward_layernorm"}}},
        &layer);
  }
  if (Is(type, {"olmo2", "exaone4"})) {
    Put({{"post_attention_norm", {"post_attention_layernorm"}}, {"post_ffw_norm", {"post_feedforward_layernorm"}}},
        &layer);
  }
  if (Is(type, {"gpt_oss", "seed_oss"})) Put({{"post_attention_norm", {"post_attention_layernorm"}}}, &layer);
  if (Is(type, {"olmo2", "exaone4", "gpt_oss", "seed_oss", "cohere", "cohere2", "phi"})) layer.erase("ffn_norm");
  if (Is(type, {"mixtral", "granitemoe", "gpt_oss", "qwen2_moe", "qwen3_moe", "olmoe"})) PutExperts(type, &layer);
  if (type == "gpt_oss") Put({{"attn_sinks", {"self_attn.sinks", GgufLayout::kBare}}}, &layer);
  if (type == "starcoder2") Put({{"ffn_up", {"mlp.c_fc"}}, {"ffn_down", {"mlp.c_proj"}}}, &layer);
  if (type == "phi") {
    names.model["output_norm"] = {"model.final_layernorm"};
    Put({{"attn_output", {"self_attn.dense"}}, {"ffn_up", {"mlp.fc1"}}, {"ffn_down", {"mlp.fc2"}}}, &layer);
  }
  if (type == "phi3") {
    names.one_projection = names.one_gate = true;
    Put({{"attn_qkv", {"self_attn.qkv_proj"}}, {"ffn_up", {"mlp.gate_up_proj"}}}, &layer);
  }
  // Rerankers keep the rows of the words they answer with.
  if (Is(type, {"qwen2", "qwen3", "llama"})) names.model["cls.output"] = {"score"};
  if (type == "gemma3_text") {  // EmbeddingGemma, after pooling
    for (const char* dense : {"dense_2", "dense_3"}) names.model[dense] = {dense};
  }
  names.layers = {{"blk.", "model.layers.", std::move(layer)}};
  return names;
}

GgufNames Gpt(const std::string& type, const GgufTensors& tensors) {
  using L = GgufLayout;
  GgufNames names;
  GgufPlaces layer;
  std::string root = "transformer.", layers = "transformer.h.";
  if (Is(type, {"gpt2", "gpt_bigcode"})) {
    const L linear = type == "gpt2" ? L::kTransposed : L::kStored;
    names.model = {{"token_embd", {"transformer.wte"}}, {"position_embd", {"transformer.wpe"}}};
    layer = {{"attn_norm", {"ln_1"}},
             {"ffn_norm", {"ln_2"}},
             {"attn_qkv", {"attn.c_attn", linear}},
             {"attn_output", {"attn.c_proj", linear}},
             {"ffn_up", {"mlp.c_fc", linear}},
             {"ffn_down", {"mlp.c_proj", linear}}};
  } else if (type == "gptj") {
    names.model = {{"token_embd", {"transformer.wte"}}};
    layer = {{"attn_norm", {"ln_1"}},     {"attn_q", {"attn.q_proj"}},        {"attn_k", {"attn.k_proj"}},
             {"attn_v", {"attn.v_proj"}}, {"attn_output", {"attn.out_proj"}}, {"ffn_up", {"mlp.fc_in"}},
             {"ffn_down", {"mlp.fc_out"}}};
  } else {
    const bool neox = type == "gpt_neox", two = tensors.count("blk.0.attn_norm_2.weight") != 0;
    if (neox) root = "gpt_neox.", layers = "gpt_neox.layers.";
    const std::string attention = neox ? "attention." : "self_attention.";
    names.model = {{"token_embd", {root + (neox ? "embed_in" : "word_embeddings")}}};
    if (type == "bloom") names.model["token_embd_norm"] = {root + "word_embeddings_layernorm"};
    layer = {{"attn_norm", {two ? "ln_mlp" : "input_layernorm"}},
             {"attn_norm_2", {"ln_attn"}},
             {"ffn_norm", {"post_attention_layernorm"}},
             {"attn_qkv", {attention + "query_key_value", L::kGrouped}},
             {"attn_output", {attention + "dense"}},
             {"ffn_up", {"mlp.dense_h_to_4h"}},
             {"ffn_down", {"mlp.dense_4h_to_h"}}};
  }
  names.one_projection = type != "gptj";
  const bool neox = type == "gpt_neox";
  names.model["output_norm"] = {root + (neox ? "final_layer_norm" : "ln_f")};
  names.model["output"] = {neox ? "embed_out" : "lm_head"};
  names.layers = {{"blk.", layers, std::move(layer)}};
  return names;
}

GgufNames Bert() {
  GgufNames names;
  names.model = {{"token_embd", {"embeddings.word_embeddings"}},
                 {"position_embd", {"embeddings.position_embeddings"}},
                 {"token_types", {"embeddings.token_type_embeddings"}},
                 {"token_embd_norm", {"embeddings.LayerNorm"}},
                 {"cls", {"pooler.dense"}},
                 {"cls.output", {"classifier"}}};
  names.layers = {{"blk.",
                   "encoder.layer.",
                   {{"attn_q", {"attention.self.query"}},
                    {"attn_k", {"attention.self.key"}},
                    {"attn_v", {"attention.self.value"}},
                    {"attn_output", {"attention.output.dense"}},
                    {"attn_output_norm", {"attention.output.LayerNorm"}},
                    {"ffn_up", {"intermediate.dense"}},
                    {"ffn_down", {"output.dense"}},
                    {"layer_output_norm", {"output.LayerNorm"}}}}};
  return names;
}

GgufNames JinaBert(const GgufTensors& tensors) {
  GgufNames names = Bert();
  if (tensors.count("blk.0.ffn_gate.weight") == 0) return names;
  names.one_gate = true;
  Put({{"ffn_up", {"mlp.gated_layers"}}, {"ffn_down", {"mlp.wo"}}, {"layer_output_norm", {"mlp.layernorm"}}},
      &names.layers[0].places);
  return names;
}

GgufNames NomicBert(const GgufTensors& tensors) {
  const bool gated = tensors.count("blk.0.ffn_gate.weight") != 0;
  GgufNames names;
  names.one_projection = true;
  names.model = {{"token_embd", {"embeddings.word_embeddings"}},
                 {"token_types", {"embeddings.token_type_embeddings"}},
                 {"token_embd_norm", {"emb_ln"}}};
  names.layers = {{"blk.",
                   "encoder.layers.",
                   {{"attn_qkv", {"attn.Wqkv"}},
                    {"attn_output", {"attn.out_proj"}},
                    {"attn_output_norm", {"norm1"}},
                    {"ffn_up", {gated ? "mlp.fc11" : "mlp.fc1"}},
                    {"ffn_gate", {"mlp.fc12"}},
                    {"ffn_down", {"mlp.fc2"}},
                    {"ffn_gate_inp", {"mlp.router.layer"}},
                    {"ffn_up_exps", {"mlp.experts.up"}},
                    {"ffn_down_exps", {"mlp.experts.down"}},
                    {"layer_output_norm", {"norm2"}}}}};
  return names;
}

GgufNames ModernBert() {
  GgufNames names;
  names.one_projection = names.one_gate = true;
  names.model = {{"token_embd", {"embeddings.tok_embeddings"}},
                 {"token_embd_norm", {"embeddings.norm"}},
                 {"output_norm", {"final_norm"}},
                 {"cls", {"head.dense"}},
                 {"cls.norm", {"head.norm"}},
                 {"cls.output", {"classifier"}}};
  names.layers = {{"blk.",
                   "layers.",
                   {{"attn_norm", {"attn_norm"}},
                    {"attn_qkv", {"attn.Wqkv"}},
                    {"attn_output", {"attn.Wo"}},
                    {"ffn_norm", {"mlp_norm"}},
                    {"ffn_up", {"mlp.Wi"}},
                    {"ffn_down", {"mlp.Wo"}}}}};
  return names;
}

GgufNames T5(const GgufTensors& tensors) {
  const std::string up = tensors.count("enc.blk.0.ffn_gate.weight") != 0 ? "wi_1" : "wi";
  const auto layer = [&](const std::string& last) {
    const std::string self = "layer.0.SelfAttention.", wide = last + "DenseReluDense.";
    return GgufPlaces{{"attn_norm", {"layer.0.layer_norm"}},
                      {"attn_q", {self + "q"}},
                      {"attn_k", {self + "k"}},
                      {"attn_v", {self + "v"}},
                      {"attn_o", {self + "o"}},
                      {"attn_rel_b", {self + "relative_attention_bias"}},
                      {"ffn_norm", {last + "layer_norm"}},
                      {"ffn_gate", {wide + "wi_0"}},
                      {"ffn_up", {wide + up}},
                      {"ffn_down", {wide + "wo"}}};
  };
  GgufNames names;
  names.model = {{"token_embd", {"shared"}},
                 {"enc.output_norm", {"encoder.final_layer_norm"}},
                 {"dec.output_norm", {"decoder.final_layer_norm"}},
                 {"output", {"lm_head"}}};
  GgufPlaces decoder = layer("layer.2.");
  Put({{"cross_attn_norm", {"layer.1.layer_norm"}},
       {"cross_attn_q", {"layer.1.EncDecAttention.q"}},
       {"cross_attn_k", {"layer.1.EncDecAttention.k"}},
       {"cross_attn_v", {"layer.1.EncDecAttention.v"}},
       {"cross_attn_o", {"layer.1.EncDecAttention.o"}},
       {"cross_attn_rel_b", {"layer.1.EncDecAttention.relative_attention_bias"}}},
      &decoder);
  names.layers = {{"enc.blk.", "encoder.block.", layer("layer.1.")}, {"dec.blk.", "decoder.block.", decoder}};
  return names;
}

}  // namespace

GgufNames NamesOf(const std::string& model_type, const GgufTensors& tensors) {
  if (model_type == "bert") return Bert();
  if (model_type == "jina_bert") return JinaBert(tensors);
  if (model_type == "nomic_bert") return NomicBert(tensors);
  if (model_type == "modernbert") return ModernBert();
  if (model_type == "t5") return T5(tensors);
  if (model_type == "lfm2") return Lfm2();
  if (Is(model_type, {"gpt2", "gpt_bigcode", "gptj", "gpt_neox", "falcon", "bloom"})) return Gpt(model_type, tensors);
  return LlamaLike(model_type);
}

}  // namespace fovea::tools
