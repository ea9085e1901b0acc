// Directories of tokenizer files, written by tests: SentencePiece models field by field, and JSON files.
#ifndef FOVEA_TESTS_TEXT_TOKENIZER_FILES_H_
#define FOVEA_TESTS_TEXT_TOKENIZER_FILES_H_

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/text/text_fixture.h"
#include "tools/base/fail.h"
#include "tools/convert/text/build.h"

namespace fovea::test {

inline constexpr char kMark[] = "\xe2\x96\x81";

// A SentencePiece model file, field by field (sentencepiece_model.proto).
class ModelFile {
 public:
  enum Type { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4 };

  ModelFile& Piece(const std::string& piece, float score = 0, Type type = kNormal) {
    char number[4];
    std::memcpy(number, &score, 4);
    bytes_ += Field(1, Field(1, piece) + "\x15" + std::string(number, 4) + "\x18" + static_cast<char>(type));
    return *this;
  }
  // " hello", " world" and single letters, behind the tokens that most models begin with.
  ModelFile& Words() {
    Piece(kMark + std::string("hello"), -1).Piece(kMark + std::string("world"), -2).Piece(kMark, -5);
    for (const char c : std::string("helowrd")) Piece(std::string(1, c), -6);
    return *this;
  }
  std::string bytes() const { return bytes_ + Field(2, "\x18\x01"); }  // unigrams

 private:
  static std::string Field(int number, const std::string& data) {
    std::string size;
    for (size_t rest = data.size(); size.empty() || rest != 0; rest >>= 7) {
      size += static_cast<char>((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
    }
    return static_cast<char>(number << 3 | 2) + size + data;
  }
  std::string bytes_;
};

// <unk> <s> </s> " hello" " world": ids 3 and 4.
inline std::string UsualModel() {
  return ModelFile()
      .Piece("<unk>", 0, ModelFile::kUnknown)
      .Piece("<s>", 0, ModelFile::kControl)
      .Piece("</s>", 0, ModelFile::kControl)
      .Words()
      .bytes();
}
// <pad> </s> <unk> " hello" " world", as T5 and Pegasus have them.
inline std::string PaddedModel() {
  return ModelFile()
      .Piece("<pad>", 0, ModelFile::kControl)
      .Piece("</s>", 0, ModelFile::kControl)
      .Piece("<unk>", 0, ModelFile::kUnknown)
      .Words()
      .bytes();
}
// <pad> <unk> [CLS] [SEP] [MASK] " hello" " world".
inline std::string BracketedModel() {
  return ModelFile()
      .Piece("<pad>", 0, ModelFile::kControl)
      .Piece("<unk>", 0, ModelFile::kUnknown)
      .Piece("[CLS]", 0, ModelFile::kControl)
      .Piece("[SEP]", 0, ModelFile::kControl)
      .Piece("[MASK]", 0, ModelFile::kControl)
      .Words()
      .bytes();
}

class TokenizerFiles : public testing::Test {
 protected:
  TokenizerFiles()
      : folder_(testing::TempDir() + "fovea_class_" + testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~TokenizerFiles() override { std::filesystem::remove_all(folder_); }

  void Write(const char* file, const std::string& bytes) { std::ofstream(folder_ / file, std::ios::binary) << bytes; }
  void Write(const char* file, const nlohmann::json& content) { Write(file, content.dump()); }
  void Config(const nlohmann::json& content) { Write("tokenizer_config.json", content); }
  // An empty directory with one SentencePiece model and the class.
  void Alone(const char* file, const std::string& model, const nlohmann::json& config) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    Write(file, model);
    Config(config);
  }
  std::vector<int> Encode(const std::string& text) {
    const TextSection section(Section());
    EXPECT_TRUE(section.ok()) << section.error();
    return section.Encode(text).ids;
  }
  std::vector<int> EncodePair(const std::string& a, const std::string& b) {
    const TextSection section(Section());
    return section.Encode(a, &b, {}).ids;
  }
  // Whether a finding of the last conversion has the text.
  bool Found(const std::string& text) const {
    for (const tools::Finding& finding : findings_) {
      if (finding.text.find(text) != std::string::npos) return true;
    }
    return false;
  }
  std::string Decode(const std::vector<int>& ids) { return TextSection(Section()).Decode(ids); }
  std::string Refusal() {
    try {
      Section();
    } catch (const tools::Failure& failure) {
      return failure.what();
    }
    return "";
  }
  std::vector<uint8_t> Section() {
    warnings_.clear();
    tools::TextOptions options;
    options.warnings = &warnings_;
    findings_.clear();
    options.findings = &findings_;
    return tools::BuildTextSection(folder_, {}, options);
  }

  const std::filesystem::path folder_;
  std::vector<std::string> warnings_;
  tools::Findings findings_;
};

}  // namespace fovea::test

#endif  // FOVEA_TESTS_TEXT_TOKENIZER_FILES_H_
