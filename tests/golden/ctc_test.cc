// Texts that CTC models write of sound files, against plain versions of the original's definitions: its tokenizer, and
// its chunks whose ends serve as context only.
#include "tools/generate/ctc.h"

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "tests/golden/golden_support.h"
#include "tests/golden/sound_reference.h"
#include "tests/golden/speech_reference.h"
#include "tests/support/parsed_json.h"
#include "tests/support/run_command.h"
#include "tests/support/wav_file.h"
#include "tools/base/fail.h"
#include "tools/base/json.h"
#include "tools/generate/sound_chunks.h"

namespace fovea::test {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr uint32_t kFrame = 16;  // samples, of the golden models

constexpr char kSamples[] = R"({"feature_extractor_type": "Wav2Vec2FeatureExtractor", "do_normalize": true,
  "feature_size": 1, "sampling_rate": 16000, "padding_value": 0.0, "return_attention_mask": false})";

bool Has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// 29 tokens: <pad>, <s>, </s>, <unk>, |, letters A to X.
json Letters() {
  json vocabulary = {{"<pad>", 0}, {"<s>", 1}, {"</s>", 2}, {"<unk>", 3}, {"|", 4}};
  for (int i = 0; i < 24; ++i) vocabulary[std::string(1, static_cast<char>('A' + i))] = 5 + i;
  return vocabulary;
}

class Ctc : public ::testing::Test {
 protected:
  Ctc() { fs::create_directories(directory_); }
  ~Ctc() override { fs::remove_all(directory_); }

  std::string At(const std::string& name) const { return (directory_ / name).string(); }

  std::string Directory(const std::map<std::string, json>& files, const std::string& preprocessor = kSamples) const {
    const std::string copy = At("model");
    fs::remove_all(copy);
    fs::create_directories(copy);
    for (const char* file : {"model.safetensors", "config.json"}) {
      fs::copy_file(InData(std::string("hf/wav2vec2-ctc/") + file), copy + "/" + file);
    }
    if (!preprocessor.empty()) std::ofstream(copy + "/preprocessor_config.json") << preprocessor;
    for (const auto& [name, content] : files) std::ofstream(copy + "/" + name) << content.dump();
    return copy;
  }
  std::string Blob(const std::map<std::string, json>& files, const std::string& preprocessor = kSamples) const {
    const CommandResult made =
        Fovea({"convert", Directory(files, preprocessor), "-o", At("model.fovea"), "--weights", "f32"});
    EXPECT_EQ(made.status, 0) << made.err;
    return At("model.fovea");
  }
  std::string Wav(const std::string& name, const std::vector<float>& samples, uint32_t rate = 16000) const {
    std::ofstream(At(name), std::ios::binary) << WavFile(samples, rate);
    return At(name);
  }
  json Texts(const std::string& blob, std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"transcribe", blob, "--json"});
    const CommandResult said = Fovea(arguments);
    EXPECT_EQ(said.status, 0) << said.err;
    return said.status == 0 ? ParsedJson(said.out) : json();
  }

  const fs::path directory_ = fs::path(::testing::TempDir()) / ("ctc-" + std::to_string(getpid()));
};

// The golden model in f64: scores of a chunk of samples.
class Teacher {
 public:
  Teacher() {
    const tools::SafetensorsReader stored(InData("hf/wav2vec2-ctc/model.safetensors"));
    for (const auto& [name, tensor] : stored.tensors()) tensors_[name] = {tensor.shape, tools::ToFloats(tensor)};
    config_ = tools::ReadJson(InData("hf/wav2vec2-ctc/config.json"));
  }

  Rows Scores(const std::vector<float>& samples, size_t begin, size_t end) const {
    std::vector<float> chunk(samples.begin() + static_cast<ptrdiff_t>(begin),
                             samples.begin() + static_cast<ptrdiff_t>(end));
    double mean = 0, variance = 0;
    const auto count = static_cast<double>(chunk.size());
    for (const float x : chunk) mean += x / count;
    for (const float x : chunk) variance += (x - mean) * (x - mean) / count;
    for (float& x : chunk) x = static_cast<float>((x - mean) / std::sqrt(variance + 1e-7));
    const Wav2Vec2Reference reference(config_, tensors_, "wav2vec2.");
    const auto result = reference.Run(chunk);
    return reference.Scores("ctc", result.states, result.last);
  }

 private:
  SpeechTensors tensors_;
  tools::Json config_;
};

// The result of the original's pipeline and tokenizer for rows of scores, with letters as above.
struct Said {
  std::string text;
  json words = json::array();  // text, first frame, frame after the last
  std::vector<int> ids;
};
Said Decoded(const Rows& scores, const json& vocabulary = Letters()) {
  std::map<int, std::string> pieces;
  for (const auto& [piece, id] : vocabulary.items()) pieces[id.get<int>()] = piece;
  const auto name = [&](int id) { return pieces.count(id) != 0 ? pieces[id] : "<unk>"; };
  std::vector<std::pair<int, size_t>> groups;  // a token, and the frame after its last
  for (size_t i = 0; i < scores.size(); ++i) {
    const int best = static_cast<int>(std::max_element(scores[i].begin(), scores[i].end()) - scores[i].begin());
    if (groups.empty() || name(groups.back().first) != name(best)) groups.emplace_back(best, 0);
    groups.back().second = i + 1;
  }
  Said said;
  std::string word;
  size_t begin = 0, end = 0, first = 0;
  for (const auto& [id, last] : groups) {
    const std::string piece = name(id);
    const size_t start = first;
    first = last;
    if (piece == "<pad>") continue;
    said.ids.push_back(id);
    said.text += piece == "|" ? " " : piece;
    if (piece == "|") {
      if (!word.empty()) said.words.push_back({word, begin, end});
      word.clear();
      continue;
    }
    if (word.empty()) begin = start;
    word += piece;
    end = last;
  }
  if (!word.empty()) said.words.push_back({word, begin, end});
  const size_t from = said.text.find_first_not_of(' ');
  said.text = from == std::string::npos ? "" : said.text.substr(from, said.text.find_last_not_of(' ') + 1 - from);
  return said;
}

void ExpectSaid(const json& found, const Said& expected, const std::string& what) {
  EXPECT_EQ(found["text"], expected.text) << what;
  ASSERT_EQ(found["words"].size(), expected.words.size()) << what;
  for (size_t i = 0; i < expected.words.size(); ++i) {
    const json& word = found["words"][i];
    EXPECT_EQ(word["text"], expected.words[i][0]) << what;
    EXPECT_NEAR(word["begin"], expected.words[i][1].get<double>() * kFrame / 16000, 1e-9) << what;
    EXPECT_NEAR(word["end"], expected.words[i][2].get<double>() * kFrame / 16000, 1e-9) << what;
  }
  std::vector<int> ids;
  for (const json& token : found["tokens"]) ids.push_back(token["tokens"][0].get<int>());
  EXPECT_EQ(ids, expected.ids) << what;
}

TEST_F(Ctc, TextsOfFiles) {
  const Teacher teacher;
  const std::string blob = Blob({{"vocab.json", Letters()}});
  const std::vector<std::vector<float>> clips = {Clip(5000, 1), Clip(300, 2), Clip(3111, 3)};
  std::vector<std::string> arguments;
  for (size_t i = 0; i < clips.size(); ++i) {
    arguments.insert(arguments.end(), {"--wav", Wav(std::to_string(i) + ".wav", clips[i])});
  }
  std::string lines;
  const json found = Texts(blob, arguments);
  ASSERT_EQ(found.size(), clips.size());
  for (size_t i = 0; i < clips.size(); ++i) {
    const Rows scores = teacher.Scores(clips[i], 0, clips[i].size());
    const Said said = Decoded(scores);
    ExpectSaid(found[i], said, std::to_string(i));
    EXPECT_GT(said.words.size(), 0u);
    lines += said.text + "\n";
    ASSERT_EQ(found[i]["tokens"].size(), said.ids.size());
    // The log-probability of a token is the mean over its frames.
    size_t at = 0;
    for (const json& token : found[i]["tokens"]) {
      const auto begin = static_cast<size_t>(std::lround(token["begin"].get<double>() * 1000));
      const auto end = static_cast<size_t>(std::lround(token["end"].get<double>() * 1000));
      double sum = 0;
      for (size_t f = begin; f < end; ++f) {
        double all = 0;
        for (const double x : scores[f]) all += std::exp(x);
        sum += scores[f][static_cast<size_t>(said.ids[at])] - std::log(all);
      }
      EXPECT_NEAR(token["log_probability"], sum / static_cast<double>(end - begin), 1e-3);
      ++at;
    }
  }
  for (const char* size : {"1", "2", "5"}) {
    std::vector<std::string> plain = {"transcribe", blob, "--batch-size", size};
    plain.insert(plain.end(), arguments.begin(), arguments.end());
    EXPECT_EQ(Fovea(plain).out, lines) << "batches change no text";
  }
  const CommandResult times = Fovea({"transcribe", blob, "--times", "--wav", At("0.wav")});
  EXPECT_PRED2(Has, times.out, "0.wav\n");
  const Said first = Decoded(teacher.Scores(clips[0], 0, clips[0].size()));
  EXPECT_EQ(std::count(times.out.begin(), times.out.end(), '\n'), 1 + static_cast<ptrdiff_t>(first.words.size()));
  EXPECT_PRED2(Has, times.out, "  " + first.words[0][0].get<std::string>() + "\n");
}

// As the original's pipeline: chunks of whole frames; a frame that is in two chunks is taken from one.
TEST_F(Ctc, LongFilesInChunks) {
  const Teacher teacher;
  const std::string blob = Blob({{"vocab.json", Letters()}});
  const struct {
    size_t samples, chunk, left, right;
    const char *chunk_seconds, *left_seconds, *right_seconds;
  } cases[] = {{9000, 1600, 320, 160, "0.1", "0.02", "0.01"},
               {9007, 2400, 400, 400, "0.15", "0.025", ""},
               {2400, 2400, 400, 400, "0.15", "0.025", "0.025"},
               {2401, 2400, 400, 400, "0.15", "", ""},
               {5000, 1600, 0, 0, "0.1", "0", ""}};
  for (const auto& c : cases) {
    const std::vector<float> sound = Clip(c.samples, 5);
    Rows scores;
    for (size_t begin = 0, step = c.chunk - c.left - c.right;; begin += step) {
      const bool last = begin + c.chunk >= c.samples;
      const size_t length = std::min(c.chunk, c.samples - begin), left = begin == 0 ? 0 : c.left;
      if (length > left) {
        const Rows chunk = teacher.Scores(sound, begin, begin + length);
        const auto round = [](double x) { return static_cast<size_t>(std::nearbyint(x)); };
        const size_t count = round(static_cast<double>(length) / kFrame);
        const size_t from = round(static_cast<double>(left) / static_cast<double>(length) * static_cast<double>(count));
        const size_t right = last ? 0 : c.right;
        const size_t to =
            count - round(static_cast<double>(right) / static_cast<double>(length) * static_cast<double>(count));
        for (size_t i = from; i < std::min(to, chunk.size()); ++i) scores.push_back(chunk[i]);
      }
      if (last) break;
    }
    std::vector<std::string> arguments = {"--wav", Wav("long.wav", sound), "--chunk", c.chunk_seconds};
    if (*c.left_seconds != '\0') arguments.insert(arguments.end(), {"--stride", c.left_seconds});
    if (*c.right_seconds != '\0') arguments.push_back(c.right_seconds);
    const Said said = Decoded(scores);
    for (const char* size : {"1", "3"}) {
      std::vector<std::string> batched = arguments;
      batched.insert(batched.end(), {"--batch-size", size});
      ExpectSaid(Texts(blob, batched)[0], said, std::to_string(c.samples));
    }
    const Said whole = Decoded(teacher.Scores(sound, 0, c.samples));
    ExpectSaid(Texts(blob, {"--wav", At("long.wav"), "--chunk", "0"})[0], whole, "as a whole");
    ExpectSaid(Texts(blob, {"--wav", At("long.wav")})[0], whole, "shorter than a chunk usually is");
  }
}

// Another rate is resampled; features in place of samples give the same text.
TEST_F(Ctc, SamplesOfTheModelsInput) {
  const std::string heard = Blob({{"vocab.json", Letters()}});
  const std::vector<float> clip = Clip(4000, 6);
  const json expected = Texts(heard, {"--wav", Wav("clip.wav", clip)})[0];
  std::vector<float> normed = clip;
  double mean = 0, variance = 0;
  for (const float x : clip) mean += x / 4000.0;
  for (const float x : clip) variance += (x - mean) * (x - mean) / 4000;
  for (float& x : normed) x = static_cast<float>((x - mean) / std::sqrt(variance + 1e-7));
  tools::SafetensorsWriter writer;
  writer.AddFloats("input_values", {1, normed.size()}, normed.data());
  writer.Write(At("values.safetensors"));
  const json given = Texts(Blob({{"vocab.json", Letters()}}, ""), {"--input", At("values.safetensors")})[0];
  EXPECT_EQ(given["text"], expected["text"]);
  EXPECT_EQ(given["words"].size(), expected["words"].size());
}

// A file without a type means the model's own kind, and later versions of the original library write it into another.
TEST_F(Ctc, WhereTheProcessorIsWritten) {
  const std::string wav = Wav("clip.wav", Clip(5000, 1));
  const std::map<std::string, json> vocabulary = {{"vocab.json", Letters()}};
  const json expected = Texts(Blob(vocabulary), {"--wav", wav});
  json processor = ParsedJson(kSamples);
  processor.erase("feature_extractor_type");
  EXPECT_EQ(Texts(Blob(vocabulary, processor.dump()), {"--wav", wav}), expected);
  std::map<std::string, json> files = vocabulary;
  files["processor_config.json"] = {{"processor_class", "Wav2Vec2Processor"}, {"feature_extractor", processor}};
  EXPECT_EQ(Texts(Blob(files, ""), {"--wav", wav}), expected);
  processor["sampling_rate"] = 8000;
  EXPECT_EQ(Texts(Blob(files, processor.dump()), {"--wav", wav}), expected) << "that one counts first";
}

// ---- the tokenizer's files ----

TEST_F(Ctc, VocabulariesOfAllKinds) {
  const Teacher teacher;
  const std::vector<float> clip = Clip(5000, 1);
  const Rows scores = teacher.Scores(clip, 0, clip.size());
  const std::string wav = Wav("clip.wav", clip), plain = Decoded(scores).text;
  const auto text = [&](const std::map<std::string, json>& files) {
    return Texts(Blob(files), {"--wav", wav})[0]["text"].get<std::string>();
  };
  EXPECT_EQ(text({{"vocab.json", Letters()}}), plain);
  // In small letters, another delimiter and other names of special tokens; as strings, objects, or in the other file.
  std::string small = plain;
  for (char& c : small) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  EXPECT_EQ(text({{"vocab.json", Letters()}, {"tokenizer_config.json", {{"do_lower_case", true}}}}), small);
  json renamed = Letters();
  renamed["[PAD]"] = 0, renamed["_"] = 4;
  renamed.erase("<pad>"), renamed.erase("|");
  EXPECT_EQ(text({{"vocab.json", renamed},
                  {"tokenizer_config.json", {{"pad_token", "[PAD]"}, {"word_delimiter_token", "_"}}}}),
            plain);
  EXPECT_EQ(text({{"vocab.json", renamed},
                  {"special_tokens_map.json", {{"pad_token", {{"content", "[PAD]"}}}}},
                  {"tokenizer_config.json", {{"word_delimiter_token", "_"}}}}),
            plain);
  // No delimiter.
  std::string joined = Decoded(scores).text;
  std::replace(joined.begin(), joined.end(), ' ', '|');
  EXPECT_TRUE(
      Has(text({{"vocab.json", Letters()}, {"tokenizer_config.json", {{"word_delimiter_token", nullptr}}}}), joined));
  // One of several languages.
  json other = Letters();
  other["F"] = 27, other["W"] = 10;  // letters that the model writes
  const json nested = {{"deu", other}, {"eng", Letters()}};
  EXPECT_EQ(text({{"vocab.json", nested}, {"tokenizer_config.json", {{"target_lang", "eng"}}}}), plain);
  EXPECT_NE(text({{"vocab.json", nested}, {"tokenizer_config.json", {{"target_lang", "deu"}}}}), plain);
  // Tokens that other files have, and none: what no file has is the unknown one.
  json few = Letters();
  few.erase("F"), few.erase("W");
  const json listed = {{"added_tokens_decoder", {{"10", {{"content", "F"}}}}}};
  EXPECT_EQ(text({{"vocab.json", few}, {"added_tokens.json", {{"W", 27}}}, {"tokenizer_config.json", listed}}), plain);
  EXPECT_EQ(text({{"vocab.json", few}}), Decoded(scores, few).text);
  // Special tokens without an index come last.
  json bare;
  for (int i = 0; i < 26; ++i) bare[i == 4 ? "|" : std::string(1, static_cast<char>('a' + i))] = i;
  const CommandResult none = Fovea({"convert", Directory({{"vocab.json", bare}}), "-o", At("none.fovea")});
  EXPECT_EQ(none.status, 2);
  EXPECT_PRED2(Has, none.err, "pad_token has id 29, but there are 29 scores");
}

TEST_F(Ctc, WhatIsRefused) {
  const auto refused = [&](const std::map<std::string, json>& files) {
    const CommandResult made = Fovea({"convert", Directory(files), "-o", At("refused.fovea")});
    EXPECT_EQ(made.status, 2);
    EXPECT_FALSE(fs::exists(At("refused.fovea")));
    EXPECT_EQ(std::count(made.err.begin(), made.err.end(), '\n'), 1) << made.err;
    return made.err;
  };
  EXPECT_PRED2(Has, refused({{"vocab.json", json::array()}}), "vocab.json");
  EXPECT_PRED2(Has, refused({{"vocab.json", json::object()}}), "vocab.json: has no tokens");
  EXPECT_PRED2(Has, refused({{"vocab.json", {{"A", "five"}}}}), "vocab.json: A");
  EXPECT_PRED2(Has, refused({{"vocab.json", {{"A", -1}}}}), "vocab.json: A");
  EXPECT_PRED2(Has, refused({{"vocab.json", {{"eng", Letters()}}}}), "target_lang");
  EXPECT_PRED2(Has,
               refused({{"vocab.json", {{"eng", Letters()}}}, {"tokenizer_config.json", {{"target_lang", "fra"}}}}),
               "has no language fra");
  EXPECT_PRED2(Has, refused({{"vocab.json", Letters()}, {"tokenizer_config.json", {{"pad_token", nullptr}}}}),
               "pad_token is missing");
  const std::string wav = Wav("clip.wav", Clip(4000, 1)), blob = Blob({{"vocab.json", Letters()}});
  std::ofstream(At("text.wav")) << "no sound at all";
  const auto error = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "transcribe");
    return FoveaError(arguments);
  };
  EXPECT_PRED2(Has, error({blob, "--wav", wav, "--wav", At("text.wav")}), "text.wav: it is not a RIFF WAVE file");
  EXPECT_PRED2(Has, error({blob, "--wav", wav, "--language", "en"}), "--language cannot be combined with");
  EXPECT_PRED2(Has, error({blob, "--wav", wav, "--beams", "3"}), "--beams cannot be combined with");
  EXPECT_PRED2(Has, error({blob, "--wav", wav, "--condition-on-previous", "on"}),
               "--condition-on-previous cannot be combined with");
  EXPECT_PRED2(Has, error({blob, "--wav", wav, "--chunk", "0.1", "--stride", "0.05"}), "leave nothing of chunks");
  EXPECT_PRED2(Has, error({blob, "--wav", wav, "--chunk", "-1"}), "--chunk");
  EXPECT_PRED2(Has, error({Blob({}), "--wav", wav}), "convert it again with its vocab.json");
  const CommandResult ran = Fovea({"run", blob, "--wav", wav});
  EXPECT_EQ(ran.status, 2);
  EXPECT_PRED2(Has, error({Blob({{"vocab.json", Letters()}}, ""), "--wav", wav}), "preprocessor_config.json");
}

// ---- classes of sound ----

// `fovea run --wav` gives the same scores for samples as for their features.
TEST_F(Ctc, ClassesOfAFile) {
  const auto blob = [&](const std::string& name, const std::string& preprocessor) {
    const std::string copy = At(name);
    fs::create_directories(copy);
    for (const char* file : {"model.safetensors", "config.json"}) {
      fs::copy_file(InData(std::string("hf/ast/") + file), copy + "/" + file);
    }
    if (!preprocessor.empty()) std::ofstream(copy + "/preprocessor_config.json") << preprocessor;
    const CommandResult made = Fovea({"convert", copy, "-o", copy + ".fovea", "--weights", "f32"});
    EXPECT_EQ(made.status, 0) << made.err;
    return copy + ".fovea";
  };
  const std::string heard = blob("heard", R"({"feature_extractor_type": "ASTFeatureExtractor", "num_mel_bins": 20,
    "max_length": 44, "feature_size": 1, "sampling_rate": 16000})");
  const std::string given = blob("given", "");
  const std::vector<std::vector<float>> clips = {Clip(5000, 1), Clip(9000, 2)};
  const CommandResult ran = Fovea(
      {"run", heard, "--json", "--top", "5", "--wav", Wav("short.wav", clips[0]), "--wav", Wav("long.wav", clips[1])});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const json found = ParsedJson(ran.out);
  ASSERT_EQ(found.size(), 2u);
  for (size_t i = 0; i < clips.size(); ++i) {
    std::vector<float> features;
    for (const auto& row : Ast(clips[i], 44, 20, true)) features.insert(features.end(), row.begin(), row.end());
    tools::SafetensorsWriter writer;
    writer.AddFloats("input_values", {1, 44, 20}, features.data());
    const std::string in = At(std::to_string(i) + ".safetensors"), out = At(std::to_string(i) + ".out");
    writer.Write(in);
    ASSERT_EQ(Fovea({"run", given, "--input", in, "--output", out}).status, 0);
    const std::vector<float> logits = tools::ToFloats(tools::SafetensorsReader(out).Get("logits"));
    ASSERT_EQ(found[i]["classes"].size(), 5u);
    for (const json& one : found[i]["classes"]) {
      const std::string label = one["label"];
      EXPECT_NEAR(one["logit"], logits[static_cast<size_t>(label.back() - '0')], 1e-4) << label;
    }
  }
  std::ofstream(At("heard") + "/preprocessor_config.json")
      << R"({"feature_extractor_type": "ASTFeatureExtractor", "num_mel_bins": 20, "max_length": 45})";
  const CommandResult refused = Fovea({"convert", At("heard"), "-o", At("other.fovea")});
  EXPECT_EQ(refused.status, 2);
  EXPECT_PRED2(Has, refused.err, "clips have 45 rows, but the model reads 44");
}

// ---- parts ----

std::vector<tools::SoundChunk> ChunksOf(uint64_t samples, const tools::ChunkLengths& lengths) {
  std::vector<tools::SoundChunk> chunks;
  tools::ChunkSequence sequence(lengths);
  while (const auto chunk = sequence.Next([&](uint64_t most) { return std::min(most, samples); })) {
    chunks.push_back(*chunk);
  }
  return chunks;
}

TEST(CtcChunks, SharesOfFrames) {
  EXPECT_EQ(ChunksOf(100, {}).size(), 1u);
  EXPECT_EQ(ChunksOf(0, {10, 2, 2}).size(), 1u);
  for (const uint64_t samples : {9u, 10u, 11u, 16u, 17u, 100u}) {
    uint64_t next = 0;
    const auto chunks = ChunksOf(samples, {10, 3, 1});
    for (const tools::SoundChunk& chunk : chunks) {
      EXPECT_EQ(chunk.begin + chunk.left, next);
      next = chunk.begin + chunk.length - chunk.right;
      EXPECT_LE(chunk.length, 10u);
    }
    EXPECT_EQ(next, samples) << "every sample counts once";
  }
  EXPECT_THROW(tools::ChunksOfSeconds(1, 0.5, 0.5, 16000, 320), tools::Failure);
  const tools::ChunkLengths lengths = tools::ChunksOfSeconds(30, 5, 5, 16000, 320);
  EXPECT_EQ(lengths.chunk, 480000u);
  EXPECT_EQ(lengths.left, 80000u);
  // Whole frames: half of one goes to the even number.
  EXPECT_EQ(tools::ChunksOfSeconds(10.01, 0.03, 0.05, 16000, 320).chunk, 500u * 320);
  EXPECT_EQ(tools::ChunksOfSeconds(10.01, 0.03, 0.05, 16000, 320).left, 2u * 320);
}

}  // namespace
}  // namespace fovea::test
