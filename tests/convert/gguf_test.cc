// GGUF files convert to what a directory of the same model does: every architecture, every type of elements, their
// tokenizers, and what is refused by name.
#include <gtest/gtest.h>
#include <math.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "tests/convert/graph_support.h"
#include "tests/support/gguf_models.h"
#include "tests/support/paths.h"
#include "tests/support/random_floats.h"
#include "tests/text/text_fixture.h"
#include "tools/base/half.h"
#include "tools/base/mapped_file.h"
#include "tools/convert/compare.h"
#include "tools/convert/convert.h"
#include "tools/convert/text/build.h"
#include "tools/safetensors/safetensors.h"
#include "tools/text/chat_format.h"

namespace fovea::test {
namespace {

using tools::ConvertOptions;
using tools::ConvertReport;
using tools::Json;
using tools::RefusalOf;

std::string Scratch(const std::string& name) {
  return testing::TempDir() + "gguf_" + std::to_string(getpid()) + "_" + name;
}

std::string Written(const GgufWriter& writer) {
  const std::string path = Scratch("model.gguf"), bytes = writer.Bytes();
  tools::WriteFile(path, bytes.data(), bytes.size());
  return path;
}

std::vector<uint8_t> Blob(const std::string& input, ConvertReport* report, DType weights = DType::kF32,
                          const std::string& task = "") {
  ConvertOptions options;
  options.input = input;
  options.task = task;
  options.weights = weights;
  options.compare = tools::Comparison::kNone;
  return tools::BuildBlob(tools::Describe(options), options, *report);
}

// Without warnings.
std::vector<uint8_t> Blob(const std::string& input, DType weights = DType::kF32, const std::string& task = "") {
  ConvertReport report;
  const auto blob = Blob(input, &report, weights, task);
  EXPECT_TRUE(report.warnings.empty()) << report.warnings[0];
  return blob;
}

// ---- architectures ----

struct Model {
  const char* directory;
  const char* architecture;
  bool same_bits = true;  // the file has every number exactly: no roots of scales, no sums of norms and one
};

class GgufModel : public testing::TestWithParam<Model> {};

TEST_P(GgufModel, IsTheModelOfItsDirectory) {
  const std::string directory = InData("hf/") + GetParam().directory;
  const auto found = Blob(Written(GgufOfDirectory(directory, GetParam().architecture)));
  const auto expected = Blob(directory);
  ConvertReport report;
  ConvertOptions options;
  tools::CompareBlobs(expected, found, options, 1, report, {});
  ASSERT_FALSE(report.outputs.empty());
  for (const tools::OutputReport& output : report.outputs) {
    EXPECT_LE(output.max_abs_difference, 1e-4 * output.max_abs + 1e-5) << output.name;
  }
  EXPECT_TRUE(found == expected || !GetParam().same_bits);
}

INSTANTIATE_TEST_SUITE_P(Published, GgufModel,
                         testing::Values(Model{"llama", "llama"}, Model{"llama-linear", "llama"},
                                         Model{"llama-yarn", "llama"}, Model{"llama-rope3", "llama", false},
                                         Model{"mistral", "llama", false}, Model{"qwen2", "qwen2"},
                                         Model{"qwen3", "qwen3"}, Model{"gemma", "gemma", false},
                                         Model{"gemma2", "gemma2", false}, Model{"gemma3", "gemma3", false}),
                         [](const auto& param) {
                           std::string name = param.param.directory;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// These files have no pooler.
TEST(GgufEncoder, IsTheModelOfItsDirectory) {
  const std::string like = InData("hf/bert"), directory = Scratch("bert");
  const GgufWriter writer = GgufOfDirectory(like, "bert");
  WriteDirectoryOf(writer.Bytes(), "bert", like, directory);
  EXPECT_TRUE(Blob(Written(writer)) == Blob(directory));
}

TEST(GgufEncoder, PoolsAsTheFileSays) {
  for (const uint32_t type : {1u, 2u, 3u}) {
    GgufWriter writer = GgufOfDirectory(InData("hf/bert"), "bert");
    writer.Number("bert.pooling_type", type);
    ConvertOptions options;
    options.input = Written(writer);
    const tools::Description description = tools::Describe(options);
    const tools::Operation& last = description.programs[0].operations.back();
    EXPECT_EQ(last.op, "pool");
    EXPECT_EQ(last.attributes["kind"], type == 1 ? "mean" : type == 2 ? "first" : "last");
    EXPECT_EQ(description.programs[0].outputs, std::vector<std::string>{"sentence_embedding"});
    Blob(options.input);
    options.task = "embedding";
    EXPECT_EQ(tools::Describe(options).programs[0].outputs[0], "last_hidden_state");
  }
  GgufWriter writer = GgufOfDirectory(InData("hf/bert"), "bert");
  writer.Number("bert.pooling_type", 4);
  EXPECT_NE(RefusalOf([&] { Blob(Written(writer)); }).find("bert.pooling_type 4 is not supported"), std::string::npos);
}

// A directory with random weights, because no golden model is this wide.
std::string RandomDirectory(const std::string& name, const Json& config,
                            const std::vector<std::pair<std::string, std::vector<uint64_t>>>& tensors) {
  const std::string directory = Scratch(name);
  std::filesystem::create_directories(directory);
  const std::string text = config.dump();
  tools::WriteFile(directory + "/config.json", text.data(), text.size());
  tools::SafetensorsWriter writer;
  uint32_t seed = 0;
  for (const auto& [tensor, shape] : tensors) {
    uint64_t count = 1;
    for (const uint64_t dimension : shape) count *= dimension;
    writer.AddFloats(tensor, shape, RandomFloats(count, 0.1f, ++seed).data());
  }
  writer.Write(directory + "/model.safetensors");
  return directory;
}

TEST(GgufEncoder, NomicBertIsTheModelOfItsDirectory) {
  const Json config = {{"model_type", "nomic_bert"},
                       {"architectures", {"NomicBertModel"}},
                       {"n_embd", 24},
                       {"n_head", 3},
                       {"n_inner", 20},
                       {"n_layer", 1},
                       {"n_positions", 64},
                       {"layer_norm_epsilon", 0.5},
                       {"activation_function", "swiglu"},
                       {"rotary_emb_fraction", 1.0},
                       {"rotary_emb_base", 1000}};
  const std::string layer = "encoder.layers.0.";
  const std::string directory = RandomDirectory("nomic", config,
                                                {{"embeddings.word_embeddings.weight", {30, 24}},
                                                 {"embeddings.token_type_embeddings.weight", {2, 24}},
                                                 {"emb_ln.weight", {24}},
                                                 {"emb_ln.bias", {24}},
                                                 {layer + "attn.Wqkv.weight", {72, 24}},
                                                 {layer + "attn.out_proj.weight", {24, 24}},
                                                 {layer + "norm1.weight", {24}},
                                                 {layer + "norm1.bias", {24}},
                                                 {layer + "mlp.fc11.weight", {20, 24}},
                                                 {layer + "mlp.fc12.weight", {20, 24}},
                                                 {layer + "mlp.fc2.weight", {24, 20}},
                                                 {layer + "norm2.weight", {24}},
                                                 {layer + "norm2.bias", {24}}});
  EXPECT_TRUE(Blob(Written(GgufOfDirectory(directory, "nomic-bert"))) == Blob(directory));
}

// ---- types of elements ----

std::string WideLlama() {
  const Json config = {{"model_type", "llama"},
                       {"architectures", {"LlamaForCausalLM"}},
                       {"hidden_size", 256},
                       {"intermediate_size", 256},
                       {"num_hidden_layers", 1},
                       {"num_attention_heads", 4},
                       {"num_key_value_heads", 2},
                       {"head_dim", 64},
                       {"max_position_embeddings", 64},
                       {"rms_norm_eps", 0.5},
                       {"rope_theta", 10000.0},
                       {"bos_token_id", 1},
                       {"eos_token_id", 2},
                       {"vocab_size", 40},
                       {"tie_word_embeddings", true}};
  const std::string at = "model.layers.0.";
  return RandomDirectory("wide", config,
                         {{"model.embed_tokens.weight", {40, 256}},
                          {"model.norm.weight", {256}},
                          {at + "input_layernorm.weight", {256}},
                          {at + "post_attention_layernorm.weight", {256}},
                          {at + "self_attn.q_proj.weight", {256, 256}},
                          {at + "self_attn.k_proj.weight", {128, 256}},
                          {at + "self_attn.v_proj.weight", {128, 256}},
                          {at + "self_attn.o_proj.weight", {256, 256}},
                          {at + "mlp.gate_proj.weight", {256, 256}},
                          {at + "mlp.up_proj.weight", {256, 256}},
                          {at + "mlp.down_proj.weight", {256, 256}}});
}

// Tied embeddings, no output.weight; the decoded blocks equal the values that a directory would hold, in every weight
// type of blobs. (gguf_reader_test checks the decoding.)
TEST(GgufTypes, ValuesAreThoseOfTheBlocks) {
  const std::string like = WideLlama(), directory = Scratch("values");
  for (const uint32_t type : {1u, 30u, 8u, 2u, 12u, 14u}) {
    const GgufWriter writer = GgufOfDirectory(like, "llama", type);
    WriteDirectoryOf(writer.Bytes(), "llama", like, directory);
    for (const DType weights : {DType::kF32, DType::kF16, DType::kI8}) {
      EXPECT_TRUE(Blob(Written(writer), weights) == Blob(directory, weights)) << type;
    }
  }
}

// A file of blocks of Q4_0 with this scale and these numbers of four bits.
ConvertReport OfFourBits(float scale, const std::function<int(size_t)>& number) {
  GgufWriter writer = GgufOfDirectory(WideLlama(), "llama", 2);
  for (GgufEntry& entry : writer.entries) {
    if (entry.type != 2) continue;
    for (size_t at = 0; at < entry.bytes.size(); at += 18) {
      entry.bytes.replace(at, 2, Raw(tools::ToHalf(scale)));
      for (size_t i = 0; i < 16; ++i)
        entry.bytes[at + 2 + i] = static_cast<char>(number(at + i) | number(at + 50 + i) << 4);
    }
  }
  ConvertReport report;
  Blob(Written(writer), &report, DType::kI4);
  return report;
}

double WorstOfLayers(const ConvertReport& report) {
  double worst = 0;
  size_t counted = 0;
  for (const tools::TensorReport& tensor : report.tensors) {
    if (tensor.name.find("layers.0.") == std::string::npos || tensor.type != DType::kI4) continue;
    worst = std::max(worst, tensor.error.max_abs);
    ++counted;
  }
  EXPECT_EQ(counted, 7u);
  return worst;
}

TEST(GgufTypes, FourBitsStayAsTheyAreWhereTheirScaleFits) {
  // bf16 holds the scale: any numbers, also blocks whose largest one is neither -8 nor 7.
  const float scale = 0.0390625f * 1.28125f;
  ASSERT_EQ(scale, tools::FromBf16(tools::ToBf16(scale)));
  EXPECT_EQ(WorstOfLayers(OfFourBits(scale, [](size_t i) { return static_cast<int>(i * 7 % 16); })), 0);
  EXPECT_EQ(WorstOfLayers(OfFourBits(scale, [](size_t i) { return static_cast<int>(3 + i * 3 % 11); })), 0);
  EXPECT_EQ(WorstOfLayers(OfFourBits(-scale, [](size_t i) { return static_cast<int>(1 + i * 7 % 15); })), 0);
  // The blob's int4 holds neither +8 nor a scale of more digits.
  EXPECT_GT(WorstOfLayers(OfFourBits(-scale, [](size_t i) { return static_cast<int>(i * 7 % 16); })), 0);
  EXPECT_GT(WorstOfLayers(OfFourBits(scale * 1.003f, [](size_t i) { return static_cast<int>(i * 7 % 16); })), 0);
}

// ---- tokenizers ----

// A tokenizer converted from this file splits texts as the directory's tokenizer does.
void ExpectSameIds(const GgufWriter& writer, const std::string& directory, bool special_tokens = true) {
  ConvertOptions options;
  options.input = Written(writer);
  const tools::Description description = tools::Describe(options);
  ASSERT_TRUE(description.warnings.empty()) << description.warnings[0];
  ASSERT_NE(description.text, nullptr);
  const TextSection found(tools::BuildTextSection(*description.text, 0)), expected(tools::BuildTextSection(directory));
  ASSERT_TRUE(found.ok()) << found.error();
  ASSERT_TRUE(expected.ok());
  std::vector<std::string> texts = {
      "", " ", "Hello  World, it's 12345!\n\n x", "<s>a</s>", "[CLS] b [MASK]", "<|endoftext|>"};
  const Json golden = tools::ReadJson(InData("tokenizers/bpe-llama3/expected.json"));
  for (const Json& one : golden["strings"]) texts.push_back(one["text"]);
  size_t differing = 0;
  for (const std::string& text : texts) {
    const std::vector<int> ids = expected.Encode(text, special_tokens).ids;
    if (found.Encode(text, special_tokens).ids != ids && ++differing <= 5)
      ADD_FAILURE() << directory << ": " << Json(text).dump();
    const auto decoded = [&](const TextSection& section) { return section.DecodeInParts(ids, 1 << 20); };
    EXPECT_EQ(decoded(found), decoded(expected)) << text;
  }
  EXPECT_EQ(differing, 0u) << "of " << texts.size();
}

GgufWriter Llama() { return GgufOfDirectory(InData("hf/llama"), "llama"); }

TEST(GgufTokenizer, BytePairs) {
  const struct {
    const char *directory, *pre;
    int begins;  // the id, where there is one
  } cases[] = {{"bpe-gpt2", "gpt-2", -1}, {"bpe-llama3", "llama-bpe", 1660}, {"bpe-qwen2", "qwen2", -1}};
  for (const auto& c : cases) {
    const std::string directory = InData("tokenizers/") + c.directory;
    GgufWriter writer = Llama();
    AddBytePairs(directory + "/tokenizer.json", c.pre, &writer);
    if (c.begins >= 0) writer.Number("tokenizer.ggml.bos_token_id", static_cast<uint32_t>(c.begins));
    ExpectSameIds(writer, directory);
  }
}

TEST(GgufTokenizer, OfOurOwnModels) {
  const std::string writer_model = InSource("tools/train/package-writer");
  GgufWriter decoder = Llama();
  AddBytePairs(writer_model + "/tokenizer.json", "gpt-2", &decoder);
  ExpectSameIds(decoder, writer_model);
  const std::string section_model = InSource("tools/train/package-section");
  GgufWriter encoder = GgufOfDirectory(InData("hf/bert"), "bert");
  AddWordPieces(section_model + "/vocab.txt", &encoder);
  ExpectSameIds(encoder, section_model);
}

TEST(GgufTokenizer, WordPieces) {
  for (const char* name : {"wordpiece-uncased", "wordpiece-cased"}) {
    const std::string directory = InData("tokenizers/") + name;
    GgufWriter writer = GgufOfDirectory(InData("hf/bert"), "bert");
    AddWordPieces(directory + "/vocab.txt", &writer);
    ExpectSameIds(writer, directory);
  }
}

TEST(GgufTokenizer, SentencePieces) {
  GgufWriter llama = Llama();
  AddSentencePieces(InData("tokenizers/spbpe-llama/tokenizer.model"), &llama);
  ExpectSameIds(llama, InData("tokenizers/spbpe-llama"));
  GgufWriter gemma = Llama();
  AddSentencePieces(InData("tokenizers/spbpe-gemma/tokenizer.model"), &gemma);
  gemma.Flag("tokenizer.ggml.add_space_prefix", false);
  gemma.Number("tokenizer.ggml.bos_token_id", 2);
  ExpectSameIds(gemma, InData("tokenizers/spbpe-gemma"));
}

TEST(GgufTokenizer, AddsWhatTheFileSays) {
  GgufWriter writer = Llama();
  AddBytePairs(InData("tokenizers/bpe-gpt2/tokenizer.json"), "gpt-2", &writer);
  writer.Flag("tokenizer.ggml.add_bos_token", true);
  writer.Flag("tokenizer.ggml.add_eos_token", true);
  ConvertOptions options;
  options.input = Written(writer);
  const TextSection section(tools::BuildTextSection(*tools::Describe(options).text, 0));
  const std::vector<int> plain = section.Encode("some words", false).ids;
  std::vector<int> wrapped = {1};
  wrapped.insert(wrapped.end(), plain.begin(), plain.end());
  wrapped.push_back(2);
  EXPECT_EQ(section.Encode("some words").ids, wrapped);
}

TEST(GgufTokenizer, WhatIsNotKnownIsAWarning) {
  const auto warning = [](const GgufWriter& writer) {
    ConvertReport report;
    Blob(Written(writer), &report);
    return report.warnings.empty() ? "" : report.warnings[0];
  };
  GgufWriter writer = Llama();
  AddBytePairs(InData("tokenizers/bpe-gpt2/tokenizer.json"), "gpt-2", &writer);
  // The tokenizer is read, but has more tokens than the model.
  EXPECT_NE(RefusalOf([&] { warning(writer); }).find("the tokenizer has ids up to"), std::string::npos);
  writer.Text("tokenizer.ggml.pre", "my-own");
  EXPECT_NE(warning(writer).find("accepts only token ids"), std::string::npos);
  EXPECT_NE(warning(writer).find("tokenizer.ggml.pre my-own is not supported"), std::string::npos);
  writer.Remove("tokenizer.ggml.pre");
  EXPECT_NE(warning(writer).find("tokenizer.ggml.pre is missing"), std::string::npos);
  writer.Text("tokenizer.ggml.model", "rwkv");
  EXPECT_NE(warning(writer).find("tokenizer.ggml.model rwkv is not supported"), std::string::npos);
  writer.Texts("tokenizer.ggml.tokens", {"a", "\xff"});
  EXPECT_NE(warning(writer).find("tokenizer.ggml.tokens[1] is not UTF-8"), std::string::npos);
}

// ---- metadata ----

std::string MetadataOf(const GgufWriter& writer, const std::string& key) {
  ConvertReport report;
  Blob(Written(writer), &report);
  for (const auto& [name, value] : report.metadata) {
    if (name == key) return value;
  }
  return "none";
}

TEST(GgufMetadata, TokensThatEndTextsAndTheChatTemplate) {
  GgufWriter writer = Llama();
  EXPECT_EQ(MetadataOf(writer, "generate.stop_ids"), "2");
  EXPECT_EQ(MetadataOf(writer, "chat_template"), "none");
  writer.Number("tokenizer.ggml.eot_token_id", 7);
  writer.Number("tokenizer.ggml.eom_token_id", 2);
  const std::string chat = "{% for m in messages %}{{'<|im_start|>' + m['role'] + eos_token}}{% endfor %}";
  writer.Text("tokenizer.chat_template", chat);
  EXPECT_EQ(MetadataOf(writer, "generate.stop_ids"), "2 7");
  EXPECT_EQ(MetadataOf(writer, "generate.start"), "1");
  EXPECT_EQ(MetadataOf(writer, "pad_token_id"), "0");
  EXPECT_EQ(MetadataOf(writer, "chat_template"), chat);
  EXPECT_EQ(MetadataOf(writer, "chat_special_tokens"), "tokenizer");
}

TEST(GgufMetadata, WhatIsNotKnownIsRefusedByName) {
  const auto refused = [](const auto& change) {
    GgufWriter writer = Llama();
    change(writer);
    const std::string path = Written(writer);
    std::string said = RefusalOf([&] { Blob(path); });
    EXPECT_EQ(said.find('\n'), std::string::npos);
    return said.compare(0, path.size() + 2, path + ": ") == 0 ? said.substr(path.size() + 2) : said;
  };
  using W = GgufWriter;
  const auto expect = [&](const std::string& message, const auto& change) {
    EXPECT_EQ(refused(change).rfind(message, 0), 0u) << refused(change) << "\nnot " << message;
  };
  expect("nothing was refused", [](W&) {});
  expect("general.architecture mamba is not supported: it is a state-space model (Mamba); these are: llama, mistral3,",
         [](W& w) { w.Text("general.architecture", "mamba"); });
  expect("general.architecture must be a string", [](W& w) { w.Remove("general.architecture"); });
  expect("general.type adapter is not supported", [](W& w) { w.Text("general.type", "adapter"); });
  expect("split.count: this is file 1 of 3, whose name must end in -00001-of-00003.gguf",
         [](W& w) { w.Number("split.count", 3); });
  expect("llama.block_count must be a whole number", [](W& w) { w.Number("llama.block_count", 5000); });
  expect("llama.attention.head_count must be one number, or the same number for each of", [](W& w) {
    w.List<int32_t>("llama.attention.head_count", 5, {4, 4, 2});
  });
  expect("llama.rope.scaling.type longrope is not supported", [](W& w) {
    w.Text("llama.rope.scaling.type", "longrope");
    w.Real("llama.rope.scaling.factor", 2);
  });
  expect("llama.rope.scaling.yarn_log_multiplier is not supported",
         [](W& w) { w.Real("llama.rope.scaling.yarn_log_multiplier", 0.1f); });
  expect("llama.rope.scaling.factor without rope.scaling.type", [](W& w) { w.Real("llama.rope.scaling.factor", 2); });
  expect("llama.rope.scale_linear 4.0 is not supported", [](W& w) { w.Real("llama.rope.scale_linear", 4); });
  expect("llama.rope.dimension_count 8 is not supported", [](W& w) { w.Number("llama.rope.dimension_count", 8); });
  expect("llama.attention.value_length 8 is not supported", [](W& w) { w.Number("llama.attention.value_length", 8); });
  expect("llama.attention.temperature_scale is not supported",
         [](W& w) { w.Real("llama.attention.temperature_scale", 0.1f); });
  expect("llama.attention.causal false is not supported", [](W& w) { w.Flag("llama.attention.causal", false); });
  expect("llama.expert_used_count is missing; make the file again with convert_hf_to_gguf.py of llama.cpp",
         [](W& w) { w.Number("llama.expert_count", 8); });
  expect("tensor rope_freqs.weight must be 8 numbers", [](W& w) {
    w.Add({"rope_freqs.weight", {2}, 0, std::string(8, '?')});
  });
  expect("tensor blk.0.ffn_gate_inp.weight is not used by architecture llama", [](W& w) {
    w.Add({"blk.0.ffn_gate_inp.weight", {2}, 0, std::string(8, '?')});
  });
  expect("tensor blk.0.attn_q is not used by architecture llama", [](W& w) {
    w.Add({"blk.0.attn_q", {2}, 0, std::string(8, '?')});
  });
  expect("no tensor", [](W& w) { w.entries.pop_back(); });
}

TEST(GgufMetadata, WhatNeedsNoRefusalIsAWarning) {
  GgufWriter writer = Llama();
  writer.Number("llama.fancy", 1);
  ConvertReport report;
  const std::string path = Written(writer);
  Blob(path, &report);
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_EQ(report.warnings[0], path + ": llama.fancy is unknown and was ignored");
}

TEST(GgufMetadata, OptionsOfOtherInputsAreRefused) {
  ConvertOptions options;
  options.input = Written(Llama());
  options.source = "x";
  EXPECT_EQ(RefusalOf([&] { tools::Describe(options); }), "--source is only for descriptions; leave it out");
  options.source = "";
  options.image_sizes = {"8x8"};
  EXPECT_EQ(RefusalOf([&] { tools::Describe(options); }), "--image-size is only for model directories; leave it out");
}

}  // namespace
}  // namespace fovea::test
