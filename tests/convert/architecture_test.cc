// How architectures read published configurations: variants of the golden models, against the model that they must
// equal or against expectations derived from its results.
#include <cmath>
#include <nlohmann/json.hpp>

#include "runtime/blob/attributes.h"
#include "tests/convert/architecture_support.h"
#include "tools/base/json.h"
#include "tools/convert/constants.h"

namespace fovea::tools {
namespace {

void ExpectNear(const std::vector<double>& a, const std::vector<double>& b, size_t count) {
  ASSERT_GE(a.size(), count);
  ASSERT_GE(b.size(), count);
  for (size_t i = 0; i < count; ++i) EXPECT_NEAR(a[i], b[i], 1e-9);
}

// Activations of the published code, for configurations that name another one than the golden models do.
TEST_F(Architecture, ActivationsOfLayersAndHeads) {
  constexpr uint32_t kRelu = 1, kGelu = 2, kGeluTanh = 3, kTanh = 5;
  const struct {
    const char* golden;
    const char* changes;
    const char* task;
    const char* value;
    uint32_t activation;
  } cases[] = {
      {"bert-mlm", R"({"hidden_act": "relu"})", "", "layers.1.up", kRelu},
      {"bert-mlm", R"({"hidden_act": "relu"})", "", "head.dense", kRelu},
      {"bert-mlm", R"({"hidden_act": null})", "", "head.dense", kGelu},
      {"bert", R"({"hidden_act": "relu"})", "", "pooler_output", kTanh},
      {"bert-seqcls", R"({"hidden_act": "relu"})", "", "head.dense", kTanh},
      {"albert-mlm", R"({"hidden_act": "relu"})", "", "head.dense", kRelu},
      {"albert-mlm", R"({"hidden_act": null})", "", "head.dense", kGeluTanh},
      {"albert-mlm", R"({"hidden_act": null})", "", "layers.0.up", kGeluTanh},
      {"roberta-mlm", R"({"hidden_act": "relu"})", "", "layers.1.up", kRelu},
      {"roberta-mlm", R"({"hidden_act": "relu"})", "", "head.dense", kGelu},
      {"roberta-mlm", R"({"hidden_act": "gelu_new"})", "", "head.dense", kGelu},
      {"roberta-mlm", R"({"hidden_act": "relu", "model_type": "camembert"})", "", "head.dense", kGelu},
      {"xlm-roberta-mlm", R"({"hidden_act": "relu"})", "", "head.dense", kGelu},
      {"longformer-mlm", R"({"hidden_act": "relu"})", "", "layers.0.up", kRelu},
      {"longformer-mlm", R"({"hidden_act": "relu"})", "", "head.dense", kGelu},
      {"mpnet-mlm", R"({"hidden_act": "relu"})", "", "layers.0.up", kRelu},
      {"mpnet-mlm", R"({"hidden_act": "relu"})", "", "head.dense", kGelu},
      {"roberta-seqcls", R"({"hidden_act": "relu"})", "", "head.dense", kTanh},
      {"longformer-seqcls", R"({"hidden_act": "relu"})", "", "head.dense", kTanh},
      {"distilbert-mlm", R"({"activation": "relu"})", "", "head.dense", kRelu},
      {"distilbert-seqcls", R"({"activation": "gelu"})", "", "head.dense", kRelu},
      {"deberta-v2-mlm", R"({"hidden_act": "relu"})", "", "head.dense", kRelu},
      {"deberta-v2-conv", R"({"hidden_act": "relu"})", "", "head.dense", kGelu},
      {"deberta-v2-conv", R"({"pooler_hidden_act": "relu"})", "", "head.dense", kRelu},
      {"deberta-v2-conv", R"({"conv_act": "relu"})", "", "convolution.out", kRelu},
      {"big_bird-mlm", R"({"hidden_act": "relu"})", "", "head.dense", kRelu},
      {"big_bird-mlm", R"({"hidden_act": null})", "", "head.dense", kGeluTanh},
      {"modernbert-mlm", R"({"classifier_activation": "relu"})", "", "head.dense", kRelu},
      {"modernbert-mlm", R"({"classifier_activation": "relu"})", "", "layers.0.gated", kGelu},
      {"modernbert-mlm", R"({"hidden_activation": "relu"})", "", "head.dense", kGelu},
      {"modernbert-mlm", R"({"hidden_activation": "relu"})", "", "layers.0.gated", kRelu},
      {"gemma3-embed", R"({"hidden_activation": "relu"})", "", "layers.0.gated", kRelu},
      {"gemma3-embed", R"({"hidden_activation": null})", "", "layers.0.gated", kGeluTanh},
      {"funnel", R"({"hidden_act": "relu"})", "", "layers.0.up", kRelu},
      {"reformer-mlm", R"({"hidden_act": null})", "", "layers.0.up", kRelu},
      {"t5", R"({"dense_act_fn": null, "feed_forward_proj": "gelu"})", "encoder", "layers.0.up", kGelu},
      {"vit-pool", R"({"hidden_act": "relu", "pooler_act": null})", "", "pooler_output", kTanh},
      {"vit-pool", R"({"pooler_act": "relu"})", "", "pooler_output", kRelu},
      {"deit", R"({"hidden_act": "relu"})", "", "layers.0.up", kRelu},
      {"swin", R"({"hidden_act": "relu"})", "", "stages.0.blocks.0.up", kRelu},
  };
  for (const auto& c : cases) {
    Copy(c.golden);
    Change(c.changes);
    const test::ReadProgram program = test::SecondReader(Blob(c.task)).programs.at(0);
    uint32_t found = 0;
    for (const test::ReadOperation& operation : program.operations) {
      if (program.values.at(operation.output).name != c.value) continue;
      ++found;
      const auto at = operation.attributes.find(static_cast<uint32_t>(Attribute::kActivation));
      EXPECT_EQ(at == operation.attributes.end() ? 0 : at->second, c.activation)
          << c.golden << " " << c.changes << " " << c.value;
    }
    EXPECT_EQ(found, 1u) << c.golden << " " << c.value;
  }
}

// The published code ignores stored biases if the configuration does not mention them.
TEST_F(Architecture, BiasesThatTheConfigurationDenies) {
  const struct {
    const char* golden;
    const char* key;
    const char* tensor;
  } cases[] = {
      {"big_bird", "use_bias", "attention.self.key.bias"},     {"vit", "qkv_bias", "attention.attention.key.bias"},
      {"deit", "qkv_bias", "attention.attention.key.bias"},    {"swin", "qkv_bias", "attention.self.key.bias"},
      {"modernbert-seqcls", "attention_bias", "attn.Wo.bias"}, {"modernbert-seqcls", "mlp_bias", "mlp.Wi.bias"},
      {"modernbert-seqcls", "norm_bias", "norm.bias"},         {"modernbert-mlm", "decoder_bias", "decoder.bias"},
  };
  for (const auto& c : cases) {
    Copy(c.golden);
    Change((std::string("{\"") + c.key + "\": true}").c_str());
    Blob();
    const std::string changes = std::string("{\"") + c.key + "\": false}";
    ExpectRefused(c.tensor, changes.c_str());
    ExpectRefused((std::string(c.key) + " is false").c_str(), changes.c_str());
  }
}

TEST_F(Architecture, ModernbertHeads) {
  Copy("modernbert-seqcls");
  const std::vector<double> text = {7, 20, 3, 99, 14, 5, 31}, word = {20};
  const auto mean = Run(text).values.at("logits"), mean_of_one = Run(word).values.at("logits");
  Change(R"({"classifier_pooling": "cls"})");
  const auto first = Run(text).values.at("logits");
  Change(R"({"architectures": ["ModernBertForTokenClassification"]})");
  const auto tokens = Run(text).values.at("logits"), one_token = Run(word).values.at("logits");
  ASSERT_EQ(tokens.size(), 21u);
  ExpectNear(tokens, first, 3);           // the first token is the one that is pooled
  ExpectNear(one_token, mean_of_one, 3);  // one token is its own mean
  EXPECT_GT(std::fabs(mean[0] - first[0]), 1e-3);
  ExpectRefused("classifier_pooling max", R"({"classifier_pooling": "max"})");
  ExpectRefused("global_attn_every_n_layers must not be 0", R"({"global_attn_every_n_layers": 0})");
}

TEST_F(Architecture, LongformerWindows) {
  Copy("longformer-mlm");
  const std::vector<uint8_t> listed = Blob();
  EXPECT_TRUE(report_.warnings.empty());
  Change(R"({"attention_window": 12, "attention_mode": "longformer", "attention_dilation": [1, 1],
             "autoregressive": false, "ignore_attention_mask": false})");
  EXPECT_EQ(Blob(), listed);
  EXPECT_TRUE(report_.warnings.empty());
  ExpectRefused("each of 2 layers", R"({"attention_window": [12]})");
  ExpectRefused("attention_window must be even", R"({"attention_window": [12, 7]})");
  ExpectRefused("attention_window must be even", R"({"attention_window": 0})");
  ExpectRefused("attention_window must be even", R"({"attention_window": ["12", 12]})");
  ExpectRefused("attention_dilation [1,2]", R"({"attention_dilation": [1, 2]})");
  ExpectRefused("attention_dilation 2", R"({"attention_dilation": 2})");
  ExpectRefused("autoregressive", R"({"autoregressive": true})");
}

// The classifier marks the first row of each text by itself; other heads leave that to the caller, whose default is
// none.
TEST_F(Architecture, LongformerMarks) {
  Copy("longformer-seqcls");
  const test::ReadBlob classifier = test::SecondReader(Blob());
  EXPECT_EQ(classifier.metadata.count("default.global_attention_mask"), 0u);
  const test::ReadBlob embedding = test::SecondReader(Blob("embedding"));
  ASSERT_EQ(embedding.metadata.count("default.global_attention_mask"), 1u);
  EXPECT_EQ(embedding.metadata.at("default.global_attention_mask"), "0");
}

TEST_F(Architecture, BigBirdBlocks) {
  Copy("big_bird");
  const std::vector<double> text = {7, 20, 3, 99, 14};  // no longer than a window of whole blocks
  const auto run = [&] {
    const std::vector<double> types(text.size());
    return test::RunReference(test::SecondReader(Blob()), {{"input_ids", text}, {"token_type_ids", types}}, 5)
        .values.at("last_hidden_state");
  };
  const auto sparse = run();
  EXPECT_TRUE(report_.warnings.empty());
  // Up to 5 + 2 * 2 blocks of 4 rows are seen completely. No golden text has exactly this length.
  const test::ReadBlob blob = test::SecondReader(Blob());
  size_t layers = 0;
  for (const test::ReadOperation& operation : blob.programs[0].operations) {
    const auto full_up_to = operation.attributes.find(static_cast<uint32_t>(Attribute::kFullUpTo));
    if (full_up_to == operation.attributes.end()) continue;
    EXPECT_EQ(full_up_to->second, 36u);
    ++layers;
  }
  EXPECT_EQ(layers, 3u);
  Change(R"({"attention_type": "original_full"})");
  EXPECT_EQ(run(), sparse);  // as short texts are anyway
  EXPECT_TRUE(report_.warnings.empty());
  ExpectRefused("attention_type sliding", R"({"attention_type": "sliding"})");
  ExpectRefused("0 rows are not supported", R"({"block_size": 0})");

  const auto write = [&](const std::vector<uint64_t>& shape, int64_t value) {
    const std::vector<int64_t> values(shape[0] * shape[1] * shape[2], value);
    SafetensorsWriter file;
    for (const char* layer : {"0", "1", "2"}) file.AddIntegers(layer, shape, values.data());
    file.Write(directory_ / "random_blocks.safetensors");
  };
  write({4, 7, 2}, 3);
  Change("{}");
  EXPECT_EQ(run(), sparse);
  ExpectRefused("tensor 0 is I64 [4, 7, 2], but must be integers [4, rows, 3]", R"({"num_random_blocks": 3})");
  write({3, 7, 2}, 3);
  ExpectRefused("must be integers [4, rows, 2]", "{}");
  write({4, 7, 2}, -1);
  ExpectRefused("-1 is not the number of a block", "{}");
}

// Newer configurations list values that older ones derive by a rule.
TEST_F(Architecture, LayerTypesAndRotaryPositionsOfOldAndNewConfigurations) {
  Copy("modernbert");
  const std::vector<uint8_t> modernbert = Blob();
  Change(R"({"global_attn_every_n_layers": null, "global_rope_theta": null, "local_rope_theta": null,
             "layer_types": ["full_attention", "sliding_attention", "sliding_attention", "full_attention",
                             "sliding_attention"],
             "rope_parameters": {"full_attention": {"rope_type": "default", "rope_theta": 160000.0},
                                 "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}}})");
  EXPECT_EQ(Blob(), modernbert);
  EXPECT_TRUE(report_.warnings.empty());
  ExpectRefused("chunked", R"({"layer_types": ["chunked", "chunked", "chunked", "chunked", "chunked"]})");
  ExpectRefused("types of 5 layers", R"({"layer_types": ["full_attention"]})");
  ExpectRefused("rope_parameters has no full_attention", R"({"rope_parameters": {"rope_theta": 1}})");

  Copy("gemma3-embed");
  const std::vector<uint8_t> gemma = Blob();
  Change(R"({"layer_types": null, "_sliding_window_pattern": 3})");
  EXPECT_EQ(Blob(), gemma);
  Change(R"({"rope_theta": null, "rope_local_base_freq": null,
             "rope_parameters": {"full_attention": {"rope_type": "default", "rope_theta": 1000000.0},
                                 "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}}})");
  EXPECT_EQ(Blob(), gemma);
  EXPECT_TRUE(report_.warnings.empty());
}

TEST_F(Architecture, Gemma3ScalesPositionsOfFullLayersOnly) {
  Copy("gemma3-embed");
  const auto table = [&](const char* type) {
    const test::ReadBlob blob = test::SecondReader(Blob());
    for (const test::ReadTensor& tensor : blob.tensors) {
      if (tensor.name == std::string("rotary.") + type) return tensor.values;
    }
    return std::vector<float>();
  };
  const std::vector<float> full = table("full_attention"), sliding = table("sliding_attention");
  ASSERT_EQ(full.size(), 6u);  // frequencies
  Change(R"({"rope_scaling": {"rope_type": "linear", "factor": 8.0}})");
  EXPECT_EQ(table("sliding_attention"), sliding);
  const std::vector<float> scaled = table("full_attention");
  for (size_t i = 0; i < full.size(); ++i) EXPECT_EQ(scaled[i], full[i] / 8);
  ExpectRefused("low_freq_factor", R"({"rope_scaling": {"rope_type": "llama3", "factor": 8.0}})");
  ExpectRefused("type spiral", R"({"rope_scaling": {"type": "spiral", "factor": 8.0}})");
}

TEST_F(Architecture, Gemma3SeesBothSidesOrGoesOn) {
  Copy("gemma3-embed");
  ExpectRefused("is an encoder", R"({"architectures": ["Gemma3ForCausalLM"]})");
  ExpectRefused("score.weight", R"({"architectures": ["Gemma3ForSequenceClassification"]})");
  ExpectRefused("attn_logit_softcapping 50.0", R"({"attn_logit_softcapping": 50.0})");
}

TEST_F(Architecture, T5NeedsToBeAskedForItsEncoder) {
  Copy("t5");
  ExpectRefused("--task encoder", R"({"architectures": ["T5Model"], "is_encoder_decoder": false})");
  ExpectRefused("--task encoder", "{}", "embedding");
  Change("{}");
  const auto encoder = Run({5, 9, 100}, "encoder").values.at("last_hidden_state");
  EXPECT_FALSE(report_.unused.empty());
  for (const std::string& name : report_.unused) EXPECT_EQ(name.rfind("decoder.", 0), 0u) << name;
  Change(R"({"architectures": ["T5EncoderModel"], "is_encoder_decoder": false})");
  EXPECT_EQ(Run({5, 9, 100}).values.at("last_hidden_state"), encoder);
  // Older configurations omit keys that follow from feed_forward_proj.
  Change(R"({"dense_act_fn": null, "is_gated_act": null, "n_positions": 512})");
  EXPECT_EQ(Run({5, 9, 100}, "encoder").values.at("last_hidden_state"), encoder);
  EXPECT_TRUE(report_.warnings.empty());
  ExpectRefused("feed_forward_proj mish", R"({"feed_forward_proj": "mish"})", "encoder");
  ExpectRefused("is_gated_act", R"({"is_gated_act": true})", "encoder");
  ExpectRefused("dense_act_fn", R"({"dense_act_fn": "silu"})", "encoder");
  ExpectRefused("relative_attention_num_buckets", R"({"relative_attention_num_buckets": 32})", "encoder");
  // A layer that the configuration does not count must not get lost.
  ExpectRefused("encoder.block.2", R"({"num_layers": 2})", "encoder");
}

// Terms of the scores that are left out equal terms that are zero, once their number in the scale is made up for.
TEST_F(Architecture, DebertaScoresByKindsOfDistanceTerms) {
  Copy("deberta-v2-conv");
  std::map<std::string, std::vector<double>> inputs = {{"input_ids", {7, 20, 3, 99, 14, 5, 31, 31, 8}}};
  inputs["token_type_ids"] = {0, 0, 0, 0, 1, 1, 1, 1, 1};
  const auto logits = [&] { return test::RunReference(test::SecondReader(Blob()), inputs, 9).values.at("logits"); };
  const std::vector<double> both = logits();
  const auto scale = [](Tensors& tensors, const std::string& part, double factor) {
    for (auto& [name, tensor] : tensors) {
      if (name.find(part) == std::string::npos) continue;
      for (float& value : tensor.second) value = static_cast<float>(value * factor);
    }
  };
  struct {
    const char* types;
    const char* zero;    // projection of distances
    const char* scaled;  // projection of tokens
  } const kinds[] = {{R"({"pos_att_type": ["c2p"]})", "pos_query_proj", ".query_proj"},
                     {R"({"pos_att_type": "p2c"})", "pos_key_proj", ".key_proj"}};
  for (const auto& kind : kinds) {
    ChangeWeights([](Tensors&) {});
    Change(R"({"pos_att_type": "c2p|p2c"})");
    EXPECT_EQ(logits(), both);
    ChangeWeights([&](Tensors& tensors) {
      scale(tensors, kind.zero, 0);
      scale(tensors, kind.scaled, std::sqrt(1.5));
    });
    const std::vector<double> zero = logits();
    // The projection that is zero is not stored for such a model.
    ChangeWeights([&](Tensors& tensors) {
      for (auto at = tensors.begin(); at != tensors.end();) {
        at = at->first.find(kind.zero) != std::string::npos ? tensors.erase(at) : std::next(at);
      }
    });
    Change(kind.types);
    const std::vector<double> one = logits();
    for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(one[i], zero[i], 1e-5);
    EXPECT_GT(std::fabs(one[0] - both[0]), 1e-4);
  }
  // Without distances the number of terms still enters the scale.
  Change("{}");
  ChangeWeights([&](Tensors& tensors) { scale(tensors, "pos_", 0); });
  const std::vector<double> zero = logits();
  ChangeWeights([&](Tensors& tensors) {
    tensors.erase("deberta.encoder.rel_embeddings.weight");
    for (const char* layer : {"0", "1"}) {
      for (const char* name : {"pos_key_proj", "pos_query_proj"}) {
        for (const char* kind : {".weight", ".bias"}) {
          tensors.erase(std::string("deberta.encoder.layer.") + layer + ".attention.self." + name + kind);
        }
      }
    }
  });
  Change(R"({"relative_attention": false})");
  const std::vector<double> none = logits();
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(none[i], zero[i], 1e-7);
  ChangeWeights([](Tensors&) {});
  ExpectRefused("conv_groups 2", R"({"conv_groups": 2})");
  ExpectRefused("conv_act", R"({"conv_act": "mish"})");
  ExpectRefused("norm_rel_ebd", R"({"norm_rel_ebd": "batch_norm"})");
  ExpectRefused("z_steps 2", R"({"z_steps": 2})");
  ExpectRefused("encoder.conv.", R"({"conv_kernel_size": 0})");  // is stored, so it must be used
  ChangeWeights([](Tensors& tensors) {
    auto& [shape, values] = tensors.at("deberta.encoder.conv.conv.weight");
    shape[2] = 2;
    values.resize(32 * 32 * 2);
  });
  ExpectRefused("odd number", R"({"conv_kernel_size": 2})");
}

// Tables of distances, of which attention takes both types: f16 wherever weights are not f32.
TEST_F(Architecture, DistancesAreHalvesWhereWeightsAreShorter) {
  for (const char* name : {"deberta-v2-conv", "funnel"}) {
    Copy(name);
    for (const DType weights : {DType::kF32, DType::kF16, DType::kI8, DType::kI4}) {
      Blob("", weights);
      uint32_t tables = 0;
      for (const auto& tensor : report_.tensors) {
        const bool bias = tensor.name.rfind(".bias") + 5 == tensor.name.size();
        if (tensor.name.find(".distances") == std::string::npos || bias) continue;
        EXPECT_EQ(tensor.type, weights == DType::kF32 ? DType::kF32 : DType::kF16) << name << " " << tensor.name;
        ++tables;
      }
      EXPECT_GE(tables, 4u) << name;
    }
  }
}

TEST_F(Architecture, DebertaHeadsAndNarrowEmbeddings) {
  Copy("deberta-v2-mlm");
  const std::vector<double> text = {7, 20, 3, 99, 14, 5, 31};
  const std::vector<double> logits = Run(text).values.at("logits");
  // The newer head has other tensor names, and files with it need not declare it.
  const auto rename = [](Tensors& tensors) {
    Tensors renamed;
    for (const auto& [name, tensor] : tensors) {
      std::string to = name;
      for (const char* old : {"cls.predictions.transform.", "cls.predictions."}) {
        if (to.rfind(old, 0) == 0) to = "lm_predictions.lm_head." + to.substr(std::string(old).size());
      }
      renamed[to] = tensor;
    }
    tensors = renamed;
  };
  ChangeWeights(rename);
  for (const char* config : {R"({"legacy": false})", R"({"legacy": true})"}) {
    Change(config);
    EXPECT_EQ(Run(text).values.at("logits"), logits);
    EXPECT_TRUE(report_.unused.empty());
  }
  // The output layer is always tied to the embeddings, even if another one is stored.
  ChangeWeights([&](Tensors& tensors) {
    rename(tensors);
    auto& other = tensors["lm_predictions.lm_head.decoder.weight"];
    other = tensors.at("deberta.embeddings.word_embeddings.weight");
    for (float& value : other.second) value = -value;
  });
  Change(R"({"legacy": false, "tie_word_embeddings": false})");
  EXPECT_EQ(Run(text).values.at("logits"), logits);
  // Narrow embeddings are projected before their norm: the same as a wide table that was projected beforehand.
  const auto narrow = [](Tensors& tensors, bool projected) {
    std::vector<float> words(130 * 16), projection(32 * 16);
    for (size_t i = 0; i < words.size(); ++i) words[i] = static_cast<float>(i * 13 % 31) / 16 - 1;
    for (size_t i = 0; i < projection.size(); ++i) projection[i] = static_cast<float>(i * 7 % 29) / 16 - 1;
    auto& table = tensors.at("deberta.embeddings.word_embeddings.weight");
    if (projected) {
      table.second = Product(Literal(130, 16, words), Literal(32, 16, projection)).load();
      return;
    }
    table = {{130, 16}, words};
    tensors["deberta.embeddings.embed_proj.weight"] = {{32, 16}, projection};
  };
  std::vector<double> states[2];
  for (const bool projected : {false, true}) {
    Change(projected ? "{}" : R"({"embedding_size": 16})");
    ChangeWeights([&](Tensors& tensors) { narrow(tensors, projected); });
    states[projected ? 1 : 0] = Run(text, "embedding").values.at("last_hidden_state");
    EXPECT_TRUE(report_.warnings.empty());
  }
  ASSERT_EQ(states[0].size(), 7u * 32);
  for (size_t i = 0; i < states[0].size(); ++i) EXPECT_NEAR(states[0][i], states[1][i], 1e-5);
}

// A window that is wider than the text is T5's attention.
TEST_F(Architecture, LongT5WithWindowsAlone) {
  Copy("longt5-tglobal");
  const auto rename = [&](const std::string& name) {
    ChangeWeights([&](Tensors& tensors) {
      const std::string from = "TransientGlobalSelfAttention";
      Tensors renamed;
      for (const auto& [key, tensor] : tensors) {
        if (key.find("global_") != std::string::npos) continue;
        const size_t at = key.find(from);
        renamed[at == std::string::npos ? key : key.substr(0, at) + name + key.substr(at + from.size())] = tensor;
      }
      tensors = renamed;
    });
  };
  const std::vector<double> ids = {5, 60, 7, 33, 12, 1};
  const auto states = [&](const char* changes) {
    Change(changes);
    return Run(ids, "encoder").values.at("last_hidden_state");
  };
  rename("LocalSelfAttention");
  const auto wide = states(R"({"encoder_attention_type": "local", "local_radius": 5})");
  const auto narrow = states(R"({"encoder_attention_type": "local", "local_radius": 4})");
  ExpectRefused("encoder_attention_type", R"({"encoder_attention_type": "global"})", "encoder");
  ExpectRefused("TransientGlobalSelfAttention", "{}", "encoder");
  rename("SelfAttention");
  const auto plain = states(R"({"model_type": "t5", "encoder_attention_type": null})");
  ASSERT_EQ(plain.size(), ids.size() * 36);
  ExpectNear(wide, plain, plain.size());
  EXPECT_NE(narrow, plain);
  Copy("longt5-tglobal");
  ExpectRefused("global_block_size 1", R"({"global_block_size": 1})", "encoder");
}

// Biases that grow with the distance are added before the division by sqrt(head size), as the original library defines
// it; it rounds them to bf16 first, which is left out here and there. No positions turn.
TEST_F(Architecture, FalconWithSlopes) {
  Copy("falcon");
  Change(R"({"alibi": true})");
  const std::vector<double> ids = {5, 149, 7, 33, 33, 90, 0, 12};
  const auto values = Run(ids, "embedding").values;
  const auto &q = values.at("layers.0.query"), &k = values.at("layers.0.key"), &v = values.at("layers.0.value");
  const auto& attended = values.at("layers.0.attended");
  constexpr size_t kHeads = 4, kSize = 8;  // one key/value head
  EXPECT_EQ(values.count("layers.0.query_turned"), 0u);
  ASSERT_EQ(q.size(), ids.size() * kHeads * kSize);
  ASSERT_EQ(k.size(), ids.size() * kSize);
  for (size_t i = 0; i < ids.size(); ++i) {
    for (size_t head = 0; head < kHeads; ++head) {
      const double slope = std::pow(2.0, -2.0 * static_cast<double>(head + 1));  // 2^(-8 / 4), its square, ..
      std::vector<double> sum(kSize);
      double total = 0;
      for (size_t j = 0; j <= i; ++j) {
        double score = slope * static_cast<double>(j);
        for (size_t c = 0; c < kSize; ++c) score += q[(i * kHeads + head) * kSize + c] * k[j * kSize + c];
        const double weight = std::exp(score / std::sqrt(double{kSize}));
        total += weight;
        for (size_t c = 0; c < kSize; ++c) sum[c] += weight * v[j * kSize + c];
      }
      for (size_t c = 0; c < kSize; ++c) {
        EXPECT_NEAR(attended[(i * kHeads + head) * kSize + c], sum[c] / total, 1e-6);
      }
    }
  }
}

// Which layers convolve, and the two ways to state it.
TEST_F(Architecture, Lfm2Layers) {
  Copy("lfm2");
  const std::vector<double> ids = {5, 60, 7, 33};
  const auto convolves = [&](int layer) {
    const auto values = Run(ids, "embedding").values;
    return values.count("layers." + std::to_string(layer) + ".convolution.convolved") == 1;
  };
  const std::vector<uint8_t> blob = Blob();
  Change(R"({"layer_types": null, "full_attn_idxs": [1, 3], "rope_theta": 1, "theta": 3000.0, "tie_embedding": true,
             "block_ff_dim": 60})");
  EXPECT_EQ(Blob(), blob);
  EXPECT_TRUE(report_.warnings.empty());
  EXPECT_TRUE(convolves(0) && convolves(2));
  EXPECT_FALSE(convolves(1) || convolves(3));
  ExpectRefused("layer_types", R"({"layer_types": ["conv", "full_attention", "conv", "mamba"]})");
  ExpectRefused("layer_types must name the types of 4 layers", R"({"layer_types": ["conv"]})");
  ExpectRefused("conv_L_cache is 4", R"({"conv_L_cache": 4})");
  ExpectRefused("tie_word_embeddings", R"({"tie_embedding": false, "tie_word_embeddings": true})");
  // Without a list of layers all attend; layers that are stored as convolutions then lack the attention weights.
  ExpectRefused("self_attn.q_proj", R"({"layer_types": null})");
  // Biases: of all three layers or none.
  const auto biases = [](Tensors& tensors) {
    for (const char* layer : {"0", "2"}) {
      const std::string at = std::string("model.layers.") + layer + ".conv.";
      tensors[at + "conv.bias"] = {{36}, std::vector<float>(36, 0.5f)};
      tensors[at + "in_proj.bias"] = {{108}, std::vector<float>(108, 0.25f)};
      tensors[at + "out_proj.bias"] = {{36}, std::vector<float>(36, -1.0f)};
    }
  };
  ChangeWeights(biases);
  ExpectRefused("conv_bias is false, but tensor", "{}");
  Change(R"({"conv_bias": true})");
  const auto values = Run(ids, "embedding").values;
  const auto &in = values.at("layers.0.convolution.input"), &out = values.at("layers.0.convolution.convolved");
  const std::vector<float> kernel =
      ToFloats(SafetensorsReader(golden_ / "model.safetensors").Get("model.layers.0.conv.conv.weight"));
  for (size_t row = 0; row < ids.size(); ++row) {
    for (size_t c = 0; c < 36; ++c) {
      double sum = 0.5;
      for (size_t tap = 0; tap < 3; ++tap) {
        if (row + tap >= 2) sum += kernel[c * 3 + tap] * in[(row + tap - 2) * 36 + c];
      }
      EXPECT_NEAR(out[row * 36 + c], sum, 1e-9);
    }
  }
}

// Encoder, mean, two dense layers without bias and activation, unit length.
TEST_F(Architecture, SentenceTransformerAroundGemma3) {
  Copy("gemma3-embed");
  Write("modules.json", R"([
    {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
    {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
    {"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"},
    {"idx": 3, "name": "3", "path": "3_Dense", "type": "sentence_transformers.models.Dense"},
    {"idx": 4, "name": "4", "path": "4_Normalize", "type": "sentence_transformers.models.Normalize"}])");
  Write("sentence_bert_config.json", R"({"max_seq_length": 64, "do_lower_case": false})");
  Write("1_Pooling/config.json", R"({"word_embedding_dimension": 32, "pooling_mode_cls_token": false,
    "pooling_mode_mean_tokens": true, "include_prompt": true})");
  const uint32_t widths[] = {32, 48, 5};
  std::vector<std::vector<float>> matrices;
  for (int i = 0; i < 2; ++i) {
    const std::string folder = std::to_string(2 + i) + "_Dense";
    Write(folder + "/config.json", Json({{"in_features", widths[i]},
                                         {"out_features", widths[i + 1]},
                                         {"bias", false},
                                         {"activation_function", "torch.nn.modules.linear.Identity"}})
                                       .dump());
    std::vector<float> matrix(size_t{widths[i]} * widths[i + 1]);
    for (size_t k = 0; k < matrix.size(); ++k) matrix[k] = static_cast<float>(k * 7 % 23) / 11 - 1;
    SafetensorsWriter writer;
    writer.AddFloats("linear.weight", {widths[i + 1], widths[i]}, matrix.data());
    writer.Write(directory_ / folder / "model.safetensors");
    matrices.push_back(matrix);
  }
  const SafetensorsReader golden(golden_ / "golden.safetensors");
  const std::vector<int64_t> ids = ToIntegers(golden.Get("b.in.input_ids"));
  const std::vector<float> states = ToFloats(golden.Get("b.out.last_hidden_state"));
  std::vector<double> value(32);
  for (size_t i = 0; i < states.size(); ++i) value[i % 32] += states[i] / static_cast<double>(ids.size());
  for (int layer = 0; layer < 2; ++layer) {
    std::vector<double> next(widths[layer + 1]);
    for (size_t i = 0; i < matrices[layer].size(); ++i)
      next[i / value.size()] += matrices[layer][i] * value[i % value.size()];
    value = next;
  }
  double squares = 0;
  for (const double x : value) squares += x * x;
  const auto found = Run({ids.begin(), ids.end()}).values.at("sentence_embedding");
  ASSERT_EQ(found.size(), 5u);
  for (size_t i = 0; i < 5; ++i) EXPECT_NEAR(found[i], value[i] / std::sqrt(squares), 1e-5);
}

}  // namespace
}  // namespace fovea::tools
