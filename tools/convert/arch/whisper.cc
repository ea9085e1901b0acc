// Whisper: frames of log-mel features, two convolutions of which the second halves their rate, layers named as BART's.
#include "tools/base/fail.h"
#include "tools/convert/arch/bart_family.h"
#include "tools/convert/arch/convolution.h"
#include "tools/convert/arch/sequence_to_sequence.h"
#include "tools/convert/arch/sound_features.h"
#include "tools/convert/arch/sound_front.h"
#include "tools/convert/arch/transcription.h"

namespace fovea::tools {
namespace {

Front ConvolvedFrames(const Config& config, const std::string& at, Weights& weights) {
  const uint32_t mels = config.Number("num_mel_bins", 80);
  const Convolution first = {at + "conv1", mels, 1, 1, "gelu"};
  const Convolution second = {at + "conv2", weights.Get(at + "conv1.weight").rows, 2, 1, "gelu"};
  Front front;
  front.spaces = {{"clips"}, {"frames", "clips"}, ConvolvedSpace(second, weights, "tokens", "frames")};
  front.input = {"input_features", "frames", false, mels};
  front.rows = [=, &weights](ProgramBuilder& builder, const std::string& in, const std::string& out) {
    AddConvolution(first, weights, builder, in, "frames.convolved");
    return AddConvolution(second, weights, builder, "frames.convolved", out, "tokens");
  };
  return front;
}

// Times are as far apart as the encoder's positions.
void SetTimeStep(const Config& config, Description& description) {
  const auto clip = description.metadata_index.find("clip_length.samples");
  if (clip == description.metadata_index.end()) return;
  const uint64_t samples = std::stoull(description.metadata[clip->second].second);
  const uint32_t positions = config.Number("max_source_positions", 1500);
  if (samples % positions == 0) {
    description.SetMetadata("transcribe.samples_per_time", std::to_string(samples / positions));
  }
}

// Features of a window of long audio depend on the whole file: adds the parts of `encode` before and after the log mel
// features.
void AddHalves(Description& description) {
  if (description.metadata_index.count("log_mel.range") == 0) return;
  Program logs, rest;
  logs.name = "log_mel", logs.of = "encode", logs.to = {kLogMel};
  rest.name = "encode_log_mel", rest.of = "encode", rest.from = {kLogMel};
  description.programs.push_back(std::move(logs));
  description.programs.push_back(std::move(rest));
}

}  // namespace

// The original: transformers/models/whisper/modeling_whisper.py: WhisperForConditionalGeneration.
void DescribeWhisper(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  Weights& weights = description.weights;
  BartLike family;
  family.prefix = weights.Has("encoder.conv1.weight") ? "" : "model.";
  family.norms_before = true;
  const std::string at = family.prefix + "encoder.";
  LayerStack encoder = BartStack(family, "encoder", config, description);
  LayerStack decoder = BartStack(family, "decoder", config, description);
  decoder.table_scale = 1;  // the library reads scale_embedding, but does not scale
  encoder.front = FromSamples(ConvolvedFrames(config, at, weights), checkpoint, description);
  if (encoder.front->input.name == "input_features") {
    description.SetMetadata("layout.input_features", "channels_first");
  }
  decoder.task_heads.language.out = "proj_out";
  decoder.task_heads.language_table = decoder.table;
  description.must_use = {at};
  if (checkpoint.task == Task::kSequenceToSequence) {
    description.must_use.push_back(family.prefix + "decoder.");
    DescribeTranscription(checkpoint, description);
    SetTimeStep(config, description);
  }
  // Sizes follow from the tensors; the remaining keys concern training, the alignment's median filter (read as
  // metadata) and other heads.
  config.Ignore({"apply_spec_augment", "classifier_proj_size", "mask_feature_length", "mask_feature_min_masks",
                 "mask_feature_prob", "mask_time_length", "mask_time_min_masks", "mask_time_prob",
                 "max_source_positions", "max_target_positions", "median_filter_width", "use_weighted_layer_sum"});
  SetPositions(decoder, description);
  DescribeSequenceToSequence(encoder, decoder, checkpoint, description);
  if (checkpoint.task == Task::kSequenceToSequence) AddHalves(description);
}

}  // namespace fovea::tools
