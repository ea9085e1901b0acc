// Encoder-decoders whose layers are named as BART's.
#include "tools/convert/arch/bart_family.h"

#include <math.h>

#include <filesystem>
#include <initializer_list>
#include <utility>

#include "tools/base/fail.h"
#include "tools/base/utf8_path.h"
#include "tools/convert/arch/longformer_attention.h"
#include "tools/convert/arch/sequence_to_sequence.h"
#include "tools/convert/arch/shifted_decoder.h"
#include "tools/convert/constants.h"

namespace fovea::tools {
namespace {

class Family {
 public:
  Family(const BartLike& family, const Config& config, Description& description)
      : family_(family), config_(config), description_(description) {
    // Sizes follow from the tensors; numbers of layers and positions are read for one side only, or by another key; the
    // remaining keys concern training, or repeat the family's switches in files of older versions.
    config_.Ignore({"encoder_ffn_dim",
                    "decoder_ffn_dim",
                    "encoder_layerdrop",
                    "decoder_layerdrop",
                    "init_std",
                    "is_encoder_decoder",
                    "num_hidden_layers",
                    "max_position_embeddings",
                    "max_encoder_position_embeddings",
                    "max_decoder_position_embeddings",
                    "classif_dropout",
                    "decoder_vocab_size",
                    "share_encoder_decoder_embeddings",
                    "encoder_layers",
                    "decoder_layers",
                    "decoder_attention_heads",
                    "d_model",
                    "static_position_embeddings",
                    "extra_pos_embeddings",
                    "add_final_layer_norm",
                    "normalize_before",
                    "normalize_embedding",
                    "add_bias_logits",
                    "force_bos_token_to_be_generated"});
  }

  LayerStack Stack(const std::string& side) {
    Weights& weights = description_.weights;
    const std::string at = family_.prefix + side + ".", own = at + "embed_tokens.weight";
    LayerStack stack;
    stack.causal = side == "decoder";
    stack.norms = {"layer", 1e-5};
    stack.heads = config_.Number(side + "_attention_heads");
    stack.activation = config_.Activation("activation_function", "gelu");
    stack.table = weights.Has(own) ? own : family_.prefix + "shared.weight";
    if (config_.Flag("scale_embedding", false)) stack.table_scale = sqrt(config_.Number("d_model"));
    Positions(at, stack);
    if (stack.causal && family_.decoder_norms_words) stack.norm_before_positions = true, stack.table_scale = 1;
    if (weights.Has(at + "layernorm_embedding.weight")) stack.embedding_norm = at + "layernorm_embedding";
    if (family_.norms_before) stack.final_norm = at + "layer_norm";
    for (uint32_t i = 0; i < config_.Number(side + "_layers"); ++i) {
      const std::string layer = fmt::format("{}layers.{}.", at, i);
      stack.layers.push_back(Layer(layer, stack.causal));
    }
    if (family_.windows && !stack.causal) AttendAsLongformer(at, stack);
    return stack;
  }

 private:
  void Positions(const std::string& at, LayerStack& stack) {
    Weights& weights = description_.weights;
    stack.positions = at + "embed_positions.weight";
    stack.first_position = family_.first_position;
    if (family_.sinusoidal && !weights.Has(stack.positions)) {
      SinusoidalSpec spec;
      spec.rows =
          config_.Number(stack.causal ? family_.decoder_positions : family_.encoder_positions, family_.positions);
      spec.width = config_.Number("d_model");
      spec.inclusive = family_.inclusive;
      spec.first = family_.first_angle;
      weights.Add(stack.positions, Sinusoidal(spec));
    }
  }

  // Layers attend as Longformer's do, and name their projections so.
  void AttendAsLongformer(const std::string& at, LayerStack& stack) {
    const auto count = static_cast<uint32_t>(stack.layers.size());
    for (uint32_t i = 0; i < count; ++i) {
      AttentionNames& names = stack.layers[i].attention;
      const std::string self = fmt::format("{}layers.{}.self_attn.", at, i),
                        projections = self + "longformer_self_attn.";
      names.query = projections + "query";
      names.key = projections + "key";
      names.value = projections + "value";
      names.output = self + "output";
    }
    SeeWindows(LongformerSides(config_, count), false, description_, stack);
  }

  static AttentionNames Attention(const std::string& at) {
    return {.query = at + "q_proj", .key = at + "k_proj", .value = at + "v_proj", .output = at + "out_proj"};
  }

  StackLayer Layer(const std::string& at, bool decodes) const {
    StackLayer layer;
    layer.attention = Attention(at + "self_attn.");
    layer.feed_forward.up = at + "fc1";
    layer.feed_forward.down = at + "fc2";
    if (decodes) layer.cross = Attention(at + "encoder_attn.");
    const bool before = family_.norms_before;
    (before ? layer.attention.norm : layer.attention.sum_norm) = at + "self_attn_layer_norm";
    if (decodes) (before ? layer.cross.norm : layer.cross.sum_norm) = at + "encoder_attn_layer_norm";
    (before ? layer.feed_forward.norm : layer.feed_forward.sum_norm) = at + "final_layer_norm";
    return layer;
  }

  const BartLike& family_;
  const Config& config_;
  Description& description_;
};

void Describe(BartLike family, const Checkpoint& checkpoint, Description& description) {
  // Models without a head are stored without "model.".
  if (description.weights.Has("encoder.layers.0.self_attn.k_proj.weight")) family.prefix = "";
  const LayerStack encoder = BartStack(family, "encoder", checkpoint.config, description);
  LayerStack decoder = BartStack(family, "decoder", checkpoint.config, description);
  Heads& heads = decoder.task_heads;
  heads.language.out = "lm_head";
  heads.language_table = decoder.table;
  heads.language_bias = "final_logits_bias";
  // A text ends with eos, whose last one is read; for the other heads the decoder reads the text itself.
  heads.sequence_pool = "last";
  heads.sequence = {.dense = "classification_head.dense", .activation = "tanh", .out = "classification_head.out_proj"};
  description.must_use = {family.prefix + "encoder."};
  const bool shifted = ReadsShifted(checkpoint.task);
  if (shifted || checkpoint.task == Task::kSequenceToSequence) {
    description.must_use.push_back(family.prefix + "decoder.");
  }
  SetPositions(encoder, description);
  if (shifted) {
    const bool wraps = family.starts_with_last;
    if (wraps && checkpoint.task == Task::kSequenceClassification) {
      Fail(
          "config.json: classes are read at the last eos, which a token of the language may follow, so this head is "
          "not supported; --task encoder converts the encoder alone");
    }
    const std::optional<uint32_t> start =
        wraps ? std::nullopt : std::optional<uint32_t>(checkpoint.config.Number("decoder_start_token_id", 2));
    return DescribeShifted(encoder, decoder, start, checkpoint, description);
  }
  DescribeSequenceToSequence(encoder, decoder, checkpoint, description);
}

}  // namespace

LayerStack BartStack(const BartLike& family, const std::string& side, const Config& config, Description& description) {
  return Family(family, config, description).Stack(side);
}

void SetPositions(const LayerStack& stack, Description& description) {
  const uint32_t rows = description.weights.Get(stack.positions).rows;
  if (rows <= stack.first_position) Fail("tensor {} has only {} rows but needs more", stack.positions, rows);
  description.SetMetadata("max_positions", std::to_string(rows - stack.first_position));
}

// The original: transformers/models/bart/modeling_bart.py: BartForConditionalGeneration.
void DescribeBart(const Checkpoint& checkpoint, Description& description) {
  BartLike family;
  family.first_position = 2;
  Describe(family, checkpoint, description);
}

// The original: transformers/models/led/modeling_led.py: LEDForConditionalGeneration.
void DescribeLed(const Checkpoint& checkpoint, Description& description) {
  BartLike family;
  family.prefix = "led.";
  family.windows = true;
  Describe(family, checkpoint, description);
}

// The original: transformers/models/mbart/modeling_mbart.py: MBartForConditionalGeneration.
void DescribeMbart(const Checkpoint& checkpoint, Description& description) {
  BartLike family;
  family.first_position = 2;
  family.norms_before = true;
  family.starts_with_last = true;
  Describe(family, checkpoint, description);
}

// The original: transformers/models/marian/modeling_marian.py: MarianMTModel.
void DescribeMarian(const Checkpoint& checkpoint, Description& description) {
  BartLike family;
  family.sinusoidal = true;
  Describe(family, checkpoint, description);
}

// The original: transformers/models/pegasus/modeling_pegasus.py: PegasusForConditionalGeneration.
void DescribePegasus(const Checkpoint& checkpoint, Description& description) {
  BartLike family;
  family.sinusoidal = true;
  family.norms_before = true;
  Describe(family, checkpoint, description);
}

// The original: transformers/models/blenderbot_small/modeling_blenderbot_small.py:
// BlenderbotSmallForConditionalGeneration.
void DescribeBlenderbotSmall(const Checkpoint& checkpoint, Description& description) {
  BartLike family;
  family.decoder_norms_words = true;
  Describe(family, checkpoint, description);
}

// The original: transformers/models/m2m_100/modeling_m2m_100.py: M2M100ForConditionalGeneration.
void DescribeM2m100(const Checkpoint& checkpoint, Description& description) {
  BartLike family;
  family.sinusoidal = true;
  family.inclusive = true;
  family.norms_before = true;
  family.first_angle = checkpoint.config.Number("pad_token_id") + 1;
  Describe(family, checkpoint, description);
}

// CTranslate2's character model with BART's names: a list of characters as vocabulary on each side, an untied head.
void DescribeTransformerEncoderDecoder(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  for (const auto& [key, value] : std::initializer_list<std::pair<const char*, Json>>{{"normalize_before", true},
                                                                                      {"add_final_layer_norm", true},
                                                                                      {"attention_bias", true},
                                                                                      {"source_adds_bos", false},
                                                                                      {"source_adds_eos", false},
                                                                                      {"layer_norm_eps", 1e-5}}) {
    config.Only(key, value);
  }
  BartLike family;
  family.sinusoidal = true;
  family.inclusive = true;
  family.norms_before = true;
  family.positions = 512;
  if (const JsonView sines = config.View("sinusoidal"); !sines.IsNull()) {
    family.first_angle = sines["first_position"].Number({0, 1 << 20}, 0);
    if (sines["layout"].Text("sin_then_cos") != "sin_then_cos" || sines["max_timescale"].Real({}, 10000) != 10000) {
      Fail("config.json: sinusoidal: only sines before cosines, with a largest time scale of 10000, are supported");
    }
  }
  Describe(family, checkpoint, description);
  // Sizes follow from the tensors; the remaining keys describe the files and their tensors.
  config.Ignore({"source_vocab_size", "target_vocab_size", "target_unk_token_id", "head_dim", "task", "embedding_scale",
                 "position_embedding_type", "share_source_target_embeddings", "lm_head_bias", "weight_names",
                 "linear_weight_layout"});
  description.tokenizer = {{"type", "characters"},
                           {"file", "source_vocab.json"},
                           {"unknown", "each"},
                           {"pad_id", config.Number("pad_token_id")},
                           {"unknown_id", config.Number("source_unk_token_id")}};
  const std::string path = (Utf8Path(checkpoint.directory) / "target_vocab.json").string();
  const Json characters = ReadJson(path);
  const JsonView list(characters, path);
  for (size_t i = 0; i < list.List().size(); ++i) {
    description.SetMetadata(fmt::format("label.{}", i), list.At(i).Text());
  }
}

}  // namespace fovea::tools
