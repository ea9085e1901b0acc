// An encoder of images and a decoder of text, each with a separate configuration: TrOCR with ViT or DeiT.
#include "tools/base/fail.h"
#include "tools/convert/arch/bart_family.h"
#include "tools/convert/arch/sequence_to_sequence.h"
#include "tools/convert/arch/vit.h"

namespace fovea::tools {
namespace {

LayerStack TrocrDecoder(const Config& config, uint32_t source_width, Description& description) {
  BartLike family;
  family.prefix = "decoder.model.";
  if (config.Flag("use_learned_position_embeddings", true)) {
    family.first_position = 2;
  } else {
    family.sinusoidal = family.inclusive = true;
    family.first_angle = config.Number("pad_token_id", 1) + 1;
  }
  LayerStack stack = BartStack(family, "decoder", config, description);
  stack.embedding_norm =
      config.Flag("layernorm_embedding", true) ? family.prefix + "decoder.layernorm_embedding" : std::string();
  stack.task_heads.language_table = stack.table;
  stack.task_heads.tied = config.Flag("tie_word_embeddings", true);
  // A head without a name shares the table.
  if (!stack.task_heads.tied) stack.task_heads.language.out = "decoder.output_projection";
  const bool projected = config.Get("cross_attention_hidden_size").is_null();
  if (projected && config.Number("d_model") != source_width) stack.source_projection = "enc_to_dec_proj";
  config.Only("is_decoder", true);
  config.Only("add_cross_attention", true);
  return stack;
}

}  // namespace

// The original: transformers/models/vision_encoder_decoder/modeling_vision_encoder_decoder.py:
// VisionEncoderDecoderModel; transformers/models/trocr/modeling_trocr.py: TrOCRForCausalLM.
void DescribeVisionEncoderDecoder(const Checkpoint& checkpoint, Description& description) {
  const Config encoder_config(checkpoint.config, "encoder"), decoder_config(checkpoint.config, "decoder");
  const std::string reads = encoder_config.Text("model_type"), writes = decoder_config.Text("model_type");
  if (reads != "vit" && reads != "deit") Fail("config.json: encoder: model_type {} is not supported", reads);
  if (writes != "trocr") Fail("config.json: decoder: model_type {} is not supported", writes);
  const Checkpoint of_encoder = {checkpoint.directory, encoder_config, checkpoint.task, checkpoint.image_size};
  const LayerStack encoder = VitStack(of_encoder, "encoder.", description);
  LayerStack decoder;
  if (checkpoint.task == Task::kSequenceToSequence) {
    decoder = TrocrDecoder(decoder_config, encoder_config.Number("hidden_size"), description);
    SetPositions(decoder, description);
    description.must_use.push_back("decoder.");
    WarnOfUnknown(decoder_config, "decoder", description);
  }
  WarnOfUnknown(of_encoder.config, "encoder", description);
  checkpoint.config.Ignore({"is_encoder_decoder"});  // always true
  DescribeSequenceToSequence(encoder, decoder, checkpoint, description);
}

}  // namespace fovea::tools
