// Decoders that are GPT or OPT under other names: CodeGen, the first GPT, MPT, BioGPT and XGLM.
#include <math.h>

#include "tools/base/fail.h"
#include "tools/convert/arch/layer_stack.h"
#include "tools/convert/constants.h"

namespace fovea::tools {
namespace {

// The prefix of names in checkpoints with a head.
std::string PrefixOf(const Weights& weights, const std::string& table, const std::string& prefix) {
  return weights.Has(table + ".weight") ? "" : prefix;
}

LayerStack Stack(const Config& config, const std::string& table, const char* epsilon_key) {
  config.Only("add_cross_attention", false);
  LayerStack stack;
  stack.causal = true;
  stack.norms = {.kind = "layer", .epsilon = epsilon_key == nullptr ? 1e-5 : config.Real(epsilon_key, 1e-5)};
  stack.table = table;
  stack.task_heads.language.out = "lm_head";
  stack.task_heads.language_table = table;
  stack.task_heads.sequence_pool = "last";
  stack.task_heads.sequence.out = stack.task_heads.token.out = "score";
  return stack;
}

AttentionNames Projections(const std::string& at) {
  return {.query = at + "q_proj", .key = at + "k_proj", .value = at + "v_proj", .output = at + "out_proj"};
}

// A layer of OPT: norms before attention and feed-forward.
StackLayer OptLayer(const std::string& at) {
  StackLayer layer;
  layer.attention = Projections(at + "self_attn.");
  layer.attention.norm = at + "self_attn_layer_norm";
  layer.feed_forward = {.norm = at + "final_layer_norm", .up = at + "fc1", .down = at + "fc2"};
  return layer;
}

void SetRows(const LayerStack& stack, Description& description) {
  const uint32_t rows = description.weights.Get(stack.positions).rows;
  if (rows <= stack.first_position) Fail("tensor {} has only {} rows but needs more", stack.positions, rows);
  description.SetMetadata("max_positions", std::to_string(rows - stack.first_position));
}

// Keys of heads that are not described, and of training.
void IgnoreSummary(const Config& config) {
  config.Ignore({"n_inner", "n_ctx", "n_positions", "summary_activation", "summary_proj_to_labels", "summary_type",
                 "summary_use_proj", "summary_first_dropout", "scale_attn_weights", "tokenizer_class"});
}

}  // namespace

// The first layer of attention has rows of four parts, as it was split for training; each part has its heads' queries,
// values and keys. The original: transformers/models/codegen/modeling_codegen.py: CodeGenModel.
void DescribeCodegen(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  Weights& weights = description.weights;
  const std::string prefix = PrefixOf(weights, "wte", "transformer.");
  LayerStack stack = Stack(config, prefix + "wte.weight", "layer_norm_epsilon");
  description.must_use = {prefix + "h.", prefix + "wte.", prefix + "ln_f."};
  stack.task_heads.tied = false;
  stack.heads = config.Number("n_head");
  stack.activation = config.Activation("activation_function", "gelu_new");
  stack.final_norm = prefix + "ln_f";
  stack.parallel = true;
  const uint32_t width = config.Number("n_embd"), size = HeadSize(config, "n_embd", stack.heads);
  constexpr uint32_t kParts = 4;
  if (width % kParts != 0 || stack.heads % kParts != 0)
    Fail("config.json: n_head {} is not a multiple of {}", stack.heads, kParts);
  RotaryPositions rotary =
      ReadRotary(config, {.scaling = nullptr}, config.Number("rotary_dim", size), "positions", weights);
  rotary.interleaved = true;
  description.SetMetadata("max_positions", std::to_string(config.Number("n_positions")));
  const auto rows = [&](uint32_t which) {
    std::vector<uint32_t> numbers;
    const uint32_t local = width / kParts;
    for (uint32_t part = 0; part < kParts; ++part) {
      for (uint32_t i = 0; i < local; ++i) numbers.push_back((part * 3 + which) * local + i);
    }
    return numbers;
  };
  for (uint32_t i = 0; i < config.Number("n_layer"); ++i) {
    const std::string at = fmt::format("{}h.{}.", prefix, i), qkv = at + "attn.qkv_proj";
    const Constant whole = weights.Get(qkv + ".weight");
    if (whole.rows != uint64_t{3} * width) Fail("tensor {}.weight has {} rows, not 3 times {}", qkv, whole.rows, width);
    uint32_t which = 0;
    for (const char* name : {".query", ".value", ".key"})
      weights.Add(qkv + name + ".weight", Pick(whole, rows(which++)));
    StackLayer layer;
    layer.attention = {.norm = at + "ln_1",
                       .query = qkv + ".query",
                       .key = qkv + ".key",
                       .value = qkv + ".value",
                       .output = at + "attn.out_proj"};
    layer.feed_forward = {.up = at + "mlp.fc_in", .down = at + "mlp.fc_out"};
    layer.rotary = rotary;
    stack.layers.push_back(layer);
  }
  IgnoreSummary(config);
  DescribeStack(stack, checkpoint, description);
}

// Norms after the residual sums. The original: transformers/models/openai/modeling_openai.py: OpenAIGPTModel.
void DescribeOpenAiGpt(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  Weights& weights = description.weights;
  const std::string prefix = PrefixOf(weights, "tokens_embed", "transformer.");
  LayerStack stack = Stack(config, prefix + "tokens_embed.weight", "layer_norm_epsilon");
  description.must_use = {prefix + "h.", prefix + "tokens_embed.", prefix + "positions_embed."};
  weights.Ignore("*.attn.bias");  // the causal mask
  stack.heads = config.Number("n_head");
  const std::string activation = config.Text("afn", "gelu");
  stack.activation = ActivationName(activation == "gelu" ? "gelu_new" : activation);  // in the class's own table
  if (stack.activation.empty()) Fail("config.json: afn {} is not supported", activation);
  stack.positions = prefix + "positions_embed.weight";
  SetRows(stack, description);
  for (uint32_t i = 0; i < config.Number("n_layer"); ++i) {
    const std::string at = fmt::format("{}h.{}.", prefix, i);
    for (const char* name : {"attn.c_attn", "attn.c_proj", "mlp.c_fc", "mlp.c_proj"}) {
      weights.Add(at + name + ".turned.weight", Transpose(weights.Get(at + name + ".weight")));
      if (weights.Has(at + name + ".bias")) weights.Add(at + name + ".turned.bias", weights.Get(at + name + ".bias"));
    }
    const std::string qkv = at + "attn.c_attn.turned";
    SplitLinear(weights, qkv, {"query", "key", "value"});
    StackLayer layer;
    layer.attention = {.query = qkv + ".query",
                       .key = qkv + ".key",
                       .value = qkv + ".value",
                       .output = at + "attn.c_proj.turned",
                       .sum_norm = at + "ln_1"};
    layer.feed_forward = {.up = at + "mlp.c_fc.turned", .down = at + "mlp.c_proj.turned", .sum_norm = at + "ln_2"};
    stack.layers.push_back(layer);
  }
  IgnoreSummary(config);
  config.Ignore({"n_embd", "n_special", "predict_special_tokens"});
  DescribeStack(stack, checkpoint, description);
}

// The original: transformers/models/mpt/modeling_mpt.py: MptModel.
void DescribeMpt(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  Weights& weights = description.weights;
  const std::string prefix = PrefixOf(weights, "wte", "transformer.");
  LayerStack stack = Stack(config, prefix + "wte.weight", "layer_norm_epsilon");
  description.must_use = {prefix + "blocks.", prefix + "wte.", prefix + "norm_f."};
  stack.heads = config.Number("n_heads");
  stack.activation = "gelu";
  stack.final_norm = prefix + "norm_f";
  const JsonView attention = config.View("attn_config");
  const auto of_attention = [&](const char* key) { return attention.IsNull() ? attention : attention[key]; };
  if (!attention.IsNull()) {
    if (of_attention("qk_ln").Flag(false)) Fail("config.json: attn_config: qk_ln is not supported");
    if (of_attention("prefix_lm").Flag(false)) Fail("config.json: attn_config: prefix_lm is not supported");
    if (!of_attention("alibi").Flag(true)) Fail("config.json: attn_config: alibi false is not supported");
    stack.projection_limit = of_attention("clip_qkv").Real({0, 1e9}, 0);
    if (!of_attention("softmax_scale").IsNull()) stack.scale = of_attention("softmax_scale").Real({1e-9, 1e9});
  }
  const double largest = attention.IsNull() ? 8 : of_attention("alibi_bias_max").Real({1e-3, 1e3}, 8);
  // Slopes of the next power of two of heads; every second one first.
  uint32_t power = 1;
  while (power < stack.heads) power *= 2;
  std::vector<float> all, slopes;
  for (uint32_t i = 1; i <= power; ++i) all.push_back(static_cast<float>(pow(2, -(i * largest / power))));
  if (power != stack.heads) {
    for (uint32_t i = 1; i < power; i += 2) slopes.push_back(all[i]);
    for (uint32_t i = 0; i < power; i += 2) slopes.push_back(all[i]);
    slopes.resize(stack.heads);
  } else {
    slopes = all;
  }
  stack.slopes = "slopes";
  weights.Add(stack.slopes, Literal(1, stack.heads, slopes));
  description.SetMetadata("max_positions", std::to_string(config.Number("max_seq_len", 2048)));
  for (uint32_t i = 0; i < config.Number("n_layers"); ++i) {
    const std::string at = fmt::format("{}blocks.{}.", prefix, i), qkv = at + "attn.Wqkv";
    SplitLinear(weights, qkv, {"query", "key", "value"});
    StackLayer layer;
    layer.attention = {.norm = at + "norm_1",
                       .query = qkv + ".query",
                       .key = qkv + ".key",
                       .value = qkv + ".value",
                       .output = at + "attn.out_proj"};
    layer.feed_forward = {.norm = at + "norm_2", .up = at + "ffn.up_proj", .down = at + "ffn.down_proj"};
    stack.layers.push_back(layer);
  }
  config.Only("logit_scale", nullptr);
  // Sizes follow from the tensors; the remaining keys concern training.
  config.Ignore({"d_model", "expansion_ratio", "learned_pos_emb", "no_bias", "embedding_fraction", "norm_type",
                 "init_config", "init_device", "emb_pdrop", "resid_pdrop", "verbose", "attn_config"});
  DescribeStack(stack, checkpoint, description);
}

// The original: transformers/models/biogpt/modeling_biogpt.py: BioGptModel.
void DescribeBiogpt(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  const std::string prefix = PrefixOf(description.weights, "embed_tokens", "biogpt.");
  LayerStack stack = Stack(config, prefix + "embed_tokens.weight", "layer_norm_eps");
  if (config.Get("layer_norm_eps").is_null()) stack.norms.epsilon = 1e-12;
  description.must_use = {prefix};
  if (prefix.empty()) description.must_use = {"layers.", "embed_tokens.", "embed_positions.", "layer_norm."};
  stack.task_heads.language.out = "output_projection";
  stack.heads = config.Number("num_attention_heads");
  stack.activation = config.Activation("hidden_act", "gelu");
  if (config.Flag("scale_embedding", true)) stack.table_scale = sqrt(config.Number("hidden_size"));
  stack.final_norm = prefix + "layer_norm";
  stack.positions = prefix + "embed_positions.weight";
  stack.first_position = 2;
  SetRows(stack, description);
  for (uint32_t i = 0; i < config.Number("num_hidden_layers"); ++i) {
    stack.layers.push_back(OptLayer(fmt::format("{}layers.{}.", prefix, i)));
  }
  // Sizes follow from the tensors; the remaining keys concern training.
  config.Ignore({"hidden_size", "intermediate_size", "max_position_embeddings", "layerdrop"});
  DescribeStack(stack, checkpoint, description);
}

// The original: transformers/models/xglm/modeling_xglm.py: XGLMModel.
void DescribeXglm(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  Weights& weights = description.weights;
  const std::string prefix = PrefixOf(weights, "embed_tokens", "model.");
  LayerStack stack = Stack(config, prefix + "embed_tokens.weight", nullptr);
  description.must_use = {prefix + "layers.", prefix + "embed_tokens.", prefix + "layer_norm."};
  stack.heads = config.Number("attention_heads");
  stack.activation = config.Activation("activation_function", "gelu");
  if (config.Flag("scale_embedding", true)) stack.table_scale = sqrt(config.Number("d_model"));
  stack.final_norm = prefix + "layer_norm";
  SinusoidalSpec sines;
  sines.rows = config.Number("max_position_embeddings");
  sines.width = config.Number("d_model");
  sines.inclusive = true;
  sines.first = 2;  // rows before it are for padding
  stack.positions = "positions";
  weights.Add(stack.positions, Sinusoidal(sines));
  SetRows(stack, description);
  for (uint32_t i = 0; i < config.Number("num_layers"); ++i) {
    stack.layers.push_back(OptLayer(fmt::format("{}layers.{}.", prefix, i)));
  }
  // Sizes follow from the tensors; the remaining keys concern training.
  config.Ignore({"ffn_dim", "init_std", "layerdrop"});
  DescribeStack(stack, checkpoint, description);
}

}  // namespace fovea::tools
