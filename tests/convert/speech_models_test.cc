// Published models of speech and pictures with text: variants of the golden models, and how their files specify the
// beginning of a text.
#include "tests/convert/architecture_support.h"
#include "tests/support/model_builder.h"
#include "tools/check/golden_check.h"
#include "tools/convert/description.h"

namespace fovea::tools {
namespace {

class SpeechModel : public Architecture {
 protected:
  std::string Metadata(const std::string& key) const {
    for (const auto& [name, value] : Describe(Options()).metadata) {
      if (name == key) return value;
    }
    return "none";
  }
  // The converted directory gives the results of the golden file.
  void ExpectGolden(const std::string& task = "") {
    const test::AlignedBytes blob(Blob(task));
    const Model model(blob.data(), blob.size(), "model", {});
    CheckOptions options;
    options.cases = {"a"};
    options.skip_unknown = !task.empty();
    size_t compared = 0;
    for (const CheckLine& line :
         CheckGolden(model, SafetensorsReader(golden_ / "golden.safetensors").tensors(), options)) {
      EXPECT_TRUE(line.ok) << LineText(line);
      compared += line.compared ? 1 : 0;
    }
    EXPECT_GE(compared, task.empty() ? 13u : 4u);
  }
};

// As the command converts them: the blob against the same with f32 weights, program by program.
TEST_F(SpeechModel, ComparedWithF32Weights) {
  for (const char* name : {"whisper", "moonshine", "speech_to_text", "trocr"}) {
    Copy(name);
    ConvertOptions options = Options("", DType::kI8);
    options.compare = Comparison::kQuick;
    ConvertReport report;
    BuildBlob(Describe(options), options, report);
    EXPECT_GE(report.outputs.size(), 6u) << name;
    for (const OutputReport& output : report.outputs) EXPECT_GE(output.mean_cosine, 0.98) << name;
  }
}

TEST_F(SpeechModel, WhisperTellsHowTextsBegin) {
  Copy("whisper");
  for (const char* key : {"generate.suppress_ids", "generate.begin_suppress_ids", "transcribe.prompt"}) {
    EXPECT_EQ(Metadata(key), "none");
  }
  Change(
      R"({"bad_words_ids": [[9], [10, 11], [2], [12, 13, 14]], "eos_token_id": 2, "encoder_no_repeat_ngram_size": 3})");
  EXPECT_EQ(Metadata("generate.suppress_ids"), "9");
  EXPECT_EQ(Metadata("generate.bad_words"), "10 11,12 13 14");
  EXPECT_EQ(Metadata("generate.no_repeat_source_ngram"), "3");
  Change(R"({"suppress_tokens": [5, 6], "begin_suppress_tokens": [7], "forced_decoder_ids": [[1, 20], [2, 21]]})");
  EXPECT_EQ(Metadata("generate.suppress_ids"), "5 6");
  EXPECT_EQ(Metadata("generate.begin_suppress_ids"), "7");
  EXPECT_EQ(Metadata("transcribe.prompt"), "20 21");
  // generation_config.json takes precedence.
  Change(R"({"suppress_tokens": [8], "lang_to_id": {"<|en|>": 30, "<|de|>": 31}, "no_timestamps_token_id": 40,
             "task_to_id": {"transcribe": 32, "translate": 33}, "prev_sot_token_id": 41,
             "forced_decoder_ids": [[1, null], [2, 32]]})",
         "generation_config.json");
  EXPECT_EQ(Metadata("generate.suppress_ids"), "8");
  EXPECT_EQ(Metadata("generate.begin_suppress_ids"), "7");
  EXPECT_EQ(Metadata("transcribe.language.en"), "30");
  EXPECT_EQ(Metadata("transcribe.language.de"), "31");
  EXPECT_EQ(Metadata("transcribe.task.translate"), "33");
  EXPECT_EQ(Metadata("transcribe.no_timestamps"), "40");
  EXPECT_EQ(Metadata("transcribe.previous"), "41");
  EXPECT_EQ(Metadata("transcribe.prompt"), "none") << "the language is the model's to find";
  EXPECT_EQ(Metadata("transcribe.median_width"), "7");
  EXPECT_EQ(Metadata("transcribe.samples_per_time"), "none") << "it reads features";
  for (const char* key : {"transcribe.latest_first_time", "transcribe.alignment_heads"}) {
    EXPECT_EQ(Metadata(key), "none");
  }
  Change(R"({"max_initial_timestamp_index": 50, "alignment_heads": [[0, 3], [1, 0]], "median_filter_width": 5})",
         "generation_config.json");
  EXPECT_EQ(Metadata("transcribe.latest_first_time"), "50");
  EXPECT_EQ(Metadata("transcribe.alignment_heads"), "0.3 1.0");
  EXPECT_EQ(Metadata("transcribe.median_width"), "5");
  Write("preprocessor_config.json", R"({"feature_extractor_type": "WhisperFeatureExtractor", "feature_size": 16,
         "hop_length": 200, "chunk_length": 1, "n_samples": 16000})");
  EXPECT_EQ(Metadata("transcribe.samples_per_time"), "400");
  std::filesystem::remove(directory_ / "preprocessor_config.json");
  Change("{}");
  const char* const file = "generation_config.json";
  ExpectRefused("lang_to_id: <|en|> must be", R"({"lang_to_id": {"<|en|>": -1}})", "", file);
  ExpectRefused("lang_to_id", R"({"lang_to_id": [1]})", "", file);
  ExpectRefused("bad_words_ids[1]", R"({"bad_words_ids": [[1], []]})", "", file);
  ExpectRefused("bad_words", R"({"bad_words_ids": [[1, 100000]]})", "", file);
  ExpectRefused("forced_decoder_ids", R"({"forced_decoder_ids": [[1]]})", "", file);
  ExpectRefused("forced_decoder_ids", R"({"forced_decoder_ids": [1]})", "", file);
  ExpectRefused("no_timestamps_token_id", R"({"no_timestamps_token_id": "x"})", "", file);
  ExpectRefused("suppress_tokens: [0] must be a whole number", R"({"suppress_tokens": [-1]})", "", file);
  ExpectRefused("max_initial_timestamp_index", R"({"max_initial_timestamp_index": -1})", "", file);
  ExpectRefused("alignment_heads must be pairs", R"({"alignment_heads": [[1]]})", "", file);
  ExpectRefused("alignment_heads", R"({"alignment_heads": [[1, 64]]})", "", file);
  ExpectRefused("alignment_heads", R"({"alignment_heads": 3})", "", file);
  ExpectRefused("median_filter_width must be an odd number", R"({"median_filter_width": 4})", "", file);
  ExpectRefused("begin_suppress_ids", R"({"begin_suppress_tokens": [130]})", "", file);
}

TEST_F(SpeechModel, WhisperByOtherNames) {
  Copy("whisper");
  ExpectGolden();
  ExpectGolden("encoder");
  ChangeWeights([](Tensors& tensors) { tensors["proj_out.weight"] = tensors.at("model.decoder.embed_tokens.weight"); });
  ExpectGolden();
  ChangeWeights([](Tensors& tensors) {
    Tensors bare;
    for (const auto& [name, tensor] : tensors) bare[name.substr(6)] = tensor;
    tensors = bare;
  });
  ExpectGolden();
  // An untied head.
  Change(R"({"tie_word_embeddings": false})");
  ChangeWeights([](Tensors& tensors) {
    auto& table = tensors.at("model.decoder.embed_tokens.weight");
    tensors["proj_out.weight"] = table;
    for (float& x : tensors.at("proj_out.weight").second) x = -x;
  });
  EXPECT_NO_THROW(Blob());
}

TEST_F(SpeechModel, WhisperRefusesWhatDoesNotFit) {
  Copy("whisper");
  ExpectRefused("filters of 48 numbers", R"({"num_mel_bins": 7})");
  ExpectRefused("filters of 48 numbers", R"({"num_mel_bins": 0})");
  ExpectRefused("no tensor model.encoder.layers.2", R"({"encoder_layers": 3})");
  ExpectRefused("encoder_layers must be", R"({"encoder_layers": 16000000})");
  ExpectRefused("decoder_attention_heads must be", R"({"decoder_attention_heads": 0})");
  ChangeWeights([](Tensors& tensors) { tensors["model.encoder.gate.weight"] = {{2}, {1, 2}}; });
  ExpectRefused("model.encoder.gate.weight", "{}");
}

TEST_F(SpeechModel, SpeechToTextConvolutions) {
  Copy("speech_to_text");
  ExpectGolden();
  ExpectGolden("encoder");
  ExpectRefused("conv_kernel_sizes", R"({"conv_kernel_sizes": [5, 4]})");
  ExpectRefused("0 convolutions", R"({"conv_kernel_sizes": [], "num_conv_layers": 0})");
  ExpectRefused("num_conv_layers", R"({"num_conv_layers": 3})");
  ExpectRefused("conv_kernel_sizes", R"({"conv_kernel_sizes": 5})");
  ExpectRefused("filters over 12 x 5", R"({"input_feat_per_channel": 12})");
  ExpectRefused("filters over 13 x 3", R"({"conv_kernel_sizes": [3, 3]})");
}

TEST_F(SpeechModel, MoonshineHeads) {
  Copy("moonshine");
  ExpectGolden();
  ExpectGolden("encoder");
  // Columns of zeros in the matrix products.
  Change(R"({"pad_head_dim_to_multiple_of": 8})");
  ExpectGolden();
  ExpectRefused("different numbers of heads", R"({"decoder_num_attention_heads": 2})");
  ExpectRefused("encoder_num_attention_heads must be", R"({"encoder_num_attention_heads": 0})");
  ExpectRefused("rotary positions of", R"({"partial_rotary_factor": 0.7})");
  ChangeWeights([](Tensors& tensors) {
    tensors["model.encoder.layers.0.self_attn.q_proj.bias"] = {{30}, std::vector<float>(30, 1.0f)};
  });
  ExpectRefused("attention_bias", "{}");
}

TEST_F(SpeechModel, PartsOfAVisionEncoderDecoder) {
  Copy("trocr");
  ExpectGolden();
  ExpectGolden("encoder");
  EXPECT_EQ(Metadata("generate.start"), "2");
  EXPECT_EQ(Metadata("max_positions"), "48");
  ExpectRefused("encoder: model_type bert", R"({"encoder": {"model_type": "bert"}})");
  ExpectRefused("decoder: model_type gpt2", R"({"decoder": {"model_type": "gpt2"}})");
  ExpectRefused("decoder", R"({"decoder": null})");
  ExpectRefused("enc_to_dec_proj", R"({"decoder": {"cross_attention_hidden_size": null}})");
  ExpectRefused("is_decoder", R"({"decoder": {"is_decoder": false}})");
  ExpectRefused("not supported", R"({"decoder": {"activation_function": "mish"}})");
  // An older file has this in the decoder's part alone.
  std::filesystem::remove(directory_ / "generation_config.json");
  Change(R"({"decoder_start_token_id": null, "decoder": {"decoder_start_token_id": 5, "eos_token_id": 6}})");
  EXPECT_EQ(Metadata("generate.start"), "5");
  EXPECT_EQ(Metadata("generate.stop_ids"), "6");
}

// Keys and values of another width come from a layer between both parts, where there is one.
TEST_F(SpeechModel, AProjectionBetweenThePartsIsAppliedFirst) {
  Copy("trocr");
  Change(R"({"decoder": {"cross_attention_hidden_size": null}})");
  ChangeWeights([](Tensors& tensors) {
    // The first 30 of 35 columns are the encoder's.
    std::vector<float> wide(35 * 30);
    for (size_t i = 0; i < 30; ++i) wide[i * 30 + i] = 1;
    tensors["enc_to_dec_proj.weight"] = {{35, 30}, wide};
    tensors["enc_to_dec_proj.bias"] = {{35}, std::vector<float>(35, 0.0f)};
    for (auto& [name, tensor] : tensors) {
      if (name.find("encoder_attn.k_proj.weight") == std::string::npos &&
          name.find("encoder_attn.v_proj.weight") == std::string::npos) {
        continue;
      }
      std::vector<float> rows;
      for (size_t row = 0; row < 35; ++row) {
        for (size_t i = 0; i < 35; ++i) rows.push_back(i < 30 ? tensor.second[row * 30 + i] : 3.0f);
      }
      tensor = {{35, 35}, rows};
    }
  });
  ExpectGolden();
}

}  // namespace
}  // namespace fovea::tools
