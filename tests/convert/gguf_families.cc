#include "tests/convert/gguf_families.h"

#include <fmt/format.h>
#include <math.h>

#include <algorithm>

namespace fovea::test {
namespace {

using Stored = StoredTensor;
using Family = GgufFamily;

// Rows by a rule: row i of the result is row of(i). Works for biases also.
template <typename Of>
Stored Rearranged(Stored of, const Of& from) {
  const size_t rows = of.shape[0], width = of.values.size() / rows;
  const std::vector<float> values = of.values;
  for (size_t i = 0; i < rows; ++i) {
    const auto begin = values.begin() + static_cast<ptrdiff_t>(from(i) * width);
    std::copy(begin, begin + static_cast<ptrdiff_t>(width), of.values.begin() + static_cast<ptrdiff_t>(i * width));
  }
  return of;
}

bool IsIn(const std::string& name, const char* part) { return name.find(part) != std::string::npos; }

// Llama's converter puts row i of the second half of a head behind row i of the first.
std::vector<Stored> PairRows(const Json& config, Stored of) {
  const bool query = IsIn(of.name, "q_proj"), key = IsIn(of.name, "k_proj");
  if (!query && !key) return {of};
  const size_t heads = config[query ? "num_attention_heads" : "num_key_value_heads"], size = of.shape[0] / heads;
  return {Rearranged(of, [=](size_t i) { return i / size * size + i % size / 2 + i % 2 * size / 2; })};
}

// Queries, keys and values, which the library has by group.
Stored Ungrouped(Stored of, size_t groups, size_t queries, size_t size) {
  const size_t group = (queries + 2) * size;
  return Rearranged(of, [=](size_t i) {
    const size_t head = i / size, column = i % size;
    if (head < groups * queries) return head / queries * group + head % queries * size + column;
    const size_t rest = head - groups * queries;
    return rest % groups * group + (queries + rest / groups) * size + column;
  });
}

std::vector<Stored> Transposed(const Json&, Stored of) {
  const bool linear = IsIn(of.name, "c_attn.w") || IsIn(of.name, "c_proj.w") || IsIn(of.name, "c_fc.w");
  if (!linear) return {of};
  Stored turned = {of.name, {of.shape[1], of.shape[0]}, of.values};
  for (size_t r = 0; r < of.shape[0]; ++r) {
    for (size_t c = 0; c < of.shape[1]; ++c) turned.values[c * of.shape[0] + r] = of.values[r * of.shape[1] + c];
  }
  return {turned};
}

std::vector<Stored> PlusOne(const Json&, Stored of) {
  if (IsIn(of.name, "norm.weight")) {
    for (float& value : of.values) value += 1;
  }
  return {of};
}

// gpt-oss: a gate beside each factor, as [experts, in, 2 * out]; [experts, out, in] each in files.
std::vector<Stored> GptOssExperts(const Json&, Stored of) {
  if (IsIn(of.name, "sinks")) of.name += ".weight";
  const bool gates = IsIn(of.name, "gate_up_proj"), bias = IsIn(of.name, "_bias");
  if (!gates && !IsIn(of.name, "experts.down_proj")) return {of};
  const size_t experts = of.shape[0], out = of.shape.back(), in = bias ? 1 : of.shape[1], step = gates ? 2 : 1;
  std::vector<Stored> parts;
  for (size_t part = 0; part < step; ++part) {
    const std::string name = of.name.substr(0, of.name.find("experts.")) + (!gates      ? "experts.down"
                                                                            : part == 0 ? "experts.gate"
                                                                                        : "experts.up");
    Stored one = {name + (bias ? ".bias" : ".weight"), {experts, out / step, in}, {}};
    if (bias) one.shape.pop_back();
    for (size_t e = 0; e < experts; ++e) {
      for (size_t row = part; row < out; row += step) {
        for (size_t column = 0; column < in; ++column) one.values.push_back(of.values[(e * in + column) * out + row]);
      }
    }
    parts.push_back(one);
  }
  return parts;
}

const Pairs kLlamaNames = {{"model.embed_tokens", "token_embd"},
                           {"model.norm", "output_norm"},
                           {"lm_head", "output"},
                           {"model.layers.", "blk."},
                           {"input_layernorm", "attn_norm"},
                           {"self_attn.q_proj", "attn_q"},
                           {"self_attn.k_proj", "attn_k"},
                           {"self_attn.v_proj", "attn_v"},
                           {"self_attn.o_proj", "attn_output"},
                           {"self_attn.q_norm", "attn_q_norm"},
                           {"self_attn.k_norm", "attn_k_norm"},
                           {"self_attn.qkv_proj", "attn_qkv"},
                           {"pre_feedforward_layernorm", "ffn_norm"},
                           {"post_attention_layernorm", "ffn_norm"},
                           {"post_feedforward_layernorm", "post_ffw_norm"},
                           {"mlp.gate_up_proj", "ffn_up"},
                           {"mlp.gate_proj", "ffn_gate"},
                           {"mlp.up_proj", "ffn_up"},
                           {"mlp.down_proj", "ffn_down"}};
const Pairs kLlamaNumbers = {{"block_count", "num_hidden_layers"},
                             {"embedding_length", "hidden_size"},
                             {"context_length", "max_position_embeddings"},
                             {"feed_forward_length", "intermediate_size"},
                             {"attention.head_count", "num_attention_heads"},
                             {"attention.head_count_kv", "num_key_value_heads"}};
const Pairs kRms = {{"attention.layer_norm_rms_epsilon", "rms_norm_eps"}, {"rope.freq_base", "rope_theta"}};
const Pairs kLayerNorm = {{"attention.layer_norm_epsilon", "layer_norm_eps"}, {"rope.freq_base", "rope_theta"}};

Pairs Before(Pairs first, const Pairs& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// Norms after a layer's parts.
const Pairs kAfter = {{"post_attention_layernorm", "post_attention_norm"}};

void Rotated(const char* key, const char* heads, const char* width, const Json& config, GgufWriter* writer,
             const std::string& arch) {
  const double size = config[width].get<double>() / config[heads].get<double>();
  writer->Number(arch + "rope.dimension_count", static_cast<uint32_t>(size * config[key].get<double>()));
}

void YarnKeys(const Json& config, GgufWriter* writer, const std::string& arch) {
  const Json& scaling = config["rope_scaling"];
  writer->Text(arch + "rope.scaling.type", "yarn");
  writer->Real(arch + "rope.scaling.factor", scaling["factor"]);
  writer->Number(arch + "rope.scaling.original_context_length", scaling["original_max_position_embeddings"]);
  writer->Real(arch + "rope.scaling.yarn_beta_fast", scaling["beta_fast"]);
  writer->Real(arch + "rope.scaling.yarn_beta_slow", scaling["beta_slow"]);
  if (!scaling.contains("attention_factor")) return;
  const double implied = 1 + 0.1 * log(scaling["factor"].get<double>());
  writer->Real(arch + "rope.scaling.yarn_attn_factor",
               static_cast<float>(scaling["attention_factor"].get<double>() / implied));
}

void WindowKeys(const Json& config, GgufWriter* writer, const std::string& arch) {
  writer->Number(arch + "attention.sliding_window", config["sliding_window"]);
  std::string list = Raw<uint32_t>(7) + Raw<uint64_t>(config["layer_types"].size());
  for (const Json& type : config["layer_types"]) list += type == "sliding_attention" ? '\1' : '\0';
  writer->Set(arch + "attention.sliding_window_pattern", 9, list);
}

void ExpertKeys(const char* key, const Json& config, GgufWriter* writer, const std::string& arch) {
  writer->Number(arch + "expert_count", config[key]);
  writer->Number(arch + "expert_used_count", config["num_experts_per_tok"]);
}

Family LlamaLike(const char* directory, const char* architecture) {
  return {directory, architecture, kLlamaNames, kLlamaNumbers, kRms};
}

}  // namespace

std::vector<GgufFamily> GgufDecoders() {
  std::vector<Family> all;
  const auto add = [&](const char* directory, const char* architecture) -> Family& {
    all.push_back(LlamaLike(directory, architecture));
    return all.back();
  };
  {
    Family& f = add("smollm3", "smollm3");
    f.edits = {{"no_rope_layers", nullptr}};
    f.change = PairRows;
  }
  {
    Family& f = add("granite", "granite");
    f.reals = Before(kRms, {{"attention.scale", "attention_multiplier"},
                            {"embedding_scale", "embedding_multiplier"},
                            {"residual_scale", "residual_multiplier"},
                            {"logit_scale", "logits_scaling"}});
    f.change = PairRows;
  }
  for (const char* name : {"olmo2", "olmo3"}) {
    Family& f = add(name, "olmo2");
    f.names = Before(kAfter, kLlamaNames);
    if (name == std::string("olmo2")) continue;
    f.more = [](const Json& config, GgufWriter* writer, const std::string& arch) {
      WindowKeys(config, writer, arch);
      YarnKeys(config, writer, arch);
    };
  }
  {
    Family& f = add("phi", "phi2");
    f.names = Before({{"model.final_layernorm", "output_norm"},
                      {"self_attn.dense", "attn_output"},
                      {"mlp.fc1", "ffn_up"},
                      {"mlp.fc2", "ffn_down"}},
                     kLlamaNames);
    f.reals = kLayerNorm;
    f.more = [](const Json& config, GgufWriter* writer, const std::string& arch) {
      Rotated("partial_rotary_factor", "num_attention_heads", "hidden_size", config, writer, arch);
    };
  }
  add("phi3", "phi3").numbers = Before(kLlamaNumbers, {{"attention.sliding_window", "sliding_window"}});
  {
    Family& f = add("phi3-longrope", "phi3");
    f.more = [](const Json& config, GgufWriter* writer, const std::string& arch) {
      const double original = config["original_max_position_embeddings"];
      const double scale = config["max_position_embeddings"].get<double>() / original;
      writer->Number(arch + "attention.sliding_window", 0);
      writer->Number(arch + "rope.scaling.original_context_length", config["original_max_position_embeddings"]);
      writer->Real(arch + "rope.scaling.attn_factor", static_cast<float>(sqrt(1 + log(scale) / log(original))));
      for (const char* kind : {"long", "short"}) {
        const std::vector<float> factors = config["rope_scaling"][kind + std::string("_factor")];
        writer->Add({fmt::format("rope_factors_{}.weight", kind),
                     {factors.size()},
                     0,
                     {reinterpret_cast<const char*>(factors.data()), 4 * factors.size()}});
      }
    };
  }
  {
    Family& f = add("starcoder2", "starcoder2");
    f.names = Before({{"mlp.c_fc", "ffn_up"}, {"mlp.c_proj", "ffn_down"}}, kLlamaNames);
    f.reals = {{"attention.layer_norm_epsilon", "norm_epsilon"}, {"rope.freq_base", "rope_theta"}};
    f.edits = {{"sliding_window", nullptr}};
  }
  {
    Family& f = add("stablelm", "stablelm");
    f.reals = kLayerNorm;
    f.more = [](const Json& config, GgufWriter* writer, const std::string& arch) {
      Rotated("partial_rotary_factor", "num_attention_heads", "hidden_size", config, writer, arch);
      writer->Flag(arch + "use_parallel_residual", config["use_parallel_residual"]);
    };
  }
  for (const char* name : {"cohere", "cohere2"}) {
    const bool second = name == std::string("cohere2");
    Family& f = add(name, second ? "cohere2" : "command-r");
    f.reals = Before(kLayerNorm, {{"logit_scale", "logit_scale"}});
    if (second) f.more = WindowKeys;
  }
  {
    Family& f = add("mixtral", "llama");
    f.names = Before({{"block_sparse_moe.gate", "ffn_gate_inp"},
                      {"block_sparse_moe.experts.w1", "ffn_gate_exps"},
                      {"block_sparse_moe.experts.w3", "ffn_up_exps"},
                      {"block_sparse_moe.experts.w2", "ffn_down_exps"}},
                     kLlamaNames);
    f.numbers = Before(kLlamaNumbers, {{"attention.key_length", "head_dim"}, {"attention.value_length", "head_dim"}});
    f.more = [](const Json& c, GgufWriter* w, const std::string& arch) { ExpertKeys("num_local_experts", c, w, arch); };
    f.change = PairRows;
  }
  const Pairs mlp = Before({{"mlp.gate.", "ffn_gate_inp."},
                            {"mlp.experts.gate_proj", "ffn_gate_exps"},
                            {"mlp.experts.up_proj", "ffn_up_exps"},
                            {"mlp.experts.down_proj", "ffn_down_exps"},
                            {"mlp.shared_expert_gate", "ffn_gate_inp_shexp"},
                            {"mlp.shared_expert.gate_proj", "ffn_gate_shexp"},
                            {"mlp.shared_expert.up_proj", "ffn_up_shexp"},
                            {"mlp.shared_expert.down_proj", "ffn_down_shexp"}},
                           kLlamaNames);
  for (const auto& [name, architecture] :
       {std::pair{"qwen2_moe", "qwen2moe"}, {"qwen3_moe", "qwen3moe"}, {"olmoe", "olmoe"}}) {
    Family& f = add(name, architecture);
    f.names = mlp;
    f.more = [](const Json& config, GgufWriter* writer, const std::string& arch) {
      ExpertKeys("num_experts", config, writer, arch);
      if (config.value("head_dim", Json()).is_number())
        writer->Number(arch + "attention.key_length", config["head_dim"]);
      if (config.value("head_dim", Json()).is_number())
        writer->Number(arch + "attention.value_length", config["head_dim"]);
      if (config.contains("norm_topk_prob")) writer->Flag(arch + "expert_weights_norm", config["norm_topk_prob"]);
      if (config.value("clip_qkv", Json()).is_number()) writer->Real(arch + "attention.clamp_kqv", config["clip_qkv"]);
    };
  }
  {
    Family& f = add("gpt_oss", "gpt-oss");
    f.names = Before(Before({{"self_attn.sinks", "attn_sinks"},
                             {"mlp.router", "ffn_gate_inp"},
                             {"mlp.experts.gate", "ffn_gate_exps"},
                             {"mlp.experts.up", "ffn_up_exps"},
                             {"mlp.experts.down", "ffn_down_exps"}},
                            kAfter),
                     kLlamaNames);
    f.numbers = Before(kLlamaNumbers, {{"attention.key_length", "head_dim"},
                                       {"attention.value_length", "head_dim"},
                                       {"attention.sliding_window", "sliding_window"}});
    f.more = [](const Json& config, GgufWriter* writer, const std::string& arch) {
      ExpertKeys("num_local_experts", config, writer, arch);
      YarnKeys(config, writer, arch);
    };
    f.change = GptOssExperts;
  }
  {
    Family& f = add("lfm2", "lfm2");
    f.names = {{"model.embed_tokens", "token_embd"},
               {"model.embedding_norm", "token_embd_norm"},
               {"model.layers.", "blk."},
               {"operator_norm", "attn_norm"},
               {"self_attn.q_proj", "attn_q"},
               {"self_attn.k_proj", "attn_k"},
               {"self_attn.v_proj", "attn_v"},
               {"self_attn.out_proj", "attn_output"},
               {"self_attn.q_layernorm", "attn_q_norm"},
               {"self_attn.k_layernorm", "attn_k_norm"},
               {"feed_forward.w1", "ffn_gate"},
               {"feed_forward.w3", "ffn_up"},
               {"feed_forward.w2", "ffn_down"},
               {"conv.conv", "shortconv.conv"},
               {"conv.in_proj", "shortconv.in_proj"},
               {"conv.out_proj", "shortconv.out_proj"}};
    f.reals = {{"attention.layer_norm_rms_epsilon", "norm_eps"}, {"rope.freq_base", "rope_theta"}};
    f.more = [](const Json& config, GgufWriter* writer, const std::string& arch) {
      std::vector<int32_t> heads;
      for (const Json& type : config["layer_types"])
        heads.push_back(type == "conv" ? 0 : config["num_key_value_heads"].get<int>());
      writer->List(arch + "attention.head_count_kv", 5, heads);
      writer->Number(arch + "shortconv.l_cache", config["conv_L_cache"]);
    };
    f.change = [](const Json&, Stored of) {
      if (of.shape.size() == 3) of.shape.erase(of.shape.begin() + 1);
      return std::vector<Stored>{of};
    };
  }
  return all;
}

std::vector<GgufFamily> GgufGpts() {
  std::vector<Family> all;
  const Pairs gpt2 = {{"transformer.wte", "token_embd"},
                      {"transformer.wpe", "position_embd"},
                      {"transformer.ln_f", "output_norm"},
                      {"lm_head", "output"},
                      {"transformer.h.", "blk."},
                      {"ln_1", "attn_norm"},
                      {"ln_2", "ffn_norm"},
                      {"attn.c_attn", "attn_qkv"},
                      {"attn.c_proj", "attn_output"},
                      {"mlp.c_fc", "ffn_up"},
                      {"mlp.c_proj", "ffn_down"},
                      {"attn.q_proj", "attn_q"},
                      {"attn.k_proj", "attn_k"},
                      {"attn.v_proj", "attn_v"},
                      {"attn.out_proj", "attn_output"},
                      {"mlp.fc_in", "ffn_up"},
                      {"mlp.fc_out", "ffn_down"}};
  const Pairs numbers = {{"block_count", "n_layer"},
                         {"embedding_length", "n_embd"},
                         {"context_length", "n_positions"},
                         {"attention.head_count", "n_head"}};
  const Pairs epsilon = {{"attention.layer_norm_epsilon", "layer_norm_epsilon"}};
  all.push_back({"gpt2", "gpt2", gpt2, numbers, epsilon, Json::object(), nullptr, Transposed});
  all.push_back(
      {"gpt_bigcode", "starcoder", gpt2, numbers, epsilon, Json::object(),
       [](const Json&, GgufWriter* w, const std::string& arch) { w->Number(arch + "attention.head_count_kv", 1); }});
  all.push_back({"gptj", "gptj", gpt2, Before(numbers, {{"rope.dimension_count", "rotary_dim"}}), epsilon});
  const Pairs neox = {{"gpt_neox.embed_in", "token_embd"},
                      {"gpt_neox.final_layer_norm", "output_norm"},
                      {"embed_out", "output"},
                      {"gpt_neox.layers.", "blk."},
                      {"transformer.word_embeddings_layernorm", "token_embd_norm"},
                      {"transformer.word_embeddings", "token_embd"},
                      {"transformer.ln_f", "output_norm"},
                      {"transformer.h.", "blk."},
                      {"input_layernorm", "attn_norm"},
                      {"post_attention_layernorm", "ffn_norm"},
                      {"ln_attn", "attn_norm_2"},
                      {"ln_mlp", "attn_norm"},
                      {"self_attention.query_key_value", "attn_qkv"},
                      {"attention.query_key_value", "attn_qkv"},
                      {"self_attention.dense", "attn_output"},
                      {"attention.dense", "attn_output"},
                      {"mlp.dense_h_to_4h", "ffn_up"},
                      {"mlp.dense_4h_to_h", "ffn_down"}};
  Pairs wide = kLlamaNumbers;
  wide.pop_back();
  wide.erase(wide.begin() + 3);
  const auto ungroup = [](const char* count, size_t groups, size_t queries) {
    return [=](const Json& config, Stored of) {
      if (!IsIn(of.name, "query_key_value")) return std::vector<Stored>{of};
      const size_t heads = config[count], all_heads = groups == 0 ? heads : groups;
      return std::vector<Stored>{Ungrouped(of, all_heads, queries, of.shape[0] / (all_heads * (queries + 2)))};
    };
  };
  for (const char* name : {"gpt_neox", "gpt_neox-seq"}) {
    all.push_back({name,
                   "gptneox",
                   neox,
                   wide,
                   kLayerNorm,
                   {{"hidden_act", "gelu"}},
                   [](const Json& config, GgufWriter* w, const std::string& arch) {
                     Rotated("rotary_pct", "num_attention_heads", "hidden_size", config, w, arch);
                     w->Flag(arch + "use_parallel_residual", config["use_parallel_residual"]);
                   },
                   ungroup("num_attention_heads", 0, 1)});
  }
  const Pairs falcon = {{"attention.layer_norm_epsilon", "layer_norm_epsilon"}, {"rope.freq_base", "rope_theta"}};
  const auto key_heads = [](uint32_t count) {
    return [count](const Json&, GgufWriter* w, const std::string& arch) {
      w->Number(arch + "attention.head_count_kv", count);
    };
  };
  all.push_back(
      {"falcon", "falcon", neox, wide, falcon, Json::object(), key_heads(1), ungroup("num_attention_heads", 1, 4)});
  all.push_back(
      {"falcon-gqa", "falcon", neox, wide, falcon, Json::object(), key_heads(2), ungroup("num_attention_heads", 2, 2)});
  all.push_back({"bloom",
                 "bloom",
                 neox,
                 {{"block_count", "n_layer"}, {"embedding_length", "hidden_size"}, {"attention.head_count", "n_head"}},
                 epsilon,
                 Json::object(),
                 [](const Json&, GgufWriter* w, const std::string& arch) { w->Number(arch + "context_length", 64); },
                 ungroup("n_head", 0, 1)});
  return all;
}

std::vector<GgufFamily> GgufEncoders() {
  std::vector<Family> all;
  all.push_back({"modernbert",
                 "modern-bert",
                 {{"embeddings.norm", "token_embd_norm"},
                  {"embeddings.tok_embeddings", "token_embd"},
                  {"final_norm", "output_norm"},
                  {"layers.", "blk."},
                  {"attn.Wqkv", "attn_qkv"},
                  {"attn.Wo", "attn_output"},
                  {"mlp_norm", "ffn_norm"},
                  {"mlp.Wi", "ffn_up"},
                  {"mlp.Wo", "ffn_down"}},
                 {{"block_count", "num_hidden_layers"},
                  {"embedding_length", "hidden_size"},
                  {"context_length", "max_position_embeddings"},
                  {"attention.head_count", "num_attention_heads"},
                  {"attention.sliding_window", "local_attention"},
                  {"attention.sliding_window_pattern", "global_attn_every_n_layers"}},
                 {{"attention.layer_norm_epsilon", "norm_eps"},
                  {"rope.freq_base", "global_rope_theta"},
                  {"rope.freq_base_swa", "local_rope_theta"}}});
  for (const char* name : {"t5", "t5-v1_1"}) {
    const bool gated = name != std::string("t5");
    all.push_back({name,
                   "t5",
                   {{"encoder.block.", "enc.blk."},
                    {"decoder.block.", "dec.blk."},
                    {"encoder.final_layer_norm", "enc.output_norm"},
                    {"decoder.final_layer_norm", "dec.output_norm"},
                    {"shared", "token_embd"},
                    {"lm_head", "output"},
                    {"layer.0.SelfAttention.relative_attention_bias", "attn_rel_b"},
                    {"layer.0.SelfAttention.", "attn_"},
                    {"layer.0.layer_norm", "attn_norm"},
                    {"layer.1.EncDecAttention.", "cross_attn_"},
                    {"layer.2.layer_norm", "ffn_norm"},
                    {"layer.1.DenseReluDense.", "ffn."},
                    {"layer.2.DenseReluDense.", "ffn."},
                    {"ffn.wi_0", "ffn_gate"},
                    {gated ? "ffn.wi_1" : "ffn.wi", "ffn_up"},
                    {"ffn.wo", "ffn_down"}},
                   {{"block_count", "num_layers"},
                    {"decoder_block_count", "num_decoder_layers"},
                    {"embedding_length", "d_model"},
                    {"attention.head_count", "num_heads"},
                    {"attention.key_length", "d_kv"},
                    {"attention.value_length", "d_kv"},
                    {"attention.relative_buckets_count", "relative_attention_num_buckets"},
                    {"decoder_start_token_id", "decoder_start_token_id"}},
                   {{"attention.layer_norm_epsilon", "layer_norm_epsilon"}},
                   {{"relative_attention_max_distance", 128}},
                   [](const Json&, GgufWriter* w, const std::string& arch) { w->Number(arch + "context_length", 512); },
                   [](const Json&, Stored of) {
                     const size_t at = of.name.find("layer.1.layer_norm");
                     if (at != std::string::npos) {
                       of.name.replace(at, 18, of.name[0] == 'd' ? "cross_attn_norm" : "ffn_norm");
                     }
                     return std::vector<Stored>{of};
                   }});
  }
  all.push_back(
      {"gemma3-embed", "gemma-embedding",
       Before(
           {{"embed_tokens", "token_embd"}, {"layers.", "blk."}, {"post_attention_layernorm", "post_attention_norm"}},
           Before(kLlamaNames, {{"norm.weight", "norm.weight"}})),
       Before(kLlamaNumbers, {{"attention.key_length", "head_dim"}, {"attention.value_length", "head_dim"}}),
       Before(kRms, {{"rope.freq_base_swa", "rope_local_base_freq"}}), Json::object(),
       [](const Json& config, GgufWriter* writer, const std::string& arch) {
         WindowKeys(config, writer, arch);
         writer->Real(arch + "attention.scale", 1 / sqrtf(config["query_pre_attn_scalar"]));
         writer->Flag(arch + "attention.causal", false);
       },
       [](const Json& config, Stored of) {
         if (of.name == "norm.weight") of.name = "output_norm.weight";
         return PlusOne(config, of);
       }});
  return all;
}

}  // namespace fovea::test
