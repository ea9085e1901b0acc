// MobileBERT: wide embeddings made of three narrow ones, layers that work in a narrow bottleneck and have several
// feed-forwards, norms that may be a scale and a shift for each column.
#include "tools/base/fail.h"
#include "tools/convert/arch/program_builder.h"
#include "tools/convert/constants.h"

namespace fovea::tools {
namespace {

class Writer {
 public:
  Writer(const Checkpoint& checkpoint, Description& description, const std::string& prefix)
      : config_(checkpoint.config),
        description_(description),
        weights_(description.weights),
        prefix_(prefix),
        heads_(config_.Number("num_attention_heads")),
        forwards_(config_.Number("num_feedforward_networks", 4)),
        activation_(config_.Activation("hidden_act", "relu")),
        narrow_(config_.Flag("use_bottleneck", true)),
        narrow_values_(config_.Flag("use_bottleneck_attention", false)),
        shares_(config_.Flag("key_query_shared_bottleneck", true)),
        b_(checkpoint, description, {"layer", config_.Real("layer_norm_eps", 1e-12)}) {
    const std::string norm = config_.Text("normalization_type", "no_norm");
    if (norm != "no_norm" && norm != "layer_norm") {
      Fail("config.json: normalization_type {} is not supported", norm);
    }
    normless_ = norm == "no_norm";
    if (forwards_ == 0) Fail("config.json: num_feedforward_networks 0 is not supported");
  }

  void Run() {
    description_.must_use = {prefix_ + "embeddings.", prefix_ + "encoder."};
    const uint32_t layers = config_.Number("num_hidden_layers");
    std::string x = Embeddings(layers == 0);
    for (uint32_t i = 0; i < layers; ++i) x = Layer(i, x, i + 1 == layers);
    Heads heads;
    if (config_.Flag("classifier_activation", true)) heads.pooler = prefix_ + "pooler.dense";
    heads.sequence = {.dense = heads.pooler, .activation = "tanh", .out = "classifier"};
    heads.token.out = "classifier";
    heads.choice = heads.sequence;
    heads.next = heads.sequence;
    heads.next.out = "cls.seq_relationship";
    heads.language = {.dense = "cls.predictions.transform.dense",
                      .activation = activation_,
                      .norm = "cls.predictions.transform.LayerNorm",
                      .out = "cls.predictions.scores"};
    heads.language_bias = "cls.predictions.bias";
    heads.tied = false;
    AddScores();
    b_.Finish(x, heads);
  }

 private:
  std::string Embeddings(bool last) {
    const std::string at = prefix_ + "embeddings.", types = at + "token_type_embeddings.weight";
    const std::string positions = at + "position_embeddings.weight", to_width = at + "embedding_transformation";
    const bool of_three = config_.Flag("trigram_input", true);
    std::string x = b_.Op("embed", {"input_ids"}, {at + "word_embeddings.weight"}, "embeddings.words");
    if (of_three) {
      // Stored for the next, the own and the previous row.
      const Constant weight = weights_.Get(to_width + ".weight");
      if (weight.width % 3 != 0)
        Fail("tensor {}.weight has width {}, which is not a multiple of three", to_width, weight.width);
      weights_.Add(to_width + ".rows.weight", Transpose(Parts(Transpose(weight), {2, 1, 0})));
      if (weights_.Has(to_width + ".bias")) weights_.Add(to_width + ".rows.bias", weights_.Get(to_width + ".bias"));
      x = b_.Op("unfold", {x}, {}, "embeddings.three", {{"before", 1}, {"after", 1}});
      x = b_.Linear(x, to_width + ".rows", "embeddings.wide");
    } else if (weights_.Has(to_width + ".weight")) {
      x = b_.Linear(x, to_width, "embeddings.wide");
    }
    if (weights_.Has(types)) {
      b_.InputOfIds("token_type_ids", 0);
      b_.Op("embed", {"token_type_ids"}, {types}, "embeddings.types");
      x = b_.Op("add", {x, "embeddings.types"}, {}, "embeddings.sum");
    }
    x = b_.Op("position", {x}, {positions}, "embeddings.positioned");
    description_.SetMetadata("max_positions", std::to_string(weights_.Get(positions).rows));
    return Norm(x, at + "LayerNorm", last ? b_.LastHiddenState(0) : b_.HiddenState(0));
  }

  // Without statistics: a convolution of one row is each column times a number, plus one.
  std::string Norm(const std::string& x, const std::string& name, const std::string& out) {
    return normless_ ? b_.Layer("convolve", {x}, name, out, Json::object()) : b_.Norm(x, name, out);
  }

  std::string Narrowed(const std::string& x, const std::string& name, const std::string& out) {
    return Norm(b_.Linear(x, name + ".dense", out + ".dense"), name + ".LayerNorm", out);
  }

  // A layer, the sum with x and a norm.
  std::string Output(const std::string& in, const std::string& x, const std::string& name, const std::string& out) {
    b_.Linear(in, name + ".dense", out + ".dense");
    return Norm(b_.Op("add", {out + ".dense", x}, {}, out + ".sum"), name + ".LayerNorm", out);
  }

  std::string FeedForward(const std::string& x, const std::string& name, const std::string& out) {
    return Output(b_.Linear(x, name + "intermediate.dense", out + ".up", activation_), x, name + "output", out);
  }

  std::string Layer(uint32_t i, const std::string& x, bool last) {
    const std::string name = fmt::format("{}encoder.layer.{}.", prefix_, i), at = fmt::format("layers.{}.", i);
    std::string asks = x, tells = x, residual = x;  // what queries and keys, values and the sum are made of
    if (narrow_) {
      residual = Narrowed(x, name + "bottleneck.input", at + "narrow");
      if (narrow_values_) {
        asks = tells = residual;
      } else if (shares_) {
        asks = Narrowed(x, name + "bottleneck.attention", at + "asks");
      }
    }
    const std::string self = name + "attention.self.";
    b_.Linear(asks, self + "query", at + "query");
    b_.Linear(asks, self + "key", at + "key");
    b_.Linear(tells, self + "value", at + "value");
    b_.Attention(fmt::format("attentions.{}", i), {at + "query", at + "key", at + "value"}, {}, at + "attended",
                 {{"heads", heads_}});
    std::string middle = Output(at + "attended", residual, name + "attention.output", at + "attention_normed");
    for (uint32_t n = 0; n + 1 < forwards_; ++n) {
      middle = FeedForward(middle, fmt::format("{}ffn.{}.", name, n), fmt::format("{}forwards.{}", at, n));
    }
    const std::string state = last ? b_.LastHiddenState(i + 1) : b_.HiddenState(i + 1);
    const std::string made = FeedForward(middle, name, narrow_ ? at + "forwards.last" : state);
    return narrow_ ? Output(made, x, name + "output.bottleneck", state) : made;
  }

  // The matrix of scores: the embeddings of words and a stored matrix, concatenated by columns.
  void AddScores() {
    const std::string own = "cls.predictions.dense.weight", scores = "cls.predictions.scores.weight";
    if (!weights_.Has("cls.predictions.transform.dense.weight")) return;
    const Constant words = weights_.Get(prefix_ + "embeddings.word_embeddings.weight");
    weights_.Add(scores, weights_.Has(own) ? Transpose(Concatenate({Transpose(words), weights_.Get(own)})) : words);
  }

  const Config& config_;
  Description& description_;
  Weights& weights_;
  const std::string prefix_;
  const uint32_t heads_, forwards_;
  const std::string activation_;
  const bool narrow_, narrow_values_, shares_;
  bool normless_ = false;
  ProgramBuilder b_;
};

}  // namespace

// The original: transformers/models/mobilebert/modeling_mobilebert.py: MobileBertModel.
void DescribeMobilebert(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  config.Only("position_embedding_type", "absolute");
  config.Only("tie_word_embeddings", true);
  // Sizes follow from the tensors.
  config.Ignore({"embedding_size", "hidden_size", "intermediate_size", "intra_bottleneck_size",
                 "max_position_embeddings", "true_hidden_size", "type_vocab_size"});
  const bool bare = description.weights.Has("embeddings.word_embeddings.weight");
  Writer(checkpoint, description, bare ? "" : "mobilebert.").Run();
}

}  // namespace fovea::tools
