// Directories of sentence-transformers and PyLate, of every version, against the formulas of their modules in double
// precision.
#include <cmath>

#include "tests/convert/architecture_support.h"
#include "tests/convert/graph_support.h"

namespace fovea::tools {
namespace {

using Row = std::vector<double>;
using Rows = std::vector<Row>;

std::string ModuleList(const std::vector<std::pair<std::string, std::string>>& modules) {
  Json list = Json::array();
  for (const auto& [path, type] : modules) list.push_back({{"idx", list.size()}, {"path", path}, {"type", type}});
  return list.dump();
}

const std::string kModels = "sentence_transformers.models.";

class SentenceModules : public Architecture {
 protected:
  static constexpr size_t kWidth = 32;

  void SetUp() override { Copy("bert"); }

  void Modules(const std::vector<std::pair<std::string, std::string>>& modules) {
    Write("modules.json", ModuleList(modules));
  }
  // Transformer, then one module of this type in folder "1".
  void OneModule(const std::string& type, const Json& config) {
    Modules({{"", kModels + "Transformer"}, {"1", type}});
    Write("1/config.json", config.dump());
  }
  // A matrix of a module; returns its numbers.
  std::vector<float> Matrix(SafetensorsWriter& writer, const std::string& name, uint64_t rows, uint64_t width) {
    std::vector<float> numbers(rows * width);
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>((i * 11 + rows) % 17) / 8 - 1;
    writer.AddFloats(name, rows == 1 ? std::vector<uint64_t>{width} : std::vector<uint64_t>{rows, width},
                     numbers.data());
    return numbers;
  }
  void Save(const SafetensorsWriter& writer, const std::string& folder) {
    std::filesystem::create_directories(directory_ / folder);
    std::filesystem::remove(directory_ / folder / "model.safetensors");
    writer.Write(directory_ / folder / "model.safetensors");
  }

  // Runs five ids; the rows of the last hidden state are then `states_`.
  Row Output(const std::string& name = "sentence_embedding") {
    const test::ReferenceRun run = RunBert(Blob());
    const Row& all = run.values.at("hidden_states.3");
    states_.clear();
    for (size_t at = 0; at < all.size(); at += kWidth)
      states_.emplace_back(all.begin() + static_cast<long>(at), all.begin() + static_cast<long>(at + kWidth));
    return run.values.at(name);
  }
  static test::ReferenceRun RunBert(const std::vector<uint8_t>& blob) {
    return test::RunReference(test::SecondReader(blob),
                              {{"input_ids", {5, 6, 7, 9, 8}}, {"token_type_ids", {0, 0, 0, 0, 0}}}, 5);
  }
  std::string Refusal() {
    return RefusalOf([&] { Blob(); });
  }
  // Metadata of the description, "" if there is none.
  std::string Metadata(const std::string& key) const {
    const Description description = Describe(Options());
    const auto found = description.metadata_index.find(key);
    return found == description.metadata_index.end() ? "" : description.metadata[found->second].second;
  }
  std::vector<std::string> Found(Topic topic) const {
    std::vector<std::string> texts;
    for (const Finding& finding : Describe(Options()).findings) {
      if (finding.topic == topic) texts.push_back(finding.text);
    }
    return texts;
  }

  // A column of the pooled states by the original's definition of the mode.
  double Pooled(const std::string& mode, size_t column) const {
    double sum = 0, most = -1e9, weighted = 0, weights = 0;
    for (size_t i = 0; i < states_.size(); ++i) {
      const double x = states_[i][column];
      sum += x;
      most = std::max(most, x);
      weighted += x * static_cast<double>(i + 1);
      weights += static_cast<double>(i + 1);
    }
    const auto count = static_cast<double>(states_.size());
    if (mode == "cls") return states_.front()[column];
    if (mode == "lasttoken") return states_.back()[column];
    if (mode == "max") return most;
    if (mode == "mean_sqrt_len_tokens") return sum / std::sqrt(count);
    if (mode == "weightedmean") return weighted / weights;
    return sum / count;
  }
  void ExpectPooled(const Json& config, const std::vector<std::string>& modes) {
    OneModule(kModels + "Pooling", config);
    const Row found = Output();
    ASSERT_EQ(found.size(), modes.size() * kWidth) << config;
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i], Pooled(modes[i / kWidth], i % kWidth), 1e-6) << config;
    }
  }

  Rows states_;
};

TEST_F(SentenceModules, PoolByModesOfAllVersions) {
  for (const char* mode : {"cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken"}) {
    ExpectPooled({{"embedding_dimension", 32}, {"pooling_mode", mode}}, {mode});
    Json former = {{"pooling_mode_mean_tokens", false}};
    former[std::string("pooling_mode_") + mode +
           (std::string(mode) == "mean_sqrt_len_tokens" || std::string(mode) == "lasttoken" ? ""
            : std::string(mode) == "cls"                                                    ? "_token"
                                                                                            : "_tokens")] = true;
    ExpectPooled(former, {mode});
  }
  // If there are several, the order is the original's, not that of the list.
  ExpectPooled({{"pooling_mode", {"lasttoken", "mean", "cls"}}}, {"cls", "mean", "lasttoken"});
  ExpectPooled({{"pooling_mode_cls_token", true}, {"pooling_mode_max_tokens", true}}, {"cls", "max", "mean"});
  ExpectPooled(Json::object(), {"mean"});
}

TEST_F(SentenceModules, RefuseUnknownPooling) {
  OneModule(kModels + "Pooling", {{"pooling_mode", "median"}});
  EXPECT_NE(Refusal().find("pooling mode median is unknown"), std::string::npos) << Refusal();
  OneModule(kModels + "Pooling", {{"pooling_mode_mean_tokens", false}});
  EXPECT_NE(Refusal().find("no pooling mode is set"), std::string::npos) << Refusal();
  OneModule(kModels + "Pooling", {{"pooling_mode", 3}});
  EXPECT_NE(Refusal().find("must be a string"), std::string::npos) << Refusal();
}

TEST_F(SentenceModules, DenseLayersNormAndDropout) {
  Modules({{"", "sentence_transformers.base.modules.transformer.Transformer"},
           {"1", "sentence_transformers.sentence_transformer.modules.pooling.Pooling"},
           {"2", "sentence_transformers.base.modules.dense.Dense"},
           {"3", kModels + "Dropout"},
           {"4", kModels + "LayerNorm"}});
  Write("1/config.json", R"({"pooling_mode": "mean"})");
  Write("3/config.json", R"({"dropout": 0.2})");
  Write("4/config.json", R"({"dimension": 6})");
  SafetensorsWriter dense, norm;
  const std::vector<float> weight = Matrix(dense, "linear.weight", 6, kWidth);
  const std::vector<float> bias = Matrix(dense, "linear.bias", 1, 6);
  Save(dense, "2");
  const std::vector<float> scale = Matrix(norm, "norm.weight", 1, 6), shift = Matrix(norm, "norm.bias", 1, 6);
  Save(norm, "4");
  const std::pair<const char*, double (*)(double)> activations[] = {
      {"torch.nn.modules.activation.GELU", [](double x) { return x * 0.5 * std::erfc(-x / std::sqrt(2.0)); }},
      {"torch.nn.modules.activation.ReLU", [](double x) { return x > 0 ? x : 0; }},
      {"torch.nn.modules.activation.SiLU", [](double x) { return x / (1 + std::exp(-x)); }},
      {"torch.nn.modules.activation.Sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"torch.nn.modules.linear.Identity", [](double x) { return x; }},
      {nullptr, [](double x) { return std::tanh(x); }},
  };
  for (const auto& [name, activation] : activations) {
    for (const bool biased : {true, false}) {
      Json config = {{"in_features", 32}, {"out_features", 6}, {"bias", biased}};
      if (name != nullptr) config["activation_function"] = name;
      Write("2/config.json", config.dump());
      const Row found = Output();
      Row value(6);
      double mean = 0, variance = 0;
      for (size_t i = 0; i < 6; ++i) {
        double sum = biased ? bias[i] : 0;
        for (size_t j = 0; j < kWidth; ++j) sum += weight[i * kWidth + j] * Pooled("mean", j);
        value[i] = activation(sum);
        mean += value[i] / 6;
      }
      for (const double x : value) variance += (x - mean) * (x - mean) / 6;
      ASSERT_EQ(found.size(), 6u);
      for (size_t i = 0; i < 6; ++i) {
        EXPECT_NEAR(found[i], (value[i] - mean) / std::sqrt(variance + 1e-5) * scale[i] + shift[i], 1e-5) << config;
      }
    }
  }
  Write("2/config.json", R"({"activation_function": "torch.nn.modules.activation.Mish"})");
  EXPECT_NE(Refusal().find("activation_function torch.nn.modules.activation.Mish"), std::string::npos) << Refusal();
}

// PyLate: a layer for each token, with a shortcut around it, and rows of length 1.
TEST_F(SentenceModules, LateInteraction) {
  SafetensorsWriter dense;
  const std::vector<float> weight = Matrix(dense, "linear.weight", 4, kWidth);
  const std::vector<float> shortcut = Matrix(dense, "residual.weight", 4, kWidth);
  Save(dense, "1");
  Write("config_sentence_transformers.json", R"({"model_type": "ColBERT", "query_prefix": "[Q] ",
      "document_prefix": "[D] ", "similarity_fn_name": "MaxSim"})");
  for (const bool residual : {false, true}) {
    OneModule("pylate.models.Dense.Dense", {{"in_features", 32},
                                            {"out_features", 4},
                                            {"bias", false},
                                            {"use_residual", residual},
                                            {"activation_function", "torch.nn.modules.linear.Identity"}});
    const Row found = Output("token_embeddings");
    ASSERT_EQ(found.size(), 5 * 4u);
    for (size_t token = 0; token < 5; ++token) {
      Row row(4);
      double squares = 0;
      for (size_t i = 0; i < 4; ++i) {
        for (size_t j = 0; j < kWidth; ++j) {
          row[i] += (weight[i * kWidth + j] + (residual ? shortcut[i * kWidth + j] : 0)) * states_[token][j];
        }
        squares += row[i] * row[i];
      }
      for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(found[token * 4 + i], row[i] / std::sqrt(squares), 1e-6);
    }
  }
  EXPECT_EQ(Metadata("prompt.query"), "[Q] ");
  EXPECT_EQ(Metadata("prompt.document"), "[D] ");
  EXPECT_EQ(Metadata("interaction"), "late");
}

TEST_F(SentenceModules, AreRefusedByName) {
  for (const char* kind : {"Asym", "Router", "WordEmbeddings", "BoW", "CNN"}) {
    Modules({{"", kModels + kind}});
    EXPECT_NE(Refusal().find(std::string("module sentence_transformers.models.") + kind + " is not supported: "),
              std::string::npos)
        << Refusal();
  }
  for (const char* kind : {"LSTM", "WeightedLayerPooling", "WordWeights"}) {
    Modules({{"", kModels + "Transformer"}, {"1", kModels + kind}});
    EXPECT_NE(Refusal().find(std::string(kind) + " is not supported: "), std::string::npos) << Refusal();
  }
  Modules({{"", kModels + "Transformer"}, {"1", "sentence_transformers.sparse_encoder.models.SparseAutoEncoder"}});
  EXPECT_NE(Refusal().find("SparseAutoEncoder is not supported: "), std::string::npos) << Refusal();
  Modules({{"", kModels + "Transformer"}, {"1", "my_code.Whitening"}});
  EXPECT_NE(Refusal().find("module my_code.Whitening is not supported; these are"), std::string::npos) << Refusal();
  Write("modules.json", "[]");
  EXPECT_NE(Refusal().find("lists no modules"), std::string::npos) << Refusal();
  Write("modules.json", R"({"0": 1})");
  EXPECT_NE(Refusal().find("must be a list"), std::string::npos) << Refusal();
  for (const char* path : {"../bert", "/etc", "1/../../x"}) {
    Modules({{"", kModels + "Transformer"}, {path, kModels + "Pooling"}});
    EXPECT_NE(Refusal().find("leaves the directory"), std::string::npos) << Refusal();
  }
}

TEST_F(SentenceModules, ReadCustomNamesByTheirLastPart) {
  Modules({{"", "custom_st.Transformer"}, {"1", kModels + "Pooling"}});
  Write("1/config.json", R"({"pooling_mode": "cls"})");
  const Row found = Output();
  EXPECT_NEAR(found[3], Pooled("cls", 3), 1e-9);
  ASSERT_EQ(report_.warnings.size(), 1u);
  EXPECT_NE(report_.warnings[0].find("custom_st.Transformer is code of the model"), std::string::npos);
}

TEST_F(SentenceModules, PromptsAndSimilarityAreMetadata) {
  OneModule(kModels + "Pooling", {{"pooling_mode", "mean"}});
  Write("config_sentence_transformers.json", R"({"prompts": {"query": "Q:\n", "document": ""},
      "default_prompt_name": "query", "similarity_fn_name": "dot_product", "__version__": {"pytorch": "2"}})");
  EXPECT_EQ(Metadata("prompt.query"), "Q:\n");
  EXPECT_EQ(Metadata("prompt.document"), "");
  EXPECT_EQ(Metadata("default_prompt"), "query");
  EXPECT_EQ(Metadata("similarity"), "dot");
  const std::vector<std::string> prompts = Found(Topic::kPrompts);
  ASSERT_EQ(prompts.size(), 2u);
  EXPECT_EQ(prompts[0], "query: \"Q:\\n\" (--prompt-name)");
  EXPECT_EQ(prompts[1], "query is the default: it is put in front of each text");
  Write("config_sentence_transformers.json",
        R"({"prompts": {"a": "A"}, "default_prompt_name": "b", "similarity_fn_name": "angle"})");
  const std::vector<std::string> warnings = Describe(Options()).warnings;
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_NE(warnings[0].find("default_prompt_name b is not one of prompts"), std::string::npos) << warnings[0];
  EXPECT_NE(warnings[1].find("similarity_fn_name \"angle\" is unknown"), std::string::npos) << warnings[1];
  EXPECT_EQ(Metadata("default_prompt"), "");
  for (const char* damaged :
       {R"({"prompts": 7})", R"({"prompts": {"a": 1}})", R"([])", R"({"prompts": {"a\u0000": "b"}})"}) {
    Write("config_sentence_transformers.json", damaged);
    EXPECT_NE(Refusal(), "") << damaged;
  }
}

// No program finds such a prompt, so none applies it as if its tokens counted.
TEST_F(SentenceModules, PromptsThatAreNotPooledAreApart) {
  OneModule(kModels + "Pooling", {{"pooling_mode", "mean"}, {"include_prompt", false}});
  Write("config_sentence_transformers.json", R"({"prompts": {"query": "Q: "}, "default_prompt_name": "query"})");
  EXPECT_EQ(Metadata("prompt_is_pooled"), "false");
  EXPECT_EQ(Metadata("prompt.query"), "");
  EXPECT_EQ(Metadata("unpooled_prompt.query"), "Q: ");
  EXPECT_EQ(Metadata("default_prompt"), "query");
  EXPECT_EQ(Found(Topic::kPrompts), (std::vector<std::string>{"query: \"Q: \" (refused, see below)",
                                                              "query is the default: texts need --prompt-name none"}));
  const std::vector<std::string> warnings = Describe(Options()).warnings;
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("include_prompt false is not supported"), std::string::npos) << warnings[0];
}

TEST_F(SentenceModules, LimitsSayWhichFileIsFollowed) {
  OneModule(kModels + "Pooling", {{"pooling_mode", "mean"}});
  Write("tokenizer_config.json", R"({"model_max_length": 30})");
  for (const char* file : {"sentence_xlnet_config.json", "sentence_bert_config.json"}) {
    Write(file, R"({"max_seq_length": 20, "do_lower_case": true})");
    EXPECT_EQ(Found(Topic::kLimits),
              std::vector<std::string>{std::string("20 tokens, by ") + file + ", not 30 by tokenizer_config.json"});
  }
  const Description description = Describe(Options());
  EXPECT_EQ(description.tokenizer["max_length"], 20u);
  EXPECT_EQ(description.tokenizer["lower_case"], true);
  Write("sentence_bert_config.json", R"({"max_seq_length": 4096, "tokenizer_args": {"model_max_length": 5000}})");
  const std::vector<std::string> warnings = Describe(Options()).warnings;
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("max_seq_length 5000 is more than the"), std::string::npos) << warnings[0];
  Write("sentence_bert_config.json", R"({"max_seq_length": -1})");
  EXPECT_NE(Refusal().find("max_seq_length"), std::string::npos) << Refusal();
}

TEST_F(SentenceModules, SpladeIsAMaskedLanguageModel) {
  Copy("bert-mlm");
  const std::string sparse = "sentence_transformers.sparse_encoder.models.";
  Modules({{"", sparse + "MLMTransformer"}, {"1", sparse + "SpladePooling"}});
  Write("1/config.json", R"({"pooling_strategy": "sum", "activation_function": "log1p_relu"})");
  EXPECT_EQ(Metadata("task"), "masked-lm");
  EXPECT_EQ(Metadata("word_weights"), "sum log1p_relu");
  Modules({{"", kModels + "Transformer"}, {"1", sparse + "SpladePooling"}});
  Write("sentence_bert_config.json", R"({"transformer_task": "fill-mask"})");
  Write("1/config.json", "{}");
  EXPECT_EQ(Metadata("word_weights"), "max relu");
  Write("1/config.json", R"({"pooling_strategy": "median"})");
  EXPECT_NE(Refusal().find("pooling_strategy median"), std::string::npos) << Refusal();
}

TEST_F(SentenceModules, CrossEncodersKeepTheirHead) {
  Copy("bert-seqcls");
  Modules({{"", "sentence_transformers.base.modules.transformer.Transformer"}});
  Write("sentence_bert_config.json", R"({"transformer_task": "sequence-classification"})");
  EXPECT_EQ(Metadata("task"), "sequence-classification");
  std::filesystem::remove(directory_ / "sentence_bert_config.json");
  Write("config_sentence_transformers.json", R"({"model_type": "CrossEncoder"})");
  EXPECT_EQ(Metadata("task"), "sequence-classification");
}

// Both towers of CLIP, each with the modules behind.
TEST_F(SentenceModules, ClipHasAnEmbeddingForTextsAndForImages) {
  SafetensorsWriter both;
  Json config = {{"model_type", "clip"}, {"architectures", {"CLIPModel"}}};
  for (const auto& [part, name] : {std::pair{"text_config", "clip-text"}, {"vision_config", "clip-vision"}}) {
    Copy(name);
    config[part] = ReadJson((directory_ / "config.json").string());
    const SafetensorsReader stored(golden_ / "model.safetensors");
    for (const auto& [tensor_name, tensor] : stored.tensors())
      both.AddFloats(tensor_name, tensor.shape, ToFloats(tensor).data());
  }
  const float scale = 2;
  both.AddFloats("logit_scale", {}, &scale);
  Copy("clip-text");
  Save(both, "0_CLIPModel");
  Write("0_CLIPModel/config.json", config.dump());
  Modules({{"0_CLIPModel", kModels + "CLIPModel"}});
  const Description plain = Describe(Options());
  ASSERT_EQ(plain.programs.size(), 2u);
  EXPECT_EQ(plain.programs[0].outputs.back(), "text_embeds");
  EXPECT_EQ(plain.programs[1].outputs.back(), "image_embeds");
  Modules({{"0_CLIPModel", kModels + "CLIPModel"}, {"1_Normalize", kModels + "Normalize"}});
  const Description normed = Describe(Options());
  for (const Program& program : normed.programs) {
    EXPECT_EQ(program.outputs, std::vector<std::string>{"sentence_embedding"});
  }
  Blob();
}

// Models without modules.json.
TEST_F(SentenceModules, PlainEncodersArePooledOnDemand) {
  const std::pair<const char*, const char*> modes[] = {
      {"cls", "cls"}, {"mean", "mean"}, {"max", "max"}, {"last", "lasttoken"}};
  for (const auto& [option, mode] : modes) {
    ConvertOptions options = Options();
    options.pooling = option;
    ConvertReport report;
    const test::ReferenceRun run = RunBert(BuildBlob(Describe(options), options, report));
    const Row& all = run.values.at("hidden_states.3");
    states_.clear();
    for (size_t at = 0; at < all.size(); at += kWidth)
      states_.emplace_back(all.begin() + static_cast<long>(at), all.begin() + static_cast<long>(at + kWidth));
    const Row& found = run.values.at("sentence_embedding");
    for (size_t i = 0; i < kWidth; ++i) EXPECT_NEAR(found[i], Pooled(mode, i), 1e-6) << option;
  }
  ConvertOptions options = Options();
  options.pooling = "median";
  EXPECT_NE(RefusalOf([&] { Describe(options); }).find("--pool median is unknown"), std::string::npos);
  options.pooling = "mean";
  OneModule(kModels + "Pooling", {{"pooling_mode", "mean"}});
  EXPECT_NE(RefusalOf([&] { Describe(options); }).find("has its own pooling"), std::string::npos);
  Copy("vit");
  options.input = directory_.string();
  EXPECT_NE(RefusalOf([&] { Describe(options); }).find("--pool is for models of texts"), std::string::npos);
}

TEST_F(SentenceModules, EmbeddersWithTheirOwnClass) {
  for (const char* name : {"Contriever", "BertForCL", "ColBERT"}) {
    Change((R"({"architectures": [")" + std::string(name) + "\"]}").c_str());
    EXPECT_EQ(Metadata("task"), "embedding");
    EXPECT_NE(Found(Topic::kFiles).back().find(name), std::string::npos) << name;
  }
  ExpectRefused("head BertForRegions is not supported", R"({"architectures": ["BertForRegions"]})");
  Change(R"({"architectures": ["HF_ColBERT"]})");
  std::vector<float> weight;
  ChangeWeights([&](Tensors& tensors) {
    for (size_t i = 0; i < 3 * kWidth; ++i) weight.push_back(static_cast<float>(i * 5 % 13) / 6 - 1);
    tensors["linear.weight"] = {{3, kWidth}, weight};
  });
  const Row found = Output("token_embeddings");
  ASSERT_EQ(found.size(), 15u);
  for (size_t token = 0; token < 5; ++token) {
    Row row(3);
    double squares = 0;
    for (size_t i = 0; i < 3; ++i) {
      for (size_t j = 0; j < kWidth; ++j) row[i] += weight[i * kWidth + j] * states_[token][j];
      squares += row[i] * row[i];
    }
    for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(found[token * 3 + i], row[i] / std::sqrt(squares), 1e-6);
  }
  Write("artifact.metadata", R"({"query_token_id": "[unused7]", "doc_token_id": "[unused8]"})");
  EXPECT_NE(Found(Topic::kPrompts).back().find("[unused7]"), std::string::npos);
}

}  // namespace
}  // namespace fovea::tools
