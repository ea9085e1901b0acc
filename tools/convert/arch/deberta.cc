// DeBERTa, v2 and v3: BERT whose scores also depend on the distance of query and key (disentangled attention), some
// with a convolution beside layer 0. The projected embeddings of distances do not depend on the text: they are computed
// here.
#include <algorithm>
#include <cctype>
#include <cmath>

#include "tools/base/fail.h"
#include "tools/convert/arch/post_norm_encoder.h"
#include "tools/convert/arch/rotary.h"
#include "tools/convert/constants.h"

namespace fovea::tools {
namespace {

// Parts of a setting such as "c2p|p2c", which may also be a list.
std::vector<std::string> PartsOf(const Json& setting) {
  std::vector<std::string> parts;
  if (setting.is_array()) {
    for (const Json& part : setting) parts.push_back(part.is_string() ? part.get<std::string>() : Shown(part));
    return parts;
  }
  bool begins = true;
  for (const char c : setting.is_string() ? setting.get<std::string>() : std::string()) {
    if (c == ' ' || c == '|') {
      begins = true;
      continue;
    }
    if (begins) parts.emplace_back();
    begins = false;
    parts.back() += static_cast<char>(tolower(static_cast<unsigned char>(c)));
  }
  return parts;
}

bool Names(const Json& setting, const std::string& part) {
  const std::vector<std::string> parts = PartsOf(setting);
  return std::find(parts.begin(), parts.end(), part) != parts.end();
}

// A number that older configurations write as -1 (or 0) where it is not set.
uint32_t Set(const Config& config, const char* key, uint32_t otherwise) {
  const double value = config.Real(key, -1);
  return value < 1 ? otherwise : config.Number(key);
}

// What attention takes of the distance: score = scale * (q . k + q . key(distance) + k . query(distance)). One table of
// buckets serves both: what a query adds to a key's part is looked up by the distance of the same two tokens.
class Distances {
 public:
  // `first`: of the first DeBERTa.
  Distances(const Checkpoint& checkpoint, Description& description, const PostNormEncoder& encoder, bool first)
      : config_(checkpoint.config),
        weights_(description.weights),
        prefix_(StoredPrefix(encoder, weights_)),
        first_(first) {
    const Json& types = config_.Get("pos_att_type");
    from_query_ = Names(types, "c2p");
    from_key_ = Names(types, "p2c");
    // The first one divides by what it is told, whether it is used or not.
    parts_ = 1 + (first ? static_cast<uint32_t>(PartsOf(types).size()) : (from_query_ ? 1u : 0) + (from_key_ ? 1u : 0));
    shared_ = !first && config_.Flag("share_att_key", false);
    heads_ = encoder.heads;
    if (config_.Flag("relative_attention", false)) AddTables(encoder);
  }

  uint32_t parts() const { return parts_; }

  std::vector<std::string> Tensors(const LayerNames& names) {
    if (embeddings_.rows == 0 || !told()) return {};
    const std::string at = prefix_ + names.query.substr(0, names.query.find(".self.") + 6);
    std::vector<std::string> tensors(8);
    if (from_query_) tensors[5] = Project(prefix_ + names.key, at + (first_ ? "pos_proj" : "pos_key_proj"));
    if (from_key_) tensors[6] = Project(prefix_ + names.query, at + (first_ ? "pos_q_proj" : "pos_query_proj"));
    tensors[7] = kBuckets;
    return tensors;
  }

 private:
  static constexpr const char* kBuckets = "encoder.distance_buckets";

  bool told() const { return from_query_ || from_key_; }

  void AddTables(const PostNormEncoder& encoder) {
    const uint32_t positions = config_.Number("max_position_embeddings", 512);
    const uint32_t most = Set(config_, "max_relative_positions", positions);
    const uint32_t buckets = first_ ? 0 : Set(config_, "position_buckets", 0);
    const uint32_t span = buckets == 0 ? most : buckets;
    const std::string at = prefix_ + encoder.stack + ".";
    embeddings_ = Slice(weights_.Get(at + "rel_embeddings.weight"), {0, 2 * span});
    const Json norm = first_ ? Json() : config_.Get("norm_rel_ebd");
    if (Names(norm, "layer_norm")) {
      embeddings_ = LayerNorm(embeddings_, weights_.Get(at + "LayerNorm.weight"), weights_.Get(at + "LayerNorm.bias"),
                              encoder.epsilon);
    } else if (!norm.is_null() && norm != "none") {
      Fail("config.json: norm_rel_ebd {} is not supported", norm.dump());
    }
    if (!told()) return;
    DistanceBucketsSpec spec;
    spec.span = span;
    if (buckets != 0) {
      spec.exact = buckets / 2;
      spec.max_distance = most;
    }
    weights_.Add(kBuckets, DistanceBuckets(spec));
  }

  // The embeddings as the layer `content` projects tokens, or as a layer of their own does: [heads * buckets, head
  // size].
  std::string Project(const std::string& content, const std::string& own) {
    const std::string layer = shared_ ? content : own, name = own + ".distances";
    const Constant weight = weights_.Get(layer + ".weight");
    if (weight.rows % heads_ != 0) Fail("tensor {}.weight has {} rows, not {} heads", layer, weight.rows, heads_);
    const std::string bias = layer + ".bias";
    const Constant all = Product(embeddings_, weight, weights_.Has(bias) ? weights_.Get(bias) : Constant());
    const uint32_t rows = embeddings_.rows, head_size = weight.rows / heads_;
    weights_.Add(name, Reshape(Permute(all, {rows, heads_, head_size}, {1, 0, 2}), heads_ * rows, head_size));
    return name;
  }

  const Config& config_;
  Weights& weights_;
  const std::string prefix_;
  const bool first_;
  bool from_query_ = false, from_key_ = false, shared_ = false;
  uint32_t parts_ = 1, heads_ = 0;
  Constant embeddings_;
};

// The first DeBERTa stores query, key and value of a head after those of the one before; keys have no bias.
void SplitProjections(const Config& config, const PostNormEncoder& encoder, Weights& weights) {
  const uint32_t size = HeadSize(config, "hidden_size", encoder.heads);
  for (uint32_t i = 0; i < encoder.layers; ++i) {
    const std::string at = fmt::format("{}encoder.layer.{}.attention.self.", StoredPrefix(encoder, weights), i);
    SplitGroups(weights, at + "in_proj", encoder.heads, 1, size);
    weights.Add(at + "in_proj.query.bias", weights.Get(at + "q_bias"));
    weights.Add(at + "in_proj.value.bias", weights.Get(at + "v_bias"));
  }
}

void Describe(const Checkpoint& checkpoint, Description& description, bool first) {
  const Config& config = checkpoint.config;
  Weights& weights = description.weights;
  PostNormEncoder encoder = EncoderFromConfig(config);
  encoder.prefix = "deberta";
  encoder.epsilon = config.Real("layer_norm_eps", 1e-7);
  encoder.positioned = config.Flag("position_biased_input", true);
  if (!encoder.positioned) {
    description.SetMetadata("max_positions", std::to_string(config.Number("max_position_embeddings", 512)));
  }
  encoder.layer = [=](uint32_t i) {
    const std::string at = fmt::format("encoder.layer.{}.", i), self = at + "attention.self.";
    return LayerNames{self + (first ? "in_proj.query" : "query_proj"),
                      self + (first ? "in_proj.key" : "key_proj"),
                      self + (first ? "in_proj.value" : "value_proj"),
                      at + "attention.output.dense",
                      at + "attention.output.LayerNorm",
                      at + "intermediate.dense",
                      at + "output.dense",
                      at + "output.LayerNorm"};
  };
  const std::string prefix = StoredPrefix(encoder, weights);
  if (weights.Has(prefix + "embeddings.embed_proj.weight")) {
    encoder.projection = "embeddings.embed_proj";
    encoder.projects_before_norm = true;
  }
  if (first) SplitProjections(config, encoder, weights);
  Distances distances(checkpoint, description, encoder, first);
  encoder.attention = [&](ProgramBuilder& b, const AttentionSite& site) {
    const uint32_t width = weights.Get(site.names.query + ".weight").rows;
    const double scale = 1 / sqrt(static_cast<double>(width) / encoder.heads * distances.parts());
    return b.Attention(fmt::format("attentions.{}", site.layer),
                       {site.at + "query", site.at + "key", site.at + "value"},
                       distances.Tensors(encoder.layer(site.layer)), site.at + "attended",
                       {{"heads", encoder.heads}, {"scale", scale}});
  };
  if (!first && Set(config, "conv_kernel_size", 0) > 0) {
    config.Only("conv_groups", 1);
    encoder.convolution = {"encoder.conv.conv", "encoder.conv.LayerNorm", config.Activation("conv_act", "tanh")};
  }
  encoder.sequence = {"pooler.dense", config.Activation("pooler_hidden_act", "gelu"), "", "classifier"};
  // The head is stored in one of two ways. Some files with the new one do not say so.
  const bool has_old = weights.Has("cls.predictions.transform.dense.weight");
  const bool has_new = weights.Has("lm_predictions.lm_head.dense.weight");
  const bool legacy = has_old && has_new ? config.Flag("legacy", true) : !has_new;
  const std::string head = legacy ? "cls.predictions." : "lm_predictions.lm_head.";
  encoder.language.dense = head + (legacy ? "transform.dense" : "dense");
  encoder.language.norm = head + (legacy ? "transform.LayerNorm" : "LayerNorm");
  if (legacy) encoder.language.out = head + "decoder";  // the new one always takes the embeddings
  encoder.language_bias = head + "bias";
  // These follow from the tensors.
  for (const char* key :
       {"attention_head_size", "conv_act", "conv_groups", "embedding_size", "legacy", "pooler_hidden_size"})
    config.Get(key);
  DescribePostNormEncoder(encoder, checkpoint, description);
}

}  // namespace

void DescribeDeberta(const Checkpoint& checkpoint, Description& description) {
  checkpoint.config.Only("talking_head", false);  // scores and weights of all heads mixed
  Describe(checkpoint, description, true);
}

void DescribeDebertaV2(const Checkpoint& checkpoint, Description& description) {
  checkpoint.config.Only("z_steps", 0);
  Describe(checkpoint, description, false);
}

}  // namespace fovea::tools
