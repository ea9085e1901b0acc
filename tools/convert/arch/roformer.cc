// RoFormer: BERT with rotary positions (RoPE) on neighbouring columns of queries and keys, if configured also of
// values, in place of a position table.
#include "tools/base/fail.h"
#include "tools/convert/arch/bert_family.h"
#include "tools/convert/arch/rotary.h"

namespace fovea::tools {
namespace {

// Turns all projections after they are made, since values may turn as well.
void TurnProjections(const RotaryPositions& rotary, bool values_turn, LayerStack& stack) {
  stack.attend = [=](ProgramBuilder& b, const StackSite& site) {
    const uint32_t heads = site.stack.heads;
    const auto turned = [&](const char* which) {
      return AddRotate(rotary, b, site.at + which, heads, site.at + which + "_turned");
    };
    const std::string query = turned("query"), key = turned("key");
    return b.Attention(fmt::format("attentions.{}", site.layer),
                       {query, key, values_turn ? turned("value") : site.at + "value"}, {}, site.at + "attended",
                       {{"heads", heads}});
  };
}

}  // namespace

// The original: transformers/models/roformer/modeling_roformer.py: RoFormerModel.
void DescribeRoformer(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  Weights& weights = description.weights;
  BertLike family = BertFromConfig(config);
  family.prefix = "roformer";
  family.positioned = false;
  description.SetMetadata("max_positions", std::to_string(config.Number("max_position_embeddings", 1536)));
  const std::string root = RootOf(family, weights);
  const std::string table = root + "encoder.embed_positions.weight";  // follows from the formula
  if (weights.Has(table)) weights.Get(table);
  if (weights.Has(root + "embeddings_project.weight")) family.projection = "embeddings_project";
  family.pooler = "";
  family.sequence = {.dense = "classifier.dense", .activation = family.activation, .out = "classifier.out_proj"};
  family.choice = {};  // it reads the last token, padding included
  LayerStack stack = BertStack(family, description);
  RotaryPositions rotary = ReadRotary(config, {}, HeadSize(config, "hidden_size", family.heads), "tokens", weights);
  rotary.interleaved = true;
  TurnProjections(rotary, config.Flag("rotary_value", false), stack);
  config.Ignore({"embedding_size"});  // follows from the tensors
  DescribeStack(stack, checkpoint, description);
}

}  // namespace fovea::tools
