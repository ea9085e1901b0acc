// ESM-1 and 2, encoders of proteins: norms in front of attention and feed-forward, rotary or learned positions. Models
// trained with "token dropout" leave out masked tokens and scale the rest by the share of masked ones.
#include "tools/base/fail.h"
#include "tools/convert/arch/layer_stack.h"
#include "tools/convert/constants.h"

namespace fovea::tools {
namespace {

constexpr double kTrainedShare = 1 - 0.15 * 0.8;  // the share of tokens that were not masked in training

// 1 for every token but `mask`, a row each.
Constant AllBut(uint32_t mask, uint32_t tokens) {
  std::vector<float> kept(tokens, 1.0f);
  kept[mask] = 0;
  Constant table = Literal(tokens, 1, kept);
  table.shortest = Shortest::kF32;
  return table;
}

// Word embeddings, 0 for masked tokens, over the share of the tokens of their text that are not.
std::string ScaledWords(ProgramBuilder& b, const std::string& in, const std::string& table, const std::string& out) {
  b.Op("embed", {in}, {table}, "embeddings.words", {{"scale", kTrainedShare}});
  b.Op("embed", {in}, {"embeddings.kept"}, "embeddings.is_kept");
  b.Op("gate", {"embeddings.is_kept", "embeddings.words"}, {}, "embeddings.kept_words", {{"activation", "none"}});
  b.Op("pool", {"embeddings.is_kept"}, {}, "embeddings.share", {{"kind", "mean"}});
  b.Op("gate", {"embeddings.share", "embeddings.share"}, {}, "embeddings.square", {{"activation", "none"}});
  b.Op("broadcast", {"embeddings.square"}, {}, "embeddings.squares", Json::object(), "tokens");
  return b.Op("normalize", {"embeddings.kept_words", "embeddings.squares"}, {}, out, {{"epsilon", 1e-6}});
}

void SetEmbeddings(const Config& config, const std::string& prefix, Weights& weights, LayerStack& stack) {
  stack.table = prefix + "embeddings.word_embeddings.weight";
  if (config.Flag("emb_layer_norm_before", false)) stack.embedding_norm = prefix + "embeddings.layer_norm";
  if (!config.Flag("token_dropout", false)) return;
  const uint32_t mask = config.Number("mask_token_id"), tokens = weights.Get(stack.table).rows;
  if (mask >= tokens) Fail("config.json: mask_token_id {} is not below the vocabulary size {}", mask, tokens);
  weights.Add("embeddings.kept", AllBut(mask, tokens));
  stack.front = {{{"texts"}, {"tokens", "texts"}},
                 {"input_ids", "tokens"},
                 [table = stack.table](ProgramBuilder& b, const std::string& in, const std::string& out) {
                   return ScaledWords(b, in, table, out);
                 }};
}

// Returns the rotary positions of all layers, or none and sets a table of learned ones.
RotaryPositions ReadPositions(const Config& config, const std::string& prefix, Description& description,
                              LayerStack& stack) {
  Weights& weights = description.weights;
  const std::string kind = config.Text("position_embedding_type", "absolute");
  const std::string learned = prefix + "embeddings.position_embeddings.weight";
  if (kind == "rotary") {
    if (weights.Has(learned)) weights.Get(learned);  // some models are published with them; the original ignores them
    const uint32_t padding = config.Number("pad_token_id", 0);
    const uint32_t most = config.Number("max_position_embeddings", 1026);
    if (most > padding + 1) description.SetMetadata("max_positions", std::to_string(most - padding - 1));
    return ReadRotary(config, {}, HeadSize(config, "hidden_size", stack.heads), "tokens", weights);
  }
  if (kind != "absolute") Fail("config.json: position_embedding_type {} is not supported", kind);
  stack.positions = learned;
  stack.first_position = config.Number("pad_token_id") + 1;
  const uint32_t rows = weights.Get(learned).rows;
  if (rows <= stack.first_position) {
    Fail("tensor {} has {} rows, but positions begin with row {}", learned, rows, stack.first_position);
  }
  description.SetMetadata("max_positions", std::to_string(rows - stack.first_position));
  return {};
}

StackLayer Layer(const std::string& at, const RotaryPositions& rotary, Weights& weights) {
  const std::string attention = at + "attention.", stored = attention + "self.rotary_embeddings.inv_freq";
  if (weights.Has(stored)) weights.Get(stored);  // follows from the formula
  return {.attention = {.norm = attention + "LayerNorm",
                        .query = attention + "self.query",
                        .key = attention + "self.key",
                        .value = attention + "self.value",
                        .output = attention + "output.dense"},
          .feed_forward = {.norm = at + "LayerNorm", .up = at + "intermediate.dense", .down = at + "output.dense"},
          .rotary = rotary};
}

Heads HeadsOf(const std::string& prefix, const std::string& table) {
  return {.pooler = prefix + "pooler.dense",
          .sequence = {.dense = "classifier.dense", .activation = "tanh", .out = "classifier.out_proj"},
          .token = {.out = "classifier"},
          .language = {.dense = "lm_head.dense",
                       .activation = "gelu",
                       .norm = "lm_head.layer_norm",
                       .out = "lm_head.decoder"},
          .language_table = table,
          .language_bias = "lm_head.bias"};
}

}  // namespace

// The original: transformers/models/esm/modeling_esm.py: EsmModel.
void DescribeEsm(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  Weights& weights = description.weights;
  config.Only("is_folding_model", false);
  config.Only("is_decoder", false);
  config.Only("add_cross_attention", false);
  const std::string prefix = weights.Has("embeddings.word_embeddings.weight") ? "" : "esm.";
  description.must_use = {prefix + "embeddings.", prefix + "encoder."};
  LayerStack stack;
  stack.norms = {.kind = "layer", .epsilon = config.Real("layer_norm_eps", 1e-12)};
  stack.heads = config.Number("num_attention_heads");
  stack.activation = "gelu";
  SetEmbeddings(config, prefix, weights, stack);
  const RotaryPositions rotary = ReadPositions(config, prefix, description, stack);
  const uint32_t layers = config.Number("num_hidden_layers");
  for (uint32_t i = 0; i < layers; ++i) {
    stack.layers.push_back(Layer(fmt::format("{}encoder.layer.{}.", prefix, i), rotary, weights));
  }
  stack.final_norm = prefix + "encoder.emb_layer_norm_after";
  stack.task_heads = HeadsOf(prefix, stack.table);
  // Sizes follow from the tensors; the original's activation is fixed; the remaining keys concern folding and tokens.
  config.Ignore({"esmfold_config", "hidden_act", "hidden_size", "intermediate_size", "vocab_list"});
  DescribeStack(stack, checkpoint, description);
}

}  // namespace fovea::tools
