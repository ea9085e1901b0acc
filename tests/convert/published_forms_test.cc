// Directories as they are published: other spellings of keys, buffers, further parts, and code. Each must give the
// bytes of the model in the known form, and report what was not used.
#include "tests/convert/architecture_support.h"
#include "tools/convert/findings.h"

namespace fovea::tools {
namespace {

class Published : public Architecture {
 protected:
  std::vector<std::string> FindingsOn(Topic topic) const {
    std::vector<std::string> texts;
    for (const Finding& finding : report_.findings) {
      if (finding.topic == topic) texts.push_back(finding.text);
    }
    return texts;
  }
  bool Found(Topic topic, const std::string& part) const {
    for (const std::string& text : FindingsOn(topic)) {
      if (text.find(part) != std::string::npos) return true;
    }
    return false;
  }
  std::string Refusal(const std::string& task = "") {
    try {
      Blob(task);
    } catch (const Failure& failure) {
      return failure.what();
    }
    ADD_FAILURE() << "was not refused";
    return "";
  }
};

TEST_F(Published, KeysHaveSeveralSpellings) {
  const struct {
    const char* golden;
    const char* changes;
    const char* task;
  } cases[] = {
      {"gpt2", R"({"n_embd": null, "hidden_size": 32, "n_head": null, "num_attention_heads": 4, "n_layer": null,
                   "num_hidden_layers": 3, "n_positions": null, "max_position_embeddings": 64})",
       ""},
      {"gptj", R"({"n_embd": null, "hidden_size": 36, "n_head": null, "num_attention_heads": 3, "n_layer": null,
                   "num_hidden_layers": 2, "n_positions": null, "max_position_embeddings": 64})",
       ""},
      {"gpt_neo", R"({"num_heads": null, "num_attention_heads": 4, "num_layers": null, "num_hidden_layers": 4})", ""},
      {"bloom", R"({"n_head": null, "num_attention_heads": 6, "hidden_size": null, "n_embed": 48, "n_layer": null,
                    "num_hidden_layers": 3, "n_inner": null})",
       ""},
      {"distilbert-mlm", R"({"dim": null, "hidden_size": 32, "n_heads": null, "num_attention_heads": 4,
                             "n_layers": null, "num_hidden_layers": 2})",
       ""},
      {"t5", R"({"d_model": null, "hidden_size": 32, "num_heads": null, "num_attention_heads": 4, "num_layers": null,
                 "num_hidden_layers": 3, "d_kv": null, "head_dim": 12})",
       ""},
      {"bart", R"({"d_model": null, "hidden_size": 32, "encoder_attention_heads": null, "num_attention_heads": 4})",
       ""},
      {"llama", R"({"pretraining_tp": 2})", ""},
      {"mixtral", R"({"num_local_experts": null, "num_experts": 4})", ""},
      {"qwen3_moe", R"({"dtype": null, "torch_dtype": "float32", "_attn_implementation_autoset": true})", ""},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.golden);
    Copy(c.golden);
    const std::vector<uint8_t> expected = Blob(c.task);
    Change(c.changes);
    EXPECT_EQ(Blob(c.task), expected);
    EXPECT_TRUE(report_.warnings.empty()) << report_.warnings[0];
  }
}

TEST_F(Published, OfTwoSpellingsTheOriginalsIsFollowed) {
  Copy("gpt2");
  const std::vector<uint8_t> expected = Blob();
  Change(R"({"n_head": 2, "num_attention_heads": 4})");
  EXPECT_EQ(Blob(), expected);
  EXPECT_TRUE(Found(Topic::kFiles, "num_attention_heads 4 is followed, not n_head 2"));
  Change(R"({"num_attention_heads": 4})");
  EXPECT_EQ(Blob(), expected);
  EXPECT_FALSE(Found(Topic::kFiles, "is followed"));
}

TEST_F(Published, BuffersAreIgnored) {
  const struct {
    const char* golden;
    std::vector<const char*> buffers;
    const char* reason;
  } cases[] = {
      {"gpt2", {"transformer.h.0.attn.bias", "transformer.h.1.attn.masked_bias"}, "the causal mask"},
      {"gpt_neo", {"transformer.h.0.attn.attention.bias"}, "the causal mask"},
      {"gptj", {"transformer.h.0.attn.bias", "transformer.h.0.attn.masked_bias"}, "the causal mask"},
      {"gpt_neox",
       {"gpt_neox.layers.0.attention.bias", "gpt_neox.layers.0.attention.rotary_emb.inv_freq"},
       "the causal mask"},
      {"llama", {"model.layers.0.self_attn.rotary_emb.inv_freq"}, "frequencies of rotary positions"},
      {"t5", {"decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"}, "cross-attention"},
      {"bart", {"model.encoder.version", "model.decoder.version"}, "a version number"},
      {"m2m_100", {"model.decoder.embed_positions.weights", "model.encoder.embed_positions.weights"}, "sinusoids"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.golden);
    Copy(c.golden);
    const std::vector<uint8_t> expected = Blob();
    ChangeWeights([&](Tensors& tensors) {
      for (const char* name : c.buffers) tensors[name] = {{2, 2}, {1, 2, 3, 4}};
    });
    EXPECT_EQ(Blob(), expected);
    EXPECT_TRUE(report_.unused.empty());
    EXPECT_TRUE(Found(Topic::kNotUsed, c.reason));
    EXPECT_TRUE(Found(Topic::kNotUsed, c.buffers[0]));
  }
  Copy("gpt2");  // any other tensor of a layer matters
  ChangeWeights([](Tensors& tensors) { tensors["transformer.h.0.attn.gate"] = {{2}, {1, 2}}; });
  EXPECT_NE(Refusal().find("tensor transformer.h.0.attn.gate is not used by this architecture"), std::string::npos);
  Copy("llama");  // no buffer of Llama has this name
  ChangeWeights([](Tensors& tensors) { tensors["model.layers.0.attn.bias"] = {{2}, {1, 2}}; });
  EXPECT_NE(Refusal().find("is not used by this architecture"), std::string::npos);
}

TEST_F(Published, KeysWithoutEffectAreOneFinding) {
  Copy("llama");
  const std::vector<uint8_t> expected = Blob();
  Change(R"({"is_llama_config": true, "rope_interleaved": false, "transformers.js_config": {"dtype": "q4"}})");
  EXPECT_EQ(Blob(), expected);
  EXPECT_TRUE(report_.warnings.empty());
  ASSERT_EQ(FindingsOn(Topic::kNoEffect).size(), 1u);
  EXPECT_EQ(FindingsOn(Topic::kNoEffect)[0], "config.json: is_llama_config, rope_interleaved, transformers.js_config");
  Change(R"({"rope_interleaved": true, "something_else": 3})");
  Blob();
  ASSERT_EQ(report_.warnings.size(), 2u);
  EXPECT_EQ(report_.warnings[0], "config.json: rope_interleaved is unknown and was ignored");
}

TEST_F(Published, TextPartsOfOtherModels) {
  Copy("gemma3");
  const std::vector<uint8_t> gemma = Blob();
  Rename("model.", "");
  const std::vector<uint8_t> nameless = Blob();
  const std::string text = ReadJson((golden_ / "config.json").string()).dump();
  const std::string whole = R"({"model_type": "gemma3", "architectures": ["Gemma3ForConditionalGeneration"],
      "mm_tokens_per_image": 4, "vision_config": {"model_type": "siglip_vision_model"}, "text_config": )" +
                            text + "}";
  Write("config.json", whole);
  for (const char* prefix : {"language_model.model.", "model.language_model."}) {
    SCOPED_TRACE(prefix);
    ChangeWeights([](Tensors& tensors) {
      tensors["vision_tower.patch.weight"] = {{2, 2}, {1, 2, 3, 4}};
      tensors["model.vision_tower.patch.weight"] = {{2, 2}, {1, 2, 3, 4}};
      tensors["multi_modal_projector.weight"] = {{2, 2}, {1, 2, 3, 4}};
    });
    const auto stored = directory_ / "model.safetensors";
    Tensors tensors;
    {
      const SafetensorsReader reader(stored);
      for (const auto& [name, tensor] : reader.tensors()) {
        const bool text_part = name.rfind("model.", 0) == 0 && name.find("vision") == std::string::npos;
        tensors[text_part ? prefix + name.substr(6) : name] = {tensor.shape, ToFloats(tensor)};
      }
    }
    SafetensorsWriter writer;
    for (const auto& [name, tensor] : tensors) writer.AddFloats(name, tensor.first, tensor.second.data());
    std::filesystem::remove(stored);
    writer.Write(stored);
    EXPECT_EQ(Blob(), Blob("text"));
    EXPECT_TRUE(Found(Topic::kNotUsed, "3 tensors of pictures or sound"));
    EXPECT_TRUE(report_.warnings.empty());
    EXPECT_EQ(Blob(), prefix == std::string("language_model.model.") ? gemma : nameless);
    EXPECT_NE(Refusal("image").find("part for pictures"), std::string::npos);
  }
}

TEST_F(Published, AxesOfPositionsAreOneForTexts) {
  Copy("qwen2");
  const std::vector<uint8_t> expected = Blob();
  for (const char* scaling : {R"({"type": "mrope", "mrope_section": [1, 1, 2]})",
                              R"({"type": "default", "rope_type": "default", "mrope_section": [1, 1, 2]})"}) {
    Change((std::string(R"({"model_type": "qwen2_vl", "architectures": ["Qwen2VLForConditionalGeneration"],
        "image_token_id": 5, "vision_start_token_id": 6, "vision_config": {"depth": 2}, "rope_scaling": )") +
            scaling + "}")
               .c_str());
    EXPECT_EQ(Blob(), expected);
    EXPECT_TRUE(report_.warnings.empty());
  }
}

TEST_F(Published, CodeOfAKnownFamilyIsNotNeeded) {
  Copy("phi3");
  const std::vector<uint8_t> expected = Blob();
  Change(R"({"auto_map": {"AutoModelForCausalLM": "modeling_phi3.Phi3ForCausalLM"}})");
  EXPECT_EQ(Blob(), expected);
  EXPECT_TRUE(Found(Topic::kFiles, "auto_map names code of the model, which is not run: it is read as phi3"));
  EXPECT_TRUE(report_.warnings.empty()) << report_.warnings[0];
  // A class of another name may compute anything. --as is advised only where it converts.
  Change(R"({"architectures": ["Phi3FlashForCausalLM"], "auto_map": {"AutoModel": "m.Phi3FlashForCausalLM"}})");
  EXPECT_NE(Refusal().find("--as phi3"), std::string::npos);
  ChangeWeights([](Tensors& tensors) { tensors.erase("model.layers.0.mlp.down_proj.weight"); });
  const std::string refusal = Refusal();
  EXPECT_NE(refusal.find("no tensor model.layers.0.mlp.down_proj.weight"), std::string::npos) << refusal;
  EXPECT_EQ(refusal.find("--as"), std::string::npos) << refusal;
  Change(R"({"is_causal": false})");  // as in encoders made of decoders
  EXPECT_NE(Refusal().find("is_causal false is not supported"), std::string::npos);
}

TEST_F(Published, WellKnownTypesHaveAReason) {
  Copy("llama");
  for (const auto& [type, why] :
       std::map<std::string, std::string>{{"mamba", "a state space model, no attention"},
                                          {"qwen3_5", "gated delta networks (linear attention) beside attention"},
                                          {"deepseek_v3", "multi-head latent attention (MLA)"},
                                          {"nystromformer", "landmarks"}}) {
    Change((R"({"model_type": ")" + type + "\"}").c_str());
    const std::string refusal = Refusal();
    EXPECT_NE(refusal.find("model_type " + type + " is not supported: "), std::string::npos) << refusal;
    EXPECT_NE(refusal.find(why), std::string::npos) << refusal;
    EXPECT_EQ(refusal.find("--as"), std::string::npos) << refusal;  // although the tensors fit Llama
  }
  // Advice for a head that is not known names the task that converts.
  Change(R"({"model_type": "another", "architectures": ["AnotherForSomething"]})");
  EXPECT_NE(Refusal().find(" with --task embedding converts it so"), std::string::npos) << Refusal();
}

TEST_F(Published, TiedHeads) {
  Copy("gpt2");
  const std::vector<uint8_t> expected = Blob();
  EXPECT_EQ(FindingsOn(Topic::kTied),
            std::vector<std::string>{"the head takes the table of embeddings, transformer.wte.weight"});
  ChangeWeights([](Tensors& tensors) { tensors["lm_head.weight"] = tensors.at("transformer.wte.weight"); });
  EXPECT_EQ(Blob(), expected);
  EXPECT_TRUE(report_.warnings.empty());
  EXPECT_TRUE(report_.unused.empty());
  ChangeWeights([](Tensors& tensors) {
    tensors["lm_head.weight"] = tensors.at("transformer.wte.weight");
    tensors["lm_head.weight"].second[3] += 1;
  });
  EXPECT_EQ(Blob(), expected);
  ASSERT_EQ(report_.warnings.size(), 1u);
  EXPECT_NE(report_.warnings[0].find("tensor lm_head.weight differs from transformer.wte.weight"), std::string::npos);
  Change(R"({"tie_word_embeddings": false})");
  EXPECT_NE(Blob(), expected);
  EXPECT_TRUE(FindingsOn(Topic::kTied).empty());
}

TEST_F(Published, MultilingualT5) {
  Copy("t5-v1_1");
  const auto logits = [&] {
    return test::RunReference(test::SecondReader(Blob("encoder")), {{"input_ids", {5, 80, 2, 7, 19}}}, 5)
        .values.at("last_hidden_state");
  };
  const std::vector<double> expected = logits();
  // The defaults of mT5's class.
  Change(R"({"model_type": "mt5", "tie_word_embeddings": null, "feed_forward_proj": null, "dense_act_fn": null,
             "is_gated_act": null})");
  EXPECT_EQ(logits(), expected);
  Blob();
  EXPECT_TRUE(FindingsOn(Topic::kTied).empty());
  // UMT5 with the same bias in every layer is mT5; with another bias in one layer it is not.
  Change(R"({"model_type": "umt5"})");
  EXPECT_NE(Refusal().find("block.1.layer.0.SelfAttention.relative_attention_bias.weight"), std::string::npos);
  const auto copy = [](Tensors& tensors) {
    for (const std::string& side : {std::string("encoder"), std::string("decoder")}) {
      const std::string end = ".layer.0.SelfAttention.relative_attention_bias.weight";
      for (const char* layer : {"1", "2"})
        tensors[side + ".block." + layer + end] = tensors.at(side + ".block.0" + end);
    }
    tensors.erase("decoder.block.2.layer.0.SelfAttention.relative_attention_bias.weight");
  };
  ChangeWeights(copy);
  EXPECT_EQ(logits(), expected);
  Blob();
  ChangeWeights([&](Tensors& tensors) {
    copy(tensors);
    for (float& value : tensors.at("encoder.block.2.layer.0.SelfAttention.relative_attention_bias.weight").second) {
      value = -value;
    }
  });
  EXPECT_NE(logits(), expected);
}

TEST_F(Published, BartWithoutItsName) {
  Copy("bart");
  const std::vector<uint8_t> expected = Blob();
  Rename("model.", "");
  EXPECT_NE(Blob(), expected);  // names of tensors are in the blob
  const auto states = [&] {
    return test::RunReference(test::SecondReader(Blob("encoder")), {{"input_ids", {5, 80, 2, 7, 19}}}, 5)
        .values.at("last_hidden_state");
  };
  const std::vector<double> here = states();
  Change(R"({"architectures": ["BartModel"]})");
  Blob();
  EXPECT_TRUE(Found(Topic::kNotUsed, "the decoder: --task seq2seq-lm converts it"));
  Copy("bart");
  EXPECT_EQ(states(), here);
}

TEST_F(Published, TablesOfPositionsThatDebertaDoesNotAdd) {
  Copy("deberta-v2-mlm");
  const std::string table = "deberta.embeddings.position_embeddings.weight";
  Change(R"({"position_biased_input": false})");
  ChangeWeights([&](Tensors& tensors) { tensors.erase(table); });
  const std::vector<uint8_t> expected = Blob();
  ChangeWeights([&](Tensors& tensors) { tensors[table] = {{2, 2}, {1, 2, 3, 4}}; });
  EXPECT_EQ(Blob(), expected);
}

// Damaged or hostile configurations end in one sentence.
TEST_F(Published, OddConfigurationsAreRefused) {
  Copy("llama");
  for (const char* text :
       {R"({"model_type": "gemma3", "text_config": 7})", R"({"model_type": "gemma3", "text_config": []})",
        R"({"model_type": ["gpt2"], "hidden_size": {}})", R"({"model_type": "hunyuan_v1_dense",
                             "rope_scaling": {"type": "dynamic", "alpha": 1e300}, "num_attention_heads": 0})",
        R"({"model_type": "new", "hidden_size": 1e300, "num_attention_heads": 1,
                             "rope_scaling": {"type": "ntk", "factor": -1}})",
        R"({"model_type": "llama4_text", "layer_types": 5})",
        R"({"model_type": "granitemoehybrid", "layer_types": [1, null]})",
        R"({"model_type": "qwen2_vl", "rope_scaling": "mrope"})",
        R"({"model_type": "mpt", "n_heads": 2, "attn_config": 3})", "[]"}) {
    Write("config.json", text);
    const std::string refusal = Refusal();
    EXPECT_FALSE(refusal.empty()) << text;
    EXPECT_EQ(refusal.find('\n'), std::string::npos) << refusal;
  }
}

}  // namespace
}  // namespace fovea::tools
