// RoFormer: BERT with rotary positions on neighbouring columns of queries and keys, on request of values, too, in place
// of a table.
#include "tools/base/fail.h"
#include "tools/convert/arch/post_norm_encoder.h"
#include "tools/convert/arch/rotary.h"

namespace fovea::tools {

void DescribeRoformer(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  PostNormEncoder encoder = BertFromConfig(config);
  encoder.prefix = "roformer";
  encoder.positioned = false;
  description.SetMetadata("max_positions", std::to_string(config.Number("max_position_embeddings", 1536)));
  const std::string prefix = StoredPrefix(encoder, description.weights);
  const std::string table = prefix + "encoder.embed_positions.weight";  // what follows from the formula
  if (description.weights.Has(table)) description.weights.Get(table);
  if (description.weights.Has(prefix + "embeddings_project.weight")) encoder.projection = "embeddings_project";
  RotaryPositions rotary =
      ReadRotary(config, {}, HeadSize(config, "hidden_size", encoder.heads), "tokens", description.weights);
  rotary.interleaved = true;
  const bool values_turn = config.Flag("rotary_value", false);
  encoder.attention = [=](ProgramBuilder& b, const AttentionSite& site) {
    const auto turned = [&](const char* which) {
      return AddRotate(rotary, b, site.at + which, encoder.heads, site.at + which + "_turned");
    };
    const std::string query = turned("query"), key = turned("key");
    return b.Attention(fmt::format("attentions.{}", site.layer),
                       {query, key, values_turn ? turned("value") : site.at + "value"}, {}, site.at + "attended",
                       {{"heads", encoder.heads}});
  };
  encoder.pooler = "";
  encoder.sequence = {"classifier.dense", encoder.activation, "", "classifier.out_proj"};
  config.Get("embedding_size");  // follows from the tensors
  DescribePostNormEncoder(encoder, checkpoint, description);
}

}  // namespace fovea::tools
