// ESM-1 and 2, encoders of proteins: norms in front of attention and feed-forward, rotary or learned positions. Those
// that were trained with "token dropout" leave out masked tokens and scale the others by the share of them.
#include "tools/base/fail.h"
#include "tools/convert/arch/layer_stack.h"
#include "tools/convert/constants.h"

namespace fovea::tools {
namespace {

constexpr double kTrainedShare = 1 - 0.15 * 0.8;  // of tokens that were not masked while training

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

}  // namespace

void DescribeEsm(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  Weights& weights = description.weights;
  config.Only("is_folding_model", false);
  config.Only("is_decoder", false);
  config.Only("add_cross_attention", false);
  const std::string prefix = weights.Has("embeddings.word_embeddings.weight") ? "" : "esm.";
  description.must_use = {prefix + "embeddings.", prefix + "encoder."};
  LayerStack stack;
  stack.norms = {"layer", config.Real("layer_norm_eps", 1e-12)};
  stack.heads = config.Number("num_attention_heads");
  stack.activation = "gelu";  // there is no choice
  stack.table = prefix + "embeddings.word_embeddings.weight";
  if (config.Flag("emb_layer_norm_before", false)) stack.embedding_norm = prefix + "embeddings.layer_norm";
  if (config.Flag("token_dropout", false)) {
    const uint32_t mask = config.Number("mask_token_id"), tokens = weights.Get(stack.table).rows;
    if (mask >= tokens) Fail("config.json: mask_token_id {} is none of {} tokens", mask, tokens);
    weights.Add("embeddings.kept", AllBut(mask, tokens));
    const std::string table = stack.table;
    stack.front = {{{"texts"}, {"tokens", "texts"}},
                   {"input_ids", "tokens"},
                   [=](ProgramBuilder& b, const std::string& in, const std::string& out) {
                     return ScaledWords(b, in, table, out);
                   }};
  }

  const std::string positions = config.Text("position_embedding_type", "absolute");
  const std::string learned = prefix + "embeddings.position_embeddings.weight";
  RotaryPositions rotary;
  if (positions == "rotary") {
    rotary = ReadRotary(config, {}, HeadSize(config, "hidden_size", stack.heads), "tokens", weights);
    if (weights.Has(learned)) weights.Get(learned);  // published with some, and left out by the original library
    const uint32_t padding = config.Number("pad_token_id", 0);
    const uint32_t most = config.Number("max_position_embeddings", 1026);
    if (most > padding + 1) description.SetMetadata("max_positions", std::to_string(most - padding - 1));
  } else if (positions == "absolute") {
    stack.positions = learned;
    stack.first_position = config.Number("pad_token_id") + 1;
    const uint32_t rows = weights.Get(learned).rows;
    if (rows <= stack.first_position)
      Fail("tensor {}: {} rows, the first one would be {}", learned, rows, stack.first_position);
    description.SetMetadata("max_positions", std::to_string(rows - stack.first_position));
  } else {
    Fail("config.json: position_embedding_type {} is not supported", positions);
  }

  const uint32_t layers = config.Number("num_hidden_layers");
  for (uint32_t i = 0; i < layers; ++i) {
    const std::string at = fmt::format("{}encoder.layer.{}.", prefix, i), attention = at + "attention.";
    StackLayer layer;
    layer.attention.norm = attention + "LayerNorm";
    layer.attention.query = attention + "self.query";
    layer.attention.key = attention + "self.key";
    layer.attention.value = attention + "self.value";
    layer.attention.output = attention + "output.dense";
    layer.rotary = rotary;
    layer.feed_forward.norm = at + "LayerNorm";
    layer.feed_forward.up = at + "intermediate.dense";
    layer.feed_forward.down = at + "output.dense";
    stack.layers.push_back(layer);
    const std::string stored = attention + "self.rotary_embeddings.inv_freq";  // what follows from the formula
    if (weights.Has(stored)) weights.Get(stored);
  }
  stack.final_norm = prefix + "encoder.emb_layer_norm_after";

  Heads& heads = stack.task_heads;
  heads.pooler = prefix + "pooler.dense";
  heads.sequence = {"classifier.dense", "tanh", "", "classifier.out_proj"};
  heads.token.out = "classifier";
  heads.language = {"lm_head.dense", "gelu", "lm_head.layer_norm", "lm_head.decoder"};
  heads.language_table = stack.table;
  heads.language_bias = "lm_head.bias";
  // What follows from tensors, and what concerns folding and tokens.
  for (const char* key : {"esmfold_config", "hidden_act", "hidden_size", "intermediate_size", "vocab_list"})
    config.Get(key);
  DescribeStack(stack, checkpoint, description);
}

}  // namespace fovea::tools
