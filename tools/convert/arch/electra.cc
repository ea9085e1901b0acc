// ELECTRA: BERT with narrow embeddings, which are projected, and without a pooler. Generators have a head for masked
// words; discriminators score for each token how likely it was replaced, which is the token classification of one
// class.
#include "tools/convert/arch/bert_family.h"

namespace fovea::tools {

namespace {

// The original: ElectraSequenceSummary.
void SetChoiceHead(const Config& config, BertLike& family) {
  config.Only("summary_type", "first");
  config.Only("summary_use_proj", true);
  const std::string activation = config.Text("summary_activation", "gelu");
  family.choice = {.dense = "sequence_summary.summary",
                   .activation = activation.empty() ? "none" : config.Activation("summary_activation", "gelu"),
                   .out = "classifier"};
}

}  // namespace

// The original: transformers/models/electra/modeling_electra.py: ElectraModel.
void DescribeElectra(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  const Weights& weights = description.weights;
  BertLike family = EncoderFromConfig(config);
  family.prefix = "electra";
  if (weights.Has(RootOf(family, weights) + "embeddings_project.weight")) family.projection = "embeddings_project";
  // The heads' activation does not depend on hidden_act.
  family.sequence = {.dense = "classifier.dense", .activation = "gelu", .out = "classifier.out_proj"};
  family.language = {.dense = "generator_predictions.dense",
                     .activation = "gelu",
                     .norm = "generator_predictions.LayerNorm",
                     .out = "generator_lm_head"};
  const std::string scores = "discriminator_predictions.dense";
  const bool discriminates = weights.Has(scores + ".weight");
  if (discriminates && !weights.Has(family.token.out + ".weight")) {
    family.token = {.dense = scores, .activation = family.activation, .out = scores + "_prediction"};
  }
  if (checkpoint.task == Task::kMultipleChoice) SetChoiceHead(config, family);
  // The size follows from the tensors; the summary keys belong to the head for multiple choice.
  config.Ignore({"embedding_size", "summary_activation", "summary_last_dropout", "summary_type", "summary_use_proj"});
  Checkpoint chosen = checkpoint;  // ElectraForPreTraining is the discriminator, but for BERT the name means masked-lm
  const bool generates = weights.Has(family.language.dense + ".weight");
  if (chosen.task == Task::kMaskedLm && discriminates && !generates) chosen.task = Task::kTokenClassification;
  DescribeBertLike(family, chosen, description);
}

}  // namespace fovea::tools
