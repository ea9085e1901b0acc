// Settings of generation in published directories: followed as metadata, named where they are not, by the file that the
// original library reads (transformers' GenerationConfig).
#include <algorithm>

#include "tests/convert/architecture_support.h"
#include "tools/convert/description.h"

namespace fovea::tools {
namespace {

class GenerationSettings : public Architecture {
 protected:
  // The directory with these files in place of the golden ones.
  Description With(const std::string& generation, const char* config = "{}") {
    Change(config);
    if (generation.empty()) {
      std::filesystem::remove(directory_ / "generation_config.json");
    } else {
      Write("generation_config.json", generation);
    }
    return Describe(Options());
  }
  static std::string Entry(const Description& description, const std::string& key) {
    for (const auto& [name, value] : description.metadata) {
      if (name == key) return value;
    }
    return "none";
  }
  static std::string Found(const Description& description, Topic topic) {
    std::string all;
    for (const Finding& finding : description.findings) {
      if (finding.topic == topic) all += finding.text + "\n";
    }
    return all;
  }
  static std::string Warnings(const Description& description) {
    std::string all;
    for (const std::string& warning : description.warnings) all += warning + "\n";
    return all;
  }
  static bool Has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
};

TEST_F(GenerationSettings, OfADecoderAreFollowed) {
  Copy("llama");
  const Description made = With(R"({"max_new_tokens": 7, "min_new_tokens": 3, "repetition_penalty": 1.25,
      "no_repeat_ngram_size": 2, "encoder_no_repeat_ngram_size": 4, "num_beams": 3, "length_penalty": 0.5,
      "early_stopping": "never", "stop_strings": ["\n\n", "END"], "eos_token_id": [2, 5], "forced_eos_token_id": [5, 2],
      "bad_words_ids": [[5], [9], [10, 11]], "suppress_tokens": [8], "begin_suppress_tokens": [7]})");
  EXPECT_EQ(Entry(made, "generate.max_tokens"), "7");
  EXPECT_EQ(Entry(made, "generate.min_tokens"), "4") << "the token that ends a text is not one of min_new_tokens";
  EXPECT_EQ(Entry(made, "generate.repetition_penalty"), "1.25");
  EXPECT_EQ(Entry(made, "generate.no_repeat_ngram"), "2");
  EXPECT_EQ(Entry(made, "generate.no_repeat_source_ngram"), "4");
  EXPECT_EQ(Entry(made, "generate.beams"), "3");
  EXPECT_EQ(Entry(made, "generate.length_penalty"), "0.5");
  EXPECT_EQ(Entry(made, "generate.early_stopping"), "never");
  EXPECT_EQ(Json::parse(Entry(made, "generate.stop_strings")), Json({"\n\n", "END"}));
  EXPECT_EQ(Entry(made, "generate.stop_ids"), "2 5");
  EXPECT_EQ(Entry(made, "generate.last_id"), "2") << "of equal scores the lowest token is taken";
  EXPECT_EQ(Entry(made, "generate.suppress_ids"), "8 9") << "an end of texts is no bad word";
  EXPECT_EQ(Entry(made, "generate.bad_words"), "10 11");
  EXPECT_EQ(Entry(made, "generate.begin_suppress_ids"), "7");
  EXPECT_EQ(Warnings(made), "");
  EXPECT_TRUE(Has(Found(made, Topic::kGeneration), "followed: max_new_tokens 7, min_new_tokens 3"));
  EXPECT_NO_THROW(Blob());
}

TEST_F(GenerationSettings, CountThePromptOfADecoder) {
  Copy("llama");
  const Description made = With(R"({"max_length": 50, "min_length": 9, "eos_token_id": 2})");
  EXPECT_EQ(Entry(made, "generate.max_length"), "50");
  EXPECT_EQ(Entry(made, "generate.min_length"), "9");
  EXPECT_EQ(Entry(made, "generate.max_tokens"), "none");
  EXPECT_EQ(Entry(made, "generate.min_tokens"), "none");
  EXPECT_FALSE(Has(Found(made, Topic::kGeneration), "no limit of tokens"));
  // The library's own default.
  const Description usual = With(R"({"max_length": 20, "eos_token_id": 2})");
  EXPECT_EQ(Entry(usual, "generate.max_length"), "none");
  EXPECT_TRUE(Has(Found(usual, Topic::kGeneration), "no limit of tokens"));
  Copy("t5");
  const Description translator = With(R"({"max_length": 50, "min_length": 9, "decoder_start_token_id": 0})");
  EXPECT_EQ(Entry(translator, "generate.max_tokens"), "49") << "the start token counts";
  EXPECT_EQ(Entry(translator, "generate.min_tokens"), "9");
  EXPECT_EQ(Entry(translator, "generate.max_length"), "none");
}

TEST_F(GenerationSettings, ThatAreNotAppliedAreNamed) {
  Copy("llama");
  for (const char* setting : {R"("encoder_repetition_penalty": 1.5)",
                              R"("num_beam_groups": 2)",
                              R"("penalty_alpha": 0.6)",
                              R"("guidance_scale": 1.5)",
                              R"("num_return_sequences": 2)",
                              R"("sequence_bias": [[[5], -2.0]])",
                              R"("exponential_decay_length_penalty": [3, 1.1])",
                              R"("watermarking_config": {"bias": 2.0})",
                              R"("force_words_ids": [[5]])",
                              R"("constraints": [1])",
                              R"("dola_layers": "low")",
                              R"("max_time": 2.5)",
                              R"("token_healing": true)",
                              R"("cache_implementation": "quantized")",
                              R"("forced_bos_token_id": 5)",
                              R"("forced_decoder_ids": [[1, 5]])",
                              R"("num_beams": 2, "renormalize_logits": true)",
                              R"("do_sample": true, "typical_p": 0.9)",
                              R"("do_sample": true, "epsilon_cutoff": 0.001)",
                              R"("do_sample": true, "eta_cutoff": 0.001)",
                              R"("do_sample": true, "top_h": 0.4)"}) {
    const std::string json = setting, warnings = Warnings(With("{\"eos_token_id\": 2, " + json + "}"));
    const size_t end = json.rfind("\": "), begin = json.rfind('"', end - 1) + 1;
    const std::string key =
        json.find("\"bias\"") != std::string::npos ? "watermarking_config" : json.substr(begin, end - begin);
    EXPECT_TRUE(Has(warnings, key + " ")) << json << ": " << warnings;
    // An older directory has the same keys in config.json.
    EXPECT_TRUE(Has(Warnings(With("", ("{" + json + "}").c_str())), key + " ")) << json;
  }
}

TEST_F(GenerationSettings, OfSamplingComeWithTheOptionsThatDoTheSame) {
  Copy("llama");
  std::string warnings = Warnings(With(R"({"do_sample": true, "temperature": 0.6, "top_p": 0.9, "eos_token_id": 2})"));
  EXPECT_TRUE(Has(warnings, "fovea generate --temperature 0.6 --top-k 50 --top-p 0.9 samples")) << warnings;
  warnings = Warnings(With(R"({"do_sample": true, "top_k": 0, "min_p": 0.05, "eos_token_id": 2})"));
  EXPECT_TRUE(Has(warnings, "fovea generate --temperature 1 --min-p 0.05 samples")) << warnings;
  // Without sampling they change nothing.
  const Description greedy = With(R"({"do_sample": false, "temperature": 0.6, "typical_p": 0.9, "eos_token_id": 2})");
  EXPECT_EQ(Warnings(greedy), "");
  EXPECT_TRUE(Has(Found(greedy, Topic::kNoEffect), "temperature 0.6, typical_p 0.9"));
}

TEST_F(GenerationSettings, WithUsualValuesAreSilent) {
  Copy("llama");
  const Description made = With(R"({"eos_token_id": 2, "repetition_penalty": 1.0, "num_beams": 1, "top_k": 50,
      "diversity_penalty": 0.0, "do_sample": false, "max_new_tokens": 5, "min_length": 0, "use_cache": true,
      "sequence_bias": null, "bad_words_ids": null, "guidance_scale": 1, "renormalize_logits": false,
      "stop_strings": [], "transformers_version": "4.57.3", "temperature": 1.0, "num_assistant_tokens": 20})");
  EXPECT_EQ(Warnings(made), "");
  EXPECT_EQ(Found(made, Topic::kNoEffect), "");
  EXPECT_EQ(Found(made, Topic::kNotUsed), "");
  for (const char* key : {"repetition_penalty", "beams", "min_length", "min_tokens", "stop_strings"}) {
    EXPECT_EQ(Entry(made, std::string("generate.") + key), "none") << key;
  }
  const Description speed = With(R"({"eos_token_id": 2, "use_cache": false, "prompt_lookup_num_tokens": 10,
      "cache_implementation": "hybrid", "user_token_id": 195})");
  EXPECT_EQ(Warnings(speed), "");
  EXPECT_TRUE(Has(Found(speed, Topic::kNoEffect), "use_cache false, cache_implementation \"hybrid\", prompt_lookup"));
  EXPECT_TRUE(Has(Found(speed, Topic::kNotUsed), "unknown keys: user_token_id"));
}

TEST_F(GenerationSettings, ComeFromTheFileThatTheOriginalReads) {
  Copy("t5");
  const char* const config = R"({"num_beams": 4, "max_length": 200, "eos_token_id": 1})";
  // generation_config.json alone.
  const Description own = With(R"({"eos_token_id": 1, "decoder_start_token_id": 0, "num_beams": 2})", config);
  EXPECT_EQ(Entry(own, "generate.beams"), "2");
  EXPECT_EQ(Entry(own, "generate.max_tokens"), "none");
  EXPECT_TRUE(
      Has(Found(own, Topic::kFiles), "config.json: max_length 200, num_beams 4; followed is generation_config"));
  // Made of config.json.
  const Description made =
      With(R"({"_from_model_config": true, "eos_token_id": 1, "decoder_start_token_id": 0})", config);
  EXPECT_EQ(Entry(made, "generate.beams"), "4");
  EXPECT_EQ(Entry(made, "generate.max_tokens"), "199");
  // Older directories.
  EXPECT_EQ(Entry(With("", config), "generate.beams"), "4");
  // Tokens are taken from both, with a finding.
  const Description token = With(R"({"decoder_start_token_id": 0})", config);
  EXPECT_EQ(Entry(token, "generate.stop_ids"), "1");
  EXPECT_TRUE(Has(Found(token, Topic::kGeneration), "generation_config.json has no eos_token_id"));
}

TEST_F(GenerationSettings, OfTasksAreListed) {
  Copy("t5");
  const Description made =
      With(R"({"decoder_start_token_id": 0, "eos_token_id": 1})",
           R"({"prefix": "go: ", "task_specific_params": {"summarization": {"prefix": "summarize: ",
      "num_beams": 4, "min_length": 30, "max_length": 200, "repetition_penalty": 2.5}}})");
  EXPECT_TRUE(Has(Found(made, Topic::kGeneration), "tasks: summarization; fovea translate --task NAME"));
  EXPECT_TRUE(Has(Found(made, Topic::kPrompts), "prefix \"go: \""));
  EXPECT_EQ(Entry(made, "generate.task.summarization.prefix"), "summarize: ");
  EXPECT_EQ(Entry(made, "generate.task.summarization.min_tokens"), "30");
  EXPECT_EQ(Entry(made, "generate.task.summarization.repetition_penalty"), "2.5");
  EXPECT_NO_THROW(Blob());
  Copy("gpt2");
  const Description decoder =
      With("", R"({"task_specific_params": {"text-generation": {"do_sample": true, "max_length": 50}}})");
  EXPECT_TRUE(Has(Found(decoder, Topic::kGeneration), "settings of tasks (text-generation)"));
}

TEST_F(GenerationSettings, ThatAreDamagedAreRefused) {
  Copy("llama");
  const auto refused = [&](const char* reason, const std::string& generation) {
    Write("generation_config.json", generation);
    try {
      Blob();
      ADD_FAILURE() << generation << " was not refused";
    } catch (const Failure& failure) {
      EXPECT_TRUE(Has(failure.what(), reason)) << failure.what();
    }
  };
  refused("repetition_penalty", R"({"repetition_penalty": 0})");
  refused("repetition_penalty", R"({"repetition_penalty": "x"})");
  refused("num_beams", R"({"num_beams": 257})");
  refused("num_beams", R"({"num_beams": true})");
  refused("max_new_tokens", R"({"max_new_tokens": -1})");
  refused("max_length", R"({"max_length": 1e30})");
  refused("min_new_tokens", R"({"min_new_tokens": 2147483647})");
  refused("min_length", R"({"min_length": [1]})");
  refused("stop_strings", R"({"stop_strings": [7]})");
  refused("stop_strings", R"({"stop_strings": {"a": 1}})");
  refused("forced_eos_token_id", R"({"forced_eos_token_id": [-1]})");
  refused("last_id", R"({"forced_eos_token_id": 100000})");
  refused("no_repeat_ngram_size", R"({"no_repeat_ngram_size": 0.5})");
  refused("generation_config.json", "[1]");
  refused("generation_config.json", "{");
}

TEST_F(GenerationSettings, OfSpeechAreNamedWhereTablesAreMissing) {
  Copy("whisper");
  const std::string none = Found(With(R"({"decoder_start_token_id": 3, "eos_token_id": 2})"), Topic::kGeneration);
  EXPECT_TRUE(Has(none, "no table of languages (lang_to_id)")) << none;
  EXPECT_TRUE(Has(none, "no table of tasks (task_to_id)")) << none;
  EXPECT_TRUE(Has(none, "no no_timestamps_token_id")) << none;
  const std::string tables = R"("decoder_start_token_id": 3, "eos_token_id": 2, "no_timestamps_token_id": 40,
      "lang_to_id": {"<|en|>": 30, "<|de|>": 31}, "task_to_id": {"transcribe": 32, "translate": 33})";
  // One language: as in the original, tables that are there all the same are not looked at.
  const Description english = With("{\"is_multilingual\": false, " + tables + "}");
  EXPECT_EQ(Entry(english, "transcribe.language.en"), "none");
  EXPECT_TRUE(Has(Found(english, Topic::kGeneration), "is_multilingual false"));
  // The fine-tuned model's own language and task.
  const Description german =
      With("{\"is_multilingual\": true, \"language\": \"<|de|>\", \"task\": \"translate\", " + tables + "}");
  EXPECT_EQ(Entry(german, "transcribe.default_language"), "de");
  EXPECT_EQ(Entry(german, "transcribe.default_task"), "translate");
  EXPECT_EQ(Warnings(german), "");
  EXPECT_TRUE(Has(Warnings(With("{\"language\": \"hindi\", " + tables + "}")), "language \"hindi\" is not a name"));
  // English names, as the original takes them.
  for (const char* name : {"german", "German", "DE"}) {
    const Description named =
        With(fmt::format(R"({{"is_multilingual": true, "language": "{}", )", name) + tables + "}");
    EXPECT_EQ(Entry(named, "transcribe.default_language"), "de") << name;
    EXPECT_EQ(Warnings(named), "") << name;
  }
  // The task alone is forced, the language found.
  const Description forced =
      With("{\"is_multilingual\": true, \"forced_decoder_ids\": [[1, null], [2, 33]], " + tables + "}");
  EXPECT_EQ(Entry(forced, "transcribe.default_task"), "translate");
  EXPECT_EQ(Entry(forced, "transcribe.default_language"), "none");
  EXPECT_EQ(Entry(forced, "transcribe.prompt"), "none");
  const Description both =
      With("{\"is_multilingual\": true, \"forced_decoder_ids\": [[1, 31], [2, 32]], " + tables + "}");
  EXPECT_EQ(Entry(both, "transcribe.prompt"), "31 32");
  EXPECT_EQ(Entry(both, "transcribe.default_task"), "none");
  EXPECT_TRUE(Has(Warnings(With("{\"logprob_threshold\": -1.0, " + tables + "}")), "logprob_threshold -1"));
}

}  // namespace
}  // namespace fovea::tools
