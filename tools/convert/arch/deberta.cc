// DeBERTa, v2 and v3: BERT whose scores also depend on the distance of query and key (disentangled attention), some
// with a convolution beside layer 0. The projected embeddings of distances do not depend on the text: they are computed
// here.
#include <algorithm>
#include <cctype>
#include <cmath>

#include "tools/base/fail.h"
#include "tools/convert/arch/bert_family.h"
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

// The part of attention that depends on distances: score = scale * (q . k + q . key(distance) + k . query(distance)).
// One table of buckets serves both: what a query adds to a key's part is looked up by the distance of the same two
// tokens.
class Distances {
 public:
  // `encoder`: names of the encoder's tensors begin with it. `first`: the first DeBERTa.
  Distances(const Config& config, const LayerStack& stack, const std::string& encoder, bool first, Weights& weights)
      : config_(config), weights_(weights), first_(first) {
    const Json& types = config_.Get("pos_att_type");
    from_query_ = Names(types, "c2p");
    from_key_ = Names(types, "p2c");
    // The first one divides by the number of configured parts, used or not.
    parts_ = 1 + (first ? static_cast<uint32_t>(PartsOf(types).size()) : (from_query_ ? 1u : 0) + (from_key_ ? 1u : 0));
    shared_ = !first && config_.Flag("share_att_key", false);
    heads_ = stack.heads;
    if (config_.Flag("relative_attention", false)) AddTables(encoder, stack.norms.epsilon);
  }

  uint32_t parts() const { return parts_; }

  // Tensors of a layer's attention.
  AttentionTensors Tensors(const AttentionNames& names) {
    if (embeddings_.rows == 0 || !used()) return {};
    const std::string at = names.query.substr(0, names.query.find(".self.") + 6);
    AttentionTensors tensors = {.buckets = kBuckets};
    if (from_query_) tensors.relative_keys = Project(names.key, at + (first_ ? "pos_proj" : "pos_key_proj"));
    if (from_key_) tensors.relative_queries = Project(names.query, at + (first_ ? "pos_q_proj" : "pos_query_proj"));
    return tensors;
  }

 private:
  static constexpr const char* kBuckets = "encoder.distance_buckets";

  bool used() const { return from_query_ || from_key_; }

  void AddTables(const std::string& encoder, double epsilon) {
    const uint32_t positions = config_.Number("max_position_embeddings", 512);
    const uint32_t most = Set(config_, "max_relative_positions", positions);
    const uint32_t buckets = first_ ? 0 : Set(config_, "position_buckets", 0);
    const uint32_t span = buckets == 0 ? most : buckets;
    embeddings_ = Slice(weights_.Get(encoder + "rel_embeddings.weight"), {0, 2 * span});
    const Json norm = first_ ? Json() : config_.Get("norm_rel_ebd");
    if (Names(norm, "layer_norm")) {
      embeddings_ = LayerNorm(embeddings_, weights_.Get(encoder + "LayerNorm.weight"),
                              weights_.Get(encoder + "LayerNorm.bias"), epsilon);
    } else if (!norm.is_null() && norm != "none") {
      Fail("config.json: norm_rel_ebd {} is not supported", norm.dump());
    }
    if (!used()) return;
    DistanceBucketsSpec spec;
    spec.span = span;
    if (buckets != 0) {
      spec.exact = buckets / 2;
      spec.max_distance = most;
    }
    weights_.Add(kBuckets, DistanceBuckets(spec));
  }

  // The embeddings, projected by layer `content`, as tokens are, or by layer `own`: [heads * buckets, head size].
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
  const bool first_;
  bool from_query_ = false, from_key_ = false, shared_ = false;
  uint32_t parts_ = 1, heads_ = 0;
  Constant embeddings_;
};

// The first DeBERTa stores rows head by head: query, key, value. Keys have no bias.
void SplitProjections(const BertLike& family, uint32_t size, Weights& weights) {
  for (uint32_t i = 0; i < family.layers; ++i) {
    const std::string at = fmt::format("{}encoder.layer.{}.attention.self.", RootOf(family, weights), i);
    SplitGroups(weights, at + "in_proj", family.heads, 1, size);
    weights.Add(at + "in_proj.query.bias", weights.Get(at + "q_bias"));
    weights.Add(at + "in_proj.value.bias", weights.Get(at + "v_bias"));
  }
}

BertLike ReadFamily(const Config& config, bool first, Weights& weights) {
  BertLike family = EncoderFromConfig(config);
  family.prefix = "deberta";
  family.epsilon = config.Real("layer_norm_eps", 1e-7);
  family.positioned = config.Flag("position_biased_input", true);
  // Published files have the table all the same; the original ignores it.
  if (!family.positioned) weights.Ignore("*embeddings.position_embeddings.weight");
  family.layer = [first, layer = family.layer](const std::string& root, uint32_t i) {
    StackLayer named = layer(root, i);
    const std::string self = fmt::format("{}encoder.layer.{}.attention.self.", root, i);
    named.attention.query = self + (first ? "in_proj.query" : "query_proj");
    named.attention.key = self + (first ? "in_proj.key" : "key_proj");
    named.attention.value = self + (first ? "in_proj.value" : "value_proj");
    return named;
  };
  if (weights.Has(RootOf(family, weights) + "embeddings.embed_proj.weight")) {
    family.projection = "embeddings.embed_proj";
    family.projected = Projected::kSumWithPositions;
  }
  family.sequence = {
      .dense = "pooler.dense", .activation = config.Activation("pooler_hidden_act", "gelu"), .out = "classifier"};
  family.choice = family.sequence;
  return family;
}

// The head for masked words is stored in one of two ways. Some files with the new one do not set `legacy`.
void NameLanguageHead(const Config& config, const Weights& weights, BertLike& family) {
  const bool has_old = weights.Has("cls.predictions.transform.dense.weight");
  const bool has_new = weights.Has("lm_predictions.lm_head.dense.weight");
  const bool legacy = has_old && has_new ? config.Flag("legacy", true) : !has_new;
  const std::string head = legacy ? "cls.predictions." : "lm_predictions.lm_head.";
  family.language.dense = head + (legacy ? "transform.dense" : "dense");
  family.language.norm = head + (legacy ? "transform.LayerNorm" : "LayerNorm");
  if (legacy) family.language.out = head + "decoder";  // the new one always takes the embeddings
  family.language_bias = head + "bias";
}

// Scores that depend on distances.
void AttendByDistance(Distances distances, Weights& weights, LayerStack& stack) {
  stack.attend = [=, &weights](ProgramBuilder& b, const StackSite& site) mutable {
    const AttentionNames& names = site.stack.layers[site.layer].attention;
    const uint32_t width = weights.Get(names.query + ".weight").rows, heads = site.stack.heads;
    const double scale = 1 / sqrt(static_cast<double>(width) / heads * distances.parts());
    return b.Attention(fmt::format("attentions.{}", site.layer),
                       {site.at + "query", site.at + "key", site.at + "value"}, distances.Tensors(names),
                       site.at + "attended", {{"heads", heads}, {"scale", scale}});
  };
}

// After layer 0: norm(x + activation(convolution of the embeddings)). Weights [width, width, an odd number of rows].
void ConvolveEmbeddings(const Config& config, const std::string& encoder, Weights& weights, LayerStack& stack) {
  config.Only("conv_groups", 1);
  const std::string name = encoder + "conv.conv", norm = encoder + "conv.LayerNorm";
  const std::string activation = config.Activation("conv_act", "tanh");
  if (stack.layers.empty()) return;
  const Constant weight = weights.Get(name + ".weight");
  const uint32_t rows = weight.width / weight.rows;
  if (weight.width % weight.rows != 0 || rows % 2 == 0) {
    Fail("tensor {}.weight is [{}, {}], an odd number of rows is needed", name, weight.rows, weight.width);
  }
  // Columns of one row after the other, not rows of one column after the other.
  weights.Add(name + ".rows.weight", Permute(weight, {weight.rows, weight.rows, rows}, {0, 2, 1}));
  weights.Add(name + ".rows.bias", weights.Get(name + ".bias"));
  stack.layers[0].after = [=](ProgramBuilder& b, const std::string& in, const std::string& out) {
    b.Op("unfold", {b.HiddenState(0)}, {}, "convolution.rows", {{"before", rows / 2}, {"after", rows / 2}});
    b.Linear("convolution.rows", name + ".rows", "convolution.out", activation);
    b.Op("add", {in, "convolution.out"}, {}, "convolution.sum");
    return b.Norm("convolution.sum", norm, out);
  };
}

void Describe(const Checkpoint& checkpoint, Description& description, bool first) {
  const Config& config = checkpoint.config;
  Weights& weights = description.weights;
  BertLike family = ReadFamily(config, first, weights);
  NameLanguageHead(config, weights, family);
  if (!family.positioned) {
    description.SetMetadata("max_positions", std::to_string(config.Number("max_position_embeddings", 512)));
  }
  if (first) SplitProjections(family, HeadSize(config, "hidden_size", family.heads), weights);
  LayerStack stack = BertStack(family, description);
  const std::string encoder = RootOf(family, weights) + "encoder.";
  AttendByDistance(Distances(config, stack, encoder, first, weights), weights, stack);
  if (!first && Set(config, "conv_kernel_size", 0) > 0) ConvolveEmbeddings(config, encoder, weights, stack);
  // Sizes follow from the tensors; the remaining keys are read only for models with a convolution or with both heads.
  config.Ignore({"attention_head_size", "conv_act", "conv_groups", "embedding_size", "legacy", "pooler_hidden_size"});
  DescribeStack(stack, checkpoint, description);
}

}  // namespace

// The original: transformers/models/deberta/modeling_deberta.py: DebertaModel.
void DescribeDeberta(const Checkpoint& checkpoint, Description& description) {
  checkpoint.config.Only("talking_head", false);  // scores and weights of all heads mixed
  Describe(checkpoint, description, true);
}

// The original: transformers/models/deberta_v2/modeling_deberta_v2.py: DebertaV2Model.
void DescribeDebertaV2(const Checkpoint& checkpoint, Description& description) {
  checkpoint.config.Only("z_steps", 0);
  Describe(checkpoint, description, false);
}

}  // namespace fovea::tools
