// Sounds through the command: every command that reads sounds reports what a model of clips of one length leaves out or
// adds, and what a file lacked.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/parsed_json.h"
#include "tests/support/paths.h"
#include "tests/support/run_command.h"
#include "tests/support/wav_file.h"

namespace fovea::test {
namespace {

using nlohmann::json;

constexpr uint32_t kRate = 16000, kHop = 256, kWindow = 512, kFrames = 20;
constexpr size_t kClip = (kFrames - 1) * kHop + kWindow;  // 5376 samples, 0.336 s

// The mean spectrum of a sound: of its first frames where these are fixed, else of all. A layer without effect gives
// `convert` something to store as integers.
std::string Graph(bool fixed) {
  const json frames = fixed ? json({{"name", "frames"}, {"parent", "clips"}, {"each", kFrames}})
                            : json({{"name", "frames"}, {"strides", "samples"}, {"by", kHop}, {"last", kWindow - 1}});
  const json spectrum = {{"op", "spectrum"},   {"in", {"samples"}}, {"tensors", {"roots", "window"}},
                         {"out", "magnitude"}, {"space", "frames"}, {"hop", kHop}};
  const json pool = {{"op", "pool"}, {"in", {"magnitude"}}, {"out", "mean"}, {"kind", "mean"}, {"space", "clips"}};
  const json linear = {{"op", "linear"}, {"in", {"mean"}}, {"tensors", {"cosines"}}, {"out", "logits"}};
  const json graph = {{"fovea", 1},
                      {"metadata",
                       {{"architecture", "ear"},
                        {"task", "sequence-classification"},
                        {"sampling_rate.samples", "16000"},
                        {"labels", {"a", "b", "c"}}}},
                      {"spaces", {{{"name", "clips"}}, {{"name", "samples"}, {"parent", "clips"}}, frames}},
                      {"constants",
                       {{{"name", "roots"}, {"roots_of_unity", kWindow}},
                        {{"name", "window"}, {"window", {{"length", kWindow}, {"kind", "hann"}}}},
                        {{"name", "cosines"}, {"cosine_transform", {{"rows", 3}, {"width", kWindow / 2 + 1}}}}}},
                      {"programs",
                       {{{"name", "encode"},
                         {"inputs", {{{"name", "samples"}, {"space", "samples"}, {"type", "f32"}, {"width", 1}}}},
                         {"operations", {spectrum, pool, linear}},
                         {"outputs", {"logits"}}}}}};
  return graph.dump();
}

class SoundCommands : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(directory_); }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string At(const std::string& name) const { return (directory_ / name).string(); }
  std::string Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(At(name), std::ios::binary) << bytes;
    return At(name);
  }
  std::string Blob(bool fixed) const {
    const std::string graph = Write("graph.json", Graph(fixed)), blob = At(fixed ? "fixed.fovea" : "any.fovea");
    const CommandResult made = Fovea({"convert", graph, "-o", blob});
    EXPECT_EQ(made.status, 0) << made.err;
    return blob;
  }
  static std::string Bytes(size_t samples) {
    std::vector<float> tone(samples);
    for (size_t i = 0; i < samples; ++i) tone[i] = static_cast<float>(0.3 * std::sin(0.05 * static_cast<double>(i)));
    return WavFile(tone, kRate);
  }
  std::string Wav(const std::string& name, size_t samples) const { return Write(name, Bytes(samples)); }

  const std::filesystem::path directory_ =
      std::filesystem::path(testing::TempDir()) / ("sound-commands-" + std::to_string(getpid()));
};

bool Has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const char kLeftOut[] = "the first 0.336 of 1.000 s are read", kSilence[] = "0.250 s are followed by silence";

TEST_F(SoundCommands, RunTellsWhatOfAClipIsRead) {
  const std::string blob = Blob(true), right = Wav("right.wav", kClip), longer = Wav("longer.wav", kRate),
                    shorter = Wav("shorter.wav", kRate / 4);
  const CommandResult one = Fovea({"run", blob, "--wav", right});
  EXPECT_EQ(one.status, 0);
  EXPECT_EQ(one.err, "");
  const CommandResult all = Fovea({"run", blob, "--wav", right, "--wav", longer, "--wav", shorter, "--json"});
  EXPECT_EQ(all.status, 0);
  EXPECT_PRED2(Has, all.err, "fovea: " + longer + ": " + kLeftOut);
  EXPECT_PRED2(Has, all.err, "fovea: " + shorter + ": " + kSilence);
  const json found = ParsedJson(all.out);
  EXPECT_FALSE(found[0].contains("notes"));
  EXPECT_PRED2(Has, found[1]["notes"][0].get<std::string>(), kLeftOut);
  EXPECT_PRED2(Has, found[2]["notes"][0].get<std::string>(), kSilence);
  EXPECT_EQ(found[1]["seconds"], 1.0);
  EXPECT_EQ(Fovea({"run", Blob(false), "--wav", longer}).err, "") << "this model reads all of it";
}

TEST_F(SoundCommands, SoDoOtherCommands) {
  const std::string blob = Blob(true), longer = Wav("longer.wav", kRate), shorter = Wav("shorter.wav", kRate / 4);
  std::string lines;
  for (int i = 0; i < 3; ++i) lines += "longer.wav\ta\nshorter.wav\tb\n";
  const std::string list = Write("list.tsv", lines);
  const CommandResult told = Fovea({"eval", blob, "--sounds", list, "--json", "--batch", "2"});
  EXPECT_EQ(told.status, 0) << told.err;
  EXPECT_PRED2(Has, told.err, kLeftOut);
  EXPECT_PRED2(Has, told.err, "list.tsv:2");
  EXPECT_PRED2(Has, told.err, "3 more notes");
  EXPECT_EQ(ParsedJson(told.out)["notes"].size(), 6u);

  const CommandResult made = Fovea({"convert", At("graph.json"), "-o", At("int8.fovea"), "--weights", "int8",
                                    "--sample-wav", longer, "--sample-wav", shorter});
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_PRED2(Has, made.err, "longer.wav: " + std::string(kLeftOut));
  EXPECT_PRED2(Has, made.err, "shorter.wav: " + std::string(kSilence));
}

// A page is for looking: it has the first ten clips of a long file, and a note reports that.
TEST_F(SoundCommands, PagesHaveTheFirstClips) {
  const std::filesystem::path directory = directory_ / "whisper";
  std::filesystem::create_directories(directory);
  for (const char* file : {"config.json", "generation_config.json", "model.safetensors"}) {
    std::filesystem::copy_file(InData(std::string("hf/whisper/") + file), directory / file);
  }
  Write("whisper/preprocessor_config.json",
        R"({"feature_extractor_type": "WhisperFeatureExtractor", "feature_size": 16, "n_fft": 400, "hop_length": 200,
            "chunk_length": 1, "n_samples": 16000, "sampling_rate": 16000, "padding_value": 0.0})");
  const std::string blob = At("whisper.fovea"), record = At("record.json");
  ASSERT_EQ(Fovea({"convert", directory.string(), "-o", blob}).status, 0);
  const auto clips = [&](const std::string& wav) {
    const CommandResult made = Fovea({"attend", blob, "--wav", wav, "-n", "2", "--json", record});
    EXPECT_EQ(made.status, 0) << made.err;
    std::ifstream file(record);
    return std::pair(json::parse(file)["sounds"].size(), made.err);
  };
  const auto [few, silent] = clips(Wav("ten.wav", 10 * kRate));
  EXPECT_EQ(few, 10u);
  EXPECT_EQ(silent.find("left out"), std::string::npos) << silent;
  const auto [many, told] = clips(Wav("twelve.wav", 12 * kRate));
  EXPECT_EQ(many, 10u);
  EXPECT_NE(told.find("twelve.wav: the first 10 clips, 10 s, are shown; the rest is left out"), std::string::npos)
      << told;
}

TEST_F(SoundCommands, WhatAFileLacksIsTold) {
  const std::string blob = Blob(false), whole = Wav("whole.wav", 8000), bytes = Bytes(16000);
  const json expected = ParsedJson(Fovea({"run", blob, "--wav", whole, "--json"}).out);
  const std::string cut = Write("cut.wav", bytes.substr(0, bytes.size() - 32000));
  const CommandResult found = Fovea({"run", blob, "--wav", cut, "--json"});
  EXPECT_PRED2(Has, found.err, "cut.wav: the file is truncated: 0.50 of 1.00 s are present");
  EXPECT_EQ(ParsedJson(found.out)[0]["classes"], expected[0]["classes"]);
  EXPECT_PRED2(Has, FoveaError({"run", blob, "--wav", Wav("none.wav", 0)}), "none.wav: has no samples");
  EXPECT_PRED2(Has, FoveaError({"eval", blob, "--sounds", Write("none.tsv", "none.wav\ta\n")}), "has no samples");
}

// A pipe has no size, and is read from beginning to end.
TEST_F(SoundCommands, StandardInputAndPipes) {
  const std::string blob = Blob(false), whole = Wav("whole.wav", 8000);
  const json expected = ParsedJson(Fovea({"run", blob, "--wav", whole, "--json"}).out)[0]["classes"];
  std::istringstream bytes(Bytes(8000));
  std::streambuf* const before = std::cin.rdbuf(bytes.rdbuf());
  const CommandResult found = Fovea({"run", blob, "--wav", "-", "--json"});
  std::cin.rdbuf(before);
  ASSERT_EQ(found.status, 0) << found.err;
  EXPECT_EQ(ParsedJson(found.out)[0]["classes"], expected);
  EXPECT_EQ(ParsedJson(found.out)[0]["file"], "-");

  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const std::string piped = Bytes(8000);
  ASSERT_EQ(write(ends[1], piped.data(), piped.size()), static_cast<ssize_t>(piped.size()));
  close(ends[1]);
  const CommandResult read = Fovea({"run", blob, "--wav", "/dev/fd/" + std::to_string(ends[0]), "--json"});
  close(ends[0]);
  ASSERT_EQ(read.status, 0) << read.err;
  EXPECT_EQ(ParsedJson(read.out)[0]["classes"], expected);
}

}  // namespace
}  // namespace fovea::test
