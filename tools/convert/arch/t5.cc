// T5: RMS norms, no bias anywhere, no positions but a bias by distance, which the first layer stores and all
// share; attention is not scaled. LongT5's encoder sees a window, and perhaps a summary of each group of tokens.
#include <math.h>

#include "tools/base/fail.h"
#include "tools/convert/arch/sequence_to_sequence.h"
#include "tools/convert/arch/series.h"
#include "tools/convert/arch/shifted_decoder.h"
#include "tools/convert/constants.h"

namespace fovea::tools {
namespace {

// mT5 and UMT5 have other defaults than T5.
bool IsMultilingual(const Config& config) {
  const std::string type = config.Text("model_type");
  return type == "mt5" || type == "umt5";
}

struct FeedForward {
  bool gated;
  std::string activation;
};

// "relu", "gated-gelu": the latter is the tanh form.
FeedForward FeedForwardOf(const Config& config) {
  const std::string kind = config.Text("feed_forward_proj", IsMultilingual(config) ? "gated-gelu" : "relu");
  const bool gated = kind.rfind("gated-", 0) == 0;
  const std::string activation = gated ? kind.substr(6) : kind;
  const std::string name = ActivationName(kind == "gated-gelu" ? "gelu_new" : activation);
  if (name.empty()) Fail("config.json: feed_forward_proj {} is not supported", kind);
  config.Only("is_gated_act", gated);  // newer configurations repeat it
  if (config.Activation("dense_act_fn", kind == "gated-gelu" ? "gelu_new" : activation) != name) {
    Fail("config.json: dense_act_fn does not fit feed_forward_proj {}", kind);
  }
  return {gated, name};
}

// A bias by distance, for a stack.
void AddBias(const std::string& stored, bool causal, const std::string& name, const Config& config, Weights& weights) {
  const Constant buckets = weights.Get(stored + ".weight");
  config.Only("relative_attention_num_buckets", buckets.rows);
  weights.Add(name, RelativeBuckets(buckets, config.Number("relative_attention_max_distance", 128), causal));
}

// "encoder" or "decoder". `self`: what its attention to itself is called.
LayerStack Stack(const std::string& side, const std::string& self, const Config& config, Weights& weights) {
  const FeedForward feed_forward = FeedForwardOf(config);
  LayerStack stack;
  stack.causal = side == "decoder";
  stack.norms = {"rms", config.Real("layer_norm_epsilon", 1e-6)};
  stack.heads = config.Number("num_heads");
  stack.scale = 1;
  stack.activation = feed_forward.activation;
  stack.table = weights.Has(side + ".embed_tokens.weight") ? side + ".embed_tokens.weight" : "shared.weight";
  stack.final_norm = side + ".final_layer_norm";
  const auto bias = [&](uint32_t layer, const std::string& name) {
    AddBias(fmt::format("{}.block.{}.layer.0.{}.relative_attention_bias", side, layer, self), stack.causal, name,
            config, weights);
    return name;
  };
  const bool shared = config.Text("model_type") != "umt5";  // all layers share the bias of the first
  if (shared) stack.distance_bias = bias(0, side + ".distance_bias");
  const uint32_t encoder_layers = config.Number("num_layers");
  const uint32_t layers = stack.causal ? config.Number("num_decoder_layers", encoder_layers) : encoder_layers;
  const auto attention = [](const std::string& at, const std::string& name) {
    const std::string own = at + name + ".";
    return AttentionNames{
        .norm = at + "layer_norm", .query = own + "q", .key = own + "k", .value = own + "v", .output = own + "o"};
  };
  for (uint32_t i = 0; i < layers; ++i) {
    const std::string at = fmt::format("{}.block.{}.layer.", side, i), last = at + (stack.causal ? "2." : "1.");
    StackLayer layer;
    if (!shared) layer.distance_bias = bias(i, fmt::format("{}.distance_bias.{}", side, i));
    layer.attention = attention(at + "0.", self);
    if (stack.causal) layer.cross = attention(at + "1.", "EncDecAttention");
    layer.feed_forward.norm = last + "layer_norm";
    if (feed_forward.gated) layer.feed_forward.gate = last + "DenseReluDense.wi_0";
    layer.feed_forward.up = last + (feed_forward.gated ? "DenseReluDense.wi_1" : "DenseReluDense.wi");
    layer.feed_forward.down = last + "DenseReluDense.wo";
    stack.layers.push_back(layer);
  }
  return stack;
}

// Layers see a summary of every group of tokens besides: the sum of what the group's tokens ask with, normed.
void SeeSummaries(const std::string& self, const Config& config, Weights& weights, LayerStack& encoder) {
  const uint32_t group = config.Number("global_block_size", 16);
  if (group < 2 || group > UINT16_MAX) Fail("config.json: global_block_size {} is not supported", group);
  Space groups;
  groups.name = "groups";
  groups.strides = "tokens";
  groups.by = group;
  groups.last = group - 1;  // an incomplete group makes no row
  encoder.spaces = {groups};
  const std::string bias = "encoder.summary_bias";
  AddBias(fmt::format("encoder.block.0.layer.0.{}.global_relative_attention_bias", self), false, bias, config, weights);
  encoder.attend = [=](ProgramBuilder& b, const StackSite& site) {
    const LayerStack& stack = site.stack;
    const StackLayer& layer = stack.layers[site.layer];
    const std::string& at = site.at;
    b.Op("pool", {site.in}, {}, at + "group_sums", {{"kind", "sum"}, {"rest", true}}, "groups");
    b.Norm(at + "group_sums", fmt::format("encoder.block.{}.layer.0.{}.global_input_layer_norm", site.layer, self),
           at + "summaries");
    b.Linear(at + "summaries", layer.attention.key, at + "summary_key");
    b.Linear(at + "summaries", layer.attention.value, at + "summary_value");
    // Not named "attentions": the attention map has the weights of tokens, without the summaries' weights.
    return b.Attention(fmt::format("{}local_attentions.{}", stack.prefix, site.layer),
                       {at + "query", at + "key", at + "value", at + "summary_key", at + "summary_value"},
                       {.distance_bias = stack.distance_bias, .summary_bias = bias}, at + "attended",
                       {{"heads", stack.heads},
                        {"scale", *stack.scale},
                        {"pattern", "window"},
                        {"left", layer.window->left},
                        {"right", layer.window->right},
                        {"summaries", true}});
  };
}

LayerStack Encoder(const Config& config, Weights& weights) {
  if (config.Text("model_type") != "longt5") return Stack("encoder", "SelfAttention", config, weights);
  const std::string type = config.Text("encoder_attention_type", "local");
  const bool summaries = type == "transient-global";
  if (!summaries && type != "local") Fail("config.json: encoder_attention_type {} is not supported", type);
  const std::string self = summaries ? "TransientGlobalSelfAttention" : "LocalSelfAttention";
  LayerStack encoder = Stack("encoder", self, config, weights);
  const uint32_t radius = config.Number("local_radius", 127);
  for (StackLayer& layer : encoder.layers) layer.window = Window{radius, radius};
  if (summaries) SeeSummaries(self, config, weights, encoder);
  config.Ignore({"global_block_size"});  // read for transient-global alone
  return encoder;
}

}  // namespace

// The original: transformers/models/t5/modeling_t5.py: T5ForConditionalGeneration, T5ForSequenceClassification;
// transformers/models/mt5/modeling_mt5.py: MT5ForConditionalGeneration; transformers/models/umt5/modeling_umt5.py:
// UMT5ForConditionalGeneration, in which every layer has its bias; transformers/models/longt5/
// modeling_longt5.py: LongT5ForConditionalGeneration.
void DescribeT5(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  Weights& weights = description.weights;
  weights.DropPrefix("transformer.");  // stored by T5ForSequenceClassification and T5ForTokenClassification
  LayerStack encoder = Encoder(config, weights);
  LayerStack decoder;
  description.must_use = {"encoder."};
  if (ReadsShifted(checkpoint.task)) {
    decoder = Stack("decoder", "SelfAttention", config, weights);
    description.must_use.push_back("decoder.");
    Heads& heads = decoder.task_heads;
    heads.sequence_pool = "last";  // a text ends with eos
    heads.sequence = {
        .dense = "classification_head.dense", .activation = "tanh", .out = "classification_head.out_proj"};
  } else if (checkpoint.task == Task::kTokenClassification) {
    encoder.task_heads.token.out = "classifier";
  } else if (checkpoint.task == Task::kSequenceToSequence) {
    decoder = Stack("decoder", "SelfAttention", config, weights);
    description.must_use.push_back("decoder.");
    Heads& heads = decoder.task_heads;
    heads.language.out = "lm_head";
    heads.language_table = weights.Has("shared.weight") ? "shared.weight" : decoder.table;
    heads.tied = !IsMultilingual(config);
    // Later versions of the original library state the scale by another key.
    const bool scaled = config.Flag("scale_decoder_outputs", config.Flag("tie_word_embeddings", heads.tied));
    if (scaled) heads.score_scale = 1 / sqrt(config.Number("d_model"));
    if (ReadsSeries(config)) DescribeSeries(config, description);
  } else if (checkpoint.task != Task::kEncoder && checkpoint.task != Task::kBackbone) {
    Fail(
        "config.json: only the encoder (--task encoder), the decoder's head (--task seq2seq-lm) and heads for classes "
        "and answers are supported");
  }
  // Sizes follow from the tensors; the remaining keys concern training, or the decoder if it is not converted.
  config.Ignore({"d_ff", "d_kv", "d_model", "initializer_factor", "is_encoder_decoder", "n_positions",
                 "num_decoder_layers", "output_past", "scalable_attention", "scale_decoder_outputs"});
  if (ReadsShifted(checkpoint.task)) {
    return DescribeShifted(encoder, decoder, config.Number("decoder_start_token_id", 0), checkpoint, description);
  }
  DescribeSequenceToSequence(encoder, decoder, checkpoint, description);
}

}  // namespace fovea::tools
