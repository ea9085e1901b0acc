// Decoders that descend from GPT-2 under various names: learned or rotary positions, layer norms, feed-forward without
// a gate.
#include <math.h>

#include <algorithm>

#include "tools/base/fail.h"
#include "tools/convert/arch/layer_stack.h"
#include "tools/convert/arch/layer_types.h"
#include "tools/convert/constants.h"

namespace fovea::tools {
namespace {

// A decoder with word embeddings `table` whose names begin with `prefix`.
LayerStack Stack(const Checkpoint& checkpoint, Description& description, const std::string& prefix,
                 const std::string& table, const char* epsilon) {
  const Config& config = checkpoint.config;
  config.Only("add_cross_attention", false);
  LayerStack stack;
  stack.causal = true;
  stack.norms = {.kind = "layer", .epsilon = config.Real(epsilon, 1e-5)};
  stack.table = prefix + table + ".weight";
  stack.task_heads.language.out = "lm_head";
  stack.task_heads.language_table = stack.table;
  stack.task_heads.sequence_pool = "last";
  stack.task_heads.sequence.out = stack.task_heads.token.out = "score";
  description.must_use = {prefix};
  return stack;
}

// The prefix of names in checkpoints with a head.
std::string PrefixOf(const Weights& weights, const std::string& table, const std::string& prefix) {
  return weights.Has(table + ".weight") ? "" : prefix;
}

void LearnedPositions(const std::string& table, uint32_t first, Description& description, LayerStack& stack) {
  stack.positions = table;
  stack.first_position = first;
  description.SetMetadata("max_positions", std::to_string(description.weights.Get(table).rows - first));
}

// Stored as the transpose of what a linear layer is.
void Transposed(Weights& weights, const std::string& name) {
  weights.Add(name + ".turned.weight", Transpose(weights.Get(name + ".weight")));
  if (weights.Has(name + ".bias")) weights.Add(name + ".turned.bias", weights.Get(name + ".bias"));
}

FeedForwardNames FeedForward(const std::string& norm, const std::string& up, const std::string& down) {
  return {.norm = norm, .up = up, .down = down};
}

AttentionNames Attention(const std::string& norm, const std::string& projections, const std::string& output) {
  return {.norm = norm,
          .query = projections + "query",
          .key = projections + "key",
          .value = projections + "value",
          .output = output};
}

AttentionNames Projections(const std::string& norm, const std::string& at, const std::string& output) {
  return {.norm = norm, .query = at + "q_proj", .key = at + "k_proj", .value = at + "v_proj", .output = at + output};
}

// Norms that have no weights: all are 1.
void AddPlainNorms(Weights& weights, std::initializer_list<std::string> names, uint32_t width) {
  for (const std::string& name : names) {
    weights.Add(name + ".weight", Literal(1, width, std::vector<float>(width, 1.0f)));
  }
}

// The slopes of ALiBi: powers of 2^(-8 / n) for the largest power of two n of heads, then every other power of
// 2^(-4 / n).
Constant Slopes(uint32_t heads) {
  uint32_t n = 1;
  while (2 * n <= heads) n *= 2;
  std::vector<float> slopes;
  for (uint32_t i = 1; i <= n; ++i) slopes.push_back(static_cast<float>(pow(2, -8.0 * i / n)));
  for (uint32_t i = 1; slopes.size() < heads; i += 2) slopes.push_back(static_cast<float>(pow(2, -4.0 * i / n)));
  return Literal(1, heads, slopes);
}

}  // namespace

// The original: transformers/models/gpt2/modeling_gpt2.py: GPT2Model;
// transformers/models/gpt_bigcode/modeling_gpt_bigcode.py: GPTBigCodeModel.
void DescribeGpt2(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  Weights& weights = description.weights;
  const bool bigcode = config.Text("model_type") == "gpt_bigcode";
  const std::string prefix = PrefixOf(weights, "wte", "transformer.");
  LayerStack stack = Stack(checkpoint, description, prefix, "wte", "layer_norm_epsilon");
  description.must_use = {prefix + "h.", prefix + "wte.", prefix + "wpe.", prefix + "ln_f."};
  stack.heads = config.Number("n_head");
  const uint32_t size = HeadSize(config, "n_embd", stack.heads);
  stack.activation = config.Activation("activation_function", bigcode ? "gelu_pytorch_tanh" : "gelu_new");
  stack.final_norm = prefix + "ln_f";
  LearnedPositions(prefix + "wpe.weight", 0, description, stack);
  const bool scaled = config.Flag("scale_attn_weights", true), one = bigcode && config.Flag("multi_query", true);
  const bool by_layer = config.Flag("scale_attn_by_inverse_layer_idx", false);
  if (one) stack.kv_heads = 1;
  for (uint32_t i = 0; i < config.Number("n_layer"); ++i) {
    const std::string at = fmt::format("{}h.{}.", prefix, i), end = bigcode ? "" : ".turned";
    const std::string qkv = at + "attn.c_attn" + end;
    StackLayer layer;
    if (bigcode) {
      SplitGroups(weights, qkv, one ? 1 : stack.heads, one ? stack.heads : 1, size);
    } else {
      for (const char* name : {"attn.c_attn", "attn.c_proj", "mlp.c_fc", "mlp.c_proj"}) Transposed(weights, at + name);
      SplitLinear(weights, qkv, {"query", "key", "value"});
    }
    layer.attention = Attention(at + "ln_1", qkv + ".", at + "attn.c_proj" + end);
    layer.feed_forward = FeedForward(at + "ln_2", at + "mlp.c_fc" + end, at + "mlp.c_proj" + end);
    layer.scale = (scaled ? 1 / sqrt(size) : 1.0) / (by_layer ? i + 1.0 : 1.0);
    stack.layers.push_back(layer);
  }
  // Sizes follow from the tensors; the remaining keys concern training, summaries of heads for several choices, or how
  // the original computes the same.
  config.Ignore({"n_inner", "n_positions", "n_ctx", "reorder_and_upcast_attn", "num_key_value_heads",
                 "attention_softmax_in_fp32", "scale_attention_softmax_in_fp32", "summary_activation",
                 "summary_proj_to_labels", "summary_type", "summary_use_proj", "embd_pdrop", "attn_pdrop",
                 "resid_pdrop"});
  DescribeStack(stack, checkpoint, description);
}

// The original: transformers/models/gptj/modeling_gptj.py: GPTJModel.
void DescribeGptJ(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  const std::string prefix = PrefixOf(description.weights, "wte", "transformer.");
  LayerStack stack = Stack(checkpoint, description, prefix, "wte", "layer_norm_epsilon");
  description.must_use = {prefix + "h.", prefix + "wte.", prefix + "ln_f."};
  stack.task_heads.tied = false;
  stack.heads = config.Number("n_head");
  stack.activation = config.Activation("activation_function", "gelu_new");
  stack.final_norm = prefix + "ln_f";
  stack.parallel = true;
  const uint32_t size = HeadSize(config, "n_embd", stack.heads);
  RotaryPositions rotary =
      ReadRotary(config, {.scaling = nullptr}, config.Number("rotary_dim", size), "positions", description.weights);
  rotary.interleaved = true;
  description.SetMetadata("max_positions", std::to_string(config.Number("n_positions")));
  for (uint32_t i = 0; i < config.Number("n_layer"); ++i) {
    const std::string at = fmt::format("{}h.{}.", prefix, i);
    StackLayer layer;
    layer.attention = Projections(at + "ln_1", at + "attn.", "out_proj");
    layer.feed_forward = FeedForward("", at + "mlp.fc_in", at + "mlp.fc_out");
    layer.rotary = rotary;
    stack.layers.push_back(layer);
  }
  // Sizes follow from the tensors; the original does not read `rotary` and scale_attn_weights; the remaining keys
  // concern training and summaries.
  config.Ignore({"n_inner", "embd_pdrop", "attn_pdrop", "resid_pdrop", "summary_activation", "summary_proj_to_labels",
                 "summary_type", "summary_use_proj", "scale_attn_weights", "rotary", "n_ctx", "tokenizer_class"});
  DescribeStack(stack, checkpoint, description);
}

// The original: transformers/models/gpt_neo/modeling_gpt_neo.py: GPTNeoModel.
void DescribeGptNeo(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  const std::string prefix = PrefixOf(description.weights, "wte", "transformer.");
  LayerStack stack = Stack(checkpoint, description, prefix, "wte", "layer_norm_epsilon");
  description.must_use = {prefix + "h.", prefix + "wte.", prefix + "wpe.", prefix + "ln_f."};
  stack.heads = config.Number("num_heads");
  stack.scale = 1;
  stack.activation = config.Activation("activation_function", "gelu_new");
  stack.final_norm = prefix + "ln_f";
  LearnedPositions(prefix + "wpe.weight", 0, description, stack);
  // [[["global", "local"], 12]]: repeated 12 times.
  std::vector<Json> kinds;
  const uint32_t count = config.Number("num_layers");
  if (config.Get("attention_layers").is_array()) {
    kinds.assign(config.Get("attention_layers").begin(), config.Get("attention_layers").end());
  } else {
    for (const Json& part : config.View("attention_types").List()) {
      if (!part.is_array() || part.size() != 2 || !part[0].is_array())
        Fail("config.json: attention_types must be a list of kinds");
      const int64_t times = WholeNumber(part[1], "config.json: attention_types", {0, count});
      for (int64_t i = 0; i < times; ++i) kinds.insert(kinds.end(), part[0].begin(), part[0].end());
    }
  }
  if (kinds.size() != count) Fail("config.json: attention_types must name the kinds of {} layers", count);
  const uint32_t window = config.Number("window_size", 256);
  for (uint32_t i = 0; i < count; ++i) {
    const std::string at = fmt::format("{}h.{}.", prefix, i);
    if (kinds[i] != "global" && kinds[i] != "local")
      Fail("config.json: attention_layers: {} is not supported", Shown(kinds[i]));
    if (window == 0) Fail("config.json: window_size must not be 0");
    StackLayer layer;
    layer.attention = Projections(at + "ln_1", at + "attn.attention.", "out_proj");
    layer.feed_forward = FeedForward(at + "ln_2", at + "mlp.c_fc", at + "mlp.c_proj");
    if (kinds[i] == "local") layer.window = Window{window - 1, 0};
    stack.layers.push_back(layer);
  }
  // Sizes follow from the tensors; attention_types repeats attention_layers; the summary keys belong to other heads.
  config.Ignore({"hidden_size", "intermediate_size", "max_position_embeddings", "attention_types", "summary_activation",
                 "summary_proj_to_labels", "summary_type", "summary_use_proj"});
  DescribeStack(stack, checkpoint, description);
}

// The original: transformers/models/gpt_neox/modeling_gpt_neox.py: GPTNeoXModel.
void DescribeGptNeox(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  Weights& weights = description.weights;
  const std::string prefix = PrefixOf(weights, "embed_in", "gpt_neox.");
  LayerStack stack = Stack(checkpoint, description, prefix, "embed_in", "layer_norm_eps");
  description.must_use = {prefix + "layers.", prefix + "embed_in.", prefix + "final_layer_norm."};
  stack.task_heads.language.out = "embed_out";
  stack.task_heads.tied = false;
  stack.heads = config.Number("num_attention_heads");
  stack.activation = config.Activation("hidden_act", "gelu");
  stack.final_norm = prefix + "final_layer_norm";
  stack.parallel = config.Flag("use_parallel_residual", true);
  const uint32_t size = HeadSize(config, "hidden_size", stack.heads);
  const char* theta = config.Get("rotary_emb_base").is_null() ? "rope_theta" : "rotary_emb_base";
  const RotaryPositions rotary = ReadRotary(config, {theta, 10000, "rope_scaling"},
                                            RotaryDims(config, size, "rotary_pct", 0.25), "positions", weights);
  description.SetMetadata("max_positions", std::to_string(config.Number("max_position_embeddings")));
  RefuseBiases(checkpoint, weights, "attention_bias", true, {"query_key_value", "attention.dense"});
  for (uint32_t i = 0; i < config.Number("num_hidden_layers"); ++i) {
    const std::string at = fmt::format("{}layers.{}.", prefix, i), qkv = at + "attention.query_key_value";
    SplitGroups(weights, qkv, stack.heads, 1, size);
    StackLayer layer;
    layer.attention = Attention(at + "input_layernorm", qkv + ".", at + "attention.dense");
    layer.feed_forward =
        FeedForward(at + "post_attention_layernorm", at + "mlp.dense_h_to_4h", at + "mlp.dense_4h_to_h");
    layer.rotary = rotary;
    stack.layers.push_back(layer);
  }
  // The size follows from the tensors; the other keys repeat rotary_emb_base and rotary_pct.
  config.Ignore({"intermediate_size", "rope_theta", "partial_rotary_factor"});
  DescribeStack(stack, checkpoint, description);
}

// The original: transformers/models/falcon/modeling_falcon.py: FalconModel.
void DescribeFalcon(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  Weights& weights = description.weights;
  const std::string prefix = PrefixOf(weights, "word_embeddings", "transformer.");
  LayerStack stack = Stack(checkpoint, description, prefix, "word_embeddings", "layer_norm_epsilon");
  description.must_use = {prefix + "h.", prefix + "word_embeddings.", prefix + "ln_f."};
  stack.heads = config.Number("num_attention_heads");
  stack.activation = config.Activation("activation", "gelu");
  stack.final_norm = prefix + "ln_f";
  const bool grouped = config.Flag("new_decoder_architecture", false), one = config.Flag("multi_query", true);
  const bool two_norms = grouped && config.Number("num_ln_in_parallel_attn", 2) == 2;
  stack.kv_heads = grouped ? config.Number("num_kv_heads", stack.heads) : one ? 1 : stack.heads;
  stack.parallel = grouped || config.Flag("parallel_attn", true);
  if (stack.kv_heads == 0 || stack.heads % stack.kv_heads != 0)
    Fail("config.json: {} heads cannot share {} num_kv_heads", stack.heads, stack.kv_heads);
  const uint32_t size = HeadSize(config, "hidden_size", stack.heads);
  // The biases of ALiBi are divided as the products are. The original library rounds them to bf16 first.
  const bool sloped = config.Flag("alibi", false);
  if (sloped) {
    stack.slopes = "slopes";
    weights.Add(stack.slopes, Scale(Slopes(stack.heads), static_cast<float>(1 / sqrt(size))));
  }
  const RotaryPositions rotary = sloped ? RotaryPositions() : ReadRotary(config, {}, size, "positions", weights);
  description.SetMetadata("max_positions", std::to_string(config.Number("max_position_embeddings", 2048)));
  RefuseBiases(checkpoint, weights, "bias", false, {"query_key_value", "dense", "dense_h_to_4h", "dense_4h_to_h"});
  for (uint32_t i = 0; i < config.Number("num_hidden_layers"); ++i) {
    const std::string at = fmt::format("{}h.{}.", prefix, i), qkv = at + "self_attention.query_key_value";
    SplitGroups(weights, qkv, stack.kv_heads, stack.heads / stack.kv_heads, size);
    StackLayer layer;
    layer.attention =
        Attention(at + (two_norms ? "ln_attn" : "input_layernorm"), qkv + ".", at + "self_attention.dense");
    const std::string norm = two_norms ? at + "ln_mlp" : stack.parallel ? "" : at + "post_attention_layernorm";
    layer.feed_forward = FeedForward(norm, at + "mlp.dense_h_to_4h", at + "mlp.dense_4h_to_h");
    layer.rotary = rotary;
    stack.layers.push_back(layer);
  }
  // The size follows from the tensors; the remaining keys are read only for one kind of architecture or positions.
  config.Ignore({"ffn_hidden_size", "num_kv_heads", "num_ln_in_parallel_attn", "parallel_attn", "multi_query",
                 "rope_theta", "rope_scaling"});
  DescribeStack(stack, checkpoint, description);
}

// The original: transformers/models/bloom/modeling_bloom.py: BloomModel.
void DescribeBloom(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  Weights& weights = description.weights;
  const std::string prefix = PrefixOf(weights, "word_embeddings", "transformer.");
  LayerStack stack = Stack(checkpoint, description, prefix, "word_embeddings", "layer_norm_epsilon");
  description.must_use = {prefix + "h.", prefix + "word_embeddings", prefix + "ln_f."};
  config.Only("apply_residual_connection_post_layernorm", false);
  stack.heads = config.Number("n_head");
  stack.activation = "gelu_tanh";
  stack.embedding_norm = prefix + "word_embeddings_layernorm";
  stack.final_norm = prefix + "ln_f";
  stack.slopes = "slopes";
  weights.Add(stack.slopes, Slopes(stack.heads));
  const uint32_t size = HeadSize(config, "hidden_size", stack.heads);
  for (uint32_t i = 0; i < config.Number("n_layer"); ++i) {
    const std::string at = fmt::format("{}h.{}.", prefix, i), qkv = at + "self_attention.query_key_value";
    SplitGroups(weights, qkv, stack.heads, 1, size);
    StackLayer layer;
    layer.attention = Attention(at + "input_layernorm", qkv + ".", at + "self_attention.dense");
    layer.feed_forward =
        FeedForward(at + "post_attention_layernorm", at + "mlp.dense_h_to_4h", at + "mlp.dense_4h_to_h");
    stack.layers.push_back(layer);
  }
  // Sizes follow from the tensors; the remaining keys choose how the original computes the same.
  config.Ignore({"pretraining_tp", "slow_but_exact", "seq_length", "skip_bias_add", "skip_bias_add_qkv",
                 "attention_softmax_in_fp32", "bias_dropout_fusion", "masked_softmax_fusion", "offset_alibi",
                 "unk_token_id", "n_inner"});
  DescribeStack(stack, checkpoint, description);
}

// The original: transformers/models/opt/modeling_opt.py: OPTModel.
void DescribeOpt(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  Weights& weights = description.weights;
  const std::string prefix = weights.Has("model.decoder.embed_tokens.weight") ? "model.decoder." : "decoder.";
  LayerStack stack = Stack(checkpoint, description, prefix, "embed_tokens", "layer_norm_eps");
  stack.heads = config.Number("num_attention_heads");
  stack.activation = config.Activation("activation_function", "relu");
  const bool before = config.Flag("do_layer_norm_before", true);
  if (before && !config.Flag("_remove_final_layer_norm", false)) stack.final_norm = prefix + "final_layer_norm";
  if (weights.Has(prefix + "project_in.weight")) {
    stack.embedding_projection = prefix + "project_in";
    stack.output_projection = prefix + "project_out";
  }
  LearnedPositions(prefix + "embed_positions.weight", 2, description, stack);
  RefuseBiases(checkpoint, weights, "enable_bias", true, {"_proj", "fc1", "fc2"});
  const bool weighed = config.Flag("layer_norm_elementwise_affine", true);
  for (uint32_t i = 0; i < config.Number("num_hidden_layers"); ++i) {
    const std::string at = fmt::format("{}layers.{}.", prefix, i), norm = at + "self_attn_layer_norm";
    StackLayer layer;
    layer.attention = Projections(before ? norm : "", at + "self_attn.", "out_proj");
    layer.feed_forward = FeedForward(before ? at + "final_layer_norm" : "", at + "fc1", at + "fc2");
    if (!before) layer.attention.sum_norm = norm, layer.feed_forward.sum_norm = at + "final_layer_norm";
    if (!weighed) AddPlainNorms(weights, {norm, at + "final_layer_norm"}, config.Number("hidden_size"));
    stack.layers.push_back(layer);
  }
  if (!weighed && !stack.final_norm.empty()) AddPlainNorms(weights, {stack.final_norm}, config.Number("hidden_size"));
  // Sizes follow from the tensors; the remaining keys concern training and prompts.
  config.Ignore(
      {"hidden_size", "ffn_dim", "max_position_embeddings", "word_embed_proj_dim", "init_std", "layerdrop", "prefix"});
  DescribeStack(stack, checkpoint, description);
}

// The original: transformers/models/modernbert_decoder/modeling_modernbert_decoder.py: ModernBertDecoderModel.
void DescribeModernbertDecoder(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  Weights& weights = description.weights;
  const std::string prefix = PrefixOf(weights, "embeddings.tok_embeddings", "model.");
  LayerStack stack = Stack(checkpoint, description, prefix, "embeddings.tok_embeddings", "norm_eps");
  description.must_use = {prefix + "embeddings.", prefix + "layers.", prefix + "final_norm."};
  stack.heads = config.Number("num_attention_heads");
  stack.activation = config.Activation("hidden_activation", "gelu");
  stack.embedding_norm = prefix + "embeddings.norm";
  stack.final_norm = prefix + "final_norm";
  const uint32_t every = config.Number("global_attn_every_n_layers", 3),
                 window = config.Number("local_attention", 128) / 2;
  if (every == 0 || window == 0) Fail("config.json: global_attn_every_n_layers and local_attention must not be 0");
  LayerTypes types;
  types.slides = [=](uint32_t i) { return i % every != 0; };
  types.rotary_dims = HeadSize(config, "hidden_size", stack.heads);
  types.full = {.theta = "global_rope_theta", .absent = 160000, .scaling = nullptr};
  types.sliding = {.theta = "local_rope_theta", .absent = 10000, .scaling = nullptr};
  types.window = {window - 1, 0};
  for (const LayerType& type : ReadLayerTypes(config, types, description)) {
    const std::string at = fmt::format("{}layers.{}.", prefix, stack.layers.size());
    SplitLinear(weights, at + "mlp.Wi", {"gate", "up"});
    StackLayer layer;
    layer.attention = Projections(stack.layers.empty() ? "" : at + "attn_norm", at + "attn.", "Wo");
    layer.feed_forward = FeedForward(at + "mlp_norm", at + "mlp.Wi.up", at + "mlp.Wo");
    layer.feed_forward.gate = at + "mlp.Wi.gate";
    layer.rotary = type.rotary;
    layer.window = type.window;
    stack.layers.push_back(layer);
  }
  stack.task_heads.language = {.dense = "lm_head.dense",
                               .activation = config.Activation("classifier_activation", "gelu"),
                               .norm = "lm_head.norm",
                               .out = "decoder"};
  RefuseBiases(checkpoint, weights, "attention_bias", false, {"attn.q_proj", "attn.k_proj", "attn.v_proj", "attn.Wo"});
  RefuseBiases(checkpoint, weights, "mlp_bias", false, {"mlp.Wi", "mlp.Wo"});
  RefuseBiases(checkpoint, weights, "norm_bias", false, {"norm"});
  RefuseBiases(checkpoint, weights, "classifier_bias", false, {"lm_head.dense"});
  RefuseBiases(checkpoint, weights, "decoder_bias", true, {"decoder"});
  // Sizes follow from the tensors and local_attention; the remaining keys concern training and compilation.
  config.Ignore({"intermediate_size", "sliding_window", "initializer_cutoff_factor", "reference_compile"});
  DescribeStack(stack, checkpoint, description);
}

}  // namespace fovea::tools
