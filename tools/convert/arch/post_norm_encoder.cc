// The encoder that BERT and its relatives share.
#include "tools/convert/arch/post_norm_encoder.h"

#include "tools/base/fail.h"
#include "tools/convert/constants.h"

namespace fovea::tools {
namespace {

// Appends operations to the program.
class Builder {
 public:
  Builder(const PostNormEncoder& encoder, const Checkpoint& checkpoint, Description& description)
      : encoder_(encoder),
        checkpoint_(checkpoint),
        description_(description),
        weights_(description.weights),
        prefix_(StoredPrefix(encoder, description.weights)) {}

  void Run() {
    description_.spaces = {{"texts"}, {"tokens", "texts"}};
    description_.must_use = {prefix_ + "embeddings.", prefix_ + encoder_.stack + "."};
    program_.name = "encode";
    const std::string last = Layers(Embeddings());
    switch (checkpoint_.task) {
      case Task::kBackbone:
        break;
      case Task::kEmbedding:
        EmbeddingHead(last);
        break;
      case Task::kSequenceClassification:
        SequenceHead(last);
        break;
      case Task::kTokenClassification:
        TokenHead(last);
        break;
      case Task::kMaskedLm:
        MaskedLmHead(last);
        break;
    }
    description_.programs.push_back(std::move(program_));
  }

 private:
  std::string Op(const std::string& op, std::vector<std::string> in, std::vector<std::string> tensors,
                 const std::string& out, Json attributes = Json::object()) {
    program_.operations.push_back({op, std::move(in), std::move(tensors), out, std::move(attributes)});
    return out;
  }

  std::string Linear(const std::string& in, const std::string& name, const std::string& out,
                     const std::string& activation = "none") {
    std::vector<std::string> tensors = {name + ".weight"};
    if (weights_.Has(name + ".bias")) tensors.push_back(name + ".bias");
    Json attributes = Json::object();
    if (activation != "none") attributes["activation"] = activation;
    return Op("linear", {in}, tensors, out, attributes);
  }

  std::string Norm(const std::string& in, const std::string& name, const std::string& out) {
    return Op("norm", {in}, {name + ".weight", name + ".bias"}, out,
              {{"kind", "layer"}, {"epsilon", encoder_.epsilon}});
  }

  std::string HiddenState(uint32_t index) const {
    const bool named_output =
        checkpoint_.task == Task::kEmbedding && index == encoder_.layers / encoder_.layers_per_state;
    return named_output ? "last_hidden_state" : fmt::format("hidden_states.{}", index);
  }

  std::string Embeddings() {
    const std::string embeddings = prefix_ + "embeddings.";
    const std::string types = embeddings + "token_type_embeddings.weight";
    std::string positions = embeddings + "position_embeddings.weight";
    program_.inputs.push_back({"input_ids", "tokens"});
    std::vector<std::string> ids = {"input_ids"}, tables = {embeddings + "word_embeddings.weight"};
    uint32_t first_position = encoder_.first_position;
    if (weights_.Has(types) && weights_.Get(types).rows == 1) {
      // The only type there is belongs to every position.
      const Constant rows = Slice(weights_.Get(positions), {first_position, 0});
      positions = "embeddings.position_and_type";
      description_.weights.Add(positions, Sum({rows, weights_.Get(types)}));
      first_position = 0;
    } else if (weights_.Has(types)) {
      program_.inputs.push_back({"token_type_ids", "tokens"});
      description_.SetMetadata("default.token_type_ids", "0");
      ids.push_back("token_type_ids");
      tables.push_back(types);
    }
    description_.SetMetadata("max_positions", std::to_string(weights_.Get(positions).rows - first_position));
    Op("embed", ids, tables, "embeddings.sum");
    Json attributes = Json::object();
    if (first_position != 0) attributes["offset"] = first_position;
    Op("position", {"embeddings.sum"}, {positions}, "embeddings.positioned", attributes);
    const bool projected = !encoder_.projection.empty();
    const std::string normed =
        Norm("embeddings.positioned", embeddings + "LayerNorm", projected ? "embeddings.normed" : HiddenState(0));
    return projected ? Linear(normed, prefix_ + encoder_.projection, HiddenState(0)) : normed;
  }

  std::string Layers(std::string x) {
    for (uint32_t i = 0; i < encoder_.layers; ++i) {
      LayerNames names = encoder_.layer(i);
      for (std::string* name : {&names.query, &names.key, &names.value, &names.output, &names.attention_norm, &names.up,
                                &names.down, &names.norm}) {
        *name = prefix_ + *name;
      }
      const std::string at = fmt::format("layers.{}.", i);
      Linear(x, names.query, at + "query");
      Linear(x, names.key, at + "key");
      Linear(x, names.value, at + "value");
      std::vector<std::string> bias;
      if (!encoder_.distance_bias.empty()) bias.push_back(encoder_.distance_bias);
      Op("attention", {at + "query", at + "key", at + "value"}, bias, at + "attended", {{"heads", encoder_.heads}});
      program_.operations.back().name = fmt::format("attentions.{}", i);
      Linear(at + "attended", names.output, at + "attention_output");
      Op("add", {x, at + "attention_output"}, {}, at + "attention_sum");
      const std::string middle = Norm(at + "attention_sum", names.attention_norm, at + "attention_normed");
      Linear(middle, names.up, at + "up", encoder_.activation);
      Linear(at + "up", names.down, at + "down");
      Op("add", {middle, at + "down"}, {}, at + "sum");
      const bool is_state = (i + 1) % encoder_.layers_per_state == 0;
      x = Norm(at + "sum", names.norm, is_state ? HiddenState((i + 1) / encoder_.layers_per_state) : at + "normed");
    }
    return x;
  }

  void EmbeddingHead(const std::string& last) {
    description_.SetMetadata("task", "embedding");
    description_.SetMetadata(fmt::format("alias.hidden_states.{}", encoder_.layers / encoder_.layers_per_state), last);
    program_.outputs = {last};
    const std::string pooler = prefix_ + encoder_.pooler;
    if (!encoder_.pooler.empty() && weights_.Has(pooler + ".weight")) {
      Op("pool", {last}, {}, "first_token", {{"kind", "first"}});
      program_.outputs.push_back(Linear("first_token", pooler, "pooler_output", "tanh"));
    }
  }

  void SequenceHead(const std::string& last) {
    description_.SetMetadata("task", "sequence-classification");
    Op("pool", {last}, {}, "first_token", {{"kind", "first"}});
    const std::string dense = encoder_.sequence_dense.empty() ? prefix_ + encoder_.pooler : encoder_.sequence_dense;
    Linear("first_token", dense, "pooled", encoder_.sequence_activation);
    program_.outputs = {Linear("pooled", encoder_.sequence_out, "logits")};
    Labels(encoder_.sequence_out);
  }

  void TokenHead(const std::string& last) {
    description_.SetMetadata("task", "token-classification");
    program_.outputs = {Linear(last, "classifier", "logits")};
    Labels("classifier");
  }

  void MaskedLmHead(const std::string& last) {
    description_.SetMetadata("task", "masked-lm");
    Linear(last, encoder_.lm_dense, "head.dense", encoder_.activation);
    Norm("head.dense", encoder_.lm_norm, "head.normed");
    const bool tied =
        checkpoint_.config.Flag("tie_word_embeddings", true) || !weights_.Has(encoder_.lm_decoder + ".weight");
    const std::string decoder = tied ? prefix_ + "embeddings.word_embeddings.weight" : encoder_.lm_decoder + ".weight";
    std::vector<std::string> tensors = {decoder};
    for (const std::string& bias : {encoder_.lm_bias, encoder_.lm_decoder + ".bias"}) {
      if (tensors.size() == 1 && weights_.Has(bias)) tensors.push_back(bias);
    }
    program_.outputs = {Op("linear", {"head.normed"}, tensors, "logits")};
  }

  void Labels(const std::string& classifier) {
    const Json& labels = checkpoint_.config.Get("id2label");
    const uint32_t count = weights_.Get(classifier + ".weight").rows;
    for (uint32_t i = 0; i < count; ++i) {
      const Json label = labels.is_object() ? labels.value(std::to_string(i), Json()) : Json();
      description_.SetMetadata(fmt::format("label.{}", i),
                               label.is_string() ? label.get<std::string>() : fmt::format("LABEL_{}", i));
    }
    const std::string kind = checkpoint_.config.Text("problem_type", "");
    if (!kind.empty()) description_.SetMetadata("problem_type", kind);
  }

  const PostNormEncoder& encoder_;
  const Checkpoint& checkpoint_;
  Description& description_;
  const Weights& weights_;
  const std::string prefix_;
  Program program_;
};

}  // namespace

PostNormEncoder EncoderFromConfig(const Config& config) {
  config.Only("position_embedding_type", "absolute");
  config.Only("is_decoder", false);
  config.Only("is_encoder_decoder", false);
  config.Only("add_cross_attention", false);
  PostNormEncoder encoder;
  encoder.layers = config.Number("num_hidden_layers");
  encoder.heads = config.Number("num_attention_heads");
  encoder.epsilon = config.Real("layer_norm_eps", 1e-12);
  encoder.activation = config.Activation("hidden_act", "gelu");
  encoder.layer = [](uint32_t i) {
    const std::string at = fmt::format("encoder.layer.{}.", i);
    return LayerNames{at + "attention.self.query",
                      at + "attention.self.key",
                      at + "attention.self.value",
                      at + "attention.output.dense",
                      at + "attention.output.LayerNorm",
                      at + "intermediate.dense",
                      at + "output.dense",
                      at + "output.LayerNorm"};
  };
  // Shapes follow from the tensors.
  for (const char* key : {"hidden_size", "intermediate_size", "max_position_embeddings", "type_vocab_size"})
    config.Get(key);
  return encoder;
}

std::string StoredPrefix(const PostNormEncoder& encoder, const Weights& weights) {
  return weights.Has("embeddings.word_embeddings.weight") ? "" : encoder.prefix + ".";
}

void DescribePostNormEncoder(const PostNormEncoder& encoder, const Checkpoint& checkpoint, Description& description) {
  Builder(encoder, checkpoint, description).Run();
}

}  // namespace fovea::tools
