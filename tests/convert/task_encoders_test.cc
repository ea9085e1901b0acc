// Encoders with matrices of several tasks or with experts, published with custom code: Jina's over XLM-RoBERTa
// and Nomic's, against transformers in double precision.
#include <algorithm>

#include "tests/convert/relative_support.h"
#include "tests/support/gguf_writer.h"

namespace fovea::tools {
namespace {

using test::DenseLayer;
using test::DenseRows;

class TaskEncoders : public Relative {
 protected:
  // Queries, keys and values are stored in one layer; the double-precision model reads the parts, which `parts_` names.
  void AddPacked(const std::string& packed, DenseLayer& layer) {
    Linear(packed, 3 * kWidth, kWidth, true);
    layer.query = packed + ".q", layer.key = packed + ".k", layer.value = packed + ".v";
    packed_.push_back(packed);
  }
  test::DenseTensors Split() const {
    test::DenseTensors split = tensors_;
    for (const std::string& packed : packed_) {
      const std::vector<float>& weight = tensors_.at(packed + ".weight").second;
      const std::vector<float>& bias = tensors_.at(packed + ".bias").second;
      size_t part = 0;
      for (const char* name : {".q", ".k", ".v"}) {
        const auto from = weight.begin() + static_cast<long>(part * kWidth * kWidth);
        const auto of_bias = bias.begin() + static_cast<long>(part++ * kWidth);
        split[packed + name + ".weight"] = {{kWidth, kWidth}, {from, from + kWidth * kWidth}};
        split[packed + name + ".bias"] = {{kWidth}, {of_bias, of_bias + kWidth}};
      }
    }
    return split;
  }

  void Jina(const std::string& positions) {
    config_ = {{"model_type", "xlm-roberta"},
               {"architectures", {"XLMRobertaModel"}},
               {"auto_map", {{"AutoConfig", "configuration_xlm_roberta.XLMRobertaFlashConfig"}}},
               {"hidden_size", kWidth},
               {"num_hidden_layers", 2},
               {"num_attention_heads", 2},
               {"intermediate_size", kMiddle},
               {"hidden_act", "gelu"},
               {"layer_norm_eps", 1e-5},
               {"max_position_embeddings", 32},
               {"pad_token_id", 1},
               {"type_vocab_size", 1},
               {"position_embedding_type", positions},
               {"use_flash_attn", true}};
    model_ = {};
    model_.rms = model_.causal = false;
    model_.activation = "gelu";
    model_.words = "roberta.embeddings.word_embeddings.weight";
    model_.types = "roberta.embeddings.token_type_embeddings.weight";
    model_.embedding_norm = "roberta.emb_ln";
    Add(model_.words, {kWords, kWidth});
    Add(model_.types, {1, kWidth});
    Norm(model_.embedding_norm, kWidth, true);
    if (positions == "absolute") {
      model_.positions = "roberta.embeddings.position_embeddings.weight";
      model_.first_position = 2;
      Add(model_.positions, {32, kWidth});
    } else {
      config_["rotary_emb_base"] = 100.0;
      model_.theta = 100, model_.rotated = kHead;
    }
    for (uint32_t i = 0; i < 2; ++i) {
      const std::string at = "roberta.encoder.layers." + std::to_string(i) + ".";
      DenseLayer layer;
      layer.rotates = positions == "rotary";
      AddPacked(at + "mixer.Wqkv", layer);
      layer.output = at + "mixer.out_proj", layer.sum = at + "norm1";
      layer.up = at + "mlp.fc1", layer.down = at + "mlp.fc2", layer.forward_sum = at + "norm2";
      Linear(layer.output, kWidth, kWidth, true);
      Linear(layer.up, kMiddle, kWidth, true);
      Linear(layer.down, kWidth, kMiddle, true);
      Norm(layer.sum, kWidth, true);
      Norm(layer.forward_sum, kWidth, true);
      model_.layers.push_back(layer);
    }
  }

  // Stores a weight as the original with matrices for two tasks of rank 2 beside it. Returns W + 3 / 2 * the product of
  // the second task's.
  std::pair<std::vector<uint64_t>, std::vector<float>> Parametrize(const std::string& layer) {
    const bool embedding = layer.find("_embeddings") != std::string::npos;
    const auto whole = tensors_.at(layer + ".weight");
    const uint64_t outer = whole.first[0], inner = whole.first[1];
    const std::string at = layer + ".parametrizations.weight.";
    Rename(layer + ".weight", at + "original");
    const std::string left = at + (embedding ? "0.lora_A" : "0.lora_B"),
                      right = at + (embedding ? "0.lora_B" : "0.lora_A");
    Add(left, {2, outer, 2});
    Add(right, {2, 2, inner});
    std::vector<float> sum = whole.second;
    for (uint64_t i = 0; i < outer; ++i) {
      for (uint64_t c = 0; c < inner; ++c) {
        double added = 0;
        for (uint64_t r = 0; r < 2; ++r) {
          added += static_cast<double>(tensors_.at(left).second[(outer + i) * 2 + r]) *
                   static_cast<double>(tensors_.at(right).second[(2 + r) * inner + c]);
        }
        sum[i * inner + c] = static_cast<float>(static_cast<double>(sum[i * inner + c]) + 1.5 * added);
      }
    }
    return {whole.first, sum};
  }

  std::vector<uint8_t> BlobFor(const std::string& task) {
    Blob();  // writes the files
    ConvertOptions options;
    options.input = directory_.string();
    options.adapter = task;
    options.compare = Comparison::kNone;
    report_ = {};
    return BuildBlob(Describe(options), options, report_);
  }
  std::vector<float> StatesFor(const std::string& task) { return StatesOf(BlobFor(task)); }
  std::vector<float> StatesOf(const std::vector<uint8_t>& bytes) {
    const test::ReadBlob blob = test::SecondReader(bytes);
    const LoadedBlob loaded(bytes, "tasks");
    const uint32_t tokens = test::IndexOf(blob.spaces, "tokens");
    const uint32_t value = test::IndexOf(blob.programs.at(0).values, "last_hidden_state");
    SessionRequest request;
    const uint32_t count = static_cast<uint32_t>(ids_.size());
    request.limits = {{blob.spaces[tokens].parent, 1, 0}, {tokens, count, 0}};
    request.keep = {value};
    Session session(loaded.model, request);
    session.SetSegments(tokens, {count});
    for (uint32_t i = 0; i < blob.programs[0].values.size(); ++i) {
      const test::ReadValue& input = blob.programs[0].values[i];
      if (input.role == 1) session.SetInput(i, input.name == "input_ids" ? ids_ : std::vector<int32_t>(count, 0));
    }
    session.Run();
    return session.Output(value).values;
  }
  std::string RefusalFor(const std::string& task) {
    try {
      BlobFor(task);
    } catch (const Failure& failure) {
      return failure.what();
    }
    ADD_FAILURE() << "was not refused";
    return "";
  }

  // The blob of the same model as a file of llama.cpp's converter.
  std::vector<uint8_t> NomicGguf() {
    test::GgufWriter writer;
    const std::string arch = "nomic-bert-moe";
    writer.Text("general.architecture", arch);
    for (const auto& [key, number] : {std::pair{"block_count", 2u},
                                      {"embedding_length", kWidth},
                                      {"feed_forward_length", kMiddle},
                                      {"context_length", 32u},
                                      {"attention.head_count", 2u},
                                      {"expert_count", 4u},
                                      {"expert_used_count", 2u},
                                      {"moe_every_n_layers", 2u}}) {
      writer.Number(arch + "." + key, number);
    }
    writer.Real(arch + ".attention.layer_norm_epsilon", 1e-5f);
    writer.Real(arch + ".rope.freq_base", 100);
    writer.Flag(arch + ".attention.causal", false);
    const std::vector<std::pair<std::string, std::string>> names = {{"embeddings.word_embeddings", "token_embd"},
                                                                    {"emb_ln", "token_embd_norm"},
                                                                    {"encoder.layers.", "blk."},
                                                                    {"attn.Wqkv", "attn_qkv"},
                                                                    {"attn.out_proj", "attn_output"},
                                                                    {"norm1", "attn_output_norm"},
                                                                    {"norm2", "layer_output_norm"},
                                                                    {"mlp.fc1", "ffn_up"},
                                                                    {"mlp.fc2", "ffn_down"},
                                                                    {"mlp.router.layer", "ffn_gate_inp"},
                                                                    {"mlp.experts.mlp.w1", "ffn_up_exps.weight"},
                                                                    {"mlp.experts.mlp.w2", "ffn_down_exps.weight"}};
    for (const auto& [name, tensor] : tensors_) {
      if (name.find("experts.bias") != std::string::npos) continue;
      std::string stored = name;
      for (const auto& [from, to] : names) {
        const size_t at = stored.find(from);
        if (at != std::string::npos) stored.replace(at, from.size(), to);
      }
      auto [shape, values] = tensor;
      if (stored.find("_exps") != std::string::npos) shape = {4, kMiddle, kWidth};
      if (stored.find("down_exps") != std::string::npos) {
        shape = {4, kWidth, kMiddle};
        for (size_t i = 0; i < values.size(); ++i) {
          const size_t e = i / (kWidth * kMiddle), c = i / kMiddle % kWidth, m = i % kMiddle;
          values[i] = tensor.second[(e * kMiddle + m) * kWidth + c];
        }
      }
      const auto* bytes = reinterpret_cast<const char*>(values.data());
      writer.Add({stored, shape, 0, std::string(bytes, bytes + 4 * values.size())});
    }
    const std::string file = writer.Bytes(), path = (directory_ / "nomic.gguf").string();
    WriteFile(path, file.data(), file.size());
    ConvertOptions options;
    options.input = path;
    options.compare = Comparison::kNone;
    report_ = {};
    return BuildBlob(Describe(options), options, report_);
  }

  std::vector<std::string> packed_;
};

TEST_F(TaskEncoders, JinaXlmRobertaWithBothKindsOfPositions) {
  for (const char* positions : {"absolute", "rotary"}) {
    tensors_.clear(), packed_.clear();
    Jina(positions);
    ExpectNear(Run("last_hidden_state", ids_), model_.States(Split(), ids_));
    EXPECT_TRUE(report_.warnings.empty()) << report_.warnings[0];
    EXPECT_EQ(test::SecondReader(Blob()).metadata.at("max_positions"),
              positions == std::string("absolute") ? "30" : "32");
  }
  config_["position_embedding_type"] = "alibi";
  EXPECT_NE(Refusal().find("position_embedding_type alibi"), std::string::npos);
  config_.update({{"position_embedding_type", "rotary"}, {"hidden_act", "relu"}});
  EXPECT_NE(Refusal().find("hidden_act relu"), std::string::npos);
}

TEST_F(TaskEncoders, JinaScoresPairs) {
  Jina("absolute");
  config_["architectures"] = {"XLMRobertaForSequenceClassification"};
  config_["num_labels"] = 1;
  Linear("classifier.dense", kWidth, kWidth, true);
  Linear("classifier.out_proj", 1, kWidth, true);
  DenseRows first = {model_.States(Split(), ids_)[0]};
  first = test::DenseLinear(tensors_, first, "classifier.dense");
  for (double& value : first[0]) value = std::tanh(value);
  ExpectNear(Run("logits", ids_), test::DenseLinear(tensors_, first, "classifier.out_proj"));
}

TEST_F(TaskEncoders, OneTaskIsMerged) {
  Jina("rotary");
  config_.update({{"lora_adaptations", {"query", "text-matching"}}, {"lora_rank", 2}, {"lora_alpha", 3}});
  const test::DenseTensors plain = Split();
  std::vector<std::string> layers = {model_.words.substr(0, model_.words.rfind('.')),
                                     model_.types.substr(0, model_.types.rfind('.'))};
  for (const DenseLayer& layer : model_.layers) {
    layers.insert(layers.end(), {layer.query.substr(0, layer.query.size() - 2), layer.output, layer.up, layer.down});
  }
  test::DenseTensors merged = tensors_;
  for (const std::string& layer : layers) merged[layer + ".weight"] = Parametrize(layer);
  const test::DenseTensors stored = tensors_;
  ExpectNear(StatesFor(""), model_.States(plain, ids_));
  EXPECT_TRUE(HasFinding("--adapter TASK merges the adapters of one task: query, text-matching"));
  EXPECT_TRUE(report_.warnings.empty());
  tensors_ = merged;
  const test::DenseTensors split = Split();
  tensors_ = stored;
  ExpectNear(StatesFor("text-matching"), model_.States(split, ids_));
  EXPECT_TRUE(HasFinding("matrices for task text-matching merged into 10 layers"));

  EXPECT_NE(RefusalFor("matching").find("is not a task of this model; its tasks"), std::string::npos);
  tensors_[layers[2] + ".parametrizations.weight.0.lora_A"].first = {2, 1, kWidth};
  tensors_[layers[2] + ".parametrizations.weight.0.lora_A"].second.resize(2 * kWidth);
  EXPECT_NE(RefusalFor("query").find("do not hold a matrix of rank 2"), std::string::npos);
  tensors_.erase(layers[2] + ".parametrizations.weight.0.lora_A");
  EXPECT_NE(RefusalFor("query").find("no tensor " + layers[2]), std::string::npos);
  config_["lora_rank"] = 0;
  EXPECT_NE(RefusalFor("query").find("lora_rank must not be 0"), std::string::npos);
}

// The second layer has four experts without gates, of which two are chosen; weights are shares of all four.
TEST_F(TaskEncoders, NomicExperts) {
  config_ = {{"model_type", "nomic_bert"},
             {"architectures", {"NomicBertModel"}},
             {"n_embd", kWidth},
             {"n_layer", 2},
             {"n_head", 2},
             {"n_inner", kMiddle},
             {"activation_function", "gelu"},
             {"layer_norm_epsilon", 1e-5},
             {"max_trained_positions", 32},
             {"rotary_emb_base", 100.0},
             {"rotary_emb_fraction", 1.0},
             {"num_experts", 4},
             {"moe_every_n_layers", 2},
             {"moe_top_k", 2},
             {"moe_normalize_expert_weights", false}};
  model_ = {};
  model_.rms = model_.causal = false;
  model_.activation = "gelu";
  model_.theta = 100, model_.rotated = kHead;
  model_.words = "embeddings.word_embeddings.weight";
  model_.embedding_norm = "emb_ln";
  Add(model_.words, {kWords, kWidth});
  Norm("emb_ln", kWidth, true);
  for (uint32_t i = 0; i < 2; ++i) {
    const std::string at = "encoder.layers." + std::to_string(i) + ".";
    DenseLayer layer;
    AddPacked(at + "attn.Wqkv", layer);
    layer.output = at + "attn.out_proj", layer.sum = at + "norm1";
    Linear(layer.output, kWidth, kWidth, true);
    Norm(at + "norm1", kWidth, true);
    Norm(at + "norm2", kWidth, true);
    if (i == 0) {
      layer.up = at + "mlp.fc1", layer.down = at + "mlp.fc2", layer.forward_sum = at + "norm2";
      Linear(layer.up, kMiddle, kWidth, true);
      Linear(layer.down, kWidth, kMiddle, true);
    }
    model_.layers.push_back(layer);
  }
  const std::string mlp = "encoder.layers.1.mlp.";
  Linear(mlp + "router.layer", 4, kWidth);
  Add(mlp + "experts.mlp.w1", {4 * kMiddle, kWidth});
  Add(mlp + "experts.mlp.w2", {4 * kMiddle, kWidth});
  Add(mlp + "experts.bias", {kWidth});

  // The plain model adds nothing in place of the experts.
  test::DenseTensors plain = Split();
  plain["nothing.up.weight"] = {{kMiddle, kWidth}, std::vector<float>(kMiddle * kWidth)};
  plain["nothing.down.weight"] = {{kWidth, kMiddle}, std::vector<float>(kMiddle * kWidth)};
  model_.layers[1].up = "nothing.up", model_.layers[1].down = "nothing.down";
  DenseRows expected = model_.States(plain, ids_);
  const auto value = [&](const char* name, size_t at) {
    return static_cast<double>(tensors_.at(mlp + name).second[at]);
  };
  for (std::vector<double>& row : expected) {
    std::vector<double> shares(4), sum(kWidth);
    double whole = 0;
    for (size_t e = 0; e < 4; ++e) {
      for (size_t c = 0; c < kWidth; ++c) shares[e] += row[c] * value("router.layer.weight", e * kWidth + c);
      whole += shares[e] = std::exp(shares[e]);
    }
    std::vector<double> sorted = shares;
    std::sort(sorted.begin(), sorted.end());
    for (size_t e = 0; e < 4; ++e) {
      if (shares[e] < sorted[2]) continue;
      for (size_t m = 0; m < kMiddle; ++m) {
        double hidden = 0;
        for (size_t c = 0; c < kWidth; ++c) hidden += row[c] * value("experts.mlp.w1", (e * kMiddle + m) * kWidth + c);
        hidden = test::DenseActivation("gelu", hidden) * shares[e] / whole;
        for (size_t c = 0; c < kWidth; ++c) sum[c] += hidden * value("experts.mlp.w2", (e * kMiddle + m) * kWidth + c);
      }
    }
    double mean = 0, variance = 0;
    for (size_t c = 0; c < kWidth; ++c) {
      row[c] += sum[c] + value("experts.bias", c);
      mean += row[c] / kWidth;
    }
    for (const double x : row) variance += (x - mean) * (x - mean) / kWidth;
    for (size_t c = 0; c < kWidth; ++c) {
      row[c] = (row[c] - mean) / std::sqrt(variance + 1e-5) *
                   static_cast<double>(tensors_.at("encoder.layers.1.norm2.weight").second[c]) +
               static_cast<double>(tensors_.at("encoder.layers.1.norm2.bias").second[c]);
    }
  }
  ExpectNear(Run("last_hidden_state", ids_), expected);
  EXPECT_TRUE(report_.warnings.empty());
  // A GGUF file has the second matrices of experts turned and no bias.
  std::fill(tensors_.at(mlp + "experts.bias").second.begin(), tensors_.at(mlp + "experts.bias").second.end(), 0.0f);
  const std::vector<float> unbiased = Run("last_hidden_state", ids_);
  EXPECT_EQ(StatesOf(NomicGguf()), unbiased);

  config_["moe_top_k"] = 5;
  EXPECT_NE(Refusal().find("moe_top_k 5 of 4"), std::string::npos);
  config_["moe_top_k"] = 2, config_["num_experts"] = 5;
  EXPECT_NE(Refusal().find("do not hold the matrices of 5 experts"), std::string::npos);
}

// Embedders of Qwen2 whose code sees both sides; a text that is continued sees what is before it alone.
TEST_F(TaskEncoders, Qwen2InBothDirections) {
  Llama("qwen2", "Qwen2ForCausalLM", true);
  config_.update({{"is_causal", false}, {"use_sliding_window", false}});
  config_["auto_map"] = {{"AutoModel", "modeling_qwen.Qwen2Model"}};
  model_.causal = false;
  ExpectNear(Run("last_hidden_state", ids_, "embedding"), model_.States(tensors_, ids_));
  EXPECT_NE(Refusal("causal-lm").find("is_causal false is not supported"), std::string::npos);
}

}  // namespace
}  // namespace fovea::tools
