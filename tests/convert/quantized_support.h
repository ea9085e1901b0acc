// Files with quantized layers, written from the descriptions of their formats, and the weights that are read from them.
#ifndef FOVEA_TESTS_CONVERT_QUANTIZED_SUPPORT_H_
#define FOVEA_TESTS_CONVERT_QUANTIZED_SUPPORT_H_

#include <gtest/gtest.h>
#include <string.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "tools/base/fail.h"
#include "tools/base/half.h"
#include "tools/base/mapped_file.h"
#include "tools/convert/published/quantized.h"
#include "tools/safetensors/safetensors.h"

namespace fovea::tools {

using Numbers = std::vector<uint32_t>;

// Numbers as a string of bits, lowest first, in words of 32.
inline Numbers BitString(const Numbers& numbers, uint32_t bits) {
  std::vector<bool> string;
  for (const uint32_t number : numbers) {
    for (uint32_t b = 0; b < bits; ++b) string.push_back((number >> b & 1) != 0);
  }
  Numbers words((string.size() + 31) / 32);
  for (size_t i = 0; i < string.size(); ++i) words[i / 32] |= static_cast<uint32_t>(string[i]) << i % 32;
  return words;
}

class QuantizedFiles : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::path(testing::TempDir()) / ("quantized-" + std::to_string(getpid()));
    Start();
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  // Begins a model of another kind.
  void Start(const char* settings = "null", const char* key = "quantization_config") {
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
    config_ = {{"model_type", "llama"}, {key, Json::parse(settings)}};
    tensors_.clear();
    findings_.clear();
  }

  void Add(const std::string& name, ElementType type, const std::vector<uint64_t>& shape, const void* values) {
    uint64_t bytes = ElementBytes(type);
    for (const uint64_t size : shape) bytes *= size;
    const auto* begin = static_cast<const char*>(values);
    tensors_[name] = {type, shape, std::string(begin, begin + bytes)};
  }
  void AddWords(const std::string& name, const std::vector<uint64_t>& shape, const Numbers& words,
                ElementType type = ElementType::kI32) {
    Add(name, type, shape, words.data());
  }
  void AddBytes(const std::string& name, const std::vector<uint64_t>& shape, const std::vector<uint8_t>& bytes,
                ElementType type = ElementType::kU8) {
    Add(name, type, shape, bytes.data());
  }
  void AddFloats(const std::string& name, const std::vector<uint64_t>& shape, const std::vector<float>& values) {
    Add(name, ElementType::kF32, shape, values.data());
  }
  // The values must be exact in this type.
  void AddHalves(const std::string& name, const std::vector<uint64_t>& shape, const std::vector<float>& values,
                 ElementType type = ElementType::kF16) {
    std::vector<uint16_t> halves;
    for (const float value : values) halves.push_back(type == ElementType::kF16 ? ToHalf(value) : ToBf16(value));
    Add(name, type, shape, halves.data());
  }
  void Change(const std::string& name, ElementType type, const std::vector<uint64_t>& shape) {
    auto& [old_type, old_shape, bytes] = tensors_.at(name);
    old_type = type;
    old_shape = shape;
    uint64_t size = ElementBytes(type);
    for (const uint64_t one : shape) size *= one;
    bytes.resize(size);
  }
  void Remove(const std::string& name) { ASSERT_EQ(tensors_.erase(name), 1u) << name; }

  Weights Read() {
    SafetensorsWriter writer;
    for (const auto& [name, tensor] : tensors_) {
      writer.Add(name, std::get<0>(tensor), std::get<1>(tensor), std::get<2>(tensor).data());
    }
    const std::string file = (directory_ / "model.safetensors").string(), text = config_.dump();
    std::filesystem::remove(file);
    writer.Write(file);
    WriteFile((directory_ / "config.json").string(), text.data(), text.size());
    Weights weights;
    weights.AddFile(file);
    findings_.clear();
    ReadQuantized(Config((directory_ / "config.json").string()), directory_.string(), weights, findings_);
    return weights;
  }

  // The weight has these rows, bit for bit, and of other tensors only the listed ones are left.
  void ExpectWeight(const std::string& name, uint32_t rows, uint32_t width, const std::vector<float>& expected,
                    const std::vector<std::string>& others = {}) {
    const Weights weights = Read();
    std::vector<std::string> names = others;
    names.push_back(name);
    std::sort(names.begin(), names.end());
    EXPECT_EQ(weights.Stored(), names);
    ASSERT_TRUE(weights.Has(name));
    const Constant constant = weights.Get(name);
    EXPECT_EQ(constant.rows, rows);
    EXPECT_EQ(constant.width, width);
    const std::vector<float> found = constant.load();
    ASSERT_EQ(found.size(), expected.size());
    EXPECT_EQ(memcmp(found.data(), expected.data(), 4 * found.size()), 0);
    size_t reported = 0;
    for (size_t i = 0; i < found.size() && reported < 4; ++i) {
      if (BitsOf(found[i]) == BitsOf(expected[i])) continue;
      ADD_FAILURE() << "row " << i / width << " column " << i % width << ": " << found[i] << ", not " << expected[i];
      ++reported;
    }
    EXPECT_EQ(constant.load(), expected) << "read again";
  }

  // Why the files are not read, in whole.
  std::string Refusal() {
    try {
      const Weights weights = Read();
      for (const std::string& name : weights.Stored()) weights.Get(name).load();
    } catch (const Failure& failure) {
      return failure.what();
    }
    return "";
  }
  void ExpectRefused(const std::string& words) {
    const std::string refusal = Refusal();
    EXPECT_NE(refusal.find(words), std::string::npos) << "found: " << refusal;
  }
  bool Found(const std::string& words) const {
    const auto holds = [&](const Finding& finding) { return finding.text.find(words) != std::string::npos; };
    return std::any_of(findings_.begin(), findings_.end(), holds);
  }
  std::string AllFindings() const {
    std::string all;
    for (const Finding& finding : findings_) all += finding.text + "\n";
    return all;
  }

  uint32_t Below(uint32_t limit) { return static_cast<uint32_t>(random_() % limit); }
  Numbers RandomNumbers(size_t count, uint32_t bits) {
    Numbers numbers(count);
    for (uint32_t& number : numbers) number = Below(1u << bits);
    return numbers;
  }
  // Scales that f16 holds, and bf16 mostly does not.
  std::vector<float> RandomScales(size_t count) {
    std::vector<float> scales(count);
    for (float& scale : scales) scale = static_cast<float>(1024 + Below(1024)) * 0x1p-16f;
    return scales;
  }
  std::vector<uint8_t> RandomBytes(size_t count) {
    std::vector<uint8_t> bytes(count);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(Below(256));
    return bytes;
  }

  std::filesystem::path directory_;
  Json config_;
  std::map<std::string, std::tuple<ElementType, std::vector<uint64_t>, std::string>> tensors_;
  Findings findings_;
  std::mt19937 random_{11};
};

}  // namespace fovea::tools

#endif  // FOVEA_TESTS_CONVERT_QUANTIZED_SUPPORT_H_
