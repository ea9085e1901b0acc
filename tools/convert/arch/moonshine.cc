// Moonshine: samples of sound through three strided convolutions, then layers with rotary positions; the decoder's
// feed-forward is gated.
#include <algorithm>

#include "tools/base/fail.h"
#include "tools/convert/arch/clip_norm.h"
#include "tools/convert/arch/convolution.h"
#include "tools/convert/arch/sequence_to_sequence.h"
#include "tools/convert/arch/sound_front.h"

namespace fovea::tools {
namespace {

Front ConvolvedSamples(Weights& weights) {
  const std::string at = "model.encoder.";
  const auto channels = [&](const char* name) { return weights.Get(at + name + ".weight").rows; };
  const Convolution first = {at + "conv1", 1, 64, 0, "tanh"};
  const Convolution second = {at + "conv2", channels("conv1"), 3, 0, "gelu"};
  const Convolution third = {at + "conv3", channels("conv2"), 2, 0, "gelu"};
  const ClipNorm norm = {at + "groupnorm", 1e-5, "clips", "frames.1"};
  Front front;
  front.spaces = {{"clips"},
                  {"samples", "clips"},
                  ConvolvedSpace(first, weights, "frames.1", "samples"),
                  ConvolvedSpace(second, weights, "frames.2", "frames.1"),
                  ConvolvedSpace(third, weights, "tokens", "frames.2")};
  front.input = {"input_values", "samples", false, 1};
  front.rows = [=, &weights](ProgramBuilder& builder, const std::string& in, const std::string& out) {
    AddConvolution(first, weights, builder, in, "convolutions.0", "frames.1");
    AddClipNorm(norm, weights, builder, "convolutions.0", "convolutions.0.normed");
    AddConvolution(second, weights, builder, "convolutions.0.normed", "convolutions.1", "frames.2");
    return AddConvolution(third, weights, builder, "convolutions.1", out, "tokens");
  };
  return front;
}

AttentionNames Attention(const std::string& at, const std::string& norm) {
  return {.norm = norm, .query = at + "q_proj", .key = at + "k_proj", .value = at + "v_proj", .output = at + "o_proj"};
}

LayerStack Stack(const std::string& side, const Config& config, Weights& weights) {
  const std::string at = "model." + side + ".";
  LayerStack stack;
  stack.causal = side == "decoder";
  stack.norms = {"layer", 1e-5};
  stack.heads = config.Number(side + "_num_attention_heads", 8);
  stack.kv_heads = config.Number(side + "_num_key_value_heads", stack.heads);
  stack.activation = config.Activation(side + "_hidden_act", stack.causal ? "silu" : "gelu");
  stack.final_norm = at + (stack.causal ? "norm" : "layer_norm");
  const uint32_t head_size = config.Number("hidden_size", 288) / std::max(stack.heads, 1u);
  RotaryPositions rotary =
      ReadRotary(config, {}, RotaryDims(config, head_size, "partial_rotary_factor", 0.9), side, weights);
  rotary.interleaved = true;
  for (uint32_t i = 0; i < config.Number(side + "_num_hidden_layers", 6); ++i) {
    const std::string name = fmt::format("{}layers.{}.", at, i);
    StackLayer layer;
    layer.rotary = rotary;
    layer.attention = Attention(name + "self_attn.", name + "input_layernorm");
    layer.feed_forward.norm = name + "post_attention_layernorm";
    layer.feed_forward.up = name + "mlp.fc1";
    layer.feed_forward.down = name + "mlp.fc2";
    if (stack.causal) {
      layer.cross = Attention(name + "encoder_attn.", layer.feed_forward.norm);
      layer.feed_forward.norm = name + "final_layernorm";
      SplitLinear(weights, name + "mlp.fc1", {"up", "gate"});
      layer.feed_forward.up = name + "mlp.fc1.up";
      layer.feed_forward.gate = name + "mlp.fc1.gate";
    }
    stack.layers.push_back(layer);
  }
  return stack;
}

}  // namespace

// The original: transformers/models/moonshine/modeling_moonshine.py: MoonshineForConditionalGeneration.
void DescribeMoonshine(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  Weights& weights = description.weights;
  LayerStack encoder = Stack("encoder", config, weights), decoder;
  encoder.front = FromSamples(ConvolvedSamples(weights), checkpoint, description);
  description.must_use = {"model.encoder."};
  if (checkpoint.task == Task::kSequenceToSequence) {
    decoder = Stack("decoder", config, weights);
    // The library reads the decoder's numbers for both.
    if (decoder.heads != encoder.heads || decoder.kv_heads != encoder.kv_heads) {
      Fail("config.json: encoder and decoder with different numbers of heads are not supported");
    }
    decoder.table = "model.decoder.embed_tokens.weight";
    decoder.task_heads.language.out = "proj_out";
    decoder.task_heads.language_table = decoder.table;
    description.must_use.push_back("model.decoder.");
    // As its authors bound texts, which may repeat themselves without an end.
    description.SetMetadata("transcribe.tokens_per_second", "6.5");
    description.SetMetadata("max_positions", std::to_string(config.Number("max_position_embeddings", 512)));
  }
  RefuseBiases(checkpoint, weights, "attention_bias", false, {"q_proj", "k_proj", "v_proj"});
  // The size follows from the tensors; padding of heads with zeros changes no result; the decoder's keys are not read
  // if the encoder alone is converted.
  config.Ignore({"decoder_hidden_act", "decoder_num_attention_heads", "decoder_num_hidden_layers",
                 "decoder_num_key_value_heads", "intermediate_size", "is_encoder_decoder", "max_position_embeddings",
                 "pad_head_dim_to_multiple_of"});
  DescribeSequenceToSequence(encoder, decoder, checkpoint, description);
}

}  // namespace fovea::tools
