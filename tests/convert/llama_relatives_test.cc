// Relatives of Llama against transformers in double precision that the test states by the original's classes.
#include "tests/convert/relative_support.h"

namespace fovea::tools {
namespace {

using test::DenseLayer;

class LlamaRelatives : public Relative {
 protected:
  // Norms of heads of queries and keys.
  void HeadNorms(const std::string& query, const std::string& key) {
    for (uint32_t i = 0; i < 2; ++i) {
      const std::string self = "model.layers." + std::to_string(i) + ".self_attn.";
      Norm(self + query, kHead);
      Norm(self + key, kHead);
      model_.layers[i].query_norm = self + query;
      model_.layers[i].key_norm = self + key;
    }
  }
};

TEST_F(LlamaRelatives, Llama) {
  Llama("llama", "LlamaForCausalLM");
  ExpectScores();
}

TEST_F(LlamaRelatives, Arcee) {
  Llama("arcee", "ArceeForCausalLM");
  for (DenseLayer& layer : model_.layers) {
    tensors_.erase(layer.gate + ".weight");
    layer.gate = "";
  }
  config_["hidden_act"] = "relu2";
  model_.activation = "relu2";
  ExpectScores();
  EXPECT_TRUE(report_.warnings.empty());
}

TEST_F(LlamaRelatives, Ernie45TurnsNeighbours) {
  Llama("ernie4_5", "Ernie4_5ForCausalLM");
  tensors_.erase("lm_head.weight");
  config_["tie_word_embeddings"] = true;
  config_["use_bias"] = false;
  model_.interleaved = true;
  tensors_["head.weight"] = tensors_.at("model.embed_tokens.weight");
  const test::DenseRows expected = Scores("head");
  tensors_.erase("head.weight");
  ExpectNear(Run("logits", ids_), expected);
  EXPECT_TRUE(report_.warnings.empty());
  EXPECT_TRUE(HasFinding("the head takes the table of embeddings, model.embed_tokens.weight"));
}

TEST_F(LlamaRelatives, Helium) {
  Llama("helium", "HeliumForCausalLM");
  model_.interleaved = true;
  ExpectScores();
}

TEST_F(LlamaRelatives, Exaone4) {
  Llama("exaone4", "Exaone4ForCausalLM");
  HeadNorms("q_norm", "k_norm");
  for (uint32_t i = 0; i < 2; ++i) {
    DenseLayer& layer = model_.layers[i];
    const std::string at = "model.layers." + std::to_string(i) + ".";
    tensors_.erase(layer.before + ".weight");
    Norm(at + "post_feedforward_layernorm", kWidth);
    layer.before = layer.forward_before = "";
    layer.out = at + "post_attention_layernorm";
    layer.forward_out = at + "post_feedforward_layernorm";
  }
  ExpectScores();  // without a window all layers have positions
  config_["sliding_window"] = 3;
  config_["sliding_window_pattern"] = "LG";
  config_["layer_types"] = {"sliding_attention", "full_attention"};
  model_.layers[0].window = 3;
  model_.layers[1].rotates = false;
  ExpectScores();
  config_.erase("layer_types");
  config_["sliding_window_pattern"] = 2;
  ExpectScores();
}

TEST_F(LlamaRelatives, Glm) {
  Llama("glm", "GlmForCausalLM", true);
  for (DenseLayer& layer : model_.layers) {
    auto& [shape, joined] = tensors_[layer.gate.substr(0, layer.gate.rfind('.')) + ".gate_up_proj.weight"];
    shape = {2 * kMiddle, kWidth};
    joined = tensors_.at(layer.gate + ".weight").second;
    const std::vector<float> up = tensors_.at(layer.up + ".weight").second;
    joined.insert(joined.end(), up.begin(), up.end());
  }
  const test::DenseTensors both = tensors_;
  model_.interleaved = true;
  model_.rotated = kHead / 2;
  const test::DenseRows expected = Scores();
  const auto split = [&] {
    for (const DenseLayer& layer : model_.layers) {
      tensors_.erase(layer.gate + ".weight");
      tensors_.erase(layer.up + ".weight");
    }
  };
  split();
  ExpectNear(Run("logits", ids_), expected);
  EXPECT_TRUE(report_.warnings.empty());

  // GLM 4: norms after attention and feed-forward as well.
  tensors_ = both;
  config_["model_type"] = "glm4";
  config_["partial_rotary_factor"] = 1.0;
  model_.rotated = kHead;
  for (uint32_t i = 0; i < 2; ++i) {
    const std::string at = "model.layers." + std::to_string(i) + ".";
    Norm(at + "post_self_attn_layernorm", kWidth);
    Norm(at + "post_mlp_layernorm", kWidth);
    model_.layers[i].out = at + "post_self_attn_layernorm";
    model_.layers[i].forward_out = at + "post_mlp_layernorm";
  }
  const test::DenseRows of_glm4 = Scores();
  split();
  ExpectNear(Run("logits", ids_), of_glm4);
}

TEST_F(LlamaRelatives, GraniteWithoutStateSpaceLayers) {
  Llama("granitemoehybrid", "GraniteMoeHybridForCausalLM", false, "shared_mlp");
  config_.update({{"layer_types", {"attention", "attention"}},
                  {"num_local_experts", 0},
                  {"shared_intermediate_size", kMiddle},
                  {"position_embedding_type", "rope"},
                  {"attention_multiplier", 0.3},
                  {"embedding_multiplier", 3},
                  {"logits_scaling", 2},
                  {"residual_multiplier", 0.5}});
  model_.scale = 0.3, model_.word_scale = 3, model_.residual_scale = 0.5;
  const auto expected = [&] {
    test::DenseRows scores = Scores();
    for (auto& row : scores) {
      for (double& score : row) score /= 2;
    }
    return scores;
  };
  const test::DenseRows turned = expected();
  for (DenseLayer& layer : model_.layers) layer.rotates = false;
  const test::DenseRows unturned = expected();
  for (const DenseLayer& layer : model_.layers) {
    const std::string mlp = layer.gate.substr(0, layer.gate.rfind('.')) + ".";
    auto& [shape, joined] = tensors_[mlp + "input_linear.weight"];
    shape = {2 * kMiddle, kWidth};
    joined = tensors_.at(layer.gate + ".weight").second;
    const std::vector<float> up = tensors_.at(layer.up + ".weight").second;
    joined.insert(joined.end(), up.begin(), up.end());
    tensors_.erase(layer.gate + ".weight");
    tensors_.erase(layer.up + ".weight");
    Rename(layer.down + ".weight", mlp + "output_linear.weight");
  }
  ExpectNear(Run("logits", ids_), turned);
  config_["position_embedding_type"] = "nope";
  ExpectNear(Run("logits", ids_), unturned);
  config_["layer_types"] = {"mamba", "attention"};
  EXPECT_NE(Refusal().find("\"mamba\" layers are not supported: they are state space layers"), std::string::npos);
}

TEST_F(LlamaRelatives, HunyuanNormsWhatIsTurned) {
  Llama("hunyuan_v1_dense", "HunYuanDenseV1ForCausalLM");
  HeadNorms("query_layernorm", "key_layernorm");
  config_.update(
      {{"use_qk_norm", true},
       {"use_cla", false},
       {"rope_scaling", {{"alpha", 50.0}, {"beta_fast", 32}, {"beta_slow", 1}, {"factor", 1.0}, {"type", "dynamic"}}}});
  model_.norm_after_rotary = true;
  model_.theta = 100 * std::pow(50.0, 4.0 / 2);
  ExpectScores();
  EXPECT_TRUE(report_.warnings.empty());
}

TEST_F(LlamaRelatives, Llama4Text) {
  Llama("llama4_text", "Llama4ForCausalLM", false, "feed_forward");
  config_.update({{"use_qk_norm", true},
                  {"no_rope_layers", {1, 1}},
                  {"attention_chunk_size", 64},
                  {"layer_types", {"chunked_attention", "chunked_attention"}},
                  {"interleave_moe_layer_step", 0},
                  {"intermediate_size_mlp", kMiddle},
                  {"for_llm_compressor", false}});
  model_.interleaved = model_.norm_after_rotary = true;
  for (DenseLayer& layer : model_.layers) layer.query_norm = layer.key_norm = "plain";
  ExpectScores();
  EXPECT_TRUE(report_.warnings.empty());
  config_["attention_chunk_size"] = 32;
  EXPECT_NE(Refusal().find("chunk"), std::string::npos);
  config_["attention_chunk_size"] = 64;
  config_["use_qk_norm"] = false;
  config_["no_rope_layers"] = {1, 0};
  for (DenseLayer& layer : model_.layers) layer.query_norm = layer.key_norm = "";
  model_.layers[1].rotates = false;
  ExpectScores();
  Linear("model.layers.1.feed_forward.router", 2, kWidth);
  EXPECT_NE(Refusal().find("experts that are weighted by a sigmoid"), std::string::npos);
}

TEST_F(LlamaRelatives, MinicpmScales) {
  Llama("minicpm", "MiniCPMForCausalLM");
  config_.update({{"scale_emb", 12}, {"dim_model_base", 4}, {"scale_depth", 1.4}});
  config_["auto_map"] = {{"AutoModelForCausalLM", "modeling_minicpm.MiniCPMForCausalLM"}};
  model_.word_scale = 12;
  model_.residual_scale = 1.4 / std::sqrt(2.0);
  test::DenseRows expected = Scores();
  for (auto& row : expected) {
    for (double& score : row) score /= kWidth / 4.0;
  }
  ExpectNear(Run("logits", ids_), expected);
  EXPECT_TRUE(report_.warnings.empty());
}

TEST_F(LlamaRelatives, Ministral3CutsTextsWhoseQueriesWouldBeScaled) {
  Llama("mistral", "MistralForCausalLM");
  config_["rope_parameters"] = {{"rope_type", "yarn"}, {"factor", 4.0}, {"original_max_position_embeddings", 16},
                                {"rope_theta", 100.0}, {"mscale", 1.0}, {"mscale_all_dim", 1.0}};
  const std::vector<float> expected = Run("logits", ids_);
  config_["model_type"] = "ministral3";
  config_["rope_parameters"]["llama_4_scaling_beta"] = 0.1;
  EXPECT_EQ(Run("logits", ids_), expected);
  EXPECT_EQ(test::SecondReader(Blob()).metadata.at("max_positions"), "16");
  EXPECT_TRUE(HasFinding("texts have at most 16 tokens, not 64"));
}

TEST_F(LlamaRelatives, MobilellmSharesItsEmbeddings) {
  Llama("mobilellm", "MobileLLMForCausalLM");
  config_["auto_map"] = {{"AutoConfig", "configuration_mobilellm.MobileLLMConfig"}};
  config_["share_embedding"] = false;
  ExpectScores();
  config_["share_embedding"] = true;  // tie_word_embeddings is false
  tensors_["lm_head.weight"] = tensors_.at("model.embed_tokens.weight");
  const test::DenseRows tied = Scores();
  tensors_.erase("lm_head.weight");
  ExpectNear(Run("logits", ids_), tied);
  config_["layer_sharing"] = true;
  EXPECT_NE(Refusal().find("layer_sharing true is not supported"), std::string::npos);
}

TEST_F(LlamaRelatives, NanochatTurnsTheOtherWay) {
  Llama("nanochat", "NanoChatForCausalLM");
  config_["hidden_act"] = "relu2";
  config_["final_logit_softcapping"] = 1.5;
  tensors_.erase("model.norm.weight");
  for (uint32_t i = 0; i < 2; ++i) {
    DenseLayer& layer = model_.layers[i];
    const std::string mlp = "model.layers." + std::to_string(i) + ".mlp.";
    tensors_.erase(layer.before + ".weight");
    tensors_.erase(layer.forward_before + ".weight");
    tensors_.erase(layer.gate + ".weight");
    Rename(layer.up + ".weight", mlp + "fc1.weight");
    Rename(layer.down + ".weight", mlp + "fc2.weight");
    layer.gate = "", layer.up = mlp + "fc1", layer.down = mlp + "fc2";
    layer.before = layer.forward_before = layer.query_norm = layer.key_norm = "plain";
  }
  model_.embedding_norm = model_.final_norm = "plain";
  model_.activation = "relu2";
  model_.backwards = model_.norm_after_rotary = true;
  test::DenseRows expected = Scores();
  for (auto& row : expected) {
    for (double& score : row) score = 1.5 * std::tanh(score / 1.5);
  }
  ExpectNear(Run("logits", ids_), expected);
  EXPECT_TRUE(report_.warnings.empty());
}

TEST_F(LlamaRelatives, OlmoHasNormsWithoutWeights) {
  Llama("olmo", "OlmoForCausalLM");
  tensors_.erase("model.norm.weight");
  for (DenseLayer& layer : model_.layers) {
    tensors_.erase(layer.before + ".weight");
    tensors_.erase(layer.forward_before + ".weight");
    layer.before = layer.forward_before = "plain";
  }
  model_.final_norm = "plain";
  model_.rms = false;
  config_["clip_qkv"] = nullptr;
  ExpectScores();
  config_["clip_qkv"] = 0.5;
  model_.clip = 0.5;
  ExpectScores();
  EXPECT_TRUE(report_.warnings.empty());
}

TEST_F(LlamaRelatives, SeedOssAndMinistral) {
  Llama("seed_oss", "SeedOssForCausalLM", true);
  config_.update({{"attention_bias", true}, {"attention_out_bias", false}, {"head_dim", kHead}});
  ExpectScores();
  EXPECT_TRUE(report_.warnings.empty());
  config_["model_type"] = "ministral";
  config_.erase("attention_out_bias");
  config_["sliding_window"] = 3;
  for (DenseLayer& layer : model_.layers) layer.window = 3;
  ExpectScores();
}

TEST_F(LlamaRelatives, Vaultgemma) {
  Llama("vaultgemma", "VaultGemmaForCausalLM");
  config_.update({{"head_dim", kHead},
                  {"query_pre_attn_scalar", 9},
                  {"attn_logit_softcapping", 0.7},
                  {"final_logit_softcapping", nullptr},
                  {"hidden_activation", "gelu_pytorch_tanh"},
                  {"sliding_window", 3},
                  {"layer_types", {"sliding_attention", "full_attention"}}});
  model_.weight_offset = 1;
  model_.word_scale = std::sqrt(static_cast<double>(kWidth));
  model_.scale = 1 / 3.0, model_.cap = 0.7;
  model_.activation = "gelu_tanh";
  model_.layers[0].window = 3;
  for (DenseLayer& layer : model_.layers) {
    const std::string before = layer.forward_before.substr(0, layer.forward_before.rfind('.')) + ".";
    Rename(layer.forward_before + ".weight", before + "pre_feedforward_layernorm.weight");
    layer.forward_before = before + "pre_feedforward_layernorm";
  }
  ExpectScores();
}

TEST_F(LlamaRelatives, EurobertSeesBothSides) {
  Llama("eurobert", "EuroBertForMaskedLM");
  config_["auto_map"] = {{"AutoModel", "modeling_eurobert.EuroBertModel"}};
  model_.causal = false;
  ExpectScores();
  EXPECT_TRUE(report_.warnings.empty());
  config_["architectures"] = {"EuroBertForSequenceClassification"};
  config_["classifier_pooling"] = "mean";
  config_["num_labels"] = 3;
  Linear("dense", kWidth, kWidth, true);
  Linear("classifier", 3, kWidth, true);
  test::DenseRows pooled(1, std::vector<double>(kWidth));
  for (const auto& row : model_.States(tensors_, ids_)) {
    for (size_t c = 0; c < kWidth; ++c) pooled[0][c] += row[c] / static_cast<double>(ids_.size());
  }
  pooled = test::DenseLinear(tensors_, pooled, "dense");
  for (double& value : pooled[0]) value = test::DenseActivation("gelu", value);
  ExpectNear(Run("logits", ids_), test::DenseLinear(tensors_, pooled, "classifier"));
  config_["classifier_pooling"] = "late";
  EXPECT_NE(Refusal().find("classifier_pooling late"), std::string::npos);
  EXPECT_NE(Refusal("causal-lm").find("is an encoder"), std::string::npos);
}

// Partial rotary positions have the class's default where no key states them, and later files state them elsewhere.
TEST_F(LlamaRelatives, StablelmInBothSpellings) {
  Llama("stablelm", "StableLmForCausalLM");
  for (const char* norm : {"model.norm", "model.layers.0.input_layernorm", "model.layers.1.input_layernorm",
                           "model.layers.0.post_attention_layernorm", "model.layers.1.post_attention_layernorm"}) {
    Add(std::string(norm) + ".bias", {kWidth});
  }
  config_["layer_norm_eps"] = 1e-5;
  config_["rms_norm_eps"] = nullptr;
  config_["partial_rotary_factor"] = 0.5;
  model_.rms = false;
  model_.rotated = kHead / 2;
  ExpectScores();
  const std::vector<uint8_t> former = Blob();
  config_.erase("partial_rotary_factor");
  config_.erase("rope_theta");
  config_["rope_parameters"] = {{"rope_theta", 100.0}, {"rope_type", "default"}, {"partial_rotary_factor", 0.5}};
  EXPECT_EQ(Blob(), former);
}

}  // namespace
}  // namespace fovea::tools
