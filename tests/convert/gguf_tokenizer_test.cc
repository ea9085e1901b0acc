// Tokenizers of GGUF files, in addition to gguf_test: unigrams, the names of pre-tokenizers, tokens that are absent.
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/convert/graph_support.h"
#include "tests/support/fewer_cases.h"
#include "tests/support/gguf_models.h"
#include "tests/support/paths.h"
#include "tests/text/text_fixture.h"
#include "tools/base/mapped_file.h"
#include "tools/convert/convert.h"
#include "tools/convert/description.h"
#include "tools/convert/gguf/cutting.h"
#include "tools/convert/text/build.h"
#include "tools/convert/text/readers.h"

namespace fovea::test {
namespace {

using tools::Json;

std::string Written(const GgufWriter& writer) {
  const std::string path = testing::TempDir() + "gguf_tokenizer_" + std::to_string(getpid()) + ".gguf";
  const std::string bytes = writer.Bytes();
  tools::WriteFile(path, bytes.data(), bytes.size());
  return path;
}

tools::Description Described(const GgufWriter& writer) {
  tools::ConvertOptions options;
  options.input = Written(writer);
  return tools::Describe(options);
}

std::vector<std::string> Texts() {
  std::vector<std::string> texts = {"",
                                    " ",
                                    "Hello  World, it's 12345!\n\n x",
                                    "don't I'LL we've",
                                    "x = a+b == c^2; `q` | $5 <tag>",
                                    "1234567 and 12 and 123456",
                                    "\t tabs\r\nlines\n"};
  const Json golden = tools::ReadJson(InData("tokenizers/bpe-llama3/expected.json"));
  for (const Json& one : golden["strings"]) texts.push_back(one["text"]);
  return texts;
}

// `plain`: texts without names of tokens, which some of the models find and other models do not.
void ExpectSame(const TextSection& found, const TextSection& expected, const std::string& what, bool plain = false) {
  ASSERT_TRUE(found.ok()) << what << ": " << found.error();
  ASSERT_TRUE(expected.ok()) << what << ": " << expected.error();
  size_t differing = 0;
  for (const std::string& text : Texts()) {
    if (plain && text.find("<s>") != std::string::npos) continue;
    if (found.Encode(text).ids != expected.Encode(text).ids && ++differing <= 3)
      ADD_FAILURE() << what << ": " << Json(text).dump();
  }
  EXPECT_EQ(differing, 0u) << what;
}

// ---- unigrams ----

// The pieces, scores and types of a SentencePiece model with its own ids.
void AddUnigrams(const std::string& model_file, GgufWriter* writer) {
  const tools::SentencePieces read = tools::ReadPieces(tools::ReadFile(model_file));
  std::vector<std::string> tokens;
  std::vector<float> scores;
  std::vector<int32_t> types;
  for (const tools::SentencePiece& piece : read.pieces) {
    tokens.push_back(piece.piece);
    scores.push_back(static_cast<float>(piece.score));
    types.push_back(piece.type);
  }
  std::vector<uint8_t> charsmap(read.charsmap.begin(), read.charsmap.end());
  writer->Text("tokenizer.ggml.model", "t5");
  writer->Text("tokenizer.ggml.pre", "default");
  writer->Texts("tokenizer.ggml.tokens", tokens);
  writer->List("tokenizer.ggml.scores", 6, scores);
  writer->List("tokenizer.ggml.token_type", 5, types);
  writer->Flag("tokenizer.ggml.add_space_prefix", read.dummy_prefix);
  writer->Flag("tokenizer.ggml.remove_extra_whitespaces", read.remove_extra_spaces);
  if (!charsmap.empty()) writer->List("tokenizer.ggml.precompiled_charsmap", 0, charsmap);
}

TEST(GgufUnigrams, SplitTextsAsTheModelDoes) {
  for (const char* file : {"unigram-t5/spiece.model", "unigram-xlmr/sentencepiece.bpe.model"}) {
    GgufWriter writer = GgufOfDirectory(InData("hf/llama"), "llama");
    const std::string path = InData("tokenizers/") + file;
    AddUnigrams(path, &writer);
    writer.Flag("tokenizer.ggml.add_eos_token", false);
    const tools::Description description = Described(writer);
    ASSERT_NE(description.text, nullptr) << description.warnings[0];
    const TextSection found(tools::BuildTextSection(*description.text, 0));
    const TextSection expected(tools::WriteTextSection(tools::ReadSentencePiece(tools::ReadFile(path))));
    ExpectSame(found, expected, file, true);
  }
}

TEST(GgufUnigrams, EndWithTheEosUnlessTheFileSaysNot) {
  GgufWriter writer = GgufOfDirectory(InData("hf/llama"), "llama");
  AddUnigrams(InData("tokenizers/unigram-t5/spiece.model"), &writer);
  writer.Number("tokenizer.ggml.eos_token_id", 1);
  const auto ids = [&] { return TextSection(tools::BuildTextSection(*Described(writer).text, 0)).Encode("a b").ids; };
  EXPECT_EQ(ids().back(), 1);
  writer.Flag("tokenizer.ggml.add_eos_token", false);
  EXPECT_NE(ids().back(), 1);
}

// A damaged map costs the tokenizer, not the file.
TEST(GgufUnigrams, DamagedMapsAreAWarning) {
  for (const std::vector<uint8_t>& charsmap :
       {std::vector<uint8_t>{1}, {255, 255, 255, 255, 0}, {8, 0, 0, 0, 1, 2, 3}, {4, 0, 0, 0, 255, 255, 255, 255, 0}}) {
    GgufWriter writer = GgufOfDirectory(InData("hf/llama"), "llama");
    AddUnigrams(InData("tokenizers/unigram-t5/spiece.model"), &writer);
    writer.List("tokenizer.ggml.precompiled_charsmap", 0, charsmap);
    const tools::Description description = Described(writer);
    if (description.text == nullptr) continue;
    const std::string refused = tools::RefusalOf([&] { tools::BuildTextSection(*description.text, 0); });
    EXPECT_EQ(refused.find('\n'), std::string::npos);
  }
}

// ---- pre-tokenizers by name ----

// The tokenizer with another pre-tokenizer, as tokenizer.json has it.
TextSection* CutBy(const Json& pre_tokenizer, bool ignore_merges = false) {
  Json file = tools::ReadJson(InData("tokenizers/bpe-gpt2/tokenizer.json"));
  file["pre_tokenizer"] = pre_tokenizer;
  file["normalizer"] = nullptr;
  file["post_processor"] = nullptr;
  file["model"]["ignore_merges"] = ignore_merges;
  return new TextSection(tools::WriteTextSection(tools::ReadTokenizerJson({file, "tokenizer.json"})));
}

// Published pre-tokenizers, in their own words.
TEST(GgufCutting, IsThatOfThePublishedTokenizers) {
  const auto sequence = [](const Json& parts) { return Json{{"type", "Sequence"}, {"pretokenizers", parts}}; };
  const Json bytes = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
  const Json digits = {{"type", "Digits"}, {"individual_digits", true}};
  const Json together = {{"type", "Digits"}, {"individual_digits", false}};
  const Json by_three = {
      {"type", "Split"}, {"pattern", {{"Regex", "[0-9][0-9][0-9]"}}}, {"behavior", "Isolated"}, {"invert", false}};
  const Json punctuation = {{"type", "Punctuation"}, {"behavior", "Contiguous"}};
  const std::vector<std::pair<std::string, Json>> cases = {
      {"gpt-2", bytes},
      {"mpt", bytes},
      {"roberta-bpe", bytes},
      {"starcoder", sequence({digits, bytes})},
      {"command-r", sequence({digits, bytes})},
      {"falcon", sequence({punctuation, bytes, together, by_three})},
  };
  for (const auto& [name, published] : cases) {
    const tools::WordCutting cutting = tools::WordCuttingOf(name, "pre");
    const std::unique_ptr<TextSection> found(CutBy(cutting.pre_tokenizer)), expected(CutBy(published));
    ExpectSame(*found, *expected, name);
  }
}

// Every name compiles, and no text is lost.
TEST(GgufCutting, LosesNoText) {
  size_t number = 0;
  for (const char* name :
       {"default",         "llama-bpe",  "falcon3",   "dbrx",        "qwen2",          "stablelm2",
        "qwen35",          "smollm",     "tekken",    "gpt-4o",      "deepseek-v3",    "viking",
        "bloom",           "poro-chat",  "chameleon", "bailingmoe",  "deepseek-coder", "seed-coder",
        "exaone",          "exaone-moe", "exaone4",   "modern-bert", "lfm2",           "hunyuan-dense",
        "granite-docling", "minicpm5",   "laguna",    "ufakzeka",    "falcon",         "jina-v2-code"}) {
    const tools::WordCutting cutting = tools::WordCuttingOf(name, "pre");
    if (FewerCases() && number++ % 5 != 0) continue;  // half a second for each
    const std::unique_ptr<TextSection> section(CutBy(cutting.pre_tokenizer, cutting.ignore_merges));
    ASSERT_TRUE(section->ok()) << name << ": " << section->error();
    for (const std::string& text : Texts()) {
      if (text.find("<") != std::string::npos) continue;  // added tokens
      EXPECT_EQ(section->DecodeInParts(section->Encode(text).ids, 1 << 20), text) << name;
    }
  }
  EXPECT_NE(tools::RefusalOf([] { tools::WordCuttingOf("kimi-k2", "pre"); }).find("pre kimi-k2 is not supported"),
            std::string::npos);
}

// ---- tokens that are absent ----

GgufWriter Pieces() {
  GgufWriter writer = GgufOfDirectory(InData("hf/llama"), "llama");
  AddSentencePieces(InData("tokenizers/spbpe-llama/tokenizer.model"), &writer);
  return writer;
}

TEST(GgufTokens, MinusOneAndIdsOutsideAreNone) {
  for (const auto& [type, id] : {std::pair{4u, UINT32_MAX}, {5u, UINT32_MAX}, {4u, 1000000u}}) {
    for (const char* name : {"padding", "eot", "mask", "bos", "unknown"}) {
      GgufWriter writer = Pieces();
      writer.Set(std::string("tokenizer.ggml.") + name + "_token_id", type, Raw(id));
      const tools::Description description = Described(writer);
      ASSERT_NE(description.text, nullptr) << name << ": " << description.warnings[0];
      const TextSection section(tools::BuildTextSection(*description.text, 0));
      ASSERT_TRUE(section.ok()) << name;
      const std::vector<int> ids = section.Encode("a").ids;
      EXPECT_EQ(ids[0] == 1, name != std::string("bos")) << name;
      const auto is = [&](const tools::Finding& finding) {
        return finding.text.find("is outside") != std::string::npos;
      };
      EXPECT_EQ(std::any_of(description.findings.begin(), description.findings.end(), is), id == 1000000u) << name;
    }
  }
}

TEST(GgufTokens, TypesMayBeUnknownAndMoreThanNeeded) {
  GgufWriter plain = Pieces(), writer = Pieces();
  const tools::SentencePieces read =
      tools::ReadPieces(tools::ReadFile(InData("tokenizers/spbpe-llama/tokenizer.model")));
  std::vector<int32_t> types;
  for (const tools::SentencePiece& piece : read.pieces) {
    types.push_back(piece.type == tools::SentencePiece::kNormal ? 0 : static_cast<int32_t>(piece.type));
  }
  types.push_back(1);
  writer.List("tokenizer.ggml.token_type", 5, types);
  const TextSection found(tools::BuildTextSection(*Described(writer).text, 0));
  const TextSection expected(tools::BuildTextSection(*Described(plain).text, 0));
  ExpectSame(found, expected, "types");
}

// ---- templates and findings ----

TEST(GgufFindings, SayWhatWasReadAndLeftOut) {
  GgufWriter writer = GgufOfDirectory(InData("hf/llama"), "llama", 8);
  writer.Text("tokenizer.chat_template", "{{ messages[0].content }}");
  writer.Texts("tokenizer.chat_templates", {"tool_use", "rag"});
  writer.Text("tokenizer.chat_template.tool_use", "{{ tools }}");
  writer.Text("tokenizer.chat_template.rag", "{{ documents }}");
  writer.Text("general.license", "mit");
  writer.Text("maker.note", "x");
  const tools::Description description = Described(writer);
  const auto has = [&](tools::Topic topic, const std::string& part) {
    for (const tools::Finding& finding : description.findings) {
      if (finding.topic == topic && finding.text.find(part) != std::string::npos) return true;
    }
    return false;
  };
  EXPECT_TRUE(has(tools::Topic::kFiles, ".gguf"));
  EXPECT_TRUE(has(tools::Topic::kFiles, " tensors"));
  EXPECT_TRUE(has(tools::Topic::kFiles, "Q8_0 ")) << "types";
  EXPECT_TRUE(
      has(tools::Topic::kChatTemplate, "template tool_use: used in place of the default one if tools are given"));
  EXPECT_TRUE(has(tools::Topic::kChatTemplate, "template rag: --chat-template rag chooses it"));
  EXPECT_TRUE(has(tools::Topic::kNotUsed, "key maker.note of the metadata is unknown"));
  EXPECT_FALSE(has(tools::Topic::kNotUsed, "license"));
  EXPECT_TRUE(has(tools::Topic::kLimits, "by llama.context_length"));
}

}  // namespace
}  // namespace fovea::test
