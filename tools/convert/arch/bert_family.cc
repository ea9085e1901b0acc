// Stacks whose embeddings, layers and heads are named as BERT's or RoBERTa's.
#include "tools/convert/arch/bert_family.h"

#include "tools/base/fail.h"
#include "tools/convert/constants.h"

namespace fovea::tools {
namespace {

// Callers of the program may leave this input out: its ids are then 0.
void AddTable(const std::string& input, const std::string& table, Description& description, LayerStack& stack) {
  stack.added.push_back({input, table});
  description.SetMetadata("default." + input, "0");
}

// The table of token types, or if there is a single type, positions with its row added.
void AddTypes(const BertLike& family, const std::string& types, Description& description, LayerStack& stack) {
  Weights& weights = description.weights;
  if (!weights.Has(types)) return;
  if (!family.positioned || weights.Get(types).rows != 1) return AddTable("token_type_ids", types, description, stack);
  const Constant rows = Slice(weights.Get(stack.positions), {stack.first_position, 0});
  stack.positions = "embeddings.position_and_type";
  stack.first_position = 0;
  weights.Add(stack.positions, Sum({rows, weights.Get(types)}));
}

// The sum of all tables is scaled, but only words must be: the other tables are divided by the scale.
void ScaleWords(double scale, Weights& weights, LayerStack& stack) {
  stack.table_scale = scale;
  if (scale == 1) return;
  uint32_t number = 0;
  for (AddedTable& added : stack.added) {
    const std::string scaled = fmt::format("embeddings.table_{}", ++number);
    weights.Add(scaled, Scale(weights.Get(added.table), static_cast<float>(1 / scale)));
    added.table = scaled;
  }
}

void SetEmbeddings(const BertLike& family, const std::string& root, Description& description, LayerStack& stack) {
  const std::string embeddings = root + "embeddings.";
  stack.table = embeddings + "word_embeddings.weight";
  if (family.positioned) stack.positions = embeddings + "position_embeddings.weight";
  stack.first_position = family.first_position;
  stack.embedding_norm = embeddings + "LayerNorm";
  if (!family.projection.empty()) stack.embedding_projection = root + family.projection;
  stack.projected = family.projected;
  AddTypes(family, embeddings + "token_type_embeddings.weight", description, stack);
  for (const auto& [input, table] : family.added) AddTable(input, embeddings + table, description, stack);
  ScaleWords(family.word_scale, description.weights, stack);
  if (!family.positioned) return;
  const uint32_t rows = description.weights.Get(stack.positions).rows;
  description.SetMetadata("max_positions", std::to_string(rows - stack.first_position));
}

Heads HeadsOf(const BertLike& family, const std::string& root, const std::string& table) {
  Heads heads;
  if (!family.pooler.empty()) heads.pooler = root + family.pooler;
  heads.sequence = family.sequence;
  if (heads.sequence.dense.empty()) heads.sequence.dense = heads.pooler;
  if (heads.sequence.activation.empty()) heads.sequence.activation = "tanh";
  heads.token = family.token;
  heads.span = family.span;
  heads.choice = family.choice;
  heads.next = family.next;
  for (Head* head : {&heads.choice, &heads.next}) {
    if (head->dense.empty()) head->dense = heads.pooler;
    if (head->activation.empty()) head->activation = "tanh";
  }
  heads.language = family.language;
  if (heads.language.activation.empty()) heads.language.activation = family.activation;
  heads.language_table = table;
  heads.language_bias = family.language_bias;
  heads.tied = family.tied;
  return heads;
}

}  // namespace

BertLike EncoderFromConfig(const Config& config, const std::string& activation) {
  config.Only("position_embedding_type", "absolute");
  config.Only("is_decoder", false);
  config.Only("is_encoder_decoder", false);
  config.Only("add_cross_attention", false);
  BertLike family;
  family.layers = config.Number("num_hidden_layers");
  family.heads = config.Number("num_attention_heads");
  family.epsilon = config.Real("layer_norm_eps", 1e-12);
  family.activation = config.Activation("hidden_act", activation);
  family.layer = [](const std::string& root, uint32_t i) {
    const std::string at = fmt::format("{}encoder.layer.{}.", root, i);
    return StackLayer{
        .attention = {.query = at + "attention.self.query",
                      .key = at + "attention.self.key",
                      .value = at + "attention.self.value",
                      .output = at + "attention.output.dense",
                      .sum_norm = at + "attention.output.LayerNorm"},
        .feed_forward = {
            .up = at + "intermediate.dense", .down = at + "output.dense", .sum_norm = at + "output.LayerNorm"}};
  };
  // Shapes follow from the tensors.
  config.Ignore({"hidden_size", "intermediate_size", "max_position_embeddings", "type_vocab_size"});
  return family;
}

BertLike BertFromConfig(const Config& config, const std::string& activation) {
  BertLike family = EncoderFromConfig(config, activation);
  family.pooler = "pooler.dense";
  family.sequence.out = "classifier";
  family.language = {.dense = "cls.predictions.transform.dense",
                     .norm = "cls.predictions.transform.LayerNorm",
                     .out = "cls.predictions.decoder"};
  family.language_bias = "cls.predictions.bias";
  family.next.out = "cls.seq_relationship";
  return family;
}

void SetRobertaHeads(BertLike& family) {
  family.pooler = "pooler.dense";
  family.sequence = {.dense = "classifier.dense", .out = "classifier.out_proj"};
  // The head's activation does not depend on hidden_act.
  family.language = {
      .dense = "lm_head.dense", .activation = "gelu", .norm = "lm_head.layer_norm", .out = "lm_head.decoder"};
  family.language_bias = "lm_head.bias";
}

BertLike RobertaFromConfig(const Config& config) {
  BertLike family = EncoderFromConfig(config);
  family.prefix = "roberta";
  family.first_position = config.Number("pad_token_id", 1) + 1;
  SetRobertaHeads(family);
  return family;
}

std::string RootOf(const BertLike& family, const Weights& weights) {
  return weights.Has("embeddings.word_embeddings.weight") ? "" : family.prefix + ".";
}

LayerStack BertStack(const BertLike& family, Description& description) {
  const std::string root = RootOf(family, description.weights);
  description.must_use = {root + "embeddings.", root + family.module + "."};
  LayerStack stack;
  stack.norms = {.kind = "layer", .epsilon = family.epsilon};
  stack.heads = family.heads;
  stack.activation = family.activation;
  SetEmbeddings(family, root, description, stack);
  for (uint32_t i = 0; i < family.layers; ++i) stack.layers.push_back(family.layer(root, i));
  stack.task_heads = HeadsOf(family, root, stack.table);
  return stack;
}

void DescribeBertLike(const BertLike& family, const Checkpoint& checkpoint, Description& description) {
  DescribeStack(BertStack(family, description), checkpoint, description);
}

}  // namespace fovea::tools
