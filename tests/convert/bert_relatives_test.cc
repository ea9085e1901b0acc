// Relatives of BERT, and decoders like GPT, against transformers in double precision.
#include "tests/convert/relative_support.h"

namespace fovea::tools {
namespace {

using test::DenseLayer;

class BertRelatives : public Relative {
 protected:
  // Embeddings and two layers under BERT's names, with the norm after each residual sum.
  void Bert(const std::string& type, const std::string& name, const std::string& root = "", uint32_t first = 0) {
    config_ = {{"model_type", type},
               {"architectures", {name}},
               {"hidden_size", kWidth},
               {"num_hidden_layers", 2},
               {"num_attention_heads", 2},
               {"intermediate_size", kMiddle},
               {"hidden_act", "gelu"},
               {"layer_norm_eps", 1e-5},
               {"max_position_embeddings", 32},
               {"pad_token_id", first == 0 ? 0 : first - 1},
               {"type_vocab_size", 2}};
    root_ = root;
    model_ = {};
    model_.rms = model_.causal = false;
    model_.activation = "gelu";
    model_.words = root + "embeddings.word_embeddings.weight";
    model_.positions = root + "embeddings.position_embeddings.weight";
    model_.types = root + "embeddings.token_type_embeddings.weight";
    model_.first_position = first;
    model_.embedding_norm = root + "embeddings.LayerNorm";
    Add(model_.words, {kWords, kWidth});
    Add(model_.positions, {32, kWidth});
    Add(model_.types, {2, kWidth});
    Norm(model_.embedding_norm, kWidth, true);
    for (uint32_t i = 0; i < 2; ++i) {
      const std::string at = root + "encoder.layer." + std::to_string(i) + ".";
      DenseLayer layer;
      layer.query = at + "attention.self.query", layer.key = at + "attention.self.key";
      layer.value = at + "attention.self.value", layer.output = at + "attention.output.dense";
      layer.sum = at + "attention.output.LayerNorm";
      layer.up = at + "intermediate.dense", layer.down = at + "output.dense";
      layer.forward_sum = at + "output.LayerNorm";
      layer.rotates = false;
      for (const std::string& projection : {layer.query, layer.key, layer.value, layer.output}) {
        Linear(projection, kWidth, kWidth, true);
      }
      Linear(layer.up, kMiddle, kWidth, true);
      Linear(layer.down, kWidth, kMiddle, true);
      Norm(layer.sum, kWidth, true);
      Norm(layer.forward_sum, kWidth, true);
      model_.layers.push_back(layer);
    }
  }
  void RenameNorm(const std::string& from, const std::string& to) {
    Rename(from + ".weight", to + ".weight");
    Rename(from + ".bias", to + ".bias");
  }
  // Norms before attention and feed-forward, and after the last layer.
  void PreNorm(const std::string& attention, const std::string& forward, const std::string& last, bool embeddings) {
    for (uint32_t i = 0; i < 2; ++i) {
      DenseLayer& layer = model_.layers[i];
      const std::string at = root_ + "encoder.layer." + std::to_string(i) + ".";
      RenameNorm(layer.sum, at + attention);
      RenameNorm(layer.forward_sum, at + forward);
      layer.before = at + attention, layer.forward_before = at + forward;
      layer.sum = layer.forward_sum = "";
    }
    model_.final_norm = root_ + last;
    Norm(model_.final_norm, kWidth, true);
    if (embeddings) return;
    tensors_.erase(model_.embedding_norm + ".weight");
    tensors_.erase(model_.embedding_norm + ".bias");
    model_.embedding_norm = "";
  }
  void ExpectStates() { ExpectNear(Run("last_hidden_state", ids_), model_.States(tensors_, ids_)); }

  std::string root_;
};

TEST_F(BertRelatives, BertItself) {
  Bert("bert", "BertModel");
  ExpectStates();
}

TEST_F(BertRelatives, MegatronBert) {
  Bert("megatron-bert", "MegatronBertModel", "bert.");
  PreNorm("attention.ln", "ln", "encoder.ln", false);
  ExpectStates();
  EXPECT_TRUE(report_.warnings.empty());
}

TEST_F(BertRelatives, RobertaPrelayernorm) {
  Bert("roberta-prelayernorm", "RobertaPreLayerNormModel", "roberta_prelayernorm.", 2);
  PreNorm("attention.LayerNorm", "intermediate.LayerNorm", "LayerNorm", true);
  ExpectStates();
}

TEST_F(BertRelatives, XlmRobertaXl) {
  Bert("xlm-roberta-xl", "XLMRobertaXLModel", "roberta.", 2);
  PreNorm("attention.self_attn_layer_norm", "LayerNorm", "encoder.LayerNorm", false);
  ExpectStates();
}

TEST_F(BertRelatives, NormsThatAreMissingAreNamed) {
  Bert("xlm-roberta-xl", "XLMRobertaXLModel", "roberta.", 2);
  EXPECT_NE(Refusal().find("no tensor roberta.encoder.layer.0.attention.self_attn_layer_norm.weight"),
            std::string::npos);
}

TEST_F(BertRelatives, Data2VecTextSplinterAndLuke) {
  Bert("data2vec-text", "Data2VecTextModel", "data2vec_text.", 2);
  ExpectStates();
  tensors_.clear();
  Bert("splinter", "SplinterModel", "splinter.");
  config_["question_token_id"] = 5;
  ExpectStates();
  EXPECT_TRUE(report_.warnings.empty());
  config_["architectures"] = {"SplinterForTokenClassification"};
  EXPECT_NE(Refusal().find("heads of Splinter"), std::string::npos);
  tensors_.clear();
  Bert("luke", "LukeModel", "luke.", 2);
  for (uint32_t i = 0; i < 2; ++i) {
    for (const char* name : {"w2e_query", "e2w_query", "e2e_query"}) {
      Linear("luke.encoder.layer." + std::to_string(i) + ".attention.self." + name, kWidth, kWidth, true);
    }
  }
  ExpectStates();
  EXPECT_TRUE(HasFinding("the model reads texts without entities"));
}

TEST_F(BertRelatives, ErnieAddsTasks) {
  Bert("ernie", "ErnieModel", "ernie.");
  Add("ernie.embeddings.task_type_embeddings.weight", {3, kWidth});
  ExpectStates();  // use_task_id is false
  config_["use_task_id"] = true;
  config_["task_type_vocab_size"] = 3;
  const std::vector<float> found = Run("last_hidden_state", ids_);  // for task 0
  std::vector<float>& types = tensors_.at(model_.types).second;
  const std::vector<float>& tasks = tensors_.at("ernie.embeddings.task_type_embeddings.weight").second;
  for (size_t c = 0; c < kWidth; ++c) types[c] += tasks[c];
  ExpectNear(found, model_.States(tensors_, ids_));
}

TEST_F(BertRelatives, DprTakesTheFirstToken) {
  Bert("dpr", "DPRQuestionEncoder", "question_encoder.bert_model.");
  Linear("question_encoder.bert_model.pooler.dense", kWidth, kWidth, true);
  config_["projection_dim"] = 0;
  const test::DenseRows states = model_.States(tensors_, ids_);
  ExpectNear(Run("pooler_output", ids_), {states[0]});
  EXPECT_TRUE(HasFinding("a pooler, which the class does not have"));
  config_["projection_dim"] = 5;
  Linear("question_encoder.encode_proj", 5, kWidth, true);
  ExpectNear(Run("pooler_output", ids_), test::DenseLinear(tensors_, {states[0]}, "question_encoder.encode_proj"));
}

// Slopes of six heads: the powers of 2^-2 for four, then 2^-1 and 2^-3.
TEST_F(BertRelatives, JinaBertFallsWithTheDistance) {
  Bert("bert", "JinaBertForMaskedLM");
  config_["num_attention_heads"] = 4;
  config_.update({{"position_embedding_type", "alibi"}, {"feed_forward_type", "geglu"}, {"emb_pooler", "mean"}});
  config_["architectures"] = {"JinaBertModel"};
  config_["auto_map"] = {{"AutoModel", "jinaai/jina-bert-implementation--modeling_bert.JinaBertModel"}};
  tensors_.erase(model_.positions);
  model_.positions = "";
  model_.heads = model_.kv_heads = 4, model_.head = 2;
  for (uint32_t i = 0; i < 2; ++i) {
    DenseLayer& layer = model_.layers[i];
    const std::string mlp = "encoder.layer." + std::to_string(i) + ".mlp.";
    tensors_.erase(layer.up + ".weight"), tensors_.erase(layer.up + ".bias");
    Rename(layer.down + ".weight", mlp + "wo.weight"), Rename(layer.down + ".bias", mlp + "wo.bias");
    RenameNorm(layer.forward_sum, mlp + "layernorm");
    layer.down = mlp + "wo", layer.forward_sum = mlp + "layernorm";
    Linear(mlp + "gated_layers", 2 * kMiddle, kWidth);
    const std::vector<float>& both = tensors_.at(mlp + "gated_layers.weight").second;
    const auto half = both.begin() + kMiddle * kWidth;
    tensors_["gate" + std::to_string(i) + ".weight"] = {{kMiddle, kWidth}, {both.begin(), half}};
    tensors_["up" + std::to_string(i) + ".weight"] = {{kMiddle, kWidth}, {half, both.end()}};
    layer.gate = "gate" + std::to_string(i), layer.up = "up" + std::to_string(i);
    layer.bias = [](uint32_t head, int64_t distance) {
      return -std::pow(2, -2.0 * (head + 1)) * std::fabs(static_cast<double>(distance));
    };
  }
  const test::DenseRows expected = model_.States(tensors_, ids_);
  for (const char* name : {"gate0", "gate1", "up0", "up1"}) tensors_.erase(std::string(name) + ".weight");
  ExpectNear(Run("last_hidden_state", ids_), expected);
  EXPECT_TRUE(report_.warnings.empty());
  EXPECT_EQ(test::SecondReader(Blob()).metadata.at("max_positions"), "32");
  config_["feed_forward_type"] = "swiglu";
  EXPECT_NE(Refusal().find("feed_forward_type swiglu"), std::string::npos);
}

TEST_F(BertRelatives, NewModelTurnsByNtk) {
  for (const bool packed : {true, false}) {
    tensors_.clear();
    Bert("new", "NewModel");
    config_.update({{"position_embedding_type", "rope"},
                    {"rope_theta", 500.0},
                    {"rope_scaling", {{"type", "ntk"}, {"factor", 2.0}}},
                    {"type_vocab_size", 0},
                    {"pack_qkv", packed},
                    {"layer_norm_type", "layer_norm"},
                    {"logn_attention_scale", false}});
    config_["auto_map"] = {{"AutoModel", "Alibaba-NLP/new-impl--modeling.NewModel"}};
    tensors_.erase(model_.positions), tensors_.erase(model_.types);
    model_.positions = model_.types = "";
    model_.theta = 500 * 2.0, model_.rotated = kHead;
    model_.divisors = {std::pow(2, 2.0 / kHead), std::pow(2, 2.0 / kHead)};
    for (uint32_t i = 0; i < 2; ++i) {
      DenseLayer& layer = model_.layers[i];
      layer.rotates = true;
      const std::string at = "encoder.layer." + std::to_string(i) + ".";
      RenameNorm(layer.sum, at + "attn_ln"), RenameNorm(layer.forward_sum, at + "mlp_ln");
      layer.sum = at + "attn_ln", layer.forward_sum = at + "mlp_ln";
      RenameNorm(layer.output, at + "attention.o_proj");
      layer.output = at + "attention.o_proj";
      RenameNorm(layer.down, at + "mlp.down_proj");
      layer.down = at + "mlp.down_proj";
      tensors_.erase(layer.up + ".weight"), tensors_.erase(layer.up + ".bias");
      Linear(at + "mlp.up_gate_proj", 2 * kMiddle, kWidth);
      const std::vector<float> both = tensors_.at(at + "mlp.up_gate_proj.weight").second;
      const auto half = both.begin() + kMiddle * kWidth;
      layer.up = "up" + std::to_string(i), layer.gate = "gate" + std::to_string(i);
      tensors_[layer.up + ".weight"] = {{kMiddle, kWidth}, {both.begin(), half}};
      tensors_[layer.gate + ".weight"] = {{kMiddle, kWidth}, {half, both.end()}};
      if (packed) {
        for (const char* kind : {".weight", ".bias"}) {
          std::vector<float> joined;
          for (const std::string& name : {layer.query, layer.key, layer.value}) {
            const std::vector<float>& values = tensors_.at(name + kind).second;
            joined.insert(joined.end(), values.begin(), values.end());
          }
          std::vector<uint64_t> shape = {3 * kWidth};
          if (kind == std::string(".weight")) shape.push_back(kWidth);
          tensors_[at + "attention.qkv_proj" + kind] = {shape, joined};
        }
      } else {
        RenameNorm(layer.query, at + "attention.q_proj"), RenameNorm(layer.key, at + "attention.k_proj");
        RenameNorm(layer.value, at + "attention.v_proj");
        layer.query = at + "attention.q_proj", layer.key = at + "attention.k_proj";
        layer.value = at + "attention.v_proj";
      }
    }
    const test::DenseRows expected = model_.States(tensors_, ids_);
    for (const DenseLayer& layer : model_.layers) {
      tensors_.erase(layer.up + ".weight"), tensors_.erase(layer.gate + ".weight");
      if (!packed) continue;
      for (const std::string& name : {layer.query, layer.key, layer.value}) {
        tensors_.erase(name + ".weight"), tensors_.erase(name + ".bias");
      }
    }
    ExpectNear(Run("last_hidden_state", ids_), expected);
    EXPECT_TRUE(report_.warnings.empty());
  }
}

class GptRelatives : public BertRelatives {
 protected:
  // Layers of OPT under `prefix`, norms before attention and feed-forward, and the final norm layer_norm.
  void Opt(const std::string& prefix) {
    model_ = {};
    model_.rms = false;
    model_.activation = "gelu";
    model_.words = prefix + "embed_tokens.weight";
    Add(model_.words, {kWords, kWidth});
    model_.final_norm = prefix + "layer_norm";
    Norm(model_.final_norm, kWidth, true);
    model_.word_scale = std::sqrt(static_cast<double>(kWidth));
    for (uint32_t i = 0; i < 2; ++i) {
      const std::string at = prefix + "layers." + std::to_string(i) + ".";
      DenseLayer layer;
      layer.rotates = false;
      layer.before = at + "self_attn_layer_norm", layer.forward_before = at + "final_layer_norm";
      layer.query = at + "self_attn.q_proj", layer.key = at + "self_attn.k_proj";
      layer.value = at + "self_attn.v_proj", layer.output = at + "self_attn.out_proj";
      layer.up = at + "fc1", layer.down = at + "fc2";
      for (const std::string& name : {layer.query, layer.key, layer.value, layer.output}) {
        Linear(name, kWidth, kWidth, true);
      }
      Linear(layer.up, kMiddle, kWidth, true), Linear(layer.down, kWidth, kMiddle, true);
      Norm(layer.before, kWidth, true), Norm(layer.forward_before, kWidth, true);
      model_.layers.push_back(layer);
    }
  }
  // The head is the table of words.
  void ExpectTiedScores() {
    tensors_["head.weight"] = tensors_.at(model_.words);
    const test::DenseRows expected = Scores("head");
    tensors_.erase("head.weight");
    ExpectNear(Run("logits", ids_), expected);
    EXPECT_TRUE(report_.warnings.empty());
  }
};

TEST_F(GptRelatives, Biogpt) {
  Opt("biogpt.");
  config_ = {{"model_type", "biogpt"},   {"architectures", {"BioGptForCausalLM"}},
             {"hidden_size", kWidth},    {"num_hidden_layers", 2},
             {"num_attention_heads", 2}, {"hidden_act", "gelu"},
             {"layer_norm_eps", 1e-5},   {"max_position_embeddings", 30},
             {"scale_embedding", true},  {"activation_dropout", 0.0},
             {"layerdrop", 0.0}};
  model_.positions = "biogpt.embed_positions.weight", model_.first_position = 2;
  Add(model_.positions, {32, kWidth});
  ExpectTiedScores();
}

TEST_F(GptRelatives, Xglm) {
  Opt("model.");
  config_ = {{"model_type", "xglm"},
             {"architectures", {"XGLMForCausalLM"}},
             {"d_model", kWidth},
             {"num_layers", 2},
             {"attention_heads", 2},
             {"ffn_dim", kMiddle},
             {"activation_function", "gelu"},
             {"max_position_embeddings", 30},
             {"scale_embedding", true}};
  // Sines, then cosines, of the position and 2.
  model_.positions = "sines", model_.first_position = 0;
  std::vector<float> sines;
  for (uint32_t p = 0; p < 30; ++p) {
    for (uint32_t c = 0; c < kWidth; ++c) {
      const double angle = (p + 2) * std::pow(10000, -static_cast<double>(c % 4) / 3);
      sines.push_back(static_cast<float>(c < 4 ? std::sin(angle) : std::cos(angle)));
    }
  }
  tensors_["sines"] = {{30, kWidth}, sines};
  tensors_["head.weight"] = tensors_.at(model_.words);
  const test::DenseRows expected = Scores("head");
  tensors_.erase("head.weight"), tensors_.erase("sines");
  Add("model.embed_positions.weights", {32, kWidth});  // a buffer, which the original does not read
  ExpectNear(Run("logits", ids_), expected);
  EXPECT_TRUE(report_.warnings.empty());
  EXPECT_TRUE(HasFinding("sinusoids, which follow from config.json"));
}

TEST_F(GptRelatives, CodegenSplitsFourParts) {
  config_ = {{"model_type", "codegen"},
             {"architectures", {"CodeGenForCausalLM"}},
             {"n_embd", 16},
             {"n_head", 4},
             {"n_layer", 2},
             {"n_positions", 32},
             {"n_ctx", 32},
             {"rotary_dim", 2},
             {"activation_function", "gelu_new"},
             {"layer_norm_epsilon", 1e-5},
             {"tie_word_embeddings", false}};
  model_ = {};
  model_.heads = model_.kv_heads = 4, model_.head = 4;
  model_.rms = false, model_.parallel = true, model_.interleaved = true;
  model_.rotated = 2, model_.activation = "gelu_tanh";
  model_.words = "transformer.wte.weight", model_.final_norm = "transformer.ln_f";
  Add(model_.words, {kWords, 16});
  Norm(model_.final_norm, 16, true);
  Linear("lm_head", kWords, 16, true);
  for (uint32_t i = 0; i < 2; ++i) {
    const std::string at = "transformer.h." + std::to_string(i) + ".", attn = at + "attn.";
    DenseLayer layer;
    layer.before = at + "ln_1", layer.output = attn + "out_proj";
    layer.up = at + "mlp.fc_in", layer.down = at + "mlp.fc_out";
    Norm(layer.before, 16, true);
    Linear(layer.output, 16, 16);
    Linear(layer.up, kMiddle, 16, true), Linear(layer.down, 16, kMiddle, true);
    Linear(attn + "qkv_proj", 48, 16);
    Add(attn + "causal_mask", {1, 1, 32, 32});
    const std::vector<float> all = tensors_.at(attn + "qkv_proj.weight").second;
    // In each of four parts: four rows of queries, of values, of keys.
    const auto part = [&](size_t which) {
      std::vector<float> rows;
      for (size_t p = 0; p < 4; ++p) {
        const auto from = all.begin() + static_cast<ptrdiff_t>((p * 12 + which * 4) * 16);
        rows.insert(rows.end(), from, from + 64);
      }
      return rows;
    };
    layer.query = "q" + std::to_string(i), layer.key = "k" + std::to_string(i), layer.value = "v" + std::to_string(i);
    tensors_[layer.query + ".weight"] = {{16, 16}, part(0)};
    tensors_[layer.value + ".weight"] = {{16, 16}, part(1)};
    tensors_[layer.key + ".weight"] = {{16, 16}, part(2)};
    model_.layers.push_back(layer);
  }
  const test::DenseRows expected = Scores();
  for (const char* name : {"q0", "q1", "k0", "k1", "v0", "v1"}) tensors_.erase(std::string(name) + ".weight");
  ExpectNear(Run("logits", ids_), expected);
  EXPECT_TRUE(report_.warnings.empty());
  EXPECT_TRUE(HasFinding("the causal mask"));
}

TEST_F(GptRelatives, MptAndTheFirstGpt) {
  for (const bool mpt : {true, false}) {
    tensors_.clear();
    model_ = {};
    model_.rms = false;
    model_.activation = mpt ? "gelu" : "gelu_tanh";
    config_ = {{"model_type", mpt ? "mpt" : "openai-gpt"},
               {"architectures", {mpt ? "MptForCausalLM" : "OpenAIGPTLMHeadModel"}}};
    if (mpt) {
      config_.update({{"d_model", kWidth}, {"n_heads", 2}, {"n_layers", 2}, {"max_seq_len", 32}, {"no_bias", true}});
      config_["attn_config"] = {{"alibi", true}, {"alibi_bias_max", 8}, {"clip_qkv", 0.6}};
      model_.clip = 0.6;
    } else {
      config_.update({{"n_embd", kWidth}, {"n_head", 2}, {"n_layer", 2}, {"n_positions", 32}, {"afn", "gelu"}});
      model_.positions = "transformer.positions_embed.weight";
      Add(model_.positions, {32, kWidth});
    }
    model_.words = mpt ? "transformer.wte.weight" : "transformer.tokens_embed.weight";
    Add(model_.words, {kWords, kWidth});
    if (mpt) model_.final_norm = "transformer.norm_f", Norm(model_.final_norm, kWidth);
    std::vector<std::string> own;
    for (uint32_t i = 0; i < 2; ++i) {
      const std::string at = (mpt ? "transformer.blocks." : "transformer.h.") + std::to_string(i) + ".";
      DenseLayer layer;
      layer.rotates = false;
      const std::string n = std::to_string(i);
      layer.query = "q" + n, layer.key = "k" + n, layer.value = "v" + n;
      std::vector<float> joined, biases;
      for (const std::string& name : {layer.query, layer.key, layer.value}) {
        Linear(name, kWidth, kWidth, !mpt);
        const std::vector<float>& values = tensors_.at(name + ".weight").second;
        joined.insert(joined.end(), values.begin(), values.end());
        own.push_back(name + ".weight");
        if (mpt) continue;
        const std::vector<float>& bias = tensors_.at(name + ".bias").second;
        biases.insert(biases.end(), bias.begin(), bias.end());
        own.push_back(name + ".bias");
      }
      // The first GPT stores transposes.
      const auto turned = [](const std::vector<float>& of, uint64_t rows, uint64_t columns) {
        std::vector<float> out;
        for (uint64_t c = 0; c < columns; ++c) {
          for (uint64_t r = 0; r < rows; ++r) out.push_back(of[r * columns + c]);
        }
        return out;
      };
      if (mpt) {
        tensors_[at + "attn.Wqkv.weight"] = {{3 * kWidth, kWidth}, joined};
        layer.output = at + "attn.out_proj", layer.up = at + "ffn.up_proj", layer.down = at + "ffn.down_proj";
        layer.before = at + "norm_1", layer.forward_before = at + "norm_2";
        Linear(layer.output, kWidth, kWidth);
        Linear(layer.up, kMiddle, kWidth), Linear(layer.down, kWidth, kMiddle);
        Norm(layer.before, kWidth), Norm(layer.forward_before, kWidth);
        layer.bias = [](uint32_t head, int64_t distance) { return std::pow(2, -4.0 * (head + 1)) * distance; };
      } else {
        tensors_[at + "attn.c_attn.weight"] = {{kWidth, 3 * kWidth}, turned(joined, 3 * kWidth, kWidth)};
        tensors_[at + "attn.c_attn.bias"] = {{3 * kWidth}, biases};
        layer.output = "o" + n, layer.up = "u" + n, layer.down = "d" + n;
        layer.sum = at + "ln_1", layer.forward_sum = at + "ln_2";
        Norm(layer.sum, kWidth, true), Norm(layer.forward_sum, kWidth, true);
        const struct {
          std::string name, stored;
          uint64_t out, in;
        } all[] = {{layer.output, "attn.c_proj", kWidth, kWidth},
                   {layer.up, "mlp.c_fc", kMiddle, kWidth},
                   {layer.down, "mlp.c_proj", kWidth, kMiddle}};
        for (const auto& each : all) {
          Linear(each.name, each.out, each.in, true);
          tensors_[at + each.stored + ".weight"] = {
              {each.in, each.out}, turned(tensors_.at(each.name + ".weight").second, each.out, each.in)};
          tensors_[at + each.stored + ".bias"] = tensors_.at(each.name + ".bias");
          own.push_back(each.name + ".weight"), own.push_back(each.name + ".bias");
        }
        Add(at + "attn.bias", {1, 1, 32, 32});
      }
      model_.layers.push_back(layer);
    }
    tensors_["head.weight"] = tensors_.at(model_.words);
    const test::DenseRows expected = Scores("head");
    tensors_.erase("head.weight");
    for (const std::string& name : own) tensors_.erase(name);
    ExpectNear(Run("logits", ids_), expected);
    EXPECT_TRUE(report_.warnings.empty());
  }
}

}  // namespace
}  // namespace fovea::tools
