// A hierarchical classifier of random weights, described as graph.json would: tokens attend within sentences, sentences
// within documents, and attention with a learned query pools each level.
#ifndef FOVEA_TESTS_SUPPORT_DOCUMENT_MODEL_H_
#define FOVEA_TESTS_SUPPORT_DOCUMENT_MODEL_H_

#include <fmt/format.h>

#include <random>
#include <string>
#include <vector>

#include "tools/convert/constants.h"
#include "tools/convert/convert.h"
#include "tools/convert/graph_json.h"

namespace fovea::test {

struct DocumentShape {
  uint32_t width = 16, heads = 2, vocabulary = 24, classes = 3;
  uint32_t token_layers = 1, sentence_layers = 1;
  uint32_t max_tokens = 12, max_sentences = 10;
  uint32_t token_middle = 4, sentence_middle = 2;  // inner width of the feed-forward layers, in hidden sizes
};

class DocumentModel {
 public:
  // `parts`: programs encode_sentences and encode_document beside encode.
  explicit DocumentModel(const DocumentShape& shape, bool parts = true, const std::string& directory = "")
      : shape_(shape) {
    Pool("tokens", Level("tokens", "words", shape.token_layers, shape.max_tokens, shape.token_middle), "sentences");
    Linear("pooled.tokens", "between", "sentence_rows", shape.width, shape.width);
    Pool("sentences",
         Level("sentences", "sentence_rows", shape.sentence_layers, shape.max_sentences, shape.sentence_middle),
         "documents");
    Linear("pooled.sentences", "head", "logits", shape.width, shape.classes);
    json_ = tools::Json::parse(R"({
      "fovea": 1,
      "metadata": {"task": "sequence-classification", "explain.tokens": "weigh.tokens",
                   "explain.sentences": "weigh.sentences"},
      "spaces": [{"name": "documents"}, {"name": "sentences", "parent": "documents"},
                 {"name": "tokens", "parent": "sentences"}],
      "programs": [{"name": "encode", "inputs": [{"name": "input_ids", "space": "tokens", "type": "i32"}],
                    "outputs": ["logits"]}]
    })");
    tools::Json embed = {{"op", "embed"}, {"in", {"input_ids"}}, {"tensors", {"table"}}, {"out", "words"}};
    operations_.insert(operations_.begin(), embed);
    json_["programs"][0]["operations"] = operations_;
    if (parts) {
      json_["programs"].push_back({{"name", "encode_sentences"}, {"of", "encode"}, {"to", {"sentence_rows"}}});
      json_["programs"].push_back({{"name", "encode_document"}, {"of", "encode"}, {"from", {"sentence_rows"}}});
    }
    for (uint32_t i = 0; i < shape.classes; ++i) json_["metadata"]["labels"].push_back(fmt::format("class {}", i));
    if (!directory.empty()) json_["tokenizer"] = {{"type", "wordpiece"}, {"file", "vocab.txt"}};
    directory_ = directory;
    tensors_.push_back({"table", shape.vocabulary, shape.width, 1, 0});
  }

  tools::Json& json() { return json_; }

  tools::Description Describe() const {
    tools::Description description = tools::ParseGraph(json_.dump(), directory_.empty() ? "." : directory_, "graph");
    std::mt19937 random(5);
    for (const Tensor& tensor : tensors_) {
      std::normal_distribution<float> normal(tensor.mean, tensor.scale);
      std::vector<float> values(size_t{tensor.rows} * tensor.width);
      for (float& value : values) value = tensor.scale == 0 ? tensor.mean : normal(random);
      description.weights.Add(tensor.name, tools::Literal(tensor.rows, tensor.width, std::move(values)));
    }
    return description;
  }

  std::vector<uint8_t> Blob(DType weights = DType::kF32, tools::ConvertReport* report = nullptr) const {
    tools::ConvertOptions options;
    options.weights = weights;
    tools::ConvertReport ignored;
    return tools::BuildBlob(Describe(), options, report == nullptr ? ignored : *report);
  }

 private:
  struct Tensor {
    std::string name;
    uint32_t rows, width;
    float scale, mean;
  };

  void Add(tools::Json operation) { operations_.push_back(std::move(operation)); }
  std::string NewTensor(const std::string& name, uint32_t rows, uint32_t width, float scale, float mean = 0) {
    tensors_.push_back({name, rows, width, scale, mean});
    return name;
  }
  void Linear(const std::string& in, const std::string& name, const std::string& out, uint32_t from, uint32_t to,
              const std::string& activation = "none") {
    const std::string weight = NewTensor(name + ".weight", to, from, 1.0f / sqrtf(static_cast<float>(from)));
    const std::string bias = NewTensor(name + ".bias", 1, to, 0.1f);
    Add({{"op", "linear"}, {"in", {in}}, {"tensors", {weight, bias}}, {"out", out}, {"activation", activation}});
  }
  void Norm(const std::string& in, const std::string& name, const std::string& out) {
    const std::string gain = NewTensor(name + ".gain", 1, shape_.width, 0.1f, 1);
    const std::string bias = NewTensor(name + ".bias", 1, shape_.width, 0.1f);
    Add({{"op", "norm"}, {"in", {in}}, {"tensors", {gain, bias}}, {"out", out}, {"kind", "layer"}, {"epsilon", 1e-6}});
  }

  // Positions, a norm and encoder layers; returns the last value.
  std::string Level(const std::string& name, const std::string& in, uint32_t layers, uint32_t positions,
                    uint32_t middle) {
    const uint32_t width = shape_.width;
    const std::string table = NewTensor(name + ".positions", positions, width, 0.5f);
    Add({{"op", "position"}, {"in", {in}}, {"tensors", {table}}, {"out", name + ".placed"}});
    std::string x = name + ".0";
    Norm(name + ".placed", name + ".norm", x);
    for (uint32_t layer = 0; layer < layers; ++layer) {
      const std::string at = fmt::format("{}.layer.{}.", name, layer);
      for (const char* part : {"q", "k", "v"}) Linear(x, at + part, at + part, width, width);
      Add({{"op", "attention"}, {"in", {at + "q", at + "k", at + "v"}}, {"out", at + "seen"}, {"heads", shape_.heads}});
      Linear(at + "seen", at + "o", at + "o", width, width);
      Add({{"op", "add"}, {"in", {x, at + "o"}}, {"out", at + "sum"}});
      Norm(at + "sum", at + "norm", at + "normed");
      Linear(at + "normed", at + "wide", at + "wide", width, middle * width, "gelu");
      Linear(at + "wide", at + "narrow", at + "narrow", middle * width, width);
      Add({{"op", "add"}, {"in", {at + "normed", at + "narrow"}}, {"out", at + "sum2"}});
      x = fmt::format("{}.{}", name, layer + 1);
      Norm(at + "sum2", at + "norm2", x);
    }
    return x;
  }

  // Attention of one learned query over a level's rows.
  void Pool(const std::string& level, const std::string& in, const std::string& parent) {
    const uint32_t width = shape_.width;
    Linear(in, level + ".key", level + ".key", width, width, "tanh");
    const std::string context = NewTensor(level + ".context", 1, width, 1);
    Add({{"op", "fill"}, {"tensors", {context}}, {"out", level + ".query"}, {"space", parent}});
    Add({{"op", "attention"},
         {"in", {level + ".query", level + ".key", in}},
         {"out", "pooled." + level},
         {"heads", 1},
         {"name", "weigh." + level}});
  }

  const DocumentShape shape_;
  std::string directory_;
  tools::Json json_, operations_ = tools::Json::array();
  std::vector<Tensor> tensors_;
};

}  // namespace fovea::test

#endif  // FOVEA_TESTS_SUPPORT_DOCUMENT_MODEL_H_
