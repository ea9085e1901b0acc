// Settings of tokenizer_config.json about the use of a tokenizer: limits, sides, texts made of tokens.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tools/convert/text/build.h"

namespace fovea::tools {
namespace {

namespace fs = std::filesystem;

constexpr char kBytePairs[] = R"({"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]})";
constexpr char kUnigram[] = R"({"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["a", -1], ["b", -2]]})";

class TokenizerSettings : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = fs::path(testing::TempDir()) / ("tokenizer-settings-" + std::to_string(getpid()));
    fs::create_directories(directory_);
  }
  void TearDown() override { fs::remove_all(directory_); }

  void Read(const std::string& config, const std::string& model = kUnigram, const std::string& truncation = "null",
            const Json& description = {}) {
    std::ofstream(directory_ / "tokenizer_config.json") << config;
    std::ofstream(directory_ / "tokenizer.json")
        << R"({"truncation": )" << truncation << R"(, "model": )" << model << "}";
    warnings_.clear(), findings_.clear(), metadata_.clear();
    TextOptions options(positions_);
    options.warnings = &warnings_, options.findings = &findings_, options.metadata = &metadata_;
    options.generates = generates_;
    section_ = BuildTextSection(directory_, description, options);
  }
  std::string Found(Topic topic) const {
    std::string all;
    for (const Finding& finding : findings_) all += finding.topic == topic ? finding.text + "\n" : "";
    return all;
  }

  fs::path directory_;
  uint32_t positions_ = 0;
  bool generates_ = true;
  std::vector<std::string> warnings_;
  Findings findings_;
  std::vector<std::pair<std::string, std::string>> metadata_;
  std::vector<uint8_t> section_;
};

TEST_F(TokenizerSettings, OneLimitIsReported) {
  const std::string truncation = R"({"direction": "Right", "max_length": 10, "strategy": "LongestFirst", "stride": 0})";
  Read("{}");
  EXPECT_EQ(Found(Topic::kLimits), "");
  Read(R"({"model_max_length": 1000000000000000019884624838656})");
  EXPECT_EQ(Found(Topic::kLimits), "");
  Read("{}", kUnigram, truncation);
  EXPECT_EQ(Found(Topic::kLimits), "10 tokens, by the truncation of tokenizer.json\n");
  Read(R"({"model_max_length": 30})", kUnigram, truncation);
  EXPECT_EQ(Found(Topic::kLimits), "30 tokens, by tokenizer_config.json, not 10 by the truncation of tokenizer.json\n");
  Read(R"({"max_len": 40})");
  EXPECT_EQ(Found(Topic::kLimits), "40 tokens, by tokenizer_config.json\n");
  positions_ = 16;
  Read(R"({"model_max_length": 30})", kUnigram, truncation);
  EXPECT_EQ(Found(Topic::kLimits), "16 tokens, by the positions of the model, not 30 by tokenizer_config.json\n");
  // Another file sets the limit, and reports it.
  Read(R"({"model_max_length": 30})", kUnigram, truncation, {{"type", "directory"}, {"max_length", 12}});
  EXPECT_EQ(Found(Topic::kLimits), "");
}

TEST_F(TokenizerSettings, SpacesBeforePunctuation) {
  const std::pair<std::string, std::string> cleans = {"text.clean_up", "true"};
  Read(R"({"clean_up_tokenization_spaces": true})");
  ASSERT_EQ(metadata_.size(), 1u);
  EXPECT_EQ(metadata_[0], cleans);
  EXPECT_NE(Found(Topic::kGeneration).find("clean_up_tokenization_spaces"), std::string::npos);
  for (const char* config : {R"({"clean_up_tokenization_spaces": false})", "{}"}) {
    Read(config);
    EXPECT_TRUE(metadata_.empty()) << config;
  }
  // The original ignores it for byte pairs.
  Read(R"({"clean_up_tokenization_spaces": true})", kBytePairs);
  EXPECT_TRUE(metadata_.empty());
  EXPECT_NE(Found(Topic::kNoEffect).find("clean_up_tokenization_spaces"), std::string::npos);
  Read(R"({"clean_up_tokenization_spaces": true,
           "clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output": true})",
       kBytePairs);
  EXPECT_EQ(metadata_.size(), 1u);
  // A model that writes no texts.
  generates_ = false;
  Read(R"({"clean_up_tokenization_spaces": true})");
  EXPECT_TRUE(metadata_.empty());
  EXPECT_EQ(Found(Topic::kGeneration) + Found(Topic::kNoEffect), "");
}

TEST_F(TokenizerSettings, SidesAndSpecialTokens) {
  Read(R"({"truncation_side": "right", "padding_side": "right", "spaces_between_special_tokens": true,
           "split_special_tokens": false})");
  EXPECT_TRUE(warnings_.empty());
  EXPECT_EQ(Found(Topic::kNoEffect), "");
  const std::vector<uint8_t> right = section_;
  Read(R"({"truncation_side": "left"})");
  EXPECT_NE(section_, right);
  Read(R"({"truncation_side": "middle", "padding_side": "left", "pad_to_multiple_of": 8, "split_special_tokens": true,
           "spaces_between_special_tokens": false})");
  EXPECT_EQ(section_, right);
  ASSERT_EQ(warnings_.size(), 2u);
  EXPECT_NE(warnings_[0].find("truncation_side \"middle\" is neither left nor right"), std::string::npos);
  EXPECT_NE(warnings_[1].find("split_special_tokens is not followed"), std::string::npos);
  for (const char* name : {"padding_side", "pad_to_multiple_of", "spaces_between_special_tokens"}) {
    EXPECT_NE(Found(Topic::kNoEffect).find(name), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace fovea::tools
