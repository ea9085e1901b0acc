// Speech2Text: frames of features, strided convolutions that end in gated linear units, layers named as BART's.
#include <math.h>

#include "tools/base/fail.h"
#include "tools/convert/arch/bart_family.h"
#include "tools/convert/arch/sequence_to_sequence.h"
#include "tools/convert/arch/sound_front.h"
#include "tools/convert/arch/speech_heads.h"

namespace fovea::tools {
namespace {

std::vector<uint32_t> Kernels(const Config& config) {
  const JsonView sizes = config.View("conv_kernel_sizes");
  std::vector<uint32_t> kernels;
  for (size_t i = 0; i < sizes.List().size(); ++i) kernels.push_back(sizes.At(i).Number({1, UINT16_MAX}));
  if (kernels.empty() || kernels.size() > 8) Fail("config.json: {} convolutions are not supported", kernels.size());
  config.Only("num_conv_layers", kernels.size());
  for (const uint32_t kernel : kernels) {
    if (kernel % 2 == 0) Fail("config.json: conv_kernel_sizes {} is not supported", kernel);
  }
  return kernels;
}

Front ConvolvedFrames(const Config& config, Weights& weights, double scale) {
  const WholeRange range = {1, 1 << 14};
  const uint32_t features =
      config.View("input_feat_per_channel").Number(range, 80) * config.View("input_channels").Number(range, 1);
  const std::vector<uint32_t> kernels = Kernels(config);
  std::vector<Convolution> convolutions;
  std::vector<uint32_t> widths;
  Front front;
  front.spaces = {{"clips"}, {"frames", "clips"}};
  front.input = {"input_features", "frames", false, features};
  for (size_t i = 0; i < kernels.size(); ++i) {
    const std::string name = fmt::format("model.encoder.conv.conv_layers.{}", i);
    const Constant weight = weights.Get(name + ".weight");
    const uint32_t channels = i == 0 ? features : widths.back();
    if (weight.rows % 2 != 0 || weight.width != uint64_t{channels} * kernels[i]) {
      Fail("tensor {}.weight is [{}, {}], not two halves of filters over {} x {}", name, weight.rows, weight.width,
           channels, kernels[i]);
    }
    convolutions.push_back({name, channels, 2, kernels[i] / 2});
    widths.push_back(weight.rows / 2);
    const std::string space = i + 1 == kernels.size() ? "tokens" : fmt::format("frames.{}", i + 1);
    front.spaces.push_back(ConvolvedSpace(convolutions[i], weights, space, front.spaces.back().name));
  }
  front.rows = [=, &weights, spaces = front.spaces](ProgramBuilder& builder, const std::string& in,
                                                    const std::string& out) {
    std::string x = in;
    for (size_t i = 0; i < convolutions.size(); ++i) {
      const std::string space = spaces[i + 2].name, made = fmt::format("convolutions.{}", i);
      const bool last = i + 1 == convolutions.size();
      const std::string gated = last && scale == 1 ? out : made + ".gated";
      x = AddGatedConvolution(convolutions[i], weights, builder, x, gated, space);
    }
    return scale == 1 ? x : builder.Op("scale", {x}, {}, out, {{"scale", scale}});
  };
  return front;
}

}  // namespace

// The original: transformers/models/speech_to_text/modeling_speech_to_text.py: Speech2TextForConditionalGeneration.
void DescribeSpeechToText(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  Weights& weights = description.weights;
  BartLike family;
  family.norms_before = true;
  family.sinusoidal = true;
  family.inclusive = true;
  family.first_angle = config.Number("pad_token_id", 1) + 1;
  family.encoder_positions = "max_source_positions";
  family.decoder_positions = "max_target_positions";
  LayerStack encoder = BartStack(family, "encoder", config, description);
  LayerStack decoder = BartStack(family, "decoder", config, description);
  encoder.front = FromSamples(ConvolvedFrames(config, weights, encoder.table_scale), checkpoint, description);
  decoder.task_heads.language.out = "lm_head";
  decoder.task_heads.language_table = decoder.table;
  description.must_use = {"model.encoder."};
  if (checkpoint.task == Task::kSequenceToSequence) description.must_use.push_back("model.decoder.");
  config.Ignore({"conv_channels"});  // follows from the tensors
  SetPositions(decoder, description);
  DescribeSequenceToSequence(encoder, decoder, checkpoint, description);
}

}  // namespace fovea::tools
