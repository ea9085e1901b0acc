// The encoder that BERT and its relatives share.
#include "tools/convert/arch/post_norm_encoder.h"

#include "tools/base/fail.h"
#include "tools/convert/constants.h"

namespace fovea::tools {
namespace {

class Writer {
 public:
  Writer(const PostNormEncoder& encoder, const Checkpoint& checkpoint, Description& description)
      : encoder_(encoder),
        description_(description),
        weights_(description.weights),
        prefix_(StoredPrefix(encoder, description.weights)),
        builder_(checkpoint, description, {"layer", encoder.epsilon}) {}

  void Run() {
    description_.must_use = {prefix_ + "embeddings.", prefix_ + encoder_.stack + "."};
    std::string x = Embeddings();
    if (encoder_.begin) encoder_.begin(builder_);
    const std::string last = Layers(std::move(x));
    Heads heads;
    if (!encoder_.pooler.empty()) heads.pooler = prefix_ + encoder_.pooler;
    heads.sequence = encoder_.sequence;
    if (heads.sequence.dense.empty()) heads.sequence.dense = heads.pooler;
    if (heads.sequence.activation.empty()) heads.sequence.activation = "tanh";
    heads.token = encoder_.token;
    heads.language = encoder_.language;
    if (heads.language.activation.empty()) heads.language.activation = encoder_.activation;
    heads.language_table = prefix_ + "embeddings.word_embeddings.weight";
    heads.language_bias = encoder_.language_bias;
    heads.tied = encoder_.tied;
    builder_.Finish(last, heads);
  }

 private:
  std::string HiddenState(uint32_t index) {
    return index == encoder_.layers / encoder_.layers_per_state ? builder_.LastHiddenState(index)
                                                                : builder_.HiddenState(index);
  }

  std::string Embeddings() {
    const std::string embeddings = prefix_ + "embeddings.";
    const std::string types = embeddings + "token_type_embeddings.weight";
    std::string positions = encoder_.positioned ? embeddings + "position_embeddings.weight" : "";
    std::vector<std::string> ids = {"input_ids"}, tables = {embeddings + "word_embeddings.weight"};
    uint32_t first_position = encoder_.first_position;
    if (encoder_.positioned && weights_.Has(types) && weights_.Get(types).rows == 1) {
      // The only type there is belongs to every position.
      const Constant rows = Slice(weights_.Get(positions), {first_position, 0});
      positions = "embeddings.position_and_type";
      description_.weights.Add(positions, Sum({rows, weights_.Get(types)}));
      first_position = 0;
    } else if (weights_.Has(types)) {
      builder_.InputOfIds("token_type_ids", 0);
      ids.push_back("token_type_ids");
      tables.push_back(types);
    }
    for (const auto& [input, table] : encoder_.added) {
      builder_.InputOfIds(input, 0);
      ids.push_back(input);
      tables.push_back(embeddings + table);
    }
    if (encoder_.word_scale != 1) {
      // The sum is scaled; what is no word must not be.
      for (size_t i = 1; i < tables.size(); ++i) {
        const std::string scaled = fmt::format("embeddings.table_{}", i);
        description_.weights.Add(scaled, Scale(weights_.Get(tables[i]), static_cast<float>(1 / encoder_.word_scale)));
        tables[i] = scaled;
      }
    }
    Json scale = Json::object();
    if (encoder_.word_scale != 1) scale["scale"] = encoder_.word_scale;
    std::string x = builder_.Op("embed", ids, tables, "embeddings.sum", scale);
    if (encoder_.positioned) {
      description_.SetMetadata("max_positions", std::to_string(weights_.Get(positions).rows - first_position));
      Json attributes = Json::object();
      if (first_position != 0) attributes["offset"] = first_position;
      x = builder_.Op("position", {x}, {positions}, "embeddings.positioned", attributes);
    }
    const bool projected = !encoder_.projection.empty(), last = !projected || encoder_.projects_before_norm;
    const std::string projection = prefix_ + encoder_.projection;
    if (projected && last) x = builder_.Linear(x, projection, "embeddings.projected");
    x = builder_.Norm(x, embeddings + "LayerNorm", last ? HiddenState(0) : "embeddings.normed");
    return last ? x : builder_.Linear(x, projection, HiddenState(0));
  }

  // norm(x + activation(convolution of the embeddings))
  std::string Convolve(const std::string& x) {
    const EmbeddingConvolution& convolution = encoder_.convolution;
    const std::string name = prefix_ + convolution.name;
    const Constant weight = weights_.Get(name + ".weight");
    const uint32_t rows = weight.width / weight.rows;
    if (weight.width % weight.rows != 0 || rows % 2 == 0) {
      Fail("tensor {}.weight is [{}, {}], an odd number of rows is needed", name, weight.rows, weight.width);
    }
    // One column after the other for each row, not one row after the other for each column.
    description_.weights.Add(name + ".rows.weight", Permute(weight, {weight.rows, weight.rows, rows}, {0, 2, 1}));
    description_.weights.Add(name + ".rows.bias", weights_.Get(name + ".bias"));
    builder_.Op("unfold", {HiddenState(0)}, {}, "convolution.rows", {{"before", rows / 2}, {"after", rows / 2}});
    builder_.Linear("convolution.rows", name + ".rows", "convolution.out", convolution.activation);
    builder_.Op("add", {x, "convolution.out"}, {}, "convolution.sum");
    return builder_.Norm("convolution.sum", prefix_ + convolution.norm, HiddenState(1));
  }

  std::string Linear(const std::string& in, const std::string& name, const std::string& out,
                     const std::string& activation = "none") {
    return encoder_.linear ? encoder_.linear(builder_, in, name, out, activation)
                           : builder_.Linear(in, name, out, activation);
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
      const AttentionSite site = {i, x, at, names};
      const std::string attended = encoder_.attention ? encoder_.attention(builder_, site) : PlainAttention(site);
      Linear(attended, names.output, at + "attention_output");
      builder_.Op("add", {x, at + "attention_output"}, {}, at + "attention_sum");
      const std::string middle = builder_.Norm(at + "attention_sum", names.attention_norm, at + "attention_normed");
      Linear(middle, names.up, at + "up", encoder_.activation);
      Linear(at + "up", names.down, at + "down");
      builder_.Op("add", {middle, at + "down"}, {}, at + "sum");
      const bool convolved = i == 0 && !encoder_.convolution.name.empty();
      const bool is_state = (i + 1) % encoder_.layers_per_state == 0 && !convolved;
      x = builder_.Norm(at + "sum", names.norm,
                        is_state ? HiddenState((i + 1) / encoder_.layers_per_state) : at + "normed");
      if (convolved) x = Convolve(x);
    }
    return x;
  }

  std::string PlainAttention(const AttentionSite& site) {
    return builder_.Attention(fmt::format("attentions.{}", site.layer),
                              {site.at + "query", site.at + "key", site.at + "value"}, {encoder_.distance_bias},
                              site.at + "attended", {{"heads", encoder_.heads}});
  }

  const PostNormEncoder& encoder_;
  Description& description_;
  const Weights& weights_;
  const std::string prefix_;
  ProgramBuilder builder_;
};

}  // namespace

PostNormEncoder EncoderFromConfig(const Config& config, const std::string& activation) {
  config.Only("position_embedding_type", "absolute");
  config.Only("is_decoder", false);
  config.Only("is_encoder_decoder", false);
  config.Only("add_cross_attention", false);
  PostNormEncoder encoder;
  encoder.layers = config.Number("num_hidden_layers");
  encoder.heads = config.Number("num_attention_heads");
  encoder.epsilon = config.Real("layer_norm_eps", 1e-12);
  encoder.activation = config.Activation("hidden_act", activation);
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

PostNormEncoder BertFromConfig(const Config& config, const std::string& activation) {
  PostNormEncoder encoder = EncoderFromConfig(config, activation);
  encoder.pooler = "pooler.dense";
  encoder.sequence.out = "classifier";
  encoder.language.dense = "cls.predictions.transform.dense";
  encoder.language.norm = "cls.predictions.transform.LayerNorm";
  encoder.language.out = "cls.predictions.decoder";
  encoder.language_bias = "cls.predictions.bias";
  return encoder;
}

std::string StoredPrefix(const PostNormEncoder& encoder, const Weights& weights) {
  return weights.Has("embeddings.word_embeddings.weight") ? "" : encoder.prefix + ".";
}

void DescribePostNormEncoder(const PostNormEncoder& encoder, const Checkpoint& checkpoint, Description& description) {
  Writer(encoder, checkpoint, description).Run();
}

}  // namespace fovea::tools
