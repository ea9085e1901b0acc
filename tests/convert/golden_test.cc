// Every published encoder directory converts, and the blob means what the original library computed: checked with the
// plain reference, on every value that was stored.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <iostream>

#include "tests/convert/reference_run.h"
#include "tests/support/distance.h"
#include "tests/support/paths.h"
#include "tools/base/fail.h"
#include "tools/base/mapped_file.h"
#include "tools/convert/convert.h"
#include "tools/convert/description.h"
#include "tools/safetensors/safetensors.h"
#include "tools/sound/sound_reader.h"

namespace fovea::test {
namespace {

using tools::SafetensorsReader;
using tools::StoredTensor;

ReadBlob Converted(const std::string& input, const std::string& source = "", const std::string& task = "") {
  tools::ConvertOptions options;
  options.input = input;
  options.task = task;
  options.source = source;
  options.compare = tools::Comparison::kNone;
  tools::ConvertReport report;
  const auto blob = tools::BuildBlob(tools::Describe(options), options, report);
  EXPECT_TRUE(report.warnings.empty()) << report.warnings[0];
  return SecondReader(blob);
}

void ExpectClose(const std::vector<double>& found, const StoredTensor& stored, double relative, double absolute,
                 const std::string& name) {
  const std::vector<float> expected = tools::ToFloats(stored);
  ASSERT_EQ(found.size(), expected.size()) << name;
  double largest = 0, worst = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::fabs(static_cast<double>(expected[i])));
    worst = std::max(worst, test::Distance(found[i], expected[i]));
  }
  EXPECT_LE(worst, relative * largest + absolute) << name << ", largest " << largest;
}

// The value of a run that a published name refers to.
const std::vector<double>& Named(const ReferenceRun& run, const ReadBlob& blob, const std::string& name) {
  const auto alias = blob.metadata.find("alias." + name);
  const std::string own = alias == blob.metadata.end() ? name : alias->second;
  const auto weights = run.weights.find(own);
  return weights != run.weights.end() ? weights->second : run.values.at(own);
}

// T5's encoder has the name of the whole model; the remaining stored values are the decoder's.
struct Published {
  const char* name;
  const char* task = "";
  const char* compared = "";  // what names of compared values begin with
};

class Directory : public testing::TestWithParam<Published> {};

TEST_P(Directory, MeansWhatTheOriginalComputes) {
  const std::string directory = InData("hf/") + GetParam().name;
  const ReadBlob blob = Converted(directory, "", GetParam().task);
  const SafetensorsReader golden(directory + "/golden.safetensors");
  size_t compared = 0;
  for (const std::string text : {"a", "b", "one"}) {  // cases of one text
    std::map<std::string, std::vector<double>> inputs;
    uint32_t rows = 0;
    for (const auto& [name, tensor] : golden.tensors()) {
      if (name.rfind(text + ".in.", 0) != 0 || name.rfind(text + ".in.decoder_", 0) == 0) continue;
      const std::vector<int64_t> ids = tools::ToIntegers(tensor);
      inputs[name.substr(text.size() + 4)].assign(ids.begin(), ids.end());
      rows = static_cast<uint32_t>(ids.size());
    }
    if (rows == 0) continue;
    const ReferenceRun run = RunReference(blob, inputs, rows);
    for (const auto& [name, tensor] : golden.tensors()) {
      if (name.rfind(text + ".out." + GetParam().compared, 0) != 0) continue;
      ExpectClose(Named(run, blob, name.substr(text.size() + 5)), tensor, 1e-4, 1e-5, name);
      ++compared;
    }
  }
  EXPECT_GE(compared, 3u);
}

INSTANTIATE_TEST_SUITE_P(Published, Directory,
                         testing::Values(Published{"bert"}, Published{"bert-mlm"}, Published{"bert-seqcls"},
                                         Published{"bert-tokcls"}, Published{"roberta"}, Published{"roberta-mlm"},
                                         Published{"roberta-seqcls"}, Published{"xlm-roberta-mlm"},
                                         Published{"distilbert"}, Published{"distilbert-mlm"},
                                         Published{"distilbert-seqcls"}, Published{"albert"}, Published{"albert-mlm"},
                                         Published{"mpnet-mlm"}, Published{"modernbert"}, Published{"modernbert-mlm"},
                                         Published{"modernbert-seqcls"}, Published{"gemma3-embed"},
                                         Published{"t5", "encoder", "encoder_"},
                                         Published{"t5-v1_1", "encoder", "encoder_"}, Published{"deberta-v2-mlm"},
                                         Published{"deberta-v2-conv"}),
                         [](const auto& param) {
                           std::string name = param.param.name;
                           for (char& letter : name) letter = letter == '-' ? '_' : letter;
                           return name;
                         });

TEST(Examples, UniversalSentenceEncoder) {
  const std::string directory = InShared("models/use-lite");
  if (Missing(directory)) GTEST_SKIP();
  const ReadBlob blob = Converted(InSource("tools/convert/examples/use-lite/graph.json"), directory);
  const SafetensorsReader expected(directory + "/expected.safetensors");
  EXPECT_FALSE(blob.text.empty());
  const ReferenceRun run = RunReference(blob, {{"input_ids", {2002, 102, 311}}}, 3);
  for (const char* name : {"embeddings", "layers.0.attention_weights", "layers.0.after_attention", "layers.0.output",
                           "layers.1.attention_weights", "layers.1.after_attention", "layers.1.output", "pooled",
                           "dense", "sentence_embedding"}) {
    ExpectClose(Named(run, blob, name), expected.Get(std::string("case_00.") + name), 3e-6, 1e-5, name);
  }
}

TEST(Examples, KeywordTransformer) {
  const std::string directory = InShared("models/kwt1");
  if (Missing(directory)) GTEST_SKIP();
  const ReadBlob blob = Converted(InSource("tools/convert/examples/kwt1/graph.json"), directory);
  const SafetensorsReader expected(directory + "/expected.safetensors");
  const std::vector<float> samples = tools::ReadSoundFile(directory + "/wav/yes_0.wav").samples;
  const ReferenceRun run = RunReference(blob, {{"samples", {samples.begin(), samples.end()}}}, 16000);
  for (const char* name : {"log_mel", "features"}) {  // logarithms of what was summed in single precision
    ExpectClose(Named(run, blob, name), expected.Get(std::string("wav_04.") + name), 0, 1e-3, name);
  }
  for (const char* name : {"embeddings", "layers.0.attention_weights", "layers.0.after_attention", "layers.0.output",
                           "layers.5.output", "layers.11.output", "logits"}) {
    ExpectClose(Named(run, blob, name), expected.Get(std::string("wav_04.") + name), 0, 1e-4, name);
  }
}

TEST(Refused, WhatIsNotKnownByName) {
  const std::string directory = ::testing::TempDir() + "unknown_kind";
  std::filesystem::create_directories(directory);
  const std::string config = R"({"model_type": "sew", "architectures": ["SEWModel"]})";
  tools::WriteFile(directory + "/config.json", config.data(), config.size());
  try {
    Converted(directory);
    FAIL();
  } catch (const tools::Failure& failure) {
    EXPECT_NE(std::string(failure.what()).find("model_type sew"), std::string::npos) << failure.what();
  }
}

}  // namespace
}  // namespace fovea::test
