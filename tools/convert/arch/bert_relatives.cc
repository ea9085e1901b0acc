// Encoders that are BERT or RoBERTa with norms before attention and feed-forward, further tables, or without a part.
#include "tools/base/fail.h"
#include "tools/convert/arch/bert_family.h"
#include "tools/convert/constants.h"

namespace fovea::tools {
namespace {

// Norms before attention and feed-forward (pre-norm), and one after the last layer; embeddings have one or none.
struct PreNorms {
  const char* attention;  // after "<root>encoder.layer.<i>."
  const char* forward;
  const char* last;  // after the root
  bool embeddings;
};

void DescribePreNorm(BertLike family, const PreNorms& norms, const Checkpoint& checkpoint, Description& description) {
  family.layer = [layer = family.layer, norms](const std::string& root, uint32_t i) {
    const std::string at = fmt::format("{}encoder.layer.{}.", root, i);
    StackLayer named = layer(root, i);
    named.attention.sum_norm = named.feed_forward.sum_norm = "";
    named.attention.norm = at + norms.attention;
    named.feed_forward.norm = at + norms.forward;
    return named;
  };
  const std::string root = RootOf(family, description.weights);
  LayerStack stack = BertStack(family, description);
  if (!norms.embeddings) stack.embedding_norm = "";
  stack.final_norm = root + norms.last;
  description.must_use.push_back(stack.final_norm + ".");
  DescribeStack(stack, checkpoint, description);
}

}  // namespace

// The original: transformers/models/data2vec/modeling_data2vec_text.py: Data2VecTextModel.
void DescribeData2VecText(const Checkpoint& checkpoint, Description& description) {
  BertLike family = RobertaFromConfig(checkpoint.config);
  family.prefix = "data2vec_text";
  DescribeBertLike(family, checkpoint, description);
}

// The original: transformers/models/ernie/modeling_ernie.py: ErnieModel.
void DescribeErnie(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  BertLike family = BertFromConfig(config);
  family.prefix = "ernie";
  const bool tasks = config.Flag("use_task_id", false);
  if (tasks) family.added.push_back({"task_type_ids", "task_type_embeddings.weight"});
  config.Ignore({"task_type_vocab_size"});  // the size follows from the tensor
  if (!tasks) description.weights.Ignore("*embeddings.task_type_embeddings.weight");  // the original has no such table
  DescribeBertLike(family, checkpoint, description);
}

// The original: transformers/models/megatron_bert/modeling_megatron_bert.py: MegatronBertModel.
void DescribeMegatronBert(const Checkpoint& checkpoint, Description& description) {
  BertLike family = BertFromConfig(checkpoint.config);
  family.prefix = "bert";
  DescribePreNorm(family, {"attention.ln", "ln", "encoder.ln", false}, checkpoint, description);
}

// The original: transformers/models/roberta_prelayernorm/modeling_roberta_prelayernorm.py: RobertaPreLayerNormModel.
void DescribeRobertaPrelayernorm(const Checkpoint& checkpoint, Description& description) {
  BertLike family = RobertaFromConfig(checkpoint.config);
  family.prefix = "roberta_prelayernorm";
  DescribePreNorm(family, {"attention.LayerNorm", "intermediate.LayerNorm", "LayerNorm", true}, checkpoint,
                  description);
}

// The original: transformers/models/xlm_roberta_xl/modeling_xlm_roberta_xl.py: XLMRobertaXLModel.
void DescribeXlmRobertaXl(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  BertLike family = RobertaFromConfig(config);
  family.epsilon = config.Real("layer_norm_eps", 1e-5);
  DescribePreNorm(family, {"attention.self_attn_layer_norm", "LayerNorm", "encoder.LayerNorm", false}, checkpoint,
                  description);
}

// The original: transformers/models/splinter/modeling_splinter.py: SplinterModel. Its head, which asks with the rows of
// question tokens, is not described.
void DescribeSplinter(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  if (checkpoint.task != Task::kEmbedding && checkpoint.task != Task::kBackbone) {
    Fail(
        "config.json: heads of Splinter, which ask with question tokens, are not supported; --task embedding converts "
        "the encoder without one");
  }
  BertLike family = EncoderFromConfig(config);
  family.prefix = "splinter";
  config.Ignore({"question_token_id"});  // for the head
  DescribeBertLike(family, checkpoint, description);
}

// For texts without entities. The original: transformers/models/luke/modeling_luke.py: LukeModel.
void DescribeLuke(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  if (checkpoint.task != Task::kEmbedding && checkpoint.task != Task::kBackbone && checkpoint.task != Task::kMaskedLm) {
    Fail(
        "config.json: heads of LUKE, which read entities, are not supported; --task embedding converts the encoder of "
        "texts without entities");
  }
  BertLike family = RobertaFromConfig(config);
  family.prefix = "luke";
  description.findings.push_back({Topic::kNotUsed, "the tensors of entities: the model reads texts without entities"});
  // They concern entities and training.
  config.Ignore({"entity_vocab_size", "entity_emb_size", "use_entity_aware_attention", "bert_model_name",
                 "cls_entity_prediction", "classifier_bias"});
  DescribeBertLike(family, checkpoint, description);
}

// The result is the state of the first token, projected if the model has a projection. The original:
// transformers/models/dpr/modeling_dpr.py: DPRContextEncoder, DPRQuestionEncoder.
void DescribeDpr(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  const Weights& weights = description.weights;
  std::string whole;  // the prefix of all names
  for (const char* name : {"question_encoder.", "ctx_encoder.", ""}) {
    if (weights.Has(fmt::format("{}bert_model.embeddings.word_embeddings.weight", name))) whole = name;
  }
  BertLike family = EncoderFromConfig(config);
  family.prefix = whole + "bert_model";
  LayerStack stack = BertStack(family, description);
  if (checkpoint.task != Task::kEmbedding) return DescribeStack(stack, checkpoint, description);
  description.SetMetadata("task", "embedding");
  ProgramBuilder builder(checkpoint, description, stack.norms, SpacesOf(stack), InputOf(stack), "encode");
  const std::string last = AddStack(stack, builder), projection = whole + "encode_proj";
  const bool projects = config.Number("projection_dim", 0) != 0;
  builder.Op("pool", {last}, {}, projects ? "first_token" : "pooler_output", {{"kind", "first"}});
  if (projects) builder.Linear("first_token", projection, "pooler_output");
  builder.Outputs({last, "pooler_output"});
  builder.End();
}

}  // namespace fovea::tools
